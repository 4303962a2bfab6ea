# SPDX-License-Identifier: Apache-2.0
# saved.tsv has the epoch at which the aligned curve reaches the unaligned curve's last training loss and accuracy, how
# much earlier this is than on the unaligned curve (never: 0 epochs saved), and the difference of losses over all epochs.
# The noise of a plateau does not count as reaching.
epoch() { printf '{"event":"epoch","epoch":%d,"epochs":4,"loss":1,"accuracy":%s,"objective":%s,"decay":0}\n' "$1" "$2" "$3"; }
mkdir 1-2 3-4
for p in 1-2 3-4; do
    { echo '{"event":"start"}'; epoch 1 20 2; epoch 2 30 1.5; epoch 3 40 1.25; epoch 4 50 1; } >$p/u
done
{ epoch 1 45 1.5; epoch 2 46 1; epoch 3 50 0.5; epoch 4 60 0.25; printf '{"event":"epo'; } >1-2/a
{ epoch 1 45 1.75; epoch 2 46 1.5; epoch 3 49 1; epoch 4 49.5 0.9; } >3-4/a
saved() { tables saved "$@" 1-2/{u,a} 3-4/{u,a}; }
saved | same - <(printf '%s\n' 'pair	epochs	objective	objective_epoch	objective_saved	accuracy	accuracy_epoch	accuracy_saved	lead' \
    '1-2	4	1.0000	2	2	50.00	3	1	0.6250' '3-4	4	1.0000	3	1	50.00		0	0.1500')
NET=n DATA=d saved --all | sed 1d | same - <(echo 'n	d	4	2	2	1.5	0.7	1	0.5	0.7	0.3875	0.3359')
# 100 epochs, so means over 4: at epoch 30 the accuracy reaches the other's last value once, from 61 on always; the
# other's own means reach it at 84
for e in $(seq 100); do epoch $e $((e > 80 ? 50 : 40)) $((e > 80 ? 1 : 2)); done >1-2/u
for e in $(seq 100); do epoch $e $((e == 30 || e > 60 ? 50 : 40)) $((e == 30 || e > 60 ? 1 : 2)); done >1-2/a
for e in $(seq 100); do epoch $e 40 2; done | sed 's/"accuracy":40/"accuracy":50/; 30,40!s/:50,/:40,/' >3-4/a
cp 1-2/u 3-4/u
saved | cut -f 4-5,7-8 | same - <(printf '%s\n' 'objective_epoch	objective_saved	accuracy_epoch	accuracy_saved' '64	20	64	20' '	0	33	51')
fixture connected
expect_equal "$(cut -f 1-2 out/1-2/saved.tsv | paste -sd ' ')" 'pair	epochs 1-2	1'
expect_equal "$(cut -f 1-3 out/saved.tsv | sed 1d)" 'mlp:bn,16	synth	1'
echo '{"event":"start"}' >1-2/a
! saved >made 2>errors || die 'a log without epochs passes'
expect_lines errors 'tables: 1-2/a: *no epochs'
