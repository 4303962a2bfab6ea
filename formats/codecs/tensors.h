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

/* Which tensors a stream holds, and where in memory they are; for writing, its kind and meta too.
 * One description serves reading and writing. Zero-initialised it is empty; failures for lack of
 * memory are sticky. */
struct mc_layout {
    const char *kind;
    struct mc_pack meta; /* an open map */
    struct mc_tensor *tensors;
    struct mc_place { /* of a tensor: its block, and the byte offset in it */
        size_t block, offset;
    } * places;
    struct mc_block {
        const void *pointer; /* where the pointer to it lies */
        void *data;          /* while it is read */
        size_t bytes, have;  /* its size when all has come, and now */
    } * blocks;
    size_t n, n_blocks;
    int failed;
};

/* Its name becomes this one behind `prefix`, cut where it is too long. */
void mc_tensor_prefix(struct mc_tensor *t, const char *prefix, const char *name);

/* Begin the meta, a map of so many keys, which are packed into l->meta next. l stays where it
 * is. */
void mc_layout_meta(struct mc_layout *l, const char *kind, size_t keys);
/* A block of memory of so many bytes, which *pointer (of any object type) points to. */
void mc_layout_block(struct mc_layout *l, const void *pointer, size_t bytes);
/* The next tensor, from this byte of the last block on. */
void mc_layout_tensor(struct mc_layout *l, const struct mc_tensor *t, size_t offset);
/* A tensor that has a block of its own. */
void mc_layout_add(struct mc_layout *l, const struct mc_tensor *t, const void *pointer);

/* Read the stream to its verified end, and empty l whatever comes. The stream must announce these
 * tensors, and its records must come in their order (MC_EINPUT), so that a header's announcement
 * alone allocates nothing. On success each *pointer is new memory, 64-byte aligned, zeroed where
 * nothing was read, to be freed; after an error it is as it was. */
MC_USE_RESULT int mc_layout_read(struct mc_layout *l, struct mc_reader *r, struct mc_error *err);
/* Write a stream from its header to the commit, and empty l whatever comes; nothing is left behind
 * after an error. */
MC_USE_RESULT int mc_layout_write(struct mc_layout *l, const char *path, const struct mc_history *h,
                                  struct mc_error *err);
void mc_layout_release(struct mc_layout *l); /* of one that is neither read nor written */

/* Zeroed, 64-byte aligned, never NULL but for lack of memory. */
void *mc_aligned_zeros(size_t bytes);

/* MC_EINPUT unless the stream announces n tensors; unless its tensor i is this one. */
MC_USE_RESULT int mc_expect_count(const struct mc_reader *r, size_t n, struct mc_error *err);
MC_USE_RESULT int mc_expect_tensor(const struct mc_reader *r, size_t i,
                                   const struct mc_tensor *want, struct mc_error *err);
/* MC_EINPUT unless the stream is of this kind; take it into the history (may be NULL). */
MC_USE_RESULT int mc_take_kind(struct mc_reader *r, const char *kind, struct mc_history *h,
                               struct mc_error *err);

/* A stream to read: a file, or an open reader, which stays the caller's. */
struct mc_stream {
    const char *path; /* NULL: the reader */
    struct mc_reader *reader;
    int declared; /* weights and curves: accept a network without a graph (graph/group_rows.h) */
};

/* A reader of the stream, after mc_take_kind unless kind is NULL. Close it by mc_stream_close,
 * after an error too. */
MC_USE_RESULT int mc_stream_open(struct mc_reader **out, struct mc_stream from, const char *kind,
                                 struct mc_history *h, struct mc_error *err);
void mc_stream_close(struct mc_stream from, struct mc_reader *r);

/* x (n), float32 or float64, is finite, or MC_EINPUT `file: "name" holds a value that is not
 * finite` (file NULL: left out). */
MC_USE_RESULT int mc_finite(enum mc_dtype dtype, const void *x, size_t n, const char *file,
                            const char *name, struct mc_error *err);
/* What is wrong with values that are to be written is not an input's fault: MC_EINPUT becomes
 * MC_EFAIL, in *err too. Returns the code. */
int mc_not_input(int rc, struct mc_error *err);

#endif
