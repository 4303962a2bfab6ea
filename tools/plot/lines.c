/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines and axes of paths, logs and signatures. */
#include "tools/plot/lines.h"

#include "tools/plot/layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The dots of a row are spread over this share of its width. */
#define ROW_SHARE .5
/* Up to FEW_ROWS rows, every row has a marker; otherwise markers divide the line into STRETCHES. */
#define FEW_ROWS 13
#define STRETCHES 8

/* Return 1 if row r follows the previous one without a gap. */
static int joined(enum mc_picture kind, const struct mc_series *s, size_t r)
{
    const struct mc_table *t = &s->table;

    if (!r)
        return 0;
    if (kind == MC_PICTURE_LOG)
        return s->mean[r] - s->mean[r - 1] <= 1;
    if (kind == MC_PICTURE_PATH || kind == MC_PICTURE_DOTS)
        return kind == MC_PICTURE_PATH;
    const char *const *layer = t->cells + mc_table_find(t, "layer");
    return mc_layers_joined(layer[(r - 1) * t->cols], layer[r * t->cols]);
}

static struct mc_line line_of(const struct mc_series *s, const double *x, size_t col,
                              const char *gaps, size_t number, int before)
{
    return (struct mc_line){.x = x,
                            .y = s->mean + col * s->rows,
                            .sd = s->sd + col * s->rows,
                            .joined = gaps,
                            .rows = s->rows,
                            .series = number,
                            .before = before};
}

/* Add the lines of one series: one per panel, or two for a signature. ranks: (rows) their x. */
static void add_lines(struct mc_lines *l, const struct mc_figure *p, const struct mc_series *s,
                      size_t number, const char *gaps, const double *ranks)
{
    if (p->kind == MC_PICTURE_SIGNATURE) {
        l->line[0][2 * number] = line_of(s, ranks, 0, gaps, number, 1);
        l->line[0][2 * number + 1] = line_of(s, ranks, 1, gaps, number, 0);
        return;
    }
    if (p->kind == MC_PICTURE_DOTS)
        l->line[0][number] = line_of(s, ranks, 0, gaps, number, 0);
    else
        for (size_t k = 0; k < l->panels; k++)
            l->line[k][number] = line_of(s, s->mean, k + 1, gaps, number, 0);
}

static void choose_x(struct mc_lines *l, const struct mc_figure *p)
{
    l->x_from = INFINITY;
    l->x_to = -INFINITY;
    for (size_t i = 0; i < l->all; i++) {
        l->x_from = fmin(l->x_from, l->line[0][i].x[0]);
        l->x_to = fmax(l->x_to, l->line[0][i].x[l->line[0][i].rows - 1]);
    }
    if (p->kind == MC_PICTURE_DOTS) {
        l->x_from = .5;
        l->x_to = (double)l->line[0][0].rows + .5;
    } else if (p->kind == MC_PICTURE_SIGNATURE || l->x_from == l->x_to) {
        l->x_from -= .5;
        l->x_to += .5;
    }
}

/* Minimum loss. */
static double lowest(const struct mc_lines *l)
{
    double low = INFINITY;

    for (size_t i = 0; i < l->all; i++)
        for (size_t r = 0; r < l->line[0][i].rows; r++)
            low = fmin(low, l->line[0][i].y[r]);
    return low;
}

static void choose_axes(struct mc_lines *l, const struct mc_figure *p)
{
    const int path = p->kind == MC_PICTURE_PATH;
    const struct mc_frame loss = {.min = lowest(l) < 0 ? -INFINITY : 0,
                                  .max = INFINITY,
                                  .include = {p->log_loss ? NAN : 0, NAN},
                                  .logarithmic = p->log_loss,
                                  .separate = path && !p->log_loss};
    const struct mc_frame accuracy = {
        .min = 0, .max = 100, .include = {NAN, NAN}, .separate = path};
    const struct mc_frame correlation = {.min = -1, .max = 1, .include = {0, 1}};
    const struct mc_frame dots = {.min = loss.min, .max = INFINITY, .include = {NAN, NAN}};

    for (size_t k = 0; k < l->panels; k++) {
        struct mc_frame f = p->kind == MC_PICTURE_DOTS        ? dots
                            : p->kind == MC_PICTURE_SIGNATURE ? correlation
                            : k                               ? accuracy
                                                              : loss;
        memcpy(f.range, p->range[k], sizeof f.range);
        mc_frame_choose(&l->y[k], &f, l->line[k], l->all);
    }
}

int mc_lines_init(struct mc_lines *l, const struct mc_figure *p, const struct mc_series *s,
                  size_t n, size_t fitted, struct mc_error *err)
{
    const size_t each = p->kind == MC_PICTURE_SIGNATURE ? 2 : 1;
    size_t rows = 0, max_rows = 0;

    for (size_t i = 0; i < fitted; i++) {
        rows += s[i].rows;
        max_rows = s[i].rows > max_rows ? s[i].rows : max_rows;
    }
    l->panels = p->kind == MC_PICTURE_PATH || p->kind == MC_PICTURE_LOG ? s->cols - 1 : 1;
    l->drawn = each * n;
    l->all = each * fitted;
    l->joined = malloc(rows);
    l->ranks = calloc(fitted * max_rows, sizeof *l->ranks);
    l->line[0] = calloc(2 * l->all, sizeof *l->line[0]);
    if (!l->joined || !l->ranks || !l->line[0])
        return mc_no_memory(err);
    l->line[1] = l->line[0] + l->all;
    for (size_t i = 0; i < fitted * max_rows; i++) {
        const double place = ((double)(i / max_rows) + .5) / (double)fitted - .5;
        l->ranks[i] =
            (double)(i % max_rows) + 1 + (p->kind == MC_PICTURE_DOTS ? ROW_SHARE * place : 0);
    }
    char *gaps = l->joined;
    for (size_t i = 0; i < fitted; gaps += s[i++].rows) {
        for (size_t r = 0; r < s[i].rows; r++)
            gaps[r] = (char)joined(p->kind, &s[i], r);
        add_lines(l, p, &s[i], i, gaps, l->ranks + i * max_rows);
    }
    choose_x(l, p);
    choose_axes(l, p);
    return 0;
}

void mc_lines_release(struct mc_lines *l)
{
    free(l->line[0]);
    free(l->ranks);
    free(l->joined);
    *l = (struct mc_lines){0};
}

/* Is row r the first at or after a multiple of 1/m of the path? */
static int at_fraction(const struct mc_line *l, size_t r, double m)
{
    return r && floor(l->x[r] * m + 1e-9) > floor(l->x[r - 1] * m + 1e-9);
}

int mc_lines_marked(const struct mc_figure *p, const struct mc_line *l, size_t r)
{
    const double t = l->x[r];

    if (p->kind == MC_PICTURE_SIGNATURE || p->kind == MC_PICTURE_DOTS || l->rows <= FEW_ROWS)
        return 1;
    if (p->kind == MC_PICTURE_PATH)
        return t == 0 || t == .5 || t == 1 ||
               at_fraction(l, r, (l->rows - 1) % 10 ? STRETCHES : 10);
    return !l->joined[r] || r + 1 == l->rows || !l->joined[r + 1] || r % (l->rows / 10) == 0;
}
