/* SPDX-License-Identifier: Apache-2.0
 *
 * What a backend does beside running a network: taps and joint moments, re-estimation,
 * augmentation, flat vectors; the same bytes twice; devices by name. */
#include "kernels/conv_table.h"
#include "tests/unit/kernels/device.h"
#include "tests/unit/kernels/naive.h"

#include <omp.h>

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
    be->forward(p, MC_MODE_EVAL, f.d_params, f.d_stats, NULL, f.d_ctl);
    be->forward(q, MC_MODE_EVAL, d_other, f.d_stats, NULL, f.d_ctl);
    for (size_t t = 0; t < 3; t++) {
        const struct mc_node *n = &g->nodes[taps[t].node];
        const size_t k = taps[t].count, hw = (size_t)(n->h * n->w), size = MC_MOMENTS_SIZE(k);
        double *want = room(size, sizeof *want), *got = room(size, sizeof *got);
        double *twice = room(size, sizeof *twice), *same = room(size, sizeof *same);
        const float *y = output(q, MC_OUT_TAP, t, B * k * hw);
        const float *x = output(p, MC_OUT_TAP, t, B * k * hw);
        struct mc_buf *acc = buf(size * sizeof *got, NULL);
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
                    want[i] += xi;
                    want[k + i] += yi;
                    want[2 * k + i] += xi * xi;
                    want[3 * k + i] += yi * yi;
                    for (size_t j = 0; j < k; j++)
                        want[4 * k + i * k + j] += xi * (double)y[(b * k + j) * hw + s];
                }
        be->moments(p, q, t, acc);
        fetch(acc, got, size * sizeof *got);
        be->moments(p, q, t, acc);
        fetch(acc, twice, size * sizeof *got);
        struct mc_buf *d_x = buf(B * k * hw * sizeof *x, x), *d_y = buf(B * k * hw * sizeof *y, y);
        struct mc_buf *of = buf(size * sizeof *got, NULL);
        ok(be->moments_of(be, B, k, hw, d_x, d_y, of, &err), &err);
        fetch(of, same, size * sizeof *same);
        for (size_t i = 0; i < size; i++) {
            assert_true(fabs(got[i] - want[i]) <= 1e-12 * (1 + fabs(want[i])));
            assert_true(twice[i] == 2 * got[i]);
            assert_true(fabs(same[i] - got[i]) <= 1e-13 * fabs(got[i]));
        }
    }
    naive_release(&v);
    naive_release(&u);
    teardown(&f);
}

/* Two batches of different length pooled; the constant network-wide answer is the moments'. */
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
    const float *stats = fetched(f.d_stats, g->S);
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

/* Output pixel by output pixel, from the definition in backend.h. */
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
                        double want = 0;
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
                            want = (double)f.pixels[((samples[b] * C + c) * H + sy) * W + sx];
                        moved += !on || sy != y || sx != x;
                        want = (want - (double)MEAN[c]) / (double)STD[c];
                        assert_true(fabs((double)out[((b * C + c) * H + y) * W + x] - want) <
                                    fmax(1e-5, within(0) / 8) * (1 + fabs(want)));
                    }
        }
        for (size_t i = (B - 1) * f.image; i < B * f.image; i++)
            assert_true(out[i] == 0);
        teardown(&f);
    }
    assert_true(moved > 1000);
}

/* One channel is its own grey: contrast about its mean, clamped, and no saturation. */
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
            const double want = factor * (double)x[i] + (1 - factor) * mean;
            const double cut = want < 0 ? 0 : want > 1 ? 1 : want;
            clamped += cut < want || cut > want;
            assert_true(fabs((double)out[b * hw + i] * .25 + .5 - cut) < fmax(1e-6, within(0) / 8));
        }
    }
    assert_true(clamped > 0);
    teardown(&f);
}

/* Through both kinds of memory that the CPU's lie in. */
static void buffers_grow(void **state)
{
    static const size_t sizes[] = {0, 3, 1000, (size_t)70 << 20, ((size_t)200 << 20) + 1};
    const size_t n = sizeof sizes / sizeof *sizes;
    struct mc_error err = {0};
    struct mc_buf *b = buf(0, NULL);
    unsigned char last[2];

    (void)state;
    for (size_t i = 1; i < n; i++) {
        const unsigned char mark[2] = {(unsigned char)i, 0xff};
        ok(be->buf_grow(be, b, sizes[i], &err), &err);
        get(b, sizes[i] - 2, last, 2);
        assert_true(!last[0] && !last[1]);
        for (size_t j = 1; j < i; j++) {
            get(b, sizes[j] - 2, last, 2);
            assert_true(last[0] == j && last[1] == 0xff);
        }
        put(b, sizes[i] - 2, mark, 2);
    }
    assert_int_equal(be->buf_grow(be, b, SIZE_MAX - 5, &err), MC_ENOMEM);
    assert_int_equal(be->buf_grow(be, b, SIZE_MAX / 2, &err), MC_ENOMEM);
    get(b, sizes[n - 1] - 2, last, 2);
    assert_true(last[0] == n - 1 && last[1] == 0xff);
    release(0);
}

static void flat_vectors(void **state)
{
    (void)state;
    enum { n = 20016, k = 19 };
    float *x = floats(n), coefs[2 * k], got[16];
    uint32_t *index = room(n, sizeof *index);
    struct mc_buf *src[k], *dst = buf(n * sizeof *x, NULL);
    struct mc_ctl ctl = {.seed = 1, .row = 0};
    double acc[3] = {1, 2, 3};

    for (int i = 0; i < 2 * k; i++)
        coefs[i] = unit(3, (uint32_t)i) - .5f;
    for (uint32_t j = 0; j < k; j++) {
        for (uint32_t i = 0; i < n; i++)
            x[i] = unit(100 + j, i);
        src[j] = buf(n * sizeof *x, x);
    }
    for (uint32_t i = 0; i < n; i++)
        index[i] = (i * 37u + 5) % n;
    struct mc_buf *d_coefs = buf(sizeof coefs, coefs), *d_ctl = buf(sizeof ctl, &ctl);
    struct mc_buf *d_index = buf(n * sizeof *index, index), *d_acc = buf(sizeof acc, acc);
    be->ctl_next(be, d_ctl);
    be->lincomb(be, n, dst, k, (const struct mc_buf *const *)src, d_coefs, d_ctl);
    fetch(dst, got, sizeof got);
    for (uint32_t i = 0; i < 16; i++) {
        double want = 0;
        for (uint32_t j = 0; j < k; j++)
            want += (double)coefs[k + j] * (double)unit(100 + j, i);
        assert_true(fabs((double)got[i] - want) < 1e-5);
    }
    be->sumsq(be, n, src[0], .5, d_acc, 1);
    fetch(d_acc, acc, sizeof acc);
    double want = 2;
    for (uint32_t i = 0; i < n; i++)
        want += .5 * pow((double)unit(100, i), 2);
    assert_true(acc[0] == 1 && acc[2] == 3 && fabs(acc[1] - want) < 1e-9 * want);
    be->gather(be, n, dst, src[1], d_index);
    fetch(dst, got, sizeof got);
    for (uint32_t i = 0; i < 16; i++)
        assert_true(got[i] == unit(101, (i * 37u + 5) % n));
    be->copy(be, dst, src[2], 8 * sizeof *x);
    fetch(dst, got, sizeof got);
    assert_true(got[7] == unit(102, 7) && got[8] == unit(101, 8 * 37u + 5));

    /* dst may be a source; SGD against its formula */
    be->lincomb(be, n, src[0], 2, (const struct mc_buf *const[]){src[1], src[0]}, d_coefs, d_ctl);
    fetch(src[0], got, sizeof got);
    assert_true(fabsf(got[3] - (coefs[2] * unit(101, 3) + coefs[3] * unit(100, 3))) < 1e-6f);
    for (int nesterov = 0; nesterov < 2; nesterov++) {
        struct mc_sgd s = {.p = src[4],
                           .m = src[5],
                           .grad = src[6],
                           .point = src[7],
                           .lrs = d_coefs,
                           .coefs = d_coefs,
                           .stride = 3,
                           .k = 2,
                           .momentum = .9f,
                           .decay = .01f,
                           .nesterov = nesterov};
        float p, m, p1, m1;
        const uint32_t at = 17000;
        get(src[4], at * 4, &p, 4);
        get(src[5], at * 4, &m, 4);
        be->sgd(be, n, &s, d_ctl);
        get(src[4], at * 4, &p1, 4);
        get(src[5], at * 4, &m1, 4);
        const double d = (double)coefs[5] * ((double)unit(106, at) + .01 * (double)unit(107, at));
        const double v = .9 * (double)m + d;
        assert_true(fabs((double)m1 - v) < 1e-6);
        assert_true(
            fabs((double)p1 - ((double)p - (double)coefs[1] * (nesterov ? d + .9 * v : v))) < 1e-6);
    }
    release(0);
}

/* A few steps of training from one start. */
static void train(float *params, size_t *P)
{
    struct fixture f;
    const float lr[2] = {0, .05f};

    setup(&f, small_net(0), 1);
    struct mc_buf *m = buf(f.g->P * sizeof(float), NULL), *lrs = buf(sizeof lr, lr);
    struct mc_plan *p = plan(f.g, (struct mc_plan_opts){.backward = 1});
    for (int i = 0; i < 20; i++) {
        forward(&f, p, MC_MODE_TRAIN);
        be->backward(p, f.d_params, f.d_grad);
        be->sgd(be, f.g->P,
                &(struct mc_sgd){.p = f.d_params,
                                 .m = m,
                                 .grad = f.d_grad,
                                 .point = f.d_params,
                                 .lrs = lrs,
                                 .momentum = .9f,
                                 .decay = 1e-4f,
                                 .nesterov = 1},
                f.d_ctl);
    }
    double metrics[MC_N_METRICS] = {0};
    struct mc_buf *acc = buf(sizeof metrics, NULL);
    be->metrics(p, acc);
    fetch(acc, metrics, sizeof metrics);
    assert_true(metrics[MC_METRIC_LOSS] / metrics[MC_METRIC_IMAGES] < .3);
    *P = f.g->P;
    fetch(f.d_params, params, f.g->P * sizeof(float));
    teardown(&f);
}

static void training_twice_gives_the_same_bytes(void **state)
{
    (void)state;
    enum { MANY = 65536 };
    float *a = floats(MANY), *b = floats(MANY);
    size_t P = 0;

    train(a, &P);
    train(b, &P);
    assert_true(P > 100 && P <= MANY);
    assert_memory_equal(a, b, P * sizeof *a);
    release(0);
}

/* A NaN pixel spoils its own window alone, wherever it lies there; a NaN logit its image. */
static void a_nan_stays(void **state)
{
    (void)state;
    struct fixture f;
    struct mc_graph *g = mc_graph_new("nan", 3, 4, 4, 3, MEAN, STD);
    const int pool = mc_graph_pool(g, NULL, MC_OP_MAXPOOL, 0, 2, 2, 0, 0);
    const int logits = head(g, mc_graph_flatten(g, NULL, pool), 1, 0);
    const struct mc_tap_request tap = {pool, 0, 3};
    int32_t samples[B];

    setup(&f, finish(g, 0), 0);
    struct mc_plan *p = plan(g, (struct mc_plan_opts){.taps = &tap, .n_taps = 1});
    set_order(&f, B, samples);
    for (size_t at = 0; at < 6; at++) { /* of the first window: 0, 1, 4, 5 */
        if (at == 2 || at == 3)
            continue;
        const size_t place = ((size_t)samples[0] * f.image + at) * sizeof(float);
        const float nan = NAN;
        put(f.d_pixels, place, &nan, sizeof nan);
        forward(&f, p, MC_MODE_EVAL);
        const float *out = output(p, MC_OUT_TAP, 0, B * 3 * 4);
        for (size_t i = 0; i < B * 3 * 4; i++)
            assert_true(!isnan(out[i]) == (i > 0));
        put(f.d_pixels, place, &f.pixels[(size_t)samples[0] * f.image + at], sizeof(float));
    }
    for (size_t k = 0; k < 3; k++) {
        float bias[3] = {0, 0, 0};
        bias[k] = NAN;
        bias[(k + 1) % 3] = 1000; /* the greatest, were it not for the NaN */
        put(f.d_params, g->nodes[logits].bias.offset * sizeof(float), bias, sizeof bias);
        forward(&f, p, MC_MODE_EVAL);
        const float *correct = output(p, MC_OUT_CORRECT, 0, B);
        const float *loss = output(p, MC_OUT_LOSS, 0, B);
        for (int i = 0; i < B; i++)
            assert_true(correct[i] == 0 && isnan(loss[i]));
    }
    teardown(&f);
}

static void devices_by_name(void **state)
{
    (void)state;
    struct mc_backend *none = NULL;
    struct mc_error err = {0};
    const struct mc_backend_opts abacus = {.device = "abacus", .threads = 1};
    const struct mc_backend_opts half = {.device = "cpu", .precision = MC_PRECISION_BF16};
    assert_int_equal(mc_backend_open(&none, &half, &err), MC_EUSAGE);
    assert_non_null(strstr(err.text, "bf16"));
    assert_int_equal(mc_backend_open(&none, &abacus, &err), MC_EUSAGE);
    assert_non_null(strstr(err.text, "abacus"));
    /* as many threads as asked for, but where OMP_THREAD_LIMIT allows fewer */
    const int asked = threads_tested(2), most = omp_get_thread_limit();
    const int threads = most < asked ? most : asked;
    assert_true(be->describe[0]);
    assert_true(strcmp(be->name, "cpu") || be->threads == threads);
}

static const char *fact(const struct mc_backend *of, const char *name)
{
    for (size_t i = 0; i < of->n_facts; i++)
        if (!strcmp(of->facts[i].name, name))
            return of->facts[i].value;
    return "";
}

/* The number of threads that work; the table's hash is that of the committed file. */
static void facts_say_what_computes(void **state)
{
    const char *root = getenv("MC_ROOT");
    static char text[1 << 20];
    char path[4096], hash[16];
    struct mc_backend *one = NULL;
    struct mc_error err = {0};
    const struct mc_backend_opts opts = {.device = "cpu", .threads = 1};

    (void)state;
    assert_string_equal(fact(be, "device"), be->name);
    assert_true(*fact(be, "isa"));
    ok(mc_backend_open(&one, &opts, &err), &err);
    assert_string_equal(fact(one, "threads"), "1");
    one->close(one);
    if (!strcmp(be->name, "cpu"))
        assert_int_equal(atoi(fact(be, "threads")), be->threads);

    snprintf(path, sizeof path, "%s/kernels/%s", root ? root : ".",
             strcmp(be->name, "cpu") ? "cuda/plans.tsv" : "cpu/algorithms.tsv");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    const size_t n = fread(text, 1, sizeof text - 1, f);
    assert_true(n && n < sizeof text - 1);
    fclose(f);
    text[n] = 0;
    snprintf(hash, sizeof hash, "%08x", (unsigned)mc_conv_table_hash(text));
    assert_string_equal(fact(be, "algorithms"), hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taps_and_moments),
        cmocka_unit_test(reestimation_pools_moments),
        cmocka_unit_test(augmentation_follows_its_definition),
        cmocka_unit_test(grey_images_change_contrast),
        cmocka_unit_test(buffers_grow),
        cmocka_unit_test(flat_vectors),
        cmocka_unit_test(training_twice_gives_the_same_bytes),
        cmocka_unit_test(a_nan_stays),
        cmocka_unit_test(devices_by_name),
        cmocka_unit_test(facts_say_what_computes),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
