# SPDX-License-Identifier: Apache-2.0
# mc-acts --attack: each network on its own adversarial examples; shards add up; a ball of nothing is
# no attack.
. "$MC_ROOT/tests/cli/lib.bash"

mc-data synth --samples 300 --seed 3 -o d.mcz
for s in 1 2; do
    mc-train -q --net mlp:bn,16,12 --no-normalise --data d.mcz --epochs 1 --lr 0.05 --seed $s -t 1 -o n$s.mcz
done
attack=pgd:eps=4/255,step=2/255,steps=2
a="mc-acts -q --no-progress --data d.mcz --samples 200 --batch 32 -t 1"
$a n1.mcz n2.mcz -o clean.mcz
$a --attack $attack n1.mcz n2.mcz -o whole.mcz
$a --attack $attack n1.mcz n2.mcz | same - whole.mcz
[ "$(id clean.mcz)" != "$(id whole.mcz)" ] || die 'the attack changes nothing'
$a --attack pgd:eps=0 n1.mcz n2.mcz -o nothing.mcz
[ "$($a --seed 2 --attack $attack n1.mcz n2.mcz >seed.mcz; id seed.mcz)" != "$(id whole.mcz)" ]
mc-info --json whole.mcz | grep -q 'pgd:eps=0.0156862745,step=0.00784313725,steps=2'
for s in 1 2 3; do $a --attack $attack --shard $s/3 n1.mcz n2.mcz -o s$s.mcz; done
# two raw streams, each of its own network's examples, are the same as the moments
$a --attack $attack --raw n1.mcz -o raw1.mcz
$a --attack $attack --raw n2.mcz -o raw2.mcz
mc-corr -q whole.mcz -o matrices.mcz
mc-corr -q raw1.mcz raw2.mcz -o from-raw.mcz
/usr/bin/python3 - "$MC_ROOT" <<'END'
import sys
import numpy as np
sys.path.insert(0, sys.argv[1] + "/formats/python")
import mcz
whole = mcz.read("whole.mcz")
nothing, clean = mcz.read("nothing.mcz"), mcz.read("clean.mcz")
assert nothing.meta.pop("attack").startswith("pgd:eps=0,") and nothing.meta.pop("seed") == 1
assert nothing.meta == clean.meta
for k, v in clean.tensors.items():
    assert (v == nothing.tensors[k]).all(), k
shards = [mcz.read("s%d.mcz" % i) for i in (1, 2, 3)]
for k, v in whole.tensors.items():   # float64 sums: one pixel attacked otherwise would show
    assert np.abs(v - sum(s.tensors[k] for s in shards)).max() <= 1e-12 * np.abs(v).max(), k
raw, moments = mcz.read("from-raw.mcz"), mcz.read("matrices.mcz")
for k, v in moments.tensors.items():
    assert np.abs(v - raw.tensors[k]).max() < 1e-5, k
END
# shards of other examples do not add up
$a --shard 2/3 n1.mcz n2.mcz -o clean2.mcz
$a --attack $attack,restarts=2 --shard 2/3 n1.mcz n2.mcz -o other2.mcz
$a --attack $attack --seed 2 --shard 2/3 n1.mcz n2.mcz -o seed2.mcz
mc-corr -q s3.mcz s1.mcz s2.mcz -o from-shards.mcz
fails 3 'clean2.mcz: moments of different attacks (pgd:' mc-corr s1.mcz clean2.mcz s3.mcz
fails 3 's1.mcz: moments of different attacks (none and pgd:' mc-corr clean2.mcz s1.mcz s3.mcz
fails 3 'other2.mcz: moments of different attacks' mc-corr s1.mcz other2.mcz s3.mcz
fails 3 'seed2.mcz: moments of attacks from different seeds (1 and 2)' mc-corr s1.mcz seed2.mcz s3.mcz
fails 2 'there are: pgd' $a --attack fgsm n1.mcz n2.mcz
fails 2 'target 10 is no class' $a --attack pgd:target=10 n1.mcz n2.mcz
no_temporaries
