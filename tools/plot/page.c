/* SPDX-License-Identifier: Apache-2.0
 *
 * Layout in ems, so that texts fit alike at every size. */
#include "tools/plot/page.h"

#include "tools/plot/figure.h"
#include "tools/plot/width.h"

#include <math.h>

#define TITLE_SIZE 1.2 /* relative to the font, if the title fits */
#define KEY 1.35       /* height of a legend entry */

double mc_page_title_height(const char *title)
{
    return title ? MC_PAGE_EDGE + TITLE_SIZE : MC_PAGE_EDGE / 2;
}

void mc_page_put_title(struct mc_gnuplot *g, const char *title, double bottom)
{
    char text[1000] = "";
    double size = TITLE_SIZE;
    const double space = g->wide - 2 * MC_PAGE_EDGE;

    if (title) {
        size = fmin(size, fmax(space / fmax(mc_text_width(title), 1), 1));
        mc_text_fit(title, space / size, text, sizeof text);
    }
    mc_figure_text(g, "TITLE", 0, text, MC_GNUPLOT_LABEL);
    fprintf(g->script, "TITLE_SIZE = %.4g\nTITLE_Y = %.6g\n", size,
            1 - (bottom - TITLE_SIZE / 2) / g->high);
}

double mc_page_legend(struct mc_legend *l, double wide, size_t n, double widest)
{
    const double space = wide - 2 * MC_PAGE_EDGE;
    const size_t max_cols = widest < space ? (size_t)(space / widest) : 1;

    l->n = n;
    l->rows = (n + max_cols - 1) / max_cols;
    l->cols = (n + l->rows - 1) / l->rows;
    l->entry = widest;
    l->left = (wide - (double)l->cols * widest) / 2;
    return KEY * (double)l->rows + MC_PAGE_EDGE;
}

void mc_page_key(const struct mc_legend *l, size_t i, double *x, double *y)
{
    *x = l->left + l->entry * (double)(i / l->rows);
    *y = l->top + KEY * ((double)(i % l->rows) + .5);
}

static void arrange(struct mc_page *p, size_t across)
{
    p->across = across;
    p->down = (p->panels + across - 1) / across;
}

struct mc_box mc_page_panel(const struct mc_page *p, size_t i)
{
    const double width = p->wide / (double)p->across,
                 height = (p->bottom - p->top) / (double)p->down;
    const double x = width * (double)(i % p->across), y = p->top + height * (double)(i / p->across);

    return (struct mc_box){x + p->left, x + width - p->right, y + p->above, y + height - p->below};
}

static int fits(const struct mc_page *p)
{
    const struct mc_box b = mc_page_panel(p, 0);

    return b.right - b.left >= p->min_width && b.bottom - b.top >= p->min_height;
}

int mc_page_panels(struct mc_page *p, const struct mc_gnuplot *g, struct mc_error *err)
{
    arrange(p, p->panels);
    if (fits(p))
        return 0;
    arrange(p, 1);
    if (fits(p))
        return 0;
    const double panels = (double)p->panels;
    const double width = fmax(g->wide, panels * (p->left + p->right + p->min_width));
    const double height =
        fmax(g->high, g->high - p->bottom + p->top + p->above + p->below + p->min_height);
    if (g->in_cm)
        return mc_fail(err, MC_EUSAGE, "--size must be at least %.1fx%.1fcm for this picture",
                       ceil(width * g->em * 10) / 10, ceil(height * g->em * 10) / 10);
    return mc_fail(err, MC_EUSAGE, "--size must be at least %.0fx%.0f for this picture",
                   ceil(width * g->em), ceil(height * g->em));
}

void mc_page_put_x(struct mc_gnuplot *g, const char *name, size_t i, double x)
{
    fprintf(g->script, "%s[%zu] = %.6g\n", name, i + 1, x / g->wide);
}

void mc_page_put_y(struct mc_gnuplot *g, const char *name, size_t i, double y)
{
    fprintf(g->script, "%s[%zu] = %.6g\n", name, i + 1, 1 - y / g->high);
}
