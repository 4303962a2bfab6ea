/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU backend: its table of functions, copies, flat vectors, the choice of kernels. */
#include "kernels/cpu/cpu.h"
#include "libcommon/base/isa.h"

#include <assert.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl_debug.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <string.h>

static size_t ctl_row(const struct mc_buf *ctl)
{
    struct mc_ctl c;
    memcpy(&c, ctl->data, sizeof c);
    return c.row;
}

int cpu_put(struct mc_backend *be, struct mc_buf *dst, size_t offset, const void *src, size_t bytes,
            struct mc_error *err)
{
    (void)be;
    (void)err;
    assert(offset <= dst->bytes && bytes <= dst->bytes - offset);
    if (bytes)
        memcpy((unsigned char *)dst->data + offset, src, bytes);
    return 0;
}

int cpu_get(struct mc_backend *be, const struct mc_buf *src, size_t offset, void *dst, size_t bytes,
            struct mc_error *err)
{
    if (cpu_of(be)->failed == dnnl_out_of_memory)
        return mc_no_memory(err);
    if (cpu_of(be)->failed)
        return mc_fail(err, MC_EFAIL, "cpu: oneDNN failed (status %d)", (int)cpu_of(be)->failed);
    assert(offset <= src->bytes && bytes <= src->bytes - offset);
    if (bytes)
        memcpy(dst, (const unsigned char *)src->data + offset, bytes);
    return 0;
}

void cpu_zero(struct mc_backend *be, struct mc_buf *b)
{
    (void)be;
    memset(b->data, 0, b->bytes);
}

void cpu_copy(struct mc_backend *be, struct mc_buf *dst, const struct mc_buf *src, size_t bytes)
{
    (void)be;
    memcpy(dst->data, src->data, bytes);
}

void cpu_ctl_next(struct mc_backend *be, struct mc_buf *ctl)
{
    struct mc_ctl c;

    (void)be;
    memcpy(&c, ctl->data, sizeof c);
    c.row++;
    memcpy(ctl->data, &c, sizeof c);
}

void cpu_lincomb(struct mc_backend *be, size_t n, struct mc_buf *dst, size_t k,
                 const struct mc_buf *const *src, const struct mc_buf *coefs,
                 const struct mc_buf *ctl)
{
    enum { AT_ONCE = 16 };
    const float *c = mc_const_floats(coefs) + ctl_row(ctl) * k;
    const float *from[AT_ONCE + 1];
    float w[AT_ONCE + 1];

    /* with more than AT_ONCE terms, the sum so far is a term */
    for (size_t i = AT_ONCE; i < k; i++)
        assert(src[i] != dst);
    for (size_t term = 0; term < k;) {
        size_t m = 0;
        if (term) {
            from[m] = mc_const_floats(dst);
            w[m++] = 1;
        }
        for (size_t i = 0; i < AT_ONCE && term < k; i++, term++) {
            from[m] = mc_const_floats(src[term]);
            w[m++] = c[term];
        }
        cpu_of(be)->k->lincomb(n, mc_floats(dst), m, from, w);
    }
}

void cpu_sgd(struct mc_backend *be, size_t n, const struct mc_sgd *s, const struct mc_buf *ctl)
{
    const size_t row = ctl_row(ctl);
    const struct cpu_sgd t = {.p = mc_floats(s->p),
                              .m = mc_floats(s->m),
                              .grad = mc_const_floats(s->grad),
                              .point = mc_const_floats(s->point),
                              .lr = mc_const_floats(s->lrs)[row],
                              .coef = s->coefs ? mc_const_floats(s->coefs)[row * s->stride + s->k]
                                               : 1.0f,
                              .momentum = s->momentum,
                              .decay = s->decay,
                              .nesterov = s->nesterov};

    cpu_of(be)->k->sgd(n, &t);
}

void cpu_sumsq(struct mc_backend *be, size_t n, const struct mc_buf *x, double scale,
               struct mc_buf *acc, size_t slot)
{
    struct cpu *cpu = cpu_of(be);
    mc_doubles(acc)[slot] += scale * cpu->k->sumsq(n, mc_const_floats(x), cpu->part);
}

void cpu_gather(struct mc_backend *be, size_t n, struct mc_buf *dst, const struct mc_buf *src,
                const struct mc_buf *index)
{
    const uint32_t *indices = (const uint32_t *)index->data;
    const float *from = mc_const_floats(src);
    float *to = mc_floats(dst);

    (void)be;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        to[i] = from[indices[i]];
}

/* This form leaves p unchanged, to the last bit, if p = anchor. */
void cpu_proximal(struct mc_backend *be, size_t n, struct mc_buf *p, const struct mc_buf *anchor,
                  const struct mc_buf *lrs, double nu, const struct mc_buf *ctl)
{
    const double r = (double)mc_const_floats(lrs)[ctl_row(ctl)] / nu, w = r / (1 + r);
    const float *to = mc_const_floats(anchor);
    float *x = mc_floats(p);

    (void)be;
#pragma omp parallel for schedule(static) if (n > 8192)
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((double)x[i] + w * ((double)to[i] - (double)x[i]));
}

void cpu_close(struct mc_backend *be)
{
    struct cpu *cpu = cpu_of(be);

    dnnl_stream_destroy(cpu->stream);
    dnnl_engine_destroy(cpu->engine);
    free(cpu);
}

/* Return 1 if ONEDNN_MAX_CPU_ISA is lower than AVX2. */
static int onednn_is_lower(void)
{
    const char *limit = getenv("ONEDNN_MAX_CPU_ISA");

    return limit && (!strcasecmp(limit, "SSE41") || !strcasecmp(limit, "AVX"));
}

/* Our kernels must use the layout that oneDNN will choose. MC_ISA, ONEDNN_MAX_CPU_ISA and valgrind
 * lower both. oneDNN accepts a limit only before its first use in a process. */
static int choose_kernels(const struct cpu_kernels **out, struct mc_error *err)
{
    enum mc_isa isa;
    int rc = mc_isa(&isa, err);

    if (!rc && mc_isa_is_lowered(isa) && !onednn_is_lower())
        (void)dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
    const unsigned onednn = (unsigned)dnnl_get_effective_cpu_isa();
    *out = &cpu_kernels_portable;
#ifdef __x86_64__
    if (onednn & 0x20u)
        *out = &cpu_kernels_avx512;
    else if ((onednn & 0x4u) && isa >= MC_ISA_AVX2)
        *out = &cpu_kernels_avx2;
#endif
    return rc;
}

void cpu_enter(const struct cpu *cpu)
{
    if (omp_get_max_threads() != cpu->base.threads)
        omp_set_num_threads(cpu->base.threads);
}

/* Return the number of threads that OpenMP starts if `requested` are requested. OMP_THREAD_LIMIT
 * and the system's limits can make it smaller. */
static int available_threads(int requested)
{
    int available = 1;

    omp_set_dynamic(0);
    omp_set_num_threads(requested);
#pragma omp parallel
#pragma omp single
    available = omp_get_num_threads();
    omp_set_num_threads(available);
    return available;
}

void cpu_repeat(struct mc_backend *be, struct mc_capture **capture, size_t times,
                void (*work)(void *), void *arg)
{
    (void)be;
    (void)capture;
    for (size_t i = 0; i < times; i++)
        work(arg);
}

void cpu_capture_free(struct mc_backend *be, struct mc_capture *capture)
{
    (void)be;
    (void)capture;
}

static void add_facts(struct cpu *cpu, const dnnl_version_t *v)
{
    const char *isa = dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa());
    const size_t prefix = strncmp(isa, "cpu_isa_", 8) ? 0 : 8;

    mc_backend_fact(&cpu->base, "device", "cpu");
    mc_backend_fact(&cpu->base, "threads", "%d", cpu->base.threads);
    mc_backend_fact(&cpu->base, "isa", "%s", cpu->k->name);
    mc_backend_fact(&cpu->base, "onednn", "%d.%d.%d", v->major, v->minor, v->patch);
    mc_backend_fact(&cpu->base, "onednn-isa", "%s", isa + prefix);
    mc_backend_fact(&cpu->base, "algorithms", "%08x", (unsigned)cpu_table_hash());
}

int cpu_backend_new(struct mc_backend **out, const struct mc_backend_opts *o, struct mc_error *err)
{
    const dnnl_version_t *v = dnnl_version();
    const struct cpu_kernels *kernels;
    int rc = choose_kernels(&kernels, err);

    if (rc)
        return rc;
    struct cpu *cpu = calloc(1, sizeof *cpu);
    if (!cpu)
        return mc_no_memory(err);
    /* oneDNN makes its primitives for OpenMP's number of threads, and waits for all of them */
    const int threads = available_threads(o->threads > 0 ? o->threads : omp_get_num_procs());
    cpu->k = kernels;
    if (dnnl_engine_create(&cpu->engine, dnnl_cpu, 0) != dnnl_success ||
        dnnl_stream_create(&cpu->stream, cpu->engine, dnnl_stream_default_flags) != dnnl_success) {
        cpu_close(&cpu->base);
        return mc_fail(err, MC_EFAIL, "cpu: oneDNN does not start");
    }
    cpu->base = (struct mc_backend){.name = "cpu",
                                    .threads = threads,
                                    .launch_steps = 1,
                                    .products = "f32",
                                    MC_FUNCTION_ENTRIES(cpu)};
    snprintf(cpu->base.describe, sizeof cpu->base.describe,
             "cpu, %s kernels, %d thread%s, oneDNN %d.%d.%d", cpu->k->name, threads,
             threads == 1 ? "" : "s", v->major, v->minor, v->patch);
    add_facts(cpu, v);
    *out = &cpu->base;
    return 0;
}
