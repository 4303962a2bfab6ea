# SPDX-License-Identifier: Apache-2.0
# The device's 200 steps of training beside the CPU's (tests/gpu/training.sh), on the emulated device.
require_emulation
export MC_TEST_DEVICE=cuda MC_GPU_NETS=mlp:bn,16 MC_GPU_BATCH=16
. "$MC_ROOT/tests/gpu/training.sh"
