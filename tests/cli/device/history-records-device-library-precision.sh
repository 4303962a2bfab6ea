# SPDX-License-Identifier: Apache-2.0
# The history records the device, its library and the precision of a computation.
require_emulation
mc-data synth --samples 64 --size 8 -o d.mcz

cuda="device=cuda isa=sm_[0-9]+ multiprocessors=[0-9]+ cuda=[0-9]+ cublas=[0-9]+ cudnn=[0-9]+"
run_every_program --device cuda
expect_all_computed_with "$cuda $table"
run_every_program --device cuda --precision bf16 --deterministic no
expect_all_computed_with "$cuda precision=bf16 deterministic=no $table"

# the hash of algorithms depends only on the cuDNN engines that ran
algorithms() { mc-info "$1" | sed -nE 's/^ *[0-9]+  mc-train .*algorithms=([0-9a-f]{8}).*/\1/p'; }
on="--net resnet:8,2 --data d.mcz --batch 32 --epochs 2 --lr .01 --device cuda"
expect_equal "$(algorithms out/n1.mcz)" 00000000 # an MLP has no convolution
mc-train -q $on -o whole.mcz
mc-train -q $on --stop-after 1 --checkpoint ck -o half.mcz
mc-train -q $on --checkpoint ck --resume -o resumed.mcz
same whole.mcz resumed.mcz
mc-train -q $on --batch 16 -o other.mcz
[ "$(algorithms whole.mcz)" != 00000000 ] && [ "$(algorithms whole.mcz)" != "$(algorithms other.mcz)" ] ||
    die "$(algorithms whole.mcz), $(algorithms other.mcz)"
