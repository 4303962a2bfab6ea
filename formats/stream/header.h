/* SPDX-License-Identifier: Apache-2.0
 *
 * What a stream's header says, read from the unpacked object. */
#ifndef MC_STREAM_HEADER_H
#define MC_STREAM_HEADER_H

#include "formats/stream/frame.h"

struct mc_announced {
    char kind[MC_KIND_MAX + 1];
    const msgpack_object *meta; /* a map, of the object that was read */
    struct mc_tensor *tensors;  /* to be freed; each name once */
    size_t n_tensors;
};

/* Fills h, whose tensors are to be freed after an error too. MC_EINPUT, MC_ENOMEM. */
MC_USE_RESULT int mc_announced_read(struct mc_announced *h, const msgpack_object *o,
                                    struct mc_error *err);

#endif
