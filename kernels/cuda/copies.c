/* SPDX-License-Identifier: Apache-2.0
 *
 * Half precision's copies of a plan's weights, and the parameter of each copied number. The
 * optimizer's own weights stay float32, in PyTorch's order. */
#include "kernels/cuda/cuda.h"

#include <stdlib.h>

/* Tensor cores need each tensor at a multiple of 16 bytes; whole cache lines are faster. */
#define ALIGN 64 /* numbers */

void cuda_copies_place(struct mc_plan *p)
{
    const size_t size = cuda_type_size(p->type);
    struct cuda_copies *k = &p->copies;

    k->n = k->convs = 0;
    for (int convs = 1; p->type != CUDA_F32 && convs >= 0; convs--)
        for (int i = 0; i < p->run.g->n_nodes; i++) {
            struct cuda_node *c = &p->nodes[i];
            const struct cuda_op *op = cuda_ops[c->n->op];
            if (!c->role->live || !op->copy || (c->conv != NULL) != convs)
                continue;
            if (k->weight)
                c->weight = k->weight + k->n * size;
            if (k->grad && convs)
                c->dweight = k->grad + k->n * size;
            k->n += (op->copy(p, c, NULL) + ALIGN - 1) / ALIGN * ALIGN;
            k->convs = convs ? k->n : k->convs;
        }
}

int cuda_copies_fill(struct mc_plan *p, struct mc_error *err)
{
    const size_t size = cuda_type_size(p->type);
    const struct cuda_copies *k = &p->copies;

    if (!k->n)
        return 0;
    uint32_t *param = malloc(k->n * sizeof *param);
    if (!param)
        return mc_no_memory(err);
    for (size_t i = 0; i < k->n; i++)
        param[i] = CUDA_NO_PARAM;
    for (int i = 0; i < p->run.g->n_nodes; i++) {
        const struct cuda_node *c = &p->nodes[i];
        if (!c->weight)
            continue;
        const size_t index = (size_t)((unsigned char *)c->weight - k->weight) / size;
        cuda_ops[c->n->op]->copy(p, c, param + index);
    }
    cuda_send(p->be, k->param, param, k->n * sizeof *param);
    free(param);
    return 0;
}
