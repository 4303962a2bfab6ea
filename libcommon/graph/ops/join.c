/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations on several inputs. */
#include "libcommon/graph/ops/row.h"

/* Returns whether the input is one factor per channel of a product. */
static int is_factors(const struct mc_node *n, const struct mc_node *in)
{
    return n->op == MC_OP_MUL && in->h == 1 && in->w == 1;
}

static int join_shape(struct mc_graph *g, struct mc_node *n)
{
    const struct mc_node *first = &g->nodes[n->in[0]];
    int64_t c = 0;

    for (int i = 0; i < n->n_in; i++) {
        const struct mc_node *in = &g->nodes[n->in[i]];
        if (((in->h != first->h || in->w != first->w) && !is_factors(n, in)) ||
            (n->op != MC_OP_CONCAT && in->c != first->c))
            return mc_graph_fail(g, "node \"%s\": inputs of %dx%dx%d and %dx%dx%d do not match",
                                 n->name, first->c, first->h, first->w, in->c, in->h, in->w);
        c += in->c;
    }
    if (n->op == MC_OP_CONCAT)
        n->c = c > MC_MAX_CHANNELS ? 0 : (int)c;
    return 0;
}

static int tie_axis(struct mc_axes *a, int i, struct mc_error *err)
{
    const struct mc_node *n = &a->g->nodes[i];
    int rc = 0;

    for (int k = 1; k < n->n_in && !rc; k++)
        rc = mc_axes_tie(a, n->in[0], n->in[k], err);
    mc_axes_share(a, i, n->in[0]);
    return rc;
}

static int concat_axis(struct mc_axes *a, int i, struct mc_error *err)
{
    const struct mc_node *n = &a->g->nodes[i];
    int rc = 0;

    for (int k = 0; k < n->n_in && !rc; k++)
        rc = mc_axes_copy(a, n->in[k], 1, err);
    return rc;
}

const struct mc_op_info mc_op_add = {
    .flags = MC_OP_COMBINES,
    .in = "2 to 256 of one shape",
    .out = "their sum",
    .min_in = 2,
    .max_in = MC_MAX_INPUTS,
    .shape = join_shape,
    .axis = tie_axis,
};

const struct mc_op_info mc_op_mul = {
    .flags = MC_OP_COMBINES | MC_OP_READS_INPUT,
    .in = "2 with equal channels; the second has the first's height and width, or 1×1",
    .out = "their product; 1×1 is one factor per channel",
    .min_in = 2,
    .max_in = 2,
    .shape = join_shape,
    .axis = tie_axis,
};

const struct mc_op_info mc_op_concat = {
    .in = "1 to 256 of one height and width",
    .out = "their channels, concatenated",
    .min_in = 1,
    .max_in = MC_MAX_INPUTS,
    .shape = join_shape,
    .axis = concat_axis,
};
