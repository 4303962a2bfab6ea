# SPDX-License-Identifier: Apache-2.0
# mc-pam --resume refuses a checkpoint of other settings, permutations and curves.
fixture pam
both() { pam --permutation-epochs 2 --epochs 2 --permutation-lr 1 n1.mcz n2.mcz --checkpoint ck "$@"; }

both --stop-after 3 -o part.mcz
for other in '--nu-curve 5' '--nu-curve 10000.000000001' '--draws 5' '--perm p.mcz' '--init perm-only.mcz'; do
    fails 3 'ck: ' both --resume $other
done
