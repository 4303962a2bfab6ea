/* SPDX-License-Identifier: Apache-2.0
 *
 * A view of a tensor with rearranged rows and columns: its entry (r,c) is entry (row[r],column[c]) of
 * the tensor. */
#ifndef MC_VIEW_H
#define MC_VIEW_H

#include "libcommon/graph/uses.h"

/* Inner product of two vectors and the square of their distance. */
struct mc_view_sums {
    double product, distance2;
};

struct mc_view {
    size_t rows, length;
    int32_t *row, *column;
    int moves_columns, moves;
    int32_t *scratch;
    struct mc_view_sums *sums; /* (rows) */
};

/* Allocates a view for tensors of at most `rows` rows of at most `length` values. Release it, also
 * after an error. */
MC_USE_RESULT int mc_view_init(struct mc_view *v, size_t rows, size_t length, struct mc_error *err);
void mc_view_release(struct mc_view *v);

/* Starts a view of a tensor in its original order. */
void mc_view_start(struct mc_view *v, size_t rows, size_t length);
/* Permutes units of the tensor, along axis dim. layout: counted from the tensor's start. */
void mc_view_permute(struct mc_view *v, struct mc_unit_layout layout, int dim, const int32_t *perm,
                     int inverse);
/* Returns the tensor in the view's order: `from` if nothing moves, else `to` with a copy. */
const float *mc_view_copy(const struct mc_view *v, const float *from, float *to, int threads);
/* Returns the sums over a and the view of b, row by row. */
struct mc_view_sums mc_view_sum(const struct mc_view *v, const float *a, const float *b,
                                int threads);

#endif
