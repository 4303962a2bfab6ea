/* SPDX-License-Identifier: Apache-2.0
 *
 * Axes of a picture: their ranges and numbers. */
#ifndef MC_SCALE_H
#define MC_SCALE_H

#include <stddef.h>

#define MC_MAX_TICS 32

struct mc_scale {
    double from, to;
    double step;    /* linear: from and to are multiples of it, unless exact */
    double zero;    /* logarithmic: position of zeros near the axis's start, or 0 */
    double numbers; /* logarithmic: numbers start here */
    int logarithmic;
    size_t n;
    double at[MC_MAX_TICS]; /* (n), with their texts */
    char text[MC_MAX_TICS][24];
    double widest; /* widest text, in ems */
};

/* Largest step of 1, 2 or 5 times a power of ten that divides a range into at least `parts`. */
double mc_scale_step(double range, double parts);
/* A linear axis over [low, high], rounded outwards to whole steps. Equal ends are moved apart
 * within [min, max]. */
void mc_scale_round(struct mc_scale *a, double low, double high, double min, double max);
/* A linear axis from low to high, not rounded. */
void mc_scale_exact(struct mc_scale *a, double low, double high);
/* A logarithmic axis over [low, high], 0 < low <= high. zero: reserve a position for zeros. */
void mc_scale_log(struct mc_scale *a, double low, double high, int zero);
/* Place at most `max` >= 2 numbers along the axis. */
void mc_scale_number(struct mc_scale *a, size_t max);

#endif
