/* SPDX-License-Identifier: Apache-2.0
 *
 * Fit a picture to a square as PIL does: two passes of a triangle filter that widens as pictures
 * shrink, in fixed point, rounded to bytes after each pass (Pillow, src/libImaging/Resample.c). */
#include "formats/datasets/picture.h"

#include "libcommon/base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BITS 22 /* fraction bits of a weight */

/* The input pixels of each output pixel: count[i] from first[i] on, with `taps` weights each. */
struct axis {
    int *first, *count;
    int32_t *weight; /* (outputs, taps) */
    size_t taps;
};

static void axis_release(struct axis *a)
{
    free(a->first);
    free(a->count);
    free(a->weight);
}

/* Outputs offset to offset + n when `in` pixels are resized to `out`. */
static int axis_init(struct axis *a, int in, int out, int offset, int n, struct mc_error *err)
{
    const double scale = (double)in / out, wide = scale < 1 ? 1 : scale;
    double *w = NULL;
    int rc = 0;

    a->taps = (size_t)ceil(wide) * 2 + 1;
    if ((rc = mc_new(&a->first, (size_t)n, err)) || (rc = mc_new(&a->count, (size_t)n, err)) ||
        (rc = mc_new(&a->weight, (size_t)n * a->taps, err)) || (rc = mc_new(&w, a->taps, err)))
        return rc;
    for (int i = 0; i < n; i++) {
        const double centre = (offset + i + .5) * scale;
        const int from = centre - wide + .5 < 0 ? 0 : (int)(centre - wide + .5);
        const int to = centre + wide + .5 > in ? in : (int)(centre + wide + .5);
        double sum = 0;
        for (int k = 0; k < to - from; k++) {
            const double x = fabs((k + from - centre + .5) * (1 / wide));
            sum += w[k] = x < 1 ? 1 - x : 0;
        }
        a->first[i] = from;
        a->count[i] = to - from;
        for (int k = 0; k < to - from; k++)
            a->weight[(size_t)i * a->taps + (size_t)k] = (int32_t)(.5 + w[k] / sum * (1 << BITS));
    }
    free(w);
    return 0;
}

/* Output i of an axis, from pixels `step` bytes apart. */
static uint8_t weighted(const struct axis *a, size_t i, const uint8_t *from, size_t step)
{
    int32_t v = 1 << (BITS - 1);

    for (size_t k = 0; k < (size_t)a->count[i]; k++)
        v += from[step * k] * a->weight[i * a->taps + k];
    v >>= BITS;
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

/* Length of a side after the shorter side has become `size`, and offset of the square, half rounded
 * to even. */
static int resized(int side, int shorter, int size, int *offset)
{
    const int length = (int)((int64_t)size * side / shorter), over = length - size;

    *offset = over / 2 + (over % 2 && over / 2 % 2);
    return length;
}

void mc_picture_planes(const struct mc_picture *p, uint8_t *out)
{
    const size_t pixels = (size_t)p->height * (size_t)p->width;

    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < 3; c++)
            out[c * pixels + i] = p->rgb[3 * i + c];
}

int mc_picture_square(struct mc_picture *p, int size, uint8_t *out, struct mc_error *err)
{
    const int shorter = p->height < p->width ? p->height : p->width;
    const size_t n = (size_t)size, width = (size_t)p->width;
    struct axis across = {0}, down = {0};
    int left = 0, top = 0, rc = 0;

    if (p->height == size && p->width == size) {
        mc_picture_planes(p, out);
        return 0;
    }
    const int w = resized(p->width, shorter, size, &left);
    const int h = resized(p->height, shorter, size, &top);
    if ((rc = axis_init(&across, p->width, w, left, size, err)) ||
        (rc = axis_init(&down, p->height, h, top, size, err)))
        goto out;
    const size_t y0 = (size_t)down.first[0], end = (size_t)(down.first[n - 1] + down.count[n - 1]);
    if ((rc = mc_buffer_room(&p->rows, &p->rows_size, (end - y0) * n * 3, err)))
        goto out;
    for (size_t y = y0; y < end; y++)
        for (size_t x = 0; x < n; x++)
            for (size_t c = 0; c < 3; c++) {
                const uint8_t *from = p->rgb + (y * width + (size_t)across.first[x]) * 3 + c;
                p->rows[((y - y0) * n + x) * 3 + c] = weighted(&across, x, from, 3);
            }
    for (size_t y = 0; y < n; y++)
        for (size_t x = 0; x < n; x++)
            for (size_t c = 0; c < 3; c++) {
                const uint8_t *from = p->rows + (((size_t)down.first[y] - y0) * n + x) * 3 + c;
                out[(c * n + y) * n + x] = weighted(&down, y, from, 3 * n);
            }
out:
    axis_release(&across);
    axis_release(&down);
    return rc;
}
