/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares correlations and L2 distances with NumPy's for the same activations
 * (correlation_golden.tsv, which make_correlation_golden.py makes and describes). */
#include "kernels/backend.h"
#include "tests/parity/assign_matrices.h"
#include "tests/parity/golden.h"
#include "tools/align/correlation.h"
#include "tools/align/raw_moments.h"

#define IMAGES 60
#define TAPS 3

static const struct {
    size_t group, K, pixels;
    int add;
} shapes[TAPS] = {{0, 16, 64, 0}, {0, 16, 1, 30}, {1, 33, 25, 1000}};

static float cut(int64_t v, int add)
{
    return (float)((v > 0 ? v : 0) + add) / 128;
}

static void activations(size_t tap, float *x, float *y)
{
    const size_t K = shapes[tap].K, hw = shapes[tap].pixels;

    for (size_t s = 0; s < IMAGES; s++)
        for (size_t i = 0; i < K; i++)
            for (size_t p = 0; p < hw; p++) {
                size_t at = (s * K + i) * hw + p, twin = (s * K + K - 1 - i) * hw + p;
                int64_t a = (int64_t)(assign_draw(2 * tap, at) % 2001) - 900;
                int64_t b = (int64_t)(assign_draw(2 * tap, twin) % 2001) - 900 +
                            (int64_t)(assign_draw(2 * tap + 1, at) % 3001) - 1500;
                x[at] = i == 3 ? 0 : cut(a, shapes[tap].add);
                y[at] = i == 5 ? 777.f / 128 : cut(b, shapes[tap].add);
            }
}

static void count(struct mc_moments *m, struct mc_error *err)
{
    struct mc_group groups[2] = {{.name = "p", .size = 16, .outer = MC_NO_GROUP},
                                 {.name = "q", .size = 33, .outer = MC_NO_GROUP}};
    struct mc_tap_info taps[TAPS];
    const struct mc_taps all = {
        .place = "post", .n_groups = 2, .n_taps = TAPS, .groups = groups, .taps = taps};

    for (size_t i = 0; i < TAPS; i++) {
        taps[i] = (struct mc_tap_info){"", shapes[i].group, 0, shapes[i].K, 0};
        taps[i].name[0] = (char)('0' + i);
    }
    const struct mc_backend_opts opts = {.device = "cpu", .threads = 2};
    struct mc_backend *be;
    assert_int_equal(mc_backend_open(&be, &opts, err), 0);
    assert_int_equal(mc_moments_init(m, &all, err), 0);
    for (size_t i = 0; i < TAPS; i++) {
        size_t n = IMAGES * shapes[i].K * shapes[i].pixels;
        float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
        assert_true(x && y);
        activations(i, x, y);
        const struct mc_raw_batch batch = {i, IMAGES, shapes[i].pixels, x, y};
        assert_int_equal(mc_joint_moments_batch(m, be, &batch, err), 0);
        free(x);
        free(y);
    }
    be->close(be);
}

/* The largest difference between the matrices and a column of the golden table, relative to 1 + the
 * entry. */
static double compare(const struct mc_matrices *m, int column)
{
    char line[200], group;
    size_t i, j, lines = 0;
    double want[2], worst = 0;

    FILE *f = golden_open("correlation_golden.tsv");
    assert_non_null(fgets(line, sizeof line, f));
    for (; fgets(line, sizeof line, f); lines++) {
        assert_int_equal(sscanf(line, "%c\t%zu\t%zu\t%lf\t%lf", &group, &i, &j, &want[0], &want[1]),
                         5);
        const struct mc_matrix *g = &m->matrices[group - 'p'];
        assert_true(i < g->n && j < g->n);
        double value = column ? -g->value[i * g->n + j] : g->value[i * g->n + j];
        worst = fmax(worst, fabs(value - want[column]) / (1 + fabs(want[column])));
    }
    fclose(f);
    assert_int_equal(lines, 16 * 16 + 33 * 33);
    print_message("# largest difference from NumPy: %.2g\n", worst);
    return worst;
}

/* Compares one measure with column 0 or 1 of the golden table. */
static void matrices_are_numpys(enum mc_measure measure, int column, double bound)
{
    struct mc_error err = {0};
    struct mc_moments m = {0};
    struct mc_matrices out = {0};

    count(&m, &err);
    assert_int_equal(mc_corr_matrices(&out, &m, measure, &err), 0);
    assert_true(compare(&out, column) <= bound);
    if (measure == MC_MEASURE_CORRELATION) {
        assert_int_equal(out.matrices[1].n_dead_a, 1);
        assert_int_equal(out.matrices[1].dead_a[0], 3);
        assert_int_equal(out.matrices[1].dead_b[0], 5);
    }
    mc_matrices_release(&out);
    mc_moments_release(&m);
}

static void correlations_are_numpys(void **unused)
{
    (void)unused;
    matrices_are_numpys(MC_MEASURE_CORRELATION, 0, 1e-6);
}

static void distances_are_numpys(void **unused)
{
    (void)unused;
    matrices_are_numpys(MC_MEASURE_L2, 1, 3e-6); /* sums of 60 samples */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(correlations_are_numpys),
                                       cmocka_unit_test(distances_are_numpys)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
