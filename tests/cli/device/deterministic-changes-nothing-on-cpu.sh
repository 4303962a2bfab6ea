# SPDX-License-Identifier: Apache-2.0
# --deterministic changes nothing on the CPU, whose order of sums is fixed, and is not in the history.
mc-data synth --samples 64 -o d.mcz
t="mc-train --net mlp:bn,4 --data d.mcz --batch 32 --epochs 1"
fails 2 "unknown value 'maybe'*yes, no" $t --deterministic maybe
for answer in yes no; do $t --device cpu --threads 1 --deterministic $answer -o cpu-$answer.mcz; done
same cpu-yes.mcz cpu-no.mcz
mc-info cpu-no.mcz >info
! grep 'deterministic\|precision' info || die 'in the history of the CPU'
