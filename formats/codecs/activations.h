/* SPDX-License-Identifier: Apache-2.0
 *
 * Activations streams (mc-acts --raw): one network's activations in batches, for custom measures.
 * formats/codecs/activations.md is the specification.
 *
 * meta: at, groups, taps and conditions as in moments; images, batch. Tensors: tap i "i/NAME"
 * (images, K, H, W) float32. Records cycle through the taps batch by batch; a large tap's batch may
 * need several records. */
#ifndef MC_ACTIVATIONS_H
#define MC_ACTIVATIONS_H

#include "formats/codecs/moments.h"

struct mc_activations_writer;
struct mc_activations_shape {
    const struct mc_taps *taps;
    const int (*hw)[2]; /* (n_taps) height and width of each tap */
    uint64_t images;
    size_t batch;
    struct mc_conditions conditions;
};
MC_USE_RESULT int mc_activations_create(struct mc_activations_writer **out, const char *path,
                                        const struct mc_activations_shape *shape,
                                        const struct mc_history *h, struct mc_error *err);
/* Write the next n images of tap i: (n, K, H, W). Call for every tap in order, batch by batch. */
MC_USE_RESULT int mc_activations_write(struct mc_activations_writer *a, size_t tap, size_t n,
                                       const float *data, struct mc_error *err);
/* If rc, the caller's result so far, is 0, commit, as mc_writer_close; otherwise no file remains.
 * Returns rc, or the error of the commit. Frees a, which may be NULL. */
MC_USE_RESULT int mc_activations_commit(struct mc_activations_writer *a, int rc,
                                        struct mc_error *err);

/* The stream's images and images per batch, and a position in it: the batch's first image, the tap,
 * and the next image of the tap's batch, from 0. */
struct mc_activations_position {
    uint64_t images, batch, first, image;
    size_t tap, n_taps;
};
/* Read only: mc_activations_next moves the position. */
struct mc_activations_reader {
    struct mc_reader *r; /* owned */
    struct mc_taps taps;
    struct mc_activations_position position;
    struct mc_conditions conditions;
};
MC_USE_RESULT int mc_activations_open(struct mc_activations_reader **out, const char *path,
                                      struct mc_error *err);
/* The same for an open reader, if the kind was not known before. The new reader owns r; after an
 * error r is closed. */
MC_USE_RESULT int mc_activations_open_stream(struct mc_activations_reader **out,
                                             struct mc_reader *r, struct mc_error *err);
/* Read the next record: *tap, *n images, *data (n, K, H, W) valid until the next call, *hw pixels
 * per channel. Returns 1, 0 at the verified end, or an error. */
MC_USE_RESULT int mc_activations_next(struct mc_activations_reader *a, size_t *tap, size_t *n,
                                      const float **data, size_t *hw, struct mc_error *err);
void mc_activations_close(struct mc_activations_reader *a);
/* Check all of an open reader, which remains the caller's, as mc_activations_next does. */
MC_USE_RESULT int mc_activations_check(struct mc_reader *r, struct mc_error *err);

#endif
