# SPDX-License-Identifier: Apache-2.0
# mc-pam --stage runs each stage alone. Starting from a permutation stream or a curve is the same; a control point is kept.
fixture pam

mc-permute perm-only.mcz n2.mcz -o x.mcz
same_content x.mcz pb.mcz
pam --stage curve --epochs 2 --init perm-only.mcz --log-json stage.json n1.mcz n2.mcz -o from-init.mcz
pam --stage curve --epochs 2 --perm perm-only.mcz n1.mcz n2.mcz -o from-curve.mcz
pam --stage curve --epochs 2 --perm p.mcz n1.mcz n2.mcz -o from-perm.mcz
same_content from-init.mcz from-curve.mcz
same_content from-perm.mcz from-curve.mcz
pam --stage curve --epochs 2 --perm twice.mcz n1.mcz n2.mcz -o x.mcz
different_content x.mcz from-perm.mcz
expect_equal "$(field stage.json permutation outer)/$(field stage.json iteration outer)" /1
# of other networks: a warning
mc-permute curve.mcz n1.mcz 2>errors >x.mcz
expect_lines errors 'mc-permute: warning: curve.mcz*another network*n1.mcz'
pam --stage curve --epochs 1 --perm curve.mcz n1.mcz n2.mcz -o x.mcz 2>errors
[ ! -s errors ] || die "$(cat errors)"
pam --stage curve --epochs 1 --perm curve.mcz n2.mcz n1.mcz -o x.mcz 2>errors
expect_lines errors 'mc-pam: warning: curve.mcz*other networks*n2.mcz*n1.mcz'
# a curve of mc-bezier is also accepted, with its control point
mc-bezier -q -t 1 --data d.mcz --batch 32 --epochs 2 --lr .05 n1.mcz pb.mcz -o bezier.mcz
fails 3 'bezier.mcz:*not a curve*n1.mcz' pam --stage curve --epochs 1 --init bezier.mcz n1.mcz n2.mcz -o no.mcz
pam --stage curve --epochs 1 --init bezier.mcz --lr 1e-12 n1.mcz pb.mcz -o kept.mcz
py <<'END'
x, y = mcz.read("bezier.mcz").tensors, mcz.read("kept.mcz").tensors
assert all(np.allclose(x[n], y[n], rtol=0, atol=1e-6) for n in x)
line = max(np.abs(x["1/" + n[2:]] - (x[n] + x["2/" + n[2:]]) / 2).max() for n in x if n.startswith("0/"))
assert line > 1e-3
END
