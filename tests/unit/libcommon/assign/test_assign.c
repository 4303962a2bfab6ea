/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear assignment on every instruction set of this machine. Results are compared with all
 * permutations for n <= 7 and with a plain Hungarian algorithm in long double above. Also the
 * certificate, ties, dead units, scales, matrices that the coarse grid cannot resolve, and equal
 * permutations on all instruction sets. */

#include "libcommon/assign/assign.h"
#include "tests/parity/assign_matrices.h"
#include "tests/unit/must.h"

#include <float.h>

enum { MANY = 300 };

static const char *const isas[] = {"avx2", "portable"};
enum { ISAS = 2 };

static int solve_with(const char *isa, size_t n, const double *value, int32_t *col,
                      struct mc_assignment *info, struct mc_error *err)
{
    setenv("MC_ISA", isa, 1);
    return mc_assign_max(n, value, col, info, err);
}

static double uniform(uint64_t seed, size_t k)
{
    return (double)assign_draw(seed, k) * 0x1p-53;
}

static double best_of_all(size_t n, const double *value, size_t row, unsigned used)
{
    if (row == n)
        return 0;
    double best = -INFINITY;
    for (size_t j = 0; j < n; j++)
        if (!(used >> j & 1u))
            best = fmax(best, value[row * n + j] + best_of_all(n, value, row + 1, used | 1u << j));
    return best;
}

/* The textbook O(n^3) algorithm with potentials, row by row. */
static double hungarian(size_t n, const double *value)
{
    long double *u = calloc(n + 1, sizeof *u), *v = calloc(n + 1, sizeof *v);
    long double *least = malloc((n + 1) * sizeof *least), total = 0;
    size_t *row = calloc(n + 1, sizeof *row), *way = calloc(n + 1, sizeof *way);
    char *used = malloc(n + 1);

    assert_true(u && v && least && row && way && used);
    for (size_t i = 1; i <= n; i++) {
        size_t j0 = 0;
        row[0] = i;
        for (size_t j = 0; j <= n; j++) {
            least[j] = INFINITY;
            used[j] = 0;
        }
        do {
            size_t i0 = row[j0], j1 = 0;
            long double delta = INFINITY;
            used[j0] = 1;
            for (size_t j = 1; j <= n; j++) {
                if (used[j])
                    continue;
                long double c = -(long double)value[(i0 - 1) * n + j - 1] - u[i0] - v[j];
                if (c < least[j]) {
                    least[j] = c;
                    way[j] = j0;
                }
                if (least[j] < delta) {
                    delta = least[j];
                    j1 = j;
                }
            }
            for (size_t j = 0; j <= n; j++) {
                if (used[j]) {
                    u[row[j]] += delta;
                    v[j] -= delta;
                } else {
                    least[j] -= delta;
                }
            }
            j0 = j1;
        } while (row[j0]);
        do {
            size_t j1 = way[j0];
            row[j0] = row[j1];
            j0 = j1;
        } while (j0);
    }
    for (size_t j = 1; j <= n; j++)
        total += (long double)value[(row[j] - 1) * n + j - 1];
    free(u);
    free(v);
    free(least);
    free(row);
    free(way);
    free(used);
    return (double)total;
}

/* The bound on the gap that the header promises. *of_sums: by how much two plain sums may
 * differ. */
static double rounding(size_t n, const double *value, double *of_sums)
{
    double range = 0, most = 0;

    for (size_t i = 0; i < n; i++) {
        double lo = value[i * n], hi = lo;
        for (size_t j = 0; j < n; j++) {
            lo = fmin(lo, value[i * n + j]);
            hi = fmax(hi, value[i * n + j]);
        }
        range = fmax(range, hi - lo);
        most = fmax(most, fmax(fabs(lo), fabs(hi)));
    }
    *of_sums = (double)n * (0x1p-48 * range + 0x1p-50 * most);
    return (double)n * 0x1p-48 * fmax(range, most / 16);
}

/* Solve on every instruction set and write the permutation to col (may be NULL). */
static struct mc_assignment solve(size_t n, const double *value, double expected, int32_t *col)
{
    int32_t first[MANY], found[MANY];
    struct mc_assignment info = {0}, info0 = {0};

    assert_true(n <= MANY);
    for (size_t s = 0; s < ISAS; s++) {
        char used[MANY] = {0};
        double sum = 0;
        must(solve_with(isas[s], n, value, found, &info, &why));
        for (size_t i = 0; i < n; i++) {
            assert_in_range(found[i], 0, n - 1);
            assert_false(used[found[i]]++);
            sum += value[i * n + (size_t)found[i]];
        }
        double of_sums, tolerance = rounding(n, value, &of_sums);
        if (!(fabs(sum - expected) <= of_sums && fabs(info.value - sum) <= of_sums &&
              info.gap >= 0 && info.gap <= tolerance && info.bound >= expected - of_sums &&
              info.n_ties <= n))
            fail_msg(
                "%s, n=%zu: value %.17g, sum %.17g, bound %.17g, gap %g over %g, optimum %.17g",
                isas[s], n, info.value, sum, info.bound, info.gap, tolerance, expected);
        if (!s) {
            memcpy(first, found, n * sizeof *found);
            info0 = info;
        }
        assert_memory_equal(first, found, n * sizeof *found);
        assert_memory_equal(&info0, &info, sizeof info);
    }
    if (col)
        memcpy(col, first, n * sizeof *col);
    return info0;
}

TEST(test_small_matrices_against_all_permutations)
{
    double value[49];

    for (uint64_t seed = 0; seed < 400; seed++)
        for (size_t n = 1; n <= (seed < 40 ? 7 : 6); n++) {
            for (size_t k = 0; k < n * n; k++) {
                double x = uniform(seed, k);
                switch (seed % 5) {
                case 0: /* reals of both signs */
                    value[k] = x - .5;
                    break;
                case 1: /* ties */
                    value[k] = floor(x * 3);
                    break;
                case 2: /* dead rows and columns */
                    value[k] = k / n % 3 == 1 || k % n % 4 == 2 ? 0 : x - .3;
                    break;
                case 3: /* constant rows except the first */
                    value[k] = k / n ? (double)(k / n) : x;
                    break;
                default: /* far from zero, negative */
                    value[k] = x - 1e6;
                }
            }
            solve(n, value, best_of_all(n, value, 0, 0), NULL);
        }
}

TEST(test_larger_matrices_against_the_hungarian_algorithm)
{
    for (uint64_t seed = 0; seed < 120; seed++) {
        size_t n = 8 + (size_t)seed * 29 % 125;
        double *value = assign_matrix((enum assign_kind)(seed % ASSIGN_KINDS), n, seed);
        assert_non_null(value);
        solve(n, value, hungarian(n, value), NULL);
        free(value);
    }
}

/* Sizes around the ends of paths and vectors. */
TEST(test_every_size_near_a_border)
{
    const size_t sizes[] = {15, 16, 17, 31, 32, 33, 63, 64, 65, 66, 79, 80, 81, 127, 128, 129, 257};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double *value = assign_matrix(ASSIGN_CORRELATION, sizes[s], s);
        assert_non_null(value);
        solve(sizes[s], value, hungarian(sizes[s], value), NULL);
        free(value);
    }
}

/* The coarse grid has 26 bits of the maximum range and cannot resolve these values. */
TEST(test_wide_ranges)
{
    double *value = malloc(MANY * MANY * sizeof *value);

    assert_non_null(value);
    for (uint64_t seed = 0; seed < 24; seed++) {
        size_t n = seed & 1 ? 40 : 120;
        for (size_t k = 0; k < n * n; k++) {
            double x = uniform(seed, k);
            switch (seed % 4) {
            case 0: /* one outlier hides all other values */
                value[k] = k == 17 ? 1e9 : x;
                break;
            case 1:
                value[k] = exp(40 * x);
                break;
            case 2: /* equal on the coarse grid, different on the fine one */
                value[k] = floor(x * 4) + 0x1p-40 * floor(256 * uniform(seed + 99, k));
                break;
            default:
                value[k] = (double)(k / n) * (double)(k % n) + x * 1e-7;
            }
        }
        solve(n, value, hungarian(n, value), NULL);
    }
    free(value);
}

TEST(test_scales)
{
    const double scales[] = {0x1p1000, 0x1p1023, 0x1p-960, 1e300, 1e-280, 1e-5, 3e8};
    const size_t n = 90;
    int32_t at_one[90], col[90];
    double *one = assign_matrix(ASSIGN_CORRELATION, n, 5), value[90 * 90];

    assert_non_null(one);
    solve(n, one, hungarian(n, one), at_one);
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
        struct mc_assignment info;
        double exact = 0;
        for (size_t k = 0; k < n * n; k++)
            value[k] = one[k] * scales[s];
        for (size_t i = 0; i < n; i++)
            exact += one[i * n + (size_t)at_one[i]];
        for (size_t a = 0; a < ISAS; a++) {
            must(solve_with(isas[a], n, value, col, &info, &why));
            assert_memory_equal(col, at_one, sizeof col);
            if (exact * scales[s] <= DBL_MAX)
                assert_true(fabs(info.value / scales[s] - exact) < 1e-12);
        }
    }
    /* the limits of a double */
    const double ends[9] = {-DBL_MAX, DBL_MAX, 0, DBL_MAX, -DBL_MAX, 1, 0, 1, -DBL_MAX};
    struct mc_assignment info;
    assert_int_equal(mc_assign_max(3, ends, col, &info, NULL), 0);
    assert_true(col[0] == 1 && col[1] == 0 && col[2] == 2);
    free(one);
}

TEST(test_constant_matrix_gives_the_identity)
{
    const size_t sizes[] = {1, 2, 7, 64, 65, 100};
    const double constants[] = {0, -3.7, 1e308, 5e-324};
    double *value = malloc(100 * 100 * sizeof *value);
    int32_t col[100];

    assert_non_null(value);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t c = 0; c < sizeof constants / sizeof *constants; c++) {
            size_t n = sizes[s];
            for (size_t k = 0; k < n * n; k++)
                value[k] = constants[c];
            struct mc_assignment info;
            for (size_t a = 0; a < ISAS; a++) {
                assert_int_equal(solve_with(isas[a], n, value, col, &info, NULL), 0);
                for (size_t i = 0; i < n; i++)
                    assert_int_equal(col[i], i);
                assert_int_equal(info.n_ties, n > 1 ? n : 0);
            }
        }
    free(value);
}

/* Ties are exactly the rows that another optimum matches differently, however many tight entries
 * the dual has. */
TEST(test_ties_are_counted_by_trying_each_row)
{
    size_t tied = 0, untied = 0;

    for (uint64_t seed = 0; seed < 200; seed++) {
        size_t n = 2 + (size_t)seed % 5, ties = 0;
        double value[36], without[36];
        int32_t col[6];
        for (size_t k = 0; k < n * n; k++)
            value[k] = seed % 2 ? floor(uniform(seed, k) * 5) : uniform(seed, k);
        double best = best_of_all(n, value, 0, 0);
        struct mc_assignment info = solve(n, value, best, col);
        for (size_t i = 0; i < n; i++) {
            memcpy(without, value, sizeof value);
            without[i * n + (size_t)col[i]] = -1000;
            ties += best_of_all(n, without, 0, 0) > best - 1e-9;
        }
        assert_int_equal(info.n_ties, ties);
        tied += ties > 0;
        untied += ties == 0;
    }
    assert_true(tied > 20 && untied > 20);
}

/* Two rows that could exchange columns at a loss are a tie only if the loss is rounding. */
TEST(test_near_ties_count_only_within_rounding)
{
    const size_t n = 70;
    double *value = calloc(n * n, sizeof *value);

    assert_non_null(value);
    for (size_t i = 0; i < n; i++)
        value[i * n + i] = 1;
    value[2] = value[2 * n] = .75;
    value[0] = value[2 * n + 2] = .75 + 1e-9;
    assert_int_equal(solve(n, value, (double)n - .5 + 2e-9, NULL).n_ties, 0);
    value[0] = value[2 * n + 2] = .75 + 0x1p-52;
    assert_int_equal(solve(n, value, (double)n - .5, NULL).n_ties, 2);
    free(value);
}

TEST(test_dead_units_match_dead_units)
{
    const size_t n = 96, dead = 5;
    double *value = malloc(n * n * sizeof *value);
    int32_t col[96];

    assert_non_null(value);
    for (size_t k = 0; k < n * n; k++)
        value[k] = k / n < dead || k % n < dead ? 0 : .1 + .8 * uniform(3, k);
    struct mc_assignment info = solve(n, value, hungarian(n, value), col);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(i < dead, (size_t)col[i] < dead);
    assert_int_equal(info.n_ties, dead);
    free(value);
}

TEST(test_planted_permutation_is_found)
{
    for (size_t n = 2; n <= 290; n += 36) {
        double *value = malloc(n * n * sizeof *value);
        int32_t col[MANY];
        assert_non_null(value);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                value[i * n + j] = (j + i + 1) % n ? .9 * uniform(n, i * n + j) : 1;
        struct mc_assignment info = solve(n, value, (double)n, col);
        for (size_t i = 0; i < n; i++)
            assert_int_equal((col[i] + (int32_t)i + 1) % (int32_t)n, 0);
        assert_int_equal(info.n_ties, 0);
        free(value);
    }
}

TEST(test_values_that_are_not_finite_are_refused)
{
    const double bad[] = {NAN, INFINITY, -INFINITY};
    double value[19 * 19] = {0};
    int32_t col[19];

    for (size_t n = 1; n <= 19; n += 6)
        for (size_t k = 0; k < n * n; k++)
            for (size_t b = 0; b < 3; b++)
                for (size_t s = 0; s < ISAS; s++) {
                    char row[32];
                    snprintf(row, sizeof row, "row %zu ", k / n);
                    value[k] = bad[b];
                    must_fail(solve_with(isas[s], n, value, col, NULL, &why), MC_EINPUT, row);
                    value[k] = 0;
                }
}

TEST(test_no_memory_for_absurd_sizes)
{
    must_fail(mc_assign_max((size_t)1 << 40, NULL, NULL, NULL, &why), MC_ENOMEM, "");
    must_fail(mc_assign_max(SIZE_MAX, NULL, NULL, NULL, &why), MC_ENOMEM, "");
    struct mc_assignment info = {.value = 1};
    must(mc_assign_max(0, NULL, NULL, &info, &why));
    assert_true(info.value == 0 && info.gap == 0 && info.n_ties == 0);
}

TEST(test_an_unknown_instruction_set_is_refused)
{
    const double value = 1;
    int32_t col;

    must_fail(solve_with("sse", 1, &value, &col, NULL, &why), MC_EUSAGE,
              "MC_ISA*portable, avx2*avx512 (got 'sse')");
}

int main(void)
{
    return run_entered(NULL, NULL);
}
