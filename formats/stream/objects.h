/* SPDX-License-Identifier: Apache-2.0
 *
 * Read a stream's objects one at a time. Each is checked against limits while its bytes arrive in
 * one buffer, and unpacked only then. */
#ifndef MC_OBJECTS_H
#define MC_OBJECTS_H

#include "formats/stream/bounds.h"
#include "formats/stream/input.h"
#include "formats/stream/pack.h"

#define MC_OBJECT_ALIGN 64

/* Initialise to zero except `in`, which it then owns. */
struct mc_objects {
    struct mc_input *in;
    unsigned char *slab; /* aligned; the last object starts at slab + pad */
    size_t capacity, pad;
};
void mc_objects_release(struct mc_objects *o); /* closes `in`, which may be NULL */

/* A copy of an object: its bytes, which the caller frees, and the unpacked object. */
struct mc_object_copy {
    char *bytes;
    size_t len;
    msgpack_unpacked object;
};

/* Read the next object's bytes, valid until the next call. MC_EINPUT if it is damaged, truncated or
 * over the limits; MC_ENOMEM, or the input's error. */
MC_USE_RESULT int mc_objects_next(struct mc_objects *o, const struct mc_bounds_limits *limits,
                                  const void **data, size_t *len, struct mc_error *err);
/* Read and unpack the next object into its own memory. */
MC_USE_RESULT int mc_objects_copy(struct mc_objects *o, const struct mc_bounds_limits *limits,
                                  struct mc_object_copy *k, struct mc_error *err);
/* Unpack an object that was checked or just packed. */
MC_USE_RESULT int mc_unpack(const void *data, size_t len, msgpack_unpacked *out,
                            struct mc_error *err);
/* Move `bytes` bytes of the last object to an aligned address and return it. The next object
 * probably has the same layout, so its read position is shifted to make it aligned without a
 * move. */
const void *mc_objects_align(struct mc_objects *o, const void *data, size_t bytes);

#endif
