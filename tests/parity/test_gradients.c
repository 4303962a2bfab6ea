/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares gradients of tinyten in training mode, batch 16, with PyTorch (golden file:
 * make_gradient_golden.py). With Huber's delta = 1, every tensor, the pixels and the control point
 * of a quadratic Bezier curve are compared with float64. With the plain ReLU, whose kinks flip, the
 * error of the whole gradient is compared with that of PyTorch's float32. Running statistics. */
#include "tests/parity/gradients.h"

enum { B = 16, IMAGE = 3072, SAMPLES = 400, IMAGES = 999, LABELS = 998 };

static void open_tinyten(struct world *w, float delta)
{
    struct mc_graph *g = net("tinyten", 10);

    mc_graph_huber(g, delta);
    open_world(w, g, B);
}

/* Runs the images of `seed` through the network at w->point. */
static void step(struct world *w, uint64_t seed)
{
    run(w, seed * 1000 + IMAGES, seed * 1000 + LABELS);
}

static void set_point(struct world *w, uint64_t seed)
{
    fill(w, w->point, seed, by_number);
}

/* ---- comparisons ---- */

/* The distance between samples: coprime to 6, so that a 3x3 kernel's samples are in all columns. */
static size_t stride_of(size_t n)
{
    size_t stride = (n + SAMPLES - 1) / SAMPLES;
    while (stride % 2 == 0 || stride % 3 == 0)
        stride++;
    return stride;
}

/* Estimates a tensor's error and norm from its samples. */
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

static void every_tensor_with_huber(void **state)
{
    (void)state;
    struct world w;
    double worst = 0;

    open_tinyten(&w, 1);
    set_point(&w, 1);
    step(&w, 1);
    fetch(w.grad, w.host, w.g->P * sizeof(float));
    for (size_t t = 0; t < w.g->n_params; t++) {
        const struct mc_param *p = &w.g->params[t];
        const double e = bounded(compare("huber", p->tensor.name, w.host + p->offset, p->count));
        if (!(e <= 1e-4))
            fail_msg("%s: %g", p->tensor.name, e);
        worst = e > worst ? e : worst;
    }
    const float *dx = host_copy(w.dx, B * IMAGE);
    const double e = bounded(compare("huber", "pixels", dx, B * IMAGE));
    print_message("worst tensor %.2e, pixels %.2e\n", worst, e);
    assert_true(e <= 1e-4);
    close_world(&w);
}

static void running_statistics(void **state)
{
    (void)state;
    struct world w;
    const double weight =
        .1; /* the batch's weight; the bound is on the batch's mean and variance */
    double worst = 0;

    open_tinyten(&w, 1);
    set_point(&w, 1);
    step(&w, 1);
    fetch(w.stats, w.host, w.g->S * sizeof(float));
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
    struct mc_buf *v[3];
    const float one = 1;
    double worst = 0;

    open_tinyten(&w, 1);
    struct mc_buf *p = buf(w.g->P * sizeof(float), NULL), *m = buf(w.g->P * sizeof(float), NULL);
    struct mc_buf *coefs = buf(3 * sizeof(float), NULL), *lr = buf(sizeof one, &one);
    for (uint64_t i = 0; i < 3; i++) { /* first end, control point, other end */
        const uint64_t seeds[] = {1, 3, 2};
        v[i] = buf(w.g->P * sizeof(float), NULL);
        fill(&w, v[i], seeds[i], by_number);
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
        char group[32];
        put(coefs, 0, c, sizeof c);
        be->lincomb(be, w.g->P, w.point, 3, (const struct mc_buf *const *)v, coefs, w.ctl);
        step(&w, 1);
        be->zero(be, p); /* one step at rate 1 from 0: minus the gradient */
        be->sgd(be, w.g->P, &sgd, w.ctl);
        fetch(p, w.host, w.g->P * sizeof(float));
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
    close_world(&w);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median over seeds of the ratio of our error to that of PyTorch's float32. */
static double median_ratio(const double *errors, const double *own, size_t n)
{
    double ratio[16];

    assert_true(n <= 16);
    for (size_t i = 0; i < n; i++) {
        ratio[i] = errors[i] / own[i];
        print_message("seed %zu: error %.2e, PyTorch's float32 %.2e\n", i + 1, errors[i], own[i]);
    }
    qsort(ratio, n, sizeof *ratio, ascending);
    print_message("median ratio %.2f\n", ratio[n / 2]);
    return ratio[n / 2];
}

static void whole_gradient_with_relu(void **state)
{
    (void)state;
    const double *own = find("", "own_error", 5);
    double errors[5];
    struct world w;

    open_tinyten(&w, 0);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct measured all = {0, 0};
        char group[32];
        set_point(&w, seed);
        step(&w, seed);
        fetch(w.grad, w.host, w.g->P * sizeof(float));
        snprintf(group, sizeof group, "relu%d", (int)seed);
        for (size_t t = 0; t < w.g->n_params; t++) {
            const struct mc_param *p = &w.g->params[t];
            const struct measured r = compare(group, p->tensor.name, w.host + p->offset, p->count);
            all.diff += r.diff;
            all.norm += r.norm;
        }
        errors[seed - 1] = sqrt(all.diff / all.norm);
    }
    assert_true(median_ratio(errors, own, 5) <= 3);
    close_world(&w);
}

static int start_with_golden(void **state)
{
    start(state);
    read_golden("gradient_golden.mcz");
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
    return cmocka_run_group_tests(tests, start_with_golden, stop);
}
