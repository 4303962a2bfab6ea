# SPDX-License-Identifier: Apache-2.0
# Blocks of grouped convolutions are matched from moments, shards and raw activations alike, with the signature of a
# perfect match. A constraint and taps of other groups are refused, and mc-pam keeps blocks in place.
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/blocks_net.py" >blocks.json
mc-data synth --samples 64 --size 16 -o data.mcz
mc-train -q -t 1 --net ./blocks.json --data data.mcz --batch 16 --lr .02 --epochs 1 -o a.mcz
mc-permute --random 5 --perm-out planted.mcz a.mcz -o q.mcz
mc-acts -q -d data.mcz a.mcz q.mcz -o m.mcz
mc-corr -q m.mcz -o c.mcz
mc-hungarian -v c.mcz -o p.mcz 2>errors
check_recovery planted.mcz p.mcz c.mcz
mc-procrustes -q c.mcz -o maps.mcz # the groups allow permutations only
py <<'END'
p, maps = mcz.read("p.mcz"), mcz.read("maps.mcz")
assert all((v == maps.tensors[k]).all() for k, v in p.tensors.items())
END
# a mean is per matched pair and at most 1; for blocks, per pair of channels inside
py <<'END'
import re
groups = mcz.read("p.mcz").meta["groups"]
means = dict(re.findall(r"^mc-hungarian: (\S+): \d+ units, value \S+ \(mean (\S+)\)", open("errors").read(), re.M))
assert list(means) == [g["name"] for g in groups]
for k, g in enumerate(groups):
    inside = [h for h in groups if h.get("within") == k] or [g]
    assert abs(sum(h["value"] for h in inside) - g["value"]) < 1e-9 * g["value"], g
    assert abs(float(means[g["name"]]) - g["value"] / sum(h["size"] for h in inside)) < 1e-6 and float(means[g["name"]]) <= 1, g
END
mc-corr --signature --perm p.mcz m.mcz >signature.tsv
awk -F '\t' '/conv[12]/ && $6 > .999 && $5 < .5 { n++ } END { exit n != 8 }' signature.tsv || die "$(cat signature.tsv)"
mc-permute p.mcz q.mcz -o back.mcz
for i in 1 2; do mc-acts -q -d data.mcz --shard $i/2 a.mcz q.mcz -o s$i.mcz; done
mc-corr -q s2.mcz s1.mcz | mc-hungarian -q | mc-permute - q.mcz | same_content - back.mcz
for n in a q; do mc-acts -q -d data.mcz --raw $n.mcz -o $n.acts; done
mc-corr -q a.acts q.acts | mc-hungarian -q | mc-permute - q.mcz | same_content - back.mcz

mc-acts -q --at pre -d data.mcz a.mcz q.mcz | mc-corr -q --measure l2 -o pre.mcz
fails 3 "c.mcz: group layer1.0.conv1/blocks*nested" \
    mc-hungarian --constraint pre.mcz c.mcz
py <<'END'
s = mcz.read("m.mcz")
for g in s.meta["groups"]:
    g.pop("within", None), g.pop("unit", None)
mcz.write("flat.mcz", s.kind, s.meta, s.tensors)
END
fails 3 "not within*group" mc-corr flat.mcz

pam() { mc-pam -q -t 1 -d data.mcz --stage permutation --permutation-epochs 1 --outer 1 --batch 16 "$@"; }
pam q.mcz a.mcz -o curve.mcz
mc-permute curve.mcz a.mcz -o pa.mcz
py <<'END'
c, pa = mcz.read("curve.mcz"), mcz.read("pa.mcz").tensors
moved = 0
for g in c.meta["groups"]:
    p = c.tensors["permutation/" + g["name"]]
    assert not g["name"].endswith("/blocks") or list(p) == list(range(g["size"]))
    moved += list(p) != list(range(g["size"]))
last = {k[2:]: v for k, v in c.tensors.items() if k.startswith("2/")}
assert moved and last and all((v == pa[k]).all() for k, v in last.items())
END
