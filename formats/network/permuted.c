/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/network/permuted.h"

#include "formats/network/combine.h"
#include "libcommon/base/alloc.h"

#include <stdlib.h>

int mc_permuted_open(struct mc_permuted *p, const struct mc_perm *perm, const struct mc_symmetry *s,
                     const struct mc_graph *g, struct mc_error *err)
{
    *p = (struct mc_permuted){.perm = perm};
    int rc = mc_perm_check_groups(perm, s, err);

    return rc ? rc : mc_uses_in_order(s, g, &p->uses, &p->n, err);
}

/* Find the uses [*from, *to) of tensor i. */
static void find_uses(const struct mc_permuted *p, const struct mc_graph *g, size_t i, size_t *from,
                      size_t *to)
{
    const int is_stat = i >= g->n_params;
    const size_t index = is_stat ? i - g->n_params : i;

    for (*from = 0; *from < p->n; ++*from)
        if (!p->uses[*from].use->is_stat == !is_stat && p->uses[*from].use->index == index)
            break;
    for (*to = *from; *to < p->n; ++*to)
        if (!p->uses[*to].use->is_stat != !is_stat || p->uses[*to].use->index != index)
            break;
}

/* Read tensor i, which uses [from, end) move, at least one by a matrix, and map it in p->tensor. */
static int map_tensor(struct mc_permuted *p, struct mc_values *v, size_t i, size_t from, size_t end,
                      struct mc_error *err)
{
    const struct mc_param *param = mc_values_param(v, i);
    const size_t n = param->count;
    int rc = mc_buffer_room(&p->tensor, &p->tensor_bytes, n * sizeof(float), err);

    if (rc || (rc = mc_buffer_room(&p->wide, &p->wide_bytes, n * sizeof(double), err)) ||
        (rc = mc_values_floats(v, i, (float *)p->tensor, n, err)))
        return rc;
    double *wide = p->wide;
    for (size_t k = 0; k < n; k++)
        wide[k] = (double)((float *)p->tensor)[k];
    for (; from < end && !rc; from++)
        rc = mc_perm_apply_use(p->perm, &p->uses[from], param->offset, sizeof *wide, wide,
                               &p->memory, err);
    return rc ? rc : mc_round_values(mc_values_type(v, i), wide, p->tensor, n, param, err);
}

int mc_permuted_copy(struct mc_permuted *p, struct mc_values *v, size_t i, struct mc_writer *w,
                     size_t to, struct mc_error *err)
{
    const size_t bytes = mc_values_bytes(v, i), size = mc_dtype_size(mc_values_type(v, i));
    size_t from = 0, end = 0;
    int rc = 0, matrix = 0;

    find_uses(p, v->curve.graph, i, &from, &end);
    if (from == end)
        return mc_values_copy(v, i, w, to, err);
    for (size_t u = from; u < end; u++)
        matrix |= mc_perm_map(p->perm, p->uses[u].group) != NULL;
    if (matrix)
        rc = map_tensor(p, v, i, from, end, err);
    else if (!(rc = mc_buffer_room(&p->tensor, &p->tensor_bytes, bytes, err)))
        rc = mc_values_read(v, i, p->tensor, bytes, err);
    for (; from < end && !matrix && !rc; from++)
        rc = mc_perm_apply_use(p->perm, &p->uses[from], mc_values_param(v, i)->offset, size,
                               p->tensor, &p->memory, err);
    return rc ? rc : mc_writer_bytes(w, to, p->tensor, bytes, err);
}

void mc_permuted_release(struct mc_permuted *p)
{
    free(p->uses);
    free(p->tensor);
    free(p->wide);
    mc_apply_release(&p->memory);
    *p = (struct mc_permuted){0};
}
