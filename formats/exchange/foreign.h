/* SPDX-License-Identifier: Apache-2.0
 *
 * Foreign files of named tensors: one interface to safetensors and npz. Opening a file checks
 * everything but its data. Then the tensors' bytes are read, each once, in any order. */
#ifndef MC_FOREIGN_H
#define MC_FOREIGN_H

#include "formats/codecs/weights.h"

#define MC_FOREIGN_DTYPE 16
#define MC_FOREIGN_TENSORS 65536 /* per file */

struct mc_foreign_tensor {
    char *name;
    char dtype[MC_FOREIGN_DTYPE]; /* the file's name of it: "F32", "<f4" */
    int type;                     /* enum mc_dtype, or -1 for others */
    int whole;                    /* integers or booleans */
    int fortran;                  /* the first dimension varies fastest */
    int ndim;
    uint64_t shape[MC_MAX_DIMS];
    uint64_t offset, bytes; /* place in the file; bytes are set only if type is not -1 */
};

struct mc_foreign {
    char *file; /* path, or "stdin" */
    struct mc_foreign_tensor *tensors;
    size_t n;
    struct mc_foreign *
        *parts; /* (n_parts) the files of sharded tensors; NULL if this is one file */
    size_t n_parts;

    /* Go to the data of tensor i. A pipe keeps the tensors that this skips in memory. */
    int (*seek)(struct mc_foreign *f, size_t i, struct mc_error *err);
    /* Read its next n bytes, at most what it has. Reading the last byte verifies its checksum if
     * there is one. */
    int (*read)(struct mc_foreign *f, void *dst, size_t n, struct mc_error *err);
    /* Check that tensors that were not read are complete and nothing follows the last. */
    int (*end)(struct mc_foreign *f, struct mc_error *err);
    void (*close)(struct mc_foreign *f);
};

/* Open untrusted input, checked before memory is allocated: a seekable file has room for the data
 * its tensors announce. Errors name the file. MC_EFAIL if it cannot be read, MC_EINPUT if invalid;
 * MC_EUSAGE for a terminal, or for npz from "-", which must be seekable.
 * mc_safetensors_open accepts a file, the index of sharded files, or a folder that contains one
 * index or, without an index, one file. A missing shard is MC_EINPUT. */
MC_USE_RESULT int mc_safetensors_open(struct mc_foreign **out, const char *path,
                                      struct mc_error *err);
int mc_safetensors_is_folder(const char *path);
int mc_safetensors_is_index(const char *path); /* by its name: *.safetensors.index.json */
/* Set *index to the path of an index in the file's folder that names the file, or to NULL. The
 * caller frees it. */
void mc_safetensors_find_index(char **index, const char *file);
MC_USE_RESULT int mc_npz_open(struct mc_foreign **out, const char *path, struct mc_error *err);
void mc_foreign_close(struct mc_foreign *f); /* f may be NULL */

/* A tensor to write, row-major. */
struct mc_foreign_out {
    char name[256];
    struct mc_tensor tensor; /* for its shape and dtype: float32, float16 or bfloat16 */
    const void *data;
};
/* Write a safetensors file whole or not at all, to stdout if path is "-" or NULL: first the header,
 * then the bytes of each tensor from its first to its last, the tensors in any order. `data` are not
 * used. On a pipe, tensors that come too early are kept in memory. */
struct mc_safetensors_writer;
MC_USE_RESULT int mc_safetensors_create(struct mc_safetensors_writer **out, const char *path,
                                        const struct mc_foreign_out *tensors, size_t n,
                                        struct mc_error *err);
MC_USE_RESULT int mc_safetensors_write(struct mc_safetensors_writer *w, size_t i, const void *data,
                                       size_t bytes, struct mc_error *err);
/* If rc, the caller's result so far, is 0, commit; all tensors must be complete. Otherwise no file
 * remains. Returns rc, or the error of the commit. Frees w, which may be NULL. */
MC_USE_RESULT int mc_safetensors_close(struct mc_safetensors_writer *w, int rc,
                                       struct mc_error *err);
/* Write an npz file likewise. It is assembled in memory. */
MC_USE_RESULT int mc_npz_write(const char *path, const struct mc_foreign_out *tensors, size_t n,
                               struct mc_error *err);

/* Iterate over a tensor's elements in the file's order. `element` is its index in a row-major
 * array, 0 at first; each call of mc_foreign_order_next moves it to the next element. */
struct mc_foreign_order {
    uint64_t shape[MC_MAX_DIMS], stride[MC_MAX_DIMS], index[MC_MAX_DIMS]; /* fastest first */
    int ndim;
    size_t element;
};
void mc_foreign_order_begin(struct mc_foreign_order *o, const struct mc_foreign_tensor *t);
void mc_foreign_order_next(struct mc_foreign_order *o);

/* Private to the formats. mc_safetensors_open_file: open one file. mc_foreign_bytes: a tensor's size from its shape and bits per element, -1
 * on overflow or partial bytes. mc_foreign_add: append a tensor and own its name, also after an
 * error. mc_foreign_expect_once: MC_EINPUT for a repeated name. mc_foreign_release: free what every
 * file has in common. */
MC_USE_RESULT int mc_safetensors_open_file(struct mc_foreign **out, const char *path,
                                           struct mc_error *err);
const char *mc_safetensors_dtype(enum mc_dtype type); /* the file's name of it: "F32" */
MC_USE_RESULT int mc_foreign_bytes(const struct mc_foreign_tensor *t, unsigned bits, uint64_t *out);
MC_USE_RESULT int mc_foreign_add(struct mc_foreign *f, const struct mc_foreign_tensor *t,
                                 struct mc_error *err);
MC_USE_RESULT int mc_foreign_expect_once(const struct mc_foreign *f, struct mc_error *err);
void mc_foreign_release(struct mc_foreign *f);

#endif
