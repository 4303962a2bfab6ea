# SPDX-License-Identifier: Apache-2.0
# mc-acts writes the same content with any number of threads. The history records what decides the result, and nothing
# else.
fixture pair

for t in 1 2; do
    collect -t $t --samples $images a.mcz b.mcz -o x$t.mcz
    collect -t $t --samples $((images / 3)) --raw a.mcz -o raw$t.mcz
done
same_content x1.mcz x2.mcz
same_content raw1.mcz raw2.mcz
collect --samples $images --no-history a.mcz b.mcz -o bare.mcz
same_content x1.mcz bare.mcz
! cmp -s x1.mcz bare.mcz || die '--no-history writes a history'
