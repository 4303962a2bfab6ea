# SPDX-License-Identifier: Apache-2.0
# connect.mk and paper.mk accept spaces, quotes and shell commands in paths of data, programs and networks, and run none.
py <<'END'
import numpy
os.mkdir("My `touch run` $(touch run) 'Data'")
x, y = numpy.arange(40 * 192, dtype="u1").reshape(40, 3, 8, 8), numpy.arange(40) % 4
numpy.savez("My `touch run` $(touch run) 'Data'/d.npz", train_images=x, train_labels=y, test_images=x[:20], test_labels=y[:20])
END
# make reads $$ as $
data="My \`touch run\` \$\$(touch run) 'Data'/d.npz" path="My \`touch run\` \$(touch run) 'Data'/d.npz"
graph connect DATA=npz DATA_DIR="$data" TRAIN_IMAGES=40 TEST_IMAGES=20 out/train.mcz out/test.mcz
mc-data npz "$path" --split train -o by-hand.mcz
same_content by-hand.mcz out/train.mcz
rc=0
make -f "$MC_ROOT/pipelines/paper/paper.mk" BIN="$MC_BUILD/bin" OUT=paper CIFAR10_DIR="${data%/*}" PART=tinyten-cifar10 >log 2>errors || rc=$?
expect_equal $rc 2
grep -qF "mc-data: ${path%/*}: data_batch_1.bin is missing" errors || die "$(cat errors)"
# a leading dash is not an option
mkdir -- -x
cp "$path" ./-x/d.npz
graph connect DATA=npz DATA_DIR=-x/d.npz OUT=dash TRAIN_IMAGES=40 TEST_IMAGES=20 dash/train.mcz
same_content by-hand.mcz dash/train.mcz
# if the shell leaves ~/ in a setting, as dash does, the experiments expand it
mkdir '~'
(
    export HOME=$PWD
    graph connect DATA=npz DATA_DIR="~/-x/d.npz" OUT='~/my-home' TRAIN_IMAGES=40 TEST_IMAGES=20 "$PWD/my-home/train.mcz"
)
same_content by-hand.mcz my-home/train.mcz
# programs
mkdir 'my `touch run` $(touch run) bin'
for f in "$MC_BUILD"/bin/*; do ln -s "$f" 'my `touch run` $(touch run) bin'; done
graph connect BIN="$PWD/"'my `touch run` $$(touch run) bin' OUT=programs programs/train.mcz
! (PATH=/usr/bin:/bin graph connect BIN=/none OUT=none) >out.refused || die "BIN=/none passes"
# a network's file counts by its contents, in any folder
mkdir 'my nets'
cp "$MC_ROOT/formats/samples/example_net.json" 'my nets/the `touch run` net.json'
set -- NET='my nets/the `touch run` net.json' OUT=net EPOCHS=0 TRAIN_IMAGES=64 TEST_IMAGES=50
graph connect "$@" net/net-1.mcz
sed -i 's/"net": "example"/"net": "mine"/' 'my nets/the `touch run` net.json'
expect_programs 'mc-train1 ' connect "$@" CHANGE=yes net/net-1.mcz
[ ! -e run ] || die 'part of the name was run'
