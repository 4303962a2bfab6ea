/* SPDX-License-Identifier: Apache-2.0
 *
 * Half precision's copies of a plan's weights, and the parameter of each copied number. The
 * optimizer's own weights stay float32, in PyTorch's order. */
#include "kernels/cuda/cuda.h"

#include <stdlib.h>

/* Tensor cores need each tensor at a multiple of 16 bytes; whole cache lines are faster. */
#define ALIGN 64 /* numbers */

static int has_copy(const struct cuda_node *c, int convs)
{
    return c->role->live && c->n->op == (convs ? MC_OP_CONV : MC_OP_LINEAR);
}

/* Stored channels of a filter; *own: those without padding. */
static size_t filter_channels(const struct mc_plan *p, const struct cuda_node *c, size_t *own)
{
    const struct cuda_node *in = &p->nodes[c->n->in[0]];

    *own = (size_t)(in->n->c / c->n->groups);
    return in->stored / (size_t)c->n->groups;
}

static size_t copy_size(const struct mc_plan *p, const struct cuda_node *c)
{
    size_t own;

    if (c->n->op == MC_OP_LINEAR)
        return c->n->weight.count;
    return (size_t)(c->n->c * c->n->kernel[0] * c->n->kernel[1]) * filter_channels(p, c, &own);
}

void cuda_copies_place(struct mc_plan *p)
{
    const size_t size = cuda_type_size(p->type);
    struct cuda_copies *k = &p->copies;

    k->n = k->convs = 0;
    for (int convs = 1; p->type != CUDA_F32 && convs >= 0; convs--)
        for (int i = 0; i < p->g->n_nodes; i++) {
            struct cuda_node *c = &p->nodes[i];
            if (!has_copy(c, convs))
                continue;
            if (k->weight)
                c->weight = k->weight + k->n * size;
            if (k->grad && convs)
                c->dweight = k->grad + k->n * size;
            k->n += (copy_size(p, c) + ALIGN - 1) / ALIGN * ALIGN;
            k->convs = convs ? k->n : k->convs;
        }
}

/* (O,I,H,W) -> (O,H,W,I), with padding channels after the network's. */
static void fill_conv(const struct mc_plan *p, const struct cuda_node *c, uint32_t *param)
{
    const size_t h = (size_t)c->n->kernel[0], w = (size_t)c->n->kernel[1];
    size_t own, all = filter_channels(p, c, &own);

    for (size_t o = 0; o < (size_t)c->n->c; o++)
        for (size_t y = 0; y < h; y++)
            for (size_t x = 0; x < w; x++)
                for (size_t i = 0; i < own; i++)
                    param[((o * h + y) * w + x) * all + i] =
                        (uint32_t)(c->n->weight.offset + ((o * own + i) * h + y) * w + x);
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
    for (int i = 0; i < p->g->n_nodes; i++) {
        const struct cuda_node *c = &p->nodes[i];
        if (!c->weight)
            continue;
        uint32_t *to = param + (size_t)((unsigned char *)c->weight - k->weight) / size;
        if (c->n->op == MC_OP_CONV)
            fill_conv(p, c, to);
        else
            for (size_t j = 0; j < c->n->weight.count; j++)
                to[j] = (uint32_t)(c->n->weight.offset + j);
    }
    cuda_send(p->be, k->param, param, k->n * sizeof *param);
    free(param);
    return 0;
}
