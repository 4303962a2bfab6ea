/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompositions into permutations: each term compared with all matchings for small n, the rebuilt
 * matrix, dropped entries, limited and drawn terms. */

#include "libcommon/assign/assign.h"
#include "tests/unit/libcommon/assign/doubly_stochastic.h"
#include "tests/unit/under.h"
#include "tests/unit/must.h"

static struct mc_birkhoff decompose(size_t n, const double *d, double drop)
{
    struct mc_birkhoff b;

    must(mc_birkhoff_decompose(&b, n, d, drop, &why));
    assert_int_equal(b.n, n);
    return b;
}

static struct mc_birkhoff heaviest(size_t n, const double *d, double drop, size_t most)
{
    struct mc_birkhoff b = decompose(n, d, drop);

    must(mc_birkhoff_heaviest(&b, most, &why));
    return b;
}

/* Check that the ten are the heaviest of all terms, ties in their old order. */
static void check_heaviest(const struct mc_birkhoff *all, const struct mc_birkhoff *ten)
{
    const size_t n = all->n;

    assert_int_equal(ten->n_terms, all->n_terms < 10 ? all->n_terms : 10);
    for (size_t k = 0; k < all->n_terms; k++) {
        size_t before = 0;
        for (size_t i = 0; i < all->n_terms; i++)
            before += all->alpha[i] > all->alpha[k] || (all->alpha[i] == all->alpha[k] && i < k);
        if (before >= ten->n_terms)
            continue;
        assert_true(ten->alpha[before] == all->alpha[k]);
        assert_memory_equal(ten->perm + before * n, all->perm + k * n, n * sizeof *all->perm);
    }
}

/* The maximum sum of a perfect matching on the remaining entries of x; -INFINITY if there is
 * none. */
static double best_matching(size_t n, const double *x, double drop, size_t row, unsigned used)
{
    double best = row == n ? 0 : -INFINITY;

    for (size_t j = 0; row < n && j < n; j++)
        if (!(used >> j & 1u) && x[row * n + j] > 0 && x[row * n + j] >= drop)
            best = fmax(best, x[row * n + j] + best_matching(n, x, drop, row + 1, used | 1u << j));
    return best;
}

/* 1 if the remaining entries have a perfect matching, found as an assignment of zeros and ones. */
static int matchable(size_t n, const double *x, double drop)
{
    double *ones = room(n);
    int32_t *col = malloc(n * sizeof *col);
    struct mc_assignment info;

    assert_non_null(col);
    for (size_t k = 0; k < n * n; k++)
        ones[k] = x[k] > 0 && x[k] >= drop;
    must(mc_assign_max(n, ones, col, &info, &why));
    free(ones);
    free(col);
    return info.value > (double)n - .5;
}

/* Subtract the terms from d one by one. Each must be a permutation of remaining entries with its
 * smallest entry as weight; for small n, the best one. */
static void subtract_terms(const struct mc_birkhoff *b, double *d, double drop)
{
    const size_t n = b->n;
    char *used = malloc(n);

    assert_non_null(used);
    for (size_t k = 0; k < b->n_terms; k++) {
        double least = INFINITY, sum = 0;
        double best = n <= 6 ? best_matching(n, d, drop, 0, 0) : 0;
        memset(used, 0, n);
        for (size_t i = 0; i < n; i++) {
            size_t j = (size_t)b->perm[k * n + i];
            assert_true(j < n && !used[j]++);
            assert_true(d[i * n + j] > 0 && d[i * n + j] >= drop);
            least = fmin(least, d[i * n + j]);
            sum += d[i * n + j];
        }
        if (n <= 6)
            assert_true(fabs(sum - best) < 1e-12);
        assert_true(b->alpha[k] == least);
        for (size_t i = 0; i < n; i++)
            d[i * n + (size_t)b->perm[k * n + i]] -= b->alpha[k];
    }
    free(used);
}

/* 40 permutations with random weights, so that a large matrix has few entries. */
static double *combination(size_t n)
{
    enum { TERMS = 40 };
    double *d = room(n), all = 0;
    size_t *perm = malloc(n * sizeof *perm);

    assert_non_null(perm);
    for (size_t k = 0; k < TERMS; k++)
        all += uniform(77, k);
    for (size_t k = 0; k < n * n; k++)
        d[k] = 0;
    for (size_t t = 0; t < TERMS; t++) {
        for (size_t i = 0; i < n; i++)
            perm[i] = i;
        for (size_t i = n; i > 1; i--) {
            size_t j = assign_draw(100 + t, i) % i, swap = perm[i - 1];
            perm[i - 1] = perm[j];
            perm[j] = swap;
        }
        for (size_t i = 0; i < n; i++)
            d[i * n + perm[i]] += uniform(77, t) / all;
    }
    free(perm);
    project(n, d, MANY_SWEEPS, 1e-13);
    return d;
}

TEST(terms_rebuild_the_matrix)
{
    const size_t sizes[] = {1, 2, 5, 16, 64, 256};
    const size_t n_sizes = is_slow() ? 4 : 6;
    size_t equal = 0;

    for (int kind = 0; kind < KINDS; kind++)
        for (size_t s = 0; s < n_sizes; s++) {
            const size_t n = sizes[s];
            if (n >= 64 && kind != NOISY_PERMUTATION)
                continue;
            double *d = n == 256 ? combination(n) : converged(kind, n, 1e-13), *left = copy(n, d);
            struct mc_birkhoff all = decompose(n, d, 0), ten = heaviest(n, d, 0, 10);
            double sum = 0;
            size_t entries = 0;

            for (size_t k = 0; k < n * n; k++)
                entries += d[k] > 0;
            for (size_t k = 0; k < all.n_terms; k++)
                sum += all.alpha[k];
            subtract_terms(&all, left, 0);
            for (size_t k = 0; k < n * n; k++)
                assert_true(fabs(left[k]) < 1e-6);
            assert_true(fabs(sum - 1) < 1e-6);
            assert_true(all.n_terms > 0 && all.n_terms <= entries);
            assert_false(matchable(n, left, 0));

            check_heaviest(&all, &ten);

            int32_t *col = malloc(n * sizeof *col);
            int positive = 1;
            assert_non_null(col);
            must(mc_assign_max(n, d, col, NULL, &why));
            for (size_t i = 0; i < n; i++)
                positive &= d[i * n + (size_t)col[i]] > 0;
            if (positive)
                assert_memory_equal(all.perm, col, n * sizeof *col);
            equal += (size_t)positive;
            print_message("# %s, n %zu: %zu terms of %zu entries%s\n",
                          n == 256 ? "combination" : kind_names[kind], n, all.n_terms, entries,
                          positive ? "" : "; the best assignment uses other entries");
            free(col);
            free(d);
            free(left);
            mc_birkhoff_release(&all);
            mc_birkhoff_release(&ten);
        }
    assert_true(equal >= 6);
}

TEST(dropped_entries_are_not_matched)
{
    const double drops[] = {5e-4, .02, .1};

    for (int kind = 0; kind < KINDS; kind++)
        for (size_t n = 2; n <= 11; n += 3)
            for (size_t i = 0; i < 3; i++) {
                double *d = converged(kind, n, 1e-13);
                struct mc_birkhoff b = decompose(n, d, drops[i]);
                for (size_t k = 0; k < b.n_terms; k++)
                    assert_true(b.alpha[k] >= drops[i]);
                subtract_terms(&b, d, drops[i]);
                assert_false(matchable(n, d, drops[i]));
                mc_birkhoff_release(&b);
                free(d);
            }
}

/* The identity has value 3 but contains a zero. Without a zero the maximum is 2.75. */
TEST(zeros_are_not_matched_even_if_worth_more)
{
    enum { N = 5 };
    double d[N * N];
    int32_t col[N];
    struct mc_assignment info;

    for (size_t k = 0; k < N * N; k++)
        d[k] = !k || (k / N && k % N) ? .75 * (k && k / N == k % N) : .25;
    must(mc_assign_max(N, d, col, &info, &why));
    assert_true(info.value == 3);
    struct mc_birkhoff b = decompose(N, d, 0);
    assert_int_equal(b.n_terms, 4);
    for (size_t k = 0; k < 4; k++)
        assert_true(b.alpha[k] == .25);
    subtract_terms(&b, d, 0);
    for (size_t k = 0; k < N * N; k++)
        assert_true(d[k] == 0);
    mc_birkhoff_release(&b);
}

TEST(no_matching_returns_no_terms)
{
    double none[9] = {0}, negative[4] = {-1, -2, -3, -4};
    double blocked[9] = {0, 0, 1, 0, 0, 1, 1, 1, 1}, small[4] = {.6, .4, .4, .6};
    struct mc_birkhoff b;

    const struct {
        size_t n;
        const double *d;
        double drop;
    } cases[] = {{3, none, 0}, {2, negative, 0}, {3, blocked, 0}, {2, small, .7}};
    for (size_t i = 0; i < 4; i++) {
        b = decompose(cases[i].n, cases[i].d, cases[i].drop);
        assert_int_equal(b.n_terms, 0);
        mc_birkhoff_release(&b);
    }
    b = decompose(2, small, .5);
    assert_int_equal(b.n_terms, 1);
    mc_birkhoff_release(&b);
    must_fail(mc_birkhoff_decompose(&b, (size_t)1 << 40, none, 0, &why), MC_ENOMEM, "");
    mc_birkhoff_release(&b);
}

TEST(draws_follow_the_weights)
{
    enum { DRAWS = 20000 };
    double *d = converged(NOISY_PERMUTATION, 16, 1e-13), sum = 0;
    struct mc_birkhoff b = heaviest(16, d, 5e-4, 10);
    size_t count[10] = {0};

    assert_int_equal(b.n_terms, 10);
    for (size_t k = 0; k < 10; k++)
        sum += b.alpha[k];
    for (size_t k = 0; k < DRAWS; k++) {
        size_t term = mc_birkhoff_draw(&b, uniform(5, k));
        assert_true(term < 10);
        count[term]++;
    }
    for (size_t k = 0; k < 10; k++) {
        double share = b.alpha[k] / sum, off = (double)count[k] / DRAWS - share;
        assert_true(fabs(off) <= 4 * sqrt(share * (1 - share) / DRAWS));
    }
    assert_int_equal(mc_birkhoff_draw(&b, 0), 0);
    assert_int_equal(mc_birkhoff_draw(&b, 1 - 0x1p-53), 9);
    assert_int_equal(mc_birkhoff_draw(&b, b.alpha[0] / sum * .999), 0);
    assert_int_equal(mc_birkhoff_draw(&b, b.alpha[0] / sum * 1.001), 1);
    mc_birkhoff_release(&b);
    free(d);
}

TEST(values_that_are_not_finite_are_refused)
{
    const double bad[] = {NAN, INFINITY, -INFINITY};
    struct mc_birkhoff b;

    for (size_t n = 1; n <= 9; n += 4)
        for (size_t k = 0; k < n * n; k++)
            for (int i = 0; i < 3; i++) {
                double *d = start(NEAR_UNIFORM, n);
                d[k] = bad[i];
                must_fail(mc_birkhoff_decompose(&b, n, d, 0, &why), MC_EINPUT, "");
                mc_birkhoff_release(&b);
                free(d);
            }
}

int main(void)
{
    return run_entered(NULL, NULL);
}
