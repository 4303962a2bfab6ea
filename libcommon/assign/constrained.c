/* SPDX-License-Identifier: Apache-2.0
 *
 * Constrained assignment by a search over the Lagrange multiplier. */
#include "libcommon/assign/constrained.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/sum.h"

#include <stdlib.h>
#include <string.h>

/* Limit on breakpoints. A few are enough in practice, but rounding can create new ones. The bound
 * is valid after any number. */
#define MAX_BREAKPOINTS 200
#define EXCHANGES_PER_UNIT 4 /* far more than any matrices needed; each costs n^2 steps */

struct problem {
    size_t n;
    const double *value, *constraint;
    double *mixed;  /* (n,n) value + multiplier * constraint */
    int32_t *trial; /* (n) */
    int32_t *over;  /* (n) the best known permutation that violates the constraint */
};

/* The value of a permutation, and its slack: by how much it satisfies the constraint. */
struct point {
    double value, slack;
};

static struct point evaluate(const struct problem *p, const int32_t *col)
{
    struct mc_sum value = {0, 0}, slack = {0, 0};

    for (size_t i = 0; i < p->n; i++) {
        size_t cell = i * p->n + (size_t)col[i];
        mc_sum_add(&value, p->value[cell]);
        mc_sum_add(&slack, p->constraint[cell]);
        mc_sum_add(&slack, -p->constraint[i * p->n + i]);
    }
    return (struct point){mc_sum_value(value), mc_sum_value(slack)};
}

/* Set p->mixed. Return 0 if a product overflows float64. */
static int mix(struct problem *p, double multiplier)
{
    for (size_t i = 0; i < p->n * p->n; i++) {
        p->mixed[i] = p->value[i] + multiplier * p->constraint[i];
        if (!isfinite(p->mixed[i]))
            return 0;
    }
    return 1;
}

static void keep(const struct problem *p, int32_t *col, struct point *best, struct point now)
{
    if (now.slack < 0 || now.value <= best->value)
        return;
    *best = now;
    memcpy(col, p->trial, p->n * sizeof *col);
}

/* Follow the breakpoints from p->over, the maximum without the constraint. col and best: the best
 * permutation that satisfies the constraint. bound: the minimum bound, found at `multiplier`. */
static int search(struct problem *p, int32_t *col, struct point *best, double *bound,
                  double *multiplier, struct mc_error *err)
{
    struct point over = evaluate(p, p->over), under = *best, now;
    int rc = mc_assign_max(p->n, p->constraint, p->trial, NULL, err);

    if (rc)
        return rc;
    now = evaluate(p, p->trial);
    keep(p, col, best, now);
    if (now.slack > under.slack)
        under = now;
    for (int i = 0; i < MAX_BREAKPOINTS; i++) {
        double m = (over.value - under.value) / (under.slack - over.slack);
        struct mc_assignment info;

        if (!(m > 0) || !mix(p, m))
            return 0;
        if ((rc = mc_assign_max(p->n, p->mixed, p->trial, &info, err)))
            return rc;
        now = evaluate(p, p->trial);
        keep(p, col, best, now);
        double worth = now.value + m * now.slack;
        if (worth + info.gap < *bound) {
            *bound = worth + info.gap;
            *multiplier = m;
        }
        if (worth <= under.value + m * under.slack)
            return 0;
        if (now.slack < 0) {
            over = now;
            memcpy(p->over, p->trial, p->n * sizeof *p->over);
        } else {
            under = now;
        }
    }
    return 0;
}

/* The change in value and slack if rows i and j exchange their columns. */
static struct point exchange_gain(const struct problem *p, const int32_t *col, size_t i, size_t j)
{
    size_t ii = i * p->n + (size_t)col[i], ij = i * p->n + (size_t)col[j];
    size_t jj = j * p->n + (size_t)col[j], ji = j * p->n + (size_t)col[i];
    const double *v = p->value, *c = p->constraint;

    return (struct point){v[ij] + v[ji] - v[ii] - v[jj], c[ij] + c[ji] - c[ii] - c[jj]};
}

static void exchange(int32_t *col, size_t i, size_t j)
{
    int32_t x = col[i];

    col[i] = col[j];
    col[j] = x;
}

/* Make p->trial satisfy the constraint by exchanges. Choose the cheapest exchange that is enough;
 * otherwise the one that loses least at the multiplier. Return 1 on success. */
static int repair(struct problem *p, double multiplier)
{
    for (size_t round = 0; round < p->n; round++) {
        struct point now = evaluate(p, p->trial);
        size_t pair[2] = {0, 0};
        double best = -INFINITY;
        int best_enough = 0;

        for (size_t i = 0; i < p->n; i++)
            for (size_t j = i + 1; j < p->n; j++) {
                struct point d = exchange_gain(p, p->trial, i, j);
                int enough = now.slack + d.slack >= 0;
                double merit = enough ? d.value : d.value + multiplier * d.slack;
                if (!(d.slack > 0) || enough < best_enough ||
                    (enough == best_enough && merit <= best))
                    continue;
                best_enough = enough;
                best = merit;
                pair[0] = i;
                pair[1] = j;
            }
        if (pair[0] == pair[1])
            return 0;
        exchange(p->trial, pair[0], pair[1]);
        if (best_enough && evaluate(p, p->trial).slack >= 0)
            return 1;
    }
    return 0;
}

/* Repeat the exchange of two units that gains most and satisfies the constraint. */
static void improve(const struct problem *p, int32_t *col, struct point *best)
{
    for (size_t round = 0; round < EXCHANGES_PER_UNIT * p->n; round++) {
        size_t pair[2] = {0, 0};
        double most = 0;

        for (size_t i = 0; i < p->n; i++)
            for (size_t j = i + 1; j < p->n; j++) {
                struct point d = exchange_gain(p, col, i, j);
                if (d.value > most && best->slack + d.slack >= 0) {
                    most = d.value;
                    pair[0] = i;
                    pair[1] = j;
                }
            }
        exchange(col, pair[0], pair[1]);
        struct point now = evaluate(p, col);
        if (now.slack < 0 || now.value <= best->value) { /* no gain, or only by rounding */
            exchange(col, pair[0], pair[1]);
            return;
        }
        *best = now;
    }
}

/* Improve the best permutation that satisfies the constraint. Repair and improve the one that
 * violates it, and keep the better result. */
static void close_gap(struct problem *p, int32_t *col, struct point *best, double multiplier)
{
    improve(p, col, best);
    memcpy(p->trial, p->over, p->n * sizeof *p->trial);
    if (!repair(p, multiplier))
        return;
    struct point now = evaluate(p, p->trial);
    improve(p, p->trial, &now);
    keep(p, col, best, now);
}

int mc_assign_constrained(size_t n, const double *value, const double *constraint, int32_t *col,
                          struct mc_constrained *info, struct mc_error *err)
{
    struct problem p = {.n = n, .value = value, .constraint = constraint};
    struct mc_constrained out = {0};
    struct point over, best;
    int rc = 0;

    if ((rc = mc_new_items(&p.mixed, n, n * sizeof *p.mixed, err)) ||
        (rc = mc_new(&p.trial, 2 * n, err)))
        goto out;
    p.over = p.trial + n;
    for (size_t i = 0; i < n * n && !rc; i++)
        if (!isfinite(constraint[i]))
            rc = mc_fail(err, MC_EINPUT, "the constraint has a value that is not finite");
    if (rc || (rc = mc_assign_max(n, value, p.over, &out.found, err)))
        goto out;
    over = evaluate(&p, p.over);
    out.free_value = over.value;
    out.free_slack = over.slack;
    if (over.slack >= 0) {
        memcpy(col, p.over, n * sizeof *col);
        out.slack = over.slack;
        goto out;
    }
    for (size_t i = 0; i < n; i++)
        col[i] = (int32_t)i;
    best = evaluate(&p, col);
    if ((rc = search(&p, col, &best, &out.found.bound, &out.multiplier, err)))
        goto out;
    close_gap(&p, col, &best, out.multiplier);
    out.slack = best.slack;
    out.found.value = best.value;
    out.found.gap = fmax(0, out.found.bound - best.value);
    out.found.bound = best.value + out.found.gap;
    out.found.n_ties = 0;
out:
    free(p.trial);
    free(p.mixed);
    if (!rc && info)
        *info = out;
    return rc;
}
