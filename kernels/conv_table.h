/* SPDX-License-Identifier: Apache-2.0
 *
 * The committed tables of convolution algorithms (cpu/algorithms.tsv, cuda/plans.tsv), compiled in
 * as text. A line has tab-separated columns: KEY, PASS, SHAPE, the algorithm, and measured times,
 * which programs ignore. KEY (one or more columns) names the hardware. Other lines, such as the
 * heading and remarks, are ignored. */
#ifndef MC_CONV_TABLE_H
#define MC_CONV_TABLE_H

#include <stdint.h>

enum mc_pass { MC_PASS_FORWARD, MC_PASS_DATA, MC_PASS_WEIGHTS, MC_N_PASSES };
const char *mc_pass_name(enum mc_pass pass);

/* Writes a shape's name, which does not contain the batch: "16x32x32-32x16x16 k3x3 s2x2 p1x1 g1".
 * in, out: C, H, W. */
#define MC_SHAPE_TEXT 96
void mc_shape_text(char text[MC_SHAPE_TEXT], const int in[3], const int out[3], const int kernel[2],
                   const int stride[2], const int pad[2], int groups);
/* The same for a backend's struct of convolution sizes. */
#define MC_CONV_TEXT(s, text)                                                                      \
    mc_shape_text(text, (const int[]){(s)->ic, (s)->ih, (s)->iw},                                  \
                  (const int[]){(s)->oc, (s)->oh, (s)->ow}, (s)->kernel, (s)->stride, (s)->pad,    \
                  (s)->groups)

/* Initializers for a backend's struct of convolution sizes, from node n with input `in`. */
#define MC_CONV_SIZES(in, n)                                                                       \
    .ih = (in)->h, .iw = (in)->w, .oc = (n)->c, .oh = (n)->h, .ow = (n)->w,                        \
    .kernel = {(n)->kernel[0], (n)->kernel[1]}, .stride = {(n)->stride[0], (n)->stride[1]},        \
    .pad = {(n)->pad[0], (n)->pad[1]}, .groups = (n)->groups

/* Returns the rest of the line after the shape, or NULL. */
const char *mc_conv_table_entry(const char *table, const char *key, const char *pass,
                                const char *shape);
/* Returns the index of the entry's algorithm in names (n). Returns -1 if the table has no entry or
 * names another algorithm. */
int mc_conv_table_choice(const char *table, const char *key, enum mc_pass pass, const char *shape,
                         const char *const *names, int n);
uint32_t mc_conv_table_hash(const char *table);

#endif
