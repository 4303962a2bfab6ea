# SPDX-License-Identifier: Apache-2.0
# Blocks of grouped convolutions, matched from activations with what they hold, against NumPy and SciPy: every order of the
# blocks, and what the permutation makes of the weights.
/usr/bin/python3 -c 'import scipy' 2>/dev/null || exit 77
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/blocks_net.py" >blocks.json
mc-data synth --samples 64 --size 16 -o data.mcz
for s in 1:a 2:b; do
    mc-train -q -t 1 --net ./blocks.json --data data.mcz --batch 16 --lr .02 --epochs 1 --seed ${s%:*} -o ${s#*:}.mcz
done
mc-acts -q -d data.mcz a.mcz b.mcz -o m.mcz
mc-corr -q m.mcz | mc-hungarian -q -o p.mcz
mc-permute p.mcz b.mcz -o pb.mcz
/usr/bin/python3 "$MC_ROOT/tests/parity/blocks.py" m.mcz p.mcz b.mcz pb.mcz
