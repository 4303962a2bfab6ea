/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/align/weight_matching.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/rng.h"
#include "tools/align/nested_weights.h"
#include "tools/align/products.h"
#include "tools/align/tensor_pairs.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

struct matching {
    struct mc_tensor_pairs t;
    struct mc_perm *p; /* the same as t.p */
    struct mc_products products;
    double *value;              /* (K,K) of the largest group */
    double *ahead;              /* the same, products of ahead_use only; NULL: only one group */
    size_t ahead_use;           /* a use of the next group; n_uses: none */
    int32_t *candidate, *spare; /* (K) of the largest group */
    struct mc_nesting nesting;
    struct mc_inside inside;   /* current group's */
    const unsigned char *keep; /* (n_groups) */
    unsigned char *matched;    /* (n_groups) in the forward sweep; NULL in other sweeps */
    unsigned char *current;    /* (n_groups) 1: nothing changed since the group's last step */
    double min_rise;           /* smallest rise of the objective that counts as better */
};

/* ---- one group ------------------------------------------------------------------------------- */

static size_t end_of(const struct mc_unit_layout *layout)
{
    return layout->base + (layout->slices - 1) * layout->stride + layout->k * layout->m;
}

/* Return 1 if two uses move common values. Separate ranges of one axis do not overlap. */
static int overlap(const struct mc_placed_use *x, const struct mc_placed_use *y)
{
    const struct mc_use *u = x->use, *v = y->use;
    const int disjoint = u->dim == v->dim && (u->offset + u->count * u->repeat <= v->offset ||
                                              v->offset + v->count * v->repeat <= u->offset);

    return !disjoint && x->layout.base < end_of(&y->layout) && y->layout.base < end_of(&x->layout);
}

/* Return 1 if the use moves values of another group that the forward sweep has not matched yet. */
static int is_unready(const struct matching *m, size_t use, size_t group)
{
    const size_t tensor = m->t.uses[use].use->index;
    int unready = 0;

    for (size_t i = m->t.first[tensor]; m->matched && i < m->t.first[tensor + 1]; i++)
        unready |= !mc_in_group(m->t.s, group, m->t.uses[i].group) &&
                   !m->matched[m->t.uses[i].group] && overlap(&m->t.uses[use], &m->t.uses[i]);
    return unready;
}

static int products_of(struct matching *m, size_t use, int adds, double *value,
                       const struct mc_meanwhile *meanwhile, struct mc_error *err)
{
    const float *x, *y;
    struct mc_unit_layout layout;

    mc_pairs_rearrange(&m->t, use, m->t.s->n_groups, &x, &y, &layout);
    return mc_products_of(&m->products, &layout, x, y, adds, value, meanwhile, err);
}

static int is_ahead(const struct matching *m, size_t group)
{
    return m->ahead_use < m->t.n_uses && m->t.uses[m->ahead_use].group == group;
}

static int value_matrix(struct matching *m, size_t group, struct mc_error *err)
{
    const size_t K = m->t.s->groups[group].size;
    size_t ahead_use = m->t.n_uses;
    int rc = 0, adds = 0, all = 1; /* if no use is ready, all count */

    for (size_t i = 0; i < m->t.n_uses; i++)
        all &= m->t.uses[i].group != group || is_unready(m, i, group);
    if (is_ahead(m, group)) {
        double *swap = m->value;
        m->value = m->ahead;
        m->ahead = swap;
        ahead_use = m->ahead_use;
        m->ahead_use = m->t.n_uses;
        adds = 1;
    }
    for (size_t i = 0; i < m->t.n_uses && !rc; i++)
        if (i != ahead_use && m->t.uses[i].group == group && (all || !is_unready(m, i, group))) {
            rc = products_of(m, i, adds, m->value, NULL, err);
            adds = 1;
        }
    if (!adds)
        memset(m->value, 0, K * K * sizeof *m->value);
    return rc;
}

/* Add the products of the units of inner groups, and the gain of their assignments. */
static int value_inside(struct matching *m, size_t group, struct mc_error *err)
{
    const struct mc_group *groups = m->t.s->groups;
    struct mc_inside_weights w = {0};
    struct mc_unit_layout layout;
    const float *x, *y;
    int rc = mc_inside_open(&m->inside, &m->nesting, m->keep, group, err);

    if (!rc)
        rc = mc_inside_weights_open(&w, &m->inside, m->t.uses, m->t.n_uses, err);
    for (size_t i = 0; i < m->t.n_uses && !rc; i++)
        if (m->t.s->groups[m->t.uses[i].group].outer == group) {
            const size_t inner = m->t.uses[i].group;
            mc_pairs_rearrange(&m->t, i, group, &x, &y, &layout);
            mc_inside_weights_pack(&w, groups[inner].unit, m->nesting.slot[inner], &layout, x, y);
        }
    if (!rc)
        rc = mc_inside_match(&m->inside, mc_inside_weights_values, &w, m->p, m->value, m->t.threads,
                             err);
    mc_inside_weights_release(&w);
    return rc;
}

/* A use whose products the assignment of `group` does not change: of group `next`, ready, in a
 * tensor that `group` and its inner groups do not permute. Of several, the one with the most
 * values. n_uses if there is none, or if the next step does not need it or is for a group with
 * inner groups. */
static size_t independent_use(const struct matching *m, size_t group, size_t next)
{
    size_t best = m->t.n_uses, most = 0;

    if (next >= m->t.s->n_groups || m->keep[next] || m->current[next] || m->nesting.slots[next])
        return best;
    for (size_t i = 0; i < m->t.n_uses; i++) {
        const size_t tensor = m->t.uses[i].use->index, count = mc_unit_values(&m->t.uses[i].layout);
        int independent = m->t.uses[i].group == next && !is_unready(m, i, next);
        for (size_t k = m->t.first[tensor]; k < m->t.first[tensor + 1]; k++)
            independent &= !mc_in_group(m->t.s, group, m->t.uses[k].group);
        if (independent && count > most) {
            best = i;
            most = count;
        }
    }
    return best;
}

struct assignment {
    const struct matching *m;
    size_t K;
    struct mc_assignment *info;
    struct mc_error *err;
    int rc;
};
static void assign_units(void *arg)
{
    struct assignment *a = arg;
    a->rc = mc_assign_max(a->K, a->m->value, a->m->candidate, a->info, a->err);
}

/* Find the candidate. The other threads meanwhile compute products of group `next`. A single thread
 * computes them afterwards, so that additions have the same order for any number of threads. */
static int assign(struct matching *m, size_t group, size_t next, struct mc_assignment *info,
                  struct mc_error *err)
{
    struct assignment a = {m, m->t.s->groups[group].size, info, err, 0};
    const struct mc_meanwhile meanwhile = {assign_units, &a};
    const size_t use = independent_use(m, group, next);

    if (use == m->t.n_uses || is_ahead(m, next)) {
        assign_units(&a);
        return a.rc;
    }
    m->ahead_use = use;
    const int rc = products_of(m, use, 0, m->ahead, &meanwhile, err);
    return rc ? rc : a.rc;
}

/* Recompute the objective after the permutations of the group and of its inner groups changed.
 * Return 1 if it is greater. */
static int is_better(struct matching *m, size_t group)
{
    const double before = mc_pairs_objective(&m->t);
    size_t last = m->t.g->n_params;

    for (size_t i = 0; i < m->t.n_uses; i++) {
        const size_t tensor = m->t.uses[i].use->index;
        if (tensor != last && mc_in_group(m->t.s, group, m->t.uses[i].group))
            mc_pairs_sum(&m->t, last = tensor);
    }
    return mc_pairs_objective(&m->t) > before + m->min_rise;
}

/* Swap the group's permutation with the candidate; a second call restores it. If units (the group's
 * new permutation) is not NULL, swap the inner permutations too. Return 1 if one changed. */
static int exchange(struct matching *m, size_t group, const int32_t *units)
{
    const size_t bytes = m->t.s->groups[group].size * sizeof *m->spare;
    int changed = memcmp(m->candidate, m->p->perm[group], bytes) != 0;

    if (units)
        changed |= mc_inside_exchange(&m->inside, units, m->p);
    memcpy(m->spare, m->p->perm[group], bytes);
    memcpy(m->p->perm[group], m->candidate, bytes);
    memcpy(m->candidate, m->spare, bytes);
    return changed;
}

/* Note that the group, and perhaps its inner groups, changed. The values of groups that permute the
 * same tensors must be computed again, and those of groups that contain such groups. The group's
 * own values depend on its permutation only if it permutes a tensor twice. */
static void note_change(const struct matching *m, size_t group)
{
    for (size_t i = 0; i < m->t.n_uses; i++) {
        const size_t tensor = m->t.uses[i].use->index;
        if (!mc_in_group(m->t.s, group, m->t.uses[i].group))
            continue;
        for (size_t k = m->t.first[tensor]; k < m->t.first[tensor + 1]; k++) {
            const size_t other = m->t.uses[k].group, outer = m->t.s->groups[other].outer;
            m->current[other] &= k == i;
            if (outer != MC_NO_GROUP)
                m->current[outer] = 0;
        }
    }
}

/* Try the best assignment of the group together with its inner groups. If the objective does not
 * rise, try the group alone. If nothing changed since the last step, the result would not either.
 * next: group of the next step; n_groups: none. */
static int step(struct matching *m, size_t group, size_t next, struct mc_assignment *info,
                int *changed, struct mc_error *err)
{
    const size_t K = m->t.s->groups[group].size;
    const int32_t *perm = m->p->perm[group];
    int rc = 0;

    *changed = 0;
    if ((info->kept = m->keep[group]) || m->current[group])
        return 0;
    m->current[group] = !m->matched;
    for (int inside = m->nesting.slots[group] > 0; inside >= 0 && !*changed; inside--) {
        if ((rc = value_matrix(m, group, err)) || (inside && (rc = value_inside(m, group, err))) ||
            (rc = assign(m, group, next, info, err)))
            break;
        *changed = exchange(m, group, inside ? m->candidate : NULL);
        if ((*changed && is_better(m, group)) || m->matched)
            break;
        (void)exchange(m, group, inside ? perm : NULL);
        if (*changed)
            (void)is_better(m, group);
        *changed = 0;
        info->value = 0;
        for (size_t i = 0; i < K; i++)
            info->value += m->value[i * K + (size_t)perm[i]];
        info->gap = info->bound > info->value ? info->bound - info->value : 0;
    }
    mc_inside_release(&m->inside);
    if (*changed)
        note_change(m, group);
    for (size_t i = 0; m->matched && i < m->t.s->n_groups; i++)
        if (mc_in_group(m->t.s, group, i))
            m->matched[i] = 1;
    return mc_fail_in(rc, err, "%s", m->t.s->groups[group].name);
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

static void shuffle(size_t n, size_t *order, uint64_t seed, size_t sweep)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) { /* Fisher-Yates */
        struct mc_rng4 r = mc_rng(seed, MC_RNG_MATCH, (uint32_t)sweep, (uint32_t)i, 0);
        size_t k = mc_rng_below(r.v[0], (uint32_t)i), t = order[i - 1];
        order[i - 1] = order[k];
        order[k] = t;
    }
}

/* List the groups in their order, but each group after the group whose units contain it. */
static void order_forward(const struct matching *m, size_t *order)
{
    const size_t n = m->t.s->n_groups;
    size_t placed = 0;

    while (placed < n)
        for (size_t i = 0; i < n; i++) {
            size_t placed_before = 0, parent = !mc_group_is_nested(&m->t.s->groups[i]);
            for (size_t k = 0; k < placed; k++) {
                placed_before |= order[k] == i;
                parent |= order[k] == m->t.s->groups[i].outer;
            }
            if (!placed_before && parent)
                order[placed++] = i;
        }
}

static int begin(struct matching *m, struct mc_error *err)
{
    size_t widest = 0;
    int rc = mc_pairs_open(&m->t, err);

    for (size_t i = 0; i < m->t.s->n_groups; i++)
        mc_grow(&widest, m->t.s->groups[i].size);
    if (rc || (rc = mc_new(&m->candidate, widest, err)) || (rc = mc_new(&m->spare, widest, err)) ||
        (rc = mc_new(&m->current, m->t.s->n_groups, err)) ||
        (rc = mc_nesting_find(&m->nesting, m->t.s->groups, m->t.s->n_groups, err)))
        return rc;
    m->value = mc_alloc_large(widest * widest * sizeof *m->value);
    if (m->t.s->n_groups > 1)
        m->ahead = mc_alloc_large(widest * widest * sizeof *m->ahead);
    if (!m->value || (m->t.s->n_groups > 1 && !m->ahead))
        return mc_no_memory(err);
    m->ahead_use = m->t.n_uses;
    m->min_rise = 1e-12 * mc_vector_norm(m->t.a, m->t.g->P) * mc_vector_norm(m->t.b, m->t.g->P);
    return 0;
}

static void release(struct matching *m)
{
    mc_nesting_release(&m->nesting);
    mc_pairs_release(&m->t);
    free(m->products.slab);
    free(m->value);
    free(m->ahead);
    free(m->candidate);
    free(m->current);
    free(m->spare);
}

/* One step for every group. A forward sweep is undone if it lowers the objective. */
static int sweep(struct matching *m, size_t *order, const struct mc_weight_match_opts *opts,
                 struct mc_weight_sweep *w, struct mc_assignment *info, struct mc_error *err)
{
    const double before = mc_pairs_objective(&m->t);
    struct mc_perm start;
    int rc = mc_perm_clone(&start, m->p, err);

    if (rc)
        return rc;
    if (opts->forward && w->sweep == 1) {
        order_forward(m, order);
        if (!(rc = mc_new(&m->matched, m->t.s->n_groups, err)))
            memcpy(m->matched, m->keep, m->t.s->n_groups);
    } else {
        shuffle(m->t.s->n_groups, order, opts->seed, w->sweep);
    }
    w->changed = 0;
    for (size_t i = 0; i < m->t.s->n_groups && !rc; i++) {
        int changed = 0;
        const size_t next = i + 1 < m->t.s->n_groups ? order[i + 1] : m->t.s->n_groups;
        rc = step(m, order[i], next, &info[order[i]], &changed, err);
        w->changed += (size_t)changed;
    }
    if (m->matched && mc_pairs_objective(&m->t) < before) {
        w->changed = 0;
        mc_perm_copy(m->p, &start);
        mc_pairs_sum_all(&m->t);
    }
    free(m->matched);
    m->matched = NULL;
    mc_perm_release(&start);
    return rc;
}

double mc_weight_match_bytes(const struct mc_symmetry *s, const struct mc_graph *g, int threads)
{
    size_t largest = 0, widest = 0, products = 0;

    for (size_t i = 0; i < g->n_params; i++)
        mc_grow(&largest, g->params[i].count);
    for (size_t i = 0; i < s->n_groups; i++) {
        const size_t k = s->groups[i].size;
        const struct mc_unit_layout layout = {.k = k, .m = largest / (k + 1) + 1, .slices = 1};
        mc_grow(&widest, k);
        mc_grow(&products, mc_products_bytes(&layout, threads ? threads : omp_get_max_threads()));
    }
    /* both tensors, the values of all pairs (twice if there are several groups), and the
     * assignment's copy of them */
    const size_t pair = (s->n_groups > 1 ? 2 : 1) * sizeof(double) + sizeof(int32_t);
    return 2.0 * sizeof(float) * (double)largest + (double)products +
           (double)pair * (double)widest * (double)widest;
}

int mc_weight_match(struct mc_perm *p, struct mc_assignment *info, const struct mc_symmetry *s,
                    const struct mc_graph *g, const float *a, const float *b,
                    const struct mc_weight_match_opts *opts, struct mc_error *err)
{
    const int threads = opts->threads ? opts->threads : omp_get_max_threads();
    struct matching m = {.t = {.s = s, .g = g, .a = a, .b = b, .p = p, .threads = threads},
                         .products.threads = threads,
                         .p = p,
                         .keep = opts->keep};
    struct mc_weight_sweep w = {0};
    size_t *order = NULL;
    int rc = mc_new(&order, s->n_groups, err);

    if (!rc)
        rc = begin(&m, err);
    while (!rc) {
        w.objective = mc_pairs_objective(&m.t);
        w.distance = mc_pairs_distance(&m.t);
        if (opts->swept)
            opts->swept(opts->arg, &w);
        if (!w.changed && w.sweep > (opts->forward ? 1 : 0))
            break;
        w.sweep++;
        rc = sweep(&m, order, opts, &w, info, err);
    }
    release(&m);
    free(order);
    return rc;
}
