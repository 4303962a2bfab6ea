/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/cpu/cpu.h"

const struct cpu_op cpu_op_normalise = {0}; /* pixels are normalised when they are loaded */

#define ROW(NAME, name, ...) [MC_OP_##NAME] = &cpu_op_##name,
const struct cpu_op *const cpu_ops[MC_N_OPS] = {MC_EACH_OP(ROW)};
