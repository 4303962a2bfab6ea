/* SPDX-License-Identifier: Apache-2.0
 *
 * The committed table of algorithms, compiled in as text. */
#include "kernels/cpu/cpu.h"

#include <string.h>

enum { LEAST_CHANNELS = 16, MOST_WEIGHTS = 192 * 384 }; /* of winograd_pays */

static const char TABLE[] =
#include "algorithms.inc"
    ;

static const char *const names[CPU_N_ALGORITHMS] = {"direct", "dnnl-winograd", "winograd",
                                                    "depthwise", "products"};

const char *cpu_algorithm_name(enum cpu_algorithm a)
{
    return names[a];
}

void cpu_conv_text(const struct cpu_conv_shape *s, char text[MC_SHAPE_TEXT])
{
    mc_shape_text(text, (const int[]){s->ic, s->ih, s->iw}, (const int[]){s->oc, s->oh, s->ow},
                  s->kernel, s->stride, s->pad, s->groups);
}

/* What the table's shapes have in common: Winograd wins wherever its products, with those of empty
 * tiles, are half of the direct ones and it has channels enough; and its transformed weights, four
 * times as large, must not fill the cache. */
static int winograd_pays(const struct cpu_conv_shape *s)
{
    const int tiles = ((s->oh + 3) / 4) * ((s->ow + 3) / 4);

    return s->kernel[0] == 3 && s->kernel[1] == 3 && s->stride[0] == 1 && s->stride[1] == 1 &&
           s->groups == 1 && s->ic >= LEAST_CHANNELS && s->oc >= LEAST_CHANNELS &&
           (int64_t)s->ic * s->oc <= MOST_WEIGHTS && 2 * 36 * tiles <= 9 * s->oh * s->ow;
}

enum cpu_algorithm cpu_choose_instead(const struct cpu_conv_shape *s)
{
    if (cpu_is_depthwise(s))
        return CPU_DEPTHWISE;
    return winograd_pays(s) ? CPU_WINOGRAD : CPU_PRODUCTS;
}

enum cpu_algorithm cpu_choose(const struct cpu_kernels *k, enum mc_pass pass,
                              const struct cpu_conv_shape *s)
{
    char shape[MC_SHAPE_TEXT];

    cpu_conv_text(s, shape);
    const int a = mc_conv_table_choice(TABLE, k->name, pass, shape, names, CPU_N_TABLED);
    if (a >= 0)
        return (enum cpu_algorithm)a;
    return strcmp(k->name, "portable") && winograd_pays(s) ? CPU_WINOGRAD : CPU_DIRECT;
}

uint32_t cpu_table_hash(void)
{
    return mc_conv_table_hash(TABLE);
}
