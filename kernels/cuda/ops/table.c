/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/cuda/cuda.h"

const struct cuda_op cuda_op_normalise = {0}; /* pixels are normalised when they are loaded */

#define ROW(NAME, name, ...) [MC_OP_##NAME] = &cuda_op_##name,
const struct cuda_op *const cuda_ops[MC_N_OPS] = {MC_EACH_OP(ROW)};
