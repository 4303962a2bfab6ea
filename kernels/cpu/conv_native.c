/* SPDX-License-Identifier: Apache-2.0
 *
 * Our own algorithms of a convolution's passes: Winograd, depthwise kernels, matrix products. */
#include "kernels/cpu/cpu.h"

#include <string.h>

/* Fill *native and return 1 if our Winograd kernels support this pass, otherwise return 0. */
static int winograd_fits(const struct cpu *be, const struct cpu_conv_shape *s, enum mc_pass pass,
                         struct cpu_native *native)
{
    enum { CACHE = 384 << 10, MAX_ROWS = 64 };
    const size_t b = (size_t)be->k->block;
    const size_t icb = ((size_t)s->ic + b - 1) / b, ocb = ((size_t)s->oc + b - 1) / b;
    const int data = pass == MC_PASS_DATA;
    struct cpu_wino *w = &native->wino;

    if (s->kernel[0] != 3 || s->kernel[1] != 3 || s->stride[0] != 1 || s->stride[1] != 1 ||
        s->groups != 1 || cpu_is_plain(s, pass) || s->pad[0] != s->pad[1] || s->pad[0] > 2 ||
        (pass == MC_PASS_FORWARD && s->bias))
        return 0;
    *w = (struct cpu_wino){.icb = data ? ocb : icb,
                           .ocb = data ? icb : ocb,
                           .ih = data ? s->oh : s->ih,
                           .iw = data ? s->ow : s->iw,
                           .oh = data ? s->ih : s->oh,
                           .ow = data ? s->iw : s->ow,
                           .pad = data ? 2 - s->pad[0] : s->pad[0],
                           .add = data && s->adds};
    w->n = (size_t)s->n;
    w->threads = be->base.threads;
    w->tiles_h = ((size_t)w->oh + 3) / 4;
    w->tiles_w = ((size_t)w->ow + 3) / 4;
    for (size_t rows = 1; rows == 1 || rows * w->tiles_w <= MAX_ROWS; rows++) {
        struct cpu_wino more = *w;
        more.rows = rows;
        more.group = (rows * w->tiles_w + 15) / 16 * 16;
        /* exceed the cache only to fill a group, whose empty tiles would be multiplied too */
        if (rows > 1 && CPU_WINO_WORK(&more, b) * sizeof(float) > CACHE &&
            (rows - 1) * more.group >= rows * w->group)
            break;
        *w = more;
    }
    const size_t weights = 36 * icb * ocb * b * b * sizeof(float);
    native->weights_bytes = pass == MC_PASS_WEIGHTS ? weights * (size_t)be->base.threads : weights;
    native->work_bytes =
        native->weights_bytes + CPU_WINO_WORK(w, b) * sizeof(float) * (size_t)be->base.threads;
    return 1;
}

int cpu_native_supports(struct cpu *be, const struct cpu_conv_shape *s, enum mc_pass pass,
                        enum cpu_algorithm by, struct cpu_native *native)
{
    *native = (struct cpu_native){.by = by};
    if ((by == CPU_WINOGRAD && winograd_fits(be, s, pass, native)) ||
        (by == CPU_DEPTHWISE && cpu_is_depthwise(s)))
        return 1;
    if (by == CPU_PRODUCTS) {
        native->work_bytes =
            cpu_is_plain(s, pass) ? cpu_unfolded_work(be, s, pass) : cpu_products_work(be, s);
        return 1;
    }
    native->by = CPU_DIRECT;
    return 0;
}

int cpu_native_fuses(const struct cpu_native *native, enum mc_pass pass)
{
    /* only a batch norm before the weights' gradient allows that threads share an image */
    return native->by == CPU_WINOGRAD &&
           (pass == MC_PASS_WEIGHTS || native->wino.rows % native->wino.tiles_h == 0);
}

/* Set every output pixel to the biases, or to 0. */
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

static void winograd(struct cpu *be, const struct cpu_wino *w, const struct cpu_conv_shape *s,
                     enum mc_pass pass, const struct cpu_tensors *t, float *scratch)
{
    const size_t ic = (size_t)s->ic, oc = (size_t)s->oc;
    const int data = pass == MC_PASS_DATA;

    if (pass == MC_PASS_WEIGHTS) {
        be->k->wino_grad(w, t->x, t->y, t->work, scratch);
        be->k->wino_weights_out(w, ic, oc, t->work, (size_t)be->base.threads, t->weight);
    } else {
        be->k->wino_weights_in(w, data ? oc : ic, data ? ic : oc, data, t->weight, t->work);
        be->k->wino_conv(w, data ? t->y : t->x, t->work, data ? t->x : t->y, scratch);
    }
}

static void depthwise(struct cpu *be, const struct cpu_conv_shape *s, enum mc_pass pass,
                      const struct cpu_tensors *t)
{
    const struct mc_window w = cpu_conv_window(s);
    const size_t n = (size_t)s->n, c = (size_t)s->ic;

    if (pass == MC_PASS_FORWARD)
        be->k->depthwise(n, c, &w, 0, t->x, t->weight, s->bias ? t->bias : NULL, t->y);
    else if (pass == MC_PASS_DATA)
        be->k->depthwise(n, c, &w, 1, t->y, t->weight, NULL, t->x);
    else
        be->k->depthwise_grad(n, c, &w, t->x, t->y, t->weight);
}

static void products(struct cpu *be, const struct cpu_conv_shape *s, enum mc_pass pass,
                     const struct cpu_tensors *t)
{
    const size_t b = s->plain_grad ? 1 : (size_t)be->k->block;
    const size_t channels = ((size_t)s->ic + b - 1) / b * b;

    if (pass == MC_PASS_FORWARD)
        fill(be, s, s->bias ? t->bias : NULL, t->y);
    else if (pass == MC_PASS_DATA)
        memset(t->x, 0, (size_t)s->n * channels * (size_t)(s->ih * s->iw) * sizeof *t->x);
    (cpu_is_plain(s, pass) ? cpu_unfolded : cpu_products)(be, s, pass, t);
}

void cpu_native_run(struct cpu *be, const struct cpu_native *native, const struct cpu_conv_shape *s,
                    enum mc_pass pass, const struct cpu_tensors *t)
{
    if (native->by == CPU_WINOGRAD)
        winograd(be, &native->wino, s, pass, t,
                 (float *)t->work + native->weights_bytes / sizeof(float));
    else if (native->by == CPU_DEPTHWISE)
        depthwise(be, s, pass, t);
    else
        products(be, s, pass, t);
}
