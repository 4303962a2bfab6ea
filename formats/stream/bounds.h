/* SPDX-License-Identifier: Apache-2.0
 *
 * Check one MessagePack object against limits before any memory is allocated for it.
 *
 * An unpacker would reserve 137 GB for the five bytes `dd ff 00 00 00`. An object that passes this
 * check is complete, is within the limits for depth, count and size, and is safe to unpack. */
#ifndef MC_BOUNDS_H
#define MC_BOUNDS_H

#include "libcommon/base/error.h"

#include <stddef.h>

struct mc_bounds_limits {
    size_t bytes;   /* size of the whole object */
    size_t objects; /* scalars and containers together, keys counted */
    int depth;      /* nesting of containers */
    int ext;        /* 1 to allow ext type 1, whose body is not walked */
};

/* Source of the bytes. `more` makes at least `need` bytes of the object available at data (which it
 * may move) and updates have, or fails. It is NULL if all bytes are in memory. */
struct mc_bounds {
    const unsigned char *data;
    size_t have;
    int (*more)(struct mc_bounds *s, size_t need, struct mc_error *err);
    void *ctx;
};

/* Check the object at s->data and set *len to its size in bytes. A map has at most 1024 keys, which
 * must be different strings. Strings must be UTF-8 without NUL. Returns 0, MC_EINPUT, or the error
 * of `more`. */
MC_USE_RESULT int mc_bounds_check(struct mc_bounds *s, const struct mc_bounds_limits *limits,
                                  size_t *len, struct mc_error *err);

/* 1 if the bytes are UTF-8 without NUL. */
int mc_is_text(const unsigned char *s, size_t len);

#endif
