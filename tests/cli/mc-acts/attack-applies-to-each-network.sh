# SPDX-License-Identifier: Apache-2.0
# mc-acts --attack writes moments of each network's adversarial examples, equal to those of raw streams. With eps=0 it changes
# nothing.
fixture attacked
a="mc-acts -q --no-progress --data d.mcz --samples 200 --batch 32 -t 1"

$a n1.mcz n2.mcz -o clean.mcz
$a --attack $attack n1.mcz n2.mcz -o whole.mcz
$a --attack $attack n1.mcz n2.mcz | same - whole.mcz
different_content clean.mcz whole.mcz
$a --seed 2 --attack $attack n1.mcz n2.mcz -o seed.mcz
different_content seed.mcz whole.mcz
mc-info --json whole.mcz | grep -q 'pgd:eps=0.0156862745,step=0.00784313725,steps=2'
$a --attack pgd:eps=0 n1.mcz n2.mcz -o nothing.mcz
for i in 1 2; do $a --attack $attack --raw n$i.mcz -o raw$i.mcz; done
mc-corr -q whole.mcz -o matrices.mcz
mc-corr -q raw1.mcz raw2.mcz -o from-raw.mcz
agree 1e-5 matrices.mcz from-raw.mcz
py <<'END'
nothing, clean = mcz.read("nothing.mcz"), mcz.read("clean.mcz")
assert nothing.meta.pop("attack").startswith("pgd:eps=0,") and nothing.meta.pop("seed") == 1
assert nothing.meta == clean.meta
for k, v in clean.tensors.items():
    assert (v == nothing.tensors[k]).all(), k
END
fails 2 "unknown attack 'fgsm'" $a --attack fgsm n1.mcz n2.mcz
fails 2 'target 10*not a class' $a --attack pgd:target=10 n1.mcz n2.mcz
