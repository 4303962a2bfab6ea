/* SPDX-License-Identifier: Apache-2.0
 *
 * Drawing with gnuplot: a script is written piece by piece, its values quoted, then run; the
 * picture appears whole or not at all.
 *
 *     struct mc_gnuplot g = {0};
 *     mc_gnuplot_open(&g, MC_SVG, 960, 480, &err);
 *     fprintf(g.script, "XLABEL = 't'\n");
 *     mc_gnuplot_quote(&g, label, MC_GNUPLOT_LABEL);
 *     rc = mc_gnuplot_draw(&g, "lines.gp", path, &err);
 *     mc_gnuplot_release(&g); */
#ifndef MC_GNUPLOT_H
#define MC_GNUPLOT_H

#include "libcommon/base/error.h"

#include <stdio.h>

enum mc_image { MC_SVG, MC_PNG, MC_PDF };

struct mc_gnuplot {
    enum mc_image format;
    FILE *script;      /* what gnuplot will read; write errors show at mc_gnuplot_draw */
    double wide, high; /* the picture's size in ems of its font */
    double em;         /* its font's size in the units of the picture's size */
    int in_cm;
};

/* Begins with the terminal. in_cm 0: size in pixels (a PDF's: points), fonts that grow with it;
 * else in centimetres, fonts in points as on paper, a PNG of 300 dots an inch. */
MC_USE_RESULT int mc_gnuplot_open(struct mc_gnuplot *g, enum mc_image format, double width,
                                  double height, int in_cm, struct mc_error *err);
void mc_gnuplot_release(struct mc_gnuplot *g); /* also of one that is zeroed */
/* What text a string is for. */
enum mc_gnuplot_text {
    MC_GNUPLOT_LABEL,
    MC_GNUPLOT_TIC /* in which gnuplot takes % for the beginning of a format */
};
/* Write text as a gnuplot string: nothing in it is expanded; control characters become blanks, what
 * is not UTF-8 or no character becomes U+FFFD, and "]>" is held together by a word joiner. */
void mc_gnuplot_quote(struct mc_gnuplot *g, const char *text, enum mc_gnuplot_text kind);
/* Run the script, then the named one of tools/plot/ (found at ../share/mc beside the running
 * program), and put the picture at `path`, stdout for NULL or "-". MC_EFAIL with gnuplot's first
 * words if it is missing, fails, is killed, or the picture lacks its first or last bytes; MC_EUSAGE
 * for a PNG or PDF to a terminal. */
MC_USE_RESULT int mc_gnuplot_draw(struct mc_gnuplot *g, const char *script, const char *path,
                                  struct mc_error *err);

#endif
