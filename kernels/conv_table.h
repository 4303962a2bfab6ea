/* SPDX-License-Identifier: Apache-2.0
 *
 * The committed tables of what computes a convolution (cpu/algorithms.tsv, cuda/plans.tsv), which
 * are compiled in as text. A line, tab-separated: KEY PASS SHAPE, what computes it, and times for
 * the reader; KEY, one column or several, is what the backend computes on. Whatever begins another
 * way is no entry: the heading, a remark. */
#ifndef MC_CONV_TABLE_H
#define MC_CONV_TABLE_H

#include <stdint.h>

enum mc_pass { MC_PASS_FORWARD, MC_PASS_DATA, MC_PASS_WEIGHTS, MC_N_PASSES };
const char *mc_pass_name(enum mc_pass pass);

/* A shape's name, without the batch: "16x32x32-32x16x16 k3x3 s2x2 p1x1 g1". in, out: C, H, W. */
#define MC_SHAPE_TEXT 96
void mc_shape_text(char text[MC_SHAPE_TEXT], const int in[3], const int out[3], const int kernel[2],
                   const int stride[2], const int pad[2], int groups);

/* Entries of a backend's struct of a convolution's sizes, of node n with input `in`. */
#define MC_CONV_SIZES(in, n)                                                                       \
    .ih = (in)->h, .iw = (in)->w, .oc = (n)->c, .oh = (n)->h, .ow = (n)->w,                        \
    .kernel = {(n)->kernel[0], (n)->kernel[1]}, .stride = {(n)->stride[0], (n)->stride[1]},        \
    .pad = {(n)->pad[0], (n)->pad[1]}, .groups = (n)->groups

/* What a line has behind the shape, or NULL. */
const char *mc_conv_table_entry(const char *table, const char *key, const char *pass,
                                const char *shape);
/* Which of the n names the table's entry has, or -1: no entry, or another name. */
int mc_conv_table_choice(const char *table, const char *key, enum mc_pass pass, const char *shape,
                         const char *const *names, int n);
uint32_t mc_conv_table_hash(const char *table);

#endif
