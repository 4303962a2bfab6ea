/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise operations on activations. */
#include "device.cuh"

static __global__ void relu(size_t n, const float *x, float delta, float *y)
{
    for
        EACH(i, n)
    y[i] = activate(x[i], delta);
}

void cuda_relu(struct cuda *be, size_t n, const float *x, float delta, float *y)
{
    LAUNCH_EACH(be, relu, n, x, delta, y);
}

static __global__ void relu_back(size_t n, const float *x, const float *dy, float delta, int add,
                                 float *dx)
{
    for
        EACH(i, n)
        {
            const float g = activate_back(x[i], dy[i], delta);
            dx[i] = add ? dx[i] + g : g;
        }
}

void cuda_relu_back(struct cuda *be, size_t n, const float *x, const float *dy, float delta,
                    int add, float *dx)
{
    LAUNCH_EACH(be, relu_back, n, x, dy, delta, add, dx);
}

static __global__ void add_two(size_t n, const float *a, const float *b, float *y)
{
    for
        EACH(i, n)
    y[i] = a[i] + b[i];
}

void cuda_add(struct cuda *be, size_t n, const float *a, const float *b, float *y)
{
    LAUNCH_EACH(be, add_two, n, a, b, y);
}

static __global__ void add_bias(size_t n, size_t c, size_t hw, const float *bias, float *y)
{
    for
        EACH(i, n)
    y[i] += bias[i / hw % c];
}

void cuda_add_bias(struct cuda *be, const struct cuda_shape *s, const float *bias, float *y)
{
    LAUNCH_EACH(be, add_bias, s->n * s->c * s->hw, s->c, s->hw, bias, y);
}

static __global__ void copy_rows(size_t n, size_t count, const float *from, size_t from_image,
                                 int add, float *to, size_t to_image)
{
    for
        EACH(i, n)
        {
            const float v = from[i / count * from_image + i % count];
            float *y = &to[i / count * to_image + i % count];
            *y = add ? *y + v : v;
        }
}

void cuda_copy_rows(struct cuda *be, size_t n, size_t count, const float *from, size_t from_image,
                    int add, float *to, size_t to_image)
{
    LAUNCH_EACH(be, copy_rows, n * count, count, from, from_image, add, to, to_image);
}

/* The mask is drawn again in the backward pass: a number is a function of its counter. */
static __global__ void dropout(size_t n, size_t image, struct cuda_rows r, uint32_t counter,
                               float keep, float scale, const float *x, int add, float *y)
{
    for
        EACH(i, n)
        {
            const uint32_t e = (uint32_t)(i % image);
            const struct mc_rng4 u = mc_rng(r.batch->ctl.seed, MC_RNG_DROPOUT, r.batch->ctl.epoch,
                                            r.ids[i / image], counter + e / 4);
            const float v = mc_rng_unit(u.v[e % 4]) < keep ? x[i] * scale : 0.0f;
            y[i] = add ? y[i] + v : v;
        }
}

void cuda_dropout(struct cuda *be, const struct cuda_shape *s, const struct cuda_rows *r,
                  uint32_t node, float drop, const float *x, int add, float *y)
{
    const float keep = 1 - drop;

    /* MC_MAX_NODES and MC_MAX_DROPOUT / 4 are 32 bits together: no counter comes twice */
    LAUNCH_EACH(be, dropout, s->n * s->image, s->image, *r, node << 20, keep,
                keep > 0 ? 1 / keep : 0, x, add, y);
}
