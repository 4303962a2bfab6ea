/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the groups of a graph can be observed, while they are derived. */
#include "libcommon/graph/seen.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Or a scale: what leaves channels at their places and is no activation. */
static int is_norm(enum mc_op op)
{
    return op == MC_OP_BATCHNORM || op == MC_OP_LAYERNORM || op == MC_OP_SCALE;
}

/* Mark what a layer sees whose input is node i: see the header. */
static void look_back(const struct mc_graph *g, int from, unsigned char *seen,
                      unsigned char *walked)
{
    int stack[MC_MAX_NODES], n = 0; /* a node is pushed once */

    if (!walked[from]) {
        walked[from] = 1;
        stack[n++] = from;
    }
    while (n > 0) {
        int i = stack[--n], last = -1; /* last: the last norm or scale */
        for (;; i = g->nodes[i].in[0]) {
            enum mc_op op = g->nodes[i].op;
            if (mc_is_activation(op)) {
                seen[i] = 1;
                break;
            }
            if (op == MC_OP_ADD || op == MC_OP_MUL || mc_is_layer(&g->nodes[i])) {
                seen[last < 0 ? i : last] = 1;
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

static int see(const struct mc_axis *a, int group)
{
    for (size_t k = 0; k < a->n; k++)
        if (a->seg[k].group == group && a->seg[k].repeat == 1)
            return 1;
    return 0;
}

/* Seen only behind a flatten, where a channel is many places: the last ReLU before it, or the last
 * node at all that computes it. Returns 0 where there is none. */
static int look_anywhere(const struct mc_graph *g, const struct mc_symmetry *s, int group,
                         unsigned char *seen)
{
    for (int relu = 1; relu >= 0; relu--)
        for (int i = g->n_nodes - 1; i >= 0; i--) {
            enum mc_op op = g->nodes[i].op;
            if ((mc_is_activation(op) || (!relu && (mc_is_layer(&g->nodes[i]) || op == MC_OP_ADD ||
                                                    op == MC_OP_MUL || is_norm(op)))) &&
                see(&s->axes[i], group)) {
                seen[i] = 1;
                return 1;
            }
        }
    return 0;
}

int mc_seen_find(const struct mc_graph *g, const struct mc_symmetry *s, size_t n_groups,
                 unsigned char *seen, unsigned char *shown, struct mc_error *err)
{
    unsigned char *walked = NULL;
    int rc = mc_new(&walked, (size_t)g->n_nodes, err);

    if (rc)
        return rc;
    memset(seen, 0, (size_t)g->n_nodes);
    memset(shown, 0, n_groups);
    for (int i = 0; i < g->n_nodes; i++)
        if (mc_is_layer(&g->nodes[i]))
            look_back(g, g->nodes[i].in[0], seen, walked);
    for (int i = 0; i < g->n_nodes; i++)
        for (size_t k = 0; seen[i] && k < s->axes[i].n; k++)
            if (s->axes[i].seg[k].group >= 0 && s->axes[i].seg[k].repeat == 1)
                shown[s->axes[i].seg[k].group] = 1;
    for (size_t k = 0; k < n_groups; k++)
        if (!shown[k])
            shown[k] = (unsigned char)look_anywhere(g, s, (int)k, seen);
    free(walked);
    return 0;
}

int mc_seen_taps(struct mc_symmetry *out, const struct mc_graph *g, const unsigned char *seen,
                 struct mc_error *err)
{
    int rc = 0;

    for (int write = 0; write < 2 && !rc; write++) {
        size_t n = 0;
        for (int i = 0; i < g->n_nodes; i++) {
            size_t offset = 0;
            for (size_t k = 0; seen[i] && k < out->axes[i].n; k++) {
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
