/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/permutation/joint_search.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/rng.h"
#include "libcommon/permutation/nested_matching.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_UNITS 5 /* units for which three networks have few (120) starts */
#define TOLERANCE 1e-12

struct search {
    const struct mc_joint *j;
    struct mc_nesting nesting;
    size_t first, slots;        /* the groups from `first` have matrices, one per slot */
    struct mc_joint_perm *now;  /* the current orders */
    struct mc_joint_perm best;  /* those of the best start */
    struct mc_perm move;        /* the orders of the networks that move */
    struct mc_assignment *info; /* (n_groups) */
    unsigned char *keep;        /* (n_groups) 1 for pairs: the identity */
    double **sum;               /* (n_groups) values of the current move, (n,n), or NULL */
    int32_t **order;            /* (K + 1,slots) the channels of `now` and of the move */
};

static size_t channels(const struct search *s, size_t slot)
{
    return mc_group_tap_units(s->j->groups, s->first + slot);
}

/* ---- one move -------------------------------------------------------------------------------- */

/* List the channels of the networks from k on, and of the move, K. */
static void list_channels(const struct search *s, size_t k)
{
    for (; k <= s->j->networks; k++)
        for (size_t i = 0; i < s->slots; i++)
            mc_nesting_of_taps(&s->nesting,
                               k < s->j->networks ? s->now->members[k].perm : s->move.perm,
                               s->first + i, s->order[k * s->slots + i]);
}

/* Add the matrix of networks a (rows) and b (columns) in their current orders. */
static void add_pair(const struct search *s, size_t slot, size_t a, size_t b)
{
    const size_t n = channels(s, slot), S = s->slots, K = s->j->networks;
    const int32_t *row = s->order[a * S + slot], *col = s->order[b * S + slot];
    const size_t pair = a < b ? mc_joint_pair(K, a, b) : mc_joint_pair(K, b, a);
    const double *value = s->j->value[pair * S + slot];
    double *sum = s->sum[s->first + slot];

    for (size_t c = 0; c < n; c++)
        for (size_t d = 0; d < n; d++)
            sum[c * n + d] += a < b ? value[(size_t)row[c] * n + (size_t)col[d]]
                                    : value[(size_t)col[d] * n + (size_t)row[c]];
}

/* Find the move that places networks `side` (columns) against networks `fixed` (rows); both are
 * bits. */
static int find_move(struct search *s, unsigned fixed, unsigned side, struct mc_error *err)
{
    list_channels(s, 0);
    for (size_t slot = 0; slot < s->slots; slot++) {
        const size_t n = channels(s, slot);
        memset(s->sum[s->first + slot], 0, n * n * sizeof(double));
        for (size_t a = 0; a < s->j->networks; a++)
            for (size_t b = 0; b < s->j->networks; b++)
                if ((fixed >> a & 1) && (side >> b & 1))
                    add_pair(s, slot, a, b);
    }
    mc_perm_reset(&s->move);
    return mc_match_group(&s->move, s->info, &s->nesting, (const double *const *)s->sum, s->keep, 0,
                          err);
}

/* The value of the move and that of the current orders. *scale bounds their rounding. */
static void worth(const struct search *s, double *value, double *current, double *scale)
{
    *value = *current = *scale = 0;
    list_channels(s, s->j->networks);
    for (size_t slot = 0; slot < s->slots; slot++) {
        const size_t n = channels(s, slot);
        const double *sum = s->sum[s->first + slot];
        const int32_t *to = s->order[s->j->networks * s->slots + slot];
        for (size_t c = 0; c < n; c++) {
            *value += sum[c * n + (size_t)to[c]];
            *current += sum[c * n + c];
            *scale += fabs(sum[c * n + (size_t)to[c]]) + fabs(sum[c * n + c]);
        }
    }
}

/* Move networks `side`. */
static int apply(struct search *s, unsigned side, struct mc_error *err)
{
    int rc = 0;

    for (size_t k = 0; k < s->j->networks && !rc; k++)
        if (side >> k & 1)
            rc = mc_perm_compose(&s->now->members[k], &s->move, err);
    return rc;
}

/* Move networks `side` against all others if that improves the objective. */
static int improve(struct search *s, unsigned side, int *improved, struct mc_error *err)
{
    const unsigned all = (1u << s->j->networks) - 1;
    double value, current, scale;
    int rc = find_move(s, all & ~side, side, err);

    if (rc)
        return rc;
    worth(s, &value, &current, &scale);
    if (!(value > current + TOLERANCE * scale))
        return 0;
    *improved = 1;
    return apply(s, side, err);
}

/* ---- the search ------------------------------------------------------------------------------ */

static double objective(const struct search *s)
{
    const size_t S = s->slots, K = s->j->networks;
    double sum = 0;

    list_channels(s, 0);
    for (size_t a = 0; a < K; a++)
        for (size_t b = a + 1; b < K; b++)
            for (size_t slot = 0; slot < S; slot++) {
                const size_t n = channels(s, slot);
                const double *value = s->j->value[mc_joint_pair(K, a, b) * S + slot];
                const int32_t *row = s->order[a * S + slot], *col = s->order[b * S + slot];
                for (size_t c = 0; c < n; c++)
                    sum += value[(size_t)row[c] * n + (size_t)col[c]];
            }
    return sum;
}

static void set_identity(const struct search *s)
{
    for (size_t k = 0; k < s->j->networks; k++)
        mc_perm_reset(&s->now->members[k]);
}

/* Assign every network to the reference alone. */
static int start_from_reference(struct search *s, size_t reference, struct mc_error *err)
{
    int rc = 0;

    set_identity(s);
    for (size_t k = 0; k < s->j->networks && !rc; k++)
        if (k != reference && !(rc = find_move(s, 1u << reference, 1u << k, err)))
            rc = apply(s, 1u << k, err);
    return rc;
}

struct draw {
    uint64_t seed;
    uint32_t a, b, c;
};

static void shuffle(struct draw *d, int32_t *x, size_t n)
{
    for (size_t i = n; i > 1; i--) { /* Fisher and Yates */
        struct mc_rng4 r = mc_rng(d->seed, MC_RNG_JOINT, d->a, d->b, d->c++);
        const size_t k = mc_rng_below(r.v[0], (uint32_t)i);
        const int32_t t = x[i - 1];
        x[i - 1] = x[k];
        x[k] = t;
    }
}

/* Set the order of every network but the first at random: its units, and the channels in each. */
static void start_from_random(const struct search *s, size_t start)
{
    const struct mc_joint *j = s->j;

    set_identity(s);
    for (size_t k = 1; k < j->networks; k++) {
        int32_t *const *perm = s->now->members[k].perm;
        struct draw d = {j->seed, j->number, (uint32_t)(start * MC_JOINT_MAX + k), 0};
        shuffle(&d, perm[0], j->groups[0].size);
        for (size_t i = 0; i + 1 < j->n_groups; i++) {
            const size_t unit = (size_t)perm[0][i / s->slots];
            const size_t g = mc_nesting_child(&s->nesting, 0, unit, i % s->slots);
            if (!s->keep[g])
                shuffle(&d, perm[g], j->groups[g].size);
        }
    }
}

/* Set the second network's order to permutation `start` of all; the ascent then assigns the third
 * exactly. */
static void start_from_every(const struct search *s, size_t start)
{
    int32_t *order = s->now->members[1].perm[0];

    set_identity(s);
    for (size_t i = s->j->groups[0].size; i > 1; i--) {
        const size_t k = start % i;
        const int32_t t = order[i - 1];
        order[i - 1] = order[k];
        order[k] = t;
        start /= i;
    }
}

/* Assign each network to the sum of the others, the last first, until none improves. */
static int ascend(struct search *s, struct mc_error *err)
{
    int improved = 1, rc = 0;

    while (improved && !rc) {
        improved = 0;
        for (size_t k = s->j->networks; k-- > 0 && !rc;)
            rc = improve(s, 1u << k, &improved, err);
    }
    return rc;
}

/* Move one side of every bipartition against the other, then each network, until none improves. The
 * first network is always on the fixed side. */
static int ascend_bipartitions(struct search *s, struct mc_error *err)
{
    int improved = 1, rc = 0;

    while (improved && !rc) {
        improved = 0;
        for (unsigned side = 2; side < 1u << s->j->networks && !rc; side += 2)
            rc = improve(s, side, &improved, err);
        if (improved && !rc)
            rc = ascend(s, err);
    }
    return rc;
}

static size_t factorial(size_t n)
{
    return n > 1 ? n * factorial(n - 1) : 1;
}

/* Ascend from every start, and by bipartitions from the best. */
static int search(struct search *s, struct mc_joint_result *result, struct mc_error *err)
{
    const size_t K = s->j->networks, n = s->j->groups[0].size;
    const int every = K == 3 && s->j->n_groups == 1 && n <= EXACT_UNITS;
    const size_t starts = K + (every ? factorial(n) : s->j->starts);
    int rc = 0;

    result->value = -INFINITY;
    for (size_t i = 0; i < starts; i++) {
        if (i < K && (rc = start_from_reference(s, i, err)))
            return rc;
        if (i >= K && every)
            start_from_every(s, i - K);
        else if (i >= K)
            start_from_random(s, i - K);
        if (i < K)
            result->reference[i] = objective(s);
        if ((rc = ascend(s, err)))
            return rc;
        const double value = objective(s);
        if (!(value <= result->value + TOLERANCE * fabs(value))) {
            result->value = value;
            mc_joint_perm_copy(&s->best, s->now);
        }
    }
    mc_joint_perm_copy(s->now, &s->best);
    if ((rc = ascend_bipartitions(s, err)))
        return rc;
    result->value = objective(s);
    return mc_joint_perm_follow_first(s->now, err);
}

/* The sum of the pairs' own optima: each pair alone, from the identity. */
static int sum_pairs(struct search *s, double *sum, struct mc_error *err)
{
    double value, current, scale;
    int rc = 0;

    *sum = 0;
    set_identity(s);
    for (size_t a = 0; a < s->j->networks; a++)
        for (size_t b = a + 1; b < s->j->networks; b++) {
            if ((rc = find_move(s, 1u << a, 1u << b, err)))
                return rc;
            worth(s, &value, &current, &scale);
            *sum += value;
        }
    return 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int open_search(struct search *s, const struct mc_joint *j, struct mc_joint_perm *now,
                       struct mc_error *err)
{
    int rc = mc_nesting_find(&s->nesting, j->groups, j->n_groups, err);

    s->j = j;
    s->now = now;
    s->first = j->n_groups > 1;
    s->slots = s->first ? s->nesting.slots[0] : 1;
    if (rc || (rc = mc_joint_perm_init(&s->best, j->networks, j->groups, j->n_groups, err)) ||
        (rc = mc_perm_identity(&s->move, j->groups, j->n_groups, err)) ||
        (rc = mc_new(&s->info, j->n_groups, err)) || (rc = mc_new(&s->keep, j->n_groups, err)) ||
        (rc = mc_new(&s->sum, j->n_groups, err)) ||
        (rc = mc_new(&s->order, (j->networks + 1) * s->slots, err)))
        return rc;
    for (size_t i = 0; i < j->n_groups; i++)
        s->keep[i] = (unsigned char)mc_allows_of_pairs(j->groups[i].allows);
    for (size_t i = 0; i < s->slots && !rc; i++)
        rc = mc_new(&s->sum[s->first + i], channels(s, i) * channels(s, i), err);
    for (size_t i = 0; i < (j->networks + 1) * s->slots && !rc; i++)
        rc = mc_new(&s->order[i], channels(s, i % s->slots), err);
    return rc;
}

static void close_search(struct search *s)
{
    for (size_t i = 0; s->sum && i < s->j->n_groups; i++)
        free(s->sum[i]);
    for (size_t i = 0; s->order && i < (s->j->networks + 1) * s->slots; i++)
        free(s->order[i]);
    mc_nesting_release(&s->nesting);
    mc_joint_perm_release(&s->best);
    mc_perm_release(&s->move);
    free(s->info);
    free(s->keep);
    free(s->sum);
    free(s->order);
}

int mc_joint_max(const struct mc_joint *joint, struct mc_joint_perm *orders,
                 struct mc_joint_result *result, struct mc_error *err)
{
    struct search s = {.j = joint};
    int rc = open_search(&s, joint, orders, err);

    if (!rc)
        rc = sum_pairs(&s, &result->pairs, err);
    if (!rc)
        rc = search(&s, result, err);
    close_search(&s);
    return rc;
}

int mc_joint_value(const struct mc_joint *joint, const struct mc_joint_perm *orders, double *value,
                   struct mc_error *err)
{
    struct mc_joint_perm now = *orders; /* stays unchanged */
    struct search s = {.j = joint};
    int rc = open_search(&s, joint, &now, err);

    if (!rc)
        *value = objective(&s);
    close_search(&s);
    return rc;
}
