/* SPDX-License-Identifier: Apache-2.0
 *
 * What the codecs share: checking a stream's tensors against what its meta promises, reading them
 * whole into memory that grows only as data really arrives, and writing them. Used by formats/
 * only. */
#ifndef MC_TENSORS_H
#define MC_TENSORS_H

#include "formats/stream/history.h"
#include "formats/stream/pack.h"
#include "formats/stream/reader.h"

/* One piece of memory that tensors are read into: 64-byte aligned, zeroed, free() it. */
struct mc_sink {
    void *data;   /* NULL before */
    size_t bytes; /* its size when all has come */
    size_t have;  /* its size now */
};

/* Where a tensor goes: sink and byte offset in it. */
struct mc_place {
    size_t sink, offset;
};

/* Read the stream to its verified end. places: one a tensor of the stream; its bytes must fit in
 * its sink's. The records must come in the tensors' order (MC_EINPUT), so that a header's
 * announcement alone allocates nothing. On success every sink is complete; after an error free
 * them all the same. */
MC_USE_RESULT int mc_tensors_read(struct mc_reader *r, const struct mc_place *places,
                                  struct mc_sink *sinks, size_t n_sinks, struct mc_error *err);
void mc_sinks_free(struct mc_sink *sinks, size_t n); /* their data, not the array; NULL is fine */
/* Hand the sink's data over. */
void *mc_sink_detach(struct mc_sink *s);

/* Zeroed, 64-byte aligned, never NULL but for lack of memory. */
void *mc_aligned_zeros(size_t bytes);

/* MC_EINPUT unless the stream announces n tensors; unless its tensor i is this one. */
MC_USE_RESULT int mc_expect_count(const struct mc_reader *r, size_t n, struct mc_error *err);
MC_USE_RESULT int mc_expect_tensor(const struct mc_reader *r, size_t i,
                                   const struct mc_tensor *want, struct mc_error *err);

/* For streams whose tensors are each a piece of memory of its own. Open one of this kind, and take
 * it into the history (may be NULL): */
MC_USE_RESULT int mc_open_kind(struct mc_reader **r, const char *path, const char *kind,
                               struct mc_history *h, struct mc_error *err);
/* read it to its end: *data receives n pointers, each as of mc_tensors_read, which the caller frees
 * one by one and all. The stream must announce the tensors `want` (n), or MC_EINPUT; */
MC_USE_RESULT int mc_tensors_read_each(struct mc_reader *r, const struct mc_tensor *want, size_t n,
                                       void ***data, struct mc_error *err);
/* write one, from its header to the commit; nothing is left behind after an error. */
MC_USE_RESULT int mc_tensors_write_each(const char *path, const char *kind,
                                        const struct mc_pack *meta, const struct mc_tensor *tensors,
                                        const void *const *data, size_t n,
                                        const struct mc_history *h, struct mc_error *err);

/* Finite, or MC_EINPUT `file: "name" holds a value that is not finite` (file NULL: left out). */
MC_USE_RESULT int mc_finite_f32(const float *x, size_t n, const char *file, const char *name,
                                struct mc_error *err);
MC_USE_RESULT int mc_finite_f64(const double *x, size_t n, const char *file, const char *name,
                                struct mc_error *err);

#endif
