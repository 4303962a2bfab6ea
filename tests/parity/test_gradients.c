/* SPDX-License-Identifier: Apache-2.0
 *
 * Gradients of a whole tinyten in training mode, batch 16, against PyTorch (golden file by
 * make_gradient_golden.py): with Huber's delta = 1 every tensor and the pixels against float64;
 * the control point of a quadratic Bezier curve; with the plain ReLU, where kinks flip, the whole
 * gradient's error against the one that PyTorch's own float32 makes; running statistics. */
#include "backend.h"
#include "mc_graph.h"
#include "mc_nets.h"
#include "mc_stream.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { B = 16, IMAGE = 3072, SAMPLES = 400, IMAGES = 999, LABELS = 998 };

static void ok(int rc, const struct mc_error *err)
{
    if (rc)
        fail_msg("%s", err->text);
}

/* ---- the golden file ---- */

static struct {
    size_t n;
    struct mc_tensor *tensors;
    void **data;
} golden;

static void read_golden(void)
{
    const char *root = getenv("MC_ROOT");
    char path[4096];
    struct mc_reader *r = NULL;
    struct mc_error err = {0};

    snprintf(path, sizeof path, "%s/tests/parity/gradient_golden.mcz", root ? root : ".");
    ok(mc_reader_open(&r, path, &err), &err);
    golden.n = mc_reader_n_tensors(r);
    golden.tensors = calloc(golden.n, sizeof *golden.tensors);
    golden.data = calloc(golden.n, sizeof *golden.data);
    assert_true(golden.tensors && golden.data);
    for (size_t i = 0; i < golden.n; i++) {
        golden.tensors[i] = *mc_reader_tensor(r, i);
        golden.data[i] = malloc((size_t)golden.tensors[i].shape[0] * 8);
        assert_non_null(golden.data[i]);
    }
    ok(mc_reader_rest(r, golden.data, &err), &err);
    mc_reader_close(r);
}

static const void *find(const char *group, const char *name, size_t n)
{
    char full[MC_NAME_MAX];
    snprintf(full, sizeof full, "%s%s%s", group, *group ? "/" : "", name);
    for (size_t i = 0; i < golden.n; i++)
        if (!strcmp(golden.tensors[i].name, full)) {
            assert_true(golden.tensors[i].shape[0] == n);
            return golden.data[i];
        }
    fail_msg("no %s in the golden file", full);
    return NULL;
}

/* ---- the shared formula ---- */

static float unit(uint64_t stream, uint64_t i)
{
    uint64_t z = (stream << 32) + i + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z = z ^ (z >> 31);
    return (float)(z >> 40) * 0x1p-24f;
}

static void fill(const struct mc_graph *g, uint64_t seed, float *params)
{
    memset(params, 0, g->P * sizeof *params);
    for (size_t t = 0; t < g->n_params; t++) {
        const struct mc_param *p = &g->params[t];
        const char *name = p->tensor.name;
        const float scale =
            p->tensor.ndim > 1 ? (float)sqrt(6.0 / (double)(p->fan_in + p->fan_out)) : .25f;
        for (size_t i = 0; i < p->count; i++) {
            const float u = unit(seed * 1000 + t, i);
            params[p->offset + i] = strstr(name, "bn.weight") ? u + .5f : (2 * u - 1) * scale;
        }
    }
}

/* ---- one network on the device ---- */

struct world {
    struct mc_backend *be;
    struct mc_graph *g;
    struct mc_plan *plan;
    float *host, *pixels;
    struct mc_buf *images, *labels, *order, *ctl, *grad, *stats, *dx, *point;
};

static struct mc_buf *buf(struct mc_backend *be, size_t bytes, const void *from)
{
    struct mc_error err = {0};
    struct mc_buf *b = NULL;
    ok(be->buf_new(be, bytes, &b, &err), &err);
    if (from)
        ok(be->put(be, b, 0, from, bytes, &err), &err);
    return b;
}

static void open_world(struct world *w, float delta)
{
    const struct mc_net_spec spec = {
        3, 32, 32, 10, {.4914f, .4822f, .4465f}, {.247f, .243f, .261f}};
    const struct mc_plan_opts o = {.batch = B, .backward = 1, .input_grad = 1, .train_only = 1};
    const struct mc_ctl ctl = {0};
    struct mc_error err = {0};
    int32_t order[B];

    memset(w, 0, sizeof *w);
    ok(mc_backend_open(&w->be, "cpu", 2, &err), &err);
    ok(mc_net_build(&w->g, "tinyten", &spec, &err), &err);
    mc_graph_huber(w->g, delta);
    ok(w->be->plan_new(w->be, w->g, &o, &w->plan, &err), &err);
    for (int i = 0; i < B; i++)
        order[i] = i;
    w->host = malloc(w->g->P * sizeof *w->host);
    w->pixels = malloc(B * IMAGE * sizeof *w->pixels);
    assert_true(w->host && w->pixels);
    w->images = buf(w->be, B * IMAGE * sizeof(float), NULL);
    w->labels = buf(w->be, B * sizeof(int32_t), NULL);
    w->order = buf(w->be, sizeof order, order);
    w->ctl = buf(w->be, sizeof ctl, &ctl);
    w->grad = buf(w->be, w->g->P * sizeof(float), NULL);
    w->stats = buf(w->be, w->g->S * sizeof(float), NULL);
    w->dx = buf(w->be, B * IMAGE * sizeof(float), NULL);
    w->point = buf(w->be, w->g->P * sizeof(float), NULL);
}

static void close_world(struct world *w)
{
    struct mc_buf *all[] = {w->images, w->labels, w->order, w->ctl,
                            w->grad,   w->stats,  w->dx,    w->point};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        w->be->buf_free(w->be, all[i]);
    w->be->plan_free(w->plan);
    mc_graph_free(w->g);
    free(w->host);
    free(w->pixels);
    w->be->close(w->be);
}

/* Images of `seed` through the network at w->point; then w->grad, w->stats hold what came. */
static void step(struct world *w, uint64_t seed)
{
    struct mc_error err = {0};
    int32_t labels[B];
    float *stats = calloc(w->g->S, sizeof *stats);
    const struct mc_source source = {
        .images = w->images, .pixels = MC_F32, .labels = w->labels, .order = w->order};

    assert_non_null(stats);
    for (size_t i = 0; i < B * IMAGE; i++)
        w->pixels[i] = unit(seed * 1000 + IMAGES, i);
    for (size_t i = 0; i < B; i++)
        labels[i] = (int32_t)(unit(seed * 1000 + LABELS, i) * 10);
    for (size_t t = 0; t < w->g->n_stats; t++)
        if (strstr(w->g->stats[t].tensor.name, "var"))
            for (size_t i = 0; i < w->g->stats[t].count; i++)
                stats[w->g->stats[t].offset + i] = 1;
    ok(w->be->put(w->be, w->stats, 0, stats, w->g->S * sizeof *stats, &err), &err);
    ok(w->be->put(w->be, w->images, 0, w->pixels, B * IMAGE * sizeof(float), &err), &err);
    ok(w->be->put(w->be, w->labels, 0, labels, sizeof labels, &err), &err);
    w->be->load(w->plan, &source, w->ctl);
    w->be->forward(w->plan, MC_MODE_TRAIN, w->point, w->stats, NULL, w->ctl);
    w->be->backward(w->plan, w->point, w->grad);
    w->be->input_grad(w->plan, w->dx);
    free(stats);
}

static void set_point(struct world *w, uint64_t seed)
{
    struct mc_error err = {0};
    fill(w->g, seed, w->host);
    ok(w->be->put(w->be, w->point, 0, w->host, w->g->P * sizeof(float), &err), &err);
}

static void fetch(struct world *w, const struct mc_buf *b, float *to, size_t n)
{
    struct mc_error err = {0};
    ok(w->be->get(w->be, b, 0, to, n * sizeof *to, &err), &err);
}

/* ---- comparisons ---- */

struct measured {
    double diff, norm; /* squares, the samples standing for the whole tensor */
};

/* From sample to sample; coprime to 6, or a 3x3 kernel's samples would all lie in one column. */
static size_t stride_of(size_t n)
{
    size_t stride = (n + SAMPLES - 1) / SAMPLES;
    while (stride % 2 == 0 || stride % 3 == 0)
        stride++;
    return stride;
}

static struct measured compare(const char *group, const char *name, const float *a, size_t n)
{
    const size_t stride = stride_of(n), m = (n + stride - 1) / stride;
    const float *want = find(group, name, m);
    struct measured r = {0, 0};

    for (size_t i = 0; i < m; i++) {
        r.diff += pow((double)a[i * stride] - (double)want[i], 2);
        r.norm += pow((double)want[i], 2);
    }
    r.diff *= (double)n / (double)m;
    r.norm *= (double)n / (double)m;
    return r;
}

/* Returns the error as it is bounded: relative, or absolute under a norm of 1e-6. */
static double bounded(struct measured r)
{
    return sqrt(r.diff) / (sqrt(r.norm) < 1e-6 ? 1 : sqrt(r.norm));
}

static void every_tensor_with_huber(void **state)
{
    (void)state;
    struct world w;
    float *dx = malloc(B * IMAGE * sizeof *dx);
    double worst = 0;

    assert_non_null(dx);
    open_world(&w, 1);
    set_point(&w, 1);
    step(&w, 1);
    fetch(&w, w.grad, w.host, w.g->P);
    for (size_t t = 0; t < w.g->n_params; t++) {
        const struct mc_param *p = &w.g->params[t];
        const double e = bounded(compare("huber", p->tensor.name, w.host + p->offset, p->count));
        if (!(e <= 1e-4))
            fail_msg("%s: %g", p->tensor.name, e);
        worst = e > worst ? e : worst;
    }
    fetch(&w, w.dx, dx, B * IMAGE);
    const double e = bounded(compare("huber", "pixels", dx, B * IMAGE));
    print_message("worst tensor %.2e, pixels %.2e\n", worst, e);
    assert_true(e <= 1e-4);
    close_world(&w);
    free(dx);
}

static void running_statistics(void **state)
{
    (void)state;
    struct world w;
    const double weight = .1; /* the batch's; the bound is on its own mean and variance */
    double worst = 0;

    open_world(&w, 1);
    set_point(&w, 1);
    step(&w, 1);
    fetch(&w, w.stats, w.host, w.g->S);
    for (size_t t = 0; t < w.g->n_stats; t++) {
        const struct mc_param *p = &w.g->stats[t];
        const float *want = find("statistics", p->tensor.name, p->count);
        const double before = strstr(p->tensor.name, "var") ? 1 : 0;
        for (size_t i = 0; i < p->count; i++) {
            const double of_batch = ((double)want[i] - (1 - weight) * before) / weight;
            const double d = fabs((double)w.host[p->offset + i] - (double)want[i]) / weight;
            const double e = d / (1 > fabs(of_batch) ? 1 : fabs(of_batch));
            worst = e > worst ? e : worst;
        }
    }
    print_message("worst statistic %.2e\n", worst);
    assert_true(worst <= 1e-5);
    close_world(&w);
}

static void control_point_of_a_curve(void **state)
{
    (void)state;
    const double ts[] = {.25, .5, .8};
    struct world w;
    struct mc_buf *v[3], *p = NULL, *m = NULL, *coefs = NULL, *lr = NULL;
    const float one = 1;
    double worst = 0;

    open_world(&w, 1);
    p = buf(w.be, w.g->P * sizeof(float), NULL);
    m = buf(w.be, w.g->P * sizeof(float), NULL);
    coefs = buf(w.be, 3 * sizeof(float), NULL);
    lr = buf(w.be, sizeof one, &one);
    for (uint64_t i = 0; i < 3; i++) { /* first end, control point, other end */
        const uint64_t seeds[] = {1, 3, 2};
        fill(w.g, seeds[i], w.host);
        v[i] = buf(w.be, w.g->P * sizeof(float), w.host);
    }
    for (size_t i = 0; i < 3; i++) {
        const double t = ts[i];
        const float c[] = {(float)((1 - t) * (1 - t)), (float)(2 * t * (1 - t)), (float)(t * t)};
        const struct mc_sgd sgd = {.p = p,
                                   .m = m,
                                   .grad = w.grad,
                                   .point = w.point,
                                   .lrs = lr,
                                   .coefs = coefs,
                                   .stride = 3,
                                   .k = 1};
        struct mc_error err = {0};
        char group[32];
        ok(w.be->put(w.be, coefs, 0, c, sizeof c, &err), &err);
        w.be->lincomb(w.be, w.g->P, w.point, 3, (const struct mc_buf *const *)v, coefs, w.ctl);
        step(&w, 1);
        w.be->zero(w.be, p); /* one step at rate 1 from 0: minus the gradient */
        w.be->sgd(w.be, w.g->P, &sgd, w.ctl);
        fetch(&w, p, w.host, w.g->P);
        snprintf(group, sizeof group, "curve%g", t);
        for (size_t k = 0; k < w.g->n_params; k++) {
            const struct mc_param *q = &w.g->params[k];
            for (size_t j = 0; j < q->count; j++)
                w.host[q->offset + j] = -w.host[q->offset + j];
            const double e = bounded(compare(group, q->tensor.name, w.host + q->offset, q->count));
            if (!(e <= 1e-4))
                fail_msg("t = %g: %s: %g", t, q->tensor.name, e);
            worst = e > worst ? e : worst;
        }
    }
    print_message("worst tensor %.2e\n", worst);
    for (size_t i = 0; i < 3; i++)
        w.be->buf_free(w.be, v[i]);
    w.be->buf_free(w.be, p);
    w.be->buf_free(w.be, m);
    w.be->buf_free(w.be, coefs);
    w.be->buf_free(w.be, lr);
    close_world(&w);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void whole_gradient_with_relu(void **state)
{
    (void)state;
    const double *own = find("", "own_error", 5);
    double ratio[5];
    struct world w;

    open_world(&w, 0);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct measured all = {0, 0};
        char group[32];
        set_point(&w, seed);
        step(&w, seed);
        fetch(&w, w.grad, w.host, w.g->P);
        snprintf(group, sizeof group, "relu%d", (int)seed);
        for (size_t t = 0; t < w.g->n_params; t++) {
            const struct mc_param *p = &w.g->params[t];
            const struct measured r = compare(group, p->tensor.name, w.host + p->offset, p->count);
            all.diff += r.diff;
            all.norm += r.norm;
        }
        const double e = sqrt(all.diff / all.norm);
        ratio[seed - 1] = e / own[seed - 1];
        print_message("seed %d: error %.2e, PyTorch's float32 %.2e\n", (int)seed, e, own[seed - 1]);
    }
    qsort(ratio, 5, sizeof *ratio, ascending);
    print_message("median ratio %.2f\n", ratio[2]);
    assert_true(ratio[2] <= 3);
    close_world(&w);
}

static int start(void **state)
{
    (void)state;
    read_golden();
    return 0;
}

static int stop(void **state)
{
    (void)state;
    for (size_t i = 0; i < golden.n; i++)
        free(golden.data[i]);
    free(golden.data);
    free(golden.tensors);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tensor_with_huber),
        cmocka_unit_test(running_statistics),
        cmocka_unit_test(control_point_of_a_curve),
        cmocka_unit_test(whole_gradient_with_relu),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
