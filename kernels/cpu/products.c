/* SPDX-License-Identifier: Apache-2.0
 *
 * A convolution of blocked activations as matrix products, one per element of its window.
 *
 * An element pairs each output with one input pixel, or with none outside the image. Those pixels
 * are copied to two matrices, one row per pair, so that padding costs nothing: a 3x3 window on 2x2
 * pixels needs 16 products of channels per image, not 36. These products replace oneDNN's reference
 * code, for small images and for most gradients before AVX2. */
#include "kernels/cpu/cpu.h"

#include <string.h>

enum { PAIRS = 1024 }; /* per product, if an image has fewer: both matrices stay in the cache */

struct products {
    struct cpu *be;
    const struct cpu_conv_shape *s;
    enum mc_pass pass;
    struct mc_window window;
    struct cpu_pixels in, out; /* the pairs of the current element */
    size_t images;             /* per product */
    float *weights;            /* one matrix per element: output channels by a group's inputs */
    float *in_rows, *out_rows;
};

static size_t elements(const struct cpu_conv_shape *s)
{
    return (size_t)(s->kernel[0] * s->kernel[1]);
}

static size_t weights_per_element(const struct cpu_conv_shape *s)
{
    return (size_t)s->oc * (size_t)(s->ic / s->groups);
}

/* Floats of the weights in work, rounded up to cache lines; 0 if they already are one matrix. */
static size_t weights_room(const struct cpu_conv_shape *s)
{
    return elements(s) > 1 ? (elements(s) * weights_per_element(s) + 15) / 16 * 16 : 0;
}

static void set_up(struct products *p, struct cpu *be, const struct cpu_conv_shape *s)
{
    const size_t b = (size_t)be->k->block, out = (size_t)s->oh * (size_t)s->ow;
    const size_t images = PAIRS / out > 0 ? PAIRS / out : 1;

    *p = (struct products){.be = be,
                           .s = s,
                           .window = cpu_conv_window(s),
                           .images = images < (size_t)s->n ? images : (size_t)s->n};
    p->in = (struct cpu_pixels){.channels = ((size_t)s->ic + b - 1) / b * b,
                                .width = (size_t)s->iw,
                                .hw = (size_t)s->ih * (size_t)s->iw,
                                .step = {(size_t)s->stride[0], (size_t)s->stride[1]}};
    p->out = (struct cpu_pixels){.channels = ((size_t)s->oc + b - 1) / b * b,
                                 .width = (size_t)s->ow,
                                 .hw = out,
                                 .step = {1, 1}};
}

/* Floats of matrices with this number of columns in all. */
static size_t rows_room(const struct products *p, size_t columns)
{
    return p->images * p->out.hw * columns;
}

size_t cpu_products_work(struct cpu *be, const struct cpu_conv_shape *s)
{
    struct products p;

    set_up(&p, be, s);
    return (weights_room(s) + rows_room(&p, p.in.channels + p.out.channels)) * sizeof(float);
}

/* Set the pairs of element t. Return their number per image. */
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

/* Multiply the `rows` pairs of element t, group by group. */
static void multiply(const struct products *p, size_t t, size_t rows)
{
    const size_t groups = (size_t)p->s->groups, ic = (size_t)p->s->ic / groups,
                 oc = (size_t)p->s->oc / groups, lx = p->in.channels, ly = p->out.channels;

    for (size_t g = 0; g < groups; g++) {
        float *x = p->in_rows + g * ic, *y = p->out_rows + g * oc;
        float *w = p->weights + t * weights_per_element(p->s) + g * oc * ic;
        if (p->pass == MC_PASS_FORWARD)
            cpu_gemm(p->be, (struct mc_product){.size = {rows, oc, ic},
                                                .a = {x, lx},
                                                .b = {w, ic, .transposed = 1},
                                                .c = {y, ly}});
        else if (p->pass == MC_PASS_DATA)
            cpu_gemm(p->be, (struct mc_product){
                                .size = {rows, ic, oc}, .a = {y, ly}, .b = {w, ic}, .c = {x, lx}});
        else
            cpu_gemm(p->be, (struct mc_product){.size = {oc, ic, rows},
                                                .a = {y, ly, .transposed = 1},
                                                .b = {x, lx},
                                                .beta = 1,
                                                .c = {w, ic}});
    }
}

/* Compute all elements of all images. x, y: the activations or their gradients. */
static void run(struct products *p, float *x, float *y)
{
    const struct cpu_kernels *k = p->be->k;
    const size_t n = (size_t)p->s->n, x_image = p->in.channels * p->in.hw,
                 y_image = p->out.channels * p->out.hw;

    for (size_t i = 0; i < n; i += p->images) {
        const size_t images = n - i < p->images ? n - i : p->images;
        for (size_t t = 0; t < elements(p->s); t++) {
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

/* Copy weights (output channels, a group's input channels, elements) to one matrix per element, or
 * back. */
static void transpose(const struct cpu_conv_shape *s, int to_elements, float *weight,
                      float *matrices)
{
    const size_t size = weights_per_element(s), all = elements(s);

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < size; i++)
        for (size_t t = 0; t < all; t++)
            if (to_elements)
                matrices[t * size + i] = weight[i * all + t];
            else
                weight[i * all + t] = matrices[t * size + i];
}

void cpu_products(struct cpu *be, const struct cpu_conv_shape *s, enum mc_pass pass,
                  const struct cpu_tensors *t)
{
    struct products p;
    const int apart = elements(s) > 1;

    set_up(&p, be, s);
    p.pass = pass;
    p.weights = apart ? t->work : t->weight;
    p.in_rows = (float *)t->work + weights_room(s);
    p.out_rows = p.in_rows + rows_room(&p, p.in.channels);
    /* products leave the padding of the rows unwritten */
    memset(p.in_rows, 0, rows_room(&p, p.in.channels + p.out.channels) * sizeof *p.in_rows);
    if (pass == MC_PASS_WEIGHTS)
        memset(p.weights, 0, elements(s) * weights_per_element(s) * sizeof *p.weights);
    else if (apart)
        transpose(s, 1, t->weight, p.weights);
    run(&p, t->x, t->y);
    if (pass == MC_PASS_WEIGHTS && apart)
        transpose(s, 0, t->weight, p.weights);
}
