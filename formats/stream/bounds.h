/* SPDX-License-Identifier: Apache-2.0
 *
 * A bounded walk over one MessagePack object before anything is allocated for what it announces.
 * An unpacker would reserve 137 GB on the five bytes `dd ff 00 00 00`; whatever this scan has
 * passed is complete, as deep, as many and as large as the limits allow, and safe to unpack. */
#ifndef MC_BOUNDS_H
#define MC_BOUNDS_H

#include "libcommon/base/error.h"

#include <stddef.h>

struct mc_bounds_limits {
    size_t bytes;   /* of the whole object */
    size_t objects; /* scalars and containers together, keys counted */
    int depth;      /* of containers within containers */
    int ext;        /* whether ext type 1 may occur; its inside is not walked */
};

/* Where the bytes come from. `more` makes at least `need` bytes of the object available at data
 * (which it may move) and updates have, or fails; NULL when all bytes are at hand. */
struct mc_bounds {
    const unsigned char *data;
    size_t have;
    int (*more)(struct mc_bounds *s, size_t need, struct mc_error *err);
    void *ctx;
};

/* Walk the object at s->data; *len receives its size in bytes. Map keys must be strings, without
 * duplicates, at most 1024 a map; strings must be UTF-8 without NUL. Returns 0, MC_EINPUT, or what
 * `more` returned. */
MC_USE_RESULT int mc_bounds_check(struct mc_bounds *s, const struct mc_bounds_limits *limits,
                                  size_t *len, struct mc_error *err);

/* Whether these bytes are UTF-8 without NUL. */
int mc_is_text(const unsigned char *s, size_t len);

#endif
