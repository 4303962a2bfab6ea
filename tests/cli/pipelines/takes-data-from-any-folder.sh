# SPDX-License-Identifier: Apache-2.0
# connect.mk, paper.mk: data may lie in a folder with blanks, quotes and what a shell would run; nothing of it is run.
py <<'END'
import numpy
os.mkdir("My `touch run` $(touch run) 'Data'")
x, y = numpy.arange(40 * 192, dtype="u1").reshape(40, 3, 8, 8), numpy.arange(40) % 4
numpy.savez("My `touch run` $(touch run) 'Data'/d.npz", train_images=x, train_labels=y, test_images=x[:20], test_labels=y[:20])
END
data="My \`touch run\` \$(touch run) 'Data'/d.npz"
graph connect DATA=npz DATA_DIR="${data//\$/\$\$}" TRAIN_IMAGES=40 TEST_IMAGES=20 out/train.mcz out/test.mcz
mc-data npz "$data" --split train -o by-hand.mcz
alike by-hand.mcz out/train.mcz
make -n -f "$MC_ROOT/pipelines/paper.mk" BIN="$MC_BUILD/bin" OUT=paper CIFAR10_DIR='My `touch run` Data' PART=tinyten-cifar10 >log
is "$(sort -u log | grep -c "^mc-data cifar10 'My \`touch run\` Data' --split")" 2
[ ! -e run ] || die 'a part of the name was run'
