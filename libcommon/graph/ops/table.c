/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of all rows, and what they share. */
#include "libcommon/graph/ops/row.h"

#include <string.h>

#define ROW(NAME, name, ...) [MC_OP_##NAME] = &mc_op_##name,
const struct mc_op_info *const mc_ops[MC_N_OPS] = {MC_EACH_OP(ROW)};

void mc_op_tensor(struct mc_op_tensors *t, struct mc_slot *slot, const char *suffix,
                  enum mc_init init, const uint64_t shape[4])
{
    t->list[t->n].slot = slot;
    t->list[t->n].suffix = suffix;
    t->list[t->n].init = init;
    while (t->list[t->n].ndim < 4 && shape[t->list[t->n].ndim])
        t->list[t->n].ndim++;
    memcpy(t->list[t->n].shape, shape, sizeof t->list[t->n].shape);
    t->n++;
}
