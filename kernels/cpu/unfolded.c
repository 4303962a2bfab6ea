/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolutions of pixels, (N,C,H,W), as one matrix product per image.
 *
 * An image becomes a matrix with one row per weight of a window and one column per output pixel, 0
 * outside the image. A block of output channels already is a matrix of pixels by channels. This
 * replaces oneDNN's reference code, for gray images with AVX2 and for all images before AVX2. Each
 * thread adds up the weight gradients of its images, so their bytes depend on the number of
 * threads, as with Winograd. */
#include "kernels/cpu/cpu.h"

#include <omp.h>
#include <string.h>

static size_t weights_of_output(const struct cpu_conv_shape *s)
{
    return (size_t)(s->ic / s->groups * s->kernel[0] * s->kernel[1]);
}

/* Floats of an unfolded image, rounded up to cache lines. */
static size_t image_room(const struct cpu_conv_shape *s)
{
    const size_t rows = (size_t)(s->ic * s->kernel[0] * s->kernel[1]);
    return (rows * (size_t)s->oh * (size_t)s->ow + 15) / 16 * 16;
}

size_t cpu_unfolded_work(const struct cpu *be, const struct cpu_conv_shape *s, enum mc_pass pass)
{
    const size_t sums = pass == MC_PASS_WEIGHTS ? (size_t)s->oc * weights_of_output(s) : 0;
    return (image_room(s) + sums) * (size_t)be->base.threads * sizeof(float);
}

/* Copy to a row the channel's pixels under element k of the windows. If `fold`, add the row to the
 * channel instead. */
static void unfold_row(const struct mc_window *w, const int k[2], int fold, float *channel,
                       float *row)
{
    const struct mc_span rows = mc_window_outputs(w, 0, k[0]), cols = mc_window_outputs(w, 1, k[1]);

    if (!fold)
        memset(row, 0, (size_t)(w->oh * w->ow) * sizeof *row);
    for (int h = rows.from; h < rows.to; h++) {
        float *from = channel + (h * w->stride[0] - w->pad[0] + k[0]) * w->iw - w->pad[1] + k[1];
        float *to = row + h * w->ow;
        for (int c = cols.from; c < cols.to; c++)
            if (fold)
                from[c * w->stride[1]] += to[c];
            else
                to[c] = from[c * w->stride[1]];
    }
}

static void unfold(const struct cpu_conv_shape *s, int fold, float *image, float *matrix)
{
    const struct mc_window w = cpu_conv_window(s);
    const int taps = s->kernel[0] * s->kernel[1];

    for (int r = 0; r < s->ic * taps; r++) {
        const int k[2] = {r % taps / s->kernel[1], r % taps % s->kernel[1]};
        unfold_row(&w, k, fold, image + r / taps * s->ih * s->iw,
                   matrix + (size_t)r * (size_t)(s->oh * s->ow));
    }
}

/* Multiply one image. Each product ends where a block or a group of output channels ends. */
static void multiply(struct cpu *be, const struct cpu_conv_shape *s, enum mc_pass pass,
                     float *matrix, float *weight, float *y)
{
    const size_t b = (size_t)be->k->block, oc = (size_t)s->oc, group = oc / (size_t)s->groups,
                 hw = (size_t)s->oh * (size_t)s->ow, k = weights_of_output(s);

    for (size_t o = 0, n; o < oc; o += n) {
        float *x = matrix + o / group * k * hw, *w = weight + o * k,
              *out = y + o / b * hw * b + o % b;
        n = b - o % b < group - o % group ? b - o % b : group - o % group;
        if (pass == MC_PASS_FORWARD)
            cpu_gemm(be, (struct mc_product){{hw, n, k}, {x, hw, 1}, {w, k, 1}, {out, b}, 1});
        else if (pass == MC_PASS_DATA)
            cpu_gemm(be, (struct mc_product){
                             {k, hw, n}, {w, k, 1}, {out, b, 1}, {x, hw}, o % group > 0});
        else
            cpu_gemm(be, (struct mc_product){{n, k, hw}, {out, b, 1}, {x, hw, 1}, {w, k}, 1});
    }
}

void cpu_unfolded(struct cpu *be, const struct cpu_conv_shape *s, enum mc_pass pass,
                  const struct cpu_tensors *t)
{
    const size_t b = (size_t)be->k->block, threads = (size_t)be->base.threads;
    const size_t nx = (size_t)s->ic * (size_t)s->ih * (size_t)s->iw;
    const size_t ny = ((size_t)s->oc + b - 1) / b * b * (size_t)s->oh * (size_t)s->ow;
    const size_t nw = (size_t)s->oc * weights_of_output(s);
    float *sums = (float *)t->work + threads * image_room(s);

    if (pass == MC_PASS_WEIGHTS)
        memset(sums, 0, threads * nw * sizeof *sums);
#pragma omp parallel num_threads((int)threads)
    {
        const size_t me = (size_t)omp_get_thread_num();
        float *matrix = (float *)t->work + me * image_room(s);
        float *w = pass == MC_PASS_WEIGHTS ? sums + me * nw : t->weight;
#pragma omp for schedule(static)
        for (int i = 0; i < s->n; i++) {
            float *image = t->x + (size_t)i * nx;
            if (pass != MC_PASS_DATA)
                unfold(s, 0, image, matrix);
            multiply(be, s, pass, matrix, w, t->y + (size_t)i * ny);
            if (pass == MC_PASS_DATA)
                unfold(s, 1, image, matrix);
        }
    }
    for (size_t j = 0; pass == MC_PASS_WEIGHTS && j < nw; j++) {
        t->weight[j] = sums[j];
        for (size_t k = 1; k < threads; k++)
            t->weight[j] += sums[k * nw + j];
    }
}
