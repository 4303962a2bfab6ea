/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream's header, read from the unpacked object. */
#ifndef MC_STREAM_HEADER_H
#define MC_STREAM_HEADER_H

#include "formats/stream/frame.h"

struct mc_header_info {
    char kind[MC_KIND_MAX + 1];
    const msgpack_object *meta; /* a map inside the unpacked object */
    struct mc_tensor *tensors;  /* the caller frees it; names differ */
    size_t n_tensors;
};

/* The version in the header of a stream. It is 2 for weights and curves with tensors of float16 or
 * bfloat16, which readers of version 1 expect to be float32; else 1. */
uint64_t mc_header_version(const char *kind, const struct mc_tensor *tensors, size_t n);
/* Fill h. The caller frees h->tensors, also after an error. MC_EINPUT, MC_ENOMEM. */
MC_USE_RESULT int mc_header_read(struct mc_header_info *h, const msgpack_object *o,
                                 struct mc_error *err);

#endif
