/* SPDX-License-Identifier: Apache-2.0
 *
 * Other people's files of named tensors: one interface over safetensors and npz. A file is opened
 * and checked whole but for its data; then the tensors' bytes are read, in the tensors' order. */
#ifndef MC_FOREIGN_H
#define MC_FOREIGN_H

#include "formats/codecs/weights.h"

#define MC_FOREIGN_DTYPE 16
#define MC_FOREIGN_TENSORS 65536 /* of one file */

struct mc_foreign_tensor {
    char *name;
    char dtype[MC_FOREIGN_DTYPE]; /* as the file has it: "F32", "<f4" */
    int type;                     /* the enum mc_dtype that it is, or -1 */
    int whole;                    /* integers or truth values */
    int fortran;                  /* the first dimension runs fastest */
    int ndim;
    uint64_t shape[MC_MAX_DIMS];
    uint64_t at, bytes; /* where the file has it; bytes only where type is not -1 */
};

struct mc_foreign {
    char *file; /* its path, or "stdin" */
    struct mc_foreign_tensor *tensors;
    size_t n;

    /* Begin with the data of tensor i, greater than any before. */
    int (*seek)(struct mc_foreign *f, size_t i, struct mc_error *err);
    /* Its next n bytes, no more than it has. Reading the last checks what checksum there is. */
    int (*read)(struct mc_foreign *f, void *dst, size_t n, struct mc_error *err);
    /* After the last tensor: nothing may follow. */
    int (*end)(struct mc_foreign *f, struct mc_error *err);
    void (*close)(struct mc_foreign *f);
};

/* Untrusted input, bounded before it is allocated: a file that can be sought in has room for the
 * data that its tensors announce, once it is open. Errors name the file. MC_EFAIL when it cannot be
 * read, MC_EINPUT; MC_EUSAGE: a terminal, or npz from "-", which has to be sought in. */
MC_USE_RESULT int mc_safetensors_open(struct mc_foreign **out, const char *path,
                                      struct mc_error *err);
MC_USE_RESULT int mc_npz_open(struct mc_foreign **out, const char *path, struct mc_error *err);
void mc_foreign_close(struct mc_foreign *f); /* NULL is fine */

/* A tensor to be written, float32, row-major. */
struct mc_foreign_out {
    char name[256];
    const struct mc_tensor *tensor; /* its shape */
    const float *data;
};
/* Write a file whole or not at all, "-" or NULL: stdout. npz is put together in memory. */
MC_USE_RESULT int mc_safetensors_write(const char *path, const struct mc_foreign_out *tensors,
                                       size_t n, struct mc_error *err);
MC_USE_RESULT int mc_npz_write(const char *path, const struct mc_foreign_out *tensors, size_t n,
                               struct mc_error *err);

/* The order of a tensor's elements in its file: `at` is an element's place in a row-major array, 0
 * for the first one, and each call moves it to the next one's. */
struct mc_foreign_order {
    uint64_t shape[MC_MAX_DIMS], stride[MC_MAX_DIMS], index[MC_MAX_DIMS]; /* fastest first */
    int ndim;
    size_t at;
};
void mc_foreign_order_begin(struct mc_foreign_order *o, const struct mc_foreign_tensor *t);
void mc_foreign_order_next(struct mc_foreign_order *o);

/* For the formats' own use: a tensor's bytes by its shape, of elements of so many bits; -1: too
 * many to count, or half a byte. Another tensor at the list's end, its name taken over, which is
 * freed after an error too; MC_EINPUT for a name that tensors share; what close() frees of every
 * file. */
MC_USE_RESULT int mc_foreign_bytes(const struct mc_foreign_tensor *t, unsigned bits, uint64_t *out);
MC_USE_RESULT int mc_foreign_add(struct mc_foreign *f, const struct mc_foreign_tensor *t,
                                 struct mc_error *err);
MC_USE_RESULT int mc_foreign_expect_once(const struct mc_foreign *f, struct mc_error *err);
void mc_foreign_release(struct mc_foreign *f);

#endif
