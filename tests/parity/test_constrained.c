/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares constrained assignments with HiGHS's optima (constrained_golden.tsv, made by
 * make_constrained_golden.py): the value is at most the exact optimum and not far below it, and the
 * bound is the linear programme's. */
#include "libcommon/assign/constrained.h"
#include "tests/parity/assign_matrices.h"
#include "tests/parity/golden.h"

struct tally {
    size_t cases, best;
    double shortfall, gap; /* sums, relative to the optimum */
};

static void check(const char *kind, size_t n, uint64_t seed, double exact, double relaxed,
                  struct tally *tally)
{
    double *value = assign_matrix(ASSIGN_UNIFORM, n, seed);
    double *constraint = assign_matrix(ASSIGN_UNIFORM, n, seed + 1);
    int32_t *col = malloc(n * sizeof *col);
    long double slack = 0, sum = 0;
    struct mc_constrained info;
    struct mc_error err = {0};

    assert_true(value && constraint && col);
    for (size_t i = 0; i < n * n; i++)
        if (!strcmp(kind, "opposed"))
            constraint[i] = constraint[i] / 4 - value[i];
        else if (i % (n + 1) == 0)
            constraint[i] += .5;
    assert_int_equal(mc_assign_constrained(n, value, constraint, col, &info, &err), 0);
    for (size_t i = 0; i < n; i++) {
        slack += (long double)constraint[i * n + (size_t)col[i]] - constraint[i * n + i];
        sum += value[i * n + (size_t)col[i]];
    }
    if (slack < 0 || fabs((double)sum - info.found.value) > 1e-12 || sum > exact + 1e-12 ||
        fabs(info.found.bound - relaxed) > 1e-6)
        fail_msg("%s n=%zu seed %llu: value %.17g, bound %.17g, slack %Lg; HiGHS %.17g, %.17g",
                 kind, n, (unsigned long long)seed, info.found.value, info.found.bound, slack,
                 exact, relaxed);
    tally->cases++;
    tally->best += sum > exact - 1e-12;
    tally->shortfall += (exact - info.found.value) / exact;
    tally->gap += info.found.gap / exact;
    free(value);
    free(constraint);
    free(col);
}

static void optima_are_highss(void **unused)
{
    char kind[32];
    struct tally tally = {0};
    unsigned long long seed;
    double exact, relaxed;
    size_t n;

    (void)unused;
    FILE *f = golden_open("constrained_golden.tsv");
    assert_int_equal(fscanf(f, "%*[^\n]"), 0); /* the header */
    while (fscanf(f, "%31s %zu %llu %lf %lf", kind, &n, &seed, &exact, &relaxed) == 5)
        check(kind, n, seed, exact, relaxed, &tally);
    fclose(f);
    print_message(
        "# the best permutation in %zu of %zu; mean shortfall %.2g, mean gap %.2g of it\n",
        tally.best, tally.cases, tally.shortfall / (double)tally.cases,
        tally.gap / (double)tally.cases);
    assert_int_equal(tally.cases, 42);
    assert_true(tally.best >= 20);
    assert_true(tally.shortfall < .01 * (double)tally.cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(optima_are_highss)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
