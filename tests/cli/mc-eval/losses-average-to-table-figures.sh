# SPDX-License-Identifier: Apache-2.0
# mc-eval --losses: the means over images equal the table's figures, clean and under attack, at every point and for every
# data set. The table does not change. The stream names its inputs and does not depend on the batch size.
fixture lost

measure="mc-eval -q -t 1 --points 5 --data test=t.mcz --data d.mcz --bn-data d.mcz --attack pgd:eps=.02,step=.01,steps=2 u.mcz"
$measure -o plain.tsv
$measure --losses l.mcz -o table.tsv
same plain.tsv table.tsv
mc-info --check l.mcz >output
py <<'END'
s = mcz.read("l.mcz")
rows = [line.rstrip("\n").split("\t") for line in open("table.tsv")]
assert [d["name"] for d in s.meta["data"]] == ["test", "train", "test.robust", "train.robust"], s.meta
assert list(s.tensors["t"]) == [float(r[0]) for r in rows[1:]] and s.meta["points"] == 5
for c, d in enumerate(s.meta["data"]):
    loss, correct = s.tensors[d["name"] + "/loss"], s.tensors[d["name"] + "/correct"]
    assert loss.shape == correct.shape == (5, d["images"]) and len(set(loss[0])) > d["images"] // 2
    for p in range(5):
        assert abs(loss[p].mean(dtype="f8") - float(rows[p + 1][2 * c + 1])) < 1e-6 * loss[p].mean()
        assert abs(100 * correct[p].mean() - float(rows[p + 1][2 * c + 2])) < 1e-4
END
for d in t d u; do mc-info l.mcz | grep -q "input $(id $d.mcz)" || die "$d.mcz is not an input"; done
mc-eval -q -t 1 --line --bn average --points 3 --data t.mcz --losses l.mcz n1.mcz n2.mcz -o table.tsv
mc-info l.mcz | grep -q 'line=1 bn=average' || die 'the history lacks the options'
