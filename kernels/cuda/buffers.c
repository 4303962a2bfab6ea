/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory and what crosses the bus. */
#include "kernels/cuda/cuda.h"

#include <assert.h>
#include <stdlib.h>

/* The need is rounded up and what is free down, so that the sentence never contradicts itself. */
static int no_memory(const struct cuda *be, size_t bytes, const char *what, struct mc_error *err)
{
    const int shift = bytes < (size_t)1 << 20 ? 0 : 20;
    const char *unit = shift ? "MiB" : "bytes";
    size_t unused = 0, all = 0;

    if (cudaMemGetInfo(&unused, &all) != cudaSuccess)
        return mc_fail(err, MC_ENOMEM, "cuda:%d: out of memory: %s needs %zu %s", be->device, what,
                       ((bytes - 1) >> shift) + 1, unit);
    return mc_fail(err, MC_ENOMEM,
                   "cuda:%d: out of memory: %s needs %zu %s, %zu %s are free of %zu MiB in all",
                   be->device, what, ((bytes - 1) >> shift) + 1, unit, unused >> shift, unit,
                   all >> 20);
}

int cuda_take(struct cuda *be, size_t bytes, const char *what, void **out, struct mc_error *err)
{
    void *p = NULL;
    cudaError_t rc = cudaSetDevice(be->device);

    if (rc == cudaSuccess) /* so much may be an invalid argument to cudaMalloc */
        rc = bytes > SIZE_MAX / 4 ? cudaErrorMemoryAllocation : cudaMalloc(&p, bytes ? bytes : 1);
    if (rc == cudaSuccess)
        rc = cudaMemsetAsync(p, 0, bytes ? bytes : 1, be->stream);
    if (rc == cudaSuccess) {
        *out = p;
        return 0;
    }
    (void)cudaFree(p);
    (void)cudaGetLastError(); /* it is told here, and does not stick */
    if (rc != cudaErrorMemoryAllocation)
        return mc_fail(err, MC_EFAIL, "cuda:%d: %s", be->device, cudaGetErrorString(rc));
    return no_memory(be, bytes ? bytes : 1, what, err);
}

/* cudaFree waits for what still uses it. */
void cuda_give_back(struct cuda *be, void *p)
{
    cuda_check(be, cudaFree(p));
    be->given_back++;
}

int cuda_buf_new(struct mc_backend *base, size_t bytes, struct mc_buf **out, struct mc_error *err)
{
    struct mc_buf *b = calloc(1, sizeof *b);

    if (!b)
        return mc_no_memory(err);
    int rc = cuda_take(cuda_of(base), bytes, "a buffer", &b->data, err);
    if (rc) {
        free(b);
        return rc;
    }
    b->bytes = bytes;
    *out = b;
    return 0;
}

void cuda_buf_free(struct mc_backend *base, struct mc_buf *b)
{
    if (!b)
        return;
    cuda_enter(cuda_of(base));
    cuda_give_back(cuda_of(base), b->data);
    free(b);
}

int cuda_buf_grow(struct mc_backend *base, struct mc_buf *b, size_t bytes, struct mc_error *err)
{
    struct cuda *be = cuda_of(base);
    void *data = NULL;

    assert(bytes >= b->bytes);
    cuda_enter(be);
    int rc = cuda_take(be, bytes, "a buffer", &data, err);
    if (rc)
        return rc;
    cuda_check(be, cudaMemcpyAsync(data, b->data, b->bytes, cudaMemcpyDeviceToDevice, be->stream));
    cuda_give_back(be, b->data);
    b->data = data;
    b->bytes = bytes;
    return 0;
}

static int told(struct cuda *be, struct mc_error *err)
{
    return be->failed ? mc_fail(err, be->failed, "cuda:%d: %s", be->device, be->why) : 0;
}

/* The runtime may read pageable memory later than cudaMemcpyAsync returns: so it waits. */
void cuda_send(struct cuda *be, void *to, const void *from, size_t bytes)
{
    cuda_check(be, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, be->stream));
    cuda_check(be, cudaStreamSynchronize(be->stream));
}

int cuda_put(struct mc_backend *base, struct mc_buf *dst, size_t at, const void *src, size_t bytes,
             struct mc_error *err)
{
    struct cuda *be = cuda_of(base);

    if (at > dst->bytes || bytes > dst->bytes - at)
        return mc_fail(err, MC_EFAIL, "write beyond the end of a buffer");
    cuda_enter(be);
    if (bytes)
        cuda_send(be, (unsigned char *)dst->data + at, src, bytes);
    return told(be, err);
}

int cuda_get(struct mc_backend *base, const struct mc_buf *src, size_t at, void *dst, size_t bytes,
             struct mc_error *err)
{
    struct cuda *be = cuda_of(base);

    if (at > src->bytes || bytes > src->bytes - at)
        return mc_fail(err, MC_EFAIL, "read beyond the end of a buffer");
    cuda_enter(be);
    if (bytes)
        cuda_check(be, cudaMemcpyAsync(dst, (const unsigned char *)src->data + at, bytes,
                                       cudaMemcpyDeviceToHost, be->stream));
    cuda_check(be, cudaStreamSynchronize(be->stream));
    return told(be, err);
}

void cuda_fill_zeros(struct cuda *be, void *p, size_t bytes)
{
    cuda_moves((double)bytes);
    cuda_check(be, cudaMemsetAsync(p, 0, bytes, be->stream));
    cuda_launched(be, "fill_zeros");
}

void cuda_zero(struct mc_backend *base, struct mc_buf *b)
{
    struct cuda *be = cuda_of(base);

    cuda_enter(be);
    cuda_fill_zeros(be, b->data, b->bytes);
}

void cuda_copy(struct mc_backend *base, struct mc_buf *dst, const struct mc_buf *src, size_t bytes)
{
    struct cuda *be = cuda_of(base);

    cuda_enter(be);
    cuda_moves(2 * (double)bytes);
    cuda_check(be,
               cudaMemcpyAsync(dst->data, src->data, bytes, cudaMemcpyDeviceToDevice, be->stream));
    cuda_launched(be, "copy");
}
