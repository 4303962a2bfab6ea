/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear assignment (Jonker and Volgenant 1987) on fixed-point costs: cost = (row's maximum -
 * value) * unit, rounded to an integer. A coarse grid has 26 bits in int32; the whole algorithm
 * runs on it in vector scans. A fine grid has 50 bits in float64; on it the coarse duals are made
 * feasible and the assignment optimal. All sums are exact integers, so every instruction set
 * returns the same permutation. If too many costs are small on these grids, the assignment must be
 * proven, or wide.c solves it again.
 *
 * No overflow: let C bound the costs. A free column k keeps its dual from column reduction, which
 * is in [0,C]. A row i matched to j is tight and feasible at k, so v[j] >= v[k] - C >= -C. Duals
 * only decrease, so v[j] <= C. Hence |u|, |v| <= C, and every c-v-h is within 5C. Coarse costs are
 * doubled, so C = 2^27; the lowest bit marks a matched column, so that a free one wins a tie.
 * Searched columns and padding get the dual BARRED and the distance SEARCHED, which no scan can
 * change again: c-BARRED-h is in [7C,12C], below 2^31. Fine duals start in [-C,C] and decrease
 * little, those of free columns too: |v| <= 2C, and c-v-h is within 7C = 7*2^50, exact in float64.
 * On the fine grid a half marks a matched column, and a searched one gets infinities. */
#include "libcommon/assign/assign.h"
#include "libcommon/assign/loops.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/isa.h"
#include "libcommon/base/sum.h"

#include <stdlib.h>

enum {
    BARRED = -(1 << 30),
    SEARCHED = 6 << 27,
    SMALL = 64,       /* up to this size the fine grid alone is faster */
    BID_SCANS = 4,    /* mean number of scans per row that a round of bidding may use */
    REPAIR_SCANS = 8, /* the same for the repair of the duals */
    TIE_UNITS = 16,   /* reduced costs up to this count as 0, in fine units: 2^-46 of the range */
};

/* Allocate all arrays in one slab, which starts at w->high; -1: out of memory, or too large. */
static int work_alloc(struct mc_assign_work *w, size_t n)
{
    double **const floats[] = {&w->high, &w->v, &w->d, &w->low, &w->saved};
    int32_t **const integers[] = {&w->cv,  &w->cd,       &w->from, &w->c_saved, &w->col,
                                  &w->row, &w->free_row, &w->list, &w->mark};
    enum { REALS = sizeof floats / sizeof *floats, INTS = sizeof integers / sizeof *integers };
    const size_t ld = (n + LANES - 1) / LANES * LANES;

    if (n >= INT32_MAX || ld > SIZE_MAX / 8 / (n + 64)) /* no size below overflows */
        return -1;
    double *real = mc_alloc_large((REALS * ld + ld + LANES) * sizeof *real +
                                  (INTS * ld + n * ld + 1) * sizeof(int32_t));
    if (!real)
        return -1;
    for (int k = 0; k < REALS; k++, real += ld)
        *floats[k] = real;
    w->first = (size_t *)real;
    w->c = (int32_t *)(w->first + ld + LANES);
    for (int k = 0; k < INTS; k++, w->c += ld)
        *integers[k] = w->c;
    w->n = n;
    w->ld = ld;
    return 0;
}

/* ---- the coarse grid ------------------------------------------------------------------------- */

/* Match each free row to its best column, and subtract from the column's dual the gap to the row's
 * second-best reduced cost. If the gap is positive, a row that loses its column bids next. Return
 * the number of rows left free. */
INLINE size_t coarse_bid(struct mc_assign_work *w, size_t n_free)
{
    size_t left = 0, budget = BID_SCANS * w->n;

    for (size_t k = 0; k < n_free; k++) {
        int32_t i = w->free_row[k];
        while (i >= 0) {
            int32_t slack;
            const int32_t j = least2(w, (size_t)i, &slack), out = w->row[j];
            if (out >= 0 && (!slack || !budget)) {
                w->free_row[left++] = i;
                break;
            }
            budget -= budget > 0;
            if (out < 0)
                w->cv[j]--;
            else
                w->col[out] = -1;
            w->cv[j] -= slack;
            w->col[i] = j;
            w->row[j] = i;
            i = out;
        }
    }
    return left;
}

/* Augment along the shortest path from row `start`. */
INLINE void coarse_augment(struct mc_assign_work *w, size_t start)
{
    size_t i = start, j;
    int32_t h = 0, least;

    for (j = 0; j < w->ld; j++) {
        w->cd[j] = SEARCHED;
        w->c_saved[j] = BARRED;
    }
    for (;;) {
        j = relax(w, i, h);
        least = w->cd[j] & UNMARKED;
        if (w->row[j] < 0)
            break;
        i = (size_t)w->row[j];
        h = w->c[i * w->ld + j] - (w->cv[j] + 1) - least;
        w->c_saved[j] = w->cv[j] + least; /* the new dual plus the path's length */
        w->cv[j] = BARRED;
        w->cd[j] = SEARCHED;
    }
#pragma omp simd
    for (size_t k = 0; k < w->n; k++) /* BARRED - least is below every dual */
        w->cv[k] = MAX(w->cv[k], w->c_saved[k] - least);
    w->cv[j]--;
    mc_assign_flip_path(w, j, start);
}

/* Column reduction, bidding, shortest augmenting paths. */
INLINE void coarse_solve(struct mc_assign_work *w)
{
    size_t n_free = w->n;

    w->exact = 1;
    for (size_t j = 0; j < w->ld; j++)
        w->cv[j] = j < w->n ? INT32_MAX : BARRED;
    for (size_t i = 0; i < w->n; i++)
        w->exact &= coarse_costs(w, i);
    for (size_t j = 0; j < w->n; j++)
        w->low[j] = (w->cv[j] / 2 + 1) * (double)COARSE; /* rounded up */
    for (int round = 0; round < 2; round++)
        n_free = coarse_bid(w, n_free);
    for (size_t k = 0; k < n_free; k++)
        coarse_augment(w, (size_t)w->free_row[k]);
    for (size_t j = 0; j < w->n; j++)
        w->v[j] = (w->cv[j] + 1) / 2 * (double)COARSE;
}

/* ---- the fine grid --------------------------------------------------------------------------- */

static double fine_cost(const struct mc_assign_work *w, size_t i, size_t j)
{
    return FINE(w->value[i * w->n + j], w->unit, w->high[i] * w->unit);
}

/* Return the dual of matched row i that makes its matched entry tight. */
static double fine_u(const struct mc_assign_work *w, size_t i)
{
    size_t j = (size_t)w->col[i];

    return fine_cost(w, i, j) - w->v[j];
}

/* Make the coarse duals feasible on the fine grid, where they are off by up to one coarse unit.
 * Lower them until all rows are tight (Bellman-Ford). If the coarse optimum is not the fine one,
 * this never ends, so a budget limits it. Rows that may not be tight then become free. Return their
 * number. */
INLINE size_t fine_repair(struct mc_assign_work *w)
{
    const size_t n = w->n;
    int32_t *loose = w->mark;
    size_t n_loose = n, budget = REPAIR_SCANS * n, n_free = 0;

    for (size_t i = 0; i < n; i++)
        loose[i] = 1;
    for (size_t i = 0; n_loose && budget; i = i + 1 < n ? i + 1 : 0) {
        if (!loose[i])
            continue;
        loose[i] = 0;
        n_loose--;
        budget--;
        const double u = fine_u(w, i);
        const size_t lowered = fine_columns(w, i, u - 1, w->list, NULL, NULL);
        for (size_t k = 0; k < lowered; k++) {
            const size_t j = (size_t)w->list[k], r = (size_t)w->row[j];
            w->v[j] = fine_cost(w, i, j) - u;
            n_loose += !loose[r];
            loose[r] = 1;
        }
    }
    for (size_t i = 0; i < n; i++)
        if (loose[i]) {
            w->row[w->col[i]] = -1;
            w->col[i] = -1;
            w->free_row[n_free++] = (int32_t)i;
        }
    return n_free;
}

/* Set each column's dual to its minimum cost. */
INLINE void fine_start(struct mc_assign_work *w)
{
    double *v = w->v;

    for (size_t i = 0; i < w->n; i++) {
        const double *x = w->value + i * w->n, unit = w->unit, top = w->high[i] * unit;
#pragma omp simd
        for (size_t j = 0; j < w->n; j++) {
            const double cost = FINE(x[j], unit, top);
            v[j] = i && v[j] < cost ? v[j] : cost;
        }
    }
    memcpy(w->low, v, w->n * sizeof *v);
}

/* Do the same as coarse_augment. Here the marks of matched columns are in v. */
INLINE void fine_augment(struct mc_assign_work *w, size_t start)
{
    size_t i = start, j;
    double h = 0, least;

    for (j = 0; j < w->n; j++) {
        w->d[j] = INFINITY;
        w->saved[j] = -INFINITY;
    }
    for (;;) {
        j = fine_relax(w, i, h);
        least = w->d[j];
        if (w->row[j] < 0)
            break;
        least -= .5;
        i = (size_t)w->row[j];
        h = fine_cost(w, i, j) - (w->v[j] + .5) - least;
        w->saved[j] = w->v[j] + least;
        w->v[j] = -INFINITY;
        w->d[j] = INFINITY;
    }
#pragma omp simd
    for (size_t k = 0; k < w->n; k++)
        w->v[k] = MAX(w->v[k], w->saved[k] - least);
    w->v[j] -= .5;
    mc_assign_flip_path(w, j, start);
}

INLINE void fine_solve(struct mc_assign_work *w, size_t n_free)
{
    for (size_t j = 0; j < w->n; j++)
        w->v[j] -= w->row[j] >= 0 ? .5 : 0;
    for (size_t k = 0; k < n_free; k++)
        fine_augment(w, (size_t)w->free_row[k]);
    for (size_t j = 0; j < w->n; j++)
        w->v[j] += .5;
}

/* ---- the certificate ------------------------------------------------------------------------- */

/* Count the rows on a cycle of tight entries, which another optimal assignment matches differently.
 * They are the rows in strongly connected components (Tarjan) of more than one row. The edges of
 * row i are the columns c[first[i]..first[i+1]). A row whose component is complete has low INT32_MAX
 * and lowers no other. */
static size_t count_ties(struct mc_assign_work *w)
{
    int32_t *order = w->mark, *low = w->list, *stack = w->cd, *path = w->free_row;
    int32_t *next = w->from; /* number of edges followed from a row */
    size_t n_stack = 0, ties = 0;
    int32_t clock = 0;

    memset(low, 0, w->n * sizeof *low);
    memset(next, 0, w->n * sizeof *next);
    for (size_t root = 0; root < w->n; root++) {
        path[0] = (int32_t)root;
        for (size_t n_path = !low[root]; n_path;) {
            const size_t i = (size_t)path[n_path - 1];
            const int32_t *edge = w->c + w->first[i], *end = w->c + w->first[i + 1];
            int32_t to = 0;
            if (!low[i]) {
                order[i] = low[i] = ++clock;
                stack[n_stack++] = (int32_t)i;
            }
            for (edge += next[i]; edge < end && low[to = w->row[*edge]]; edge++, next[i]++)
                low[i] = MIN(low[i], low[to]);
            if (edge < end) { /* follow it, and read low[to] when it is final */
                path[n_path++] = to;
                continue;
            }
            n_path--;
            const size_t top = n_stack;
            if (low[i] == order[i]) {
                do
                    low[stack[--n_stack]] = INT32_MAX;
                while ((size_t)stack[n_stack] != i);
                ties += top - n_stack > 1 ? top - n_stack : 0;
            }
        }
    }
    return ties;
}

/* Set value, bound and gap, and the tight columns of each row. The bound is the sum of the rows'
 * maxima of value[i][j] + v[j], minus the sum of v. So the gap is the sum over rows of the maximum
 * minus the matched entry. Return 1 if at least half of the costs are FAR above the minimum of their
 * column: then the assignment is optimal (wide.c). */
INLINE int certify(struct mc_assign_work *w, struct mc_assignment *info)
{
    struct mc_sum value = {0, 0}, gap = {0, 0};
    size_t edges = 0, far = 0;

    for (size_t i = 0; i < w->n; i++) {
        size_t j = (size_t)w->col[i];
        double worth = w->value[i * w->n + j] * w->unit, best;
        w->first[i] = edges;
        edges += fine_columns(w, i, fine_u(w, i) + TIE_UNITS, w->c + edges, &best, &far);
        mc_sum_add(&value, worth);
        mc_sum_add(&gap, best - (worth + w->v[j]));
    }
    w->first[w->n] = edges;
    info->value = ldexp(mc_sum_value(value), w->exponent - FINE_BITS);
    info->gap = ldexp(mc_sum_value(gap), w->exponent - FINE_BITS);
    info->bound = info->value + info->gap;
    return far >= (w->n_rows * w->n + 1) / 2;
}

/* ---- the whole ------------------------------------------------------------------------------- */

INLINE int solve(struct mc_assign_work *w, struct mc_assignment *info, struct mc_error *err)
{
    const size_t n = w->n;
    size_t n_free = n;
    int rc = measure(w, err);

    if (rc)
        return rc;
    for (size_t k = 0; k < n; k++) {
        w->col[k] = w->row[k] = -1;
        w->free_row[k] = (int32_t)k;
    }
    if (n > SMALL) {
        coarse_solve(w);
        n_free = w->exact ? 0 : fine_repair(w);
    } else {
        fine_start(w);
    }
    fine_solve(w, n_free);
    return certify(w, info) ? 0 : mc_assign_prove(w, info, err);
}

#ifdef __x86_64__
static __attribute__((target("avx2"))) int
avx2_solve(struct mc_assign_work *w, struct mc_assignment *info, struct mc_error *err)
{
    return solve(w, info, err);
}
#endif

int mc_assign_max(size_t n, const double *value, int32_t *col, struct mc_assignment *info,
                  struct mc_error *err)
{
    struct mc_assign_work w = {.value = value};
    struct mc_assignment found = {0};
    enum mc_isa isa;
    int rc = mc_isa(&isa, err);

    if (rc)
        return rc;
    if (work_alloc(&w, n))
        return mc_fail(err, MC_ENOMEM, "out of memory for an assignment of %zu rows", n);
#ifdef __x86_64__
    if (isa >= MC_ISA_AVX2)
        rc = avx2_solve(&w, &found, err);
    else
#endif
        rc = solve(&w, &found, err);
    if (!rc && info) {
        found.n_ties = count_ties(&w);
        *info = found;
    }
    for (size_t i = 0; !rc && i < n; i++)
        col[i] = w.col[i];
    free(w.high);
    return rc;
}
