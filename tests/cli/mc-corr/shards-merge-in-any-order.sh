# SPDX-License-Identifier: Apache-2.0
# mc-corr computes the same matrices from any shards in any order, and names missing and duplicate shards.
fixture moments

# seven shards, except under valgrind, where a run takes seconds
n=7
[ "$MC_UNDER" != valgrind ] || n=3
shards=()
for ((i = 1; i <= n; i++)); do
    acts --shard $i/$n a.mcz b.mcz -o s$i-$n.mcz
    shards=("s$i-$n.mcz" "${shards[@]}")
done
mc-corr "${shards[@]}" -o x.mcz
agree 1e-10 c.mcz x.mcz
mc-corr s2.mcz s1.mcz -o x.mcz
agree 1e-10 c.mcz x.mcz
mc-corr --measure l2 m.mcz -o l2.mcz
mc-corr --measure l2 s1.mcz s2.mcz -o x.mcz
agree 1e-10 l2.mcz x.mcz
missing=$(seq 4 $n | sed 's/^/, /' | tr -d '\n')
fails 3 "shard${missing:+s} 2$missing of $n " mc-corr s1-$n.mcz s3-$n.mcz
fails 3 "s2.mcz: shard 1 of 2*missing" mc-corr s2.mcz
fails 3 "s2-$n.mcz: shard 2*$n*repeated" mc-corr s2-$n.mcz s3-$n.mcz s2-$n.mcz
fails 3 "s2.mcz: " mc-corr s1-$n.mcz s2.mcz
head -c -1 s2.mcz >cut.mcz
fails 3 "cut.mcz: " mc-corr s1.mcz cut.mcz
