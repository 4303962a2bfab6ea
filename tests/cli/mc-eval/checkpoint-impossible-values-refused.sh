# SPDX-License-Identifier: Apache-2.0
# mc-eval --resume refuses a checkpoint with results that no run has. A run whose loss is not finite saves no such results.
fixture three
e="mc-eval -q -t 1 --data test.mcz --attack pgd:eps=2/255,steps=2 --points 3 --bn-data d.mcz --resume"
mc-bezier --epochs 0 n1.mcz n2.mcz -o line.mcz
$e --checkpoint whole line.mcz -o table.tsv
py <<'END'
s = mcz.read("whole")
number = 0
for column, value in [(c, v) for c in (1, 2) for v in (np.nan, np.inf, -.5, 1e300)] + [(2, 1e30)] + [
        (c, v) for c in (3, 4) for v in (np.nan, -.1, 1.5, 1e307, 1234.5 / 12345)]:
    for adversarial in 0, 5:
        t = {k: v.copy() for k, v in s.tensors.items()}
        t["test"].view("<f8").reshape(3, 10)[number % 3, column + adversarial] = value
        number += 1
        mcz.write("wrong-%d" % number, s.kind, s.meta, t)
END
[ "$(ls wrong-* | wc -l)" -gt 30 ]
for wrong in wrong-*; do fails_unchanged 3 '"test" holds results*no run*loss ' $e --checkpoint "$wrong" line.mcz -o no.tsv; done
$e --checkpoint whole line.mcz | same - table.tsv

py <<'END'
n = mcz.read("n2.mcz")
mcz.write("huge.mcz", n.kind, n.meta, {k: v * 0 + 3e38 if k.endswith("linear.weight") else v for k, v in n.tensors.items()})
END
mc-bezier --epochs 0 n1.mcz huge.mcz -o to-huge.mcz
for _ in 1 2; do
    fails 1 'loss*test*not finite*t = ' $e --checkpoint part --checkpoint-every 1 to-huge.mcz
    [ "$(mc-info --json part | sed 's/.*"epoch": *\([0-9]*\).*/\1/')" = 1 ] || die 'the point before was not saved'
done
