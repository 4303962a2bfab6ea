/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions shared by the kinds that hold a graph and flat vectors (weights, curve): the keys of
 * their meta, and reading and writing all their tensors. */
#ifndef MC_FLAT_H
#define MC_FLAT_H

#include "formats/codecs/graph.h"
#include "formats/codecs/tensors.h"
#include "formats/stream/history.h"
#include "formats/stream/pack.h"
#include "formats/stream/reader.h"
#include "formats/stream/writer.h"
#include "libcommon/permutation/permutation.h"
#include "libcommon/graph/graph.h"
#include "libcommon/graph/symmetry.h"

#define MC_FLAT_PREFIX 24

/* One flat vector of a stream: one tensor per parameter, named prefix + name. */
struct mc_flat {
    const struct mc_param *params; /* (n) */
    size_t n, floats;              /* number of tensors; length of the vector, gaps included */
    char prefix[MC_FLAT_PREFIX];
    float *const *data;   /* address of the caller's pointer (floats) */
    enum mc_dtype *types; /* (n) of the tensors in the stream; NULL: all float32 */
};

/* MC_EINPUT if one of n values of the parameter or statistic p, in this type, is not finite or is a
 * negative running variance. file may be NULL. */
MC_USE_RESULT int mc_flat_check(const struct mc_param *p, enum mc_dtype type, const void *x,
                                size_t n, const char *file, struct mc_error *err);
/* The same for n whole tensors of a flat vector. */
MC_USE_RESULT int mc_flat_finite(const struct mc_param *params, size_t n, const float *flat,
                                 const char *file, struct mc_error *err);
/* Pack the keys net, dataset and graph of an open map; unpack them into a new *g. A network without
 * a graph has the key symmetry with its rows instead; its tensors are those announced with
 * `prefix`. It is MC_EINPUT unless `any` is set. */
void mc_flat_pack_meta(struct mc_pack *p, const struct mc_graph *g, const char *dataset);
MC_USE_RESULT int mc_flat_unpack_meta(struct mc_graph **g, char *dataset, size_t size,
                                      const struct mc_reader *r, const char *prefix, int any,
                                      struct mc_error *err);

/* Expect these tensors in the stream's header and list them in *l; set the types, which must not be
 * NULL. Release l, also after an error. */
MC_USE_RESULT int mc_flat_layout(struct mc_layout *l, const struct mc_reader *r,
                                 const struct mc_flat *f, size_t n_flat, const struct mc_perm *perm,
                                 struct mc_error *err);
/* Read a stream to its verified end: these vectors, then the permutation with prefix "permutation/"
 * (perm NULL: none), whose groups are already set. Sets each *data: 64-byte aligned, zero in gaps,
 * freed by the caller, also after an error, and the types, which must not be NULL: float32, float16
 * or bfloat16. MC_EINPUT if the tensors differ, or mc_flat_finite or
 * mc_perm_check fails. */
MC_USE_RESULT int mc_flat_read(struct mc_reader *r, const struct mc_flat *f, size_t n_flat,
                               struct mc_perm *perm, struct mc_error *err);
/* Write such a stream, with the meta of l, and release l, also after an error. If a value is not
 * finite, also in its type, returns MC_EFAIL and writes nothing. */
MC_USE_RESULT int mc_flat_write(struct mc_layout *l, const char *path, const struct mc_flat *f,
                                size_t n_flat, const struct mc_perm *perm,
                                const struct mc_history *h, struct mc_error *err);
/* Open such a stream, whose values the caller writes tensor by tensor, and release l. */
MC_USE_RESULT int mc_flat_open(struct mc_writer **w, struct mc_layout *l, const char *path,
                               const struct mc_flat *f, size_t n_flat, const struct mc_perm *perm,
                               const struct mc_history *h, struct mc_error *err);

#endif
