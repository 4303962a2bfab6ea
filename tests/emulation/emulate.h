/* SPDX-License-Identifier: Apache-2.0
 *
 * A CUDA device emulated on the host. kernels/cuda/device.cuh includes this when a C++ compiler
 * compiles the .cu files. A launch is a loop over blocks and threads. Threads of a block that wait
 * for each other are fibers that run in turn from barrier to barrier. */
#ifndef MC_EMULATE_H
#define MC_EMULATE_H

#include <cuda_runtime_api.h>

#include <functional>

struct emulated_place {
    unsigned x;
};
extern struct emulated_place emulated_thread, emulated_block, emulated_blocks, emulated_threads;
/* Threads per block: CUDA_MAX_THREADS, or MC_EMULATION_THREADS, a smaller power of two, so that
 * small tensors span several blocks. */
extern const unsigned emulated_width;

/* waits: the body has barriers. MC_EMULATION_ORDER=backwards reverses the order. Aborts at a
 * barrier that some threads of a block do not reach. */
void emulate_launch(cudaStream_t stream, size_t blocks, unsigned threads, int waits,
                    const std::function<void()> &body);
void emulate_barrier();

/* Atomic, because threads run one after another. */
static inline unsigned emulate_increment(unsigned *x, unsigned limit)
{
    const unsigned before = *x;
    *x = before >= limit ? 0 : before + 1;
    return before;
}

/* Copies the arguments at the launch. */
template <class K, class... A>
void emulate_call(cudaStream_t stream, size_t blocks, unsigned threads, int waits, K kernel,
                  A... arguments)
{
    emulate_launch(stream, blocks, threads, waits, [=] { kernel(arguments...); });
}

#undef __shared__
#define CUDA_THREADS emulated_width
#define __shared__ static /* blocks run one after another; empty in CUDA's header */
#define threadIdx emulated_thread
#define blockIdx emulated_block
#define gridDim emulated_blocks
#define blockDim emulated_threads
#define __syncthreads emulate_barrier
#define __threadfence() ((void)0)
#define atomicInc emulate_increment
#define LAUNCH(be, kernel, blocks, ...) EMULATE(be, kernel, blocks, 0, __VA_ARGS__)
#define LAUNCH_BLOCKS(be, kernel, blocks, ...) EMULATE(be, kernel, blocks, 1, __VA_ARGS__)
#define EMULATE(be, kernel, blocks, waits, ...)                                                    \
    (emulate_call(                                                                                 \
         cuda_stream(be), blocks, CUDA_THREADS, waits,                                             \
         [=](const auto &...arguments) { kernel(arguments...); }, __VA_ARGS__),                    \
     cuda_report_launch(be, #kernel))

#endif
