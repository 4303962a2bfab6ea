/* SPDX-License-Identifier: Apache-2.0
 *
 * Read a plane's tables. */
#include "tools/plot/grid.h"

#include "tools/plot/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Find nx and ny, and check that x repeats in every row and that y is constant in a row and
 * ascends. */
static int check(struct mc_grid *g, const struct mc_table *t, struct mc_error *err)
{
    const double *x = g->x, *y = g->y;

    while (g->nx < t->rows && y[g->nx] == y[0])
        g->nx++;
    g->ny = t->rows / g->nx;
    if (g->nx < 2 || g->ny < 2 || g->nx * g->ny != t->rows)
        return mc_fail(err, MC_EINPUT,
                       "%s: not a complete grid: %zu rows, but y increases after %zu", t->name,
                       t->rows, g->nx);
    for (size_t r = 0; r < t->rows; r++) {
        const size_t i = r / g->nx, j = r % g->nx;
        if (x[r] != x[j] || y[r] != y[i * g->nx] || (j && !(x[r] > x[r - 1])) ||
            (i && !(y[r] > y[r - g->nx])))
            return mc_fail(err, MC_EINPUT,
                           "%s: line %zu: not in grid order (x varies fastest, x and y increase)",
                           t->name, t->lines[r]);
    }
    return 0;
}

static int read_values(struct mc_grid *g, const struct mc_table *t, char *data, size_t size,
                       struct mc_error *err)
{
    const size_t n = t->rows;
    int rc;

    if (!(g->x = calloc(4 * n, sizeof *g->x)))
        return mc_no_memory(err);
    g->y = g->x + n;
    g->value[0] = g->y + n;
    g->value[1] = g->value[0] + n;
    if ((rc = mc_table_numbers(t, "x", g->x, err)) || (rc = mc_table_numbers(t, "y", g->y, err)) ||
        (rc = mc_series_measures(t, data, size, g->value[0], err)) || (rc = check(g, t, err)))
        return rc;
    for (size_t i = 0; i < g->ny; i++)
        g->y[i] = g->y[i * g->nx];
    return 0;
}

int mc_grid_read(struct mc_grid *g, const char *path, char *data, size_t size, struct mc_error *err)
{
    struct mc_table t = {0};
    int rc = mc_table_read(&t, path, err);

    if (!rc)
        rc = read_values(g, &t, data, size, err);
    mc_table_release(&t);
    return rc;
}

void mc_grid_release(struct mc_grid *g)
{
    free(g->x);
    *g = (struct mc_grid){0};
}

/* Position of step k of `fine` per interval of n points: after point *i, at the returned
 * fraction. */
static double fraction(size_t k, size_t fine, size_t n, size_t *i)
{
    *i = k / fine < n - 1 ? k / fine : n - 2;
    return (double)(k - *i * fine) / (double)fine;
}

double mc_grid_between(const struct mc_grid *g, int q, size_t fine, size_t i, size_t j, double *x,
                       double *y)
{
    size_t r, c;
    const double s = fraction(i, fine, g->ny, &r), t = fraction(j, fine, g->nx, &c);
    const double *low = g->value[q] + r * g->nx + c, *high = low + g->nx;

    *x = (1 - t) * g->x[c] + t * g->x[c + 1];
    *y = (1 - s) * g->y[r] + s * g->y[r + 1];
    return (1 - s) * ((1 - t) * low[0] + t * low[1]) + s * ((1 - t) * high[0] + t * high[1]);
}

static int read_marks(struct mc_mark *m, const struct mc_table *t, double *v, struct mc_error *err)
{
    size_t kind = 0, name = 0;
    int rc = mc_table_column(t, "mark", &kind, err);

    if (!rc)
        rc = mc_table_column(t, "name", &name, err);
    for (int i = 0; !rc && i < 3; i++)
        rc = mc_table_numbers(t, (const char *const[]){"x", "y", "off"}[i], v + (size_t)i * t->rows,
                              err);
    for (size_t r = 0; !rc && r < t->rows; r++) {
        const char *expected = r < 3 ? "network" : "path";
        if (strcmp(t->cells[r * t->cols + kind], expected))
            return mc_fail(err, MC_EINPUT,
                           "%s: line %zu: mark '%s' expected, got '%s' (three networks, then the "
                           "path)",
                           t->name, t->lines[r], expected, t->cells[r * t->cols + kind]);
        m[r] = (struct mc_mark){
            .kind = expected, .x = v[r], .y = v[t->rows + r], .off = v[2 * t->rows + r]};
        snprintf(m[r].name, sizeof m[r].name, "%s", t->cells[r * t->cols + name]);
    }
    if (!rc && t->rows < 3)
        rc = mc_fail(err, MC_EINPUT, "%s: at least 3 marks are required, the networks (got %zu)",
                     t->name, t->rows);
    return rc;
}

int mc_marks_read(struct mc_mark **out, size_t *n, const char *path, struct mc_error *err)
{
    struct mc_table t = {0};
    struct mc_mark *m = NULL;
    double *v = NULL;
    int rc = mc_table_read(&t, path, err);

    if (rc)
        return rc;
    if (!(m = calloc(t.rows, sizeof *m)) || !(v = calloc(3 * t.rows, sizeof *v)))
        rc = mc_no_memory(err);
    if (!rc)
        rc = read_marks(m, &t, v, err);
    if (!rc) {
        *out = m;
        *n = t.rows;
        m = NULL;
    }
    free(m);
    free(v);
    mc_table_release(&t);
    return rc;
}
