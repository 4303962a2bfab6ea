/* SPDX-License-Identifier: Apache-2.0
 *
 * Augmentation on a backend, from its definition in backend.h: flip, crop and affine map pixel
 * by pixel, then contrast of grey images. tests/parity/test_augment.c compares it with
 * torchvision's. */
#include "tests/unit/kernels/device.h"

/* Computes each output pixel from the definition in backend.h. */
static void augmentation_follows_its_definition(void **state)
{
    (void)state;
    struct fixture f;
    const int C = 3, H = 9, W = 7;
    struct mc_augment a = {.rotate = 25, .flip = 1, .pad = 2};
    struct mc_tap_request tap = {0, 0, 3};
    int32_t samples[B];
    int moved = 0;

    for (int kind = 0; kind < 4; kind++) {
        setup(&f, small_net(0), kind & 1);
        a.turn = kind & 2 ? 40 : 0;
        a.scale = kind & 2 ? .3f : 0;
        set_order(&f, B - 1, samples);
        f.source.augment = &a;
        f.source.purpose = MC_RNG_AUGMENT;
        f.source.base = 1000;
        struct mc_plan *p = plan(f.g, (struct mc_plan_opts){.taps = &tap, .n_taps = 1});
        be->load(p, &f.source, f.d_ctl);
        const float *out = output(p, MC_OUT_TAP, 0, B * f.image);
        for (int b = 0; b < B - 1; b++) {
            const struct mc_rng4 r = mc_rng(5, MC_RNG_AUGMENT, 3, (uint32_t)samples[b] + 1000, 0);
            const struct mc_rng4 m = mc_rng(5, MC_RNG_AUGMENT, 3, (uint32_t)samples[b] + 1000, 1);
            const double more =
                kind & 2 ? 40 * (2 * (double)mc_rng_unit(m.v[0]) - 1) * acos(-1) / 180 : 0;
            const double scale =
                kind & 2 ? 1 + (double).3f * (2 * (double)mc_rng_unit(m.v[1]) - 1) : 1;
            const double turn = 25 * (2 * (double)mc_rng_unit(r.v[0]) - 1) * acos(-1) / 180;
            for (int c = 0; c < C; c++)
                for (int y = 0; y < H; y++)
                    for (int x = 0; x < W; x++) {
                        const double v = y - (H - 1) / 2.0, u = x - (W - 1) / 2.0;
                        int sy = (int)floor((cos(more) * v - sin(more) * u) / scale + H / 2.0);
                        int sx = (int)floor((cos(more) * u + sin(more) * v) / scale + W / 2.0);
                        double expected = 0;
                        int on = sy >= 0 && sy < H && sx >= 0 && sx < W;
                        sy += (int)mc_rng_below(r.v[2], 5) - 2;
                        sx += (int)mc_rng_below(r.v[3], 5) - 2;
                        on = on && sy >= 0 && sy < H && sx >= 0 && sx < W;
                        if (mc_rng_below(r.v[1], 2))
                            sx = W - 1 - sx;
                        const double dy = sy - (H - 1) / 2.0, dx = sx - (W - 1) / 2.0;
                        const double fy = cos(turn) * dy - sin(turn) * dx + (H - 1) / 2.0;
                        const double fx = cos(turn) * dx + sin(turn) * dy + (W - 1) / 2.0;
                        sy = (int)floor(fy + .5);
                        sx = (int)floor(fx + .5);
                        on = on && sy >= 0 && sy < H && sx >= 0 && sx < W;
                        if (on)
                            expected = (double)f.pixels[((samples[b] * C + c) * H + sy) * W + sx];
                        moved += !on || sy != y || sx != x;
                        expected = (expected - (double)MEAN[c]) / (double)STD[c];
                        assert_true(fabs((double)out[((b * C + c) * H + y) * W + x] - expected) <
                                    fmax(1e-5, within(0) / 8) * (1 + fabs(expected)));
                    }
        }
        for (size_t i = (B - 1) * f.image; i < B * f.image; i++)
            assert_true(out[i] == 0);
        teardown(&f);
    }
    assert_true(moved > 1000);
}

/* With one channel, grey is the image: contrast about its mean, clamped, and no saturation. */
static void grey_images_change_contrast(void **state)
{
    (void)state;
    enum { side = 6, hw = side * side };
    const struct mc_augment a = {.contrast = .9f, .saturation = .9f};
    const struct mc_net_spec spec = {1, side, side, 5, {.5f}, {.25f}};
    const struct mc_tap_request tap = {0, 0, 1};
    struct fixture f;
    int32_t samples[B];
    int clamped = 0;

    setup(&f, net_of("mlp:4", spec), 0);
    set_order(&f, B, samples);
    f.source.augment = &a;
    f.source.purpose = MC_RNG_BN;
    struct mc_plan *p = plan(f.g, (struct mc_plan_opts){.taps = &tap, .n_taps = 1});
    be->load(p, &f.source, f.d_ctl);
    const float *out = output(p, MC_OUT_TAP, 0, B * hw);
    for (int b = 0; b < B; b++) {
        const float *x = f.pixels + samples[b] * hw;
        const struct mc_rng4 r = mc_rng(5, MC_RNG_BN, 3, (uint32_t)samples[b], 1);
        const double factor = 1 + (double).9f * (2 * (double)mc_rng_unit(r.v[2]) - 1);
        double mean = 0;
        for (int i = 0; i < hw; i++)
            mean += (double)x[i] / hw;
        for (int i = 0; i < hw; i++) {
            const double expected = factor * (double)x[i] + (1 - factor) * mean;
            const double cut = expected < 0 ? 0 : expected > 1 ? 1 : expected;
            clamped += cut < expected || cut > expected;
            assert_true(fabs((double)out[b * hw + i] * .25 + .5 - cut) < fmax(1e-6, within(0) / 8));
        }
    }
    assert_true(clamped > 0);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(augmentation_follows_its_definition),
        cmocka_unit_test(grey_images_change_contrast),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
