# SPDX-License-Identifier: Apache-2.0
# Shards with the same attack add up to its moments; shards with different examples are refused.
fixture attacked
a="mc-acts -q --no-progress --data d.mcz --samples 200 --batch 32 -t 1"

$a --attack $attack n1.mcz n2.mcz -o whole.mcz
for s in 1 2 3; do $a --attack $attack --shard $s/3 n1.mcz n2.mcz -o s$s.mcz; done
mc-corr -q s3.mcz s1.mcz s2.mcz -o from-shards.mcz
py <<'END'
whole, shards = mcz.read("whole.mcz"), [mcz.read("s%d.mcz" % i) for i in (1, 2, 3)]
for k, v in whole.tensors.items():   # float64 sums: a single differently attacked pixel would show
    assert np.abs(v - sum(s.tensors[k] for s in shards)).max() <= 1e-12 * np.abs(v).max(), k
END
$a --shard 2/3 n1.mcz n2.mcz -o clean2.mcz
$a --attack $attack,restarts=2 --shard 2/3 n1.mcz n2.mcz -o other2.mcz
$a --attack $attack --seed 2 --shard 2/3 n1.mcz n2.mcz -o seed2.mcz
fails 3 'clean2.mcz: moments*different attacks (pgd:' mc-corr s1.mcz clean2.mcz s3.mcz
fails 3 's1.mcz: moments*different attacks (none*pgd:' mc-corr clean2.mcz s1.mcz s3.mcz
fails 3 'other2.mcz: moments*different attacks' mc-corr s1.mcz other2.mcz s3.mcz
fails 3 'seed2.mcz: moments*attacks*different seeds (1 and 2)' mc-corr s1.mcz seed2.mcz s3.mcz
