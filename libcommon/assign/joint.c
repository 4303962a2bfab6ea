/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/assign/joint.h"

#include "libcommon/assign/assign.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_UNITS 5 /* units for which three networks have few (120) starts */
#define TOLERANCE 1e-12

struct search {
    const struct mc_joint *j;
    size_t width;      /* channels in a unit */
    int32_t **order;   /* (K,S) the current orders */
    double **sum;      /* (S) values of the current move, (n,n) */
    int32_t **to;      /* (S) the channel that moves to each place */
    double *submatrix; /* one pair of units in one slot */
    double *pair;      /* (U,U) */
    int32_t *inside;   /* (U,U,width) best orders of each pair's channels */
    int32_t *units;    /* (U) */
    int32_t *scratch;  /* the longest order */
};

static size_t channels(const struct mc_joint *j, size_t slot)
{
    return j->units * j->size[slot];
}

/* ---- one move -------------------------------------------------------------------------------- */

/* Add the matrix of networks a (rows) and b (columns) in their current orders. */
static void add_pair(const struct search *s, size_t slot, size_t a, size_t b)
{
    const struct mc_joint *j = s->j;
    const size_t n = channels(j, slot), S = j->slots, K = j->networks;
    const int32_t *row = s->order[a * S + slot], *col = s->order[b * S + slot];
    const size_t pair = a < b ? mc_joint_pair(K, a, b) : mc_joint_pair(K, b, a);
    const double *value = j->value[pair * S + slot];
    double *sum = s->sum[slot];

    for (size_t c = 0; c < n; c++)
        for (size_t d = 0; d < n; d++)
            sum[c * n + d] += a < b ? value[(size_t)row[c] * n + (size_t)col[d]]
                                    : value[(size_t)col[d] * n + (size_t)row[c]];
}

/* Set the values of placing networks `side` (columns) against networks `fixed` (rows); both are
 * bits. */
static void add_values(const struct search *s, unsigned fixed, unsigned side)
{
    const struct mc_joint *j = s->j;

    for (size_t slot = 0; slot < j->slots; slot++) {
        const size_t n = channels(j, slot);
        memset(s->sum[slot], 0, n * n * sizeof(double));
        for (size_t a = 0; a < j->networks; a++)
            for (size_t b = 0; b < j->networks; b++)
                if ((fixed >> a & 1) && (side >> b & 1))
                    add_pair(s, slot, a, b);
    }
}

/* Assign the channels of unit u (columns) to place h (rows). Adds the value to *value. */
static int assign_inside(const struct search *s, size_t h, size_t u, int32_t *best, double *value,
                         struct mc_error *err)
{
    int rc = 0;

    for (size_t slot = 0; slot < s->j->slots && !rc; slot++) {
        const size_t k = s->j->size[slot], n = channels(s->j, slot);
        struct mc_assignment found;
        for (size_t i = 0; i < k; i++)
            memcpy(s->submatrix + i * k, s->sum[slot] + (h * k + i) * n + u * k,
                   k * sizeof(double));
        if (!(rc = mc_assign_max(k, s->submatrix, best, &found, err)))
            *value += found.value;
        best += k;
    }
    return rc;
}

/* Set `to` to the order of maximum value: channels inside each pair of units, then the units. */
static int assign(const struct search *s, struct mc_error *err)
{
    const size_t U = s->j->units;
    int rc = 0;

    for (size_t i = 0; i < U * U && !rc; i++) {
        s->pair[i] = 0;
        rc = assign_inside(s, i / U, i % U, s->inside + i * s->width, &s->pair[i], err);
    }
    if (rc || (rc = mc_assign_max(U, s->pair, s->units, NULL, err)))
        return rc;
    for (size_t h = 0; h < U; h++) {
        const size_t u = (size_t)s->units[h];
        const int32_t *best = s->inside + (h * U + u) * s->width;
        for (size_t slot = 0; slot < s->j->slots; slot++) {
            const size_t k = s->j->size[slot];
            for (size_t i = 0; i < k; i++)
                s->to[slot][h * k + i] = (int32_t)(u * k) + *best++;
        }
    }
    return 0;
}

/* The value of the assignment `to` and that of the current orders. *scale bounds their rounding. */
static void worth(const struct search *s, double *value, double *current, double *scale)
{
    *value = *current = *scale = 0;
    for (size_t slot = 0; slot < s->j->slots; slot++) {
        const size_t n = channels(s->j, slot);
        const double *sum = s->sum[slot];
        for (size_t c = 0; c < n; c++) {
            *value += sum[c * n + (size_t)s->to[slot][c]];
            *current += sum[c * n + c];
            *scale += fabs(sum[c * n + (size_t)s->to[slot][c]]) + fabs(sum[c * n + c]);
        }
    }
}

/* Move networks `side` by the assignment. */
static void apply(const struct search *s, unsigned side)
{
    const size_t S = s->j->slots;

    for (size_t i = 0; i < s->j->networks * S; i++) {
        const size_t n = channels(s->j, i % S);
        if (!(side >> (i / S) & 1))
            continue;
        memcpy(s->scratch, s->order[i], n * sizeof *s->scratch);
        for (size_t c = 0; c < n; c++)
            s->order[i][c] = s->scratch[s->to[i % S][c]];
    }
}

/* Place networks `side` against networks `fixed` by an exact assignment. */
static int place(const struct search *s, unsigned fixed, unsigned side, struct mc_error *err)
{
    int rc = 0;

    add_values(s, fixed, side);
    if (!(rc = assign(s, err)))
        apply(s, side);
    return rc;
}

/* Move networks `side` against all others if that improves the objective. */
static int improve(const struct search *s, unsigned side, int *improved, struct mc_error *err)
{
    const unsigned all = (1u << s->j->networks) - 1;
    double value, current, scale;
    int rc = 0;

    add_values(s, all & ~side, side);
    if ((rc = assign(s, err)))
        return rc;
    worth(s, &value, &current, &scale);
    if (value > current + TOLERANCE * scale) {
        apply(s, side);
        *improved = 1;
    }
    return 0;
}

/* ---- the search ------------------------------------------------------------------------------ */

double mc_joint_value(const struct mc_joint *j, const int32_t *const *order)
{
    const size_t S = j->slots, K = j->networks;
    double sum = 0;

    for (size_t a = 0; a < K; a++)
        for (size_t b = a + 1; b < K; b++)
            for (size_t slot = 0; slot < S; slot++) {
                const size_t n = channels(j, slot);
                const double *value = j->value[mc_joint_pair(K, a, b) * S + slot];
                for (size_t c = 0; c < n; c++)
                    sum +=
                        value[(size_t)order[a * S + slot][c] * n + (size_t)order[b * S + slot][c]];
            }
    return sum;
}

static double objective(const struct search *s)
{
    return mc_joint_value(s->j, (const int32_t *const *)s->order);
}

static void set_identity(const struct search *s)
{
    for (size_t i = 0; i < s->j->networks * s->j->slots; i++)
        for (size_t c = 0; c < channels(s->j, i % s->j->slots); c++)
            s->order[i][c] = (int32_t)c;
}

/* Assign every network to the reference alone. */
static int start_from_reference(const struct search *s, size_t reference, struct mc_error *err)
{
    int rc = 0;

    set_identity(s);
    for (size_t k = 0; k < s->j->networks && !rc; k++)
        if (k != reference)
            rc = place(s, 1u << reference, 1u << k, err);
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
    const size_t U = j->units, S = j->slots;

    set_identity(s);
    for (size_t k = 1; k < j->networks; k++) {
        struct draw d = {j->seed, j->group, (uint32_t)(start * MC_JOINT_MAX + k), 0};
        for (size_t h = 0; h < U; h++)
            s->units[h] = (int32_t)h;
        shuffle(&d, s->units, U);
        for (size_t i = 0; i < U * S; i++) {
            const size_t h = i / S, n = j->size[i % S];
            int32_t *order = s->order[k * S + i % S] + h * n;
            for (size_t c = 0; c < n; c++)
                order[c] = s->units[h] * (int32_t)n + (int32_t)c;
            shuffle(&d, order, n);
        }
    }
}

/* Set the second network's order to permutation `start` of all; the ascent then assigns the third
 * exactly. */
static void start_from_every(const struct search *s, size_t start)
{
    const size_t n = s->j->size[0];
    int32_t *order = s->order[1];

    set_identity(s);
    for (size_t i = n; i > 1; i--) {
        const size_t k = start % i;
        const int32_t t = order[i - 1];
        order[i - 1] = order[k];
        order[k] = t;
        start /= i;
    }
}

/* Assign each network to the sum of the others, the last first, until none improves. */
static int ascend(const struct search *s, struct mc_error *err)
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
static int ascend_bipartitions(const struct search *s, struct mc_error *err)
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

static void copy_orders(const struct search *s, int32_t *const *to, int32_t *const *from)
{
    for (size_t i = 0; i < s->j->networks * s->j->slots; i++)
        memcpy(to[i], from[i], channels(s->j, i % s->j->slots) * sizeof **to);
}

static size_t factorial(size_t n)
{
    return n > 1 ? n * factorial(n - 1) : 1;
}

/* Ascend from every start. best: the orders of the maximum. */
static int search(const struct search *s, int32_t *const *best, struct mc_joint_result *result,
                  struct mc_error *err)
{
    const struct mc_joint *j = s->j;
    const size_t K = j->networks, n = j->size[0];
    const int every = K == 3 && j->units == 1 && j->slots == 1 && n <= EXACT_UNITS;
    const size_t starts = K + (every ? factorial(n) : j->starts);
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
            copy_orders(s, best, s->order);
        }
    }
    copy_orders(s, s->order, best);
    if ((rc = ascend_bipartitions(s, err)))
        return rc;
    result->value = objective(s);
    copy_orders(s, best, s->order);
    return 0;
}

/* Renumber the places so that the first network's order is the identity. */
static void follow_first(const struct search *s, int32_t *const *order)
{
    const size_t S = s->j->slots;

    for (size_t i = s->j->networks * S; i-- > 0;) {
        const size_t n = channels(s->j, i % S);
        const int32_t *first = s->order[i % S];
        for (size_t c = 0; c < n; c++)
            order[i][first[c]] = s->order[i][c];
    }
}

/* The sum of the pairs' own optima: each pair alone, from the identity. */
static int sum_pairs(const struct search *s, double *sum, struct mc_error *err)
{
    double value, current, scale;
    int rc = 0;

    *sum = 0;
    set_identity(s);
    for (size_t a = 0; a < s->j->networks; a++)
        for (size_t b = a + 1; b < s->j->networks; b++) {
            add_values(s, 1u << a, 1u << b);
            if ((rc = assign(s, err)))
                return rc;
            worth(s, &value, &current, &scale);
            *sum += value;
        }
    return 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int open_search(struct search *s, const struct mc_joint *j, struct mc_error *err)
{
    const size_t KS = j->networks * j->slots;
    size_t longest = 0, widest = 0;
    int rc = 0;

    for (size_t i = 0; i < j->slots; i++) {
        s->width += j->size[i];
        longest = channels(j, i) > longest ? channels(j, i) : longest;
        widest = j->size[i] > widest ? j->size[i] : widest;
    }
    if ((rc = mc_new(&s->order, KS, err)) || (rc = mc_new(&s->sum, j->slots, err)) ||
        (rc = mc_new(&s->to, j->slots, err)) ||
        (rc = mc_new(&s->submatrix, widest * widest, err)) ||
        (rc = mc_new(&s->pair, j->units * j->units, err)) ||
        (rc = mc_new(&s->inside, j->units * j->units * s->width, err)) ||
        (rc = mc_new(&s->units, j->units, err)) || (rc = mc_new(&s->scratch, longest, err)))
        return rc;
    for (size_t i = 0; i < KS && !rc; i++)
        rc = mc_new(&s->order[i], channels(j, i % j->slots), err);
    for (size_t i = 0; i < j->slots && !rc; i++)
        if (!(rc = mc_new(&s->sum[i], channels(j, i) * channels(j, i), err)))
            rc = mc_new(&s->to[i], channels(j, i), err);
    return rc;
}

static void close_search(struct search *s)
{
    for (size_t i = 0; s->order && i < s->j->networks * s->j->slots; i++)
        free(s->order[i]);
    for (size_t i = 0; i < s->j->slots; i++) {
        if (s->sum)
            free(s->sum[i]);
        if (s->to)
            free(s->to[i]);
    }
    free(s->order);
    free(s->sum);
    free(s->to);
    free(s->submatrix);
    free(s->pair);
    free(s->inside);
    free(s->units);
    free(s->scratch);
}

int mc_joint_max(const struct mc_joint *joint, int32_t *const *order,
                 struct mc_joint_result *result, struct mc_error *err)
{
    struct search s = {.j = joint};
    int rc = open_search(&s, joint, err);

    if (!rc)
        rc = sum_pairs(&s, &result->pairs, err);
    if (!rc)
        rc = search(&s, order, result, err);
    if (!rc)
        follow_first(&s, order);
    close_search(&s);
    return rc;
}
