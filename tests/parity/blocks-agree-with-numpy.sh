# SPDX-License-Identifier: Apache-2.0
# Blocks of grouped convolutions, and the units within them, are matched as NumPy and SciPy match them: the order of the
# blocks, and the permuted weights. mc-pam from this permutation equals mc-pam from the permuted b.
/usr/bin/python3 -c 'import scipy' 2>/dev/null || exit 77
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/blocks_net.py" >blocks.json
mc-data synth --samples 64 --size 16 -o data.mcz
for s in 1:a 2:b; do
    mc-train -q -t 1 --net ./blocks.json --data data.mcz --batch 16 --lr .02 --epochs 1 --seed ${s%:*} -o ${s#*:}.mcz
done
mc-acts -q -d data.mcz a.mcz b.mcz -o m.mcz
mc-corr -q m.mcz | mc-hungarian -q -o p.mcz
mc-permute p.mcz b.mcz -o pb.mcz
pam() { mc-pam -q -t 1 -d data.mcz --permutation-epochs 2 --permutation-lr 5 --epochs 1 --outer 2 --batch 16 "$@"; }
pam --perm p.mcz a.mcz b.mcz -o curve.mcz
/usr/bin/python3 "$MC_ROOT/tests/parity/blocks.py" m.mcz p.mcz b.mcz pb.mcz curve.mcz
pam --init curve.mcz a.mcz b.mcz -o again.mcz
/usr/bin/python3 "$MC_ROOT/tests/parity/blocks.py" m.mcz p.mcz b.mcz pb.mcz again.mcz >/dev/null
py <<'END'
p = mcz.read("p.mcz")
groups = {g["name"]: g for g in p.meta["groups"]}
still = {g: np.arange(len(t), dtype="i4") for g, t in p.tensors.items()}
rest = {}
for g, t in still.items():
    if "within" in groups[g]:
        unit = p.tensors[list(groups)[groups[g]["within"]]][groups[g]["unit"]]
        rest[g] = p.tensors["%s[%d:%d]" % (g.split("[")[0], unit * len(t), (unit + 1) * len(t))]
    else:
        rest[g] = t if g.endswith("/blocks") else p.tensors[g]
mcz.write("order.mcz", p.kind, p.meta, {g: (p.tensors if g.endswith("/blocks") else still)[g] for g in still})
mcz.write("rest.mcz", p.kind, p.meta, rest)
END
mc-permute order.mcz b.mcz -o bb.mcz
pam --perm rest.mcz a.mcz bb.mcz -o other.mcz
mc-permute --compose order.mcz other.mcz -o composed.mcz
py <<'END'
c, other, composed = (mcz.read(f + ".mcz").tensors for f in ("curve", "other", "composed"))
assert all((v == other[k]).all() for k, v in c.items() if k[1] == "/")
assert all((c["permutation/" + g] == t).all() for g, t in composed.items())
END
