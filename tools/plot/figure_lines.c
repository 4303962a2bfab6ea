/* SPDX-License-Identifier: Apache-2.0
 *
 * Panels of lines with a legend below, for lines.gp. */
#include "tools/plot/layers.h"
#include "tools/plot/lines.h"
#include "tools/plot/page.h"
#include "tools/plot/width.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE 3.4  /* length of a line in the legend, including the gap to its text */
#define SLANT_X .77 /* extent of a name rotated by 40 degrees */
#define SLANT_Y .64
#define APART_X 1 /* ems between numbers, names, slanted names */
#define APART_NAMES .8
#define APART_SLANTED 2
#define LONGEST_NAME 16
#define NUMBERS_APART 1.5

struct layout {
    struct mc_gnuplot *g;
    const struct mc_figure *p;
    struct mc_lines lines;
    struct mc_scale x; /* numbers on the x axis of a path or log */
    struct mc_page page;
    struct mc_legend legend;
    char header[2][300], spread[100];
    int spread_apart;       /* it needs its own line */
    struct mc_stage *names; /* (n_names) stages of a signature, rows of dots */
    size_t n_names;
    int slanted;
};

static int is_signature(const struct layout *o)
{
    return o->p->kind == MC_PICTURE_SIGNATURE;
}

/* Names along x instead of numbers. */
static int is_named(const struct layout *o)
{
    return is_signature(o) || o->p->kind == MC_PICTURE_DOTS;
}

static void choose_headers(struct layout *o, const struct mc_series *s, size_t n)
{
    char data[260];
    int alike = 1, spread = 0;

    for (size_t i = 0; i < n; i++) {
        alike &= s[i].tables == s[0].tables;
        spread |= s[i].spread;
    }
    if (o->p->kind == MC_PICTURE_DOTS) {
        snprintf(o->header[0], sizeof o->header[0], "%s",
                 o->p->y_name ? o->p->y_name
                 : n == 1     ? s[0].label
                              : "");
        strcpy(o->spread, spread ? "± sd" : "");
        return;
    }
    mc_figure_data_name(o->p, data, sizeof data);
    if (is_signature(o))
        strcpy(o->header[0], "mean correlation");
    else
        for (size_t k = 0; k < o->lines.panels; k++)
            snprintf(o->header[k], sizeof o->header[k], "%s%s", data, k ? "accuracy (%)" : "loss");
    if (spread && alike)
        snprintf(o->spread, sizeof o->spread, "%s± sd, n = %zu", is_signature(o) ? "" : "mean ",
                 s[0].tables);
    else if (spread)
        strcpy(o->spread, is_signature(o) ? "± sd" : "mean ± sd");
    if (is_signature(o) && n > 1)
        strcat(o->spread,
               *o->spread ? "; dashed: before the alignment" : "dashed: before the alignment");
}

/* Write the text after a legend label: the number of tables of series i, if it differs between
 * series, and how far its lines leave the frames. before: 1 or 0 for a signature's lines before or
 * after alignment, -1 for all. */
static void key_text(const struct layout *o, const struct mc_series *s, size_t n, size_t i,
                     int before, char *out, size_t size)
{
    int alike = 1;
    double above, below;
    char part[32];

    for (size_t j = 0; j < n; j++)
        alike &= s[j].tables == s[0].tables;
    *out = 0;
    if (!alike)
        snprintf(out, size, " (n = %zu)", s[i].tables);
    for (size_t k = 0; k < o->lines.panels; k++)
        for (size_t j = 0; j < o->lines.drawn; j++) {
            const struct mc_line *l = &o->lines.line[k][j];
            if (l->series != i || (before >= 0 && l->before != before))
                continue;
            mc_frame_outside(&o->lines.y[k], l, &above, &below);
            if (!isnan(above)) {
                snprintf(part, sizeof part, " ▲ %.3g%s", above, k ? "%" : "");
                strncat(out, part, size - strlen(out) - 1);
            }
            if (!isnan(below)) {
                snprintf(part, sizeof part, " ▼ %.3g%s", below, k ? "%" : "");
                strncat(out, part, size - strlen(out) - 1);
            }
        }
}

static size_t count_keys(const struct layout *o, size_t n)
{
    return is_signature(o) && n == 1 ? 2 : n;
}

/* Write the legend's texts and lay them out. */
static double write_keys(struct layout *o, const struct mc_series *s, size_t n)
{
    static const char *const ends[] = {"before alignment", "after alignment"};
    const size_t keys = count_keys(o, n);
    const double space = o->g->wide - 2 * MC_PAGE_EDGE - SAMPLE - APART_X;
    char more[160], text[400];
    double widest = 0;

    fprintf(o->g->script,
            "KEYS = %zu\narray KEY[KEYS]\narray KEY_LINE[KEYS]\narray KEY_BEFORE[KEYS]\n"
            "array KEY_X[KEYS]\narray KEY_Y[KEYS]\n",
            keys);
    for (size_t i = 0; i < keys; i++) {
        const int both = keys > n;
        key_text(o, s, n, both ? 0 : i, both ? i == 0 : -1, more, sizeof more);
        mc_text_fit(both ? ends[i] : s[i].label, fmax(space - mc_text_width(more), 4), text,
                    sizeof text - sizeof more);
        strcat(text, more);
        widest = fmax(widest, mc_text_width(text));
        mc_figure_text(o->g, "KEY", i + 1, text, MC_GNUPLOT_LABEL);
        fprintf(o->g->script, "KEY_LINE[%zu] = %zu\nKEY_BEFORE[%zu] = %d\n", i + 1,
                both ? 1 : i + 1, i + 1, both && i == 0);
    }
    return mc_page_legend(&o->legend, o->g->wide, keys, SAMPLE + widest + APART_X);
}

/* ---- the layout ------------------------------------------------------------------------------ */

/* Reserve space around a panel for the names along x: in one row if they fit, otherwise slanted. */
static void reserve_names(struct layout *o)
{
    struct mc_page *page = &o->page;
    const double rows = o->lines.x_to - o->lines.x_from;
    const double cell = (o->g->wide - page->left - MC_PAGE_GAP) / rows;
    const double longest_allowed = fmin(LONGEST_NAME, .35 * o->g->high / SLANT_Y);
    double longest = 0;

    for (size_t i = 0; i < o->n_names; i++)
        longest = fmax(longest, mc_text_width(o->names[i].name));
    o->slanted = o->n_names < (size_t)rows || longest > cell - APART_NAMES;
    if (!o->slanted) {
        page->below = MC_PAGE_NUMBERS;
        return;
    }
    longest = 0;
    for (size_t i = 0; i < o->n_names; i++) {
        char whole[MC_LAYER_NAME];
        strcpy(whole, o->names[i].name);
        longest =
            fmax(longest, mc_text_fit(whole, longest_allowed, o->names[i].name, MC_LAYER_NAME));
    }
    const struct mc_stage *last = &o->names[o->n_names - 1];
    const double over =
        SLANT_X * mc_text_width(last->name) - cell * (double)(last->end - last->first) / 2;
    page->right = fmax(page->right, over + MC_PAGE_GAP);
    page->below = SLANT_Y * longest + MC_PAGE_NUMBERS + .4;
}

static void reserve_numbers(struct layout *o)
{
    mc_scale_exact(&o->x, o->lines.x_from, o->lines.x_to);
    if (o->p->kind == MC_PICTURE_LOG)
        o->x.step = fmax(o->x.step, 1); /* epochs are whole numbers */
    mc_scale_number(&o->x, 12);
    o->page.right = fmax(o->page.right, o->x.widest / 2 + .3);
    o->page.below = MC_PAGE_NUMBERS + MC_PAGE_NAME;
}

/* Append the spread to each header that has space for it. */
static void join_spread(struct layout *o)
{
    const size_t panels = o->lines.panels;
    const char *between = !is_named(o) ? ", " : strncmp(o->spread, "±", strlen("±")) ? "; " : " ";
    const double pitch = o->g->wide / (double)panels;
    char text[420];

    o->spread_apart = *o->spread != 0;
    for (size_t k = 0; k < panels; k++) {
        const double space = pitch - (k + 1 == panels ? o->page.left : 0) - MC_PAGE_EDGE;
        snprintf(text, sizeof text, "%s%s%s", o->header[k], between, o->spread);
        if (*o->spread && mc_text_width(text) <= space) {
            mc_text_fit(text, space, o->header[k], sizeof o->header[k]);
            o->spread_apart = 0;
        } else {
            strcpy(text, o->header[k]);
            mc_text_fit(text, space, o->header[k], sizeof o->header[k]);
        }
    }
}

static int lay_out(struct layout *o, double title, double keys, struct mc_error *err)
{
    struct mc_page *page = &o->page;
    double widest = 0;

    for (size_t k = 0; k < o->lines.panels; k++) {
        mc_scale_number(&o->lines.y[k], 9);
        widest = fmax(widest, o->lines.y[k].widest);
    }
    *page = (struct mc_page){.wide = o->g->wide,
                             .panels = o->lines.panels,
                             .left = MC_PAGE_GAP + widest,
                             .right = MC_PAGE_EDGE,
                             .above = MC_PAGE_HEADER,
                             .min_width = 6,
                             .min_height = 4.5};
    if (is_named(o))
        reserve_names(o);
    else
        reserve_numbers(o);
    join_spread(o);
    page->top = title;
    o->legend.top = o->g->high - keys;
    page->bottom = o->legend.top - (o->spread_apart ? MC_PAGE_NAME : 0);
    int rc = mc_page_panels(page, o->g, err);
    if (rc)
        return rc;
    const struct mc_box b = mc_page_panel(page, 0);
    for (size_t k = 0; k < o->lines.panels; k++)
        mc_scale_number(&o->lines.y[k], (size_t)fmax((b.bottom - b.top) / NUMBERS_APART, 2));
    if (!is_named(o))
        mc_scale_number(&o->x, (size_t)fmax((b.right - b.left) / (o->x.widest + APART_X), 2));
    return 0;
}

/* ---- the script ------------------------------------------------------------------------------ */

static void write_panels(struct layout *o)
{
    FILE *f = o->g->script;

    fprintf(f, "PANELS = %zu\nX_FROM = %.9g\nX_TO = %.9g\nSLANTED = %d\n", o->lines.panels,
            o->lines.x_from, o->lines.x_to, o->slanted);
    mc_figure_text(o->g, "X_NAME", 0,
                   o->p->kind == MC_PICTURE_PATH  ? "t"
                   : o->p->kind == MC_PICTURE_LOG ? "epoch"
                                                  : "",
                   MC_GNUPLOT_LABEL);
    mc_figure_text(o->g, "SPREAD", 0, o->spread_apart ? o->spread : "", MC_GNUPLOT_LABEL);
    fprintf(f, "X_NAME_Y = %.6g\n", (MC_PAGE_NUMBERS + MC_PAGE_NAME / 2) / o->g->high);
    fprintf(f, "SPREAD_Y = %.6g\nHEADER_Y = %.6g\n",
            1 - (o->legend.top - MC_PAGE_NAME / 2) / o->g->high, .55 * MC_PAGE_HEADER / o->g->high);
    fputs("array LEFT[2]\narray RIGHT[2]\narray TOP[2]\narray BOTTOM[2]\narray HEADER[2]\n"
          "array FROM[2]\narray TO[2]\narray LOGARITHMIC[2]\narray ZERO[2]\narray NUMBERS[2]\n",
          f);
    for (size_t k = 0; k < o->lines.panels; k++) {
        const struct mc_scale *y = &o->lines.y[k];
        const struct mc_box b = mc_page_panel(&o->page, k);
        mc_page_put_x(o->g, "LEFT", k, b.left);
        mc_page_put_x(o->g, "RIGHT", k, b.right);
        mc_page_put_y(o->g, "TOP", k, b.top);
        mc_page_put_y(o->g, "BOTTOM", k, b.bottom);
        mc_figure_text(o->g, "HEADER", k + 1, o->header[k], MC_GNUPLOT_LABEL);
        fprintf(f, "FROM[%zu] = %.9g\nTO[%zu] = %.9g\nLOGARITHMIC[%zu] = %d\nZERO[%zu] = %.9g\n",
                k + 1, y->from, k + 1, y->to, k + 1, y->logarithmic, k + 1, y->zero);
        mc_figure_numbers(o->g, "NUMBERS", k + 1, y);
    }
}

/* Write the names or numbers of x that fit, and where stages start. */
static void write_names(struct layout *o)
{
    FILE *f = o->g->script;
    const struct mc_box b = mc_page_panel(&o->page, 0);
    const double unit = (o->lines.x_to - o->lines.x_from) / (b.right - b.left); /* x per em */
    double last = -INFINITY;
    size_t n = 0;

    fprintf(f, "array NAME[%zu]\narray AT[%zu]\n", o->x.n + o->n_names, o->x.n + o->n_names);
    for (size_t i = 0; i < o->x.n; i++) {
        mc_figure_text(o->g, "NAME", ++n, o->x.text[i], MC_GNUPLOT_TIC);
        fprintf(f, "AT[%zu] = %.9g\n", n, o->x.at[i]);
    }
    fprintf(f, "array BEGIN[%zu]\n", o->n_names + 1);
    for (size_t i = 0; i < o->n_names; i++) {
        const struct mc_stage *s = &o->names[i];
        const double at = (double)(s->first + 1 + s->end) / 2;
        fprintf(f, "BEGIN[%zu] = %zu.5\n", i + 1, s->first);
        if (o->slanted && at - last < APART_SLANTED * unit)
            continue;
        mc_figure_text(o->g, "NAME", ++n, s->name, MC_GNUPLOT_TIC);
        fprintf(f, "AT[%zu] = %.9g\n", n, at);
        last = at;
    }
    const int stages = is_signature(o) && o->n_names < o->lines.line[0][0].rows;
    fprintf(f, "NAMES = %zu\nSTAGES = %zu\n", n, stages ? o->n_names : 0);
}

/* Return the position of a value on an axis. */
static double on_axis(const struct mc_scale *y, double v)
{
    if (!y->logarithmic || v > 0)
        return v;
    return v == 0 && y->zero > 0 ? y->zero : y->from;
}

static void write_row(struct layout *o, const struct mc_scale *y, const struct mc_line *l, size_t r,
                      int spread)
{
    const double v = on_axis(y, l->y[r]), low = on_axis(y, l->y[r] - l->sd[r]),
                 high = on_axis(y, l->y[r] + l->sd[r]);
    const int alone = !l->joined[r] && (r + 1 == l->rows || !l->joined[r + 1]);
    const int band = spread && !alone, bar = spread && alone;

    fprintf(o->g->script, "%s%.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", l->joined[r] || !r ? "" : "\n",
            l->x[r], v, band ? low : NAN, band ? high : NAN, mc_lines_marked(o->p, l, r) ? v : NAN,
            bar ? low : NAN, bar ? high : NAN);
}

/* Find where a line crosses the edge of this side between rows r - 1 and r. Return 0 if it does
 * not. */
static int crosses(const struct mc_scale *y, const struct mc_line *l, size_t r, int side, double *x)
{
    double a = on_axis(y, l->y[r - 1]), b = on_axis(y, l->y[r]), c = side > 0 ? y->to : y->from;

    if (!l->joined[r] ||
        (mc_frame_side(y, l->y[r - 1]) == side) == (mc_frame_side(y, l->y[r]) == side))
        return 0;
    if (y->logarithmic) {
        a = log(a);
        b = log(b);
        c = log(c);
    }
    *x = l->x[r - 1] + (c - a) / (b - a) * (l->x[r] - l->x[r - 1]);
    return 1;
}

/* Write an arrow where a line leaves or enters the frame: panel, series, x, 1 above or -1 below. */
static void write_exits(struct layout *o)
{
    double x;

    fputs("$EXITS << END_OF_DATA\n0 0 NaN 0\n", o->g->script);
    for (size_t k = 0; k < o->lines.panels; k++)
        for (size_t i = 0; i < o->lines.drawn; i++) {
            const struct mc_line *l = &o->lines.line[k][i];
            const struct mc_scale *y = &o->lines.y[k];
            for (size_t r = 1; r < l->rows; r++)
                for (int up = -1; up <= 1; up += 2)
                    if (crosses(y, l, r, up, &x))
                        fprintf(o->g->script, "%zu %zu %.9g %d\n", k + 1, l->series + 1, x, up);
        }
    fputs("END_OF_DATA\n", o->g->script);
}

static void write_lines(struct layout *o, const struct mc_series *s)
{
    FILE *f = o->g->script;

    fprintf(f, "LINES = %zu\narray SERIES[LINES]\narray BEFORE[LINES]\n", o->lines.drawn);
    for (size_t i = 0; i < o->lines.drawn; i++)
        fprintf(f, "SERIES[%zu] = %zu\nBEFORE[%zu] = %d\n", i + 1, o->lines.line[0][i].series + 1,
                i + 1, o->lines.line[0][i].before);
    fputs("$DATA << END_OF_DATA\n", f);
    for (size_t k = 0; k < o->lines.panels; k++)
        for (size_t i = 0; i < o->lines.drawn; i++) {
            const struct mc_line *l = &o->lines.line[k][i];
            for (size_t r = 0; r < l->rows; r++)
                write_row(o, &o->lines.y[k], l, r, s[l->series].spread);
            fputs("\n\n", f);
        }
    fputs("END_OF_DATA\n", f);
}

/* Return the number of equal series before series i, which series i would hide. */
static size_t same_before(const struct mc_series *s, size_t i)
{
    size_t same = 0;

    for (size_t j = 0; j < i; j++)
        same += s[j].rows == s[i].rows &&
                !memcmp(s[j].mean, s[i].mean, s[i].rows * s[i].cols * sizeof *s[i].mean);
    return same;
}

static int draw(struct layout *o, const struct mc_series *s, size_t n, size_t fitted,
                struct mc_error *err)
{
    int rc = mc_lines_init(&o->lines, o->p, s, n, fitted, err);

    if (!rc && is_signature(o))
        rc = mc_layers_name(&o->names, &o->n_names, &s[0].table, err);
    else if (!rc && is_named(o))
        rc = mc_rows_name(&o->names, &o->n_names, &s[0].table, o->p->rows, err);
    if (rc)
        return rc;
    choose_headers(o, s, n);
    const double title = mc_page_title_height(o->p->title);
    mc_page_put_title(o->g, o->p->title, title);
    const double keys = write_keys(o, s, n);
    if ((rc = lay_out(o, title, keys, err)))
        return rc;
    write_panels(o);
    write_names(o);
    fprintf(o->g->script, "KEY_SAMPLE = %.6g\n", (SAMPLE - .5) / o->g->wide);
    for (size_t i = 0; i < o->legend.n; i++) {
        double x, y;
        mc_page_key(&o->legend, i, &x, &y);
        mc_page_put_x(o->g, "KEY_X", i, x);
        mc_page_put_y(o->g, "KEY_Y", i, y);
    }
    fprintf(o->g->script, "N = %zu\narray SAME[N]\n", n);
    for (size_t i = 0; i < n; i++)
        fprintf(o->g->script, "SAME[%zu] = %zu\n", i + 1, same_before(s, i));
    write_exits(o);
    write_lines(o, s);
    return 0;
}

int mc_figure_lines(struct mc_gnuplot *g, const struct mc_figure *p, const struct mc_series *s,
                    size_t n, size_t fitted, struct mc_error *err)
{
    struct layout o = {.g = g, .p = p};
    int rc = draw(&o, s, n, fitted, err);

    mc_lines_release(&o.lines);
    free(o.names);
    return rc;
}
