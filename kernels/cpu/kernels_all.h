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

#define ENTRY(name) .name = KERNEL(name)
const struct cpu_kernels PASTE(cpu_kernels, ISA) = {ENTRY(stats),
                                                    ENTRY(norm),
                                                    ENTRY(norm_back_sums),
                                                    ENTRY(norm_back),
                                                    ENTRY(channel_sums),
                                                    ENTRY(relu),
                                                    ENTRY(relu_back),
                                                    ENTRY(add),
                                                    ENTRY(activation),
                                                    ENTRY(mul),
                                                    ENTRY(dots),
                                                    ENTRY(layer_norm),
                                                    ENTRY(layer_norm_back),
                                                    ENTRY(max_pool),
                                                    ENTRY(max_pool_back),
                                                    ENTRY(avg_pool),
                                                    ENTRY(avg_pool_back),
                                                    ENTRY(wino_weights_in),
                                                    ENTRY(wino_conv),
                                                    ENTRY(wino_grad),
                                                    ENTRY(wino_weights_out),
                                                    ENTRY(depthwise),
                                                    ENTRY(depthwise_grad),
                                                    ENTRY(pixels_out),
                                                    ENTRY(pixels_add),
                                                    ENTRY(sgd),
                                                    ENTRY(lincomb),
                                                    ENTRY(sumsq),
                                                    ENTRY(sign_step),
                                                    ENTRY(moments),
                                                    .name = STRING(ISA),
                                                    .block = BLOCK};
