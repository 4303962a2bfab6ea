# SPDX-License-Identifier: Apache-2.0
# mc-match --joint finds random permutations of a network again. Between different networks it prints the sum of all pairs'
# inner products, which is greater than with any network as reference; no network can be matched better to the sum of the
# others. The result does not depend on the number of threads.
fixture joint
for s in 2 3; do mc-permute --random $s --perm-out planted-$s.mcz 1.mcz -o q$s.mcz; done
mc-match --joint 1.mcz q2.mcz q3.mcz -o j.mcz
for s in 2 3; do same_content 1.mcz <(mc-permute j.mcz q$s.mcz); done

mc-match -v --joint 1.mcz 2.mcz 3.mcz --log-json log.json -o j.mcz 2>errors
same_content j.mcz <(mc-match -t 2 --joint 1.mcz 2.mcz 3.mcz)
mc-info --check j.mcz >checked
for s in 1 2 3; do mc-permute j.mcz $s.mcz -o p$s.mcz; done
for r in 1 2 3; do
    for s in 1 2 3; do
        cp $s.mcz r$r-$s.mcz
        [ $s = $r ] || mc-match $r.mcz $s.mcz | mc-permute - $s.mcz -o r$r-$s.mcz
    done
done
py <<'END'
import json, re
def params(name):
    s = mcz.read(name)
    return np.concatenate([v.ravel() for k, v in s.tensors.items() if "running" not in k]).astype("f8")
def objective(names):
    a, b, c = map(params, names)
    return a @ b + a @ c + b @ c
printed = float(re.search(r"^mc-match: objective (\S+)$", open("errors").read(), re.M)[1])
own = objective("p%d.mcz" % s for s in (1, 2, 3))
assert abs(own - printed) < 1e-5 * own, (own, printed)
for r in (1, 2, 3):
    assert objective("r%d-%d.mcz" % (r, s) for s in (1, 2, 3)) < own
passes = [json.loads(l) for l in open("log.json")]
passes = [p for p in passes if p["event"] == "pass"]
assert abs(max(p.get("objective", 0) for p in passes) - printed) < 1e-6 * printed
assert {p["reference"] for p in passes} == {1, 2, 3} and all((p["changed"] == 0) == ("objective" in p) for p in passes)
j = mcz.read("j.mcz")
assert j.meta["members"] == [mcz.read("%d.mcz" % s).id for s in (1, 2, 3)] == j.inputs
assert all((j.tensors["1/" + g["name"]] == np.arange(g["size"])).all() for g in j.meta["groups"])
nets = [mcz.read("p%d.mcz" % s) for s in (1, 2, 3)]
for i in range(3):
    t = {k: sum(n.tensors[k] for n in nets if n is not nets[i]).astype("f4") for k in nets[i].tensors}
    mcz.write("others-%d.mcz" % (i + 1), "weights", nets[0].meta, t)
END
for i in 1 2 3; do
    mc-match -v --init <(mc-permute --member $i j.mcz) others-$i.mcz $i.mcz 2>sweeps | mc-permute - $i.mcz -o again.mcz
    same_content again.mcz p$i.mcz
done
mc-match --joint --groups layers.0.linear 1.mcz 2.mcz 3.mcz -o part.mcz
py <<'END'
p = mcz.read("part.mcz").tensors
kept, matched = list(p)[1::2], list(p)[::2]
assert all((p[k] == np.arange(len(p[k]))).all() for k in kept) and any((p[k] != np.arange(len(p[k]))).any() for k in matched)
END

fails 3 "3.mcz:*same network*1.mcz" bash -c 'cp 1.mcz 3.mcz; mc-match --joint 1.mcz 2.mcz 3.mcz'
usage_error "--init*--joint*combined" mc-match --joint --init j.mcz 1.mcz 2.mcz
usage_error "missing: operand B.mcz" mc-match --joint 1.mcz
mc-train -q -t 1 --net mlp:5 --data data.mcz --batch 16 --epochs 1 -o other.mcz
fails 3 "other.mcz" mc-match --joint 1.mcz 2.mcz other.mcz
