/* SPDX-License-Identifier: Apache-2.0
 *
 * Pixels to the plan's first activation and back: gather, augmentation, normalization. */
#include "kernels/augment.h"
#include "kernels/cpu/cpu.h"
#include "kernels/scaling.h"

#include <assert.h>
#include <string.h>

/* Inline for a constant `affine`: testing it per pixel would cost a tenth of the time. */
static inline __attribute__((always_inline)) void map_all(const struct mc_draw *d, int h, int w,
                                                          int affine, int32_t *from)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            from[y * w + x] = mc_draw_source(d, affine, h, w, y, x);
}

/* The source pixel of every output pixel, or -1 (black). */
static void map_pixels(const struct mc_draw *d, int h, int w, int32_t *from)
{
    if (d->affine.on)
        map_all(d, h, w, 1, from);
    else
        map_all(d, h, w, 0, from);
}

/* Destination of a batch's pixels: the plan's first activation, or a buffer (B,C,H,W). Channel c of
 * pixel q of an image is at c * channel + q * step. */
struct picture {
    float *x;
    size_t channels, pixels, image, channel, step; /* image: floats from one image to the next */
};

static struct picture picture_of(const struct mc_plan *p)
{
    const struct cpu_node *c = &p->nodes[0];

    return (struct picture){.x = c->out,
                            .channels = (size_t)c->n->c,
                            .pixels = c->hw,
                            .image = c->image,
                            .channel = c->plain ? c->hw : 1,
                            .step = c->plain ? 1 : (size_t)p->be->k->block};
}

static void load_image(const struct mc_plan *p, const struct picture *t, const struct mc_scaling *s,
                       int raw, const struct mc_source *src, size_t i, const int32_t *from)
{
    const struct cpu_node *c = &p->nodes[0];
    const size_t step = t->step;
    const size_t offset = (size_t)p->samples[i] * (size_t)c->n->c * c->hw;

    for (size_t ch = 0; ch < (size_t)c->n->c; ch++) {
        float *to = t->x + ch * t->channel;
        const size_t row = raw ? MC_TO_UNIT : ch;
        const float *byte = s->byte[row];
        const float black = byte[0], scale = s->scale[row], shift = s->shift[row];
        if (src->pixels == MC_U8) {
            const uint8_t *px = (const uint8_t *)src->images->data + offset + ch * c->hw;
            for (size_t q = 0; q < c->hw; q++)
                to[q * step] = !from ? byte[px[q]] : from[q] < 0 ? black : byte[px[from[q]]];
        } else {
            const float *px = mc_const_floats(src->images) + offset + ch * c->hw;
            for (size_t q = 0; q < c->hw; q++)
                to[q * step] = !from         ? px[q] * scale + shift
                               : from[q] < 0 ? black
                                             : px[from[q]] * scale + shift;
        }
    }
}

/* ---- colours ---- */

static float grey(const struct picture *p, size_t q)
{
    const float *x = p->x + q * p->step;

    return p->channels < 3 ? x[0]
                           : .2989f * x[0] + .587f * x[p->channel] + .114f * x[2 * p->channel];
}

static void change_contrast(const struct picture *p, float f)
{
    double sum = 0;

    for (size_t q = 0; q < p->pixels; q++)
        sum += (double)grey(p, q);
    const float rest = (1 - f) * (float)(sum / (double)p->pixels);
    for (size_t c = 0; c < p->channels; c++)
        for (size_t q = 0; q < p->pixels; q++) {
            float *x = &p->x[c * p->channel + q * p->step];
            *x = mc_clamp(f * *x + rest, 0, 1);
        }
}

static void change_saturation(const struct picture *p, float f)
{
    for (size_t q = 0; p->channels == 3 && q < p->pixels; q++) {
        const float rest = (1 - f) * grey(p, q);
        for (size_t c = 0; c < 3; c++) {
            float *x = &p->x[c * p->channel + q * p->step];
            *x = mc_clamp(f * *x + rest, 0, 1);
        }
    }
}

static void jitter(const struct mc_augment *a, const struct mc_draw *d, const struct picture *p)
{
    for (int second = 0; second < 2; second++)
        if (second == d->saturation_first && a->contrast > 0)
            change_contrast(p, d->contrast);
        else if (second != d->saturation_first && a->saturation > 0)
            change_saturation(p, d->saturation);
}

static void normalise(const struct picture *p, const struct mc_scaling *s)
{
    for (size_t c = 0; c < p->channels; c++)
        for (size_t q = 0; q < p->pixels; q++) {
            float *x = &p->x[c * p->channel + q * p->step];
            *x = *x * s->scale[c] + s->shift[c];
        }
}

/* ---- entry points ---- */

/* Read the loaded samples' pixels from the source and augment them. */
static void read_pixels(struct mc_plan *p, const struct mc_source *src, const struct picture *all,
                        int normalised)
{
    const struct cpu_node *c = &p->nodes[0];
    const struct mc_augment *a = src->augment;
    const int colours = a && mc_augment_jitters(a);
    const int augments = a && mc_augment_any(a);
    const int raw = colours || !normalised;
    struct mc_scaling scaling;

    mc_scaling_of(c->n, &scaling);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->run.batch; i++) {
        int32_t *map = (int32_t *)p->work + i * c->hw;
        struct picture image = *all;
        image.x += i * all->image;
        if (i >= p->valid || all->step != 1)
            memset(image.x, 0, all->image * sizeof *image.x);
        if (i >= p->valid)
            continue;
        struct mc_draw d = {0};
        if (augments) {
            d = mc_augment_draw(a, &p->ctl, src->purpose, p->ids[i]);
            map_pixels(&d, c->n->h, c->n->w, map);
        }
        load_image(p, &image, &scaling, raw, src, i, augments ? map : NULL);
        if (colours) {
            assert(c->n->c == 1 || c->n->c == 3);
            jitter(a, &d, &image);
        }
        if (colours && normalised)
            normalise(&image, &scaling);
    }
}

void cpu_load(struct mc_plan *p, const struct mc_source *src, const struct mc_buf *ctl)
{
    const struct picture all = picture_of(p);
    const int32_t *labels = (const int32_t *)src->labels->data;

    memcpy(&p->ctl, ctl->data, sizeof p->ctl);
    const int32_t *order = (const int32_t *)src->order->data + p->ctl.row * p->run.batch;
    p->valid = 0;
    for (size_t i = 0; i < p->run.batch; i++) {
        p->samples[i] = order[i];
        p->ids[i] = (uint32_t)order[i] + src->base;
        p->labels[i] = order[i] < 0 ? 0 : labels[order[i]];
        if (order[i] >= 0) {
            assert(p->valid == i);
            p->valid = i + 1;
        }
    }
    read_pixels(p, src, &all, 1);
}

void cpu_pixels(struct mc_plan *p, const struct mc_source *src, const struct mc_buf *ctl,
                struct mc_buf *out)
{
    struct picture all = picture_of(p);

    all.x = mc_floats(out);
    all.image = all.channels * all.pixels;
    all.channel = all.pixels;
    all.step = 1;
    assert(!memcmp(&p->ctl, ctl->data, sizeof p->ctl));
    assert(out->bytes >= p->run.batch * all.image * sizeof *all.x);
    (void)ctl;
    read_pixels(p, src, &all, 0);
}

void cpu_set_pixels(struct mc_plan *p, const struct mc_buf *pixels)
{
    const struct picture t = picture_of(p);
    const float *x = mc_const_floats(pixels);
    struct mc_scaling s;

    mc_scaling_of(p->nodes[0].n, &s);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->valid; i++)
        for (size_t ch = 0; ch < t.channels; ch++) {
            const float *from = x + (i * t.channels + ch) * t.pixels;
            float *to = t.x + i * t.image + ch * t.channel;
            for (size_t q = 0; q < t.pixels; q++)
                to[q * t.step] = from[q] * s.scale[ch] + s.shift[ch];
        }
}

void cpu_input_grad(struct mc_plan *p, struct mc_buf *out)
{
    const struct cpu_node *c = &p->nodes[0];
    const size_t b = (size_t)p->be->k->block, step = c->plain_grad ? 1 : b;
    const size_t channels = (size_t)c->n->c;
    float *to = mc_floats(out);

    assert(p->run.input_grad);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->run.batch; i++)
        for (size_t ch = 0; ch < channels; ch++) {
            const float *g = c->grad + i * c->grad_image + (c->plain_grad ? ch * c->hw : ch);
            const float scale = 1 / c->n->std[ch];
            for (size_t q = 0; q < c->hw; q++)
                to[(i * channels + ch) * c->hw + q] = g[q * step] * scale;
        }
}
