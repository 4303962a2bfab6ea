/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions shared by the codecs: check a stream's tensors against its meta, read them whole into
 * memory that grows only as data arrives, and write them. Used by formats/ only. */
#ifndef MC_TENSORS_H
#define MC_TENSORS_H

#include "formats/stream/history.h"
#include "formats/stream/pack.h"
#include "formats/stream/reader.h"
#include "formats/stream/writer.h"

/* The tensors of a stream and their places in memory; for writing, its kind and meta too. One
 * description serves reading and writing. Zero is a valid, empty layout. `failed` is set for good
 * by an allocation failure. */
struct mc_layout {
    const char *kind;
    struct mc_pack meta; /* an open map */
    struct mc_tensor *tensors;
    struct mc_place { /* a tensor's slab and its byte offset there */
        size_t slab, offset;
        int wide; /* float32 in memory, in the stream perhaps float16 or bfloat16 */
    } * places;
    struct mc_slab {
        const void *pointer; /* address of the caller's pointer */
        void *data;          /* memory during reading */
        size_t bytes, have;  /* final size, and size so far */
    } * slabs;
    size_t n, n_slabs;
    int failed;
};

/* Set a tensor's name to prefix + name, truncated to fit. */
void mc_tensor_prefix(struct mc_tensor *t, const char *prefix, const char *name);

/* Start the meta, a map of `keys` keys, which the caller packs into l->meta next. l must not
 * move. */
void mc_layout_meta(struct mc_layout *l, const char *kind, size_t keys);
/* Add a slab of `bytes` bytes. `pointer` is the address of the caller's pointer to it, which may
 * have any object type. */
void mc_layout_slab(struct mc_layout *l, const void *pointer, size_t bytes);
/* Add a tensor at this byte offset of the last slab. */
void mc_layout_tensor(struct mc_layout *l, const struct mc_tensor *t, size_t offset);
/* Add a tensor of float32, float16 or bfloat16 whose values are float32 in memory. */
void mc_layout_floats(struct mc_layout *l, const struct mc_tensor *t, size_t offset);
/* Add a tensor with its own slab. */
void mc_layout_add(struct mc_layout *l, const struct mc_tensor *t, const void *pointer);

/* MC_EINPUT unless the stream announces these tensors. */
MC_USE_RESULT int mc_layout_expect(const struct mc_layout *l, const struct mc_reader *r,
                                   struct mc_error *err);
/* Read the stream to its verified end and release l, also after an error. The stream must announce
 * these tensors, with records in their order (MC_EINPUT), so that a header alone cannot make the
 * reader allocate. On success each *pointer is new memory for the caller to free: 64-byte aligned,
 * zero in gaps. After an error it is unchanged. */
MC_USE_RESULT int mc_layout_read(struct mc_layout *l, struct mc_reader *r, struct mc_error *err);
/* Write a whole stream and release l, also after an error. After an error no file remains. MC_EFAIL
 * if a finite value is too large for its tensor's type. */
MC_USE_RESULT int mc_layout_write(struct mc_layout *l, const char *path, const struct mc_history *h,
                                  struct mc_error *err);
/* Write only the header; l stays the caller's. */
MC_USE_RESULT int mc_layout_open(struct mc_writer **w, const struct mc_layout *l, const char *path,
                                 const struct mc_history *h, struct mc_error *err);
void mc_layout_release(struct mc_layout *l); /* for a layout that is neither read nor written */

/* Allocate zeroed, 64-byte aligned memory. NULL only if out of memory. */
void *mc_aligned_zeros(size_t bytes);

/* MC_EINPUT unless the stream announces n tensors; unless its tensor i matches. */
MC_USE_RESULT int mc_expect_count(const struct mc_reader *r, size_t n, struct mc_error *err);
MC_USE_RESULT int mc_expect_tensor(const struct mc_reader *r, size_t i,
                                   const struct mc_tensor *expected, struct mc_error *err);
/* mc_reader_next, but MC_EINPUT if the record's tensor precedes tensor *last, the last record's. */
MC_USE_RESULT int mc_next_in_order(struct mc_reader *r, struct mc_record *rec, size_t *last,
                                   struct mc_error *err);
/* MC_EINPUT unless the stream is of this kind. Adds it to the history, which may be NULL. */
MC_USE_RESULT int mc_expect_kind(struct mc_reader *r, const char *kind, struct mc_history *h,
                                 struct mc_error *err);

/* A stream to read: a file, or an open reader, which remains the caller's. */
struct mc_stream {
    const char *path; /* NULL: use the reader */
    struct mc_reader *reader;
    int declared; /* weights, curves: accept networks without a graph (graph/group_rows.h) */
    int maps;     /* permutations: accept matrices */
};

/* Open the stream and, unless kind is NULL, call mc_expect_kind. Close with mc_stream_close, also
 * after an error. */
MC_USE_RESULT int mc_stream_open(struct mc_reader **out, struct mc_stream from, const char *kind,
                                 struct mc_history *h, struct mc_error *err);
void mc_stream_close(struct mc_stream from, struct mc_reader *r);

/* Check that x (n), of floats of any size, is finite. MC_EINPUT `file: "name" holds a value that is
 * not finite`; a NULL file is left out. */
MC_USE_RESULT int mc_finite(enum mc_dtype dtype, const void *x, size_t n, const char *file,
                            const char *name, struct mc_error *err);
/* Change MC_EINPUT to MC_EFAIL, in *err too: bad values to be written are not an input's fault.
 * Returns the code. */
int mc_not_input(int rc, struct mc_error *err);

#endif
