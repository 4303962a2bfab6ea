/* SPDX-License-Identifier: Apache-2.0
 *
 * Drawing with gnuplot. A script is written piece by piece, its values quoted, and then run. The
 * output is complete or not written at all.
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
    FILE *script;      /* gnuplot's input; mc_gnuplot_draw reports write errors */
    double wide, high; /* size of the picture in ems */
    double em;         /* font size in units of the picture's size */
    int in_cm;
};

/* Start a script with its terminal. in_cm 0: size in pixels (a PDF's: points), fonts scale with it.
 * Otherwise: size in centimetres, fonts in points as on paper, a PNG has 300 dots per inch. */
MC_USE_RESULT int mc_gnuplot_open(struct mc_gnuplot *g, enum mc_image format, double width,
                                  double height, int in_cm, struct mc_error *err);
void mc_gnuplot_release(struct mc_gnuplot *g); /* g may be zeroed */
/* Use of a text. */
enum mc_gnuplot_text {
    MC_GNUPLOT_LABEL,
    MC_GNUPLOT_TIC /* gnuplot interprets % as a format here */
};
/* Write text as a gnuplot string without any expansion. Control characters become spaces, invalid
 * UTF-8 and noncharacters become U+FFFD, and a word joiner is inserted into "]>". */
void mc_gnuplot_quote(struct mc_gnuplot *g, const char *text, enum mc_gnuplot_text kind);
/* Run the script followed by `script` of tools/plot/ (in ../share/mc relative to the program), and
 * write the picture to path (stdout for NULL or "-"). MC_EFAIL: gnuplot is missing, fails or is
 * killed, or the picture is incomplete; the message quotes gnuplot. MC_EUSAGE: a PNG or PDF to a
 * terminal. */
MC_USE_RESULT int mc_gnuplot_draw(struct mc_gnuplot *g, const char *script, const char *path,
                                  struct mc_error *err);

#endif
