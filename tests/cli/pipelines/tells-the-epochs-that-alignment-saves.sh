# SPDX-License-Identifier: Apache-2.0
# saved.tsv: where the aligned curve's training loss, and accuracy, first is what the unaligned curve ends with; a pair that
# never gets there counts as 0; and how much lower its loss is over all epochs. A plateau's noise is no crossing.
epoch() { printf '{"event":"epoch","epoch":%d,"epochs":4,"loss":1,"accuracy":%s,"objective":%s,"decay":0}\n' "$1" "$2" "$3"; }
for p in 1 2; do
    { echo '{"event":"start"}'; epoch 1 20 2; epoch 2 30 1.5; epoch 3 40 1.25; epoch 4 50 1; } >u$p
done
{ epoch 1 45 1.5; epoch 2 46 1; epoch 3 50 .5; epoch 4 60 .25; printf '{"event":"epo'; } >a1
{ epoch 1 45 1.75; epoch 2 46 1.5; epoch 3 49 1; epoch 4 49.5 .9; } >a2
saved() { awk "$@" -f "$MC_ROOT/pipelines/spread.awk" -f "$MC_ROOT/pipelines/saved.awk" pair=1-2 u1 a1 pair=3-4 u2 a2; }
saved | same - <(printf '%s\n' 'pair	epochs	objective	objective_epoch	objective_saved	accuracy	accuracy_epoch	accuracy_saved	lead' \
    '1-2	4	1.0000	2	2	50.00	3	1	0.6250' '3-4	4	1.0000	3	1	50.00		0	0.1500')
saved -v spread=1 -v network=n -v data=d | sed 1d | same - <(echo 'n	d	4	2	2	1.5	0.7	1	0.5	0.7	0.3875	0.3359')
# 100 epochs, so means over 4: at epoch 30 the accuracy is for once what the other ends with, from 61 on always
for e in $(seq 100); do epoch $e 50 1; done >u1
for e in $(seq 100); do epoch $e $((e == 30 || e > 60 ? 50 : 40)) $((e == 30 || e > 60 ? 1 : 2)); done >a1
for e in $(seq 100); do epoch $e 40 2; done | sed 's/"accuracy":40/"accuracy":50/; 30,40!s/:50,/:40,/' >a2
cp u1 u2
saved | cut -f 4-5,7-8 | same - <(printf '%s\n' 'objective_epoch	objective_saved	accuracy_epoch	accuracy_saved' '64	36	64	36' '	0	33	67')
fixture connected
is "$(cut -f 1-2 out/1-2/saved.tsv | paste -sd ' ')" 'pair	epochs 1-2	1'
is "$(cut -f 1-3 out/saved.tsv | sed 1d)" 'mlp:bn,16	synth	1'
echo '{"event":"start"}' >a1
! saved >made 2>told || die 'a log without epochs passes'
is "$(cat made told)" 'saved.awk: pair 1-2: the log of its aligned curve has no epochs'
