/* SPDX-License-Identifier: Apache-2.0
 *
 * A buffer as backends see it. */
#ifndef MC_BUF_H
#define MC_BUF_H

#include <stddef.h>

struct mc_buf {
    void *data; /* on the device */
    size_t bytes;
};

/* Its numbers; NULL for NULL. */
static inline float *mc_floats(struct mc_buf *b)
{
    return b ? (float *)b->data : NULL;
}
static inline const float *mc_const_floats(const struct mc_buf *b)
{
    return b ? (const float *)b->data : NULL;
}
static inline double *mc_doubles(struct mc_buf *b)
{
    return b ? (double *)b->data : NULL;
}

#endif
