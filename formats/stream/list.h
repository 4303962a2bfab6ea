/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists that grow one by one. */
#ifndef MC_LIST_H
#define MC_LIST_H

#include <stdlib.h>

/* The list of n items, or what it moved to, with room for one more: it grows where n is a power of
 * two. NULL for lack of memory; the list is then as it was. */
static inline void *mc_list_room(void *list, size_t n, size_t size)
{
    return n & (n - 1) ? list : realloc(list, (n ? 2 * n : 1) * size);
}

#endif
