/* SPDX-License-Identifier: Apache-2.0
 *
 * Buffers. Small ones are on the heap, where memory checkers detect accesses past the end. Large
 * ones, mainly data sets, are mappings: their pages cost nothing until they are written, and they
 * grow without a second copy. */
#include "kernels/cpu/cpu.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAPPED ((size_t)8 << 20) /* bytes; larger buffers are mappings */

/* Add a margin: vectors are read whole, past the end. */
static size_t with_margin(size_t bytes)
{
    return (bytes / 64 + 1) * 64;
}

static unsigned char *allocate(size_t bytes)
{
    const size_t all = with_margin(bytes);

    if (bytes >= MAPPED) {
        void *p = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            return NULL;
        (void)madvise(p, all, MADV_HUGEPAGE); /* advice only: fewer page faults and TLB misses */
        return p;
    }
    unsigned char *p = aligned_alloc(64, all);
    if (p)
        memset(p, 0, all);
    return p;
}

static void release(unsigned char *data, size_t bytes)
{
    if (bytes >= MAPPED)
        (void)munmap(data, with_margin(bytes));
    else
        free(data);
}

static int out_of_memory(size_t bytes, struct mc_error *err)
{
    return mc_fail(err, MC_ENOMEM, "out of memory: a buffer needs %zu MiB", bytes >> 20);
}

int cpu_buf_new(struct mc_backend *be, size_t bytes, struct mc_buf **out, struct mc_error *err)
{
    struct mc_buf *b = calloc(1, sizeof *b);

    (void)be;
    if (b && bytes <= SIZE_MAX - MAPPED)
        b->data = allocate(bytes);
    if (!b || !b->data) {
        free(b);
        return out_of_memory(bytes, err);
    }
    b->bytes = bytes;
    *out = b;
    return 0;
}

void cpu_buf_free(struct mc_backend *be, struct mc_buf *b)
{
    (void)be;
    if (b)
        release(b->data, b->bytes);
    free(b);
}

int cpu_buf_grow(struct mc_backend *be, struct mc_buf *b, size_t bytes, struct mc_error *err)
{
    unsigned char *data = NULL;

    (void)be;
    assert(bytes >= b->bytes);
    if (bytes > SIZE_MAX - MAPPED)
        return out_of_memory(bytes, err);
    if (b->bytes >= MAPPED) {
        void *p = mremap(b->data, with_margin(b->bytes), with_margin(bytes), MREMAP_MAYMOVE);
        data = p == MAP_FAILED ? NULL : p;
    } else if ((data = allocate(bytes))) {
        memcpy(data, b->data, b->bytes);
        release(b->data, b->bytes);
    }
    if (!data)
        return out_of_memory(bytes, err);
    b->data = data;
    b->bytes = bytes;
    return 0;
}
