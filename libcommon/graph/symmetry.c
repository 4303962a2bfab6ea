/* SPDX-License-Identifier: Apache-2.0
 *
 * Derivation of permutation groups from a graph: give every node an axis, tie axes, number the sets
 * that can move, then list the uses and taps of each group. */
#include "libcommon/graph/symmetry.h"
#include "libcommon/graph/blocks.h"
#include "libcommon/graph/group_rows.h"
#include "libcommon/graph/taps.h"
#include "libcommon/graph/union_find.h"

#include "libcommon/base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SEGMENTS ((size_t)1 << 20) /* over the axes of all nodes */

struct derivation {
    const struct mc_graph *g;
    struct mc_union_find ties;
    struct mc_uf_segment *segments; /* all axes */
    size_t n;
    struct {
        size_t first, n;
    } * axis;      /* (n_nodes) into segments; nodes that pass their input through share it */
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
    mc_union_find_release(&d->ties);
    free(d->segments);
    free(d->axis);
    free(d->group_of);
    free(d->first);
    free(d->observed);
}

/* ---- axes and ties -------------------------------------------------------------------------- */

static int check_segments(size_t n, struct mc_error *err)
{
    return n <= MAX_SEGMENTS
               ? 0
               : mc_fail(err, MC_EINPUT, "the graph's axes have more than %zu segments",
                         MAX_SEGMENTS);
}

static int append(struct derivation *d, struct mc_uf_segment s, struct mc_error *err)
{
    int rc = check_segments(d->n + 1, err);

    if (!rc && !(rc = mc_list_room(&d->segments, d->n, err)))
        d->segments[d->n++] = s;
    return rc;
}

/* Append a copy of the axis of node `from`, each entry repeated `times` times. */
static int append_axis(struct derivation *d, int from, size_t times, struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < d->axis[from].n && !rc; i++) {
        struct mc_uf_segment s = d->segments[d->axis[from].first + i];
        s.repeat *= times;
        rc = append(d, s, err);
    }
    return rc;
}

/* Append `count` new sets of `size` channels each. */
static int append_sets(struct derivation *d, int count, int size, int fixed, struct mc_error *err)
{
    int rc = 0, set = 0;

    for (int i = 0; i < count && !rc; i++)
        if (!(rc = mc_union_find_new(&d->ties, (size_t)size, fixed, &set, err)))
            rc = append(d, (struct mc_uf_segment){set, 1}, err);
    return rc;
}

/* Split the input's axis at the convolution's groups. Fixed segments stay fixed. */
static int cut_groups(struct derivation *d, const struct mc_node *n, int channels,
                      struct mc_error *err)
{
    const size_t first = d->n, in = (size_t)n->in[0];
    int rc = append_sets(d, n->groups, channels / n->groups, 0, err);

    if (!rc)
        rc = mc_union_find_join(&d->ties, d->segments + d->axis[in].first, d->axis[in].n,
                                d->segments + first, d->n - first, err);
    d->n = first;
    return rc;
}

static int lay_axis(struct derivation *d, int i, struct mc_error *err)
{
    const struct mc_node *n = &d->g->nodes[i];
    const struct mc_node *in = n->n_in ? &d->g->nodes[n->in[0]] : NULL;
    int rc = 0, a = n->in[0];

    d->axis[i].first = d->n;
    switch (n->op) {
    case MC_OP_CONV:
        if (mc_is_depthwise(d->g, n))
            rc = append_axis(d, a, (size_t)(n->c / n->groups), err);
        else if (n->groups == 1 || !(rc = cut_groups(d, n, in->c, err)))
            rc = append_sets(d, n->groups, n->c / n->groups, 0, err);
        break;
    case MC_OP_NORMALISE:
    case MC_OP_LINEAR:
        rc = append_sets(d, 1, n->c, n->op == MC_OP_NORMALISE, err);
        break;
    case MC_OP_CONCAT:
        for (int k = 0; k < n->n_in && !rc; k++)
            rc = append_axis(d, n->in[k], 1, err);
        break;
    case MC_OP_PAD:
        if (n->before[0])
            rc = append_sets(d, 1, n->before[0], 0, err);
        if (!rc)
            rc = append_axis(d, a, 1, err);
        if (!rc && n->after[0])
            rc = append_sets(d, 1, n->after[0], 0, err);
        break;
    case MC_OP_FLATTEN:
        rc = append_axis(d, a, (size_t)in->h * (size_t)in->w, err);
        break;
    case MC_OP_ADD:
    case MC_OP_MUL:
        for (int k = 1; k < n->n_in && !rc; k++)
            rc =
                mc_union_find_join(&d->ties, d->segments + d->axis[a].first, d->axis[a].n,
                                   d->segments + d->axis[n->in[k]].first, d->axis[n->in[k]].n, err);
        d->axis[i] = d->axis[a];
        return rc;
    case MC_OP_LOSS:
        rc = mc_union_find_fix(&d->ties, d->segments + d->axis[a].first, d->axis[a].n, err);
        d->axis[i] = d->axis[a];
        return rc;
    default:
        d->axis[i] = d->axis[a];
        return 0;
    }
    d->axis[i].n = d->n - d->axis[i].first;
    return rc;
}

/* ---- groups --------------------------------------------------------------------------------- */

/* Number the roots that can move, in the order of the layers that produce them. */
static int number_groups(struct derivation *d, struct mc_error *err)
{
    struct mc_uf_walk w = {0};
    struct mc_uf_segment s;
    int rc = 0;

    d->n_groups = 0;
    for (size_t i = 0; i < d->ties.n; i++)
        d->group_of[i] = -1;
    for (int i = 0; i < d->g->n_nodes && !rc; i++) {
        size_t entry = 0;
        if (!mc_is_layer(&d->g->nodes[i]))
            continue;
        rc = mc_uf_walk_begin(&w, d->segments + d->axis[i].first, d->axis[i].n, err);
        while (rc >= 0 && (rc = mc_uf_walk_next(&d->ties, &w, &s, err)) > 0) {
            const struct mc_uf_set *p = &d->ties.sets[s.set];
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
    int rc = mc_uf_walk_begin(w, d->segments + d->axis[node].first, d->axis[node].n, err);

    *n = 0;
    while (rc >= 0 && (rc = mc_uf_walk_next(&d->ties, w, &s, err)) > 0) {
        size_t count = d->ties.sets[s.set].count;
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
        if ((rc = segments(d, i, &w, NULL, &n, err)) || (rc = check_segments(total += n, err)))
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
    for (size_t i = 0; i < d->ties.n && !rc; i++)
        if (d->group_of[i] >= 0 && !shown[d->group_of[i]]) {
            d->ties.sets[i].fixed = 1;
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
                                               .start = s->start,
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
        if (p->tensor.ndim > 1 && mc_is_layer(&g->nodes[p->node]) &&
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
    for (size_t i = 0; i < d->ties.n; i++)
        if (d->group_of[i] >= 0)
            out->groups[d->group_of[i]].size = d->ties.sets[i].count;
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
    if ((rc = mc_new(&d.axis, (size_t)g->n_nodes, err)) ||
        (rc = mc_new(&d.observed, (size_t)g->n_nodes, err)))
        goto out;
    for (int i = 0; i < g->n_nodes; i++)
        if ((rc = mc_fail_in(lay_axis(&d, i, err), err, "node \"%s\"", g->nodes[i].name)))
            goto out;
    if ((rc = mc_new(&d.group_of, d.ties.n, err)) || (rc = mc_new(&d.first, d.ties.n, err)))
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
