/* SPDX-License-Identifier: Apache-2.0
 *
 * A backend's other functions: buffers, flat vectors, reproducible training, NaNs, devices by name,
 * and the facts that it reports. */
#include "kernels/conv_table.h"
#include "tests/unit/kernels/device.h"

#include <omp.h>

/* Grows a buffer through both kinds of the CPU's memory. */
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
        double expected = 0;
        for (uint32_t j = 0; j < k; j++)
            expected += (double)coefs[k + j] * (double)unit(100 + j, i);
        assert_true(fabs((double)got[i] - expected) < 1e-5);
    }
    be->sumsq(be, n, src[0], .5, d_acc, 1);
    fetch(d_acc, acc, sizeof acc);
    double expected = 2;
    for (uint32_t i = 0; i < n; i++)
        expected += .5 * pow((double)unit(100, i), 2);
    assert_true(acc[0] == 1 && acc[2] == 3 && fabs(acc[1] - expected) < 1e-9 * expected);
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

/* A NaN pixel changes only its own window's maximum, at any position; a NaN logit only its
 * image. */
static void nan_stays(void **state)
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
    for (size_t at = 0; at < 6; at++) { /* those of the first window: 0, 1, 4, 5 */
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
        bias[(k + 1) % 3] = 1000; /* the maximum, except for the NaN */
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
    /* the requested number of threads, unless OMP_THREAD_LIMIT is lower */
    const int requested = threads_tested(2), limit = omp_get_thread_limit();
    const int threads = limit < requested ? limit : requested;
    assert_true(be->describe[0]);
    assert_true(strcmp(be->name, "cpu") || be->threads == threads);
}

static const char *fact(const struct mc_backend *backend, const char *name)
{
    for (size_t i = 0; i < backend->n_facts; i++)
        if (!strcmp(backend->facts[i].name, name))
            return backend->facts[i].value;
    return "";
}

/* The facts: the number of threads and, on the CPU, the committed table's hash. */
static void facts_name_threads_and_table(void **state)
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

    if (strcmp(be->name, "cpu")) {
        assert_int_equal(strlen(fact(be, "algorithms")), 8);
        return;
    }
    snprintf(path, sizeof path, "%s/kernels/cpu/algorithms.tsv", root ? root : ".");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    const size_t n = fread(text, 1, sizeof text - 1, f);
    assert_true(n && n < sizeof text - 1);
    fclose(f);
    text[n] = 0;
    snprintf(hash, sizeof hash, "%08x", (unsigned)mc_conv_table_hash(text));
    assert_string_equal(fact(be, "algorithms"), hash);
}

static const char *after_plan(struct mc_backend *one, int units, size_t batch)
{
    struct mc_graph *g = mc_graph_new("one", 3, 9, 7, 5, MEAN, STD);
    const int x = unit_of(g, 0, units, (struct mc_conv_opts){.kernel = 3});
    struct mc_error err = {0};
    struct mc_plan *p = NULL;

    head(g, mc_graph_globalpool(g, NULL, x), 1, 0);
    g = finish(g, 0);
    ok(one->plan_new(one, g, &(struct mc_plan_opts){.batch = batch, .backward = 1}, &p, &err),
       &err);
    one->plan_free(p);
    mc_graph_free(g);
    return fact(one, "algorithms");
}

static void cuda_algorithms_fact_ignores_order(void **state)
{
    struct mc_backend *one[2] = {NULL, NULL};
    struct mc_error err = {0};
    char first[16], both[16];

    (void)state;
    if (!strcmp(be->name, "cpu"))
        skip();
    for (int i = 0; i < 2; i++)
        ok(open_tested(&one[i], "cuda", 1, &err), &err);
    assert_string_equal(fact(one[0], "algorithms"), "00000000");
    snprintf(first, sizeof first, "%s", after_plan(one[0], 16, B));
    assert_string_not_equal(first, "00000000");
    assert_string_equal(after_plan(one[0], 16, B), first);
    snprintf(both, sizeof both, "%s", after_plan(one[0], 24, B));
    assert_string_not_equal(both, first);
    assert_string_not_equal(after_plan(one[1], 24, B), first);
    assert_string_equal(after_plan(one[1], 16, B), both);
    assert_string_not_equal(after_plan(one[1], 16, B + 1), both);
    for (int i = 0; i < 2; i++)
        one[i]->close(one[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_grow),
        cmocka_unit_test(flat_vectors),
        cmocka_unit_test(training_twice_gives_the_same_bytes),
        cmocka_unit_test(nan_stays),
        cmocka_unit_test(devices_by_name),
        cmocka_unit_test(facts_name_threads_and_table),
        cmocka_unit_test(cuda_algorithms_fact_ignores_order),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
