/* SPDX-License-Identifier: Apache-2.0
 *
 * Projection to doubly stochastic matrices, compared with its formula on every instruction set and
 * with the nearest point, which an assignment certifies. */

#include "libcommon/assign/assign.h"
#include "tests/unit/libcommon/assign/doubly_stochastic.h"
#include "tests/unit/under.h"
#include "tests/unit/must.h"

static double distance(size_t n, const double *x, const double *y)
{
    double sum = 0;

    for (size_t k = 0; k < n * n; k++)
        sum += (x[k] - y[k]) * (x[k] - y[k]);
    return sqrt(sum);
}

static double farthest(size_t n, const double *x, const double *y)
{
    double most = 0;

    for (size_t k = 0; k < n * n; k++)
        most = fmax(most, fabs(x[k] - y[k]));
    return most;
}

/* The maximum |row sum - 1| or |column sum - 1|, or NaN if one is NaN. */
static double residual_of(size_t n, const double *p)
{
    double worst = 0;
    int is_nan = 0;

    for (size_t i = 0; i < n; i++) {
        double row = -1, col = -1;
        for (size_t j = 0; j < n; j++) {
            row += p[i * n + j];
            col += p[j * n + i];
        }
        worst = fmax(worst, fmax(fabs(row), fabs(col)));
        is_nan |= isnan(row);
    }
    return is_nan ? NAN : worst;
}

TEST(any_matrix_becomes_doubly_stochastic)
{
    const size_t sizes[] = {1, 2, 3, 16, 64, 256};
    const size_t n_sizes = is_slow() ? 4 : 6;

    for (int kind = 0; kind < KINDS; kind++)
        for (size_t s = 0; s < n_sizes; s++) {
            const size_t n = sizes[s];
            double *p = start(kind, n);
            double before = project(n, p, 0, 0).residual;
            struct mc_doubly_stochastic few = project(n, p, 20, 0);
            assert_true(few.sweeps <= 20 && few.residual <= before);
            assert_true(fabs(residual_of(n, p) - few.residual) < 1e-12);

            free(p);
            p = start(kind, n);
            struct mc_doubly_stochastic all = project(n, p, MANY_SWEEPS, 1e-9);
            print_message("# %s, n %zu: residual %.2g, after 20 sweeps %.2g, %.2g after %zu\n",
                          kind_names[kind], n, before, few.residual, all.residual, all.sweeps);
            for (size_t k = 0; k < n * n; k++)
                assert_true(p[k] >= 0 && p[k] <= 1 + 1e-6);
            assert_true(residual_of(n, p) <= 1e-6);
            free(p);
        }
}

/* The header's formula: the nearest matrix with row and column sums of 1. */
static void towards_sums(size_t n, double *p)
{
    double *row = calloc(n, sizeof *row), *col = calloc(n, sizeof *col), all = 0;
    double size = (double)n;

    assert_true(row && col);
    for (size_t k = 0; k < n * n; k++) {
        row[k / n] += p[k];
        col[k % n] += p[k];
        all += p[k];
    }
    for (size_t k = 0; k < n * n; k++)
        p[k] =
            p[k] - (row[k / n] - 1) / size - (col[k % n] - 1) / size + (all - size) / (size * size);
    free(row);
    free(col);
}

static void towards_positive(size_t n, double *p)
{
    for (size_t k = 0; k < n * n; k++)
        p[k] = fmax(0, p[k]);
}

TEST(sweeps_match_the_formula)
{
    const size_t sizes[] = {1, 2, 3, 7, 8, 9, 16, 65}, counts[] = {0, 1, 2, 20};

    for (int kind = 0; kind < KINDS; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
                const size_t n = sizes[s];
                double *p = start(kind, n), *q = copy(n, p);
                project(n, p, counts[c], 0);
                for (size_t k = 0; k < counts[c]; k++) {
                    towards_positive(n, q);
                    towards_sums(n, q);
                }
                towards_positive(n, q);
                if (farthest(n, p, q) > 1e-12)
                    fail_msg("%s, n %zu: %zu sweeps differ by %g", kind_names[kind], n, counts[c],
                             farthest(n, p, q));
                free(p);
                free(q);
            }
}

TEST(instruction_sets_return_the_same_bits)
{
    const char *isa = getenv("MC_ISA");
    char *old = isa ? strdup(isa) : NULL;

    for (size_t n = 1; n <= 67; n += 11) {
        double *p = start(WIDE, n), *portable = copy(n, p), *avx2 = copy(n, p);
        setenv("MC_ISA", "portable", 1);
        project(n, portable, 30, 0);
        setenv("MC_ISA", "avx2", 1);
        project(n, avx2, 30, 0);
        unsetenv("MC_ISA");
        project(n, p, 30, 0);
        assert_memory_equal(p, portable, n * n * sizeof *p);
        assert_memory_equal(p, avx2, n * n * sizeof *p);
        free(p);
        free(portable);
        free(avx2);
    }
    if (old)
        setenv("MC_ISA", old, 1);
    free(old);
}

TEST(tolerance_ends_at_the_first_sweep_within_it)
{
    const size_t n = 16;

    for (int kind = 0; kind < KINDS; kind++) {
        double *p = start(kind, n), *same = copy(n, p), *before = copy(n, p);
        struct mc_doubly_stochastic info = project(n, p, MANY_SWEEPS, 1e-5), again, one_less;
        assert_true(info.sweeps > 0 && info.sweeps < MANY_SWEEPS);
        again = project(n, same, info.sweeps, 0);
        one_less = project(n, before, info.sweeps - 1, 0);
        assert_memory_equal(p, same, n * n * sizeof *p);
        assert_int_equal(again.sweeps, info.sweeps);
        assert_true(again.residual == info.residual && info.residual <= 1e-5);
        assert_true(one_less.residual > 1e-5);
        free(p);
        free(same);
        free(before);
    }
}

TEST(doubly_stochastic_matrices_are_unchanged)
{
    for (size_t n = 1; n <= 64; n *= 4) {
        double *p = planted(n), *same = copy(n, p);
        struct mc_doubly_stochastic info = project(n, p, 20, 0);
        assert_memory_equal(p, same, n * n * sizeof *p);
        assert_true(info.sweeps == 0 && info.residual == 0);
        assert_true(residual_of(n, p) == 0);
        free(p);
        free(same);

        p = converged(NOISY_PERMUTATION, n, 1e-13);
        same = copy(n, p);
        project(n, p, 20, 0);
        assert_true(farthest(n, p, same) < 1e-12);
        free(p);
        free(same);
    }
    double one = -7;
    project(1, &one, 20, 0);
    assert_true(one == 1);
}

TEST(values_that_are_not_finite_are_refused)
{
    const double bad[] = {NAN, INFINITY};

    for (size_t n = 1; n <= 19; n += 6)
        for (size_t k = 0; k < n * n; k++)
            for (int i = 0; i < 2; i++) {
                double *p = start(NEAR_UNIFORM, n);
                p[k] = bad[i];
                double residual = residual_of(n, p);
                assert_true(i ? isinf(residual) : isnan(residual));
                must_fail(mc_doubly_stochastic_project(n, p, k % 3, 0, NULL, &why), MC_EINPUT, "");
                free(p);
            }
}

static double dot(size_t n, const double *x, const double *y)
{
    double sum = 0;

    for (size_t k = 0; k < n * n; k++)
        sum += x[k] * y[k];
    return sum;
}

/* The nearest doubly stochastic matrix: the same two projections with Dykstra's correction for
 * max(0, .). The linear projection needs none. */
static void dykstra(size_t n, double *x, double tolerance)
{
    double *shift = room(n), *last = room(n);

    for (size_t k = 0; k < n * n; k++)
        shift[k] = 0;
    do {
        memcpy(last, x, n * n * sizeof *x);
        towards_sums(n, x);
        for (size_t k = 0; k < n * n; k++) {
            double y = x[k] + shift[k];
            x[k] = fmax(0, y);
            shift[k] = y - x[k];
        }
    } while (farthest(n, x, last) > tolerance || residual_of(n, x) > tolerance);
    free(shift);
    free(last);
}

/* z is the doubly stochastic matrix nearest to s if and only if <s - z, P - z> <= 0 for all
 * permutations P. These are the corners of the set; mc_assign_max finds their maximum. */
static void certify_nearest(size_t n, const double *s, const double *z)
{
    double *toward = room(n);
    int32_t *col = malloc(n * sizeof *col);
    struct mc_assignment info;

    assert_non_null(col);
    for (size_t k = 0; k < n * n; k++)
        toward[k] = s[k] - z[k];
    must(mc_assign_max(n, toward, col, &info, &why));
    double excess = info.bound - dot(n, toward, z);
    if (!(excess < 1e-7 * (double)n))
        fail_msg("n %zu: not the nearest matrix: a permutation exceeds it by %g", n, excess);
    free(toward);
    free(col);
}

TEST(alternation_is_not_nearer_than_the_nearest)
{
    const size_t sizes[] = {1, 2, 3, 16, 64};
    const size_t n_sizes = is_slow() ? 3 : 5;
    size_t farther = 0;

    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < n_sizes; i++) {
            const size_t n = sizes[i];
            double *s = start(kind, n), *nearest = copy(n, s);
            double *result = converged(kind, n, 1e-11);
            dykstra(n, nearest, 1e-10);
            certify_nearest(n, s, nearest);
            double far = distance(n, result, s), near = distance(n, nearest, s);
            print_message("# %s, n %zu: alternation ends at %.6g, nearest %.6g, %.2g between\n",
                          kind_names[kind], n, far, near, distance(n, result, nearest));
            assert_true(near <= far + 1e-8);
            farther += far > near + 1e-6;
            free(s);
            free(nearest);
            free(result);
        }
    assert_true(farther > 0); /* as the header says */
}

int main(void)
{
    return run_entered(NULL, NULL);
}
