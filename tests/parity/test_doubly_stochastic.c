/* SPDX-License-Identifier: Apache-2.0
 *
 * Greedy decompositions of doubly stochastic matrices have the same permutations and weights, in the
 * same order, as those made with SciPy's assignments (doubly_stochastic_golden.tsv, made by
 * make_doubly_stochastic_golden.py). */
#include "libcommon/assign/doubly_stochastic.h"
#include "tests/parity/golden.h"

#include <math.h>

enum { MOST = 16 };

static void check(FILE *f, size_t n, double drop, size_t n_terms)
{
    double d[MOST * MOST], alpha, next = 0;
    struct mc_birkhoff b;
    struct mc_error err;
    int32_t col;

    assert_in_range(n, 1, MOST);
    for (size_t k = 0; k < n * n; k++)
        assert_int_equal(fscanf(f, "%lf", &d[k]), 1);
    assert_int_equal(mc_birkhoff_decompose(&b, n, d, drop, &err), 0);
    assert_true(b.n_terms >= n_terms);
    for (size_t k = 0; k < n_terms; k++) {
        assert_int_equal(fscanf(f, "%lf", &alpha), 1);
        if (!(fabs(b.alpha[k] - alpha) <= 1e-12))
            fail_msg("n %zu, term %zu: %.17g, SciPy's %.17g", n, k, b.alpha[k], alpha);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(fscanf(f, "%d", &col), 1);
            if (b.perm[k * n + i] != col)
                fail_msg("n %zu, term %zu: row %zu has column %d, SciPy's %d", n, k, i,
                         b.perm[k * n + i], col);
        }
    }
    for (size_t k = n_terms; k < b.n_terms; k++)
        next = fmax(next, b.alpha[k]);
    assert_true(next < 1e-6); /* the script stops there */
    print_message("# n %zu, drop %g: %zu terms, %zu more of rounding\n", n, drop, n_terms,
                  b.n_terms - n_terms);
    mc_birkhoff_release(&b);
}

static void terms_are_scipys(void **unused)
{
    size_t n, n_terms, cases = 0;
    double drop;

    (void)unused;
    FILE *f = golden_open("doubly_stochastic_golden.tsv");
    for (; fscanf(f, " matrix %zu %lf %zu", &n, &drop, &n_terms) == 3; cases++)
        check(f, n, drop, n_terms);
    assert_true(feof(f));
    fclose(f);
    assert_int_equal(cases, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(terms_are_scipys)};

    return cmocka_run_group_tests_name("stochastic_scipy", tests, NULL, NULL);
}
