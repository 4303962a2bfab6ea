/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/graph/axes.h"

#include "libcommon/base/alloc.h"
#include "libcommon/graph/op.h"

#include <stdlib.h>

#define MAX_SEGMENTS ((size_t)1 << 20) /* over the axes of all nodes */

void mc_axes_release(struct mc_axes *a)
{
    mc_union_find_release(&a->ties);
    free(a->segments);
    free(a->axis);
}

int mc_axes_check(size_t n, struct mc_error *err)
{
    return n <= MAX_SEGMENTS
               ? 0
               : mc_fail(err, MC_EINPUT, "the graph's axes have more than %zu segments",
                         MAX_SEGMENTS);
}

static int append(struct mc_axes *a, struct mc_uf_segment s, struct mc_error *err)
{
    int rc = mc_axes_check(a->n + 1, err);

    if (!rc && !(rc = mc_list_room(&a->segments, a->n, err)))
        a->segments[a->n++] = s;
    return rc;
}

int mc_axes_copy(struct mc_axes *a, int from, size_t times, struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < a->axis[from].n && !rc; i++) {
        struct mc_uf_segment s = a->segments[a->axis[from].first + i];
        s.repeat *= times;
        rc = append(a, s, err);
    }
    return rc;
}

int mc_axes_new(struct mc_axes *a, int count, int size, int fixed, struct mc_error *err)
{
    int rc = 0, set = 0;

    for (int i = 0; i < count && !rc; i++)
        if (!(rc = mc_union_find_new(&a->ties, (size_t)size, fixed, &set, err)))
            rc = append(a, (struct mc_uf_segment){set, 1}, err);
    return rc;
}

void mc_axes_share(struct mc_axes *a, int i, int of)
{
    a->axis[i] = a->axis[of];
}

int mc_axes_tie(struct mc_axes *a, int one, int other, struct mc_error *err)
{
    return mc_union_find_join(&a->ties, a->segments + a->axis[one].first, a->axis[one].n,
                              a->segments + a->axis[other].first, a->axis[other].n, err);
}

int mc_axes_fix(struct mc_axes *a, int node, struct mc_error *err)
{
    return mc_union_find_fix(&a->ties, a->segments + a->axis[node].first, a->axis[node].n, err);
}

int mc_axes_cut(struct mc_axes *a, int node, int parts, struct mc_error *err)
{
    const size_t first = a->n;
    int rc = mc_axes_new(a, parts, a->g->nodes[node].c / parts, 0, err);

    if (!rc) /* fixed segments stay fixed */
        rc = mc_union_find_join(&a->ties, a->segments + a->axis[node].first, a->axis[node].n,
                                a->segments + first, a->n - first, err);
    a->n = first;
    return rc;
}

static int make_axis(struct mc_axes *a, int i, struct mc_error *err)
{
    const struct mc_node *n = &a->g->nodes[i];
    int rc = 0;

    a->axis[i].first = a->n;
    if (!mc_ops[n->op]->axis)
        mc_axes_share(a, i, n->in[0]);
    else if (!(rc = mc_ops[n->op]->axis(a, i, err)) && !a->axis[i].n)
        a->axis[i].n = a->n - a->axis[i].first;
    return rc;
}

int mc_axes_make(struct mc_axes *a, const struct mc_graph *g, struct mc_error *err)
{
    *a = (struct mc_axes){.g = g};
    int rc = mc_new(&a->axis, (size_t)g->n_nodes, err);

    for (int i = 0; i < g->n_nodes && !rc; i++)
        rc = mc_fail_in(make_axis(a, i, err), err, "node \"%s\"", g->nodes[i].name);
    return rc;
}
