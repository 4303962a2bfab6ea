# SPDX-License-Identifier: Apache-2.0
# mc-bootstrap's table depends on the seed, not on the number of threads. A path compared with itself has differences of 0.
fixture lost

for t in 1 3; do mc-bootstrap -t $t --resamples 333 u.losses a.losses -o $t.tsv; done
same 1.tsv 3.tsv
mc-bootstrap --seed 2 --resamples 333 u.losses a.losses -o 2.tsv
! cmp -s 1.tsv 2.tsv || die 'the seed has no effect'
mc-bootstrap --resamples 100 u.losses u.losses | awk -F '\t' 'NR > 1 && ($10 != 0 || $11 != 0 || $12 != 0)' >wrong
expect_equal "$(cat wrong)" ''
mc-bootstrap --resamples 333 u.losses | cut -f 1-6 >alone
cut -f 1-6 1.tsv | cmp - alone
