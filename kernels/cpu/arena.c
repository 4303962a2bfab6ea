/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan's memory: regions with lifetimes. The largest is placed first, each at the lowest offset
 * where it overlaps no region that is alive at the same time. */
#include "kernels/cpu/cpu.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, HUGE_PAGE = 2 << 20 };

size_t cpu_arena_add(struct cpu_arena *a, size_t bytes, size_t from, size_t to)
{
    const size_t n = a->n ? a->n : 1; /* region 0 has no memory */

    if (mc_list_room(&a->regions, n, NULL)) {
        a->failed = 1;
        return 0;
    }
    a->regions[0] = (struct cpu_region){0};
    a->regions[n] = (struct cpu_region){(bytes + ALIGN - 1) / ALIGN * ALIGN, from, to, 0};
    a->n = n + 1;
    return n;
}

void cpu_arena_extend(struct cpu_arena *a, size_t region, size_t from, size_t to)
{
    if (!region)
        return;
    struct cpu_region *b = &a->regions[region];
    b->from = from < b->from ? from : b->from;
    b->to = to > b->to ? to : b->to;
}

static int by_bytes(const void *x, const void *y)
{
    const struct cpu_region *a = *(struct cpu_region *const *)x,
                            *b = *(struct cpu_region *const *)y;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* The lowest offset for `b` among the `n` regions already placed. */
static size_t lowest_offset(const struct cpu_region *b, struct cpu_region *const *placed, size_t n)
{
    size_t offset = 0;
    for (int moved = 1; moved;) {
        moved = 0;
        for (size_t i = 0; i < n; i++) {
            const struct cpu_region *q = placed[i];
            if (q->from <= b->to && b->from <= q->to && q->offset < offset + b->bytes &&
                offset < q->offset + q->bytes) {
                offset = q->offset + q->bytes;
                moved = 1;
            }
        }
    }
    return offset;
}

int cpu_arena_place(struct cpu_arena *a, struct mc_error *err)
{
    struct cpu_region **order = NULL;
    size_t top = ALIGN;
    int rc = a->failed ? mc_no_memory(err) : mc_new(&order, a->n, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < a->n; i++)
        order[i] = &a->regions[i];
    qsort(order, a->n, sizeof(struct cpu_region *), by_bytes);
    for (size_t i = 0; i < a->n; i++) {
        order[i]->offset = lowest_offset(order[i], order, i);
        if (order[i]->offset + order[i]->bytes > top)
            top = order[i]->offset + order[i]->bytes;
    }
    free(order);
    a->bytes = top > HUGE_PAGE ? (top + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE : top;
    a->data = mc_alloc_large(a->bytes);
    return a->data ? 0
                   : mc_fail(err, MC_ENOMEM,
                             "out of memory: a batch's activations and gradients need %zu MiB",
                             a->bytes >> 20);
}

void cpu_arena_release(struct cpu_arena *a)
{
    free(a->regions);
    free(a->data);
    memset(a, 0, sizeof *a);
}

void *cpu_arena_at(const struct cpu_arena *a, size_t region)
{
    return region ? a->data + a->regions[region].offset : NULL;
}
