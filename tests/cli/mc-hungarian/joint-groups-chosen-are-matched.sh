# SPDX-License-Identifier: Apache-2.0
# mc-hungarian --joint --groups matches the chosen groups as without the option, and the others keep their order. A group and
# the groups within its units must be chosen together.
fixture joint
all="m12.mcz m13.mcz m23.mcz"
mc-hungarian -q --joint $all -o j.mcz
mc-hungarian -v --joint --groups '*.0.linear' $all -o part.mcz 2>errors
grep -qx 'mc-hungarian: layers.1.linear: 9 units, kept' errors || die "$(cat errors)"
py <<'END'
j, part = mcz.read("j.mcz").tensors, mcz.read("part.mcz").tensors
for name, p in part.items():
    assert list(p) == (list(j[name]) if "layers.0." in name else list(range(9))), name
END
mc-info part.mcz | grep -q 'groups=\*.0.linear' || die "$(mc-info part.mcz)"
fails 2 "--groups: 'layers.9' matches no group*m12.mcz" mc-hungarian --joint --groups layers.9 $all

/usr/bin/python3 "$MC_ROOT/tests/cli/lib/blocks_net.py" >blocks.json
mc-data synth --samples 32 --size 16 -o images.mcz
for s in 1 2; do mc-train -q -t 1 --net ./blocks.json --data images.mcz --batch 16 --epochs 0 --seed $s -o b$s.mcz; done
mc-acts -q -t 1 -d images.mcz b1.mcz b2.mcz | mc-corr -q -o b12.mcz
outer=$(mc-info --json b12.mcz | grep -o '"name":"[^"]*/blocks"' | head -n 1 | cut -d '"' -f 4)
fails 2 "--groups: with --joint*$outer*groups within*units together" mc-hungarian --joint --groups "$outer" b12.mcz
