/* SPDX-License-Identifier: Apache-2.0
 *
 * Losses streams: what every single image gives along a path. formats/codecs/losses.md is the
 * specification. */
#ifndef MC_LOSSES_H
#define MC_LOSSES_H

#include "formats/stream/history.h"

struct mc_losses_data {
    char name[80];      /* as mc-eval heads its columns: "test", "test.robust" */
    char id[MC_ID_LEN]; /* the data set's content id */
    uint64_t images;    /* N: its first ones */
    float *loss;        /* (T,N) cross-entropy of the main head, in nats */
    uint8_t *correct;   /* (T,N) 1 where the largest logit is the label's, else 0 */
};

struct mc_losses {
    size_t T;      /* points, at least 2 */
    double *t;     /* (T) ascending from 0 to 1 */
    double *chord; /* (T-1) between neighbours: Euclidean, in parameter space */
    struct mc_losses_data *data;
    size_t n_data;
};

/* From an open reader, which stays the caller's. After an error there is nothing to release. */
MC_USE_RESULT int mc_losses_read_stream(struct mc_losses *out, struct mc_reader *r,
                                        struct mc_history *h, struct mc_error *err);
/* The same in two steps: what the header says, with the arrays NULL; and the rest. */
MC_USE_RESULT int mc_losses_begin(struct mc_losses *out, struct mc_reader *r, struct mc_history *h,
                                  struct mc_error *err);
MC_USE_RESULT int mc_losses_rest(struct mc_losses *out, struct mc_reader *r, struct mc_error *err);
MC_USE_RESULT int mc_losses_write(const struct mc_losses *l, const char *path,
                                  const struct mc_history *h, struct mc_error *err);
void mc_losses_release(struct mc_losses *l);

#endif
