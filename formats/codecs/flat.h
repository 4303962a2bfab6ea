/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kinds that hold a graph and flat vectors (weights, curve) share: the keys of their meta,
 * and reading and writing all their tensors. */
#ifndef MC_FLAT_H
#define MC_FLAT_H

#include "formats/codecs/graph.h"
#include "formats/codecs/tensors.h"
#include "formats/stream/history.h"
#include "formats/stream/pack.h"
#include "formats/stream/reader.h"
#include "libcommon/graph/permutation.h"
#include "libcommon/graph/graph.h"
#include "libcommon/graph/symmetry.h"

#define MC_FLAT_PREFIX 24

/* One flat vector of a stream: a tensor a parameter, its name behind the prefix. */
struct mc_flat {
    const struct mc_param *params; /* (n) */
    size_t n, floats;              /* tensors; length of the vector with its gaps */
    char prefix[MC_FLAT_PREFIX];
    float *const *data; /* where the pointer to it lies: (floats) */
};

/* MC_EINPUT for a value that is not finite, or a running variance below 0. file may be NULL. */
MC_USE_RESULT int mc_flat_finite(const struct mc_param *params, size_t n, const float *flat,
                                 const char *file, struct mc_error *err);
/* The keys net, dataset and graph of an open map, and back; *g is unpacked anew. Where the network
 * has no graph, the key symmetry with its rows stands for it, and its tensors are those that the
 * stream announces behind `prefix`; unless `any`, that is MC_EINPUT. */
void mc_flat_pack_meta(struct mc_pack *p, const struct mc_graph *g, const char *dataset);
MC_USE_RESULT int mc_flat_unpack_meta(struct mc_graph **g, char *dataset, size_t size,
                                      const struct mc_reader *r, const char *prefix, int any,
                                      struct mc_error *err);

/* Read a stream to its verified end: these vectors, then the permutation of perm, whose groups are
 * known (NULL: none), behind "permutation/". Sets each *data, 64-byte aligned and zero in the gaps,
 * to be freed by the caller, after an error too. MC_EINPUT: other tensors than these, or values
 * that mc_flat_finite or mc_perm_check refuses. */
MC_USE_RESULT int mc_flat_read(struct mc_reader *r, const struct mc_flat *f, size_t n_flat,
                               struct mc_perm *perm, struct mc_error *err);
/* Write such a stream, whose meta l has, and empty l whatever comes. Values that are not finite are
 * MC_EFAIL, and nothing is written. */
MC_USE_RESULT int mc_flat_write(struct mc_layout *l, const char *path, const struct mc_flat *f,
                                size_t n_flat, const struct mc_perm *perm,
                                const struct mc_history *h, struct mc_error *err);

#endif
