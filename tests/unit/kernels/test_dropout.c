/* SPDX-License-Identifier: Apache-2.0
 *
 * Dropout as a random variable: it keeps the right share, scales so that the mean stays, draws
 * again for each image, position and epoch, uses the same mask backward, and is absent outside
 * training. */
#include "tests/unit/kernels/device.h"

enum { SIDE = 12, IMAGE = 3 * SIDE * SIDE, DRAWS = 60 };

struct nets {
    struct fixture f;
    struct mc_plan *plan;
    struct mc_buf *d_tap, *d_dx;
    float tap[B * IMAGE], dx[B * IMAGE];
    int32_t samples[B];
};

/* The pixels through dropout of p, then a linear layer. */
static void open_net(struct nets *n, float p, int train_only)
{
    struct mc_graph *g = mc_graph_new("dropout", 3, SIDE, SIDE, 5, NULL, NULL);
    const int x = mc_graph_flatten(g, NULL, 0), d = mc_graph_dropout(g, NULL, x, p);
    const struct mc_tap_request tap = {d, 0, IMAGE};

    head(g, d, 1, 0);
    setup(&n->f, finish(g, 0), 0);
    for (size_t i = 0; i < N * IMAGE; i++) /* no pixel is 0 */
        n->f.pixels[i] = .25f + .75f * n->f.pixels[i];
    put(n->f.d_pixels, 0, n->f.pixels, N * IMAGE * sizeof(float));
    set_order(&n->f, B, n->samples);
    n->plan = plan(
        g,
        (struct mc_plan_opts){
            .backward = 1, .input_grad = 1, .train_only = train_only, .taps = &tap, .n_taps = 1});
    n->d_tap = buf(sizeof n->tap, NULL);
    n->d_dx = buf(sizeof n->dx, NULL);
}

static void draw(struct nets *n, uint32_t epoch, enum mc_mode mode)
{
    const struct mc_ctl ctl = {.seed = 5, .epoch = epoch, .row = 1};

    put(n->f.d_ctl, 0, &ctl, sizeof ctl);
    forward(&n->f, n->plan, mode);
    be->output(n->plan, MC_OUT_TAP, 0, n->d_tap);
    fetch(n->d_tap, n->tap, sizeof n->tap);
}

static float pixel(const struct nets *n, size_t i)
{
    return n->f.pixels[(size_t)n->samples[i / IMAGE] * IMAGE + i % IMAGE];
}

/* Share of the positions that two draws both keep or both drop. */
static double agreement(const float *a, const float *b, size_t n)
{
    size_t same = 0;
    for (size_t i = 0; i < n; i++)
        same += (a[i] == 0) == (b[i] == 0);
    return (double)same / (double)n;
}

static void with_probability(float p)
{
    const double keep = 1 - (double)p, all = (double)DRAWS * B * IMAGE;
    static float first[B * IMAGE];
    static double mean[B * IMAGE];
    struct nets n;
    size_t kept = 0;

    memset(mean, 0, sizeof mean);
    open_net(&n, p, 1);
    for (uint32_t epoch = 0; epoch < DRAWS; epoch++) {
        draw(&n, epoch, MC_MODE_TRAIN);
        for (size_t i = 0; i < B * IMAGE; i++) {
            const float y = n.tap[i], expected = pixel(&n, i) / (1 - p);
            assert_true(y == 0 || fabsf(y - expected) <= (float)within(1e-6) * expected);
            kept += y != 0;
            mean[i] += (double)y / DRAWS;
        }
        if (epoch == 0)
            memcpy(first, n.tap, sizeof first);
    }
    /* the share: within five standard deviations */
    assert_true(fabs((double)kept / all - keep) <= 5 * sqrt(keep * (1 - keep) / all));
    /* The mean of every position: its squared deviations, in units of their variance, average 1. A
     * position that is always kept or always dropped is far from its mean. */
    double chi = 0;
    for (size_t i = 0; i < B * IMAGE; i++) {
        const double x = (double)pixel(&n, i), deviation = (mean[i] - x) / x;
        chi += deviation * deviation * DRAWS * keep / (1 - keep);
    }
    chi /= B * IMAGE;
    assert_true(fabs(chi - 1) <= .1);
    /* Two epochs, two images and two halves of an image agree as independent draws do. */
    const double chance = keep * keep + (1 - keep) * (1 - keep);
    assert_true(fabs(agreement(first, n.tap, B * IMAGE) - chance) <= .05);
    assert_true(fabs(agreement(first, first + IMAGE, IMAGE * (B - 1)) - chance) <= .05);
    assert_true(fabs(agreement(first, first + IMAGE / 2, IMAGE / 2) - chance) <= .12);
    assert_true(fabs(agreement(first, first + 1, B * IMAGE - 1) - chance) <= .05);
    /* The same draw twice, and no gradient through dropped positions. */
    draw(&n, 0, MC_MODE_TRAIN);
    assert_memory_equal(first, n.tap, sizeof first);
    be->backward(n.plan, n.f.d_params, n.f.d_grad);
    be->input_grad(n.plan, n.d_dx);
    fetch(n.d_dx, n.dx, sizeof n.dx);
    for (size_t i = 0; i < B * IMAGE; i++)
        assert_true((n.dx[i] == 0) == (first[i] == 0));
    teardown(&n.f);
}

static void dropout_keeps_and_scales(void **state)
{
    (void)state;
    with_probability(.2f);
    with_probability(.7f);
}

static void dropout_keeps_all_outside_training(void **state)
{
    (void)state;
    struct nets n;

    open_net(&n, .7f, 1);
    draw(&n, 3, MC_MODE_EVAL);
    for (size_t i = 0; i < B * IMAGE; i++)
        assert_true(fabsf(n.tap[i] - pixel(&n, i)) <= (float)within(0) * pixel(&n, i));
    teardown(&n.f);
    open_net(&n, .7f, 0);
    for (enum mc_mode mode = MC_MODE_TRAIN; mode <= MC_MODE_EVAL; mode++) {
        if (mode == MC_MODE_REESTIMATE) /* needs an accumulator; only for batch norm */
            continue;
        draw(&n, 3, mode);
        for (size_t i = 0; i < B * IMAGE; i++)
            assert_true(fabsf(n.tap[i] - pixel(&n, i)) <= (float)within(0) * pixel(&n, i));
    }
    teardown(&n.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dropout_keeps_and_scales),
        cmocka_unit_test(dropout_keeps_all_outside_training),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
