/* SPDX-License-Identifier: Apache-2.0
 *
 * No pass of a network's convolution runs oneDNN's reference code, which is a hundred times slower.
 * The algorithms that replace it agree with plain float64 loops. tests/run starts this once per
 * instruction set. */
#include "kernels/cpu/cpu.h"
#include "tests/unit/kernels/resources.h"
#include "tests/unit/under.h"

static unsigned draw(unsigned n)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

static int between(int low, int high)
{
    return low + (int)draw((unsigned)(high - low + 1));
}

static struct cpu *cpu(void)
{
    return (struct cpu *)be;
}

static struct cpu_conv *conv_of(const struct cpu_conv_shape *s)
{
    struct cpu_conv *c = NULL;
    struct mc_error err = {0};

    ok(cpu_conv_new(cpu(), s, &c, &err), &err);
    return c;
}

/* ---- no reference code ----------------------------------------------------------------------- */

static void passes_have_code(const struct cpu_conv *c, const struct cpu_conv_shape *s,
                             const char *context)
{
    const int computed[] = {1, s->backward_data, s->backward_weights};
    char text[MC_SHAPE_TEXT];

    MC_CONV_TEXT(s, text);
    for (enum mc_pass pass = 0; pass < MC_N_PASSES; pass++) {
        const char *by = cpu_conv_implementation(c, pass);
        assert_true(!*by == !computed[pass]);
        if (strstr(by, "ref"))
            fail_msg("%s of %s on %s kernels (%s): %s", mc_pass_name(pass), text, cpu()->k->name,
                     context, by);
    }
}

/* Makes the passes as a plan does: for training, and for evaluating one image. */
static void shape_has_code(struct cpu_conv_shape s, const char *context)
{
    for (int training = 0; training < 2; training++) {
        s.n = training ? 128 : 1;
        s.backward_data = s.backward_weights = training;
        for (enum mc_pass pass = 0; pass < MC_N_PASSES; pass++)
            s.algorithm[pass] = cpu_choose(cpu()->k, pass, &s);
        struct cpu_conv *c = conv_of(&s);
        passes_have_code(c, &s, context);
        cpu_conv_free(c);
    }
}

static void torchvision_runs_no_reference_code(void **state)
{
    char path[4096], line[4096], networks[4096];
    struct cpu_conv_shape s = {0};
    int pixels, shapes = 0;

    (void)state;
    snprintf(path, sizeof path, "%s/tests/unit/kernels/torchvision_shapes.tsv", getenv("MC_ROOT"));
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    for (; fgets(line, sizeof line, f); shapes++) {
        assert_int_equal(sscanf(line, "%dx%dx%d-%dx%dx%d k%dx%d s%dx%d p%dx%d g%d %d %d %s", &s.ic,
                                &s.ih, &s.iw, &s.oc, &s.oh, &s.ow, &s.kernel[0], &s.kernel[1],
                                &s.stride[0], &s.stride[1], &s.pad[0], &s.pad[1], &s.groups,
                                &s.bias, &pixels, networks),
                         16);
        for (s.plain_input = 0; s.plain_input <= pixels; s.plain_input++)
            shape_has_code(s, networks);
    }
    fclose(f);
    assert_true(shapes > 200);
}

static void plan_has_code(const struct mc_graph *g, struct mc_plan_opts o)
{
    struct mc_plan *p = plan_of(g, o);

    for (int i = 0; i < g->n_nodes; i++)
        if (p->nodes[i].conv) {
            const struct cpu_conv_shape s = cpu_conv_shape_of(p, &p->nodes[i]);
            passes_have_code(p->nodes[i].conv, &s, g->net);
        }
    release(0);
}

static void built_in_networks_run_no_reference_code(void **state)
{
    /* resnet32 to resnet110 have the shapes of resnet20 */
    static const char *const nets[] = {"tinyten",     "resnet20",  "resnet:20,4", "vgg",
                                       "vgg:11",      "vgg:bn,13", "vgg:19",      "vgg:bn,16",
                                       "vgg:bn,16,8", "mlp",       "mlp:bn,9",    "googlenet"};
    static const int sides[] = {32, 64, 224};

    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        for (size_t k = 0; k < (is_slow() ? 1 : sizeof sides / sizeof *sides); k++) {
            struct mc_graph *g = net_of(nets[i], (struct mc_net_spec){.channels = k % 2 ? 1 : 3,
                                                                      .height = sides[k],
                                                                      .width = sides[k],
                                                                      .classes = 10,
                                                                      .mean = {.5f, .5f, .5f},
                                                                      .std = {.25f, .25f, .25f}});
            const struct mc_plan_opts training = {
                .batch = k == 0 ? 128 : 2, .train_only = 1, .backward = 1, .input_grad = 1};
            plan_has_code(g, training);
            plan_has_code(g, (struct mc_plan_opts){.batch = 1});
            mc_graph_free(g);
        }
}

/* Draws channels, groups, a window and an image. */
static struct cpu_conv_shape random_shape(void)
{
    struct cpu_conv_shape s = {.n = between(1, 5), .groups = 1, .backward_data = 1};

    s.ih = between(1, 9);
    s.iw = between(1, 9);
    for (int axis = 0; axis < 2; axis++) {
        const int in = axis ? s.iw : s.ih, k = between(1, 7);
        int *out = axis ? &s.ow : &s.oh;
        s.pad[axis] = between(0, k / 2);
        s.kernel[axis] = k < in + 2 * s.pad[axis] ? k : in + 2 * s.pad[axis];
        s.stride[axis] = between(1, 3);
        *out = (in + 2 * s.pad[axis] - s.kernel[axis]) / s.stride[axis] + 1;
    }
    s.ic = between(1, 40);
    s.oc = between(1, 40);
    if (draw(3) == 0) {
        s.groups = s.oc = s.ic;
    } else if (draw(2)) {
        s.groups = between(1, 4);
        s.ic *= s.groups;
        s.oc *= s.groups;
    }
    s.plain_input = draw(4) == 0;
    s.plain_grad = s.plain_input && draw(2);
    s.bias = (int)draw(2);
    s.backward_weights = 1;
    return s;
}

static void random_shapes_run_no_reference_code(void **state)
{
    (void)state;
    for (int i = 0; i < (is_slow() ? 20 : 2000); i++)
        shape_has_code(random_shape(), "drawn");
}

/* ---- our own algorithms ---------------------------------------------------------------------- */

/* Index of a channel's pixel. */
static size_t at(int plain, int n, int c, int h, int w, const int chw[3])
{
    const int b = cpu()->k->block, cb = (chw[0] + b - 1) / b;

    return plain ? (size_t)(((n * chw[0] + c) * chw[1] + h) * chw[2] + w)
                 : (size_t)((((n * cb + c / b) * chw[1] + h) * chw[2] + w) * b + c % b);
}

static size_t size_of(int plain, int n, const int chw[3])
{
    return at(plain, n, 0, 0, 0, chw);
}

/* Draws an activation; 0 in the padding. */
static float *random_activation(int plain, int n, const int chw[3])
{
    float *x = floats(size_of(plain, n, chw));

    for (int i = 0; i < n; i++)
        for (int c = 0; c < chw[0]; c++)
            for (int q = 0; q < chw[1] * chw[2]; q++)
                x[at(plain, i, c, q / chw[2], q % chw[2], chw)] = (float)draw(2001) / 1000 - 1;
    return x;
}

struct tensors {
    float *x, *dy, *weight, *bias;
    double *y, *dx, *dweight;
};

/* Computes all passes by the definition. */
static void plain_loops(const struct cpu_conv_shape *s, const struct tensors *t)
{
    const int in[] = {s->ic, s->ih, s->iw}, out[] = {s->oc, s->oh, s->ow};
    const int icg = s->ic / s->groups, ocg = s->oc / s->groups, taps = s->kernel[0] * s->kernel[1];

    for (int i = 0; i < s->n * s->oc * s->oh * s->ow; i++) {
        const int w = i % s->ow, h = i / s->ow % s->oh, o = i / s->ow / s->oh % s->oc,
                  n = i / s->ow / s->oh / s->oc;
        const size_t y = at(0, n, o, h, w, out);
        t->y[y] = s->bias ? (double)t->bias[o] : 0;
        for (int k = 0; k < icg * taps; k++) {
            const int c = o / ocg * icg + k / taps;
            const int ih = h * s->stride[0] - s->pad[0] + k % taps / s->kernel[1];
            const int iw = w * s->stride[1] - s->pad[1] + k % taps % s->kernel[1];
            if (ih < 0 || ih >= s->ih || iw < 0 || iw >= s->iw)
                continue;
            const size_t wi = (size_t)(o * icg * taps + k);
            const double x = (double)t->x[at(s->plain_input, n, c, ih, iw, in)];
            t->y[y] += (double)t->weight[wi] * x;
            t->dweight[wi] += (double)t->dy[y] * x;
            t->dx[at(s->plain_grad, n, c, ih, iw, in)] += (double)t->dy[y] * (double)t->weight[wi];
        }
    }
}

/* The bound is relative to the largest expected value. */
static void agrees(const struct cpu_conv_shape *s, enum mc_pass pass, const char *by,
                   const float *got, const double *expected, size_t n)
{
    double off = 0, largest = 1e-3;
    char text[MC_SHAPE_TEXT];

    MC_CONV_TEXT(s, text);
    for (size_t i = 0; i < n; i++) {
        const double d = fabs((double)got[i] - expected[i]);
        off = d > off || isnan(d) ? d : off;
        largest = fabs(expected[i]) > largest ? fabs(expected[i]) : largest;
    }
    if (!(off <= 5e-6 * largest))
        fail_msg("%s of %s, %d images, by %s: off by %g of %g", mc_pass_name(pass), text, s->n, by,
                 off, largest);
}

/* Returns the number of passes that the algorithm computed. */
static int check(struct cpu_conv_shape s, enum cpu_algorithm by)
{
    const int in[] = {s.ic, s.ih, s.iw}, out[] = {s.oc, s.oh, s.ow};
    const size_t nx = size_of(s.plain_input, s.n, in), ndx = size_of(s.plain_grad, s.n, in),
                 ny = size_of(0, s.n, out),
                 nw = (size_t)(s.ic / s.groups * s.oc * s.kernel[0] * s.kernel[1]);
    struct tensors t = {.x = random_activation(s.plain_input, s.n, in),
                        .dy = random_activation(0, s.n, out)};
    int computed = 0;

    assert_true(nx);
    t.weight = random_activation(1, 1, (const int[]){(int)nw, 1, 1});
    t.bias = random_activation(1, 1, (const int[]){s.oc, 1, 1});
    t.y = room(ny, sizeof *t.y);
    t.dx = room(ndx, sizeof *t.dx);
    t.dweight = room(nw, sizeof *t.dweight);
    plain_loops(&s, &t);
    for (enum mc_pass pass = 0; pass < MC_N_PASSES; pass++)
        s.algorithm[pass] = by;
    struct cpu_conv *c = conv_of(&s);
    float *y = floats(ny), *dx = floats(ndx), *dw = floats(nw);
    void *work = floats(cpu_conv_work(c) / sizeof(float));
    memset(work, 0x7f, cpu_conv_work(c)); /* stale values must not leak in */
    memset(y, 0x7f, ny * sizeof *y);
    memset(dx, 0x7f, ndx * sizeof *dx);
    memset(dw, 0x7f, nw * sizeof *dw);
    cpu_conv_run(
        c, MC_PASS_FORWARD,
        &(struct cpu_tensors){.x = t.x, .weight = t.weight, .bias = t.bias, .y = y, .work = work});
    cpu_conv_run(c, MC_PASS_DATA,
                 &(struct cpu_tensors){.x = dx, .weight = t.weight, .y = t.dy, .work = work});
    cpu_conv_run(c, MC_PASS_WEIGHTS,
                 &(struct cpu_tensors){.x = t.x, .weight = dw, .y = t.dy, .work = work});
    agrees(&s, MC_PASS_FORWARD, cpu_conv_implementation(c, MC_PASS_FORWARD), y, t.y, ny);
    agrees(&s, MC_PASS_DATA, cpu_conv_implementation(c, MC_PASS_DATA), dx, t.dx, ndx);
    agrees(&s, MC_PASS_WEIGHTS, cpu_conv_implementation(c, MC_PASS_WEIGHTS), dw, t.dweight, nw);
    for (enum mc_pass pass = 0; pass < MC_N_PASSES; pass++)
        computed += !strcmp(cpu_conv_implementation(c, pass), cpu_algorithm_name(by));
    cpu_conv_free(c);
    release(0);
    return computed;
}

static void algorithms_agree_with_plain_loops(void **state)
{
    int passes[CPU_N_ALGORITHMS] = {0};

    for (int threads = 1; threads <= 3; threads++) {
        stop(state);
        open_cpu(threads);
        for (int i = 0; i < (is_slow() ? 5 : 150); i++) {
            const struct cpu_conv_shape s = random_shape();
            for (enum cpu_algorithm by = CPU_N_TABLED; by < CPU_N_ALGORITHMS; by++)
                passes[by] += check(s, by);
        }
    }
    assert_true(passes[CPU_PRODUCTS] > 10);
    assert_true(is_slow() || passes[CPU_DEPTHWISE] > 10);
}

/* Images of several products, and images of one pixel, which see one element of their windows. */
static void products_split_images(void **state)
{
    struct cpu_conv_shape s = {.n = 3,
                               .ic = 5,
                               .ih = 30,
                               .iw = 25,
                               .oc = 18,
                               .oh = 30,
                               .ow = 25,
                               .kernel = {3, 3},
                               .stride = {1, 1},
                               .pad = {1, 1},
                               .groups = 1,
                               .backward_data = 1,
                               .backward_weights = 1};

    (void)state;
    assert_int_equal(check(s, CPU_PRODUCTS), MC_N_PASSES);
    s.ih = s.iw = s.oh = s.ow = 1;
    s.n = 1100;
    assert_int_equal(check(s, CPU_PRODUCTS), MC_N_PASSES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torchvision_runs_no_reference_code),
        cmocka_unit_test(built_in_networks_run_no_reference_code),
        cmocka_unit_test(random_shapes_run_no_reference_code),
        cmocka_unit_test(algorithms_agree_with_plain_loops),
        cmocka_unit_test(products_split_images),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
