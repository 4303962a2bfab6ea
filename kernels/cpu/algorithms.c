/* SPDX-License-Identifier: Apache-2.0
 *
 * The committed table of algorithms, compiled in as text. */
#include "cpu.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum { LEAST_CHANNELS = 16, MOST_WEIGHTS = 192 * 384 }; /* of by_rule */

static const char TABLE[] =
#include "algorithms.inc"
    ;

const char *cpu_pass_name(enum cpu_pass pass)
{
    static const char *const names[] = {"forward", "data", "weights"};
    return names[pass];
}

const char *cpu_algorithm_name(enum cpu_algorithm a)
{
    static const char *const names[] = {"direct", "dnnl-winograd", "winograd"};
    return names[a];
}

void cpu_conv_text(const struct cpu_conv_shape *s, char text[CPU_SHAPE_TEXT])
{
    snprintf(text, CPU_SHAPE_TEXT, "%dx%dx%d-%dx%dx%d k%dx%d s%dx%d p%dx%d g%d", s->ic, s->ih,
             s->iw, s->oc, s->oh, s->ow, s->kernel[0], s->kernel[1], s->stride[0], s->stride[1],
             s->pad[0], s->pad[1], s->groups);
}

/* What the table's shapes have in common: Winograd wins wherever its products, with those of empty
 * tiles, are half of the direct ones and it has channels enough; and its transformed weights, four
 * times as large, must not fill the cache. */
static enum cpu_algorithm by_rule(const struct cpu_kernels *k, const struct cpu_conv_shape *s)
{
    const int tiles = ((s->oh + 3) / 4) * ((s->ow + 3) / 4);

    if (strcmp(k->name, "portable") && s->kernel[0] == 3 && s->kernel[1] == 3 &&
        s->stride[0] == 1 && s->stride[1] == 1 && s->groups == 1 && s->ic >= LEAST_CHANNELS &&
        s->oc >= LEAST_CHANNELS && (int64_t)s->ic * s->oc <= MOST_WEIGHTS &&
        2 * 36 * tiles <= 9 * s->oh * s->ow)
        return CPU_WINOGRAD;
    return CPU_DIRECT;
}

enum cpu_algorithm cpu_choose(const struct cpu_kernels *k, enum cpu_pass pass,
                              const struct cpu_conv_shape *s)
{
    char shape[CPU_SHAPE_TEXT], line[CPU_SHAPE_TEXT + 64];

    cpu_conv_text(s, shape);
    for (enum cpu_algorithm a = 0; a < CPU_N_ALGORITHMS; a++) {
        snprintf(line, sizeof line, "\n%s\t%s\t%s\t%s\t", k->name, cpu_pass_name(pass), shape,
                 cpu_algorithm_name(a));
        if (strstr(TABLE, line))
            return a;
    }
    return by_rule(k, s);
}

uint32_t cpu_table_hash(void)
{
    return (uint32_t)XXH3_64bits(TABLE, sizeof TABLE - 1);
}
