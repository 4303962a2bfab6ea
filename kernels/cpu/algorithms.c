/* SPDX-License-Identifier: Apache-2.0
 *
 * The choice of a convolution's algorithms, from the committed table or by rule. */
#include "kernels/cpu/cpu.h"

#include <string.h>

enum { MIN_CHANNELS = 16, MAX_WEIGHTS = 192 * 384 }; /* limits of winograd_is_faster */

static const char TABLE[] =
#include "algorithms.inc"
    ;

static const char *const names[CPU_N_ALGORITHMS] = {"direct", "dnnl-winograd", "winograd",
                                                    "depthwise", "products"};

const char *cpu_algorithm_name(enum cpu_algorithm a)
{
    return names[a];
}

/* Common rule of the table's shapes. Winograd is faster if its products, including empty tiles, are
 * at most half of the direct ones and it has enough channels. Its transformed weights, four times
 * as large, must not fill the cache. */
static int winograd_is_faster(const struct cpu_conv_shape *s)
{
    const int tiles = ((s->oh + 3) / 4) * ((s->ow + 3) / 4);

    return s->kernel[0] == 3 && s->kernel[1] == 3 && s->stride[0] == 1 && s->stride[1] == 1 &&
           s->groups == 1 && s->ic >= MIN_CHANNELS && s->oc >= MIN_CHANNELS &&
           (int64_t)s->ic * s->oc <= MAX_WEIGHTS && 2 * 36 * tiles <= 9 * s->oh * s->ow;
}

enum cpu_algorithm cpu_choose_replacement(const struct cpu_conv_shape *s)
{
    if (cpu_is_depthwise(s))
        return CPU_DEPTHWISE;
    return winograd_is_faster(s) ? CPU_WINOGRAD : CPU_PRODUCTS;
}

enum cpu_algorithm cpu_choose(const struct cpu_kernels *k, enum mc_pass pass,
                              const struct cpu_conv_shape *s)
{
    char shape[MC_SHAPE_TEXT];

    MC_CONV_TEXT(s, shape);
    const int a = mc_conv_table_choice(TABLE, k->name, pass, shape, names, CPU_N_TABLED);
    if (a >= 0)
        return (enum cpu_algorithm)a;
    return strcmp(k->name, "portable") && winograd_is_faster(s) ? CPU_WINOGRAD : CPU_DIRECT;
}

uint32_t cpu_table_hash(void)
{
    return mc_conv_table_hash(TABLE);
}
