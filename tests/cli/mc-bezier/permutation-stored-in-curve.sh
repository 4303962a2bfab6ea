# SPDX-License-Identifier: Apache-2.0
# mc-bezier --perm writes the curve to the permuted network and stores the permutation in it, as mc-pam does.
fixture three

mc-permute --random 3 --perm-out p.mcz n2.mcz -o pn2.mcz
train="mc-bezier -q --data d.mcz --samples 64 --batch 32 -t 1"
for epochs in 0 2; do
    $train --epochs $epochs --perm p.mcz n1.mcz n2.mcz -o held.mcz
    $train --epochs $epochs n1.mcz pn2.mcz -o plain.mcz
    mc-info --check held.mcz
    py <<'END'
held, plain, p = (mcz.read(name + ".mcz") for name in ("held", "plain", "p"))
assert held.meta["groups"] == p.meta["groups"]
for name in held.tensors:
    expected = p.tensors[name[12:]] if name.startswith("permutation/") else plain.tensors[name]
    assert (held.tensors[name] == expected).all(), name
assert len(held.tensors) == len(plain.tensors) + len(p.tensors)
END
done
# a curve is accepted as a permutation
mc-permute held.mcz n2.mcz -o again.mcz
expect_equal "$(id again.mcz)" "$(id pn2.mcz)"
$train --epochs 0 --perm held.mcz n1.mcz n2.mcz -o line.mcz
$train --epochs 0 --perm p.mcz n1.mcz n2.mcz -o same.mcz
expect_equal "$(id line.mcz)" "$(id same.mcz)"
mc-pam -q --data d.mcz --samples 64 --batch 32 --epochs 1 --permutation-epochs 0 --init held.mcz n1.mcz n2.mcz -o pam.mcz
mc-bezier -q --epochs 0 --perm held.mcz n2.mcz n1.mcz -o line.mcz 2>errors
expect_lines errors 'mc-bezier: warning: held.mcz*other networks*n2.mcz*n1.mcz'

mc-permute --random 4 --perm-out q.mcz n2.mcz -o qn2.mcz
$train --epochs 2 --perm p.mcz n1.mcz n2.mcz --checkpoint c -o line.mcz
fails 3 'c:*made*perm ' $train --epochs 2 --perm q.mcz n1.mcz n2.mcz --checkpoint c --resume
fails 3 'c:*made*perm ' $train --epochs 2 n1.mcz n2.mcz --checkpoint c --resume
# a permutation stream also names its networks; lines and chains accept a permutation
mc-permute --perm-out out.mcz held.mcz n2.mcz -o /dev/null
mc-bezier -q --epochs 0 --perm out.mcz n2.mcz n1.mcz -o line.mcz 2>errors
expect_lines errors 'mc-bezier: warning: out.mcz*other networks*n2.mcz*n1.mcz'
for shape in '--control-points 0' '--control-points 3' '--control-points 2 --chain'; do
    mc-bezier -q --epochs 0 $shape --perm p.mcz n1.mcz n2.mcz -o shaped.mcz
    mc-bezier -q --epochs 0 $shape n1.mcz pn2.mcz -o plain.mcz
    py <<'END'
shaped, plain = (mcz.read(name + ".mcz") for name in ("shaped", "plain"))
assert all((shaped.tensors[name] == plain.tensors[name]).all() for name in plain.tensors)
END
done
fails 2 '--perm*no effect*with --point' mc-bezier --point .5 --perm p.mcz held.mcz
fails 2 '--perm*no effect*with --inner' mc-bezier --inner --perm p.mcz held.mcz
mc-train -q --net mlp:8 --data d.mcz --epochs 0 -o stranger.mcz
fails 3 'p.mcz: ' mc-bezier --epochs 0 --perm p.mcz stranger.mcz stranger.mcz
fails 3 'plain.mcz:*curve*no permutation' mc-bezier --epochs 0 --perm plain.mcz n1.mcz n2.mcz
