/* SPDX-License-Identifier: Apache-2.0
 *
 * Planes for plane.gp: loss and accuracy as colours. */
#include "tools/plot/scale.h"
#include "tools/plot/figure.h"
#include "tools/plot/page.h"
#include "tools/plot/width.h"

#include <math.h>
#include <string.h>

/* Minimum number of points across a plane. */
#define FINE 200
#define COLOURS 6 /* minimum number of colour steps */
#define BOX 1.6   /* width of the colour box with its gaps */
#define CB_GAP .9 /* between the box and its numbers */
#define NUMBERS_APART 1.5
#define NAME_APART 1

struct layout {
    struct mc_gnuplot *g;
    const struct mc_figure *p;
    const struct mc_grid *grid;
    struct mc_page page;
    struct mc_scale x, y, colour[2];
    int to_scale;
    char header[2][300], x_name[300];
};

/* Copy a network's name without folder and suffix. */
static void short_name(const char *name, char *out, size_t size)
{
    const char *slash = strrchr(name, '/');
    size_t n = strlen(slash ? slash + 1 : name);

    snprintf(out, size, "%s", slash ? slash + 1 : name);
    if (n > 4 && n < size && !strcmp(out + n - 4, ".mcz"))
        out[n - 4] = 0;
}

/* Choose the colours' axis, in whole steps: the user's range, or that of all grids. Values that
 * vary by less than a thousandth get one or two steps; numbers of finer steps would be
 * unreadable. */
static void choose_colours(struct mc_scale *a, const struct mc_figure *p,
                           const struct mc_grid *grids, size_t n, size_t q)
{
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < grids[i].nx * grids[i].ny; k++) {
            low = fmin(low, grids[i].value[q][k]);
            high = fmax(high, grids[i].value[q][k]);
        }
    const double min_range = fabs(high) > 1e-3 ? 1e-3 * fabs(high) : 1e-6;
    if (p->range[q][0] != p->range[q][1]) {
        low = p->range[q][0];
        high = p->range[q][1];
    } else if (high - low < min_range) {
        low = fmax((low + high - min_range) / 2, 0);
        if (q == 1)
            low = fmin(low, 100 - min_range);
        high = low + min_range;
    }
    mc_scale_exact(a, low, high);
    a->step = mc_scale_step(high - low, COLOURS);
    a->from = floor(low / a->step + 1e-9) * a->step;
    a->to = ceil(high / a->step - 1e-9) * a->step;
}

/* Copy the first of n texts that fits, or the last one shortened. */
static void choose_text(const char *const *texts, size_t n, double space, char *out, size_t size)
{
    size_t i = 0;

    while (i + 1 < n && mc_text_width(texts[i]) > space)
        i++;
    mc_text_fit(texts[i], space, out, size);
}

static void write_names(struct layout *o, const struct mc_mark *marks, size_t n)
{
    char name[256], text[256], names[2][256] = {"", ""};
    const struct mc_box b = mc_page_panel(&o->page, 0);
    FILE *f = o->g->script;

    fprintf(f, "array NAME[3]\narray WIDTH[3]\narray X[3]\narray Y[3]\n");
    fprintf(f, "MARKS = %d\nPATH = %zu\n", n > 0, n > 3 ? n - 3 : 0);
    for (size_t i = 0; !n && i < 3; i++)
        fprintf(f, "X[%zu] = NaN\nY[%zu] = NaN\n", i + 1, i + 1);
    for (size_t i = 0; i < 3 && i < n; i++) {
        short_name(o->p->names[i] ? o->p->names[i] : marks[i].name, name, sizeof name);
        const double width =
            mc_text_fit(name, .6 * (b.right - b.left) - 1, text, sizeof text) + NAME_APART;
        mc_figure_text(o->g, "NAME", i + 1, text, MC_GNUPLOT_LABEL);
        fprintf(f, "WIDTH[%zu] = %.6g\nX[%zu] = %.9g\nY[%zu] = %.9g\n", i + 1,
                width / (b.right - b.left), i + 1, marks[i].x, i + 1, marks[i].y);
        if (i < 2)
            strcpy(names[i], name);
    }
    snprintf(o->x_name, sizeof o->x_name, "distance from %.120s towards %.120s", names[0],
             names[1]);
    const char *const texts[] = {o->x_name, "distance from the first network towards the second",
                                 "distance from the first", "distance"};
    const double space = o->g->wide / (double)o->page.across - 1;
    char x_name[300];
    choose_text(texts + !n, 4 - !n, space, x_name, sizeof x_name);
    mc_figure_text(o->g, "X_NAME", 0, x_name, MC_GNUPLOT_LABEL);
}

static void write_marks(struct layout *o, const struct mc_mark *marks, size_t n)
{
    FILE *f = o->g->script;

    fprintf(f, "$PATH << END_OF_DATA\n");
    for (size_t i = 3; i < n; i++)
        fprintf(f, "%.9g %.9g\n", marks[i].x, marks[i].y);
    for (size_t i = 1; i < n && n == 3; i++)
        fprintf(f, "%.9g %.9g\n%.9g %.9g\n\n", marks[0].x, marks[0].y, marks[i].x, marks[i].y);
    fputs(n ? "END_OF_DATA\n" : "NaN NaN\nEND_OF_DATA\n", f);
}

static void write_surface(struct mc_gnuplot *g, const struct mc_grid *grid)
{
    FILE *f = g->script;
    const size_t longest = grid->nx > grid->ny ? grid->nx : grid->ny;
    const size_t fine = (FINE + longest - 2) / (longest - 1);
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

/* Shrink the panels so that both axes have the same scale, and close the gaps. */
static void shrink(struct layout *o, double shape)
{
    struct mc_page *page = &o->page;
    const struct mc_box b = mc_page_panel(page, 0);
    const double width = b.right - b.left, height = b.bottom - b.top;

    if (width * shape < height) {
        const double left = (height - width * shape) * (double)page->down;
        page->top += left / 2;
        page->bottom -= left / 2;
    } else {
        page->right += width - height / shape;
    }
}

static int lay_out(struct layout *o, double title, struct mc_error *err)
{
    double widest = 0;
    const double shape = (o->y.to - o->y.from) / (o->x.to - o->x.from);
    struct mc_page *page = &o->page;

    o->to_scale = shape > .4 && shape < 2; /* otherwise a panel would be a sliver */
    mc_scale_number(&o->x, 8);
    mc_scale_number(&o->y, 8);
    for (size_t q = 0; q < 2; q++) {
        mc_scale_number(&o->colour[q], 20);
        widest = fmax(widest, o->colour[q].widest);
    }
    *page = (struct mc_page){.top = title,
                             .bottom = o->g->high,
                             .wide = o->g->wide,
                             .panels = 2,
                             .left = MC_PAGE_NAME + MC_PAGE_GAP + o->y.widest,
                             .right = BOX + CB_GAP + widest + MC_PAGE_EDGE,
                             .above = MC_PAGE_HEADER,
                             .below = MC_PAGE_NUMBERS + MC_PAGE_NAME,
                             .min_width = 5,
                             .min_height = 5};
    int rc = mc_page_panels(page, o->g, err);
    if (!rc && o->to_scale)
        shrink(o, shape);
    return rc;
}

static void write_panels(struct layout *o)
{
    static const char *const y_names[] = {"distance from their line (another scale)",
                                          "distance from their line", "distance"};
    FILE *f = o->g->script;
    char data[260], header[300], y_name[100];
    const struct mc_box first = mc_page_panel(&o->page, 0);
    const double height = first.bottom - first.top, width = first.right - first.left;

    mc_scale_number(&o->x, (size_t)fmax(width / (o->x.widest + NAME_APART), 2));
    mc_scale_number(&o->y, (size_t)fmax(height / NUMBERS_APART, 2));
    mc_figure_numbers(o->g, "X_NUMBERS", 0, &o->x);
    mc_figure_numbers(o->g, "Y_NUMBERS", 0, &o->y);
    choose_text(y_names + o->to_scale, 3 - (size_t)o->to_scale, height + 2, y_name, sizeof y_name);
    mc_figure_text(o->g, "Y_NAME", 0, y_name, MC_GNUPLOT_LABEL);
    fprintf(f, "X_FROM = %.9g\nX_TO = %.9g\nY_FROM = %.9g\nY_TO = %.9g\nHEIGHT = %.6g\n", o->x.from,
            o->x.to, o->y.from, o->y.to, height);
    fprintf(f, "Y_NAME_X = %.6g\nX_NAME_Y = %.6g\nHEADER_Y = %.6g\n",
            (o->page.left - MC_PAGE_EDGE - .2) / o->g->wide,
            (MC_PAGE_NUMBERS + MC_PAGE_NAME / 2) / o->g->high, .55 * MC_PAGE_HEADER / o->g->high);
    fputs("array LEFT[2]\narray RIGHT[2]\narray TOP[2]\narray BOTTOM[2]\narray HEADER[2]\n"
          "array FIRST[2]\narray LAST[2]\narray STEP[2]\narray NUMBERS[2]\n",
          f);
    mc_figure_data_name(o->p, data, sizeof data);
    for (size_t q = 0; q < 2; q++) {
        struct mc_scale *c = &o->colour[q];
        const struct mc_box b = mc_page_panel(&o->page, q);
        mc_page_put_x(o->g, "LEFT", q, b.left);
        mc_page_put_x(o->g, "RIGHT", q, b.right);
        mc_page_put_y(o->g, "TOP", q, b.top);
        mc_page_put_y(o->g, "BOTTOM", q, b.bottom);
        snprintf(header, sizeof header, "%s%s", data, q ? "accuracy (%)" : "loss");
        mc_text_fit(header, o->g->wide / (double)o->page.across - o->page.left, o->header[q],
                    sizeof o->header[q]);
        mc_figure_text(o->g, "HEADER", q + 1, o->header[q], MC_GNUPLOT_LABEL);
        fprintf(f, "FIRST[%zu] = %.0f\nLAST[%zu] = %.0f\nSTEP[%zu] = %.9g\n", q + 1,
                c->from / c->step, q + 1, c->to / c->step, q + 1, c->step);
        mc_scale_number(c, (size_t)fmax(height / NUMBERS_APART, 2));
        mc_figure_numbers(o->g, "NUMBERS", q + 1, c);
    }
}

int mc_figure_plane(struct mc_gnuplot *g, const struct mc_figure *p, const struct mc_grid *grids,
                    size_t fitted, const struct mc_mark *marks, size_t n, struct mc_error *err)
{
    struct layout o = {.g = g, .p = p, .grid = grids};

    mc_scale_exact(&o.x, grids->x[0], grids->x[grids->nx - 1]);
    mc_scale_exact(&o.y, grids->y[0], grids->y[grids->ny - 1]);
    for (size_t q = 0; q < 2; q++)
        choose_colours(&o.colour[q], p, grids, fitted, q);
    int rc = lay_out(&o, mc_page_title_height(p->title), err);
    if (rc)
        return rc;
    mc_page_put_title(g, p->title, o.page.top);
    write_panels(&o);
    write_names(&o, marks, n);
    write_marks(&o, marks, n);
    write_surface(g, grids);
    return 0;
}
