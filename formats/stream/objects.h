/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream's objects, one at a time: each is scanned against limits while its bytes arrive, in one
 * buffer, and only then unpacked. */
#ifndef MC_OBJECTS_H
#define MC_OBJECTS_H

#include "formats/stream/bounds.h"
#include "formats/stream/input.h"
#include "formats/stream/pack.h"

#define MC_OBJECT_ALIGN 64

/* Zeroed but for `in`, which becomes its own. */
struct mc_objects {
    struct mc_input *in;
    unsigned char *slab; /* aligned; the last object lies at slab + pad */
    size_t capacity, pad;
};
void mc_objects_release(struct mc_objects *o); /* closes `in`, which may be NULL */

/* An object that stays: its bytes, which are to be freed, and what they unpack to. */
struct mc_kept {
    char *bytes;
    size_t len;
    msgpack_unpacked object;
};

/* The next object's bytes, which stay until the one after it. MC_EINPUT where it is damaged,
 * truncated or over the limits; MC_ENOMEM, or what reading returned. */
MC_USE_RESULT int mc_objects_next(struct mc_objects *o, const struct mc_bounds_limits *limits,
                                  const void **data, size_t *len, struct mc_error *err);
/* The next object, unpacked, in its own bytes. */
MC_USE_RESULT int mc_objects_keep(struct mc_objects *o, const struct mc_bounds_limits *limits,
                                  struct mc_kept *k, struct mc_error *err);
/* Unpacks an object that was scanned. */
MC_USE_RESULT int mc_unpack(const void *data, size_t len, msgpack_unpacked *out,
                            struct mc_error *err);
/* Moves `bytes` bytes of the last object to where they are aligned; the next object will likely lie
 * as this one did, so it is read to where this one's would have been right. Returns their place. */
const void *mc_objects_align(struct mc_objects *o, const void *data, size_t bytes);
/* The last object's memory becomes the caller's, who frees it; the next ones come to *slab, *size
 * bytes: NULL and 0, or what an earlier call gave. */
void mc_objects_swap(struct mc_objects *o, void **slab, size_t *size);

#endif
