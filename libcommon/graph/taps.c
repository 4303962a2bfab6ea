/* SPDX-License-Identifier: Apache-2.0
 *
 * Derivation of the nodes at which groups are observed. */
#include "libcommon/graph/taps.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* A norm or scale: keeps channels in place and is not an activation. */
static int is_norm(enum mc_op op)
{
    return op == MC_OP_BATCHNORM || op == MC_OP_LAYERNORM || op == MC_OP_SCALE;
}

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
            enum mc_op op = g->nodes[i].op;
            if (mc_is_activation(op)) {
                observed[i] = 1;
                break;
            }
            if (op == MC_OP_ADD || op == MC_OP_MUL || mc_is_layer(&g->nodes[i])) {
                observed[last < 0 ? i : last] = 1;
                break;
            }
            if (is_norm(op) && last < 0)
                last = i;
            if (op == MC_OP_NORMALISE)
                break;
            if (op == MC_OP_CONCAT) {
                for (int k = 0; k < g->nodes[i].n_in; k++)
                    if (!walked[g->nodes[i].in[k]]) {
                        walked[g->nodes[i].in[k]] = 1;
                        stack[n++] = g->nodes[i].in[k];
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
    for (int relu = 1; relu >= 0; relu--)
        for (int i = g->n_nodes - 1; i >= 0; i--) {
            enum mc_op op = g->nodes[i].op;
            if ((mc_is_activation(op) || (!relu && (mc_is_layer(&g->nodes[i]) || op == MC_OP_ADD ||
                                                    op == MC_OP_MUL || is_norm(op)))) &&
                shows(&s->axes[i], group)) {
                observed[i] = 1;
                return 1;
            }
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
        if (mc_is_layer(&g->nodes[i]))
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
                    int pre = mc_is_activation(g->nodes[i].op) ? g->nodes[i].in[0] : i;
                    if (write)
                        out->taps[n] = (struct mc_tap){.group = s->group,
                                                       .post = i,
                                                       .pre = pre,
                                                       .offset = offset,
                                                       .start = s->start,
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
