/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernels are written with: launches, loops over elements, sums of a block. The same
 * source is compiled for the host by tests/emulation, which gives its own launches; so a kernel
 * says nothing that only nvcc understands but CUDA's names.
 *
 * LAUNCH: threads that do not wait for each other. LAUNCH_BLOCKS: threads of a block that do. */
#ifndef MC_CUDA_DEVICE_CUH
#define MC_CUDA_DEVICE_CUH

extern "C" {
#include "kernels.h"
#include "mc_rng.h"
}

#include <cmath>
#include <cuda_runtime.h>

#define CUDA_THREADS 128 /* of a block; a power of two */
#define CUDA_MAX_BLOCKS 65536

#ifdef MC_EMULATED
#include "emulate.h"
#else
#define LAUNCH(be, kernel, blocks, ...)                                                            \
    do {                                                                                           \
        kernel<<<(unsigned)(blocks), CUDA_THREADS, 0, cuda_stream(be)>>>(__VA_ARGS__);             \
        cuda_check(be, cudaGetLastError());                                                        \
    } while (0)
#define LAUNCH_BLOCKS LAUNCH
#endif

/* A kernel whose first argument is the number n of elements that it does EACH of. */
#define LAUNCH_EACH(be, kernel, n, ...)                                                            \
    do {                                                                                           \
        if ((n) > 0)                                                                               \
            LAUNCH(be, kernel, cuda_blocks(n), n, __VA_ARGS__);                                    \
    } while (0)

#define EACH(i, n)                                                                                 \
    (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n);                            \
     i += (size_t)gridDim.x * blockDim.x)

static inline size_t cuda_blocks(size_t n)
{
    const size_t blocks = (n + CUDA_THREADS - 1) / CUDA_THREADS;
    return blocks < CUDA_MAX_BLOCKS ? blocks : CUDA_MAX_BLOCKS;
}

/* The sum of x over the threads of the block, by halves: for all of them. */
static __device__ inline double block_sum(double x)
{
    __shared__ double part[CUDA_THREADS];

    __syncthreads(); /* the last sum has been read */
    part[threadIdx.x] = x;
    __syncthreads();
    for (unsigned half = CUDA_THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    return part[0];
}

/* The ReLU or Huber's; a NaN stays one. */
static __device__ inline float activate(float z, float delta)
{
    float y = z <= 0 ? 0 : z;
    if (delta > 0) {
        const float t = y > delta ? delta : y;
        y = y - t + t * t * (0.5f / delta);
    }
    return y;
}

/* dy times the activation's slope at z */
static __device__ inline float activate_back(float z, float dy, float delta)
{
    dy = z <= 0 ? 0 : dy;
    if (delta > 0)
        dy *= (z > delta ? delta : z) * (1.0f / delta);
    return dy;
}

#endif
