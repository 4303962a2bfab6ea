/* SPDX-License-Identifier: Apache-2.0
 *
 * A backend's functions for attacks: reading and replacing a batch's pixels, random starts that are
 * uniform in the ball, steps. */
#include "libcommon/base/rng.h"
#include "tests/unit/kernels/device.h"

/* The batch's pixels are those that load reads, augmented or not. Put back, the network computes
 * the same. */
static void pixels_of_a_batch(void **state)
{
    (void)state;
    const struct mc_augment augment = {
        .rotate = 15, .flip = 1, .pad = 2, .contrast = .3f, .saturation = .3f};
    const struct mc_tap_request tap = {0, 0, 3};

    for (int way = 0; way < 4; way++) {
        struct fixture f;
        int32_t samples[B];
        setup(&f, small_net(0), way & 1);
        const size_t n = B * f.image, hw = f.image / 3;
        struct mc_plan *p = plan(f.g, (struct mc_plan_opts){.taps = &tap, .n_taps = 1});
        struct mc_buf *x = buf(n * sizeof(float), NULL), *other = buf(n * sizeof(float), NULL);
        size_t changed = 0;
        set_order(&f, B - 2, samples);
        f.source.augment = way & 2 ? &augment : NULL;
        f.source.purpose = MC_RNG_AUGMENT;
        be->load(p, &f.source, f.d_ctl);
        be->pixels(p, &f.source, f.d_ctl, x);
        be->forward(p, MC_MODE_EVAL, f.d_params, f.d_stats, NULL, f.d_ctl);
        const float *loaded = output(p, MC_OUT_TAP, 0, n);
        const float *before = output(p, MC_OUT_LOGITS, 0, B * 5), *pixels = host_copy(x, n);
        for (size_t i = 0; i < n; i++) {
            const size_t image = i / f.image, c = i % f.image / hw;
            if (image >= B - 2) {
                assert_true(pixels[i] == 0);
                continue;
            }
            const float own = f.pixels[(size_t)samples[image] * f.image + i % f.image];
            assert_true(pixels[i] >= 0 && pixels[i] <= 1);
            assert_true(fabsf(loaded[i] - (pixels[i] - MEAN[c]) / STD[c]) <= 2e-6f);
            if (!f.source.augment)
                assert_true(fabsf(pixels[i] - own) <= 1e-7f);
            changed += pixels[i] != own;
        }
        assert_true(!f.source.augment || changed > n / 2);
        be->set_pixels(p, other); /* other pixels, other logits */
        be->forward(p, MC_MODE_EVAL, f.d_params, f.d_stats, NULL, f.d_ctl);
        const float *after = output(p, MC_OUT_LOGITS, 0, B * 5);
        assert_true(fabsf(after[0] - before[0]) > 1e-3f);
        be->set_pixels(p, x);
        be->forward(p, MC_MODE_EVAL, f.d_params, f.d_stats, NULL, f.d_ctl);
        after = output(p, MC_OUT_LOGITS, 0, B * 5);
        for (size_t i = 0; i < (B - 2) * 5; i++)
            assert_true(fabsf(after[i] - before[i]) <= 1e-5f * (1 + fabsf(before[i])));
        teardown(&f);
    }
}

/* ---- starts ---- */

/* Checks that the mean of n values, given by their sum, is within four standard errors of the
 * expected one. */
static void expect_mean(const char *name, double sum, double n, double mean, double variance)
{
    const double off = (sum / n - mean) / sqrt(variance / n);

    if (!(fabs(off) <= 4))
        fail_msg("%s: mean %g, not %g: %.1f standard errors", name, sum / n, mean, off);
}

enum { RESTARTS = 200 };

/* Starts of grey images, whose balls of 1/4 stay within [0,1]: (RESTARTS, B, image). */
static float *starts(struct fixture *f, struct mc_plan *p, const struct mc_ball *ball)
{
    const size_t n = B * f->image;
    float *all = floats(RESTARTS * n), *grey = floats(n);

    for (size_t i = 0; i < n; i++)
        grey[i] = .5f;
    struct mc_buf *clean = buf(n * sizeof *grey, grey), *x = buf(n * sizeof *grey, NULL);
    be->load(p, &f->source, f->d_ctl);
    for (uint32_t r = 0; r < RESTARTS; r++) {
        be->attack_start(p, ball, r, clean, x);
        fetch(x, all + r * n, n * sizeof *all);
    }
    return all;
}

static void linf_starts_are_uniform(void **state)
{
    (void)state;
    const struct mc_ball ball = {MC_BALL_LINF, .25f, 0, MC_RNG_ATTACK};
    struct fixture f;
    double sum = 0, squares = 0, fourths = 0, neighbours = 0, between = 0;

    setup(&f, small_net(0), 0);
    struct mc_plan *p = plan(f.g, (struct mc_plan_opts){0});
    float *all = starts(&f, p, &ball);
    const size_t n = B * f.image, m = RESTARTS * n;
    for (size_t i = 0; i < m; i++) {
        const double u = ((double)all[i] - .5) / .25;
        assert_true(fabs(u) <= 1);
        sum += u;
        squares += u * u;
        fourths += u * u * u * u;
        neighbours += i + 1 < m ? u * ((double)all[i + 1] - .5) / .25 : 0;
        between += i + n < m ? u * ((double)all[i + n] - .5) / .25 : 0;
    }
    expect_mean("mean", sum, (double)m, 0, 1. / 3);
    expect_mean("variance", squares, (double)m, 1. / 3, 4. / 45);
    expect_mean("fourth moment", fourths, (double)m, 1. / 5, 16. / 225);
    expect_mean("neighbours", neighbours, (double)(m - 1), 0, 1. / 9);
    expect_mean("restarts", between, (double)(m - n), 0, 1. / 9);
    teardown(&f);
}

/* (r / eps)^n is uniform in [0,1], the direction is uniform. */
static void l2_starts_are_uniform(void **state)
{
    (void)state;
    const struct mc_ball ball = {MC_BALL_L2, .25f, 0, MC_RNG_ATTACK};
    struct fixture f;
    double sum = 0, squares = 0, along = 0, turned = 0, halves = 0;

    setup(&f, small_net(0), 0);
    struct mc_plan *p = plan(f.g, (struct mc_plan_opts){0});
    float *all = starts(&f, p, &ball);
    const size_t image = f.image, m = RESTARTS * B;
    for (size_t i = 0; i < m; i++) {
        const float *x = all + i * image;
        double norm = 0, first = 0, total = 0;
        for (size_t q = 0; q < image; q++) {
            const double d = (double)x[q] - .5;
            norm += d * d;
            total += d;
            first += q % 4 < 2 ? d * d : 0; /* from Box and Muller's first and second pair */
        }
        const double u = pow(sqrt(norm) / .25, (double)image);
        assert_true(sqrt(norm) <= .25 + 1e-6);
        sum += u;
        squares += u * u;
        along += ((double)x[7] - .5) / sqrt(norm);
        turned += total * total / norm;
        halves += first / norm;
    }
    const double n = (double)image, k = (double)((image + 2) / 4 * 2 + (image % 4 == 1));
    expect_mean("radius", sum, (double)m, .5, 1. / 12);
    expect_mean("radius squared", squares, (double)m, 1. / 3, 4. / 45);
    expect_mean("direction", along, (double)m, 0, 1 / n);
    expect_mean("square along the diagonal", turned, (double)m, 1, 2 * (n - 1) / (n + 2));
    expect_mean("half of the pixels", halves, (double)m, k / n,
                2 * k * (n - k) / (n * n * (n + 2)));
    teardown(&f);
}

/* A start belongs to the sample, not to its position in the batch. */
static void starts_follow_the_sample(void **state)
{
    (void)state;
    for (int l2 = 0; l2 < 2; l2++) {
        const struct mc_ball ball = {l2 ? MC_BALL_L2 : MC_BALL_LINF, .25f, 0, MC_RNG_ATTACK};
        struct fixture f;
        int32_t samples[B], turned[B];
        setup(&f, small_net(0), 0);
        struct mc_plan *p = plan(f.g, (struct mc_plan_opts){0});
        set_order(&f, B, samples);
        for (int i = 0; i < B; i++)
            turned[i] = samples[B - 1 - i];
        float *a = starts(&f, p, &ball);
        put(f.d_order, sizeof turned, turned, sizeof turned);
        float *b = starts(&f, p, &ball);
        const size_t bytes = f.image * sizeof *a;
        for (size_t i = 0; i < B; i++)
            assert_memory_equal(a + i * f.image, b + (B - 1 - i) * f.image, bytes);
        assert_memory_not_equal(a, a + f.image, bytes);
        assert_memory_not_equal(a, a + B * f.image, bytes);
        const struct mc_ctl next = {.seed = 5, .epoch = 4, .row = 1};
        put(f.d_ctl, 0, &next, sizeof next);
        a = starts(&f, p, &ball);
        assert_memory_not_equal(a, b, bytes);
        teardown(&f);
    }
}

/* ---- steps ---- */

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static void step_agrees_with_hand_computation(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        const int l2 = way & 1;
        const float length = l2 ? .2f : .02f;
        const struct mc_ball ball = {l2 ? MC_BALL_L2 : MC_BALL_LINF, l2 ? .2f : .05f,
                                     way >> 1 ? -length : length, MC_RNG_ATTACK};
        struct fixture f;
        setup(&f, small_net(0), 0);
        const size_t n = B * f.image;
        struct mc_plan *p = plan(f.g, (struct mc_plan_opts){0});
        float *clean = floats(n), *x = floats(n), *grad = floats(n);
        for (size_t i = 0; i < n; i++) {
            clean[i] = unit(1, (uint32_t)i);
            x[i] = clean[i] + (l2 ? .02f : .04f) * (2 * unit(2, (uint32_t)i) - 1);
            x[i] = (float)clamp((double)x[i], 0, 1);
            if (i % 5 && i / f.image != 2) /* image 2 has slope 0, image 3 a tiny one */
                grad[i] = (i / f.image == 3 ? 1e-41f : 1e-3f) * (2 * unit(3, (uint32_t)i) - 1);
        }
        struct mc_buf *d_clean = buf(n * sizeof *x, clean), *d_x = buf(n * sizeof *x, x);
        struct mc_buf *d_grad = buf(n * sizeof *x, grad);
        be->load(p, &f.source, f.d_ctl);
        be->attack_step(p, &ball, d_clean, d_grad, d_x);
        const float *got = host_copy(d_x, n);
        for (size_t i = 0; i < B; i++) {
            const double eps = (double)ball.eps, step = (double)ball.step;
            double slope = 0, away = 0;
            for (size_t q = i * f.image; q < (i + 1) * f.image; q++)
                slope += pow((double)grad[q], 2);
            for (size_t q = i * f.image; q < (i + 1) * f.image; q++) {
                const double g = (double)grad[q];
                const double along = l2 ? slope > 0 ? g / sqrt(slope) : 0 : (g > 0) - (g < 0);
                away += pow((double)x[q] + step * along - (double)clean[q], 2);
            }
            for (size_t q = i * f.image; q < (i + 1) * f.image; q++) {
                const double g = (double)grad[q], c = (double)clean[q];
                const double along = l2 ? slope > 0 ? g / sqrt(slope) : 0 : (g > 0) - (g < 0);
                double d = (double)x[q] + step * along - c;
                d = l2 ? d * (sqrt(away) > eps ? eps / sqrt(away) : 1) : clamp(d, -eps, eps);
                assert_true(fabs((double)got[q] - clamp(c + d, 0, 1)) <= 1e-6);
            }
        }
        teardown(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_of_a_batch),
        cmocka_unit_test(linf_starts_are_uniform),
        cmocka_unit_test(l2_starts_are_uniform),
        cmocka_unit_test(starts_follow_the_sample),
        cmocka_unit_test(step_agrees_with_hand_computation),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
