/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocation of arrays and growing lists. */
#include "libcommon/base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int mc_new_items(void *array, size_t n, size_t size, struct mc_error *err)
{
    void *p = calloc(n ? n : 1, size);

    memcpy(array, &p, sizeof p); /* the caller's pointer may be to any type */
    return p ? 0 : mc_no_memory(err);
}

int mc_list_items(void *list, size_t n, size_t size, struct mc_error *err)
{
    void *p = NULL;

    if (n & (n - 1))
        return 0;
    memcpy(&p, list, sizeof p);
    if (!(p = reallocarray(p, n ? 2 * n : 1, size)))
        return mc_no_memory(err);
    memcpy(list, &p, sizeof p);
    return 0;
}

int mc_buffer_room(void *buffer, size_t *have, size_t bytes, struct mc_error *err)
{
    void *p = NULL;

    if (bytes <= *have)
        return 0;
    memcpy(&p, buffer, sizeof p);
    free(p);
    p = malloc(bytes);
    memcpy(buffer, &p, sizeof p);
    *have = p ? bytes : 0;
    return p ? 0 : mc_no_memory(err);
}

void *mc_alloc_large(size_t size)
{
    enum { ALIGN = 64, HUGE_PAGE = 1 << 21 };
    const size_t page = size >= HUGE_PAGE ? HUGE_PAGE : ALIGN;
    const size_t pages = size / page + (size % page || !size);
    void *p = pages <= SIZE_MAX / page ? aligned_alloc(page, pages * page) : NULL;

    if (p && page == HUGE_PAGE)
        (void)madvise(p, size, MADV_HUGEPAGE); /* advice only: fewer page faults and TLB misses */
    return p;
}
