#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The trainings whose results belong to the paper's tables, parts of pipelines/paper.mk and what is made of them:
#
#   pipelines/paper/published/runs.sh SCRATCH CIFAR10_DIR CIFAR100_DIR [RUN...]
#
#   pam        PAM's curves as the paper has them, tinyten on CIFAR-10, and what they and the plain ones show
#   ends       what the same ends and curves show without a training: middle, subsets, intervals, averaged, planes
#   rate       PAM's curves from the identity, the permutation step at ten times the rate above
#   bound      mlp on CIFAR-10, 20 epochs
#   cifar100   tinyten on CIFAR-100, a fifth of the length
#   robust     tinyten on CIFAR-100, attacked, a twentieth; by 50 steps from five starts too
#   measures   the ways to align, on tinyten's ends on CIFAR-10, curves of a tenth
#   grid       rates by batch sizes on cifar100's ends, a fiftieth
#   resnet32   on CIFAR-10, networks of 25 epochs, a tenth; curves of the first 10 of 25
#   lines      barriers of straight lines as git re-basin has them: resnet20 of two widths, two epochs
#
# Without a RUN all, in this order, which is that of what they are worth. Two jobs at a time of one thread each, at low
# priority. Days on two cores: interrupt it whenever you like, the same command goes on from the last epoch. All of it
# goes on with the programs that it was begun with, which lie in SCRATCH/programs, whatever becomes of this tree. Networks
# that this folder has are taken from there.
set -eu
here=$(dirname "$(readlink -f "$0")")
<<<<<<< HEAD:docs/networks/runs.sh
. "$here/../../pipelines/include/environment.sh" || exit 1
=======
. "$here/../../environment.sh" || exit 1
>>>>>>> 58f28d8 (paper: keep the reproduction in a folder of its own):pipelines/paper/published/runs.sh
export ONEDNN_MAX_CPU_ISA=AVX512_CORE # checkpoints hold it: processors with and without AMX resume each other's runs
all='pam ends rate bound cifar100 robust measures grid resnet32 lines'
usage() { sed -n '/^# The trainings/,/^set/s/^# \{0,1\}//p' "$0"; }
case ${1-} in
-h | --help)
    usage
    exit
    ;;
esac
[ $# -ge 3 ] || {
    usage >&2
    exit 2
}
scratch=$1 cifar10=$2 cifar100=$3
shift 3
[ $# != 0 ] || set -- $all
for run; do
    grep -qxF -- "$run" <<<"${all// /$'\n'}" && continue
    echo "runs.sh: there is no run '$run' (there are: $all)" >&2
    exit 2
done
case $scratch in
*[[:blank:]]*)
    echo "runs.sh: '$scratch': a folder without blanks is wanted, which make cannot take" >&2
    exit 2
    ;;
esac

programs=$scratch/programs
if [ ! -e "$programs/commit" ]; then
    mkdir -p "$programs/build"
    cp -r "$here/../.." "$programs/pipelines"
    cp -r "$here"/../../../build/{bin,share} "$programs/build"
    git -C "$here" rev-parse HEAD >"$programs/commit"
fi

# part NAME SETTING...: a part of paper.mk in SCRATCH
part() {
    nice -n 19 make -k -j2 -f "$programs/pipelines/paper.mk" OUT="$scratch" CIFAR10_DIR="$cifar10" CIFAR100_DIR="$cifar100" \
        THREADS=1 BIN="$programs/build/bin" PART="$1" "$@" || failed=1
}
# graph NAME FOLDER SETTING...: another graph, in a folder of SCRATCH
graph() {
    nice -n 19 make -k -j2 -f "$programs/pipelines/$1.mk" OUT="$scratch/$2" PAIRS='1:2 3:4 5:6' THREADS=1 \
        BIN="$programs/build/bin" "${@:3}" || failed=1
}
failed=0
first=(tinyten-cifar10 PAM_FLAGS=--as-paper)
tinyten=$scratch/tinyten-cifar10 published=$here/tinyten-cifar10

copy() { # FROM TO: whole, unless it is there or FROM is not
    if [ -e "$1" ] && [ ! -e "$2" ]; then
        cp "$1" "$2.part"
        mv "$2.part" "$2"
    fi
}
take() {
    local f to
    for f in "$scratch/published"/$1.mcz; do
        to=$tinyten/${f#"$scratch/published/"}
        [ ! -e "$to" ] || continue
        copy "$published/${f#"$scratch/published/"}.settings" "$to.settings"
        f=${f%.mcz} f=${f#"$scratch/published/"}
        copy "$published/$f.log.json" "$tinyten/$f.log.json"
        copy "$scratch/published/$f.mcz" "$to"
    done
}
# what the files taken are made of: made after them, it would have them trained again
needs() {
    part "$@"
    [ $failed = 0 ] || exit 1
}
make_published() {
    [ ! -e "$scratch/published" ] || return 0
    PATH=$programs/build/bin:$PATH nice -n 19 "$programs/pipelines/published.sh" make "$published" "$scratch/published.part"
    mv "$scratch/published.part" "$scratch/published"
}
# What is published, and trainings that were interrupted elsewhere, are taken before make would train them: each behind
# what it is made of, as files that are older are made again.
published_taken=
take_published() {
    local f name kept to table measured=()
    [ -z "$published_taken" ] || return 0
    published_taken=1
    make_published
    needs "${first[@]}" GRAPHS=connect GOALS=train.mcz
    take 'net-?'
    needs "${first[@]}" GRAPHS=connect GOALS="$(echo net-{1,2,3,4,5,6}.mcz {1-2,3-4,5-6}/b-aligned.mcz)"
    take '?-?/curve-*'
    for f in "$published"/?-?/{line,curve}-*aligned.tsv; do [ ! -e "$f" ] || measured+=("${f#"$published/"}"); done
    [ ${#measured[@]} = 0 ] || needs "${first[@]}" GRAPHS=pam GOALS="test.mcz ${measured[*]/%.tsv/.mcz}"
    for f in "${measured[@]}"; do
        for table in "$f.settings" "${f%.tsv}.summary.tsv" "$f"; do copy "$published/$table" "$tinyten/$table"; done
    done
    for kept in "$published"/?-?/*.checkpoint; do
        [ -e "$kept" ] || continue
        name=${kept#"$published/"} name=${name%.checkpoint}
        to=$(part "${first[@]}" GRAPHS=pam GOALS="$name.mcz" -n | sed -n "s:.*--checkpoint \([^ ]*/${name}[^ ]*\).*:\1:p")
        [ -n "$to" ] && [ ! -e "$to" ] || continue
        rm -f "$tinyten/$name.log.json"
        copy "$published/$name.log.json" "$tinyten/$name.log.json"
        copy "$kept" "$to"
    done
}

run_pam() {
    local what graph
    take_published
    for what in mcz tsv; do part "${first[@]}" GRAPHS=pam GOALS="$(echo {1-2,3-4,5-6}/curve-pam-{aligned,unaligned}.$what)"; done
    for graph in connect pam; do part "${first[@]}" GRAPHS=$graph; done
}
run_ends() {
    local graph
    take_published
    for graph in middle subsets intervals averaged planes; do part "${first[@]}" GRAPHS=$graph; done
}
# half of the rate that the authors' script has without --lr, where the paper's is 0.01
rate() { # A B
    local to=$scratch/rate/$1-$2 kept=$published/$1-$2/rate-0.05 ends=("$scratch/published/net-$1.mcz" "$scratch/published/net-$2.mcz")
    local pam=(nice -n 19 mc-pam -t 1 -v --seed "$1" --data "$scratch/rate/train.mcz" "${ends[@]}")
    copy "$kept/permutation-pam-unaligned.mcz" "$to-permutation.mcz"
    [ -e "$to-permutation.mcz" ] ||
        "${pam[@]}" --as-paper --permutation-lr 0.05 --stage permutation --log-json "$to-permutation.log.json" -o "$to-permutation.mcz" || return
    if [ -e "$kept/inner-pam-unaligned.mcz" ] && [ ! -e "$to.mcz" ]; then
        mc-bezier -q --epochs 0 --start "$kept/inner-pam-unaligned.mcz" --perm "$to-permutation.mcz" "${ends[@]}" -o "$to.mcz" || return
    fi
    [ -e "$to.mcz" ] || "${pam[@]}" --stage curve --perm "$to-permutation.mcz" --checkpoint "$to.checkpoint" --resume \
        --log-json "$to.log.json" -o "$to.mcz" || return
    [ -e "$to.tsv" ] || nice -n 19 mc-eval -t 1 --data "$scratch/rate/train.mcz" --data "$scratch/rate/test.mcz" \
        --bn-data "$scratch/rate/train.mcz" --points 65 --summary "$to.summary.tsv" "$to.mcz" -o "$to.tsv"
}
run_rate() {
    local split PATH=$programs/build/bin:$PATH job
    make_published
    mkdir -p "$scratch/rate"
    for split in train test; do
        [ -e "$scratch/rate/$split.mcz" ] || mc-data cifar10 "$cifar10" --split $split -o "$scratch/rate/$split.mcz"
    done
    rate 1 2 &
    job=$!
    rate 3 4 || failed=1
    wait $job || failed=1
    rate 5 6 || failed=1
}
run_bound() { part bound-mlp-cifar10; }
fifth=(tinyten-cifar100 SCALE=.2 SUFFIX=-fifth)
run_cifar100() {
    local graph
    for graph in connect middle subsets; do part "${fifth[@]}" GRAPHS=$graph; done
}
run_robust() {
    part robust-tinyten-cifar100 SCALE=.05 SUFFIX=-twentieth POINTS=17 EVAL_FLAGS='--samples 1000 --test-samples 5000' \
        STRONG_ATTACK=pgd:steps=50,restarts=5 STRONG_FLAGS='--samples 128 --test-samples 1000'
}
# short FOLDER EPOCHS CURVE_EPOCHS POINTS: what a folder was made with whose curves are shorter than its networks, for verdicts.sh
short() {
    [ $failed = 0 ] && [ -d "$scratch/$1" ] || return 0
    echo "epochs=$2 curve_epochs=$3 permutation_epochs=20 points=$4 pam=default train_images=all" >"$scratch/$1/length"
}
# step:N:F, the paper's schedule at this fraction of its length
schedule() { awk "BEGIN { printf \"step:%.10g:%.10g\", 20 * $1, .9996 ^ (1 / $1) }"; }
# curves of the second end's seed, so that all are trained here and none is taken from FROM, whose curves are longer
other_seeds='1:2:2 3:4:4 5:6:6'
run_measures() {
    make_published
    graph measures tinyten-cifar10-tenth FROM="$scratch/published" DATA=cifar10 DATA_DIR="$cifar10" NET=tinyten \
        PAIRS="$other_seeds" CURVE_EPOCHS=25 CURVE_SCHEDULE="$(schedule .1)" POINTS=33
    short tinyten-cifar10-tenth 250 25 33
}
run_grid() {
    part "${fifth[@]}" GRAPHS=connect
    graph grid grid-tinyten-cifar100-fiftieth FROM="$scratch/tinyten-cifar100-fifth" DATA=cifar100 DATA_DIR="$cifar100" NET=tinyten \
        PAIRS="$other_seeds" EPOCHS=50 SCHEDULE="$(schedule .2)" CURVE_EPOCHS=5 CURVE_SCHEDULE="$(schedule .02)" POINTS=17
    short grid-tinyten-cifar100-fiftieth 50 5 17
}
run_resnet32() { # the curves' schedule is that of 25 epochs
    part resnet32-cifar10 SCALE=.1 SUFFIX=-tenth GRAPHS=connect CURVE_EPOCHS=100 POINTS=17 EVAL_FLAGS='--samples 5000'
}
# averaged and re-estimated statistics, on 1,000 training and 2,000 test images
run_lines() {
    local net
    for net in resnet20 resnet:20,64; do
        graph averaged "lines-${net//[:,]/-}-2-epochs" DATA=cifar10 DATA_DIR="$cifar10" NET="$net" EPOCHS=2 SCHEDULE=onecycle \
            POINTS=7 EVAL_FLAGS='--samples 1000 --test-samples 2000 --bn-samples 1000'
    done
}
for run; do run_"$run"; done
exit $failed
