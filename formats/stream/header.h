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

/* Fill h. The caller frees h->tensors, also after an error. MC_EINPUT, MC_ENOMEM. */
MC_USE_RESULT int mc_header_read(struct mc_header_info *h, const msgpack_object *o,
                                 struct mc_error *err);

#endif
