/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory, and transfers between host and device. */
#include "kernels/cuda/cuda.h"

#include <assert.h>
#include <stdlib.h>

/* Round the need up and the free memory down, so that the message cannot contradict itself. */
static int no_memory(const struct cuda *be, size_t bytes, const char *name, struct mc_error *err)
{
    const int shift = bytes < (size_t)1 << 20 ? 0 : 20;
    const char *unit = shift ? "MiB" : "bytes";
    size_t unused = 0, all = 0;

    if (cudaMemGetInfo(&unused, &all) != cudaSuccess)
        return mc_fail(err, MC_ENOMEM, "cuda:%d: out of memory: %s needs %zu %s", be->device, name,
                       ((bytes - 1) >> shift) + 1, unit);
    return mc_fail(
        err, MC_ENOMEM, "cuda:%d: out of memory: %s needs %zu %s, %zu %s of %zu MiB are free",
        be->device, name, ((bytes - 1) >> shift) + 1, unit, unused >> shift, unit, all >> 20);
}

int cuda_alloc(struct cuda *be, size_t bytes, const char *name, void **out, struct mc_error *err)
{
    void *p = NULL;
    cudaError_t rc = cudaSetDevice(be->device);

    if (rc == cudaSuccess) /* a huge size may be an invalid argument to cudaMalloc */
        rc = bytes > SIZE_MAX / 4 ? cudaErrorMemoryAllocation : cudaMalloc(&p, bytes ? bytes : 1);
    if (rc == cudaSuccess)
        rc = cudaMemsetAsync(p, 0, bytes ? bytes : 1, be->stream);
    if (rc == cudaSuccess) {
        *out = p;
        return 0;
    }
    (void)cudaFree(p);
    (void)cudaGetLastError(); /* clear the error: it is reported here */
    if (rc != cudaErrorMemoryAllocation)
        return mc_fail(err, MC_EFAIL, "cuda:%d: %s", be->device, cudaGetErrorString(rc));
    return no_memory(be, bytes ? bytes : 1, name, err);
}

/* cudaFree waits for work that still uses the memory. */
void cuda_release(struct cuda *be, void *p)
{
    cuda_check(be, cudaFree(p));
    be->frees++;
}

int cuda_buf_new(struct mc_backend *base, size_t bytes, struct mc_buf **out, struct mc_error *err)
{
    struct mc_buf *b = calloc(1, sizeof *b);

    if (!b)
        return mc_no_memory(err);
    int rc = cuda_alloc(cuda_of(base), bytes, "a buffer", &b->data, err);
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
    cuda_release(cuda_of(base), b->data);
    free(b);
}

int cuda_buf_grow(struct mc_backend *base, struct mc_buf *b, size_t bytes, struct mc_error *err)
{
    struct cuda *be = cuda_of(base);
    void *data = NULL;

    assert(bytes >= b->bytes);
    cuda_enter(be);
    int rc = cuda_alloc(be, bytes, "a buffer", &data, err);
    if (rc)
        return rc;
    cuda_check(be, cudaMemcpyAsync(data, b->data, b->bytes, cudaMemcpyDeviceToDevice, be->stream));
    cuda_release(be, b->data);
    b->data = data;
    b->bytes = bytes;
    return 0;
}

static int result(struct cuda *be, struct mc_error *err)
{
    return be->failed ? mc_fail(err, be->failed, "cuda:%d: %s", be->device, be->reason) : 0;
}

/* The call waits, because the runtime may read pageable memory after cudaMemcpyAsync has
 * returned. */
void cuda_send(struct cuda *be, void *to, const void *from, size_t bytes)
{
    cuda_check(be, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, be->stream));
    cuda_check(be, cudaStreamSynchronize(be->stream));
}

int cuda_put(struct mc_backend *base, struct mc_buf *dst, size_t offset, const void *src,
             size_t bytes, struct mc_error *err)
{
    struct cuda *be = cuda_of(base);

    assert(offset <= dst->bytes && bytes <= dst->bytes - offset);
    cuda_enter(be);
    if (bytes)
        cuda_send(be, (unsigned char *)dst->data + offset, src, bytes);
    return result(be, err);
}

int cuda_get(struct mc_backend *base, const struct mc_buf *src, size_t offset, void *dst,
             size_t bytes, struct mc_error *err)
{
    struct cuda *be = cuda_of(base);

    assert(offset <= src->bytes && bytes <= src->bytes - offset);
    cuda_enter(be);
    if (bytes)
        cuda_check(be, cudaMemcpyAsync(dst, (const unsigned char *)src->data + offset, bytes,
                                       cudaMemcpyDeviceToHost, be->stream));
    cuda_check(be, cudaStreamSynchronize(be->stream));
    return result(be, err);
}

void cuda_fill_zeros(struct cuda *be, void *p, size_t bytes)
{
    cuda_report_bytes((double)bytes);
    cuda_check(be, cudaMemsetAsync(p, 0, bytes, be->stream));
    cuda_report_launch(be, "fill_zeros");
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
    cuda_report_bytes(2 * (double)bytes);
    cuda_check(be,
               cudaMemcpyAsync(dst->data, src->data, bytes, cudaMemcpyDeviceToDevice, be->stream));
    cuda_report_launch(be, "copy");
}
