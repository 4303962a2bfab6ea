# SPDX-License-Identifier: Apache-2.0
# With -v, mc-match reports the memory of the networks and of the search before the search. mc-permute --verify does so too;
# a network from a pipe is not held. Above the limit they fail in one line and keep old files.
mc-data synth --samples 10 --size 8 -o d.mcz
for s in 1 2 3; do mc-train -q --net mlp:512 --data d.mcz --epochs 0 --seed $s -o n$s.mcz; done
mc-match -v -t 1 n1.mcz n2.mcz -o p.mcz 2>errors
expect_words errors 'mc-match: memory: networks 0.8 MB*5.2 MB'
mc-match -v -t 1 --joint n1.mcz n2.mcz n3.mcz -o j.mcz 2>errors
expect_words errors 'mc-match: memory: networks 2.1 MB*5.2 MB'
mc-permute -v -t 1 --verify d.mcz p.mcz n2.mcz >table 2>errors
head -1 errors | grep -q '^mc-permute: memory: networks 1.7 MB, activations 0[.][5-9] MB$' || die "$(cat errors)"
mc-permute -v -t 1 p.mcz - <n2.mcz 2>errors >m.mcz
! grep memory errors || die "$(cat errors)"

[ -z "$MC_UNDER" ] || exit 0 # sanitizers need their own memory
mc-train -q --net mlp:3000 --data d.mcz --epochs 0 -o wide.mcz
mc-train -q --net mlp:60000 --data d.mcz --epochs 0 -o wider.mcz
(
    ulimit -v 250000
    fails_unchanged 1 'out of memory: *required' mc-permute -t 1 --verify d.mcz --random 1 wider.mcz -o p.mcz
)
ulimit -v 90000
fails_unchanged 1 'out of memory: ' mc-match -t 1 wide.mcz wide.mcz -o p.mcz
