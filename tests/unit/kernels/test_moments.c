/* SPDX-License-Identifier: Apache-2.0
 *
 * A backend's taps, the joint moments of two networks' units, and batch norm's statistics
 * re-estimated from several batches. */
#include "tests/unit/kernels/device.h"
#include "tests/unit/kernels/naive.h"

/* Taps before and after the ReLU, and the joint moments of two networks from them. */
static void taps_and_moments(void **state)
{
    (void)state;
    struct fixture f;
    struct naive v, u;
    struct mc_error err;
    struct mc_graph *g = small_net(0);
    int bn = -1, relu = -1;

    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == MC_OP_RELU && g->nodes[i].c == 20) {
            relu = i;
            bn = g->nodes[i].in[0];
        }
    struct mc_tap_request taps[] = {{relu, 0, 20}, {bn, 3, 9}, {0, 1, 2}};
    setup(&f, g, 0);
    float *other = floats(g->P);
    for (size_t i = 0; i < g->P; i++)
        other[i] = f.params[i] * (1 + .3f * unit(777, (uint32_t)i));
    struct mc_buf *d_other = buf(g->P * sizeof *other, other);
    struct mc_plan *p = plan(g, (struct mc_plan_opts){.taps = taps, .n_taps = 3});
    struct mc_plan *q = plan(g, (struct mc_plan_opts){.taps = taps, .n_taps = 3, .backward = 1});
    int32_t samples[B], labels[B] = {0};
    set_order(&f, 5, samples);
    const double *pixels = pixels_of(&f, samples, 5);
    naive_init(&v, g, B);
    naive_init(&u, g, B);
    v.valid = u.valid = 5;
    v.mode = u.mode = MC_MODE_EVAL;
    v.samples = u.samples = samples;
    v.labels = u.labels = labels;
    v.stats = u.stats = f.stats;
    v.params = f.params;
    u.params = other;
    naive_run(&v, pixels);
    naive_run(&u, pixels);
    be->load(p, &f.source, f.d_ctl);
    be->load(q, &f.source, f.d_ctl);
    struct mc_plan *const both[] = {p, q};
    const struct mc_buf *const params[] = {f.d_params, d_other};
    struct mc_buf *const stats[] = {f.d_stats, f.d_stats};
    struct mc_buf *acc[3];
    for (size_t t = 0; t < 3; t++)
        acc[t] = buf(MC_MOMENTS_SIZE(taps[t].count) * sizeof(double), NULL);
    be->moments(both, params, stats, f.d_ctl, acc);
    double *once[3];
    for (size_t t = 0; t < 3; t++) {
        once[t] = room(MC_MOMENTS_SIZE(taps[t].count), sizeof *once[t]);
        fetch(acc[t], once[t], MC_MOMENTS_SIZE(taps[t].count) * sizeof *once[t]);
    }
    be->moments(both, params, stats, f.d_ctl, acc);
    for (size_t t = 0; t < 3; t++) {
        const struct mc_node *n = &g->nodes[taps[t].node];
        const size_t k = taps[t].count, hw = (size_t)(n->h * n->w), size = MC_MOMENTS_SIZE(k);
        double *expected = room(size, sizeof *expected), *got = once[t];
        const double tolerance = 3e-7 * (double)(5 * hw); /* values around 1 */
        double *twice = room(size, sizeof *twice), *same = room(size, sizeof *same);
        const float *y = output(q, MC_OUT_TAP, t, B * k * hw);
        const float *x = output(p, MC_OUT_TAP, t, B * k * hw);
        for (size_t b = 0; b < B; b++)
            for (size_t i = 0; i < k * hw; i++) {
                const size_t at = b * naive_image(n) + taps[t].offset * hw + i;
                const double ref = b < 5 ? v.out[taps[t].node][at] : 0;
                assert_true(fabs((double)x[b * k * hw + i] - ref) <=
                            within(1e-5) * (1 + fabs(ref)));
            }
        for (size_t b = 0; b < 5; b++)
            for (size_t s = 0; s < hw; s++)
                for (size_t i = 0; i < k; i++) {
                    const double xi = (double)x[(b * k + i) * hw + s];
                    const double yi = (double)y[(b * k + i) * hw + s];
                    expected[i] += xi;
                    expected[k + i] += yi;
                    expected[2 * k + i] += xi * xi;
                    expected[3 * k + i] += yi * yi;
                    for (size_t j = 0; j < k; j++)
                        expected[4 * k + i * k + j] += xi * (double)y[(b * k + j) * hw + s];
                }
        fetch(acc[t], twice, size * sizeof *got);
        struct mc_buf *d_x = buf(B * k * hw * sizeof *x, x), *d_y = buf(B * k * hw * sizeof *y, y);
        struct mc_buf *moments = buf(size * sizeof *got, NULL);
        ok(be->moments_of(be, B, k, hw, d_x, d_y, moments, &err), &err);
        fetch(moments, same, size * sizeof *same);
        for (size_t i = 0; i < size; i++) {
            assert_true(fabs(got[i] - expected[i]) <= tolerance + 1e-6 * fabs(expected[i]));
            assert_true(twice[i] == 2 * got[i]);
            assert_true(fabs(same[i] - expected[i]) <= tolerance + 1e-6 * fabs(expected[i]));
        }
    }
    naive_release(&v);
    naive_release(&u);
    teardown(&f);
}

/* Two residual blocks with everything that a backend fuses. */
static struct mc_graph *residual_net(void)
{
    const struct mc_conv_opts o = {.kernel = 3, .pad = 1, .bias = 1};
    struct mc_graph *g = mc_graph_new("residual", 3, 8, 8, 4, MEAN, STD);
    int x = mc_graph_relu(g, NULL, mc_graph_conv(g, NULL, 0, 20, o));

    for (int block = 0; block < 2; block++) {
        int skip = x;
        x = mc_graph_batchnorm(g, NULL, mc_graph_conv(g, NULL, x, 20, o), 1e-5f);
        x = mc_graph_conv(g, NULL, mc_graph_relu(g, NULL, x), 20, o);
        x = mc_graph_batchnorm(g, NULL, x, 1e-5f);
        x = mc_graph_relu(g, NULL, mc_graph_add(g, NULL, (int[]){skip, x}, 2));
    }
    x = mc_graph_relu(g, NULL,
                      mc_graph_linear(g, NULL, mc_graph_flatten(g, NULL, x), 6, 1,
                                      MC_INIT_UNIFORM_FAN_IN, MC_INIT_UNIFORM_FAN_IN));
    mc_graph_loss(g, NULL,
                  mc_graph_linear(g, NULL, x, 4, 1, MC_INIT_UNIFORM_FAN_IN, MC_INIT_UNIFORM_FAN_IN),
                  1, 0);
    return finish(g, 0);
}

/* The moments of plans whose taps only moments() reads, so that their memory is reused, are those
 * of the same taps after a forward pass. Taps are after the ReLUs, or before. */
static void joint_taps(void **state)
{
    enum { MAX_TAPS = 8 };

    (void)state;
    for (int pre = 0; pre < 2; pre++) {
        struct mc_tap_request taps[MAX_TAPS];
        struct mc_plan *kept[2], *joint[2];
        struct mc_buf *acc[MAX_TAPS];
        struct mc_error err;
        struct fixture f;
        int32_t samples[B];
        size_t n = 0;
        setup(&f, residual_net(), 0);
        set_order(&f, B, samples);
        for (int i = 0; i < f.g->n_nodes; i++) {
            const struct mc_node *relu = &f.g->nodes[i];
            if (relu->op == MC_OP_RELU)
                taps[n++] = (struct mc_tap_request){pre ? relu->in[0] : i, 0, (size_t)relu->c};
        }
        for (size_t t = 0; t < n; t++)
            acc[t] = buf(MC_MOMENTS_SIZE(taps[t].count) * sizeof(double), NULL);
        float *other = floats(f.g->P);
        for (size_t i = 0; i < f.g->P; i++)
            other[i] = f.params[i] * (1 + .3f * unit(777, (uint32_t)i));
        const struct mc_buf *const params[] = {f.d_params, buf(f.g->P * sizeof *other, other)};
        struct mc_buf *const stats[] = {f.d_stats, f.d_stats};
        for (int k = 0; k < 2; k++) {
            struct mc_plan_opts o = {.taps = taps, .n_taps = n};
            be->load(kept[k] = plan(f.g, o), &f.source, f.d_ctl);
            be->forward(kept[k], MC_MODE_EVAL, params[k], stats[k], NULL, f.d_ctl);
            o.joint = 1;
            be->load(joint[k] = plan(f.g, o), &f.source, f.d_ctl);
        }
        be->moments(joint, params, stats, f.d_ctl, acc);
        for (size_t t = 0; t < n; t++) {
            const struct mc_node *node = &f.g->nodes[taps[t].node];
            const size_t k = taps[t].count, hw = (size_t)(node->h * node->w),
                         size = MC_MOMENTS_SIZE(k) * sizeof(double);
            struct mc_buf *x[2], *expected = buf(size, NULL);
            for (int i = 0; i < 2; i++) {
                x[i] = buf(B * k * hw * sizeof(float), NULL);
                be->output(kept[i], MC_OUT_TAP, t, x[i]);
            }
            ok(be->moments_of(be, B, k, hw, x[0], x[1], expected, &err), &err);
            double *sums[2] = {room(size, 1), room(size, 1)};
            fetch(expected, sums[0], size);
            fetch(acc[t], sums[1], size);
            /* a plan in half precision has another layout, so it sums in another order */
            for (size_t i = 0; i < MC_MOMENTS_SIZE(k); i++)
                assert_true(fabs(sums[0][i] - sums[1][i]) <=
                            3e-7 * (double)(B * hw) + 1e-6 * fabs(sums[0][i]));
        }
        teardown(&f);
    }
}

/* Unit i's value at sample s: kinds of units that float32 products could get wrong. */
static float hard_value(size_t i, size_t s, float noise)
{
    const float rare = s % 97 == i ? 3 * noise : 0;

    switch (i % 8) {
    case 0:
        return 1e4f + noise;
    case 1:
        return -300 + noise;
    case 2:
        return rare;
    case 3:
        return .123456f + 1e-3f * rare;
    case 4:
        return s % 3 ? .1f : .7f; /* two values */
    case 5:
        return noise > .5f ? noise - .5f : 0;
    case 6:
        return 1e-12f * noise;
    default:
        return 1e12f * noise * noise;
    }
}

/* The largest error of a correlation from moments, compared with two passes in float64. */
static double correlation_error(size_t n, size_t k, size_t hw, const float *x, const float *y,
                                const double *m)
{
    const double count = (double)(n * hw);
    double worst = 0;

    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            double a = 0, b = 0, aa = 0, bb = 0, ab = 0;
            for (size_t s = 0; s < n * hw; s++) {
                a += (double)x[(s / hw * k + i) * hw + s % hw] / count;
                b += (double)y[(s / hw * k + j) * hw + s % hw] / count;
            }
            for (size_t s = 0; s < n * hw; s++) {
                const double u = (double)x[(s / hw * k + i) * hw + s % hw] - a;
                const double v = (double)y[(s / hw * k + j) * hw + s % hw] - b;
                aa += u * u;
                bb += v * v;
                ab += u * v;
            }
            if (aa <= 1e-12 * count * a * a || bb <= 1e-12 * count * b * b)
                continue; /* constant */
            const double va = m[2 * k + i] - m[i] * m[i] / count,
                         vb = m[3 * k + j] - m[k + j] * m[k + j] / count,
                         vab = m[4 * k + i * k + j] - m[i] * m[k + j] / count;
            worst = fmax(worst, fabs(vab / sqrt(va * vb) - ab / sqrt(aa * bb)));
        }
    return worst;
}

/* Large means, rare values and units of very different scales do not spoil correlations. One shape
 * is joined pixel by pixel, one image by image; the last has several tiles of channels. */
static void moments_of_hard_units_are_accurate(void **state)
{
    static const size_t shapes[][3] = {
        {5, 24, 169}, {900, 24, 1}, {205, 24, 5}, {1100, 150, 1}, {40, 24, 49}};

    (void)state;
    for (size_t t = 0; t < sizeof shapes / sizeof *shapes; t++) {
        const size_t n = shapes[t][0], k = shapes[t][1], hw = shapes[t][2], all = n * k * hw;
        const size_t size = MC_MOMENTS_SIZE(k);
        float *x = floats(all), *y = floats(all);
        double *m = room(size, sizeof *m), *twice = room(size, sizeof *twice);
        struct mc_error err = {0};
        for (size_t at = 0; at < all; at++) {
            const size_t i = at / hw % k, s = at / hw / k * hw + at % hw;
            const float noise = unit(60, (uint32_t)at);
            x[at] = hard_value(i, s, noise);
            y[at] = hard_value(k - 1 - i, s, .5f * noise + .5f * unit(61, (uint32_t)at));
        }
        struct mc_buf *a = buf(all * sizeof *x, x), *b = buf(all * sizeof *y, y);
        struct mc_buf *sums = buf(size * sizeof *m, NULL);
        ok(be->moments_of(be, n, k, hw, a, b, sums, &err), &err);
        fetch(sums, m, size * sizeof *m);
        const double error = correlation_error(n, k, hw, x, y, m);
        print_message("# largest error of a correlation: %.2g\n", error);
        /* a device does not shift the values: means of 3e4 deviations cost more digits */
        assert_true(error <= (getenv("MC_TEST_DEVICE") ? 1e-5 : 1e-6));
        /* the same images again add the same bits */
        ok(be->moments_of(be, n, k, hw, a, b, sums, &err), &err);
        fetch(sums, twice, size * sizeof *twice);
        for (size_t i = 0; i < size; i++)
            assert_true(twice[i] == 2 * m[i]);
    }
}

/* Two batches of different length are pooled; the result follows from their moments. */
static void reestimation_pools_moments(void **state)
{
    (void)state;
    struct fixture f;
    struct mc_graph *g = mlp("mlp:bn,9");
    const struct mc_node *n = NULL;
    int32_t samples[B];
    double sum[9] = {0}, sq[9] = {0};

    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == MC_OP_BATCHNORM)
            n = &g->nodes[i];
    setup(&f, g, 0);
    struct mc_buf *acc = buf(MC_REESTIMATE_SIZE(g->S) * sizeof(double), NULL);
    struct mc_plan *p = plan(g, (struct mc_plan_opts){0});
    const struct mc_node *l = &g->nodes[n->in[0]];
    for (int batch = 0; batch < 2; batch++) {
        const int valid = batch ? 3 : B;
        set_order(&f, valid, samples);
        be->load(p, &f.source, f.d_ctl);
        be->forward(p, MC_MODE_REESTIMATE, f.d_params, NULL, acc, f.d_ctl);
        for (int b = 0; b < valid; b++)
            for (size_t c = 0; c < 9; c++) {
                double x = (double)f.params[l->bias.offset + c];
                for (size_t i = 0; i < f.image; i++) {
                    const size_t ch = i / (f.image / 3);
                    x += (double)f.params[l->weight.offset + c * f.image + i] *
                         ((double)f.pixels[(size_t)samples[b] * f.image + i] - (double)MEAN[ch]) /
                         (double)STD[ch];
                }
                sum[c] += x;
                sq[c] += x * x;
            }
    }
    be->reestimate(be, g, acc, f.d_stats);
    const float *stats = host_copy(f.d_stats, g->S);
    for (size_t c = 0; c < 9; c++) {
        const double count = B + 3, mean = sum[c] / count;
        const double var = (sq[c] - count * mean * mean) / (count - 1);
        assert_true(fabs((double)stats[n->running_mean.offset + c] - mean) <
                    within(1e-5) * (1 + fabs(mean)));
        assert_true(fabs((double)stats[n->running_var.offset + c] - var) <
                    within(1e-5) * (1 + var));
    }
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taps_and_moments),
        cmocka_unit_test(joint_taps),
        cmocka_unit_test(moments_of_hard_units_are_accurate),
        cmocka_unit_test(reestimation_pools_moments),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
