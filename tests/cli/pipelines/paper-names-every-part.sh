# SPDX-License-Identifier: Apache-2.0
# paper.mk: make -n of the whole graph names each part of the paper and each graph in it, and reads no data; a PART alone.
make -n -f "$MC_ROOT/pipelines/paper.mk" BIN="$MC_BUILD/bin" OUT=out >log
[ ! -e out ] || die 'make -n does something'
# parts LOG: each part with its graphs
parts() { sed -n "s/^echo '== \(.*\): \([a-z]*\)\.mk, .*/\1 \2/p" "$1" | sort; }
{
    for data in cifar10 cifar100 tiny-imagenet; do
        for net in tinyten resnet32 googlenet; do
            for graph in connect middle planes subsets averaged intervals; do echo "$net-$data $graph"; done
            echo "figures-$net-$data connect"
            [ $net = googlenet ] || echo "$net-$data pam"
            [ $net != tinyten ] || echo "$net-$data measures"
            [ $data = tiny-imagenet ] || echo "robust-$net-$data robust"
        done
        [ ! -e "$MC_ROOT/pipelines/bound.mk" ] || echo "bound-mlp-$data bound"
    done
    echo 'grid-tinyten-cifar100 grid'
} | sort >want
parts log | same - want
# as the paper has them
tr -d "'" <log | sed -e :a -e '/\\$/N; s/\\\n//; ta' >whole
# count PATTERN...: of the lines that match all of them; make -n shows what two graphs of a part need in each
count() {
    local p lines
    lines=$(sort -u whole)
    for p; do lines=$(grep -e "$p" <<<"$lines") || true; done
    printf %s "$lines" | grep -c ''
}
is "$(count '^mc-train' 'out/resnet32-cifar10/net-' '--net resnet32 .*--epochs 250 --lr 0.1 .*--batch 128 --schedule step ')" 6
is "$(count '^mc-train' 'out/figures\|out/grid')" 0
is "$(count '^mc-bezier --data' 'out/figures-tinyten-cifar10/.-./curve' '--seed 1 ')" 4
is "$(count '^mc-bezier --data' 'out/tinyten-cifar100/.-./curve' '--seed [135] .*--lr 0.1 .* --epochs 250\|--epochs 250 .*--lr 0.1 ')" 18
is "$(count '^mc-pam' '--permutation-epochs 20 --epochs 250')" 36
is "$(count '^mc-eval' '--points 65 ' 'out/googlenet-tiny-imagenet/3-4/curve-aligned.mcz')" 2
is "$(count '^mc-train' 'out/robust-' '--no-normalise --attack pgd' '--epochs 200 .*--schedule linear')" 36
is "$(count '^mc-bezier --data' 'out/robust-googlenet' '--stop-after 20 *--attack pgd')/$(count 'stop-after' 'tinyten\|resnet32')" 12/0
is "$(count '^mc-bezier --data' 'out/grid-' 'lr0.5-batch256.mcz' '--lr 0.5 --batch 256 ')" 6

make -n -f "$MC_ROOT/pipelines/paper.mk" BIN="$MC_BUILD/bin" OUT=out PART='robust-tinyten-synth grid-tinyten-synth' \
    DATA_SETS=synth PAIRS=1:2 >log
parts log | same - <(printf '%s\n' 'grid-tinyten-synth grid' 'robust-tinyten-synth robust' 'tinyten-synth connect')
