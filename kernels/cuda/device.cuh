/* SPDX-License-Identifier: Apache-2.0
 *
 * Tools for kernels: launches, loops over elements, sums over a block. tests/emulation compiles the
 * same source for the host, with its own launches. Apart from CUDA's names, kernels therefore use
 * nothing that only nvcc understands.
 *
 * LAUNCH: threads that do not wait for each other. LAUNCH_BLOCKS: threads of a block that do.
 *
 * A kernel on activations is a template over their type T, which it reads and writes as float
 * (value, set), and mostly over packs of W contiguous numbers. */
#ifndef MC_CUDA_DEVICE_CUH
#define MC_CUDA_DEVICE_CUH

extern "C" {
#include "kernels/cuda/kernels.h"
#include "libcommon/base/rng.h"
}

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define CUDA_MAX_THREADS 128 /* per block; a power of two */
#define CUDA_MAX_BLOCKS 65536

#ifdef MC_EMULATED
#include "tests/emulation/emulate.h"
#define UNROLL
#else
#define UNROLL _Pragma("unroll") /* arrays in registers need constant indexes */
#define CUDA_THREADS CUDA_MAX_THREADS
#define LAUNCH(be, kernel, blocks, ...)                                                            \
    do {                                                                                           \
        kernel<<<(unsigned)(blocks), CUDA_THREADS, 0, cuda_stream(be)>>>(__VA_ARGS__);             \
        cuda_check_kernel(be, cudaGetLastError(), #kernel);                                        \
        cuda_report_launch(be, #kernel);                                                           \
    } while (0)
#define LAUNCH_BLOCKS LAUNCH
#endif

/* Launch a kernel whose first argument is the number n of elements for its EACH loop. */
#define LAUNCH_EACH(be, kernel, n, ...)                                                            \
    do {                                                                                           \
        if ((n) > 0)                                                                               \
            LAUNCH(be, kernel, cuda_blocks(n), n, __VA_ARGS__);                                    \
    } while (0)

/* A thread's loop over its elements. i has n's type: 32 bits suffice for activations and divide
 * faster. */
#define EACH(i, n)                                                                                 \
    for (decltype(n) i = (decltype(n))blockIdx.x * blockDim.x + threadIdx.x; i < (n);              \
         i += (decltype(n))gridDim.x * blockDim.x)

static inline size_t cuda_blocks(size_t n)
{
    const size_t blocks = (n + CUDA_THREADS - 1) / CUDA_THREADS;
    return blocks < CUDA_MAX_BLOCKS ? blocks : CUDA_MAX_BLOCKS;
}

/* Sum of x over the threads of the block with the same number modulo `lanes`, a power of two.
 * Halves are added pairwise, and every thread gets its sum. */
static __device__ inline double lane_sum(double x, unsigned lanes)
{
    __shared__ double part[CUDA_MAX_THREADS];

    __syncthreads(); /* the previous sum was read */
    part[threadIdx.x] = x;
    __syncthreads();
    for (unsigned rest = CUDA_THREADS / 2; rest >= lanes; rest /= 2) {
        if (threadIdx.x < rest)
            part[threadIdx.x] += part[threadIdx.x + rest];
        __syncthreads();
    }
    return part[threadIdx.x % lanes];
}

static __device__ inline double block_sum(double x)
{
    return lane_sum(x, 1);
}

/* Return whether the block is the last of `blocks` to arrive. The last block sees the others'
 * writes. *arrived is 0 before and after. */
static __device__ inline int is_last_block(uint32_t *arrived, uint32_t blocks)
{
    __shared__ int last;

    __syncthreads();
    if (threadIdx.x == 0) { /* the barriers extend its fences to the block */
        __threadfence();
        last = atomicInc(arrived, blocks - 1) == blocks - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}

/* ---- numbers of activations ---- */

static __device__ inline float value(float x)
{
    return x;
}

static __device__ inline float value(__half x)
{
    return __half2float(x);
}

static __device__ inline float value(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}

/* Round to nearest. Numbers above the range become infinite. */
static __device__ inline void set(float *to, float x)
{
    *to = x;
}

static __device__ inline void set(__half *to, float x)
{
    *to = __float2half_rn(x);
}

static __device__ inline void set(__nv_bfloat16 *to, float x)
{
    *to = __float2bfloat16_rn(x);
}

template <class T> static __device__ inline void set_or_add(T *to, int add, float x)
{
    set(to, add ? value(*to) + x : x);
}

/* The numbers that a thread loads and stores at once. */
template <class T, int W> struct alignas(sizeof(T) * W < 16 ? sizeof(T) * W : 16) pack {
    T v[W];
};

/* Compile `...` with T for type t; WITH_PACKS also with P for its packs, wide or of one number. */
#define WITH_TYPE(t, ...)                                                                          \
    do {                                                                                           \
        if ((t) == CUDA_F32) {                                                                     \
            typedef float T;                                                                       \
            __VA_ARGS__;                                                                           \
        } else if ((t) == CUDA_BF16) {                                                             \
            typedef __nv_bfloat16 T;                                                               \
            __VA_ARGS__;                                                                           \
        } else {                                                                                   \
            typedef __half T;                                                                      \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
    } while (0)
#define PACK(T, W) pack<T, W>
#define WITH_PACKS(t, wide, ...)                                                                   \
    do {                                                                                           \
        if (wide)                                                                                  \
            WITH_TYPE(t, typedef PACK(T, 16 / sizeof(T)) P; __VA_ARGS__);                          \
        else                                                                                       \
            WITH_TYPE(t, typedef PACK(T, 1) P; __VA_ARGS__);                                       \
    } while (0)

/* Numbers of a wide pack: 16 bytes. */
static inline uint32_t cuda_pack(enum cuda_type t)
{
    return (uint32_t)(16 / cuda_type_size(t));
}

/* Return whether a pointer may point to packs. NULL may. */
static inline int cuda_aligned(const void *p)
{
    return (uintptr_t)p % 16 == 0;
}

/* ReLU or Huber's; NaN stays NaN. */
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
