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
 * Searched columns get the dual BARRED and the distance SEARCHED, which no scan can change again:
 * c-BARRED-h is in [7C,12C], below 2^31. Fine duals start in [-C,C] and decrease little, those of
 * free columns too: |v| <= 2C, and c-v-h is within 7C = 7*2^50, exact in float64. On the fine grid
 * a half marks a matched column. */
#include "libcommon/assign/assign.h"
#include "libcommon/assign/loops_table.h"
#include "libcommon/assign/wide.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COARSE_BITS = 26,
    FINE_BITS = 50,
    BARRED = -(1 << 30),
    SEARCHED = 6 << 27,
    SMALL = 64,       /* up to this size the fine grid alone is faster */
    BID_SCANS = 4,    /* mean number of scans per row that a round of bidding may use */
    REPAIR_SCANS = 8, /* the same for the repair of the duals */
    FAR = 1000000001, /* in fine units; the coarse unit is 2^24 fine units */
    TIE_UNITS = 16,   /* reduced costs up to this count as 0, in fine units: 2^-46 of the range */
};

struct work {
    const struct mc_assign_loops *scan;
    size_t n, ld;
    const double *value;
    int exponent;   /* the maximum range of a row is in [2^(exponent-1), 2^exponent) */
    size_t n_rows;  /* rows whose values differ; all costs in the other rows are 0 */
    int exact;      /* the coarse grid represents every cost exactly */
    int proven;     /* at least half of the costs are FAR: the assignment is optimal (wide.h) */
    double unit;    /* fine units in 1 */
    double *high;   /* (n) maximum of each row */
    double *v;      /* (n) fine duals of the columns */
    double *d;      /* (n) fine distances */
    double *done_v; /* (n) duals of the searched columns */
    double *done_d;
    size_t *first;     /* (n+1) index of each row's first tight column */
    int32_t *c;        /* (n,ld) coarse costs, doubled; later (n^2 + 1) tight columns of all rows */
    int32_t *cv;       /* (ld) coarse duals, doubled, less 1 where the column is matched */
    int32_t *cd;       /* (ld) coarse distances */
    int32_t *col_min;  /* (ld) */
    int32_t *col_row;  /* (ld) */
    int32_t *from;     /* (ld) row from which a column was reached */
    int32_t *closed;   /* (n) searched columns */
    int32_t *col;      /* (n) column of each row, or -1 */
    int32_t *row;      /* (n) row of each column, or -1 */
    int32_t *free_row; /* (n) */
    int32_t *list;     /* (n) */
    int32_t *mark;     /* (n) */
    void *slab;
};

/* Return count * size, rounded up to a multiple of 64. */
static size_t aligned_size(size_t count, size_t size)
{
    return (count * size + 63) / 64 * 64;
}

/* Allocate all arrays in one slab; -1: out of memory, or too large. */
static int work_alloc(struct work *w, size_t n)
{
    enum { DOUBLES = 5, PADDED = 5, INTS = 6 };
    double **doubles[DOUBLES] = {&w->high, &w->v, &w->d, &w->done_v, &w->done_d};
    int32_t **padded[PADDED] = {&w->cv, &w->cd, &w->col_min, &w->col_row, &w->from};
    int32_t **ints[INTS] = {&w->closed, &w->col, &w->row, &w->free_row, &w->list, &w->mark};
    const size_t ld = (n + MC_ASSIGN_LANES - 1) / MC_ASSIGN_LANES * MC_ASSIGN_LANES;

    if (n >= INT32_MAX || ld > SIZE_MAX / 8 / (n + 1)) /* ensures that no size below overflows */
        return -1;
    const size_t cells = aligned_size(n * ld + 1, sizeof *w->c),
                 first = aligned_size(n + 1, sizeof *w->first);
    const size_t total = cells + first + DOUBLES * aligned_size(n, sizeof(double)) +
                         PADDED * aligned_size(ld, sizeof(int32_t)) +
                         INTS * aligned_size(n, sizeof(int32_t));
    char *cursor = w->slab = mc_alloc_large(total);
    if (!cursor)
        return -1;
    w->c = (int32_t *)cursor;
    w->first = (size_t *)(cursor += cells);
    cursor += first;
    for (int i = 0; i < DOUBLES; i++, cursor += aligned_size(n, sizeof(double)))
        *doubles[i] = (double *)cursor;
    for (int i = 0; i < PADDED; i++, cursor += aligned_size(ld, sizeof(int32_t)))
        *padded[i] = (int32_t *)cursor;
    for (int i = 0; i < INTS; i++, cursor += aligned_size(n, sizeof(int32_t)))
        *ints[i] = (int32_t *)cursor;
    w->n = n;
    w->ld = ld;
    return 0;
}

/* ---- the coarse grid ------------------------------------------------------------------------- */

/* Clear the bit that marks a matched column. */
static int32_t unmarked(int32_t x)
{
    return x & ~1;
}

static void coarse_match(struct work *w, size_t i, size_t j)
{
    w->col[i] = (int32_t)j;
    w->row[j] = (int32_t)i;
}

/* Match each column to the first row of minimum cost if that row is free. Then lower the dual of
 * each column whose row is best for no other column, until the row has a second tight column.
 * Return the number of free rows. */
static size_t coarse_reduce(struct work *w)
{
    const size_t n = w->n, ld = w->ld;
    int32_t *n_best = w->mark, best[3];
    size_t n_free = 0;

    w->exact = 1;
    for (size_t j = 0; j < ld; j++) {
        w->col_min[j] = INT32_MAX;
        w->cv[j] = BARRED;
    }
    memset(w->col_row, 0, ld * sizeof *w->col_row);
    for (size_t i = 0; i < n; i++) {
        double unit = ldexp(w->unit, COARSE_BITS - FINE_BITS);
        w->exact &= w->scan->coarse(n, w->value + i * n, unit, w->high[i] * unit, (int32_t)i,
                                    w->c + i * ld, w->col_min, w->col_row);
        memset(w->c + i * ld + n, 0, (ld - n) * sizeof *w->c);
        n_best[i] = 0;
        w->col[i] = -1;
    }
    for (size_t j = 0; j < n; j++) {
        size_t i = (size_t)w->col_row[j];
        w->row[j] = -1;
        w->cv[j] = w->col_min[j];
        if (!n_best[i]++) {
            coarse_match(w, i, j);
            w->cv[j]--;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (!n_best[i])
            w->free_row[n_free++] = (int32_t)i;
        if (n_best[i] != 1)
            continue;
        w->scan->least2(ld, w->c + i * ld, w->cv, best);
        w->cv[w->col[i]] -= unmarked(best[1] == w->col[i] ? best[2] : best[0]);
    }
    return n_free;
}

/* Match each free row to its best column, and subtract from the column's dual the gap to the row's
 * second-best reduced cost. If the gap is positive, a row that loses its column bids next. Return
 * the number of rows left free. */
static size_t coarse_bid(struct work *w, size_t n_free)
{
    size_t left = 0, budget = BID_SCANS * w->n;
    int32_t best[3];

    for (size_t k = 0; k < n_free; k++) {
        int32_t i = w->free_row[k];
        while (i >= 0) {
            w->scan->least2(w->ld, w->c + (size_t)i * w->ld, w->cv, best);
            size_t j = (size_t)best[1];
            int32_t out = w->row[j], slack = unmarked(best[2]) - unmarked(best[0]);
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
            coarse_match(w, (size_t)i, j);
            i = out;
        }
    }
    return left;
}

/* Augment along the shortest path from row `start`. */
static void coarse_augment(struct work *w, size_t start)
{
    const size_t ld = w->ld;
    size_t n_closed = 0, i = start, j;
    int32_t h = 0, least;

    for (j = 0; j < ld; j++)
        w->cd[j] = SEARCHED;
    for (;;) {
        j = w->scan->relax(ld, w->c + i * ld, w->cv, h, (int32_t)i, w->cd, w->from);
        least = unmarked(w->cd[j]);
        if (w->row[j] < 0)
            break;
        i = (size_t)w->row[j];
        h = w->c[i * ld + j] - (w->cv[j] + 1) - least;
        w->closed[n_closed++] = (int32_t)j;
        w->col_min[j] = w->cv[j] + least; /* the new dual plus the path's length */
        w->cv[j] = BARRED;
        w->cd[j] = SEARCHED;
    }
    for (size_t k = 0; k < n_closed; k++) {
        size_t t = (size_t)w->closed[k];
        w->cv[t] = w->col_min[t] - least;
    }
    w->cv[j]--;
    mc_wide_flip_path(w->col, w->row, w->from, j, start);
}

/* Set w->proven from the costs above the columns' minima. */
static void coarse_set_proven(struct work *w)
{
    const size_t half = (w->n_rows * w->n + 1) / 2;
    const int32_t far = 2 * (FAR / (1 << (FINE_BITS - COARSE_BITS)) + 2); /* doubled, rounded up */
    size_t count = 0;

    for (size_t i = 0; i < w->n && count < half; i++)
        count += w->scan->coarse_far(w->n, w->c + i * w->ld, w->col_min, far);
    w->proven = count >= half;
}

static void coarse_solve(struct work *w)
{
    size_t n_free = coarse_reduce(w);

    coarse_set_proven(w);
    for (int round = 0; round < 2; round++)
        n_free = coarse_bid(w, n_free);
    for (size_t k = 0; k < n_free; k++)
        coarse_augment(w, (size_t)w->free_row[k]);
    for (size_t j = 0; j < w->n; j++)
        w->v[j] = ldexp((double)(w->cv[j] + 1) / 2, FINE_BITS - COARSE_BITS);
}

/* ---- the fine grid --------------------------------------------------------------------------- */

static double row_top(const struct work *w, size_t i)
{
    return w->high[i] * w->unit;
}

static double fine_cost(const struct work *w, size_t i, size_t j)
{
    return MC_ASSIGN_FINE(w->value[i * w->n + j], w->unit, row_top(w, i));
}

/* Return the dual of matched row i that makes its matched entry tight. */
static double fine_u(const struct work *w, size_t i)
{
    size_t j = (size_t)w->col[i];

    return fine_cost(w, i, j) - w->v[j];
}

/* Make the coarse duals feasible on the fine grid, where they are off by up to one coarse unit.
 * Lower them until all rows are tight (Bellman-Ford with a queue of rows). If the coarse optimum is
 * not the fine one, this never ends, so a budget limits it. Rows still in the queue then become
 * free. Return their number. */
static size_t fine_repair(struct work *w)
{
    const size_t n = w->n;
    int32_t *queue = w->free_row, *queued = w->mark;
    size_t head = 0, length = n, n_free = 0;

    for (size_t i = 0; i < n; i++) {
        queue[i] = (int32_t)i;
        queued[i] = 1;
    }
    for (size_t budget = REPAIR_SCANS * n; length && budget; budget--) {
        size_t i = (size_t)queue[head];
        head = head + 1 == n ? 0 : head + 1;
        length--;
        queued[i] = 0;
        size_t lowered = w->scan->fine_lower(n, w->value + i * n, w->unit, row_top(w, i),
                                             fine_u(w, i), w->v, w->list);
        for (size_t k = 0; k < lowered; k++) {
            int32_t r = w->row[w->list[k]];
            if (!queued[r]) {
                queue[(head + length++) % n] = r;
                queued[r] = 1;
            }
        }
    }
    for (size_t i = 0; i < n; i++)
        if (queued[i]) {
            w->row[w->col[i]] = -1;
            w->col[i] = -1;
            w->free_row[n_free++] = (int32_t)i;
        }
    return n_free;
}

static void fine_set_proven(struct work *w)
{
    const size_t half = (w->n_rows * w->n + 1) / 2;
    size_t count = 0;

    for (size_t i = 0; i < w->n && count < half; i++)
        count += w->scan->fine_far(w->n, w->value + i * w->n, w->unit, row_top(w, i), w->v, FAR);
    w->proven = count >= half;
}

/* Free all rows and set each column's dual to its minimum cost. Return the number of rows. */
static size_t fine_start(struct work *w)
{
    for (size_t j = 0; j < w->n; j++) {
        w->v[j] = INFINITY;
        w->row[j] = -1;
        w->free_row[j] = (int32_t)j;
        w->col[j] = -1;
    }
    for (size_t i = 0; i < w->n; i++)
        w->scan->fine_lower(w->n, w->value + i * w->n, w->unit, row_top(w, i), 0, w->v, w->list);
    fine_set_proven(w);
    return w->n;
}

/* Do the same as coarse_augment. Here the marks of matched columns are in v. */
static void fine_augment(struct work *w, size_t start)
{
    const size_t n = w->n;
    size_t n_closed = 0, i = start, j;
    double h = 0, least;

    for (j = 0; j < n; j++)
        w->d[j] = INFINITY;
    for (;;) {
        j = w->scan->fine_relax(n, w->value + i * n, w->unit, row_top(w, i), w->v, h, (int32_t)i,
                                w->d, w->from);
        least = w->d[j];
        if (w->row[j] < 0)
            break;
        least -= .5;
        i = (size_t)w->row[j];
        h = fine_cost(w, i, j) - (w->v[j] + .5) - least;
        w->closed[n_closed++] = (int32_t)j;
        w->done_v[j] = w->v[j] + least;
        w->v[j] = -INFINITY;
        w->d[j] = INFINITY;
    }
    for (size_t k = 0; k < n_closed; k++) {
        size_t t = (size_t)w->closed[k];
        w->v[t] = w->done_v[t] - least;
    }
    w->v[j] -= .5;
    mc_wide_flip_path(w->col, w->row, w->from, j, start);
}

static void fine_solve(struct work *w, size_t n_free)
{
    if (!n_free)
        return;
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
 * row i are the columns c[first[i]..first[i+1]). */
static size_t count_ties(struct work *w)
{
    const size_t n = w->n;
    int32_t *order = w->mark, *low = w->list, *stack = w->closed, *path = w->free_row;
    int32_t *next = w->from; /* number of edges followed from a row */
    size_t n_stack = 0, n_path, ties = 0;
    int32_t clock = 0;

    for (size_t i = 0; i < n; i++)
        order[i] = next[i] = 0;
    for (size_t root = 0; root < n; root++) {
        if (order[root])
            continue;
        order[root] = low[root] = ++clock;
        stack[n_stack++] = path[0] = (int32_t)root;
        n_path = 1;
        while (n_path) {
            size_t i = (size_t)path[n_path - 1];
            if ((size_t)next[i] < w->first[i + 1] - w->first[i]) {
                int32_t to = w->row[w->c[w->first[i] + (size_t)next[i]++]];
                if (!order[to]) {
                    order[to] = low[to] = ++clock;
                    stack[n_stack++] = path[n_path++] = to;
                } else if (order[to] < low[i]) {
                    low[i] = order[to];
                }
                continue;
            }
            if (low[i] == order[i]) {
                size_t size = 0;
                int32_t r;
                do {
                    r = stack[--n_stack];
                    order[r] = INT32_MAX; /* closed: never lowers another */
                    size++;
                } while ((size_t)r != i);
                ties += size > 1 ? size : 0;
            }
            if (--n_path) {
                size_t up = (size_t)path[n_path - 1];
                low[up] = low[i] < low[up] ? low[i] : low[up];
            }
        }
    }
    return ties;
}

/* Set value, bound, gap and ties. The bound is the sum of the rows' maxima of value[i][j] + v[j],
 * minus the sum of v. So the gap is the sum over rows of the maximum minus the matched entry. */
static void certify(struct work *w, struct mc_assignment *info)
{
    const size_t n = w->n;
    struct mc_sum value = {0, 0}, gap = {0, 0};
    size_t edges = 0;

    for (size_t i = 0; i < n; i++) {
        size_t j = (size_t)w->col[i];
        double worth = w->value[i * n + j] * w->unit, best;
        w->first[i] = edges;
        edges += w->scan->fine_tight(n, w->value + i * n, w->unit, row_top(w, i),
                                     fine_u(w, i) + TIE_UNITS, w->v, &best, w->c + edges);
        mc_sum_add(&value, worth);
        mc_sum_add(&gap, best - (worth + w->v[j]));
    }
    w->first[n] = edges;
    info->value = ldexp(mc_sum_value(value), w->exponent - FINE_BITS);
    info->gap = ldexp(mc_sum_value(gap), w->exponent - FINE_BITS);
    info->bound = info->value + info->gap;
    info->n_ties = count_ties(w);
}

/* Keep the assignment if wide.c proves it; otherwise solve again in floating point. */
static int prove(struct work *w, struct mc_assignment *info, struct mc_error *err)
{
    struct mc_wide wide;
    int rc = mc_wide_init(&wide, w->n, w->value, w->high, w->col, w->row, err);

    for (size_t j = 0; !rc && j < w->n; j++)
        wide.v[j] = (long double)w->v[j] / (long double)w->unit;
    if (!rc && !mc_wide_proven(&wide) && !(rc = mc_wide_solve(&wide, err))) {
        struct mc_sum value = {0, 0};
        for (size_t i = 0; i < w->n; i++)
            mc_sum_add(&value, w->value[i * w->n + (size_t)w->col[i]]);
        info->value = mc_sum_value(value);
        info->gap = mc_wide_certify(&wide, w->first, w->c);
        info->bound = info->value + info->gap;
        info->n_ties = count_ties(w);
    }
    mc_wide_release(&wide);
    return rc;
}

static int measure(struct work *w, struct mc_error *err)
{
    double range = 0, most = 0;
    int e_most;

    for (size_t i = 0; i < w->n; i++) {
        double lo, hi;
        if (w->scan->range(w->n, w->value + i * w->n, &lo, &hi))
            return mc_fail(err, MC_EINPUT, "row %zu of the matrix has a value that is not finite",
                           i);
        w->high[i] = hi;
        w->n_rows += lo < hi;
        range = fmax(range, hi / 2 - lo / 2);
        most = fmax(most, fmax(fabs(hi), fabs(lo)));
    }
    frexp(range, &w->exponent);
    w->exponent++;
    frexp(most, &e_most);
    /* keep unit and top finite: ranges up to 2^-973, or up to 2^-970 of the values, become 0 */
    if (w->exponent < FINE_BITS - 1023)
        w->exponent = FINE_BITS - 1023;
    if (w->exponent < e_most + FINE_BITS - 1020)
        w->exponent = e_most + FINE_BITS - 1020;
    w->unit = ldexp(1, FINE_BITS - w->exponent);
    return 0;
}

int mc_assign_max(size_t n, const double *value, int32_t *col, struct mc_assignment *info,
                  struct mc_error *err)
{
    struct work w = {.value = value};
    struct mc_assignment found = {0};
    int rc = mc_assign_loops(&w.scan, err);

    if (rc)
        return rc;
    if (work_alloc(&w, n))
        return mc_fail(err, MC_ENOMEM, "out of memory for an assignment of %zu rows", n);
    rc = measure(&w, err);
    if (rc)
        goto out;
    if (n > SMALL) {
        coarse_solve(&w);
        fine_solve(&w, w.exact ? 0 : fine_repair(&w));
    } else {
        fine_solve(&w, fine_start(&w));
    }
    certify(&w, &found);
    if (!w.proven && (rc = prove(&w, &found, err)))
        goto out;
    for (size_t i = 0; i < n; i++)
        col[i] = w.col[i];
    if (info)
        *info = found;
out:
    free(w.slab);
    return rc;
}
