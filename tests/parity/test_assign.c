/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares assignments with SciPy's optimal values (assign_golden.tsv). For values that span many
 * orders of magnitude, compares with the optimum in exact rationals (assign_wide_golden.tsv). Both
 * files are made by make_assign_golden.py. */
#include "libcommon/assign/assign.h"
#include "libcommon/base/sum.h"
#include "tests/parity/assign_matrices.h"
#include "tests/parity/assign_wide_matrices.h"
#include "tests/parity/golden.h"

static void check(const char *kind_name, size_t n, uint64_t seed, double expected)
{
    double *value = assign_matrix(assign_kind_named(kind_name), n, seed);
    int32_t *col = malloc(n * sizeof *col);
    char *seen = calloc(n, 1);
    assert_true(value && col && seen);

    struct mc_assignment info;
    struct mc_error err = {0};
    assert_int_equal(mc_assign_max(n, value, col, &info, &err), 0);

    double sum = 0, tolerance = (double)n * 0x1p-48;
    for (size_t i = 0; i < n; i++) {
        assert_in_range(col[i], 0, n - 1);
        assert_false(seen[col[i]]++);
        sum += value[i * n + (size_t)col[i]];
    }
    if (fabs(sum - expected) > tolerance || fabs(info.value - sum) > tolerance || info.gap < 0 ||
        info.gap > tolerance || info.bound < expected - tolerance)
        fail_msg("%s n=%zu seed %llu: value %.17g (sum %.17g), gap %g, SciPy %.17g", kind_name, n,
                 (unsigned long long)seed, info.value, sum, info.gap, expected);
    free(value);
    free(col);
    free(seen);
}

static void test_values_equal_scipys(void **state)
{
    (void)state;
    char kind[32];
    FILE *f = golden_open("assign_golden.tsv");
    size_t n, largest = 0, count = 0;
    unsigned long long seed;
    double expected;
    assert_int_equal(fscanf(f, "%*[^\n]"), 0); /* the header */
    while (fscanf(f, "%31s %zu %llu %lf", kind, &n, &seed, &expected) == 4) {
        check(kind, n, seed, expected);
        largest = n > largest ? n : largest;
        count++;
    }
    assert_true(feof(f));
    fclose(f);
    assert_int_equal(count, 1001);
    assert_int_equal(largest, 2048);
}

enum { WIDEST = 70 };

/* Each instruction set gives the same assignment. Its value is optimal to 1e-9 u per row. */
static void check_wide(const char *kind, size_t n, uint64_t seed, double u, const int32_t *best)
{
    static const char *const isas[] = {"avx2", "portable"};
    double *value = assign_wide_matrix(kind, n, seed);
    int32_t col[2][WIDEST];
    struct mc_assignment info[2];
    struct mc_error err = {0};

    assert_non_null(value);
    for (size_t s = 0; s < 2; s++) {
        struct mc_sum short_of = {0, 0};
        char seen[WIDEST] = {0};
        memset(&info[s], 0, sizeof info[s]);
        setenv("MC_ISA", isas[s], 1);
        assert_int_equal(mc_assign_max(n, value, col[s], &info[s], &err), 0);
        for (size_t i = 0; i < n; i++) {
            assert_in_range(col[s][i], 0, n - 1);
            assert_false(seen[col[s][i]]++);
            if (col[s][i] == best[i])
                continue;
            mc_sum_add(&short_of, value[i * n + (size_t)best[i]]);
            mc_sum_add(&short_of, -value[i * n + (size_t)col[s][i]]);
        }
        const double most = (double)n * 1e-9 * u, by = mc_sum_value(short_of);
        if (!(by >= 0 && by <= most && info[s].gap >= by / 2 && info[s].gap <= most &&
              info[s].n_ties <= n))
            fail_msg("%s n=%zu seed %llu by %s: %g short of the best, gap %g, more than %g", kind,
                     n, (unsigned long long)seed, isas[s], by, info[s].gap, most);
    }
    assert_memory_equal(col[0], col[1], n * sizeof **col);
    assert_memory_equal(&info[0], &info[1], offsetof(struct mc_assignment, kept));
    free(value);
}

static void test_wide_values_are_worth_the_best(void **state)
{
    (void)state;
    char kind[32], list[8 * WIDEST];
    FILE *f = golden_open("assign_wide_golden.tsv");
    size_t n, count = 0;
    unsigned long long seed;
    double u;
    assert_int_equal(fscanf(f, "%*[^\n]"), 0); /* the header */
    while (fscanf(f, "%31s %zu %llu %lf %559s", kind, &n, &seed, &u, list) == 5) {
        int32_t best[WIDEST];
        size_t read = 0;
        for (char *at = strtok(list, ","); at && read < WIDEST; at = strtok(NULL, ","))
            best[read++] = (int32_t)strtol(at, NULL, 10);
        assert_true(n == read);
        check_wide(kind, n, seed, u, best);
        count++;
    }
    assert_true(feof(f));
    fclose(f);
    assert_int_equal(count, 56);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values_equal_scipys),
                                       cmocka_unit_test(test_wide_values_are_worth_the_best)};

    return cmocka_run_group_tests_name("assign_scipy", tests, NULL, NULL);
}
