/* SPDX-License-Identifier: Apache-2.0
 *
 * Derivation of permutation groups from a graph: number the sets of its axes that can move, then list
 * the uses and taps of each group. */
#include "libcommon/graph/symmetry.h"
#include "libcommon/graph/axes.h"
#include "libcommon/graph/blocks.h"
#include "libcommon/graph/group_rows.h"
#include "libcommon/graph/op.h"
#include "libcommon/graph/taps.h"

#include "libcommon/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct derivation {
    const struct mc_graph *g;
    struct mc_axes axes;
    int *group_of; /* (sets) group of a root, or -1 */
    struct {
        int node; /* the layer that names it */
        size_t entry, n_entries;
    } * first; /* (sets) by group */
    size_t n_groups;
    unsigned char *observed; /* (n_nodes) 1 if groups are observed at the node */
};

static void release(struct derivation *d)
{
    mc_axes_release(&d->axes);
    free(d->group_of);
    free(d->first);
    free(d->observed);
}

/* ---- groups --------------------------------------------------------------------------------- */

/* Number the roots that can move, in the order of the layers that produce them. */
static int number_groups(struct derivation *d, struct mc_error *err)
{
    struct mc_uf_walk w = {0};
    struct mc_uf_segment s;
    int rc = 0;

    d->n_groups = 0;
    for (size_t i = 0; i < d->axes.ties.n; i++)
        d->group_of[i] = -1;
    for (int i = 0; i < d->g->n_nodes && !rc; i++) {
        size_t entry = 0;
        if (!mc_op_has(&d->g->nodes[i], MC_OP_LAYER))
            continue;
        rc = mc_uf_walk_begin(&w, d->axes.segments + d->axes.axis[i].first, d->axes.axis[i].n, err);
        while (rc >= 0 && (rc = mc_uf_walk_next(&d->axes.ties, &w, &s, err)) > 0) {
            const struct mc_uf_set *p = &d->axes.ties.sets[s.set];
            if (!p->fixed && p->count > 1 && d->group_of[s.set] < 0) {
                d->group_of[s.set] = (int)d->n_groups;
                d->first[d->n_groups].node = i;
                d->first[d->n_groups].entry = entry;
                d->first[d->n_groups++].n_entries = p->count * s.repeat;
            }
            entry += p->count * s.repeat;
        }
    }
    mc_uf_walk_release(&w);
    return rc;
}

/* Write the node's axis to seg (NULL: only count) and its number of segments to *n. */
static int segments(struct derivation *d, int node, struct mc_uf_walk *w, struct mc_segment *seg,
                    size_t *n, struct mc_error *err)
{
    struct mc_uf_segment s;
    struct mc_segment last = {.group = -2};
    int rc =
        mc_uf_walk_begin(w, d->axes.segments + d->axes.axis[node].first, d->axes.axis[node].n, err);

    *n = 0;
    while (rc >= 0 && (rc = mc_uf_walk_next(&d->axes.ties, w, &s, err)) > 0) {
        size_t count = d->axes.ties.sets[s.set].count;
        int group = d->group_of[s.set];
        struct mc_segment now = {.group = group, .count = count, .repeat = s.repeat};
        if (group < 0) { /* merge adjacent fixed segments */
            now = (struct mc_segment){.group = -1, .count = count * s.repeat, .repeat = 1};
            if (last.group == -1) {
                now.count += last.count;
                --*n;
            }
        }
        if (seg)
            seg[*n] = now;
        ++*n;
        last = now;
    }
    return rc;
}

static int write_axes(struct derivation *d, struct mc_symmetry *out, struct mc_error *err)
{
    struct mc_uf_walk w = {0};
    struct mc_segment *slab = NULL;
    size_t total = 0, n = 0;
    int rc = 0;

    for (int i = 0; i < d->g->n_nodes; i++) {
        if ((rc = segments(d, i, &w, NULL, &n, err)) || (rc = mc_axes_check(total += n, err)))
            goto out;
    }
    free(out->axes ? out->axes[0].seg : NULL);
    free(out->axes);
    if ((rc = mc_new(&out->axes, (size_t)d->g->n_nodes, err)) || (rc = mc_new(&slab, total, err)))
        goto out;
    out->n_nodes = d->g->n_nodes;
    for (int i = 0; i < d->g->n_nodes; i++) {
        out->axes[i].seg = slab;
        (void)segments(d, i, &w, slab, &out->axes[i].n, err); /* succeeded above */
        slab += out->axes[i].n;
    }
out:
    mc_uf_walk_release(&w);
    return rc;
}

/* Fix the groups that cannot be observed at any node; *lost is their number. */
static int find_tap_nodes(struct derivation *d, const struct mc_symmetry *s, size_t *lost,
                          struct mc_error *err)
{
    unsigned char *shown = NULL;
    int rc = mc_new(&shown, d->n_groups, err);

    if (!rc)
        rc = mc_taps_find_nodes(d->g, s, d->n_groups, d->observed, shown, err);
    *lost = 0;
    for (size_t i = 0; i < d->axes.ties.n && !rc; i++)
        if (d->group_of[i] >= 0 && !shown[d->group_of[i]]) {
            d->axes.ties.sets[i].fixed = 1;
            ++*lost;
        }
    free(shown);
    return rc;
}

/* ---- uses ----------------------------------------------------------------------------------- */

/* Add the uses of one axis of a tensor. Only counts if g->use is NULL. */
static void use_axis(struct mc_symmetry *out, int is_stat, size_t index, int dim, size_t parts,
                     const struct mc_axis *axis)
{
    size_t offset = 0;

    for (size_t k = 0; k < axis->n; k++) {
        const struct mc_segment *s = &axis->seg[k];
        if (s->group >= 0) {
            struct mc_uses *g = &out->uses[s->group];
            if (g->use)
                g->use[g->n] = (struct mc_use){.is_stat = is_stat,
                                               .index = index,
                                               .dim = dim,
                                               .parts = parts,
                                               .offset = offset,
                                               .count = s->count,
                                               .repeat = s->repeat};
            g->n++;
        }
        offset += s->count * s->repeat;
    }
}

static void use_all(const struct mc_graph *g, struct mc_symmetry *out)
{
    for (size_t i = 0; i < out->n_groups; i++)
        out->uses[i].n = 0;
    for (size_t i = 0; i < g->n_params; i++) {
        const struct mc_param *p = &g->params[i];
        use_axis(out, 0, i, 0, 1, &out->axes[p->node]);
        if (p->tensor.ndim > 1 && mc_op_has(&g->nodes[p->node], MC_OP_LAYER) &&
            !mc_is_depthwise(g, &g->nodes[p->node]))
            use_axis(out, 0, i, 1, mc_param_groups(g, p), &out->axes[g->nodes[p->node].in[0]]);
    }
    for (size_t i = 0; i < g->n_stats; i++)
        use_axis(out, 1, i, 0, 1, &out->axes[g->stats[i].node]);
}

static int write_groups(const struct derivation *d, struct mc_symmetry *out, struct mc_error *err)
{
    int rc = mc_symmetry_alloc(out, d->n_groups, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < d->n_groups; i++) {
        const struct mc_node *n = &d->g->nodes[d->first[i].node];
        struct mc_group *g = &out->groups[i];
        size_t from = d->first[i].entry, to = from + d->first[i].n_entries;
        if (to - from == (size_t)n->c) /* the whole output */
            snprintf(g->name, sizeof g->name, "%s", n->name);
        else
            snprintf(g->name, sizeof g->name, "%s[%u:%u]", n->name, (unsigned)from, (unsigned)to);
    }
    for (size_t i = 0; i < d->axes.ties.n; i++)
        if (d->group_of[i] >= 0)
            out->groups[d->group_of[i]].size = d->axes.ties.sets[i].count;
    use_all(d->g, out);
    for (size_t i = 0; i < d->n_groups && !rc; i++)
        rc = mc_new(&out->uses[i].use, out->uses[i].n, err);
    if (!rc)
        use_all(d->g, out);
    return rc;
}

static int of_graph(struct mc_symmetry *out, const struct mc_graph *g, struct mc_error *err)
{
    struct derivation d = {.g = g};
    size_t lost = 0;
    int rc = 0;

    *out = (struct mc_symmetry){0};
    if ((rc = mc_axes_make(&d.axes, g, err)) ||
        (rc = mc_new(&d.observed, (size_t)g->n_nodes, err)) ||
        (rc = mc_new(&d.group_of, d.axes.ties.n, err)) ||
        (rc = mc_new(&d.first, d.axes.ties.n, err)))
        goto out;
    do { /* twice at most: again if a group was lost */
        if ((rc = number_groups(&d, err)) || (rc = write_axes(&d, out, err)) ||
            (rc = find_tap_nodes(&d, out, &lost, err)))
            goto out;
    } while (lost);
    if (!(rc = mc_taps_list(out, g, d.observed, err)))
        rc = write_groups(&d, out, err);
out:
    release(&d);
    if (rc)
        mc_symmetry_release(out);
    return rc;
}

int mc_symmetry_derive(struct mc_symmetry *out, const struct mc_graph *g, struct mc_error *err)
{
    if (g->rows)
        return mc_symmetry_of_rows(out, g, err);
    int rc = of_graph(out, g, err);
    if (!rc && (rc = mc_symmetry_add_blocks(out, g, err)))
        mc_symmetry_release(out);
    return rc;
}
