/* SPDX-License-Identifier: Apache-2.0
 *
 * Our Winograd convolutions, which the table picks for some shapes only, against plain products:
 * all three passes, all paddings, images that are not a multiple of a tile, channels that fill no
 * block, one and several threads, random shapes. Also checks that get() reports a failure of
 * oneDNN. */
#include "kernels/cpu/cpu.h"
#include "tests/unit/kernels/resources.h"
#include "tests/unit/under.h"

static struct cpu *cpu(void)
{
    return (struct cpu *)be;
}

static float noise(size_t i)
{
    return (float)(((uint32_t)i * 2654435761u + 12345u) >> 8) * 0x1p-23f - 1;
}

/* A blocked activation of c channels, 0 in the lanes after the last. */
static float *activation(size_t n, size_t c, size_t hw, size_t seed, size_t *count)
{
    const size_t b = (size_t)cpu()->k->block, cb = (c + b - 1) / b;
    float *p = floats(n * cb * b * hw);

    *count = n * cb * b * hw;
    for (size_t i = 0; i < *count; i++)
        if (i / b / hw % cb * b + i % b < c)
            p[i] = noise(i + seed);
    return p;
}

static void close_to(const char *name, const float *a, const float *b, size_t n)
{
    double diff = 0, norm = 0;
    for (size_t i = 0; i < n; i++) {
        diff += pow((double)a[i] - (double)b[i], 2);
        norm += pow((double)b[i], 2);
    }
    assert_true(norm > 0);
    if (!(sqrt(diff / norm) <= 5e-6))
        fail_msg("%s: error %g", name, sqrt(diff / norm));
}

/* A 3x3 shape of stride 1, for all three passes. */
static struct cpu_conv_shape shape(int n, int ic, int h, int w, int oc, int pad)
{
    return (struct cpu_conv_shape){.n = n,
                                   .ic = ic,
                                   .ih = h,
                                   .iw = w,
                                   .oc = oc,
                                   .oh = h + 2 * pad - 2,
                                   .ow = w + 2 * pad - 2,
                                   .kernel = {3, 3},
                                   .stride = {1, 1},
                                   .pad = {pad, pad},
                                   .groups = 1,
                                   .backward_data = 1,
                                   .backward_weights = 1};
}

/* Products, Winograd, and Winograd that adds the data's gradient to dx. */
static void compare(int n, int ic, int h, int w, int oc, int pad)
{
    struct cpu_conv_shape s = shape(n, ic, h, w, oc, pad);
    struct cpu_conv *c[3] = {NULL};
    struct mc_error err = {0};
    const size_t nw = (size_t)(ic * oc * 9);
    size_t nx, ny;
    float *x = activation((size_t)n, (size_t)ic, (size_t)(h * w), 1, &nx);
    float *dy = activation((size_t)n, (size_t)oc, (size_t)(s.oh * s.ow), 77, &ny);
    float *weight = floats(nw), *y[3], *dx[3], *dw[3];

    for (size_t i = 0; i < nw; i++)
        weight[i] = noise(i + 5) / (float)ic;
    for (int i = 0; i < 3; i++) {
        s.adds = i == 2;
        for (enum mc_pass pass = 0; pass < MC_N_PASSES; pass++)
            s.algorithm[pass] = i ? CPU_WINOGRAD : CPU_PRODUCTS;
        ok(cpu_conv_new(cpu(), &s, &c[i], &err), &err);
        void *work = floats(cpu_conv_work(c[i]) / sizeof(float));
        memset(work, 0x7f, cpu_conv_work(c[i])); /* stale values must not leak in */
        y[i] = floats(ny);
        dx[i] = floats(nx);
        dw[i] = floats(nw);
        if (cpu_conv_adds(c[i]))
            memcpy(dx[i], x, nx * sizeof *x);
        cpu_conv_run(c[i], MC_PASS_FORWARD,
                     &(struct cpu_tensors){.x = x, .weight = weight, .y = y[i], .work = work});
        cpu_conv_run(c[i], MC_PASS_DATA,
                     &(struct cpu_tensors){.x = dx[i], .weight = weight, .y = dy, .work = work});
        cpu_conv_run(c[i], MC_PASS_WEIGHTS,
                     &(struct cpu_tensors){.x = x, .weight = dw[i], .y = dy, .work = work});
        for (enum mc_pass pass = 0; pass < MC_N_PASSES; pass++)
            assert_string_equal(cpu_conv_implementation(c[i], pass), i ? "winograd" : "products");
        cpu_conv_free(c[i]);
    }
    close_to("forward", y[1], y[0], ny);
    close_to("data", dx[1], dx[0], nx);
    close_to("weights", dw[1], dw[0], nw);
    for (size_t i = 0; i < nx; i++)
        assert_true(dx[2][i] == x[i] + dx[1][i]);
    release(0);
}

/* As in a padded batch: images after the valid ones, whose outputs have no gradient, add nothing to
 * the weights' gradient whatever they hold, and get no gradient. Nor do the lanes after the last
 * channel. */
static void masked(int n, int valid, int ic, int side, int oc, int pad)
{
    struct cpu_conv_shape s = shape(n, ic, side, side, oc, pad);
    const size_t b = (size_t)cpu()->k->block, hw = (size_t)(side * side),
                 nw = (size_t)(ic * oc * 9);
    const size_t out = (size_t)(s.oh * s.ow);
    size_t nx, ny;
    float *x = activation((size_t)n, (size_t)ic, hw, 1, &nx), *weight = floats(nw), *dw[2];
    float *dy = activation((size_t)n, (size_t)oc, out, 77, &ny), *dx = floats(nx), *y = floats(ny);
    const size_t x_valid = nx / (size_t)n * (size_t)valid, y_valid = ny / (size_t)n * (size_t)valid;
    struct mc_error err = {0};

    for (enum mc_pass pass = 0; pass < MC_N_PASSES; pass++)
        s.algorithm[pass] = CPU_WINOGRAD;
    for (size_t i = 0; i < nw; i++)
        weight[i] = noise(i + 5) / (float)ic;
    memset(dy + y_valid, 0, (ny - y_valid) * sizeof *dy);
    for (int i = 0; i < 2; i++) { /* with the masked images, and without them */
        struct cpu_conv *c = NULL;
        s.n = i ? valid : n;
        ok(cpu_conv_new(cpu(), &s, &c, &err), &err);
        void *work = floats(cpu_conv_work(c) / sizeof(float));
        memset(work, 0x7f, cpu_conv_work(c));
        dw[i] = floats(nw);
        cpu_conv_run(c, MC_PASS_WEIGHTS,
                     &(struct cpu_tensors){.x = x, .weight = dw[i], .y = dy, .work = work});
        if (!i) {
            cpu_conv_run(c, MC_PASS_FORWARD,
                         &(struct cpu_tensors){.x = x, .weight = weight, .y = y, .work = work});
            cpu_conv_run(c, MC_PASS_DATA,
                         &(struct cpu_tensors){.x = dx, .weight = weight, .y = dy, .work = work});
        }
        cpu_conv_free(c);
    }
    close_to("weights, masked", dw[0], dw[1], nw);
    for (size_t i = x_valid; i < nx; i++)
        assert_true(dx[i] == 0);
    for (size_t i = 0; i < nx; i++)
        assert_true(i / b / hw % (nx / (size_t)n / hw / b) * b + i % b < (size_t)ic || dx[i] == 0);
    for (size_t i = 0; i < ny; i++)
        assert_true(i / b / out % (ny / (size_t)n / out / b) * b + i % b < (size_t)oc || y[i] == 0);
    release(0);
}

static void masked_images_add_nothing(void **state)
{
    (void)state;

    for (int threads = 1; threads <= 3; threads += 2) {
        open_cpu(threads);
        masked(5, 3, 20, 7, 19, 1);
        masked(4, 1, 16, 10, 24, 0);
        be->close(be);
    }
}

static unsigned draw(unsigned n)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

/* Any shape, with much, little or no work per thread. */
static void random_shapes(void **state)
{
    (void)state;

    for (int threads = 1; threads <= 3; threads++) {
        open_cpu(threads);
        for (int i = 0; i < (is_slow() ? 3 : 25); i++) {
            const int pad = (int)draw(3), low = pad ? 1 : 3;
            compare(1 + (int)draw(5), 1 + (int)draw(40), low + (int)draw((unsigned)(15 - low)),
                    low + (int)draw((unsigned)(15 - low)), 1 + (int)draw(40), pad);
        }
        be->close(be);
    }
}

/* get() reports an error of oneDNN that occurred while a plan ran. */
static void failure_is_reported(void **state)
{
    (void)state;
    struct mc_error err = {0};
    float x = 0;

    open_cpu(1);
    struct mc_buf *b = buf(sizeof x, NULL);
    fetch(b, &x, sizeof x);
    cpu_check(cpu(), dnnl_runtime_error);
    cpu_check(cpu(), dnnl_success);
    assert_int_equal(be->get(be, b, 0, &x, sizeof x, &err), MC_EFAIL);
    assert_non_null(strstr(err.text, "oneDNN"));
    stop(NULL);
}

static void shapes_of_all_kinds(void **state)
{
    (void)state;

    for (int threads = 1; threads <= 3; threads++) {
        open_cpu(threads);
        compare(3, 16, 12, 12, 16, 1);
        compare(2, 20, 7, 10, 40, 1);
        compare(5, 32, 8, 8, 24, 0);
        compare(2, 8, 5, 6, 16, 2);
        compare(1, 64, 3, 70, 16, 1);
        be->close(be);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_of_all_kinds),
        cmocka_unit_test(masked_images_add_nothing),
        cmocka_unit_test(random_shapes),
        cmocka_unit_test(failure_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
