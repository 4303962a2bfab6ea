/* SPDX-License-Identifier: Apache-2.0
 *
 * Synthetic images: background, distractors, the class's figure, more distractors, noise. */
#include "formats/datasets/synth.h"

#include "libcommon/base/both.h"
#include "libcommon/base/rng.h"

#include <math.h>

const char *const mc_synth_class_names[MC_SYNTH_CLASSES] = {
    "disc", "ring", "square", "triangle", "cross", "star", "crescent", "stripes", "checks", "dots"};

const float mc_synth_mean[3] = {.252f, .252f, .248f}, mc_synth_std[3] = {.183f, .182f, .179f};

enum { DISC, RING, SQUARE, TRIANGLE, CROSS, STAR, CRESCENT, STRIPES, CHECKS, DOTS };

/* ---- random numbers of one image ---- */

struct draw {
    uint64_t seed;
    uint32_t split, index, next;
    struct mc_rng4 four;
};

static uint32_t draw_bits(struct draw *d)
{
    if (d->next % 4 == 0)
        d->four = mc_rng(d->seed, MC_RNG_SYNTH, d->split, d->index, d->next / 4);
    return d->four.v[d->next++ % 4];
}

static float draw_in(struct draw *d, float low, float high)
{
    return low + (high - low) * mc_rng_unit(draw_bits(d));
}

static int draw_below(struct draw *d, uint32_t n)
{
    return (int)mc_rng_below(draw_bits(d), n);
}

/* ---- portable arithmetic ---- */

/* Sine of x turns, by folding and a polynomial: libm's differs between machines. */
static float sine(float x)
{
    float y = x - floorf(x) - .5f, sign = -1;

    if (y > .25f)
        y = .5f - y;
    else if (y < -.25f)
        y = -.5f - y;
    float z = y * y;
    return sign * y *
           (6.2831853f + z * (-41.341702f + z * (81.605249f + z * (-76.705859f + z * 42.058694f))));
}

static float larger(float a, float b)
{
    return a > b ? a : b;
}

static float smaller(float a, float b)
{
    return a < b ? a : b;
}

static float length(float x, float y)
{
    return sqrtf(x * x + y * y);
}

/* ---- figures: distances, negative inside, in the figure's own coordinates, about 1 large ---- */

static float disc(float x, float y, float r)
{
    return length(x, y) - r;
}

static float box(float x, float y, float w, float h)
{
    return larger(fabsf(x) - w, fabsf(y) - h);
}

/* The largest and second largest distance from n half planes around the centre. */
static void half_planes(float x, float y, int n, float *first, float *second)
{
    *first = *second = -9;
    for (int k = 0; k < n; k++) {
        float turn = (float)k / (float)n, v = x * sine(turn) + y * sine(turn + .25f);
        if (v > *first) {
            *second = *first;
            *first = v;
        } else if (v > *second) {
            *second = v;
        }
    }
}

static float figure(int label, float x, float y)
{
    float first, second;

    switch (label) {
    case DISC:
        return disc(x, y, .8f);
    case RING:
        return fabsf(length(x, y) - .68f) - .2f;
    case SQUARE:
        return box(x, y, .7f, .7f);
    case TRIANGLE:
        half_planes(x, y, 3, &first, &second);
        return first - .5f;
    case CROSS:
        return smaller(box(x, y, .9f, .28f), box(x, y, .28f, .9f));
    case STAR: /* inside all but one of five lines */
        half_planes(x, y, 5, &first, &second);
        return larger(second - .34f, disc(x, y, 1.2f));
    case CRESCENT:
        return larger(disc(x, y, .9f), -disc(x - .45f, y, .75f));
    default:
        return 0;
    }
}

/* The mix of a texture's two colours, 0 to 1. */
static float texture(int label, float x, float y, float phase_x, float phase_y, float per)
{
    float u = per * x + phase_x, v = per * y + phase_y;

    switch (label) {
    case STRIPES:
        return mc_clamp(.5f + 1.5f * sine(u), 0, 1);
    case CHECKS:
        return mc_clamp(.5f + 3 * sine(u) * sine(v), 0, 1);
    default: /* DOTS */
        u -= floorf(u) + .5f;
        v -= floorf(v) + .5f;
        return mc_clamp((.32f - length(u, v)) * 6 + .5f, 0, 1);
    }
}

/* ---- drawing ---- */

struct canvas {
    int size;
    float pixel; /* a pixel's width; the canvas spans -1 to 1 */
    float rgb[3][MC_SYNTH_MAX_SIZE][MC_SYNTH_MAX_SIZE];
};

struct colour {
    float c[3];
};

/* RGB of a hue in turns, a saturation and a value. */
static struct colour colour_of(float hue, float saturation, float value)
{
    struct colour c;

    for (int k = 0; k < 3; k++) {
        float h = hue + (float)(3 - k) / 3;
        h = fabsf((h - floorf(h)) * 6 - 3); /* 3 at this channel's hue, 0 at the opposite hue */
        c.c[k] = value * (1 - saturation * (1 - mc_clamp(h - 1, 0, 1)));
    }
    return c;
}

static struct colour draw_colour(struct draw *d, float hue, float low, float high)
{
    float saturation = draw_in(d, .35f, .95f);

    return colour_of(hue, saturation, draw_in(d, low, high));
}

static void blend(struct canvas *v, int row, int col, const struct colour *c, float cover)
{
    for (int k = 0; k < 3; k++)
        v->rgb[k][row][col] += cover * (c->c[k] - v->rgb[k][row][col]);
}

/* Value noise: a lattice of random heights, smoothly interpolated. */
#define LATTICE 6
static void draw_background(struct canvas *v, struct draw *d, const struct colour *base)
{
    float height[3][LATTICE][LATTICE];
    float rough = draw_in(d, .04f, .22f);

    for (int k = 0; k < 3; k++)
        for (int i = 0; i < LATTICE; i++)
            for (int j = 0; j < LATTICE; j++)
                height[k][i][j] = draw_in(d, -rough, rough);
    for (int row = 0; row < v->size; row++) {
        float y = ((float)row + .5f) / (float)v->size * (LATTICE - 1), fy = y - floorf(y);
        int i = (int)y;
        fy = fy * fy * (3 - 2 * fy);
        for (int col = 0; col < v->size; col++) {
            float x = ((float)col + .5f) / (float)v->size * (LATTICE - 1), fx = x - floorf(x);
            int j = (int)x;
            fx = fx * fx * (3 - 2 * fx);
            for (int k = 0; k < 3; k++) {
                float a = height[k][i][j] + fx * (height[k][i][j + 1] - height[k][i][j]);
                float b =
                    height[k][i + 1][j] + fx * (height[k][i + 1][j + 1] - height[k][i + 1][j]);
                v->rgb[k][row][col] = base->c[k] + a + fy * (b - a);
            }
        }
    }
}

/* Draw a bar, disc or square at a random position. */
static void draw_distractor(struct canvas *v, struct draw *d)
{
    struct colour c = draw_colour(d, draw_in(d, 0, 1), .2f, .8f);
    int kind = draw_below(d, 4);
    float x0 = draw_in(d, -1, 1), y0 = draw_in(d, -1, 1), turn = draw_in(d, 0, 1);
    float s = sine(turn), q = sine(turn + .25f);
    float w = kind < 2 ? draw_in(d, .3f, .9f) : draw_in(d, .1f, .22f);
    float h = kind < 2 ? draw_in(d, .03f, .07f) : w, strength = draw_in(d, .5f, 1);

    for (int row = 0; row < v->size; row++)
        for (int col = 0; col < v->size; col++) {
            float x = ((float)col + .5f) * v->pixel - 1 - x0,
                  y = ((float)row + .5f) * v->pixel - 1 - y0;
            float far = kind == 3 ? disc(x, y, w) : box(q * x + s * y, q * y - s * x, w, h);
            float cover = mc_clamp(.5f - far / v->pixel, 0, 1);
            if (cover > 0)
                blend(v, row, col, &c, strength * cover);
        }
}

/* A class prefers certain hues but shares them with its neighbours: half of the hue circle. The
 * figure is usually brighter than the background. */
#define SPREAD 2.5f
static void draw_figure(struct canvas *v, struct draw *d, int label)
{
    float left = draw_in(d, -SPREAD, SPREAD), right = draw_in(d, -SPREAD, SPREAD);
    float hue = ((float)label + (left + right)) / MC_SYNTH_CLASSES;
    struct colour fill = draw_colour(d, hue, .5f, 1),
                  other = draw_colour(d, draw_in(d, 0, 1), .1f, .5f);
    float scale = draw_in(d, .5f, .8f), aspect = draw_in(d, .8f, 1.25f);
    float x0 = draw_in(d, -.3f, .3f), y0 = draw_in(d, -.3f, .3f), turn = draw_in(d, -.07f, .07f);
    float s = sine(turn), q = sine(turn + .25f), shade = draw_in(d, -.25f, .25f);
    float phase_x = draw_in(d, 0, 1), phase_y = draw_in(d, 0, 1), per = draw_in(d, 1.4f, 2.4f);
    int textured = label >= STRIPES, outline = textured ? draw_below(d, 4) : label;
    float edge = v->pixel / scale;

    for (int row = 0; row < v->size; row++)
        for (int col = 0; col < v->size; col++) {
            float x = ((float)col + .5f) * v->pixel - 1 - x0,
                  y = ((float)row + .5f) * v->pixel - 1 - y0;
            float u = (q * x + s * y) / (scale * aspect), w = (q * y - s * x) / scale * aspect;
            float far = textured && outline == RING ? box(u, w, .9f, .6f) : figure(outline, u, w);
            float cover = mc_clamp(.5f - far / edge, 0, 1), mix = 0;
            if (cover <= 0)
                continue;
            if (textured)
                mix = texture(label, u, w, phase_x, phase_y, per);
            else
                mix = mc_clamp(.15f + shade * (u + w), 0, .45f);
            struct colour c;
            for (int k = 0; k < 3; k++)
                c.c[k] = fill.c[k] + mix * (other.c[k] - fill.c[k]);
            blend(v, row, col, &c, cover);
        }
}

/* Bell-shaped noise: the sum of the four bytes of a random number. */
static float noise(uint32_t bits)
{
    int sum =
        (int)(bits & 255) + (int)(bits >> 8 & 255) + (int)(bits >> 16 & 255) + (int)(bits >> 24);

    return (float)(sum - 510) / 147.8f;
}

int32_t mc_synth_image(uint64_t seed, int split, uint32_t index, int size, uint8_t *image)
{
    struct draw d = {.seed = seed, .split = (uint32_t)split, .index = index};
    static _Thread_local struct canvas v;
    int label = draw_below(&d, MC_SYNTH_CLASSES);
    struct colour background = draw_colour(&d, draw_in(&d, 0, 1), .1f, .5f);

    v.size = size;
    v.pixel = 2 / (float)size;
    draw_background(&v, &d, &background);
    for (int n = draw_below(&d, 4); n > 0; n--)
        draw_distractor(&v, &d);
    draw_figure(&v, &d, label);
    for (int n = draw_below(&d, 3); n > 0; n--)
        draw_distractor(&v, &d);
    float grain = draw_in(&d, .02f, .07f);
    for (int k = 0; k < 3; k++)
        for (int row = 0; row < size; row++)
            for (int col = 0; col < size; col++) {
                float x = v.rgb[k][row][col] + grain * noise(draw_bits(&d));
                *image++ = (uint8_t)(mc_clamp(x, 0, 1) * 255 + .5f);
            }
    return label;
}
