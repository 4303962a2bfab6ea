/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookup in a table of convolution algorithms. */
#include "kernels/conv_table.h"

#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL /* a backend's library links no xxhash */
#include <xxhash.h>

const char *mc_pass_name(enum mc_pass pass)
{
    static const char *const names[] = {"forward", "data", "weights"};
    return names[pass];
}

void mc_shape_text(char text[MC_SHAPE_TEXT], const int in[3], const int out[3], const int kernel[2],
                   const int stride[2], const int pad[2], int groups)
{
    snprintf(text, MC_SHAPE_TEXT, "%dx%dx%d-%dx%dx%d k%dx%d s%dx%d p%dx%d g%d", in[0], in[1], in[2],
             out[0], out[1], out[2], kernel[0], kernel[1], stride[0], stride[1], pad[0], pad[1],
             groups);
}

const char *mc_conv_table_entry(const char *table, const char *key, const char *pass,
                                const char *shape)
{
    char line[2 * MC_SHAPE_TEXT];
    const int length = snprintf(line, sizeof line, "\n%s\t%s\t%s\t", key, pass, shape);
    const char *found = length < (int)sizeof line ? strstr(table, line) : NULL;

    return found ? found + length : NULL;
}

int mc_conv_table_choice(const char *table, const char *key, enum mc_pass pass, const char *shape,
                         const char *const *names, int n)
{
    const char *found = mc_conv_table_entry(table, key, mc_pass_name(pass), shape);

    for (int i = 0; found && i < n; i++) {
        const size_t l = strlen(names[i]);
        if (!strncmp(found, names[i], l) && found[l] == '\t')
            return i;
    }
    return -1;
}

uint32_t mc_conv_table_hash(const char *table)
{
    return (uint32_t)XXH3_64bits(table, strlen(table));
}
