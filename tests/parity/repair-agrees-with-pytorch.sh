# SPDX-License-Identifier: Apache-2.0
# mc-repair --ends agrees with REPAIR in PyTorch's float64, with and without batch norm, in residual networks, with branches,
# gates and channels that do not vary.
need_torch 1.13
export OMP_NUM_THREADS=1
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/blocks_net.py" >blocks.json
mc-data synth --samples 96 --size 16 -o d.mcz
mc-data synth --samples 96 -o 32.mcz
repair() { $python "$MC_ROOT/tests/parity/repair.py" "$@" || die "$net"; }

for net in mlp:20,16,12 mlp:bn,20,16 vgg:11,8 resnet:8,4 tinyten ./blocks.json; do
    data=d.mcz
    [[ $net != vgg* ]] || data=32.mcz
    for s in 1 2 3; do mc-train -q -t 1 --net $net --data $data --batch 16 --lr .02 --epochs 2 --seed $s -o $s.mcz; done
    mc-merge 1.mcz 2.mcz -o m.mcz
    mc-repair -q -t 1 --data $data --samples 80 --batch 32 m.mcz --ends 1.mcz 2.mcz -o r.mcz
    repair $data 80 r.mcz m.mcz '[1, 1]' 1.mcz 2.mcz
done
# more ends with weights; all images
mc-merge --weights 3,1,1 1.mcz 2.mcz 3.mcz |
    tee m.mcz | mc-repair -q -t 2 --data d.mcz --weights 3,1,1 --ends 1.mcz 2.mcz 3.mcz -o r.mcz
repair d.mcz 96 r.mcz m.mcz '[3, 1, 1]' 1.mcz 2.mcz 3.mcz
# channels that do not vary in the network are unchanged; those of the ends count with deviation 0
net=mlp:20,16
for s in 1 2; do mc-train -q -t 1 --net $net --data d.mcz --batch 16 --lr .02 --epochs 1 --seed $s -o $s.mcz; done
$python - <<'END'
import mcz
for name, source, unit in ("1", "1", 2), ("n", "2", 5):
    s = mcz.read(source + ".mcz")
    t = {k: v.copy() for k, v in s.tensors.items()}
    t["layers.0.linear.weight"][unit] = 0
    mcz.write(name + ".mcz", s.kind, s.meta, t)
END
mc-repair -t 1 --data d.mcz n.mcz --ends 1.mcz 2.mcz -o r.mcz 2>errors
expect_lines errors 'mc-repair: warning: n.mcz: 1 of 36 channels*not vary*unchanged'
repair d.mcz 96 r.mcz n.mcz '[1, 1]' 1.mcz 2.mcz
