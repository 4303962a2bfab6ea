/* SPDX-License-Identifier: Apache-2.0
 *
 * Derivation of the nodes at which groups are observed. */
#include "libcommon/graph/taps.h"

#include "libcommon/base/alloc.h"
#include "libcommon/graph/op.h"

#include <stdlib.h>
#include <string.h>

/* Mark the nodes at which a layer with input `from` observes its groups (see struct mc_tap). */
static void look_back(const struct mc_graph *g, int from, unsigned char *observed,
                      unsigned char *walked)
{
    int stack[MC_MAX_NODES], n = 0; /* each node is pushed at most once */

    if (!walked[from]) {
        walked[from] = 1;
        stack[n++] = from;
    }
    while (n > 0) {
        int i = stack[--n], last = -1; /* last: the last norm or scale */
        for (;; i = g->nodes[i].in[0]) {
            const struct mc_node *node = &g->nodes[i];
            if (mc_op_has(node, MC_OP_ACTIVATION)) {
                observed[i] = 1;
                break;
            }
            if (mc_op_has(node, MC_OP_COMBINES | MC_OP_LAYER)) {
                observed[last < 0 ? i : last] = 1;
                break;
            }
            if (mc_op_has(node, MC_OP_NORM) && last < 0)
                last = i;
            if (i == 0)
                break;
            if (node->op == MC_OP_CONCAT) {
                for (int k = 0; k < node->n_in; k++)
                    if (!walked[node->in[k]]) {
                        walked[node->in[k]] = 1;
                        stack[n++] = node->in[k];
                    }
                break;
            }
        }
    }
}

static int shows(const struct mc_axis *a, int group)
{
    for (size_t k = 0; k < a->n; k++)
        if (a->seg[k].group == group && a->seg[k].repeat == 1)
            return 1;
    return 0;
}

/* Mark a node for a group that is observed only after a flatten, where a channel has many entries:
 * the last ReLU before it, else the last node that computes the group. Return 0 if there is
 * none. */
static int mark_any(const struct mc_graph *g, const struct mc_symmetry *s, int group,
                    unsigned char *observed)
{
    static const unsigned NODES[] = {MC_OP_ACTIVATION, MC_OP_LAYER | MC_OP_COMBINES | MC_OP_NORM};

    for (int k = 0; k < 2; k++)
        for (int i = g->n_nodes - 1; i >= 0; i--)
            if (mc_op_has(&g->nodes[i], NODES[k]) && shows(&s->axes[i], group)) {
                observed[i] = 1;
                return 1;
            }
    return 0;
}

int mc_taps_find_nodes(const struct mc_graph *g, const struct mc_symmetry *s, size_t n_groups,
                       unsigned char *observed, unsigned char *shown, struct mc_error *err)
{
    unsigned char *walked = NULL;
    int rc = mc_new(&walked, (size_t)g->n_nodes, err);

    if (rc)
        return rc;
    memset(observed, 0, (size_t)g->n_nodes);
    memset(shown, 0, n_groups);
    for (int i = 0; i < g->n_nodes; i++)
        if (mc_op_has(&g->nodes[i], MC_OP_LAYER))
            look_back(g, g->nodes[i].in[0], observed, walked);
    for (int i = 0; i < g->n_nodes; i++)
        for (size_t k = 0; observed[i] && k < s->axes[i].n; k++)
            if (s->axes[i].seg[k].group >= 0 && s->axes[i].seg[k].repeat == 1)
                shown[s->axes[i].seg[k].group] = 1;
    for (size_t k = 0; k < n_groups; k++)
        if (!shown[k])
            shown[k] = (unsigned char)mark_any(g, s, (int)k, observed);
    free(walked);
    return 0;
}

int mc_taps_list(struct mc_symmetry *out, const struct mc_graph *g, const unsigned char *observed,
                 struct mc_error *err)
{
    int rc = 0;

    for (int write = 0; write < 2 && !rc; write++) {
        size_t n = 0;
        for (int i = 0; i < g->n_nodes; i++) {
            size_t offset = 0;
            for (size_t k = 0; observed[i] && k < out->axes[i].n; k++) {
                const struct mc_segment *s = &out->axes[i].seg[k];
                if (s->group >= 0 && s->repeat == 1) {
                    int pre = mc_op_has(&g->nodes[i], MC_OP_ACTIVATION) ? g->nodes[i].in[0] : i;
                    if (write)
                        out->taps[n] = (struct mc_tap){.group = s->group,
                                                       .post = i,
                                                       .pre = pre,
                                                       .offset = offset,
                                                       .count = s->count};
                    n++;
                }
                offset += s->count * s->repeat;
            }
        }
        if (!write)
            rc = mc_new(&out->taps, n, err);
        out->n_taps = n;
    }
    return rc;
}
