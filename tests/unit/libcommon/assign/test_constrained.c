/* SPDX-License-Identifier: Apache-2.0
 *
 * Constrained assignment compared with every permutation of small groups; its bound compared with
 * the dual at many multipliers; cases at the edge of the constraint. */

#include "libcommon/assign/constrained.h"
#include "tests/unit/must.h"

#define SMALL 7

static uint64_t drawn;

static double uniform(void) /* splitmix64 */
{
    uint64_t z = drawn += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Relation of the two matrices: independent, opposed, with ties, or with an identity that is hard
 * to match. */
enum drawing { INDEPENDENT, OPPOSED, INTEGERS, ALIGNED, N_DRAWINGS };

static void draw(enum drawing how, size_t n, double *value, double *constraint)
{
    for (size_t i = 0; i < n * n; i++) {
        value[i] = how == INTEGERS ? floor(4 * uniform()) : -uniform();
        constraint[i] = how == INTEGERS  ? floor(4 * uniform())
                        : how == OPPOSED ? -value[i] + .3 * uniform()
                                         : -uniform();
        if (how == ALIGNED && i % (n + 1) == 0)
            constraint[i] *= .2;
    }
}

static double total(size_t n, const double *x, const int32_t *col)
{
    long double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i * n + (size_t)col[i]];
    return (double)sum;
}

static double slack(size_t n, const double *x, const int32_t *col)
{
    long double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (long double)x[i * n + (size_t)col[i]] - x[i * n + i];
    return (double)sum;
}

static void must_be_permutation(size_t n, const int32_t *col)
{
    char *seen = calloc(n, 1);

    assert_non_null(seen);
    for (size_t i = 0; i < n; i++) {
        assert_true(col[i] >= 0 && (size_t)col[i] < n && !seen[col[i]]);
        seen[col[i]] = 1;
    }
    free(seen);
}

/* The maximum over all permutations of col[at..n), without the constraint (*unbound) and with it
 * (*bound). */
static void every(size_t n, size_t at, int32_t *col, const double *value, const double *constraint,
                  double *unbound, double *bound)
{
    if (at == n) {
        double v = total(n, value, col);
        *unbound = fmax(*unbound, v);
        if (slack(n, constraint, col) >= 0)
            *bound = fmax(*bound, v);
        return;
    }
    for (size_t k = at; k < n; k++) {
        int32_t x = col[at];
        col[at] = col[k];
        col[k] = x;
        every(n, at + 1, col, value, constraint, unbound, bound);
        col[k] = col[at];
        col[at] = x;
    }
}

TEST(result_agrees_with_search_of_every_permutation)
{
    static const char *const names[] = {"independent", "opposed", "integers", "aligned"};
    double value[SMALL * SMALL], constraint[SMALL * SMALL];

    for (enum drawing how = 0; how < N_DRAWINGS; how++) {
        int binding = 0, best = 0, proved = 0;
        double shortfall = 0, gaps = 0;
        for (drawn = 1000 * (how + 1); drawn < 1000 * (how + 1) + 200; drawn++) {
            uint64_t seed = drawn;
            size_t n = 2 + seed % (SMALL - 1);
            struct mc_constrained c;
            int32_t col[SMALL], all[SMALL];
            double unbound = -INFINITY, bound = -INFINITY;

            draw(how, n, value, constraint);
            drawn = seed;
            for (size_t i = 0; i < n; i++)
                all[i] = (int32_t)i;
            every(n, 0, all, value, constraint, &unbound, &bound);
            must(mc_assign_constrained(n, value, constraint, col, &c, &why));
            must_be_permutation(n, col);
            assert_true(slack(n, constraint, col) >= 0);
            assert_true(fabs(c.slack - slack(n, constraint, col)) < 1e-12);
            assert_true(fabs(c.found.value - total(n, value, col)) < 1e-12);
            assert_true(fabs(c.free_value - unbound) < 1e-12);
            /* the gap is honest: result <= optimum <= bound */
            assert_true(c.found.value <= bound + 1e-12);
            assert_true(bound <= c.found.bound + 1e-12);
            assert_true(c.found.gap >= 0);
            assert_true(fabs(c.found.bound - c.found.value - c.found.gap) < 1e-12);
            assert_true(c.found.bound <= unbound + 1e-12);
            assert_true(c.multiplier > 0 || fabs(c.found.value - c.free_value) < 1e-12);
            binding += c.free_slack < 0;
            best += c.found.value > bound - 1e-12;
            proved += c.found.gap < 1e-12;
            shortfall += bound - c.found.value;
            gaps += c.found.gap;
        }
        print_message("# %s: constraint binding in %d of 200; optimal in %d, proven in %d; "
                      "mean shortfall %.2g, mean gap %.2g\n",
                      names[how], binding, best, proved, shortfall / 200, gaps / 200);
        assert_in_range(binding, 10, 200);
        assert_in_range(best, how == OPPOSED ? 120 : 170, 200);
    }
}

/* The maximum of value + m constraint, minus m times the identity's constraint. For any m it bounds
 * all permutations that satisfy the constraint. */
static double dual(size_t n, const double *value, const double *constraint, double m)
{
    double *mixed = malloc(n * n * sizeof *mixed), at_identity = 0;
    int32_t *col = malloc(n * sizeof *col);
    struct mc_assignment info;

    assert_true(mixed && col);
    for (size_t i = 0; i < n * n; i++)
        mixed[i] = value[i] + m * constraint[i];
    for (size_t i = 0; i < n; i++)
        at_identity += constraint[i * n + i];
    must(mc_assign_max(n, mixed, col, &info, &why));
    free(mixed);
    free(col);
    return info.bound - m * at_identity;
}

TEST(bound_is_the_minimum_of_the_dual)
{
    enum { N = 90 };
    double *value = malloc(N * N * sizeof *value), *constraint = malloc(N * N * sizeof *value);
    int32_t col[N];

    assert_true(value && constraint);
    for (enum drawing how = 0; how < N_DRAWINGS; how++) {
        struct mc_constrained c;
        drawn = 77;
        draw(how, N, value, constraint);
        must(mc_assign_constrained(N, value, constraint, col, &c, &why));
        must_be_permutation(N, col);
        assert_true(slack(N, constraint, col) >= 0);
        double least = dual(N, value, constraint, 0);
        for (double m = 1. / 64; m < 1000; m *= 1.07)
            least = fmin(least, dual(N, value, constraint, m));
        assert_true(least >= c.found.bound - 1e-10);
        assert_true(fabs(dual(N, value, constraint, c.multiplier) - c.found.bound) < 1e-10);
        print_message("# %d units: multiplier %.4g, value %.6g, gap %.2g, unconstrained %.6g\n", N,
                      c.multiplier, c.found.value, c.found.gap, c.free_value);
        assert_true(c.found.gap <= .03 * (c.free_value - c.found.value) + 1e-10);
    }
    free(constraint);
    free(value);
}

TEST(constraint_that_does_not_bind_changes_nothing)
{
    enum { N = 70 };
    double *value = malloc(N * N * sizeof *value), *constraint = malloc(N * N * sizeof *value);
    int32_t col[N], unbound[N];
    struct mc_assignment plain;
    struct mc_constrained c;

    assert_true(value && constraint);
    drawn = 5;
    draw(INDEPENDENT, N, value, constraint);
    for (size_t i = 0; i < N; i++)
        constraint[i * N + i] = -2; /* any permutation is better */
    must(mc_assign_max(N, value, unbound, &plain, &why));
    must(mc_assign_constrained(N, value, constraint, col, &c, &why));
    assert_memory_equal(col, unbound, sizeof col);
    assert_memory_equal(&c.found, &plain, offsetof(struct mc_assignment, kept));
    assert_true(c.multiplier == 0 && c.slack > 0 && c.slack == c.free_slack);
    free(constraint);
    free(value);
}

TEST(identity_if_nothing_else_is_allowed)
{
    enum { N = 40 };
    double *value = malloc(N * N * sizeof *value), *constraint = malloc(N * N * sizeof *value);
    int32_t col[N];
    struct mc_constrained c;

    assert_true(value && constraint);
    drawn = 6;
    draw(INDEPENDENT, N, value, constraint);
    for (size_t i = 0; i < N; i++)
        constraint[i * N + i] = 0; /* any other permutation is worse */
    must(mc_assign_constrained(N, value, constraint, col, &c, &why));
    for (size_t i = 0; i < N; i++)
        assert_int_equal(col[i], i);
    assert_true(c.slack == 0);
    assert_true(c.found.gap < 1e-9); /* a large multiplier proves it */
    assert_true(c.free_value > c.found.value && c.free_slack < 0);
    free(constraint);
    free(value);
}

/* One ulp decides: float64 sums of 0.1 and 0.3 would accept a violation or refuse an equal sum. */
TEST(constraint_is_exact_to_the_last_bit)
{
    const double value[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0};
    double constraint[9] = {.1, .3, 0, 0, .2, .1, .2, 0, .3}; /* a cycle has the same entries */
    int32_t col[3];
    struct mc_constrained c;

    must(mc_assign_constrained(3, value, constraint, col, &c, &why));
    assert_int_equal(col[0], 1);
    assert_int_equal(col[1], 2);
    assert_int_equal(col[2], 0);
    assert_true(c.slack == 0 && c.multiplier == 0);
    constraint[1] = nextafter(.3, 0);
    must(mc_assign_constrained(3, value, constraint, col, &c, &why));
    assert_int_equal(col[0], 0);
    assert_true(c.slack >= 0 && c.free_slack < 0 && c.free_slack > -1e-15);
}

TEST(values_that_are_not_finite_are_refused)
{
    double value[4] = {0, 1, 1, 0}, constraint[4] = {0, INFINITY, 0, 0};
    int32_t col[2];

    must_fail(mc_assign_constrained(2, value, constraint, col, NULL, &why), MC_EINPUT,
              "constraint");
    constraint[1] = 0;
    must(mc_assign_constrained(2, value, constraint, col, NULL, &why));
    assert_int_equal(col[0], 1);
    value[2] = NAN;
    must_fail(mc_assign_constrained(2, value, constraint, col, NULL, &why), MC_EINPUT, "");
    /* finite, but value + m constraint is not: the identity, and an honest bound */
    const double v[4] = {0, 1, 1, 0}, c[4] = {0, -1e-320, -1e-320, 0};
    struct mc_constrained info;
    must(mc_assign_constrained(2, v, c, col, &info, &why));
    assert_int_equal(col[0], 0);
    assert_true(info.found.value == 0 && info.found.bound <= 2 && info.slack == 0);
}

int main(void)
{
    return run_entered(NULL, NULL);
}
