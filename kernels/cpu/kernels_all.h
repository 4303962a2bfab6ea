/* SPDX-License-Identifier: Apache-2.0
 *
 * One instruction set's kernels and their table. isa_*.c defines ISA and BLOCK. */
#include "kernels/activation.h"
#include "kernels/ball.h"
#include "kernels/cpu/kernels.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define KERNEL(name) PASTE(ISA, name)
#define STRING_(a) #a
#define STRING(a) STRING_(a)

typedef float vf __attribute__((vector_size(BLOCK * 4), may_alias));
typedef int32_t vi __attribute__((vector_size(BLOCK * 4), may_alias));
typedef double vd __attribute__((vector_size(BLOCK * 4), may_alias));
#define ZERO ((vf){0})

#include "kernels/cpu/kernels_convolution.h"
#include "kernels/cpu/kernels_moments.h"
#include "kernels/cpu/kernels_norm.h"
#include "kernels/cpu/kernels_pointwise.h"
#include "kernels/cpu/kernels_vector.h"
/* clang-format off: the order counts */
#include "kernels/cpu/kernels_winograd_ahead.h"
#include "kernels/cpu/kernels_winograd_transforms.h"
#include "kernels/cpu/kernels_winograd.h"
/* clang-format on */

const struct cpu_kernels PASTE(cpu_kernels, ISA) = {
    .name = STRING(ISA),
    .block = BLOCK,
    .stats = KERNEL(stats),
    .norm = KERNEL(norm),
    .norm_back_sums = KERNEL(norm_back_sums),
    .norm_back = KERNEL(norm_back),
    .channel_sums = KERNEL(channel_sums),
    .relu = KERNEL(relu),
    .relu_back = KERNEL(relu_back),
    .add = KERNEL(add),
    .activation = KERNEL(activation),
    .mul = KERNEL(mul),
    .dots = KERNEL(dots),
    .layer_norm = KERNEL(layer_norm),
    .layer_norm_back = KERNEL(layer_norm_back),
    .max_pool = KERNEL(max_pool),
    .max_pool_back = KERNEL(max_pool_back),
    .avg_pool = KERNEL(avg_pool),
    .avg_pool_back = KERNEL(avg_pool_back),
    .wino_weights_in = KERNEL(wino_weights_in),
    .wino_conv = KERNEL(wino_conv),
    .wino_grad = KERNEL(wino_grad),
    .wino_weights_out = KERNEL(wino_weights_out),
    .depthwise = KERNEL(depthwise),
    .depthwise_grad = KERNEL(depthwise_grad),
    .pixels_out = KERNEL(pixels_out),
    .pixels_add = KERNEL(pixels_add),
    .sgd = KERNEL(sgd),
    .lincomb = KERNEL(lincomb),
    .sumsq = KERNEL(sumsq),
    .sign_step = KERNEL(sign_step),
    .moments = KERNEL(moments),
};
