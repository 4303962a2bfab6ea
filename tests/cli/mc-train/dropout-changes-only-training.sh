# SPDX-License-Identifier: Apache-2.0
# tinyten-dropout starts as tinyten, trains with dropout and computes the same function.
mc-data synth --samples 64 --size 16 -o d.mcz
for net in tinyten tinyten-dropout; do
    for epochs in 0 1; do mc-train -q --net $net --data d.mcz --epochs $epochs -o $net-$epochs.mcz; done
done
outputs() { mc-eval -q -d d.mcz "$1" | cut -f 2-; }
expect_equal "$(outputs tinyten-dropout-0.mcz)" "$(outputs tinyten-0.mcz)"
[ "$(outputs tinyten-dropout-1.mcz)" != "$(outputs tinyten-1.mcz)" ] || die 'dropout has no effect on training'
# the same weights have the same outputs with both graphs
mc-convert tinyten-1.mcz -o w.safetensors
mc-convert w.safetensors --net tinyten-dropout --data d.mcz -o w.mcz
expect_equal "$(outputs w.mcz)" "$(outputs tinyten-1.mcz)"
fails 2 "tinyten[:dropout] expected (got 'tinyten:x')" mc-train --net tinyten:x --data d.mcz
