# SPDX-License-Identifier: Apache-2.0
# paper.mk SCALE: shortens epochs, permutation epochs, early stop, half-life and the rate of decay in all cases, nothing else.

make_recorder
# schedules SCALE PART EXPERIMENTS SETTING...: epochs, stop and schedule of each program that trains
schedules() {
    rm -rf none recorded
    graph paper RUN=./record SCALE="$1" PART="$2" EXPERIMENTS="$3" EPOCHS=250 CURVE_EPOCHS=250 NETS='mlp googlenet' OUT=none "${@:4}"
    grep '^mc-train\|^mc-bezier --data\|^mc-pam' recorded |
        sed -E 's/^(mc-[a-z]*)/\1 =/; s/.*(mc-[a-z]*) =/\1/; s/ --(data|perm|net|seed|lr|batch|threads|device|precision|checkpoint|log-json|attack) [^ ]*//g
            s/ --(resume|no-normalise)//g; s/ [^ ]*\.mcz//g; s/ -o.*//; s/  +/ /g; s/ $//' | sort -u | paste -sd '|'
}
expect_equal "$(schedules 1 mlp-synth 'connect pam')" "mc-bezier --epochs 250 --schedule step|mc-pam --permutation-epochs 20 --epochs 250 --schedule step --as-paper|\
mc-train --epochs 250 --schedule step"
tenth=$(awk 'BEGIN { printf "%.10g", .9996 ^ 10 }')
expect_equal "$(schedules .1 mlp-synth 'connect pam')" "mc-bezier --epochs 25 --schedule step:2:$tenth|\
mc-pam --permutation-epochs 2 --epochs 25 --schedule step:2:$tenth --as-paper|mc-train --epochs 25 --schedule step:2:$tenth"
# epochs are rounded, at least one; half-lives may be fractions
expect_equal "$(schedules .0137 mlp-synth 'connect pam' | grep -o 'epochs [0-9]*\|step:[0-9.]*' | sort -u | paste -sd ' ')" 'epochs 1 epochs 3 step:0.274'
expect_equal "$(schedules 0.001 mlp-synth 'connect pam' | grep -o 'epochs [0-9]*\|step:[0-9.]*' | sort -u | paste -sd ' ')" 'epochs 1 step:0.02'
# robust networks: 200 epochs, linear; googlenet's curves stop after 20
expect_equal "$(schedules .1 robust-googlenet-synth '' EPOCHS=250 ROBUST_EPOCHS=200)" \
    'mc-bezier --epochs 20 --schedule linear --stop-after 2|mc-train --epochs 20 --schedule linear'
expect_equal "$(schedules .01 robust-googlenet-synth '' ROBUST_EPOCHS=200 CURVE_FLAGS='--stop-after 7')" \
    'mc-bezier --epochs 2 --schedule linear --stop-after 7|mc-train --epochs 2 --schedule linear'
# a given schedule is unchanged
expect_equal "$(schedules .1 mlp-synth connect SCHEDULE=cosine)" 'mc-bezier --epochs 25 --schedule cosine|mc-train --epochs 25 --schedule cosine'
# the programs accept it, and the folder records it
graph paper SCALE=.0137 PART=mlp-synth EXPERIMENTS=connect EPOCHS=250 CURVE_EPOCHS=100 DATA_FLAGS='--size 8' TRAIN_IMAGES=128 POINTS=3
expect_equal "$(field out/mlp-synth/net-1.log.json epoch epoch | paste -sd ' ')" '1 2 3'
mc-info out/mlp-synth/net-1.mcz | grep -q 'step-epochs=0.274 step-factor=0.97121' || die "$(mc-info out/mlp-synth/net-1.mcz)"
expect_equal "$(cat out/mlp-synth/length)" 'epochs=3 curve_epochs=1 permutation_epochs=1 points=3 pam=as-paper train_images=128'
for s in 0 2 -1 1/10 1e-1 x '' '.1 .2'; do
    ! (graph paper -n SCALE="$s") >refused || die "SCALE=$s passes"
    expect_words errors "SCALE*number*0*1*got '$s'"
done
# another SCALE would repeat every training
! (graph paper SCALE=.137 PART=mlp-synth EXPERIMENTS=connect EPOCHS=250 CURVE_EPOCHS=100 TRAIN_IMAGES=128) >refused ||
    die 'another SCALE passes'
expect_words errors 'out/mlp-synth/length: *other settings'
graph paper -n SCALE=0.01370 PART=mlp-synth EXPERIMENTS=connect
