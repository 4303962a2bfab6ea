/* SPDX-License-Identifier: Apache-2.0
 *
 * Augmentation (struct mc_augment) of one image: its random draws and the source of each pixel. The
 * same arithmetic on every device. */
#ifndef MC_AUGMENT_H
#define MC_AUGMENT_H

#include "kernels/backend.h"
#include "libcommon/base/rng.h"

#include <math.h>

/* A rotation about the centre, divided by a scale. */
struct mc_turn {
    int on;
    double cosine, sine;
};

struct mc_draw {
    int flip, dy, dx, saturation_first;
    struct mc_turn rotate, affine;
    float contrast, saturation;
};

MC_BOTH_FN int mc_augment_has_affine(const struct mc_augment *a)
{
    return a->turn > 0 || a->scale > 0;
}

MC_BOTH_FN int mc_augment_jitters(const struct mc_augment *a)
{
    return a->contrast > 0 || a->saturation > 0;
}

/* Returns whether the augmentation changes anything. */
MC_BOTH_FN int mc_augment_any(const struct mc_augment *a)
{
    return a->rotate > 0 || a->flip || a->pad || mc_augment_has_affine(a) || mc_augment_jitters(a);
}

MC_BOTH_FN float mc_draw_factor(float range, uint32_t bits)
{
    return 1 + range * (2 * mc_rng_unit(bits) - 1);
}

MC_BOTH_FN struct mc_draw mc_augment_draw(const struct mc_augment *a, const struct mc_ctl *ctl,
                                          uint32_t purpose, uint32_t sample)
{
    const struct mc_rng4 r = mc_rng(ctl->seed, purpose, ctl->epoch, sample, 0);
    const double radians = 3.14159265358979323846 / 180;
    const double degrees = (double)a->rotate * (2 * (double)mc_rng_unit(r.v[0]) - 1);
    struct mc_draw d;

    d.rotate.on = a->rotate > 0;
    d.rotate.cosine = cos(degrees * radians);
    d.rotate.sine = sin(degrees * radians);
    d.flip = a->flip && mc_rng_below(r.v[1], 2);
    d.dy = d.dx = d.saturation_first = d.affine.on = 0;
    d.affine.cosine = 1;
    d.affine.sine = 0;
    d.contrast = d.saturation = 1;
    if (a->pad) {
        d.dy = (int)mc_rng_below(r.v[2], (uint32_t)(2 * a->pad + 1)) - a->pad;
        d.dx = (int)mc_rng_below(r.v[3], (uint32_t)(2 * a->pad + 1)) - a->pad;
    }
    if (mc_augment_has_affine(a) || mc_augment_jitters(a)) {
        const struct mc_rng4 more = mc_rng(ctl->seed, purpose, ctl->epoch, sample, 1);
        const struct mc_rng4 last = mc_rng(ctl->seed, purpose, ctl->epoch, sample, 2);
        const double angle = (double)a->turn * (2 * (double)mc_rng_unit(more.v[0]) - 1) * radians;
        const double scale = (double)mc_draw_factor(a->scale, more.v[1]);
        d.affine.on = mc_augment_has_affine(a);
        d.affine.cosine = cos(angle) / scale;
        d.affine.sine = sin(angle) / scale;
        d.contrast = mc_draw_factor(a->contrast, more.v[2]);
        d.saturation = mc_draw_factor(a->saturation, more.v[3]);
        d.saturation_first = (int)mc_rng_below(last.v[0], 2);
    }
    return d;
}

/* Moves (y, x) to the nearest source pixel. Returns 0 if that is outside the image. */
MC_BOTH_FN int mc_rotate_pixel(const struct mc_turn *t, int h, int w, int *y, int *x)
{
    const double cy = (h - 1) * .5, cx = (w - 1) * .5, ry = *y - cy, rx = *x - cx;
    const double fy = t->cosine * ry - t->sine * rx + cy + .5;
    const double fx = t->cosine * rx + t->sine * ry + cx + .5;

    *y = (int)fy;
    *x = (int)fx;
    return fy >= 0 && fy < h && fx >= 0 && fx < w;
}

/* Returns the source of output pixel (y, x), or -1 (black). affine is d->affine.on, passed so that
 * a loop over an image reads it once. */
MC_BOTH_FN int mc_draw_source(const struct mc_draw *d, int affine, int h, int w, int y, int x)
{
    int inside = 1;

    if (affine)
        inside = mc_rotate_pixel(&d->affine, h, w, &y, &x);
    y += d->dy;
    x += d->dx;
    inside = inside && y >= 0 && y < h && x >= 0 && x < w;
    if (d->flip)
        x = w - 1 - x;
    if (d->rotate.on && inside)
        inside = mc_rotate_pixel(&d->rotate, h, w, &y, &x);
    return inside ? y * w + x : -1;
}

#endif
