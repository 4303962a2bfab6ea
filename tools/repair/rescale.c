/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/repair/rescale.h"

#include "libcommon/base/alloc.h"
#include "libcommon/graph/op.h"

#include <stdlib.h>

static int is_affine(const struct mc_node *n)
{
    return mc_op_has(n, MC_OP_LAYER) || (mc_op_has(n, MC_OP_NORM) && n->bias.count);
}

/* Set reaches[i] if the output of node i reaches a nonlinearity before another layer or norm. */
static void find_reaches(const struct mc_graph *g, const unsigned char *needed,
                         unsigned char *reaches)
{
    for (int i = g->n_nodes - 1; i > 0; i--) {
        const struct mc_node *n = &g->nodes[i];
        /* unlike a sum's, a product's gradient is computed from its inputs */
        const int nonlinear = mc_op_has(n, MC_OP_ACTIVATION) ||
                              (mc_op_has(n, MC_OP_COMBINES) && mc_op_has(n, MC_OP_READS_INPUT));
        for (int k = 0; needed[i] && k < n->n_in; k++)
            if (nonlinear || (!is_affine(n) && reaches[i]))
                reaches[n->in[k]] = 1;
    }
}

int mc_rescale_find(struct mc_rescale *out, const struct mc_graph *g, struct mc_error *err)
{
    const size_t all = (size_t)g->n_nodes;
    unsigned char *needed = NULL, *reaches;
    int *depth = NULL; /* listed nodes on the way to each node, that node included */
    int rc = mc_new(&needed, 2 * all, err);

    *out = (struct mc_rescale){0};
    if (rc || (rc = mc_new(&depth, all, err)) || (rc = mc_new(&out->nodes, all, err)))
        goto out;
    reaches = needed + all;
    mc_graph_needed(g, 0, needed);
    find_reaches(g, needed, reaches);
    for (int i = 1; i < g->n_nodes; i++) {
        const struct mc_node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in; k++)
            if (depth[n->in[k]] > depth[i])
                depth[i] = depth[n->in[k]];
        if (!needed[i] || i == g->logits || !is_affine(n) ||
            !(reaches[i] || n->op == MC_OP_BATCHNORM))
            continue;
        if (!n->bias.count) {
            out->no_bias++;
            continue;
        }
        out->nodes[out->n++] = (struct mc_rescale_node){.node = i, .level = depth[i]++};
        if (depth[i] > out->levels)
            out->levels = depth[i];
    }
out:
    free(needed);
    free(depth);
    return rc;
}

void mc_rescale_release(struct mc_rescale *r)
{
    free(r->nodes);
    *r = (struct mc_rescale){0};
}

void mc_rescale_channel(const struct mc_graph *g, int node, size_t c, double scale, double shift,
                        float *params)
{
    const struct mc_node *n = &g->nodes[node];
    const size_t row = n->weight.count / (size_t)n->c;
    float *weight = params + n->weight.offset + c * row, *bias = params + n->bias.offset + c;

    for (size_t k = 0; k < row; k++)
        weight[k] = (float)(scale * (double)weight[k]);
    *bias = (float)(scale * (double)*bias + shift);
}
