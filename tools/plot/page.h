/* SPDX-License-Identifier: Apache-2.0
 *
 * Layout of a picture. All lengths are ems of its font, measured from its left and top edges. */
#ifndef MC_PAGE_H
#define MC_PAGE_H

#include "tools/plot/gnuplot.h"

#define MC_PAGE_HEADER 1.7  /* height of the line above a panel */
#define MC_PAGE_NUMBERS 1.9 /* height of the numbers below a panel, including tics */
#define MC_PAGE_NAME 1.3    /* height of an axis's name */
#define MC_PAGE_GAP 1.3     /* between an axis, its numbers and the edge */
#define MC_PAGE_EDGE .6

/* A legend; entries run down the columns. */
struct mc_legend {
    size_t n, rows, cols;
    double entry, left, top; /* width of an entry; position of the first */
};

/* Panels in a row or in a column. */
struct mc_page {
    double top, bottom; /* edges of the area for panels */
    double wide;
    size_t panels, across, down;
    double left, right, above, below; /* space around each panel for its texts */
    double min_width, min_height;     /* minimum panel size */
};

struct mc_box {
    double left, right, top, bottom;
};

/* Height of a title (may be NULL) with the margin above it. */
double mc_page_title_height(const char *title);
/* Write the title's variables TITLE (shortened to fit), TITLE_SIZE (relative to the font) and
 * TITLE_Y. bottom: lower edge of the title. */
void mc_page_put_title(struct mc_gnuplot *g, const char *title, double bottom);
/* Lay out n entries, the widest of width `widest`. Returns the legend's height. The caller sets its
 * top. */
double mc_page_legend(struct mc_legend *l, double wide, size_t n, double widest);
/* Position of entry i: left edge, vertical centre. */
void mc_page_key(const struct mc_legend *l, size_t i, double *x, double *y);
/* Arrange the panels in a row if they fit, else in a column. MC_EUSAGE: neither fits; the message
 * names a sufficient size. */
MC_USE_RESULT int mc_page_panels(struct mc_page *p, const struct mc_gnuplot *g,
                                 struct mc_error *err);
struct mc_box mc_page_panel(const struct mc_page *p, size_t i);
/* Write "NAME[i] = fraction" of the width, or of the height from below. */
void mc_page_put_x(struct mc_gnuplot *g, const char *name, size_t i, double x);
void mc_page_put_y(struct mc_gnuplot *g, const char *name, size_t i, double y);

#endif
