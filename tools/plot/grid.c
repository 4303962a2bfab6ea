/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading a plane's tables. */
#include "tools/plot/grid.h"

#include "tools/plot/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* x repeats itself row by row, y is the same along one and grows. */
static int check(struct mc_grid *g, const struct mc_table *t, const double *x, const double *y,
                 struct mc_error *err)
{
    while (g->nx < t->rows && y[g->nx] == y[0])
        g->nx++;
    g->ny = t->rows / g->nx;
    if (g->nx < 2 || g->ny < 2 || g->nx * g->ny != t->rows)
        return mc_fail(err, MC_EINPUT, "%s: is no whole grid: %zu rows, y grows after %zu", t->name,
                       t->rows, g->nx);
    for (size_t r = 0; r < t->rows; r++) {
        const size_t i = r / g->nx, j = r % g->nx;
        if (x[r] != x[j] || y[r] != y[i * g->nx] || (j && !(x[r] > x[r - 1])) ||
            (i && !(y[r] > y[r - g->nx])))
            return mc_fail(err, MC_EINPUT, "%s: line %zu: is out of the grid's order", t->name,
                           t->lines[r]);
    }
    return 0;
}

static int read_values(struct mc_grid *g, const struct mc_table *t, const char *data,
                       struct mc_error *err)
{
    char name[256];
    double *x = calloc(t->rows, sizeof *x), *y = calloc(t->rows, sizeof *y);
    int rc = 0;

    g->x = x;
    g->y = y;
    for (int q = 0; q < 2; q++)
        if (!(g->value[q] = calloc(t->rows, sizeof **g->value)))
            rc = mc_no_memory(err);
    if (!x || !y)
        rc = mc_no_memory(err);
    if (rc || (rc = mc_table_numbers_of(t, "x", x, err)) ||
        (rc = mc_table_numbers_of(t, "y", y, err)))
        return rc;
    for (int q = 0; !rc && q < 2; q++) {
        snprintf(name, sizeof name, "%s.%s", data, q ? "accuracy" : "loss");
        rc = mc_table_numbers_of(t, name, g->value[q], err);
    }
    if (!rc)
        rc = check(g, t, x, y, err);
    for (size_t i = 0; !rc && i < g->ny; i++)
        y[i] = y[i * g->nx];
    return rc;
}

int mc_grid_read(struct mc_grid *g, const char *path, char *data, size_t size, struct mc_error *err)
{
    struct mc_table t = {0};
    int rc = mc_table_read(&t, path, err);

    if (!rc && !*data)
        mc_series_pick(&t, data, size);
    if (!rc)
        rc = read_values(g, &t, data, err);
    mc_table_release(&t);
    return rc;
}

void mc_grid_release(struct mc_grid *g)
{
    free(g->x);
    free(g->y);
    free(g->value[0]);
    free(g->value[1]);
    *g = (struct mc_grid){0};
}

/* Where step k of `fine` to each of n - 1 lies: behind point *i, at a share of the way on. */
static double share(size_t k, size_t fine, size_t n, size_t *i)
{
    *i = k / fine < n - 1 ? k / fine : n - 2;
    return (double)(k - *i * fine) / (double)fine;
}

double mc_grid_between(const struct mc_grid *g, int q, size_t fine, size_t i, size_t j, double *x,
                       double *y)
{
    size_t r, c;
    const double s = share(i, fine, g->ny, &r), t = share(j, fine, g->nx, &c);
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
        rc = mc_table_numbers_of(t, (const char *const[]){"x", "y", "off"}[i],
                                 v + (size_t)i * t->rows, err);
    for (size_t r = 0; !rc && r < t->rows; r++) {
        const char *want = r < 3 ? "network" : "path";
        if (strcmp(t->cells[r * t->cols + kind], want))
            return mc_fail(err, MC_EINPUT,
                           "%s: line %zu: '%s' where a %s was due: three networks come first, "
                           "then the path",
                           t->name, t->lines[r], t->cells[r * t->cols + kind], want);
        m[r] = (struct mc_mark){
            .kind = want, .x = v[r], .y = v[t->rows + r], .off = v[2 * t->rows + r]};
        snprintf(m[r].name, sizeof m[r].name, "%s", t->cells[r * t->cols + name]);
    }
    if (!rc && t->rows < 3)
        rc = mc_fail(err, MC_EINPUT, "%s: has %zu marks, not the three networks", t->name, t->rows);
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
