# SPDX-License-Identifier: Apache-2.0
# The history of what a device computed names it, its library and its precision.
emulated
mc-data synth --samples 64 --size 8 -o d.mcz

cuda="device=cuda isa=sm_[0-9]+ multiprocessors=[0-9]+ cuda=[0-9]+ cublas=[0-9]+ cudnn=[0-9]+ $table"
every --device cuda
all_computed_with "$cuda"
every --device cuda --precision bf16 --deterministic no
all_computed_with "$cuda precision=bf16 deterministic=no"
