/* SPDX-License-Identifier: Apache-2.0
 *
 * Weight matching. Of a tensor that several uses permute, those that come before a group's own
 * (mc_uses_in_order) are applied to b, those after it are undone on a; between the two the group's
 * permutation stands alone. */
#include "tools/align/weight_matching.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/rng.h"
#include "tools/align/nested_groups.h"
#include "tools/align/products.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

struct matching {
    const struct mc_symmetry *s;
    const struct mc_graph *g;
    const float *a, *b;
    struct mc_perm *p;
    struct mc_placed_use *uses; /* (n_uses) of parameters */
    size_t n_uses;
    size_t *first; /* (n_params + 1): of the uses of each tensor */
    float *x, *y;  /* (P): a's and b's tensors, rearranged */
    void *room;
    double *of_tensor; /* (n_params) <a, P b> */
    double *value;     /* (K,K) of the greatest group */
    int32_t *found, *kept;
    struct mc_nesting nesting;
    struct mc_inside inside; /* of the group whose step it is */
    unsigned char *known;    /* (n_groups) matched in the sweep that goes forward; NULL: another */
    double least;            /* that an objective must rise by to be greater */
    int threads;
};

/* Without a graph, batch norm's statistics are parameters like others, but for their names. */
static int is_statistic(const struct mc_param *p)
{
    const char *dot = strrchr(p->tensor.name, '.');

    return dot && (!strcmp(dot, ".running_mean") || !strcmp(dot, ".running_var"));
}

/* ---- tensors, rearranged --------------------------------------------------------------------- */

static void copy_tensor(const struct matching *m, float *to, const float *from, size_t tensor)
{
    const struct mc_param *t = &m->g->params[tensor];

    memcpy(to + t->offset, from + t->offset, t->count * sizeof *to);
}

static void apply(const struct matching *m, size_t use, int inverse, float *x)
{
    const struct mc_placed_use *u = &m->uses[use];

    mc_units_permute(&u->at, m->p->perm[u->group], inverse, x, m->room);
}

/* y: b's tensor with all that comes before or beside `use`; x: a's without what comes after it, the
 * uses of the group `without` left as they are (m->s->n_groups: of none). */
static void rearrange(const struct matching *m, size_t use, size_t without)
{
    const size_t tensor = m->uses[use].use->index;

    copy_tensor(m, m->x, m->a, tensor);
    copy_tensor(m, m->y, m->b, tensor);
    for (size_t i = m->first[tensor]; i < m->first[tensor + 1]; i++)
        if (i != use && !mc_use_is_after(&m->uses[i], &m->uses[use]))
            apply(m, i, 0, m->y);
    for (size_t i = m->first[tensor + 1]; i-- > m->first[tensor];)
        if (mc_use_is_after(&m->uses[i], &m->uses[use]) && m->uses[i].group != without)
            apply(m, i, 1, m->x);
}

/* y: b's tensor, permuted. 0 for statistics; else returns its product with a's, and *apart, the
 * square of their distance, where that is not NULL. */
static double product_of_tensor(const struct matching *m, size_t tensor, double *apart)
{
    const struct mc_param *t = &m->g->params[tensor];
    double product = 0, square = 0;

    if (is_statistic(t))
        return 0;
    copy_tensor(m, m->y, m->b, tensor);
    for (size_t i = m->first[tensor]; i < m->first[tensor + 1]; i++)
        apply(m, i, 0, m->y);
    for (size_t i = t->offset; i < t->offset + t->count; i++) {
        const double a = (double)m->a[i], b = (double)m->y[i];
        product += a * b;
        square += (a - b) * (a - b);
    }
    if (apart)
        *apart = square;
    return product;
}

static void products(struct matching *m)
{
    for (size_t i = 0; i < m->g->n_params; i++)
        m->of_tensor[i] = product_of_tensor(m, i, NULL);
}

static double objective(const struct matching *m)
{
    double sum = 0;

    for (size_t i = 0; i < m->g->n_params; i++)
        sum += m->of_tensor[i];
    return sum;
}

static double distance(const struct matching *m)
{
    double sum = 0;

    for (size_t i = 0; i < m->g->n_params; i++) {
        double apart = 0;
        (void)product_of_tensor(m, i, &apart);
        sum += apart;
    }
    return sqrt(sum);
}

/* ---- one group ------------------------------------------------------------------------------- */

/* The group itself, or one inside its units. */
static int is_of(const struct matching *m, size_t group, size_t other)
{
    return other == group || m->s->groups[other].within == 1 + group;
}

static size_t end_of(const struct mc_unit_blocks *at)
{
    return at->base + (at->blocks - 1) * at->stride + at->k * at->m;
}

/* Does what the one moves hold values that the other moves? Places of one axis are apart. */
static int meet(const struct mc_placed_use *x, const struct mc_placed_use *y)
{
    const struct mc_use *u = x->use, *v = y->use;
    const int apart = u->dim == v->dim && (u->offset + u->count * u->repeat <= v->offset ||
                                           v->offset + v->count * v->repeat <= u->offset);

    return !apart && x->at.base < end_of(&y->at) && y->at.base < end_of(&x->at);
}

/* Another group of what the use moves waits for its turn in the sweep that goes forward. */
static int is_open(const struct matching *m, size_t use, size_t group)
{
    const size_t tensor = m->uses[use].use->index;
    int open = 0;

    for (size_t i = m->first[tensor]; m->known && i < m->first[tensor + 1]; i++)
        open |= !is_of(m, group, m->uses[i].group) && !m->known[m->uses[i].group] &&
                meet(&m->uses[use], &m->uses[i]);
    return open;
}

static int value_matrix(struct matching *m, size_t group, struct mc_error *err)
{
    const size_t K = m->s->groups[group].size;
    int rc = 0, all = 1; /* where nothing is known, everything counts */

    for (size_t i = 0; i < m->n_uses; i++)
        all &= m->uses[i].group != group || is_open(m, i, group);
    memset(m->value, 0, K * K * sizeof *m->value);
    for (size_t i = 0; i < m->n_uses && !rc; i++)
        if (m->uses[i].group == group && (all || !is_open(m, i, group))) {
            rearrange(m, i, m->s->n_groups);
            rc = mc_products_of_use(&m->uses[i].at, m->x, m->y, m->value, m->threads, err);
        }
    return rc;
}

/* The products of the units of groups inside the group's, and what their assignments add. */
static int value_inside(struct matching *m, size_t group, struct mc_error *err)
{
    const struct mc_group *groups = m->s->groups;
    struct mc_inside_weights w = {0};
    int rc = mc_inside_open(&m->inside, &m->nesting, group, err);

    if (!rc)
        rc = mc_inside_weights_open(&w, &m->inside, m->uses, m->n_uses, err);
    for (size_t i = 0; i < m->n_uses && !rc; i++)
        if (m->s->groups[m->uses[i].group].within == 1 + group) {
            const size_t is = m->uses[i].group;
            rearrange(m, i, group);
            mc_inside_weights_pack(&w, groups[is].unit, m->nesting.slot[is], &m->uses[i].at, m->x,
                                   m->y);
        }
    if (!rc)
        rc = mc_inside_match(&m->inside, mc_inside_weights_values, &w, m->p, m->value, m->threads,
                             err);
    mc_inside_weights_release(&w);
    return rc;
}

/* 1: the objective is greater by what the permutations of the group, and of those inside it, have
 * become. */
static int is_better(struct matching *m, size_t group)
{
    const double before = objective(m);
    size_t last = m->g->n_params;

    for (size_t i = 0; i < m->n_uses; i++) {
        const size_t tensor = m->uses[i].use->index;
        if (tensor != last && is_of(m, group, m->uses[i].group))
            m->of_tensor[last = tensor] = product_of_tensor(m, tensor, NULL);
    }
    return objective(m) > before + m->least;
}

/* The group becomes what was found; done again, what it was. With `units`, the group's permutation
 * that was found, those inside it likewise. Returns 1 where one is another now. */
static int exchange(struct matching *m, size_t group, const int32_t *units)
{
    const size_t bytes = m->s->groups[group].size * sizeof *m->kept;
    int changed = memcmp(m->found, m->p->perm[group], bytes) != 0;

    if (units)
        changed |= mc_inside_exchange(&m->inside, units, m->p);
    memcpy(m->kept, m->p->perm[group], bytes);
    memcpy(m->p->perm[group], m->found, bytes);
    memcpy(m->found, m->kept, bytes);
    return changed;
}

/* Take the best assignment: with those inside, and if that does not raise the objective,
 * without. */
static int step(struct matching *m, size_t group, struct mc_assignment *info, int *changed,
                struct mc_error *err)
{
    const size_t K = m->s->groups[group].size;
    const int32_t *perm = m->p->perm[group];
    int rc = 0;

    *changed = 0;
    for (int inside = m->nesting.slots[group] > 0; inside >= 0 && !*changed; inside--) {
        if ((rc = value_matrix(m, group, err)) || (inside && (rc = value_inside(m, group, err))) ||
            (rc = mc_assign_max(K, m->value, m->found, info, err)))
            break;
        *changed = exchange(m, group, inside ? m->found : NULL);
        if (is_better(m, group) || m->known)
            break;
        *changed = 0;
        (void)exchange(m, group, inside ? perm : NULL);
        (void)is_better(m, group);
        info->value = 0;
        for (size_t i = 0; i < K; i++)
            info->value += m->value[i * K + (size_t)perm[i]];
        info->gap = info->bound > info->value ? info->bound - info->value : 0;
    }
    mc_inside_release(&m->inside);
    for (size_t i = 0; m->known && i < m->s->n_groups; i++)
        if (is_of(m, group, i))
            m->known[i] = 1;
    return mc_fail_in(rc, err, "%s", m->s->groups[group].name);
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

static void shuffle(size_t n, size_t *order, uint64_t seed, size_t sweep)
{
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) { /* Fisher and Yates */
        struct mc_rng4 r = mc_rng(seed, MC_RNG_MATCH, (uint32_t)sweep, (uint32_t)i, 0);
        size_t k = mc_rng_below(r.v[0], (uint32_t)i), t = order[i - 1];
        order[i - 1] = order[k];
        order[k] = t;
    }
}

/* In the groups' order, but none before the one in whose units it lies. */
static void forward(const struct matching *m, size_t *order)
{
    const size_t n = m->s->n_groups;
    size_t placed = 0;

    while (placed < n)
        for (size_t i = 0; i < n; i++) {
            size_t is = 0, parent = !m->s->groups[i].within;
            for (size_t k = 0; k < placed; k++) {
                is |= order[k] == i;
                parent |= order[k] + 1 == m->s->groups[i].within;
            }
            if (!is && parent)
                order[placed++] = i;
        }
}

static double length(const struct mc_graph *g, const float *x)
{
    double sum = 0;

    for (size_t i = 0; i < g->P; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

static int begin(struct matching *m, struct mc_error *err)
{
    const struct mc_graph *g = m->g;
    size_t widest = 0, most = 0, at = 0, n = 0;
    int rc = mc_uses_in_order(m->s, g, &m->uses, &m->n_uses, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < m->n_uses; i++)
        if (!m->uses[i].use->is_stat && !is_statistic(&g->params[m->uses[i].use->index]))
            m->uses[n++] = m->uses[i];
    m->n_uses = n;
    for (size_t i = 0; i < m->n_uses; i++) {
        const struct mc_unit_blocks *u = &m->uses[i].at;
        most = u->k * u->m > most ? u->k * u->m : most;
    }
    for (size_t i = 0; i < m->s->n_groups; i++)
        widest = m->s->groups[i].size > widest ? m->s->groups[i].size : widest;
    if ((rc = mc_new(&m->first, g->n_params + 1, err)) || (rc = mc_new(&m->x, g->P, err)) ||
        (rc = mc_new(&m->y, g->P, err)) || (rc = mc_new(&m->of_tensor, g->n_params, err)) ||
        (rc = mc_new(&m->value, widest * widest, err)) || (rc = mc_new(&m->found, widest, err)) ||
        (rc = mc_new(&m->kept, widest, err)) ||
        (rc = mc_new_items(&m->room, most, sizeof(float), err)) ||
        (rc = mc_nesting_find(&m->nesting, m->s->groups, m->s->n_groups, err)))
        return rc;
    for (size_t i = 0; i < g->n_params; i++) {
        m->first[i] = at;
        while (at < m->n_uses && m->uses[at].use->index == i)
            at++;
    }
    m->first[g->n_params] = at;
    m->least = 1e-12 * length(g, m->a) * length(g, m->b);
    products(m);
    return 0;
}

static void release(struct matching *m)
{
    mc_nesting_release(&m->nesting);
    free(m->uses);
    free(m->first);
    free(m->x);
    free(m->y);
    free(m->room);
    free(m->of_tensor);
    free(m->value);
    free(m->found);
    free(m->kept);
}

/* Every group once. What the way forward finds is left again where it is not greater. */
static int sweep(struct matching *m, size_t *order, const struct mc_weight_match_opts *opts,
                 struct mc_weight_sweep *w, struct mc_assignment *info, struct mc_error *err)
{
    const double before = objective(m);
    struct mc_perm start = {0};
    int rc = mc_perm_init(&start, m->s, err);

    if (rc)
        return rc;
    mc_perm_copy(&start, m->p);
    if (opts->forward && w->sweep == 1) {
        forward(m, order);
        rc = mc_new(&m->known, m->s->n_groups, err);
    } else {
        shuffle(m->s->n_groups, order, opts->seed, w->sweep);
    }
    w->changed = 0;
    for (size_t i = 0; i < m->s->n_groups && !rc; i++) {
        int changed = 0;
        rc = step(m, order[i], &info[order[i]], &changed, err);
        w->changed += (size_t)changed;
    }
    if (m->known && objective(m) < before) {
        w->changed = 0;
        mc_perm_copy(m->p, &start);
        products(m);
    }
    free(m->known);
    m->known = NULL;
    mc_perm_release(&start);
    return rc;
}

int mc_weight_match(struct mc_perm *p, struct mc_assignment *info, const struct mc_symmetry *s,
                    const struct mc_graph *g, const float *a, const float *b,
                    const struct mc_weight_match_opts *opts, struct mc_error *err)
{
    struct matching m = {.s = s, .g = g, .a = a, .b = b, .p = p, .threads = opts->threads};
    struct mc_weight_sweep w = {0};
    size_t *order = NULL;
    int rc = mc_new(&order, s->n_groups, err);

    if (!m.threads)
        m.threads = omp_get_max_threads();
    if (!rc)
        rc = begin(&m, err);
    while (!rc) {
        w.objective = objective(&m);
        w.distance = distance(&m);
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
