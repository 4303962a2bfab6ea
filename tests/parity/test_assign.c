/* SPDX-License-Identifier: Apache-2.0
 *
 * Assignments against SciPy's optimal values (assign_golden.tsv, by make_assign_golden.py). */
#include "libcommon/assign/assign.h"
#include "tests/parity/assign_matrices.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values_equal_scipys)};

    return cmocka_run_group_tests_name("assign_scipy", tests, NULL, NULL);
}
