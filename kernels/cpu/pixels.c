/* SPDX-License-Identifier: Apache-2.0
 *
 * From pixels to the plan's first activation and back: gather, augmentation, normalisation. */
#include "cpu.h"

#include "mc_rng.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* What an augmentation does to one image: where output pixel (y, x) comes from. */
struct draw {
    int rotates, flip, dy, dx;
    double cosine, sine;
};

static struct draw draw_of(const struct mc_augment *a, const struct mc_ctl *ctl, uint32_t purpose,
                           uint32_t sample)
{
    struct draw d = {0};
    const struct mc_rng4 r = mc_rng(ctl->seed, purpose, ctl->epoch, sample, 0);
    const double degrees = (double)a->rotate * (2 * (double)mc_rng_unit(r.v[0]) - 1);

    d.rotates = a->rotate > 0;
    d.cosine = cos(degrees * (3.14159265358979323846 / 180));
    d.sine = sin(degrees * (3.14159265358979323846 / 180));
    d.flip = a->flip && mc_rng_below(r.v[1], 2);
    if (a->pad) {
        d.dy = (int)mc_rng_below(r.v[2], (uint32_t)(2 * a->pad + 1)) - a->pad;
        d.dx = (int)mc_rng_below(r.v[3], (uint32_t)(2 * a->pad + 1)) - a->pad;
    }
    return d;
}

/* Source pixel of every output pixel, or -1 (black). */
static void map_pixels(const struct draw *d, int h, int w, int32_t *from)
{
    const double cy = (h - 1) * .5, cx = (w - 1) * .5;

    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int sy = y + d->dy, sx = x + d->dx, inside = sy >= 0 && sy < h && sx >= 0 && sx < w;
            if (d->flip)
                sx = w - 1 - sx;
            if (d->rotates && inside) {
                const double ry = sy - cy, rx = sx - cx;
                const double fy = d->cosine * ry - d->sine * rx + cy + .5;
                const double fx = d->cosine * rx + d->sine * ry + cx + .5;
                inside = fy >= 0 && fy < h && fx >= 0 && fx < w;
                sy = (int)fy;
                sx = (int)fx;
            }
            from[y * w + x] = inside ? sy * w + sx : -1;
        }
}

struct scaling {
    float byte[MC_MAX_CHANNELS_IN][256], scale[MC_MAX_CHANNELS_IN], shift[MC_MAX_CHANNELS_IN];
};

static void scaling_of(const struct mc_node *n, struct scaling *s)
{
    for (int c = 0; c < n->c && c < MC_MAX_CHANNELS_IN; c++) {
        const double mean = (double)n->mean[c], std = (double)n->std[c];
        for (int v = 0; v < 256; v++)
            s->byte[c][v] = (float)((v / 255.0 - mean) / std);
        s->scale[c] = (float)(1 / std);
        s->shift[c] = (float)(-mean / std);
    }
}

static void load_image(const struct mc_plan *p, const struct cpu_node *c, const struct scaling *s,
                       const struct mc_source *src, size_t i, const int32_t *from)
{
    const size_t b = (size_t)p->be->k->block, step = c->plain ? 1 : b;
    const size_t at = (size_t)p->samples[i] * (size_t)c->n->c * c->hw;

    for (size_t ch = 0; ch < (size_t)c->n->c; ch++) {
        float *to = c->out + i * c->image + (c->plain ? ch * c->hw : ch);
        const float black = s->byte[ch][0], scale = s->scale[ch], shift = s->shift[ch];
        if (src->pixels == MC_U8) {
            const uint8_t *px = src->images->data + at + ch * c->hw;
            for (size_t q = 0; q < c->hw; q++)
                to[q * step] = !from         ? s->byte[ch][px[q]]
                               : from[q] < 0 ? black
                                             : s->byte[ch][px[from[q]]];
        } else {
            const float *px = (const float *)(const void *)src->images->data + at + ch * c->hw;
            for (size_t q = 0; q < c->hw; q++)
                to[q * step] = !from         ? px[q] * scale + shift
                               : from[q] < 0 ? black
                                             : px[from[q]] * scale + shift;
        }
    }
}

void cpu_load(struct mc_plan *p, const struct mc_source *src, const struct mc_buf *ctl)
{
    const struct cpu_node *c = &p->nodes[0];
    const int32_t *labels = (const int32_t *)(const void *)src->labels->data;
    const struct mc_augment *a = src->augment;
    const int augments = a && (a->rotate > 0 || a->flip || a->pad);
    struct scaling scaling;

    memcpy(&p->ctl, ctl->data, sizeof p->ctl);
    const int32_t *order = (const int32_t *)(const void *)src->order->data + p->ctl.row * p->batch;
    p->valid = 0;
    for (size_t i = 0; i < p->batch; i++) {
        p->samples[i] = order[i];
        p->ids[i] = (uint32_t)order[i] + src->base;
        p->labels[i] = order[i] < 0 ? 0 : labels[order[i]];
        if (order[i] >= 0) {
            assert(p->valid == i);
            p->valid = i + 1;
        }
    }
    scaling_of(c->n, &scaling);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->batch; i++) {
        int32_t *map = (int32_t *)p->work + i * c->hw;
        if (i >= p->valid || !c->plain)
            memset(c->out + i * c->image, 0, c->image * sizeof *c->out);
        if (i >= p->valid)
            continue;
        if (augments) {
            const struct draw d = draw_of(a, &p->ctl, src->purpose, p->ids[i]);
            map_pixels(&d, c->n->h, c->n->w, map);
        }
        load_image(p, c, &scaling, src, i, augments ? map : NULL);
    }
}

void cpu_input_grad(struct mc_plan *p, struct mc_buf *out)
{
    const struct cpu_node *c = &p->nodes[0];
    const size_t b = (size_t)p->be->k->block, step = c->plain ? 1 : b;
    const size_t channels = (size_t)c->n->c;
    float *to = (float *)(void *)out->data;

    assert(p->input_grad);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->batch; i++)
        for (size_t ch = 0; ch < channels; ch++) {
            const float *g = c->grad + i * c->image + (c->plain ? ch * c->hw : ch);
            const float scale = 1 / c->n->std[ch];
            for (size_t q = 0; q < c->hw; q++)
                to[(i * channels + ch) * c->hw + q] = g[q * step] * scale;
        }
}
