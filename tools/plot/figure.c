/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and data for gnuplot. */
#include "tools/plot/figure.h"

#include <string.h>

/* Steps that colours are drawn in, at least, across a plane. */
#define FINE 200
/* Layers of a signature from which on stages are named, and how many of these at most. */
#define MANY_LAYERS 24
#define MOST_STAGES 20

/* place: in an array, from 1; 0: in none. */
static void text(struct mc_gnuplot *g, const char *name, size_t place, const char *value,
                 enum mc_gnuplot_text kind)
{
    fputs(name, g->script);
    if (place)
        fprintf(g->script, "[%zu]", place);
    fputs(" = ", g->script);
    mc_gnuplot_quote(g, value ? value : "", kind);
    putc('\n', g->script);
}

static void set_titles(struct mc_gnuplot *g, const struct mc_figure *p)
{
    char name[260];

    text(g, "TITLE", 0, p->title, MC_GNUPLOT_LABEL);
    const size_t n = strlen(p->data);
    const int robust = n > 7 && !strcmp(p->data + n - 7, ".robust");
    snprintf(name, sizeof name, "%.*s%s%s", (int)(robust ? n - 7 : n), p->data, n ? " " : "",
             robust ? "robust " : "");
    text(g, "DATA_NAME", 0, name, MC_GNUPLOT_LABEL);
}

/* How many lines before line i it would hide. */
static size_t same_before(const struct mc_series *s, size_t i)
{
    size_t same = 0;

    for (size_t j = 0; j < i; j++)
        same += s[j].rows == s[i].rows && s[j].cols == s[i].cols &&
                !memcmp(s[j].mean, s[i].mean, s[i].rows * s[i].cols * sizeof *s[i].mean);
    return same;
}

/* The length of the first `depth` components of a name, which dots part. */
static size_t beginning(const char *name, size_t depth)
{
    size_t n = strcspn(name, ".");

    while (--depth && name[n])
        n += 1 + strcspn(name + n + 1, ".");
    return n;
}

static int same_beginning(const char *a, const char *b, size_t depth)
{
    const size_t n = beginning(a, depth);

    return n == beginning(b, depth) && !memcmp(a, b, n);
}

/* Many layers' names are too long to stand beside each other: stages of them have names, the
 * beginnings, so deep that there are not too many, without the components that all share. */
static void stages(struct mc_gnuplot *g, const struct mc_table *t, size_t col)
{
    const char *const *name = t->cells + col;
    size_t found = 0, shared = 0, n = 0;
    char short_name[200];

    for (size_t depth = 1, runs = 0; t->rows > MANY_LAYERS && depth <= 6; depth++, runs = 0) {
        for (size_t r = 0; r < t->rows; r++)
            runs += !r || !same_beginning(name[r * t->cols], name[(r - 1) * t->cols], depth);
        if (runs == 1)
            shared = depth;
        if (runs > 2 && runs <= MOST_STAGES)
            found = depth;
    }
    for (size_t r = 0; found && r < t->rows; r++)
        n += !r || !same_beginning(name[r * t->cols], name[(r - 1) * t->cols], found);
    fprintf(g->script, "STAGES = %zu\narray STAGE[STAGES + 1]\narray FIRST[STAGES + 1]\n", n);
    for (size_t r = 0, s = 0; s < n; r++) {
        const char *is = name[r * t->cols];
        const size_t from = shared ? beginning(is, shared) + 1 : 0, to = beginning(is, found);
        if (r && same_beginning(is, name[(r - 1) * t->cols], found))
            continue;
        fprintf(g->script, "FIRST[%zu] = %zu\n", ++s, r + 1);
        snprintf(short_name, sizeof short_name, "%.*s", (int)(to > from ? to - from : to),
                 is + (to > from ? from : 0));
        text(g, "STAGE", s, short_name, MC_GNUPLOT_TIC);
    }
    fprintf(g->script, "FIRST[%zu] = %zu\n", n + 1, t->rows + 1);
}

void mc_figure_lines(struct mc_gnuplot *g, const struct mc_figure *p, const char *xlabel,
                     const struct mc_series *s, size_t n)
{
    FILE *f = g->script;

    set_titles(g, p);
    text(g, "XLABEL", 0, xlabel, MC_GNUPLOT_LABEL);
    fprintf(f, "LOG_LOSS = %d\n", p->log_loss);
    fprintf(f, "N = %zu\narray LABEL[N]\narray TABLES[N]\narray SAME[N]\n", n);
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "TABLES[%zu] = %zu\nSAME[%zu] = %zu\n", i + 1, s[i].tables, i + 1,
                same_before(s, i));
        text(g, "LABEL", i + 1, s[i].label, MC_GNUPLOT_LABEL);
    }
    if (!xlabel) {
        const struct mc_table *t = &s[0].table;
        size_t col = (size_t)mc_table_find(t, "layer");
        fprintf(f, "ROWS = %zu\narray LAYER[ROWS]\n", t->rows);
        for (size_t r = 0; r < t->rows; r++)
            text(g, "LAYER", r + 1, t->cells[r * t->cols + col], MC_GNUPLOT_TIC);
        stages(g, t, col);
    }
    fputs("$DATA << END_OF_DATA\n", f);
    for (size_t i = 0; i < n; i++) {
        for (size_t r = 0; r < s[i].rows; r++) {
            for (size_t c = 0; c < s[i].cols; c++)
                fprintf(f, "%.9g ", s[i].mean[c * s[i].rows + r]);
            for (size_t c = 0; c < s[i].cols; c++)
                fprintf(f, "%.9g ", s[i].sd[c * s[i].rows + r]);
            putc('\n', f);
        }
        fputs("\n\n", f);
    }
    fputs("END_OF_DATA\n", f);
}

/* A network's name without folder and ending. */
static void short_name(const char *name, char *out, size_t size)
{
    const char *slash = strrchr(name, '/');
    size_t n = strlen(slash ? slash + 1 : name);

    snprintf(out, size, "%s", slash ? slash + 1 : name);
    if (n > 4 && n < size && !strcmp(out + n - 4, ".mcz"))
        out[n - 4] = 0;
}

static void surface(struct mc_gnuplot *g, const struct mc_grid *grid)
{
    FILE *f = g->script;
    const size_t most = grid->nx > grid->ny ? grid->nx : grid->ny;
    const size_t fine = (FINE + most - 2) / (most - 1);
    double x, y;

    fputs("$DATA << END_OF_DATA\n", f);
    for (size_t i = 0; i <= fine * (grid->ny - 1); i++) {
        for (size_t j = 0; j <= fine * (grid->nx - 1); j++) {
            double loss = mc_grid_between(grid, 0, fine, i, j, &x, &y);
            double accuracy = mc_grid_between(grid, 1, fine, i, j, &x, &y);
            fprintf(f, "%.7g %.7g %.9g %.9g\n", x, y, loss, accuracy);
        }
        putc('\n', f);
    }
    fputs("END_OF_DATA\n", f);
}

void mc_figure_plane(struct mc_gnuplot *g, const struct mc_figure *p, const struct mc_grid *grid,
                     const struct mc_mark *marks, size_t n)
{
    FILE *f = g->script;
    char name[256];

    set_titles(g, p);
    fputs("array FROM[2]\narray TO[2]\narray NAME[3]\narray X[3]\narray Y[3]\n", f);
    for (size_t q = 0; q < 2; q++)
        fprintf(f, "FROM[%zu] = %.9g\nTO[%zu] = %.9g\n", q + 1, p->colours[q][0], q + 1,
                p->colours[q][1]);
    fprintf(f, "MARKS = %d\nPATH = %zu\n", n > 0, n > 3 ? n - 3 : 0);
    for (size_t i = 0; !n && i < 3; i++)
        fprintf(f, "X[%zu] = NaN\nY[%zu] = NaN\n", i + 1, i + 1);
    for (size_t i = 0; i < 3 && i < n; i++) {
        short_name(p->names[i] ? p->names[i] : marks[i].name, name, sizeof name);
        text(g, "NAME", i + 1, name, MC_GNUPLOT_LABEL);
        fprintf(f, "X[%zu] = %.9g\nY[%zu] = %.9g\n", i + 1, marks[i].x, i + 1, marks[i].y);
    }
    fprintf(f, "$PATH << END_OF_DATA\n");
    for (size_t i = 3; i < n; i++)
        fprintf(f, "%.9g %.9g\n", marks[i].x, marks[i].y);
    for (size_t i = 1; i < n && n == 3; i++)
        fprintf(f, "%.9g %.9g\n%.9g %.9g\n\n", marks[0].x, marks[0].y, marks[i].x, marks[i].y);
    fputs(n ? "END_OF_DATA\n" : "NaN NaN\nEND_OF_DATA\n", f);
    surface(g, grid);
}
