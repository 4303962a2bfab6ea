/* SPDX-License-Identifier: Apache-2.0
 *
 * The places of a picture's parts. All lengths are ems of its font, from its left and upper
 * edge. */
#ifndef MC_PAGE_H
#define MC_PAGE_H

#include "tools/plot/gnuplot.h"

#define MC_PAGE_HEADER 1.7  /* height of the line above a panel */
#define MC_PAGE_NUMBERS 1.9 /* of the numbers below a panel, with their tics */
#define MC_PAGE_NAME 1.3    /* of an axis's name */
#define MC_PAGE_GAP 1.3     /* between an axis and the numbers left or right of it, and the edge */
#define MC_PAGE_EDGE .6

/* A legend: entries column by column. */
struct mc_legend {
    size_t n, rows, cols;
    double entry, left, top; /* width of an entry; the first one's place */
};

/* Panels beside each other, or on top of each other. */
struct mc_page {
    double top, bottom; /* of the room for panels */
    double wide;
    size_t panels, across, down;
    double left, right, above, below; /* the room that each panel's texts need around it */
    double min_width, min_height;     /* of a panel */
};

struct mc_box {
    double left, right, top, bottom;
};

/* The height of a title, which may be NULL, with the edge above it. */
double mc_page_title_height(const char *title);
/* Write the title's variables, shortened if it does not fit: TITLE, TITLE_SIZE (of the font),
 * TITLE_Y. bottom: of its height. */
void mc_page_put_title(struct mc_gnuplot *g, const char *title, double bottom);
/* Lay out n entries, the widest of `widest`. Returns the height that they need; their top is the
 * caller's to set. */
double mc_page_legend(struct mc_legend *l, double wide, size_t n, double widest);
/* The place of entry i: its left end, the middle of its height. */
void mc_page_key(const struct mc_legend *l, size_t i, double *x, double *y);
/* Place the panels beside each other if that leaves them room, else on top of each other.
 * MC_EUSAGE with the size that would do. */
MC_USE_RESULT int mc_page_panels(struct mc_page *p, const struct mc_gnuplot *g,
                                 struct mc_error *err);
struct mc_box mc_page_panel(const struct mc_page *p, size_t i);
/* Write "NAME[i] = fraction of the width (height, from below)". */
void mc_page_put_x(struct mc_gnuplot *g, const char *name, size_t i, double x);
void mc_page_put_y(struct mc_gnuplot *g, const char *name, size_t i, double y);

#endif
