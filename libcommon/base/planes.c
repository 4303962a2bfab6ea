/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/base/planes.h"

/* The width is a constant where these are inlined, so that the loops are vectorised. */
static inline void split(size_t width, size_t n, const unsigned char *restrict values,
                         unsigned char *restrict planes)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < width; k++)
            planes[k * n + i] = values[width * i + k];
}

static inline void join(size_t width, size_t n, const unsigned char *restrict planes,
                        unsigned char *restrict values)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < width; k++)
            values[width * i + k] = planes[k * n + i];
}

void mc_planes_split(size_t width, size_t n, const void *values, void *planes)
{
    if (width == 2)
        split(2, n, values, planes);
    else if (width == 4)
        split(4, n, values, planes);
    else
        split(8, n, values, planes);
}

void mc_planes_join(size_t width, size_t n, const void *planes, void *values)
{
    if (width == 2)
        join(2, n, planes, values);
    else if (width == 4)
        join(4, n, planes, values);
    else
        join(8, n, planes, values);
}
