/* SPDX-License-Identifier: Apache-2.0
 *
 * The axes of a picture: what they span, and the numbers along them. */
#ifndef MC_SCALE_H
#define MC_SCALE_H

#include <stddef.h>

#define MC_MAX_TICS 32

struct mc_scale {
    double from, to;
    double step;    /* linear: from and to are multiples of it unless they were given */
    double zero;    /* logarithmic: where values of 0 are drawn, near the axis's foot; else 0 */
    double numbers; /* logarithmic: the axis has numbers from here on */
    int logarithmic;
    size_t n;
    double at[MC_MAX_TICS]; /* (n), and their texts */
    char text[MC_MAX_TICS][24];
    double widest; /* text, in ems */
};

/* The greatest step of 1, 2 or 5 in some place that cuts a range into at least `parts`. */
double mc_scale_step(double range, double parts);
/* A linear axis over [low, high], rounded outwards to whole steps; equal ones are moved apart
 * within [least, most]. */
void mc_scale_round(struct mc_scale *a, double low, double high, double least, double most);
/* A linear axis from low to high, not rounded. */
void mc_scale_exact(struct mc_scale *a, double low, double high);
/* A logarithmic axis over [low, high], 0 < low <= high; zero: with a place for zeros. */
void mc_scale_log(struct mc_scale *a, double low, double high, int zero);
/* Numbers along the axis, at most `most`, which is at least 2. */
void mc_scale_number(struct mc_scale *a, size_t most);

#endif
