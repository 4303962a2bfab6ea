/* SPDX-License-Identifier: Apache-2.0
 *
 * Intervals of what is reported of a path, by resampling the images it was measured on: Efron and
 * Tibshirani, "An Introduction to the Bootstrap", 1993, percentile intervals (chapter 13), paired
 * where two paths were measured on the same images. They say nothing of other networks: that is the
 * spread over pairs of seeds. */
#ifndef MC_BOOTSTRAP_H
#define MC_BOOTSTRAP_H

#include "formats/codecs/losses.h"

struct mc_bootstrap_options {
    uint64_t resamples; /* R, at least 2: each draws N of the N images, with replacement */
    uint64_t seed;
    double level; /* of the intervals, above 0 and below 1 */
    int threads;  /* 0: all cores */
};

/* A figure, and its interval. Minimum, maximum and barrier are taken, in every resample too, at the
 * point where the measured path has them: the extreme of each resample would lie further out the
 * noisier the points are. They are then the figures of that one point, which was chosen for being
 * extreme. The interval is the quantiles (1 - level) / 2 and (1 + level) / 2 of the resamples'
 * figures, linear between neighbours. */
struct mc_interval {
    double value, low, high;
};

enum mc_bootstrap_figure {
    MC_BOOTSTRAP_ENDS, /* the mean of both */
    MC_BOOTSTRAP_MEAN,
    MC_BOOTSTRAP_ARC_MEAN,
    MC_BOOTSTRAP_MIN,
    MC_BOOTSTRAP_MAX,
    MC_BOOTSTRAP_BARRIER,
    MC_BOOTSTRAP_FIGURES
};
extern const char *const mc_bootstrap_figure_names[MC_BOOTSTRAP_FIGURES];

/* Of one data set and quantity. */
struct mc_bootstrap {
    struct mc_interval of[2][MC_BOOTSTRAP_FIGURES];      /* the first path, the second */
    struct mc_interval difference[MC_BOOTSTRAP_FIGURES]; /* second - first */
};

/* Memory of a and b (NULL: none), whose headers suffice, and of resampling them. */
double mc_bootstrap_bytes(const struct mc_losses *a, const struct mc_losses *b,
                          const struct mc_bootstrap_options *o);
/* The figures of mc-eval's summary of data set `first` of path a, and of `second` of path b (NULL:
 * none), the same images: losses in nats, or with `accuracy` percent of correct images, whose
 * barrier is how far they fall under the line between the ends. The same draws serve both paths and
 * both quantities, and the result does not depend on threads. MC_ENOMEM. */
MC_USE_RESULT int mc_bootstrap(struct mc_bootstrap *out, const struct mc_losses *a, size_t first,
                               const struct mc_losses *b, size_t second, int accuracy,
                               const struct mc_bootstrap_options *o, struct mc_error *err);

#endif
