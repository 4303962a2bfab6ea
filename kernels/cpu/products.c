/* SPDX-License-Identifier: Apache-2.0
 *
 * A convolution as matrix products, one per place of its window.
 *
 * A place pairs each output with one input pixel, or with none off the image. Those pixels are
 * copied to two matrices, one row per pair, so that padding costs nothing: a 3x3 window on 2x2
 * pixels takes 16 products of channels per image, not 36. It is the way for shapes for which oneDNN
 * has only reference code: small images, and most gradients before AVX2. */
#include "kernels/cpu/cpu.h"

#include <string.h>

enum { PAIRS = 1024 }; /* that images are taken at a time for: both matrices stay in the cache */

struct products {
    struct cpu *be;
    const struct cpu_conv_shape *s;
    enum mc_pass pass;
    struct mc_window window;
    struct cpu_pixels in, out; /* the pairs of the place at hand */
    size_t images;             /* taken at a time */
    float *weights;            /* of places: output channels by a group's input channels */
    float *in_rows, *out_rows;
};

static size_t places(const struct cpu_conv_shape *s)
{
    return (size_t)(s->kernel[0] * s->kernel[1]);
}

static size_t weights_of_place(const struct cpu_conv_shape *s)
{
    return (size_t)s->oc * (size_t)(s->ic / s->groups);
}

/* Floats of the weights in work, whole cache lines; none where they are already one matrix. */
static size_t weights_room(const struct cpu_conv_shape *s)
{
    return places(s) > 1 ? (places(s) * weights_of_place(s) + 15) / 16 * 16 : 0;
}

static void set_up(struct products *p, struct cpu *be, const struct cpu_conv_shape *s,
                   enum mc_pass pass)
{
    const size_t b = (size_t)be->k->block, out = (size_t)s->oh * (size_t)s->ow;
    const size_t images = PAIRS / out > 0 ? PAIRS / out : 1;
    const int plain = cpu_is_plain(s, pass);

    *p = (struct products){
        .be = be, .s = s, .pass = pass, .window = cpu_conv_window(s), .images = images};
    p->in = (struct cpu_pixels){.channels = plain ? (size_t)s->ic : ((size_t)s->ic + b - 1) / b * b,
                                .width = (size_t)s->iw,
                                .hw = (size_t)s->ih * (size_t)s->iw,
                                .step = {(size_t)s->stride[0], (size_t)s->stride[1]},
                                .plain = plain};
    p->out = (struct cpu_pixels){.channels = ((size_t)s->oc + b - 1) / b * b,
                                 .width = (size_t)s->ow,
                                 .hw = out,
                                 .step = {1, 1}};
    p->images = images < (size_t)s->n ? images : (size_t)s->n;
}

static size_t rows_room(const struct products *p, size_t channels)
{
    return (p->images * p->out.hw * channels + 15) / 16 * 16;
}

size_t cpu_products_work(struct cpu *be, const struct cpu_conv_shape *s, enum mc_pass pass)
{
    struct products p;

    set_up(&p, be, s, pass);
    return (weights_room(s) + rows_room(&p, p.in.channels) + rows_room(&p, p.out.channels)) *
           sizeof(float);
}

/* Sets the pairs of place t; returns how many an image has. */
static size_t pair(struct products *p, size_t t)
{
    const int k[2] = {(int)t / p->s->kernel[1], (int)t % p->s->kernel[1]};
    size_t count[2];

    for (int axis = 0; axis < 2; axis++) {
        const struct mc_span o = mc_window_outputs(&p->window, axis, k[axis]);
        if (o.from >= o.to)
            return 0;
        count[axis] = (size_t)(o.to - o.from);
        p->out.first[axis] = (size_t)o.from;
        p->in.first[axis] = (size_t)(o.from * p->s->stride[axis] - p->s->pad[axis] + k[axis]);
    }
    p->in.rows = p->out.rows = count[0];
    p->in.cols = p->out.cols = count[1];
    return count[0] * count[1];
}

/* The products of a place for `rows` pairs, group by group. */
static void multiply(const struct products *p, size_t t, size_t rows)
{
    const size_t groups = (size_t)p->s->groups, ic = (size_t)p->s->ic / groups,
                 oc = (size_t)p->s->oc / groups, lx = p->in.channels, ly = p->out.channels;

    for (size_t g = 0; g < groups; g++) {
        float *x = p->in_rows + g * ic, *y = p->out_rows + g * oc;
        float *w = p->weights + t * weights_of_place(p->s) + g * oc * ic;
        if (p->pass == MC_PASS_FORWARD)
            cpu_gemm(p->be, 'N', 'T', rows, oc, ic, x, lx, w, ic, 0, y, ly);
        else if (p->pass == MC_PASS_DATA)
            cpu_gemm(p->be, 'N', 'N', rows, ic, oc, y, ly, w, ic, 0, x, lx);
        else
            cpu_gemm(p->be, 'T', 'N', oc, ic, rows, y, ly, x, lx, 1, w, ic);
    }
}

/* All places of all images; x and y: the activations, or their gradients. */
static void run(struct products *p, float *x, float *y)
{
    const struct cpu_kernels *k = p->be->k;
    const size_t n = (size_t)p->s->n, x_image = p->in.channels * p->in.hw,
                 y_image = p->out.channels * p->out.hw;

    for (size_t i = 0; i < n; i += p->images) {
        const size_t images = n - i < p->images ? n - i : p->images;
        for (size_t t = 0; t < places(p->s); t++) {
            const size_t pairs = pair(p, t);
            if (!pairs)
                continue;
            if (p->pass != MC_PASS_DATA)
                k->pixels_out(&p->in, images, x + i * x_image, p->in_rows);
            if (p->pass != MC_PASS_FORWARD)
                k->pixels_out(&p->out, images, y + i * y_image, p->out_rows);
            multiply(p, t, images * pairs);
            if (p->pass == MC_PASS_DATA)
                k->pixels_add(&p->in, images, p->in_rows, x + i * x_image);
            if (p->pass == MC_PASS_FORWARD)
                k->pixels_add(&p->out, images, p->out_rows, y + i * y_image);
        }
    }
}

/* Between weights (output channels, a group's input channels, places) and one matrix per place. */
static void transpose(const struct cpu_conv_shape *s, int to_places, float *weight, float *matrices)
{
    const size_t size = weights_of_place(s), all = places(s);

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < size; i++)
        for (size_t t = 0; t < all; t++)
            if (to_places)
                matrices[t * size + i] = weight[i * all + t];
            else
                weight[i * all + t] = matrices[t * size + i];
}

/* Every output pixel starts with the biases, or 0. */
static void fill(const struct cpu *be, const struct cpu_conv_shape *s, const float *bias, float *y)
{
    const size_t b = (size_t)be->k->block, hw = (size_t)s->oh * (size_t)s->ow,
                 cb = ((size_t)s->oc + b - 1) / b;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < (size_t)s->n * cb; i++)
        for (size_t l = 0; l < b; l++) {
            const size_t c = i % cb * b + l;
            const float value = bias && c < (size_t)s->oc ? bias[c] : 0;
            for (size_t q = 0; q < hw; q++)
                y[(i * hw + q) * b + l] = value;
        }
}

static int start(struct products *p, struct cpu *be, const struct cpu_conv_shape *s,
                 enum mc_pass pass, float *weight, void *work)
{
    set_up(p, be, s, pass);
    p->weights = places(s) > 1 ? work : weight;
    p->in_rows = (float *)work + weights_room(s);
    p->out_rows = p->in_rows + rows_room(p, p->in.channels);
    /* products leave the padding of the rows unwritten */
    memset(p->in_rows, 0,
           (rows_room(p, p->in.channels) + rows_room(p, p->out.channels)) * sizeof(float));
    return places(s) > 1;
}

/* Inputs are only read. */
static float *writable(const float *x)
{
    return (float *)(uintptr_t)x;
}

void cpu_products_forward(struct cpu *be, const struct cpu_conv_shape *s, const float *x,
                          const float *weight, const float *bias, float *y, void *work)
{
    struct products p;

    if (start(&p, be, s, MC_PASS_FORWARD, writable(weight), work))
        transpose(s, 1, writable(weight), p.weights);
    fill(be, s, bias, y);
    run(&p, writable(x), y);
}

void cpu_products_backward_data(struct cpu *be, const struct cpu_conv_shape *s, const float *dy,
                                const float *weight, float *dx, void *work)
{
    struct products p;

    if (start(&p, be, s, MC_PASS_DATA, writable(weight), work))
        transpose(s, 1, writable(weight), p.weights);
    memset(dx, 0, (size_t)s->n * p.in.channels * p.in.hw * sizeof *dx);
    run(&p, dx, writable(dy));
}

void cpu_products_backward_weights(struct cpu *be, const struct cpu_conv_shape *s, const float *x,
                                   const float *dy, float *dweight, void *work)
{
    struct products p;
    const int apart = start(&p, be, s, MC_PASS_WEIGHTS, dweight, work);

    memset(p.weights, 0, places(s) * weights_of_place(s) * sizeof *dweight);
    run(&p, writable(x), writable(dy));
    if (apart)
        transpose(s, 0, dweight, p.weights);
}
