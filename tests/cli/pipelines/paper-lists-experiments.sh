# SPDX-License-Identifier: Apache-2.0
# paper.mk: make -n lists each case with its experiments and reads no data; the programs get the paper's settings.
paper=$MC_ROOT/pipelines/paper/paper.mk
make -n -f "$paper" BIN="$MC_BUILD/bin" OUT=out >log
[ ! -e out ] || die 'make -n does something'
# parts LOG: each case with its experiments
parts() { grep -o '/[a-z]*\.mk *OUT=[^ ]*' "$1" | sed -E 's,/([a-z]*)\.mk *OUT=out/(.*),\2 \1,' | sort; }
{
    for data in cifar10 cifar100 tiny-imagenet; do
        for net in tinyten resnet32 googlenet; do
            for graph in connect middle planes subsets averaged intervals; do echo "$net-$data $graph"; done
            echo "figures-$net-$data connect"
            [ $net = googlenet ] || echo "$net-$data pam"
            [ $net != tinyten ] || echo "$net-$data measures"
            [ $data = tiny-imagenet ] || echo "robust-$net-$data robust"
        done
        echo "bound-mlp-$data bound"
    done
    echo 'grid-tinyten-cifar100 grid'
} | sort >want
parts log | same - want
sed -e :a -e '/\\$/N; s/\\\n//; ta' <log >whole
# count PATTERN...: lines that match all patterns; make -n repeats the needs that two experiments share
count() {
    local p lines
    lines=$(sort -u whole)
    for p; do lines=$(grep -e "$p" <<<"$lines") || true; done
    printf %s "$lines" | grep -c ''
}
expect_equal "$(count '^mc-train' 'out/resnet32-cifar10/net-')" 6
expect_equal "$(count '^mc-train' 'out/figures\|out/grid')" 0
expect_equal "$(count '^mc-bezier --data' 'out/figures-tinyten-cifar10/.-./curve' '--seed 1 ')/$(count 'out/figures' '--seed [35] ')" 4/0
expect_equal "$(count '^mc-bezier --data' 'out/tinyten-cifar100/.-./curve' '--seed [135] ')" 18
expect_equal "$(count '^mc-pam')" 36
expect_equal "$(count '^mc-eval' '--points ' 'out/googlenet-tiny-imagenet/3-4/curve-aligned.mcz')" 2
expect_equal "$(count '^mc-train' 'out/robust-' '--no-normalise --attack pgd')" 36
expect_equal "$(count '^mc-bezier --data' 'out/robust-googlenet' '--stop-after 20 *--attack pgd')/$(count 'stop-after' '^mc-.*\(tinyten\|resnet32\)')" 12/0
expect_equal "$(count '^mc-bezier --data' 'out/grid-' 'lr0.5-batch256.mcz' '--lr 0.5 --batch 256 ')" 6

make -n -f "$paper" BIN="$MC_BUILD/bin" OUT=out PART='robust-tinyten-synth grid-tinyten-synth' DATA_SETS=synth PAIRS=1:2 >log
parts log | same - <(printf '%s\n' 'grid-tinyten-synth grid' 'robust-tinyten-synth robust' 'tinyten-synth connect')

# as the paper has them
make_recorder
make -k -f "$paper" BIN="$MC_BUILD/bin" OUT=out RUN=./record CIFAR10_DIR=x CIFAR100_DIR=x EXPERIMENTS='connect pam robust bound' \
    tinyten-cifar100 robust-googlenet-cifar10 bound-mlp-cifar10 >log 2>&1 || die "$(tail log)"
cp recorded whole
of=out/tinyten-cifar100
expect_equal "$(count '^mc-train --net tinyten' "$of/net-" '--epochs 250 --lr 0.1 --batch 128 --schedule step ')" 6
expect_equal "$(count '^mc-bezier --data' "$of/.-./curve" '--seed [135] --epochs 250 --lr 0.1 --batch 128 ')" 6
expect_equal "$(count '^mc-pam --data' "$of/" '--permutation-epochs 20 .*--epochs 250 .*--as-paper')" 6
expect_equal "$(count '^mc-eval' '--points 65 ' "$of/3-4/curve-aligned.mcz")" 1
of=out/robust-googlenet-cifar10
expect_equal "$(count '^mc-train --net googlenet' "$of/" '--epochs 200 --lr 0.1 .*--schedule linear --no-normalise --attack pgd')" 6
expect_equal "$(count '^mc-bezier --data' "$of/" '--epochs 200 --lr 0.1 .*--schedule linear --stop-after 20 --attack pgd')" 6
expect_equal "$(count '^mc-train --net mlp:256,256 ' '--epochs 20 --lr 0.02 .*--schedule onecycle')" 6
