/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/align/weight_maps.h"

#include "libcommon/base/alloc.h"
#include "libcommon/graph/uses.h"
#include "tools/align/products.h"
#include "tools/align/tensor_pairs.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define RISE 1e-7
#define RISE_WITH_DATA 1e-9 /* a few directions are a small part of the objective */

struct search {
    const struct mc_symmetry *s;
    const struct mc_graph *g;
    const float *a, *b;
    struct mc_perm *p;
    const struct mc_weight_match_opts *opts;
    struct mc_placed_use *uses;
    size_t *first; /* (n_params + 1): first use of each tensor */
    struct mc_nesting nesting;
    struct mc_products products;
    struct mc_apply memory;
    double *wide, *part; /* the largest tensor; (K,K) of the largest group */
    float *y;            /* the largest tensor */
    double **value;      /* (n_groups) matrices of the current group, and of those in its units */
    double *plain;       /* (K,K) of the current group's uses without signs, or NULL */
    unsigned char *matched; /* (n_groups) in the forward sweep; NULL in other sweeps */
    size_t widest, largest;
    int one_slot; /* only tensors with one slot of the current group count */
    double least; /* a smaller rise of the objective ends the search */
};

/* ---- products -------------------------------------------------------------------------------- */

#define NONE SIZE_MAX

/* Set y to b's tensor after all maps except those of group `without` and of the groups in this slot
 * of its units. slot: may be NONE. without: n_groups for all maps. */
static int map_tensor(struct search *m, size_t tensor, size_t without, size_t slot,
                      struct mc_error *err)
{
    const struct mc_param *param = &m->g->params[tensor];
    int rc = 0;

    for (size_t k = 0; k < param->count; k++)
        m->wide[k] = (double)m->b[param->offset + k];
    for (size_t i = m->first[tensor]; i < m->first[tensor + 1] && !rc; i++)
        if (m->uses[i].group != without && !(mc_in_group(m->s, without, m->uses[i].group) &&
                                             m->nesting.slot[m->uses[i].group] == slot))
            rc = mc_perm_apply_use(m->p, &m->uses[i], param->offset, sizeof *m->wide, m->wide,
                                   &m->memory, err);
    for (size_t k = 0; k < param->count; k++)
        m->y[k] = (float)m->wide[k];
    return rc;
}

/* The use of a group in the tensor that corresponds to use i of its equal group. */
static const struct mc_placed_use *counterpart(const struct search *m, size_t i, size_t group)
{
    const size_t tensor = m->uses[i].use->index;
    size_t n = 0, k = m->first[tensor];

    for (size_t j = k; j < i; j++)
        n += m->uses[j].group == m->uses[i].group;
    for (;; k++)
        if (m->uses[k].group == group && !n--)
            return &m->uses[k];
}

/* Add the products of unit `group` of b, in which use i is, and of every unit of a. */
static int add_inside(struct search *m, size_t group, size_t i, struct mc_error *err)
{
    const struct mc_placed_use *u = &m->uses[i];
    const size_t offset = m->g->params[u->use->index].offset, slot = m->nesting.slot[u->group];
    const size_t U = m->s->groups[group].size, K = m->s->groups[u->group].size;
    const size_t unit = m->s->groups[u->group].unit;
    double *all = m->value[mc_nesting_child(&m->nesting, group, 0, slot)];
    int rc = 0;

    for (size_t h = 0; h < U && !rc; h++) {
        const struct mc_placed_use *x =
            counterpart(m, i, mc_nesting_child(&m->nesting, group, h, slot));
        struct mc_unit_layout layout = u->layout;
        layout.base = 0;
        rc = mc_products_of(&m->products, &layout, m->a + x->layout.base,
                            m->y + (u->layout.base - offset), 0, m->part, NULL, err);
        for (size_t k = 0; k < K * K && !rc; k++)
            all[(h * K + k / K) * U * K + unit * K + k % K] += m->part[k];
    }
    return rc;
}

/* Return 1 if all other groups of the tensor have their map. */
static int is_ready(const struct search *m, size_t tensor, size_t group)
{
    int ready = 1;

    for (size_t i = m->first[tensor]; m->matched && i < m->first[tensor + 1]; i++) {
        const size_t outer = m->s->groups[m->uses[i].group].outer;
        const size_t top = outer == MC_NO_GROUP ? m->uses[i].group : outer;
        ready &= top == group || m->matched[top];
    }
    return ready;
}

/* Return 1 if all groups in the group's units that have a use in the tensor are in one slot. */
static int has_one_slot(const struct search *m, size_t tensor, size_t group)
{
    size_t slot = NONE;
    int one = 1;

    for (size_t i = m->first[tensor]; i < m->first[tensor + 1]; i++) {
        const size_t g = m->uses[i].group;
        if (g == group || !mc_in_group(m->s, group, g))
            continue;
        one &= slot == NONE || slot == m->nesting.slot[g];
        slot = m->nesting.slot[g];
    }
    return one;
}

/* Return 1 if the group, or one in its units, has a use in the tensor, and that is ready if it must
 * be. */
static int counts(const struct search *m, size_t tensor, size_t group, int must_be_ready)
{
    size_t i = m->first[tensor];

    while (i < m->first[tensor + 1] && !mc_in_group(m->s, group, m->uses[i].group))
        i++;
    return i < m->first[tensor + 1] && !mc_is_statistic(&m->g->params[tensor]) &&
           (!must_be_ready || is_ready(m, tensor, group)) &&
           (!m->one_slot || has_one_slot(m, tensor, group));
}

/* Return 1 if a tensor of the group is ready. */
static int has_ready(const struct search *m, size_t group)
{
    size_t t = 0;

    while (t < m->g->n_params && !counts(m, t, group, 1))
        t++;
    return t < m->g->n_params;
}

/* Groups of other slots may act on the same entries, as the query heads of a key head and their
 * rotation do. They have their current maps. */
static int add_slot(struct search *m, size_t group, size_t tensor, size_t slot,
                    struct mc_error *err)
{
    int mapped = 0, rc = 0;

    for (size_t i = m->first[tensor]; i < m->first[tensor + 1] && !rc; i++) {
        const size_t g = m->uses[i].group;
        if (g == group || !mc_in_group(m->s, group, g) || m->nesting.slot[g] != slot)
            continue;
        if (!mapped++)
            rc = map_tensor(m, tensor, group, slot, err);
        if (!rc)
            rc = add_inside(m, group, i, err);
    }
    return rc;
}

/* Add the products of the group, and of the groups in this slot of its units or MC_ALL_SLOTS. */
static int add_tensor(struct search *m, size_t group, size_t slot, size_t tensor,
                      struct mc_error *err)
{
    const size_t offset = m->g->params[tensor].offset;
    int rc = map_tensor(m, tensor, group, NONE, err);

    for (size_t i = m->first[tensor]; i < m->first[tensor + 1] && !rc; i++) {
        struct mc_unit_layout layout = m->uses[i].layout;
        layout.base -= offset;
        if (m->uses[i].group == group)
            rc = mc_products_of(&m->products, &layout, m->a + offset, m->y, 1,
                                m->plain && m->uses[i].use->no_signs ? m->plain : m->value[group],
                                NULL, err);
    }
    for (size_t k = 0; k < m->nesting.slots[group] && !rc; k++)
        if (slot == MC_ALL_SLOTS || slot == k)
            rc = add_slot(m, group, tensor, k, err);
    return rc;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Solve the group, and the groups in this slot of its units or MC_ALL_SLOTS. */
static int solve(struct search *m, size_t group, size_t slot, struct mc_assignment *info,
                 struct mc_procrustes *found, struct mc_error *err)
{
    const size_t n = m->s->n_groups;
    const size_t K = m->s->groups[group].size;
    const int must_be_ready = has_ready(m, group);
    int rc = 0;

    if (m->s->groups[group].allows == MC_ALLOWS_SIGNED)
        rc = mc_new(&m->plain, K * K, err);
    for (size_t g = 0; g < n && !rc; g++) {
        const size_t units = mc_group_tap_units(m->s->groups, g);
        if (mc_in_group(m->s, group, g) && units)
            rc = mc_new(&m->value[g], units * units, err);
    }
    for (size_t t = 0; t < m->g->n_params && !rc; t++)
        if (counts(m, t, group, must_be_ready))
            rc = add_tensor(m, group, slot, t, err);
    const double *const *value = (const double *const *)m->value;
    const struct mc_procrustes_values values = {.c = m->opts->data ? m->opts->data : value,
                                                .fallback = m->opts->data ? value : NULL,
                                                .plain = m->plain};
    if (!rc)
        rc = mc_procrustes_group(m->p, info, found, &m->nesting, &values, group, slot, err);
    free(m->plain);
    m->plain = NULL;
    for (size_t g = 0; g < n; g++) {
        free(m->value[g]);
        m->value[g] = NULL;
    }
    return rc;
}

/* Add a tensor's part of the objective, and of the squared distance. */
static int add_value(struct search *m, size_t tensor, double *sum, double *apart,
                     struct mc_error *err)
{
    const struct mc_param *p = &m->g->params[tensor];
    int rc = map_tensor(m, tensor, m->s->n_groups, NONE, err);

    for (size_t i = 0; i < p->count && !rc; i++) {
        const double x = (double)m->a[p->offset + i], y = (double)m->y[i];
        *sum += x * y;
        *apart += (x - y) * (x - y);
    }
    return rc;
}

/* Set the part of the objective that a step for the group raises. */
static int measure_group(struct search *m, size_t group, double *value, struct mc_error *err)
{
    const int must_be_ready = has_ready(m, group);
    double apart = 0;
    int rc = 0;

    *value = 0;
    for (size_t t = 0; t < m->g->n_params && !rc; t++)
        if (counts(m, t, group, must_be_ready))
            rc = add_value(m, t, value, &apart, err);
    return rc;
}

/* Solve each slot with the current maps of the others until no value rises. */
static int ascend(struct search *m, size_t group, struct mc_assignment *info,
                  struct mc_procrustes *found, double *value, struct mc_error *err)
{
    int rc = 0;

    *value = -INFINITY;
    for (double rise = INFINITY; rise > m->least && !rc; *value = found[group].value) {
        for (size_t slot = 0; slot < m->nesting.slots[group] && !rc; slot++)
            rc = solve(m, group, slot, info, found, err);
        rise = found[group].value - *value;
    }
    return rc;
}

static void swap(struct mc_perm *p, struct mc_perm *q)
{
    const struct mc_perm t = *p;

    *p = *q;
    *q = t;
}

/* Solve all slots together. If slots share entries, each is solved with the old map of the other.
 * The found value is then not that of the new maps, which may even lower the objective. Replace
 * them by the better result of two searches slot by slot: one from the old maps, the other from the
 * best maps for the tensors with only one slot. The first alone may end with two wrong maps, each
 * the best for the other: a wrong order of query heads, and a rotation that suits it. */
static int solve_slots(struct search *m, size_t group, struct mc_assignment *info,
                       struct mc_procrustes *found, struct mc_error *err)
{
    double value, restarted;
    struct mc_perm start;
    int rc = mc_perm_clone(&start, m->p, err);

    if (rc)
        return rc;
    if ((rc = solve(m, group, MC_ALL_SLOTS, info, found, err)) ||
        (rc = measure_group(m, group, &value, err)) || fabs(found[group].value - value) <= m->least)
        goto out;
    m->one_slot = 1;
    rc = solve(m, group, MC_ALL_SLOTS, info, found, err);
    m->one_slot = 0;
    if (rc || (rc = ascend(m, group, info, found, &restarted, err)))
        goto out;
    swap(m->p, &start);
    if (!(rc = ascend(m, group, info, found, &value, err)) && restarted > value + m->least) {
        swap(m->p, &start);
        rc = ascend(m, group, info, found, &value, err); /* sets info and found again */
    }
out:
    mc_perm_release(&start);
    return rc;
}

static int has_step(const struct search *m, size_t group)
{
    return !mc_group_is_nested(&m->s->groups[group]) && !(m->opts->keep && m->opts->keep[group]);
}

static int sweep(struct search *m, struct mc_assignment *info, struct mc_procrustes *found,
                 struct mc_error *err)
{
    const size_t n = m->s->n_groups;
    unsigned char *visited = NULL;
    int rc = mc_new(&visited, n, err);

    for (size_t k = 0; k < n && !rc; k++) {
        size_t next = n;
        for (size_t g = n; g-- > 0;) /* the first group that has a ready tensor, else the first */
            if (!visited[g] && has_step(m, g) &&
                (next == n || has_ready(m, g) || !has_ready(m, next)))
                next = g;
        if (next == n)
            break;
        rc = m->nesting.slots[next] > 1 && !m->opts->data
                 ? solve_slots(m, next, info, found, err)
                 : solve(m, next, MC_ALL_SLOTS, info, found, err);
        visited[next] = 1;
        if (m->matched)
            m->matched[next] = 1;
    }
    free(visited);
    return rc;
}

/* Set w's objective and distance. */
static int measure_maps(struct search *m, struct mc_weight_sweep *w, struct mc_error *err)
{
    double sum = 0, apart = 0;
    int rc = 0;

    for (size_t t = 0; t < m->g->n_params && !rc; t++)
        if (!mc_is_statistic(&m->g->params[t]))
            rc = add_value(m, t, &sum, &apart, err);
    w->objective = sum;
    w->distance = sqrt(apart);
    return rc;
}

/* One sweep. Undo it if it lowers the objective, as a group on both axes of one tensor may. */
static int improve(struct search *m, struct mc_weight_sweep *w, struct mc_assignment *info,
                   struct mc_procrustes *found, struct mc_error *err)
{
    const struct mc_weight_sweep before = *w;
    const size_t n = m->s->n_groups;
    struct mc_assignment *old_info = NULL;
    struct mc_procrustes *old_found = NULL;
    struct mc_perm start = {0};
    int rc = mc_perm_clone(&start, m->p, err);

    if (rc || (rc = mc_new(&old_info, n, err)) || (rc = mc_new(&old_found, n, err)))
        goto out;
    memcpy(old_info, info, n * sizeof *info);
    memcpy(old_found, found, n * sizeof *found);
    if (!(rc = sweep(m, info, found, err)) && !(rc = measure_maps(m, w, err)) &&
        w->objective < before.objective) {
        swap(m->p, &start);
        if (before.sweep > 1 || m->opts->data) { /* else nothing was known of p's maps */
            memcpy(info, old_info, n * sizeof *info);
            memcpy(found, old_found, n * sizeof *found);
        }
        *w = before;
    }
    w->changed = w->objective > before.objective + m->least ? m->s->n_groups : 0;
out:
    free(old_info);
    free(old_found);
    mc_perm_release(&start);
    return rc;
}

static void measure(struct search *m)
{
    for (size_t i = 0; i < m->g->n_params; i++)
        mc_grow(&m->largest, m->g->params[i].count);
    for (size_t i = 0; i < m->s->n_groups; i++)
        mc_grow(&m->widest, m->s->groups[i].size);
}

static int begin(struct search *m, struct mc_error *err)
{
    size_t n_uses = 0, i = 0;
    int rc = mc_groups_check_depth(m->s->groups, m->s->n_groups, err);

    measure(m);
    if (rc || (rc = mc_nesting_find(&m->nesting, m->s->groups, m->s->n_groups, err)) ||
        (rc = mc_uses_in_order(m->s, m->g, &m->uses, &n_uses, err)) ||
        (rc = mc_new(&m->first, m->g->n_params + 1, err)) ||
        (rc = mc_new(&m->wide, m->largest, err)) || (rc = mc_new(&m->y, m->largest, err)) ||
        (rc = mc_new(&m->part, m->widest * m->widest, err)) ||
        (rc = mc_new(&m->value, m->s->n_groups, err)))
        return rc;
    for (size_t t = 0; t <= m->g->n_params; t++) {
        while (i < n_uses && !m->uses[i].use->is_stat && m->uses[i].use->index < t)
            i++;
        m->first[t] = i;
    }
    return 0;
}

static void release(struct search *m)
{
    mc_nesting_release(&m->nesting);
    mc_apply_release(&m->memory);
    free(m->products.slab);
    free(m->uses);
    free(m->first);
    free(m->wide);
    free(m->y);
    free(m->part);
    free(m->value);
    free(m->matched);
}

double mc_weight_maps_bytes(const struct mc_symmetry *s, const struct mc_graph *g)
{
    struct search m = {.s = s, .g = g};

    measure(&m);
    return 20.0 * (double)m.largest + 64.0 * (double)m.widest * (double)m.widest;
}

int mc_weight_maps(struct mc_perm *p, struct mc_assignment *info, struct mc_procrustes *found,
                   const struct mc_symmetry *s, const struct mc_graph *g, const float *a,
                   const float *b, const struct mc_weight_match_opts *opts, struct mc_error *err)
{
    struct search m = {.s = s, .g = g, .a = a, .b = b, .p = p, .opts = opts};
    struct mc_weight_sweep w = {0};
    int rc = begin(&m, err);

    m.least =
        (opts->data ? RISE_WITH_DATA : RISE) * mc_vector_norm(a, g->P) * mc_vector_norm(b, g->P);
    m.products.threads = opts->threads ? opts->threads : omp_get_max_threads();
    if (!rc)
        rc = measure_maps(&m, &w, err);
    if (!rc && opts->forward)
        rc = mc_new(&m.matched, s->n_groups, err);
    while (!rc) {
        if (opts->swept)
            opts->swept(opts->arg, &w);
        if (!w.changed && w.sweep > (opts->forward ? 1 : 0))
            break;
        w.sweep++;
        if (!(rc = improve(&m, &w, info, found, err))) {
            free(m.matched);
            m.matched = NULL;
        }
    }
    release(&m);
    return rc;
}
