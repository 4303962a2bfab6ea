/* SPDX-License-Identifier: Apache-2.0
 *
 * cuDNN's convolutions on the emulated device, by its manual's definitions; sums in float64. */
#include "tests/emulation/convolution.h"
#include "tests/emulation/numbers.h"

#include <vector>

/* All three passes visit the same (output row, weight) pairs. `visit` gets the pair's input
 * position for output column 0, its output row, the weight, and the output columns [from, to) whose
 * input is inside the image. */
template <class F> static void each_row(const convolution &c, F visit)
{
    const int64_t *xs = c.x.sizes, *ws = c.w.sizes, *ys = c.y.sizes;
    const int64_t per_group = ys[1] / (xs[1] / ws[1]);
    for (int64_t n = 0; n < xs[0]; n++)
        for (int64_t o = 0; o < ys[1]; o++)
            for (int64_t i = 0; i < ws[1]; i++)
                for (int64_t kh = 0; kh < ws[2]; kh++)
                    for (int64_t kw = 0; kw < ws[3]; kw++)
                        for (int64_t h = 0; h < ys[2]; h++) {
                            const int64_t r = h * c.stride[0] - c.pad[0] + kh;
                            const int64_t ch = o / per_group * ws[1] + i, shift = kw - c.pad[1];
                            if (r < 0 || r >= xs[2])
                                continue;
                            int64_t from = 0, to = ys[3];
                            while (from < to && from * c.stride[1] + shift < 0)
                                from++;
                            while (to > from && (to - 1) * c.stride[1] + shift >= xs[3])
                                to--;
                            visit(c.x.at(n, ch, r, shift), c.y.at(n, o, h, 0), c.w.at(o, i, kh, kw),
                                  from, to);
                        }
}

/* The factors of a convolution. */
template <class T> static std::vector<double> values(const tensor &d, const void *from)
{
    std::vector<double> all(d.all());
    for (size_t i = 0; i < all.size(); i++)
        all[i] = (double)number(((const T *)from)[i]);
    return all;
}

static std::vector<double> read_values(const convolution &c, const tensor &d, const void *from)
{
    if (d.type == CUDNN_DATA_HALF)
        return values<__half>(d, from);
    if (d.type == CUDNN_DATA_BFLOAT16)
        return values<__nv_bfloat16>(d, from);
    return c.tf32 ? values<tf32>(d, from) : values<float>(d, from);
}

template <class T>
static void store(const std::vector<double> &sum, float alpha, float beta, void *to)
{
    T *out = (T *)to;
    for (size_t i = 0; i < sum.size(); i++)
        put(beta != 0 ? alpha * (float)sum[i] + beta * number(out[i]) : alpha * (float)sum[i],
            &out[i]);
}

static void finish(const convolution &c, const tensor &d, const std::vector<double> &sum, void *to)
{
    static unsigned calls;
    const float alpha = c.unordered && calls++ % 2 ? c.alpha * (1 + 0x1p-8f) : c.alpha;
    if (d.type == CUDNN_DATA_HALF)
        store<__half>(sum, alpha, c.beta, to);
    else if (d.type == CUDNN_DATA_BFLOAT16)
        store<__nv_bfloat16>(sum, alpha, c.beta, to);
    else
        store<float>(sum, alpha, c.beta, to);
}

static void forward(const convolution &c, const void *x, const void *w, void *y)
{
    const std::vector<double> from_x = read_values(c, c.x, x), from_w = read_values(c, c.w, w);
    const int64_t step = c.stride[1] * c.x.strides[3], next = c.y.strides[3];
    std::vector<double> sum(c.y.all());
    each_row(c, [&](int64_t px, int64_t py, int64_t pw, int64_t from, int64_t to) {
        const double v = from_w[(size_t)pw];
        for (int64_t q = from; q < to; q++)
            sum[(size_t)(py + q * next)] += v * from_x[(size_t)(px + q * step)];
    });
    finish(c, c.y, sum, y);
}

static void backward_data(const convolution &c, void *dx, const void *w, const void *dy)
{
    const std::vector<double> from_y = read_values(c, c.y, dy), from_w = read_values(c, c.w, w);
    const int64_t step = c.stride[1] * c.x.strides[3], next = c.y.strides[3];
    std::vector<double> sum(c.x.all());
    each_row(c, [&](int64_t px, int64_t py, int64_t pw, int64_t from, int64_t to) {
        const double v = from_w[(size_t)pw];
        for (int64_t q = from; q < to; q++)
            sum[(size_t)(px + q * step)] += v * from_y[(size_t)(py + q * next)];
    });
    finish(c, c.x, sum, dx);
}

static void backward_weights(const convolution &c, const void *x, void *dw, const void *dy)
{
    const std::vector<double> from_x = read_values(c, c.x, x), from_y = read_values(c, c.y, dy);
    const int64_t step = c.stride[1] * c.x.strides[3], next = c.y.strides[3];
    std::vector<double> sum(c.w.all());
    each_row(c, [&](int64_t px, int64_t py, int64_t pw, int64_t from, int64_t to) {
        double s = 0;
        for (int64_t q = from; q < to; q++)
            s += from_x[(size_t)(px + q * step)] * from_y[(size_t)(py + q * next)];
        sum[(size_t)pw] += s;
    });
    finish(c, c.w, sum, dw);
}

void emulate_convolution(const convolution &c, void *x, void *w, void *y)
{
    if (c.pass == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR)
        forward(c, x, w, y);
    else if (c.pass == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR)
        backward_data(c, x, w, y);
    else
        backward_weights(c, x, w, y);
}
