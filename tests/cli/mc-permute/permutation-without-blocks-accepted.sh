# SPDX-License-Identifier: Apache-2.0
# A permutation from before blocks of grouped convolutions could move leaves them in place, in its own stream or in a
# curve. One that lacks another group belongs to another network.
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/blocks_net.py" >blocks.json
mc-data synth --samples 32 --size 16 -o data.mcz
mc-train -q -t 1 --net ./blocks.json --data data.mcz --epochs 0 -o a.mcz
mc-permute --random 5 --perm-out p.mcz a.mcz -o pa.mcz
py <<'END'
p = mcz.read("p.mcz")
def write(name, lacks):
    groups = [{"name": g["name"], "size": g["size"]} for g in p.meta["groups"] if not lacks(g["name"])]
    mcz.write(name, p.kind, {"groups": groups}, {g["name"]: p.tensors[g["name"]] for g in groups})
write("old.mcz", lambda g: g.endswith("/blocks"))
write("less.mcz", lambda g: g.endswith("/blocks") or g == "stem")
still = {g: np.arange(len(t), dtype="i4") if g.endswith("/blocks") else t for g, t in p.tensors.items()}
mcz.write("still.mcz", p.kind, p.meta, still)
END
mc-permute still.mcz a.mcz -o want.mcz
mc-permute --verify data.mcz -o got.mcz old.mcz a.mcz >/dev/null
same_content got.mcz want.mcz
mc-permute --inverse old.mcz got.mcz | same_content - a.mcz
fails 3 "less.mcz:*another network" mc-permute less.mcz a.mcz

pam() { mc-pam -q -t 1 -d data.mcz --stage curve --epochs 1 --batch 16 "$@" a.mcz a.mcz; }
pam --perm still.mcz -o want-curve.mcz
pam --perm old.mcz -o got-curve.mcz
same_content got-curve.mcz want-curve.mcz
py <<'END'
c = mcz.read("got-curve.mcz")
groups = [{"name": g["name"], "size": g["size"]} for g in c.meta["groups"] if not g["name"].endswith("/blocks")]
c.meta["groups"] = groups
mcz.write("old-curve.mcz", c.kind, c.meta, {k: t for k, t in c.tensors.items() if not k.endswith("/blocks")})
END
mc-permute old-curve.mcz a.mcz | same_content - want.mcz
pam --init want-curve.mcz -o want-curve2.mcz
pam --init old-curve.mcz | same_content - want-curve2.mcz
