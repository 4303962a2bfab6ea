# SPDX-License-Identifier: Apache-2.0
# mc-hungarian --joint brings three networks to one order. The result does not depend on the order of the files, the side of
# a network or the number of threads. The table's objective is the sum of the matched values; no reference is better.
fixture joint

mc-hungarian -v --joint m12.mcz m13.mcz m23.mcz -o j.mcz --table table.tsv 2>errors
for files in "m23.mcz m12.mcz m13.mcz" "m12.mcz m13.mcz m23.mcz"; do
    mc-hungarian -q -t 2 --joint $files | same_content - j.mcz
done
mc-hungarian -q --joint m21.mcz m13.mcz m23.mcz -o k.mcz
same_content j.mcz <(mc-hungarian -q --joint - m13.mcz m23.mcz <m12.mcz)
mc-info --check j.mcz k.mcz >checked
py <<'END'
j, k, rows = mcz.read("j.mcz"), mcz.read("k.mcz"), [l.rstrip("\n").split("\t") for l in open("table.tsv")]
ids = [mcz.read("%d.mcz" % i).id for i in (1, 2, 3)]
assert j.meta["version"] == 2 and j.meta["members"] == ids, j.meta
assert k.meta["members"] == [ids[1], ids[0], ids[2]], "the network of most rows comes first"
assert [mcz.read("m%s.mcz" % p).id for p in ("12", "13", "23")] == j.inputs
assert rows[0] == ["group", "units", "objective", "reference_1", "reference_2", "reference_3", "pairs"]
assert [r[0] for r in rows[1:]] == [g["name"] for g in j.meta["groups"]] + ["total"]
total = np.zeros(6)
for row in rows[1:-1]:
    name, value = row[0], np.array(row[1:], float)
    p = [j.tensors["%d/%s" % (i, name)] for i in (1, 2, 3)]
    assert list(p[0]) == list(range(int(value[0])))
    m = {s: mcz.read("m%s.mcz" % s).tensors[name] for s in ("12", "13", "23")}
    own = m["12"][p[0], p[1]].sum() + m["13"][p[0], p[2]].sum() + m["23"][p[1], p[2]].sum()
    assert abs(own - value[1]) < 1e-7 and value[1] >= value[2:5].max() - 1e-7 and value[1] <= value[5] + 1e-7, row
    total += value
assert np.abs(total - np.array(rows[-1][1:], float)).max() < 1e-6
assert float(rows[-1][2]) > max(map(float, rows[-1][3:6])), "the search improves on the references"
END
total=$(tail -n 1 table.tsv | cut -f 3)
grep -qF "total: objective $total, best reference" errors || die "$(cat errors)"
grep -qF "member 3 is $(id 3.mcz)" errors || die "$(cat errors)"
# another seed draws other starts; two networks are matched as without --joint
expect_equal "$(mc-info k.mcz | grep -o 'joint=1 starts=[0-9]* seed=[0-9]*')" "joint=1 starts=50 seed=1"
mc-hungarian -q --joint m12.mcz -o two.mcz
same_content <(mc-permute two.mcz 2.mcz) <(mc-hungarian -q m12.mcz | mc-permute - 2.mcz)
