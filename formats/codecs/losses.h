/* SPDX-License-Identifier: Apache-2.0
 *
 * Losses streams: the loss of every image along a path. formats/codecs/losses.md is the
 * specification. */
#ifndef MC_LOSSES_H
#define MC_LOSSES_H

#include "formats/stream/history.h"

#define MC_LOSSES_MAX_IMAGES (1u << 22) /* per data set, so that a point fits in one record */

struct mc_losses_data {
    char name[80];      /* a column of mc-eval: "test", "test.robust" */
    char id[MC_ID_LEN]; /* the data set's content id */
    uint64_t images;    /* N, the first images of the data set */
    float *loss;        /* (T,N) cross-entropy of the main head, in nats */
    uint8_t *correct;   /* (T,N) 1 if the largest logit is the label's, else 0 */
};

struct mc_losses {
    size_t T;      /* points, at least 2 */
    double *t;     /* (T) ascending from 0 to 1 */
    double *chord; /* (T-1) Euclidean distance to the next point, in parameter space */
    struct mc_losses_data *data;
    size_t n_data;
};

/* Read from an open reader, which remains the caller's. After an error nothing needs release. */
MC_USE_RESULT int mc_losses_read_stream(struct mc_losses *out, struct mc_reader *r,
                                        struct mc_history *h, struct mc_error *err);
/* The same in two steps: the header, with all arrays NULL, and then the rest. */
MC_USE_RESULT int mc_losses_begin(struct mc_losses *out, struct mc_reader *r, struct mc_history *h,
                                  struct mc_error *err);
MC_USE_RESULT int mc_losses_rest(struct mc_losses *out, struct mc_reader *r, struct mc_error *err);
MC_USE_RESULT int mc_losses_write(const struct mc_losses *l, const char *path,
                                  const struct mc_history *h, struct mc_error *err);
void mc_losses_release(struct mc_losses *l);

#endif
