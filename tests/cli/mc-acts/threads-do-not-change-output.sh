# SPDX-License-Identifier: Apache-2.0
# No sum of mc-acts is split among threads: the same content; what decides the result is in the history, and only that.
fixture pair

for t in 1 2; do
    collect -t $t --samples $images a.mcz b.mcz -o x$t.mcz
    collect -t $t --samples $((images / 3)) --raw a.mcz -o raw$t.mcz
done
same_content x1.mcz x2.mcz
same_content raw1.mcz raw2.mcz
collect --samples $images --no-history a.mcz b.mcz -o bare.mcz
same_content x1.mcz bare.mcz
! cmp -s x1.mcz bare.mcz || die 'the history is there'
