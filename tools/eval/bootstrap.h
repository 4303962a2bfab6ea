/* SPDX-License-Identifier: Apache-2.0
 *
 * Bootstrap intervals for a path's results, by resampling the images that the path was measured on.
 * They are percentile intervals (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993,
 * chapter 13), paired if two paths were measured on the same images. They do not describe the
 * variation between networks; use several pairs of seeds for that. */
#ifndef MC_BOOTSTRAP_H
#define MC_BOOTSTRAP_H

#include "formats/codecs/losses.h"

struct mc_bootstrap_options {
    uint64_t resamples; /* R, at least 2; each draws N of the N images with replacement */
    uint64_t seed;
    double level; /* confidence level, in (0,1) */
    int threads;  /* 0: all cores */
};

/* A result with its interval. Minimum, maximum and barrier of a resample are measured at the point
 * where the original path has them, not at the resample's own extreme, which would grow with the
 * noise of the points. The interval runs from quantile (1 - level) / 2 to (1 + level) / 2 of the
 * resamples' results, with linear interpolation. */
struct mc_interval {
    double value, low, high;
};

enum { MC_BOOTSTRAP_FIGURES = 6 };
/* The names of the results, in their order; `ends` is the mean of both ends. */
extern const char *const mc_bootstrap_figure_names[MC_BOOTSTRAP_FIGURES];

/* Intervals for one data set and quantity. */
struct mc_bootstrap {
    struct mc_interval path[2][MC_BOOTSTRAP_FIGURES];    /* first path, second path */
    struct mc_interval difference[MC_BOOTSTRAP_FIGURES]; /* second - first */
};

/* Memory of a, b (may be NULL) and their resamples. Headers of a and b are enough. */
double mc_bootstrap_bytes(const struct mc_losses *a, const struct mc_losses *b,
                          const struct mc_bootstrap_options *o);
/* Compute the results of mc-eval's summary for data set `first` of path a and `second` of path b
 * (may be NULL), which must be the same images. They are losses in nats or, with `accuracy`,
 * percentages of correct images, whose barrier is the drop below the line between the ends. Both
 * paths and both quantities use the same draws. The result does not depend on threads. Returns 0 or
 * MC_ENOMEM. */
MC_USE_RESULT int mc_bootstrap(struct mc_bootstrap *out, const struct mc_losses *a, size_t first,
                               const struct mc_losses *b, size_t second, int accuracy,
                               const struct mc_bootstrap_options *o, struct mc_error *err);

#endif
