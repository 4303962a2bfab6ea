# SPDX-License-Identifier: Apache-2.0
# connect.mk identifies a network's file by its contents.
set -- NET=./net.json EPOCHS=0 TRAIN_IMAGES=64 TEST_IMAGES=50
cp "$MC_ROOT/formats/samples/example_net.json" net.json
expect_programs 'mc-data1 mc-train1 ' connect "$@" out/net-1.mcz
touch -d 'next year' net.json
expect_programs '' connect "$@" out/net-1.mcz
sed -i 's/"net": "example"/"net": "mine"/' net.json
expect_programs 'mc-train1 ' connect "$@" CHANGE=yes out/net-1.mcz
mc-info out/net-1.mcz | grep -q mine
bin=$MC_BUILD/bin graph connect "$@" CURVE_EPOCHS=0 out/1-2/path.svg
svg_texts out/1-2/path.svg | grep -qx 'net on synth, seeds 1–2'
