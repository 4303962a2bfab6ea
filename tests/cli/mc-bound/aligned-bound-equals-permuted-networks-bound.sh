# SPDX-License-Identifier: Apache-2.0
# mc-bound's aligned bound equals the unaligned bound of the permuted network; it also accepts a curve's permutation.
# Between a network and its permuted copy the aligned bound is 0 up to the rounding of float32 products.
fixture bounded

mc-bound n1.mcz n2.mcz m.mcz p.mcz >both
mc-bound n1.mcz n2.mcz m.mcz >alone
expect_equal "$(head -n 2 both)" "$(cat alone)"
mc-permute p.mcz n2.mcz -o pb.mcz
mc-acts -q -t 1 --data d.mcz --samples 80 --at pre n1.mcz pb.mcz | mc-bound n1.mcz pb.mcz - >after
py <<'END'
rows = lambda f: [line.split("\t") for line in open(f)]
aligned, after = rows("both")[2], rows("after")[1]
assert [aligned[0], after[0]] == ["aligned", "unaligned"]
assert all(abs(float(x) / float(y) - 1) < 1e-6 for x, y in zip(aligned[1:], after[1:])), (aligned, after)
END
mc-pam -q -t 1 --stage permutation --permutation-epochs 2 --permutation-lr 1 --data d.mcz n1.mcz n2.mcz -o curve.mcz
mc-bound n1.mcz n2.mcz m.mcz curve.mcz 2>errors >of-curve
expect_equal "$(cut -f 1 of-curve | paste -sd ' ') $(cat errors)" 'permutation unaligned aligned '

mc-permute --random 3 --perm-out q.mcz n1.mcz -o qa.mcz
mc-permute --inverse q.mcz -o back.mcz
mc-acts -q -t 1 --data d.mcz --samples 80 --at pre n1.mcz qa.mcz -o self.mcz
mc-bound -q n1.mcz qa.mcz self.mcz back.mcz >zero
awk '$1 == "unaligned" { u = $2 } $1 == "aligned" { a = $2 } END { exit !(u > 1 && a < 1e-4 * u) }' zero || die "$(cat zero)"
