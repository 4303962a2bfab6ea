# SPDX-License-Identifier: Apache-2.0
# 200 training steps on the emulated device agree with the CPU's (tests/gpu/training.sh).
require_emulation
export MC_TEST_DEVICE=cuda MC_GPU_NETS=mlp:bn,16 MC_GPU_BATCH=16
. "$MC_ROOT/tests/gpu/training.sh"
