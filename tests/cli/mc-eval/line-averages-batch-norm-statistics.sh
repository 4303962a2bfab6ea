# SPDX-License-Identifier: Apache-2.0
# mc-eval --line with averaged statistics measures the networks at the ends and NumPy's average in the middle. With
# re-estimated statistics it equals the curve of mc-bezier --epochs 0.
fixture three

line="mc-eval -q --data test.mcz --line --points 3"
py <<'END'
a, b = mcz.read("n1.mcz"), mcz.read("n2.mcz")
mean = {k: ((a.tensors[k].astype("f8") + b.tensors[k]) / 2).astype("f4") for k in a.tensors}
mcz.write("mean.mcz", a.kind, a.meta, mean)
END
$line --bn average n1.mcz n2.mcz >average.tsv
mc-eval -q --data test.mcz n1.mcz mean.mcz n2.mcz >nets.tsv
same <(column average.tsv test.loss) <(column nets.tsv test.loss)
same <(column average.tsv test.accuracy) <(column nets.tsv test.accuracy)
$line --bn average n1.mcz n2.mcz --checkpoint c -o whole.tsv
same average.tsv whole.tsv
fails 3 'c: ' $line --bn-data d.mcz n1.mcz n2.mcz --checkpoint c --resume

$line --bn-data d.mcz n1.mcz n2.mcz >again.tsv
mc-eval -q --data test.mcz --points 3 --bn-data d.mcz line.mcz >curve.tsv
if [ "$MC_UNDER" != valgrind ]; then
    same curve.tsv again.tsv
else # up to the middle's last digit: a curve sums a quarter of each end and half of the control point
    same <(sed 3d curve.tsv) <(sed 3d again.tsv)
fi
py <<'END'
line, curve, average = (np.loadtxt(name + ".tsv", skiprows=1) for name in ("again", "curve", "average"))
assert np.allclose(line[1], curve[1], rtol=2e-6, atol=0), (line, curve)
assert not np.allclose(line[1], average[1], rtol=1e-4, atol=0), "the statistics make no difference"
END

fails 2 'requires --bn-data FILE.mcz*--bn average' $line n1.mcz n2.mcz
fails 2 '--bn-data*no effect*with --bn average' $line --bn average --bn-data d.mcz n1.mcz n2.mcz
for curve in 'line.mcz n2.mcz' 'n1.mcz line.mcz'; do
    fails 3 'line.mcz: weights expected*curve' mc-eval --data test.mcz --bn-data d.mcz --line $curve
done
fails 2 '--bn*no effect*without --line' mc-eval --data test.mcz --bn average n1.mcz
fails 2 '--line requires two networks' $line --bn-data d.mcz n1.mcz
fails 2 '--line and --plane' $line --plane --bn-data d.mcz n1.mcz n2.mcz
mc-train -q --net mlp:8 --data d.mcz --epochs 0 -o other.mcz
fails 3 'different networks' $line --bn average n1.mcz other.mcz
