# SPDX-License-Identifier: Apache-2.0
# cost: of a set that is no publisher's the images and their size are those of train.mcz; without it they are asked for,
# by slurm.sh too, before anything is submitted.
py <<'PY'
r = np.random.default_rng(1)
x, y = r.integers(0, 256, (3600, 16, 64, 3), dtype=np.uint8), np.arange(3600) % 7
np.savez("d.npz", x_train=x, y_train=y, x_test=x[:50], y_test=y[:50])
PY
settings=(DATA=npz DATA_DIR=d.npz NET=mlp:4 EPOCHS=10 CURVE_EPOCHS=5 RATES=mlp:4=1:10 TRAIN_IMAGES= TEST_IMAGES=50)
of() { awk -v row="$1" '$1 == row { print $3 }' log; }
! (graph connect "${settings[@]}" cost) || die 'it counts what is not there'
grep -qF 'cost: how many images DATA=npz has is not known before out/train.mcz is there: make that, or say TRAIN_IMAGES' told || die "$(cat told)"
! grep -q '^in all' log
! "$MC_ROOT/pipelines/cluster/slurm.sh" -n connect.mk BIN="$MC_BUILD/bin" "${settings[@]}" OUT=out >scripts 2>told
[ ! -s scripts ] || die 'slurm.sh counts what is not there'
grep -q 'give -t and -m' told || die "$(cat told)"
"$MC_ROOT/pipelines/cluster/slurm.sh" -n -t 10 -m 1G connect.mk BIN="$MC_BUILD/bin" "${settings[@]}" OUT=out >scripts
graph connect "${settings[@]}" TRAIN_IMAGES=7200 cost
is "$(of net-1)" 20.0
grep -q 'taken to be of 32 x 32' told || die "$(cat told)"
# 3,600 images of as many pixels as 32 x 32, ten epochs at one a second
graph connect "${settings[@]}" out/train.mcz
graph connect "${settings[@]}" cost
is "$(of net-1)" 10.0
[ ! -s told ] || die "$(cat told)"
! grep -q PART log || die "parts, which this graph has not: $(cat log)"
/usr/bin/python3 "$MC_ROOT/tests/cli/lib/blocks_net.py" >blocks.json
settings=(NET=./blocks.json OUT=own EPOCHS=10 TRAIN_IMAGES=3600)
graph connect "${settings[@]}" EPOCHS=100000 RATES= cost
awk '$1 == "net-1" && $3 > 0 { n++ } END { exit !n }' log || die "$(cat log told)"
# of 16 x 16, four times as many a second as of 32 x 32
graph connect "${settings[@]}" RATES=./blocks.json=1:10 cost
is "$(of net-1)" 2.5
# the pairs wait for the networks
graph connect DATA=synth NET=mlp:4 EPOCHS=10000 CURVE_EPOCHS=5000 TRAIN_IMAGES=3600 RATES=mlp:4=1000:1000000 OUT=new cost
awk '$1 != "in" { least[$1] = $4 } /^in all/ { all = $5 } END { exit !(least["1-2"] >= 5 && all == least["net-1"] + least["1-2"]) }' log || die "$(cat log)"
