# SPDX-License-Identifier: Apache-2.0
# connect.mk, paper.mk: data may lie in a folder with blanks, quotes and what a shell would run; nothing of it is run.
py <<'END'
import numpy
os.mkdir("My `touch run` $(touch run) 'Data'")
x, y = numpy.arange(40 * 192, dtype="u1").reshape(40, 3, 8, 8), numpy.arange(40) % 4
numpy.savez("My `touch run` $(touch run) 'Data'/d.npz", train_images=x, train_labels=y, test_images=x[:20], test_labels=y[:20])
END
data="My \`touch run\` \$(touch run) 'Data'/d.npz"
graph connect DATA=npz DATA_DIR="$data" TRAIN_IMAGES=40 TEST_IMAGES=20 out/train.mcz out/test.mcz
mc-data npz "$data" --split train -o by-hand.mcz
alike by-hand.mcz out/train.mcz
make -n -f "$MC_ROOT/pipelines/paper.mk" BIN="$MC_BUILD/bin" OUT=paper CIFAR10_DIR='My `touch run` Data' PART=tinyten-cifar10 >log
is "$(sort -u log | grep -c "^mc-data cifar10 'My \`touch run\` Data' --split")" 2
graph connect DATA=npz DATA_DIR="$data" OUT=cost TRAIN_IMAGES=40 NET=mlp:3 RATES=mlp:3=9:9 cost
make -f "$MC_ROOT/pipelines/paper.mk" BIN="$MC_BUILD/bin" OUT=paper CIFAR10_DIR="$data" PART=tinyten-cifar10 GRAPHS=connect RATES=tinyten=9:9 cost >log
graph paper -n DATA_SETS=cifar10 CIFAR10_DIR="$data" PART=mlp-cifar10
[ "$(grep -cF "mc-data cifar10 '${data//\'/"'\\''"}' --split" log)" -ge 2 ] || die "$(grep mc-data log)"
# what begins with a dash is no option, what would end a line is refused
mkdir -- -x
cp "$data" ./-x/d.npz
graph connect DATA=npz DATA_DIR=-x/d.npz OUT=dash TRAIN_IMAGES=40 TEST_IMAGES=20 dash/train.mcz
alike by-hand.mcz dash/train.mcz
# where the shell leaves ~/ in a setting, as dash does, the graphs do not
mkdir '~'
(
    export HOME=$PWD
    graph connect DATA=npz DATA_DIR="~/-x/d.npz" OUT='~/my-home' TRAIN_IMAGES=40 TEST_IMAGES=20 "$PWD/my-home/train.mcz"
    ! (graph connect DATA=npz DATA_DIR=./~/d.npz OUT=other) >out.refused || die 'the folder ~ is taken for the home'
)
alike by-hand.mcz my-home/train.mcz
for name in DATA_DIR NET; do
    ! (graph connect OUT=lines "$name=x
touch run") >out.refused || die "$name with a line end passes"
    grep -q "$name: a name without line ends is wanted" told || die "$(cat told)"
done
# programs
mkdir 'my `touch run` $(touch run) bin'
for f in "$MC_BUILD"/bin/*; do ln -s "$f" 'my `touch run` $(touch run) bin'; done
graph connect BIN="$PWD/"'my `touch run` $(touch run) bin' OUT=programs programs/train.mcz
for bin in /none 'a:b'; do ! (graph connect BIN=$bin OUT=none) >out.refused || die "BIN=$bin passes"; done
# a network's file counts by what is in it, wherever it lies
mkdir 'my nets'
cp "$MC_ROOT/formats/samples/example_net.json" 'my nets/the `touch run` net.json'
set -- NET='my nets/the `touch run` net.json' OUT=net EPOCHS=0 TRAIN_IMAGES=64 TEST_IMAGES=50
graph connect "$@" net/net-1.mcz
sed -i 's/"net": "example"/"net": "mine"/' 'my nets/the `touch run` net.json'
makes 'mc-train1 ' connect "$@" net/net-1.mcz
# the graphs themselves
cp -R "$MC_ROOT/pipelines" 'pipe`touch`'
for graph in connect paper; do
    ! make -f 'pipe`touch`'/$graph.mk BIN="$MC_BUILD/bin" help >log 2>told || die "$graph.mk passes"
    grep -q 'holds what steers a shell' told || die "$(cat told)"
done
[ ! -e run ] || die 'a part of the name was run'
