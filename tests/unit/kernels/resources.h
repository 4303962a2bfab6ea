/* SPDX-License-Identifier: Apache-2.0
 *
 * The backend under test, and the memory, buffers and plans of a test: kept in a list and released
 * together by release(). Header only, for test programs. */
#ifndef MC_TEST_RESOURCES_H
#define MC_TEST_RESOURCES_H

#include "kernels/backend.h"
#include "libcommon/graph/graph.h"
#include "libcommon/nets/nets.h"
#include "tests/unit/kernels/open.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct mc_backend *be;

/* One of the three, and its backend. */
struct resource {
    struct mc_backend *be;
    void *memory;
    struct mc_buf *buf;
    struct mc_plan *plan;
};

static struct {
    struct resource *all;
    size_t n;
} in_use;

static inline void ok(int rc, const struct mc_error *err)
{
    if (rc)
        fail_msg("%s", err->text);
}

static inline void keep(struct resource k)
{
    in_use.all = realloc(in_use.all, (in_use.n + 1) * sizeof k);
    assert_non_null(in_use.all);
    k.be = be;
    in_use.all[in_use.n++] = k;
}

/* Releases the resources added since in_use.n was `mark`, in reverse order. */
static inline void release(size_t mark)
{
    while (in_use.n > mark) {
        const struct resource *k = &in_use.all[--in_use.n];
        if (k->plan)
            k->be->plan_free(k->plan);
        if (k->buf)
            k->be->buf_free(k->be, k->buf);
        free(k->memory);
    }
    if (!mark) {
        free(in_use.all);
        in_use.all = NULL;
    }
}

/* Zeros, 64-byte aligned. */
static inline void *room(size_t n, size_t size)
{
    const size_t bytes = (n * size / 64 + 1) * 64;
    void *p = aligned_alloc(64, bytes);
    assert_non_null(p);
    keep((struct resource){.memory = p});
    return memset(p, 0, bytes);
}

static inline float *floats(size_t n)
{
    return room(n, sizeof(float));
}

static inline void put(struct mc_buf *b, size_t at, const void *from, size_t bytes)
{
    struct mc_error err = {0};
    ok(be->put(be, b, at, from, bytes, &err), &err);
}

static inline void get(const struct mc_buf *b, size_t at, void *to, size_t bytes)
{
    struct mc_error err = {0};
    ok(be->get(be, b, at, to, bytes, &err), &err);
}

static inline void fetch(const struct mc_buf *b, void *to, size_t bytes)
{
    get(b, 0, to, bytes);
}

static inline float *host_copy(const struct mc_buf *b, size_t n)
{
    float *x = floats(n);
    fetch(b, x, n * sizeof *x);
    return x;
}

static inline struct mc_buf *buf(size_t bytes, const void *from)
{
    struct mc_error err = {0};
    struct mc_buf *b = NULL;
    ok(be->buf_new(be, bytes, &b, &err), &err);
    keep((struct resource){.buf = b});
    if (from)
        put(b, 0, from, bytes);
    return b;
}

static inline struct mc_plan *plan_of(const struct mc_graph *g, struct mc_plan_opts o)
{
    struct mc_error err = {0};
    struct mc_plan *p = NULL;
    ok(be->plan_new(be, g, &o, &p, &err), &err);
    keep((struct resource){.plan = p});
    return p;
}

/* One of the plan's outputs, n floats. */
static inline float *output(struct mc_plan *p, enum mc_output kind, size_t index, size_t n)
{
    struct mc_buf *b = buf(n * sizeof(float), NULL);
    be->output(p, kind, index, b);
    return host_copy(b, n);
}

static inline struct mc_graph *net_of(const char *name, struct mc_net_spec spec)
{
    struct mc_graph *g = NULL;
    struct mc_error err = {0};
    ok(mc_net_build(&g, name, &spec, &err), &err);
    return g;
}

static inline void open_cpu(int threads)
{
    struct mc_error err = {0};
    ok(mc_backend_open(&be, &(struct mc_backend_opts){.device = "cpu", .threads = threads}, &err),
       &err);
}

static inline int start(void **state)
{
    struct mc_error err = {0};
    (void)state;
    ok(open_tested(&be, "cpu", 2, &err), &err);
    return 0;
}

static inline int stop(void **state)
{
    (void)state;
    release(0);
    be->close(be);
    return 0;
}

#endif
