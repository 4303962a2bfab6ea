/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/align/tensor_pairs.h"

#include "libcommon/base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int mc_is_statistic(const struct mc_param *p)
{
    const char *dot = strrchr(p->tensor.name, '.');

    return dot && (!strcmp(dot, ".running_mean") || !strcmp(dot, ".running_var"));
}

/* Return the number of rows in a view of the tensor. If a use moves only the columns of some rows
 * (parts), the whole tensor is one row. */
static size_t view_rows(const struct mc_tensor_pairs *t, size_t tensor)
{
    const struct mc_param *param = &t->g->params[tensor];

    for (size_t i = t->first[tensor]; i < t->first[tensor + 1]; i++)
        if (t->uses[i].use->parts > 1)
            return 1;
    return param->count && param->tensor.ndim ? (size_t)param->tensor.shape[0] : 1;
}

static void start_view(struct mc_tensor_pairs *t, size_t tensor)
{
    const size_t rows = view_rows(t, tensor);

    mc_view_start(&t->view, rows, t->g->params[tensor].count / rows);
}

static void permute_view(struct mc_tensor_pairs *t, size_t use, int inverse)
{
    const struct mc_placed_use *u = &t->uses[use];
    struct mc_unit_layout layout = u->layout;

    layout.base -= t->g->params[u->use->index].offset;
    mc_view_permute(&t->view, layout, u->use->dim, t->p->perm[u->group], inverse);
}

int mc_in_group(const struct mc_symmetry *s, size_t group, size_t other)
{
    return other == group || s->groups[other].outer == group;
}

void mc_pairs_rearrange(struct mc_tensor_pairs *t, size_t use, size_t without, const float **x,
                        const float **y, struct mc_unit_layout *layout)
{
    const size_t tensor = t->uses[use].use->index, offset = t->g->params[tensor].offset;

    start_view(t, tensor);
    for (size_t i = t->first[tensor]; i < t->first[tensor + 1]; i++)
        if (i != use && t->uses[i].group != without &&
            (mc_in_group(t->s, without, t->uses[i].group) ||
             !mc_use_is_after(&t->uses[i], &t->uses[use])))
            permute_view(t, i, 0);
    *y = mc_view_copy(&t->view, t->b + offset, t->y, t->threads);
    start_view(t, tensor);
    for (size_t i = t->first[tensor + 1]; i-- > t->first[tensor];)
        if (mc_use_is_after(&t->uses[i], &t->uses[use]) &&
            !mc_in_group(t->s, without, t->uses[i].group))
            permute_view(t, i, 1);
    *x = mc_view_copy(&t->view, t->a + offset, t->x, t->threads);
    *layout = t->uses[use].layout;
    layout->base -= offset;
}

void mc_pairs_sum(struct mc_tensor_pairs *t, size_t tensor)
{
    const struct mc_param *param = &t->g->params[tensor];

    t->sums[tensor] = (struct mc_view_sums){0};
    if (mc_is_statistic(param))
        return;
    start_view(t, tensor);
    for (size_t i = t->first[tensor]; i < t->first[tensor + 1]; i++)
        permute_view(t, i, 0);
    t->sums[tensor] = mc_view_sum(&t->view, t->a + param->offset, t->b + param->offset, t->threads);
}

void mc_pairs_sum_all(struct mc_tensor_pairs *t)
{
    for (size_t i = 0; i < t->g->n_params; i++)
        mc_pairs_sum(t, i);
}

double mc_pairs_objective(const struct mc_tensor_pairs *t)
{
    double sum = 0;

    for (size_t i = 0; i < t->g->n_params; i++)
        sum += t->sums[i].product;
    return sum;
}

double mc_pairs_distance(const struct mc_tensor_pairs *t)
{
    double sum = 0;

    for (size_t i = 0; i < t->g->n_params; i++)
        sum += t->sums[i].distance2;
    return sqrt(sum);
}

void mc_grow(size_t *max, size_t n)
{
    *max = n > *max ? n : *max;
}

double mc_vector_norm(const float *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

int mc_pairs_open(struct mc_tensor_pairs *t, struct mc_error *err)
{
    size_t rows = 0, length = 0, largest = 0, use = 0, n = 0;
    int rc = mc_uses_in_order(t->s, t->g, &t->uses, &t->n_uses, err);

    if (rc || (rc = mc_new(&t->first, t->g->n_params + 1, err)))
        return rc;
    for (size_t i = 0; i < t->n_uses; i++)
        if (!t->uses[i].use->is_stat && !mc_is_statistic(&t->g->params[t->uses[i].use->index]))
            t->uses[n++] = t->uses[i];
    t->n_uses = n;
    for (size_t i = 0; i < t->g->n_params; i++) {
        while (use < t->n_uses && t->uses[use].use->index == i)
            use++;
        t->first[i + 1] = use;
        mc_grow(&rows, view_rows(t, i));
        mc_grow(&length, t->g->params[i].count / view_rows(t, i));
        mc_grow(&largest, t->g->params[i].count);
    }
    if ((rc = mc_new(&t->x, largest, err)) || (rc = mc_new(&t->y, largest, err)) ||
        (rc = mc_view_init(&t->view, rows, length, err)) ||
        (rc = mc_new(&t->sums, t->g->n_params, err)))
        return rc;
    mc_pairs_sum_all(t);
    return 0;
}

void mc_pairs_release(struct mc_tensor_pairs *t)
{
    free(t->uses);
    free(t->first);
    free(t->x);
    free(t->y);
    mc_view_release(&t->view);
    free(t->sums);
}
