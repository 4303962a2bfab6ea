/* SPDX-License-Identifier: Apache-2.0
 *
 * Views of tensors. */
#include "tools/align/view.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 1 << 16 }; /* values that are worth several threads */

int mc_view_init(struct mc_view *v, size_t rows, size_t length, struct mc_error *err)
{
    int rc;

    if ((rc = mc_new(&v->row, rows, err)) || (rc = mc_new(&v->sums, rows, err)) ||
        (rc = mc_new(&v->column, length, err)))
        return rc;
    return mc_new(&v->scratch, rows > length ? rows : length, err);
}

void mc_view_release(struct mc_view *v)
{
    free(v->row);
    free(v->column);
    free(v->scratch);
    free(v->sums);
}

static void set_identity(int32_t *index, size_t n)
{
    for (size_t i = 0; i < n; i++)
        index[i] = (int32_t)i;
}

void mc_view_start(struct mc_view *v, size_t rows, size_t length)
{
    v->rows = rows;
    v->length = length;
    v->moves = v->moves_columns = 0;
    set_identity(v->row, rows);
    set_identity(v->column, length);
}

void mc_view_permute(struct mc_view *v, struct mc_unit_layout layout, int dim, const int32_t *perm,
                     int inverse)
{
    int32_t *index = v->column;

    if (v->rows > 1 && dim == 0) {
        index = v->row;
        layout.m /= v->length;
        layout.stride /= v->length;
        layout.base /= v->length;
    } else {
        layout.slices /= v->rows;
        v->moves_columns = 1;
    }
    mc_units_permute(&layout, perm, inverse, sizeof *index, index, v->scratch);
    v->moves = 1;
}

const float *mc_view_copy(const struct mc_view *v, const float *from, float *to, int threads)
{
    if (!v->moves)
        return from;
#pragma omp parallel for num_threads(threads) if (v->rows * v->length > MANY)
    for (size_t r = 0; r < v->rows; r++) {
        const float *row = from + (size_t)v->row[r] * v->length;
        float *out = to + r * v->length;
        if (!v->moves_columns)
            memcpy(out, row, v->length * sizeof *out);
        else
            for (size_t c = 0; c < v->length; c++)
                out[c] = row[v->column[c]];
    }
    return to;
}

typedef double lanes __attribute__((vector_size(4 * sizeof(double))));

/* Sums of a row of a and a row of b with its columns in this order. */
static struct mc_view_sums row_sums(const float *a, const float *b, const int32_t *column, size_t n)
{
    lanes product = {0}, distance2 = {0};
    struct mc_view_sums sums;

    for (; n >= 4; n -= 4, a += 4, column += 4) {
        const lanes x = {a[0], a[1], a[2], a[3]},
                    y = {b[column[0]], b[column[1]], b[column[2]], b[column[3]]};
        product += x * y;
        distance2 += (x - y) * (x - y);
    }
    sums.product = product[0] + product[1] + (product[2] + product[3]);
    sums.distance2 = distance2[0] + distance2[1] + (distance2[2] + distance2[3]);
    for (size_t c = 0; c < n; c++) {
        const double x = (double)a[c], y = (double)b[column[c]];
        sums.product += x * y;
        sums.distance2 += (x - y) * (x - y);
    }
    return sums;
}

struct mc_view_sums mc_view_sum(const struct mc_view *v, const float *a, const float *b,
                                int threads)
{
    struct mc_view_sums all = {0};

#pragma omp parallel for num_threads(threads) if (v->rows * v->length > MANY)
    for (size_t r = 0; r < v->rows; r++)
        v->sums[r] =
            row_sums(a + r * v->length, b + (size_t)v->row[r] * v->length, v->column, v->length);
    for (size_t r = 0; r < v->rows; r++) {
        all.product += v->sums[r].product;
        all.distance2 += v->sums[r].distance2;
    }
    return all;
}
