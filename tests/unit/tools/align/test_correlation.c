/* SPDX-License-Identifier: Apache-2.0
 *
 * Correlations against the textbook formula in long double on the samples; groups with several
 * taps; dead units; the signature. The moments come from mc_joint_moments_batch, which is tested
 * too. */

#include "kernels/backend.h"
#include "tools/align/correlation.h"
#include "tools/align/raw_moments.h"
#include "tests/unit/kernels/open.h"
#include "tests/unit/must.h"

#define TAPS 3

/* Two groups: "p" with 11 units at taps 0 and 1, "q" with 20 units at tap 2. */
struct fixture {
    struct mc_moments m;
    struct mc_tap_info taps[TAPS];
    struct mc_group groups[2];
    double *sums[TAPS];
    float *a[TAPS], *b[TAPS];
    size_t n, hw[TAPS];
};

static struct mc_backend *be;

static int open_backend(int threads)
{
    return mc_backend_open(&be, &(struct mc_backend_opts){.device = "cpu", .threads = threads},
                           NULL);
}

static uint64_t rng_state = 1;

static double uniform(void) /* splitmix64 */
{
    uint64_t z = rng_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static float *samples(size_t n, size_t K, size_t hw, const float *like, double mean)
{
    float *x = malloc(n * K * hw * sizeof *x);

    assert_non_null(x);
    for (size_t i = 0; i < n * K * hw; i++) {
        double v = uniform() - .3 + (like ? .5 * (double)like[i] : 0);
        x[i] = (float)(v < 0 ? mean : v + mean);
    }
    return x;
}

static void make(struct fixture *f, double mean)
{
    const size_t counts[TAPS] = {11, 11, 20}, hw[TAPS] = {49, 1, 300};

    memset(f, 0, sizeof *f);
    rng_state = 1;
    f->n = 37;
    f->groups[0] = (struct mc_group){.name = "p", .size = 11, .outer = MC_NO_GROUP};
    f->groups[1] = (struct mc_group){.name = "q", .size = 20, .outer = MC_NO_GROUP};
    f->m.taps = (struct mc_taps){
        .place = "post", .n_groups = 2, .n_taps = TAPS, .groups = f->groups, .taps = f->taps};
    f->m.sums = f->sums;
    for (size_t i = 0; i < TAPS; i++) {
        f->taps[i] = (struct mc_tap_info){"", i == 2, 0, counts[i], 0};
        f->taps[i].name[0] = (char)('0' + i);
        f->hw[i] = hw[i];
        f->sums[i] = calloc(MC_MOMENTS_SIZE(counts[i]), sizeof **f->sums);
        assert_non_null(f->sums[i]);
        f->a[i] = samples(f->n, counts[i], hw[i], NULL, mean);
        f->b[i] = samples(f->n, counts[i], hw[i], f->a[i], mean);
    }
}

static void set_unit(float *x, size_t n, size_t K, size_t hw, size_t unit, float value)
{
    for (size_t i = 0; i < n; i++)
        for (size_t p = 0; p < hw; p++)
            x[(i * K + unit) * hw + p] = value;
}

static void count(struct fixture *f)
{
    for (size_t i = 0; i < TAPS; i++) {
        size_t K = f->taps[i].count, half = f->n / 2, at = half * K * f->hw[i];
        const struct mc_raw_batch first = {i, half, f->hw[i], f->a[i], f->b[i]};
        const struct mc_raw_batch rest = {i, f->n - half, f->hw[i], f->a[i] + at, f->b[i] + at};
        must(mc_joint_moments_batch(&f->m, be, &first, &why));
        must(mc_joint_moments_batch(&f->m, be, &rest, &why));
        assert_int_equal(f->taps[i].samples, f->n * f->hw[i]);
    }
}

static void clear(struct fixture *f)
{
    for (size_t i = 0; i < TAPS; i++) {
        free(f->sums[i]);
        free(f->a[i]);
        free(f->b[i]);
    }
}

/* Correlation coefficient of unit i of a and j of b: two passes, long double. */
static double reference(const struct fixture *f, size_t tap, size_t i, size_t j)
{
    size_t K = f->taps[tap].count, hw = f->hw[tap];
    long double n = (long double)(f->n * hw), ma = 0, mb = 0, ab = 0, aa = 0, bb = 0;

    for (int pass = 0; pass < 2; pass++)
        for (size_t s = 0; s < f->n; s++)
            for (size_t p = 0; p < hw; p++) {
                long double x = f->a[tap][(s * K + i) * hw + p];
                long double y = f->b[tap][(s * K + j) * hw + p];
                if (pass == 0) {
                    ma += x / n;
                    mb += y / n;
                } else {
                    ab += (x - ma) * (y - mb);
                    aa += (x - ma) * (x - ma);
                    bb += (y - mb) * (y - mb);
                }
            }
    return (double)(ab / sqrtl(aa * bb));
}

/* Mean of (x - y)^2, long double. */
static double distance(const struct fixture *f, size_t tap, size_t i, size_t j)
{
    size_t K = f->taps[tap].count, hw = f->hw[tap];
    long double n = (long double)(f->n * hw), sum = 0;

    for (size_t s = 0; s < f->n; s++)
        for (size_t p = 0; p < hw; p++) {
            long double x = f->a[tap][(s * K + i) * hw + p];
            long double y = f->b[tap][(s * K + j) * hw + p];
            sum += (x - y) * (x - y);
        }
    return (double)(sum / n);
}

static void check_matrices(double mean, double tolerance)
{
    struct fixture f;
    struct mc_matrices out = {0};

    make(&f, mean);
    count(&f);
    must(mc_corr_matrices(&out, &f.m, MC_MEASURE_CORRELATION, &why));
    assert_int_equal(out.n_groups, 2);
    assert_string_equal(out.measure, "correlation");
    assert_string_equal(out.place, "post");
    for (size_t g = 0; g < 2; g++) {
        size_t K = out.groups[g].size;
        assert_int_equal(K, f.groups[g].size);
        assert_int_equal(out.matrices[g].taps, g == 0 ? 2 : 1);
        assert_int_equal(out.matrices[g].n_dead_a + out.matrices[g].n_dead_b, 0);
        for (size_t i = 0; i < K; i++)
            for (size_t j = 0; j < K; j++) {
                double want = g ? reference(&f, 2, i, j)
                                : (reference(&f, 0, i, j) + reference(&f, 1, i, j)) / 2;
                assert_true(fabs(out.matrices[g].value[i * K + j] - want) <= tolerance);
            }
        assert_true(out.matrices[g].value[0] > .3); /* the samples do correlate */
    }
    mc_matrices_release(&out);
    clear(&f);
}

TEST(matrices_agree_with_two_passes)
{
    check_matrices(0, 1e-6);
}

TEST(matrices_stay_accurate_with_large_means)
{
    check_matrices(300, 1e-6);
}

TEST(dead_units_correlate_zero_and_are_listed)
{
    struct fixture f;
    struct mc_matrices out = {0};

    make(&f, 0);
    set_unit(f.a[2], f.n, 20, f.hw[2], 3, 0);     /* never fires */
    set_unit(f.a[2], f.n, 20, f.hw[2], 7, 12.3f); /* constant: its variance is rounding */
    set_unit(f.b[2], f.n, 20, f.hw[2], 5, 0);
    for (size_t i = 0; i < f.n * f.hw[2]; i++) /* almost 0, but not constant */
        f.b[2][(i / f.hw[2] * 20 + 6) * f.hw[2] + i % f.hw[2]] *= 1e-7f;
    set_unit(f.a[0], f.n, 11, f.hw[0], 2, 0); /* dead at one of two taps: half a correlation */
    count(&f);
    must(mc_corr_matrices(&out, &f.m, MC_MEASURE_CORRELATION, &why));
    const struct mc_matrix *p = &out.matrices[0], *q = &out.matrices[1];
    assert_int_equal(p->n_dead_a, 0);
    for (size_t j = 0; j < 11; j++)
        assert_true(fabs(p->value[2 * 11 + j] - reference(&f, 1, 2, j) / 2) <= 1e-6);
    assert_int_equal(q->n_dead_a, 2);
    assert_int_equal(q->dead_a[0], 3);
    assert_int_equal(q->dead_a[1], 7);
    assert_int_equal(q->n_dead_b, 2);
    assert_int_equal(q->dead_b[0], 5);
    assert_int_equal(q->dead_b[1], 6);
    for (size_t i = 0; i < 20; i++)
        for (size_t j = 0; j < 20; j++)
            assert_true((q->value[i * 20 + j] == 0) == (i == 3 || i == 7 || j == 5 || j == 6));
    mc_matrices_release(&out);
    clear(&f);
}

TEST(rarely_active_unit_is_alive)
{
    struct fixture f;
    struct mc_matrices out = {0};

    make(&f, 0);
    set_unit(f.b[2], f.n, 20, f.hw[2], 6, 0);
    f.b[2][(5 * 20 + 6) * f.hw[2] + 17] = .7f; /* active at one pixel of one image */
    count(&f);
    must(mc_corr_matrices(&out, &f.m, MC_MEASURE_CORRELATION, &why));
    assert_int_equal(out.matrices[1].n_dead_b, 0);
    assert_true(fabs(out.matrices[1].value[6] - reference(&f, 2, 0, 6)) <= 1e-6);
    mc_matrices_release(&out);
    clear(&f);
}

TEST(taps_may_contain_part_of_a_group)
{
    struct fixture f;
    struct mc_matrices out = {0};

    make(&f, 0);
    count(&f);
    /* group q has 31 units: tap 1 contains units 0-10, tap 2 units 11-30 */
    f.groups[1].size = 31;
    f.taps[1].group = 1;
    f.taps[2].start = 11;
    must(mc_corr_matrices(&out, &f.m, MC_MEASURE_CORRELATION, &why));
    const double *q = out.matrices[1].value;
    for (size_t i = 0; i < 31; i++)
        for (size_t j = 0; j < 31; j++) {
            double want = i < 11 && j < 11     ? reference(&f, 1, i, j)
                          : i >= 11 && j >= 11 ? reference(&f, 2, i - 11, j - 11)
                                               : 0;
            assert_true(fabs(q[i * 31 + j] - want) <= 1e-6);
        }
    mc_matrices_release(&out);
    f.groups[1].size = 32; /* no tap contains the last unit */
    must_fail(mc_corr_matrices(&out, &f.m, MC_MEASURE_CORRELATION, &why), MC_EINPUT, "unit 31");
    mc_matrices_release(&out);
    f.groups[1].size = 1u << 24; /* refused before its square is allocated */
    must_fail(mc_corr_matrices(&out, &f.m, MC_MEASURE_CORRELATION, &why), MC_EINPUT,
              "group q: no tap observes unit 31");
    f.groups[1].size = 31;
    f.taps[2].start = 12; /* a gap between two taps */
    f.groups[1].size = 32;
    must_fail(mc_corr_matrices(&out, &f.m, MC_MEASURE_CORRELATION, &why), MC_EINPUT, "unit 11");
    f.taps[2].start = 11;
    f.groups[1].size = 30; /* a tap extends past the group */
    must_fail(mc_corr_matrices(&out, &f.m, MC_MEASURE_CORRELATION, &why), MC_EINPUT, "");
    mc_matrices_release(&out);
    clear(&f);
}

TEST(l2_is_the_mean_squared_distance_uncentred_and_unscaled)
{
    struct fixture f;
    struct mc_matrices out = {0};

    make(&f, 3);
    set_unit(f.a[2], f.n, 20, f.hw[2], 3, 0); /* dead units have distances too */
    set_unit(f.b[2], f.n, 20, f.hw[2], 5, 2);
    set_unit(f.b[2], f.n, 20, f.hw[2], 6, 0);
    strcpy(f.m.taps.place, "pre");
    count(&f);
    must(mc_corr_matrices(&out, &f.m, MC_MEASURE_L2, &why));
    assert_string_equal(out.measure, "l2");
    assert_string_equal(out.place, "pre");
    for (size_t g = 0; g < 2; g++) {
        size_t K = out.groups[g].size;
        assert_int_equal(out.matrices[g].taps, g == 0 ? 2 : 1);
        assert_int_equal(out.matrices[g].n_dead_a + out.matrices[g].n_dead_b, 0);
        for (size_t i = 0; i < K; i++)
            for (size_t j = 0; j < K; j++) {
                double want =
                    g ? distance(&f, 2, i, j) : (distance(&f, 0, i, j) + distance(&f, 1, i, j)) / 2;
                assert_true(fabs(out.matrices[g].value[i * K + j] + want) <= 1e-6 * (1 + want));
            }
    }
    assert_true(out.matrices[1].value[3 * 20 + 5] == -4);
    assert_true(out.matrices[1].value[3 * 20 + 6] == 0);
    assert_false(signbit(out.matrices[1].value[3 * 20 + 6])); /* as in files of other programs */
    mc_matrices_release(&out);
    clear(&f);
}

TEST(l2_is_never_negative_with_large_means)
{
    struct fixture f;
    struct mc_matrices out = {0};

    make(&f, 1000);
    for (size_t t = 0; t < TAPS; t++)
        memcpy(f.b[t], f.a[t], f.n * f.taps[t].count * f.hw[t] * sizeof(float));
    count(&f);
    must(mc_corr_matrices(&out, &f.m, MC_MEASURE_L2, &why));
    for (size_t i = 0; i < 20; i++)
        for (size_t j = 0; j < 20; j++) {
            double d = -out.matrices[1].value[i * 20 + j], want = distance(&f, 2, i, j);
            assert_true(d >= 0 && fabs(d - want) <= 1e-6);
        }
    mc_matrices_release(&out);
    clear(&f);
}

TEST(l2_requires_a_tap_for_every_pair)
{
    struct fixture f;
    struct mc_matrices out = {0};

    make(&f, 0);
    count(&f);
    f.taps[1].group = 1;
    f.groups[1].size = 31; /* units 0-10 at tap 1, 11-30 at tap 2: none contains 0 and 11 */
    f.taps[2].start = 11;
    must_fail(mc_corr_matrices(&out, &f.m, MC_MEASURE_L2, &why), MC_EINPUT,
              "group q: no tap contains both unit 0*unit 11");
    mc_matrices_release(&out);
    f.groups[1].size = 20; /* overlapping units get the mean, others their single value */
    f.taps[2].start = 0;
    f.taps[1].start = 9;
    must(mc_corr_matrices(&out, &f.m, MC_MEASURE_L2, &why));
    const double *q = out.matrices[1].value;
    assert_true(fabs(q[8 * 20 + 9] + distance(&f, 2, 8, 9)) <= 1e-6);
    assert_true(fabs(q[9 * 20 + 19] + (distance(&f, 2, 9, 19) + distance(&f, 1, 0, 10)) / 2) <=
                1e-6);
    mc_matrices_release(&out);
    clear(&f);
}

TEST(l2_refuses_inconsistent_sums)
{
    struct fixture f;
    struct mc_matrices out = {0};

    make(&f, 0);
    count(&f);
    double *cross = &f.sums[2][4 * 20 + 2 * 20 + 7], keep = *cross;
    *cross = (f.sums[2][40 + 2] + f.sums[2][60 + 7]) / 2 * 1.001; /* a negative distance */
    must_fail(mc_corr_matrices(&out, &f.m, MC_MEASURE_L2, &why), MC_EINPUT, "units 2 and 7");
    mc_matrices_release(&out);
    *cross = keep;
    f.sums[2][40] = 1e308;
    f.sums[2][60] = 1e308; /* finite, but their sum is not */
    must_fail(mc_corr_matrices(&out, &f.m, MC_MEASURE_L2, &why), MC_EINPUT, "units 0 and 0");
    mc_matrices_release(&out);
    clear(&f);
}

/* The largest cross moment that two units' squares allow is a correlation of 1 for any means. A
 * millionth more is inconsistent for every measure. Dead units allow none. */
TEST(cross_moments_are_bounded_by_squares)
{
    const double means[] = {0, 1000};
    struct fixture f;
    struct mc_matrices out = {0};
    struct mc_signature rows[TAPS];

    for (size_t k = 0; k < 2; k++) {
        make(&f, (float)means[k]);
        set_unit(f.a[2], f.n, 20, f.hw[2], 5, (float)means[k]);
        count(&f);
        double *s = f.sums[2], *cross = &s[4 * 20 + 2 * 20 + 7], *dead = &s[4 * 20 + 5 * 20 + 7];
        const double n = (double)f.taps[2].samples, product = s[2] * (s[20 + 7] / n);
        const double limit =
            sqrt((s[40 + 2] - s[2] * (s[2] / n)) * (s[60 + 7] - s[20 + 7] * (s[20 + 7] / n)));
        for (int sign = -1; sign < 2; sign += 2) {
            *cross = product + sign * limit;
            must(mc_corr_matrices(&out, &f.m, MC_MEASURE_CORRELATION, &why));
            assert_true(fabs(out.matrices[1].value[2 * 20 + 7] - sign) <= 1e-9);
            mc_matrices_release(&out);
            must(mc_corr_matrices(&out, &f.m, MC_MEASURE_L2, &why));
            mc_matrices_release(&out);
            *cross += sign * limit * (k ? .1 : 1e-3); /* means of 1000 allow rounding */
            for (enum mc_measure m = 0; m < MC_N_MEASURES; m++) {
                must_fail(mc_corr_matrices(&out, &f.m, m, &why), MC_EINPUT,
                          "units 2 and 7: sums*inconsistent");
                mc_matrices_release(&out);
            }
            must_fail(mc_corr_signature(rows, &f.m, NULL, &why), MC_EINPUT, "units 2 and 7");
        }
        *cross = product;
        *dead += 1e-3 * sqrt(s[40 + 5] * s[60 + 7]) + 1e-3;
        must_fail(mc_corr_signature(rows, &f.m, NULL, &why), MC_EINPUT, "units 5 and 7");
        clear(&f);
    }
}

TEST(inconsistent_sums_are_refused)
{
    struct fixture f;
    struct mc_matrices out = {0};

    make(&f, 0);
    count(&f);
    uint64_t n = f.taps[2].samples;
    f.taps[2].samples = 1;
    must_fail(mc_corr_matrices(&out, &f.m, MC_MEASURE_CORRELATION, &why), MC_EINPUT, "");
    mc_matrices_release(&out);
    f.taps[2].samples = n;
    double keep = f.sums[2][45];
    f.sums[2][45] = -1;
    must_fail(mc_corr_matrices(&out, &f.m, MC_MEASURE_CORRELATION, &why), MC_EINPUT, "");
    mc_matrices_release(&out);
    f.sums[2][45] = keep;
    keep = f.sums[2][0];
    f.sums[2][0] = 1e300; /* finite, but its square is not, and exceeds the sum of squares */
    must_fail(mc_corr_matrices(&out, &f.m, MC_MEASURE_CORRELATION, &why), MC_EINPUT, "unit 0");
    mc_matrices_release(&out);
    f.sums[2][0] = sqrt(f.sums[2][40] * (double)n) * 1.001;
    must_fail(mc_corr_matrices(&out, &f.m, MC_MEASURE_CORRELATION, &why), MC_EINPUT, "");
    mc_matrices_release(&out);
    f.sums[2][0] = keep;
    f.sums[2][90] = NAN;
    must_fail(mc_corr_matrices(&out, &f.m, MC_MEASURE_CORRELATION, &why), MC_EINPUT, "");
    mc_matrices_release(&out);
    clear(&f);
}

TEST(signature_has_means_over_all_and_live_pairs)
{
    struct fixture f;
    struct mc_signature s[TAPS];
    int32_t p[11], q[20], *perms[2] = {p, q};
    struct mc_perm perm = {.n_groups = 2, .perm = perms};

    make(&f, 0);
    set_unit(f.a[2], f.n, 20, f.hw[2], 3, 0);
    set_unit(f.b[2], f.n, 20, f.hw[2], 5, 0);
    count(&f);
    perm.groups = f.groups;
    for (int32_t i = 0; i < 20; i++)
        q[i] = (i + 2) % 20; /* 3 -> 5: pairs the dead units */
    for (int32_t i = 0; i < 11; i++)
        p[i] = 10 - i;
    must(mc_corr_signature(s, &f.m, &perm, &why));
    double identity = 0, permuted = 0, reversed = 0;
    for (size_t i = 0; i < 20; i++) {
        identity += i == 3 || i == 5 ? 0 : reference(&f, 2, i, i);
        permuted += i == 3 ? 0 : reference(&f, 2, i, (i + 2) % 20);
    }
    for (size_t i = 0; i < 11; i++)
        reversed += reference(&f, 1, i, 10 - i);
    assert_string_equal(s[2].layer, "2");
    assert_int_equal(s[2].units, 20);
    assert_int_equal(s[2].dead_a, 1);
    assert_int_equal(s[2].dead_b, 1);
    assert_true(fabs(s[2].identity - identity / 20) < 1e-6);
    assert_true(fabs(s[2].identity_live - identity / 18) < 1e-6);
    assert_true(fabs(s[2].permuted - permuted / 20) < 1e-6);
    assert_true(fabs(s[2].permuted_live - permuted / 19) < 1e-6);
    assert_true(fabs(s[1].permuted - reversed / 11) < 1e-6);
    assert_true(s[1].identity > s[1].permuted);

    must(mc_corr_signature(s, &f.m, NULL, &why));
    assert_true(s[2].identity == s[2].permuted);

    struct mc_group other[2] = {f.groups[0], f.groups[1]};
    other[1].size = 19;
    perm.groups = other;
    must_fail(mc_corr_signature(s, &f.m, &perm, &why), MC_EINPUT, "19");
    clear(&f);
}

TEST(moments_are_bit_identical_for_any_thread_count)
{
    struct fixture first, f;
    struct mc_backend *original = be;

    make(&first, .1);
    count(&first);
    for (int threads = 1; threads <= 3; threads++) {
        assert_int_equal(open_backend(threads), 0);
        make(&f, .1);
        count(&f);
        for (size_t t = 0; t < TAPS; t++)
            assert_memory_equal(f.sums[t], first.sums[t],
                                MC_MOMENTS_SIZE(f.taps[t].count) * sizeof(double));
        clear(&f);
        be->close(be);
    }
    clear(&first);
    be = original;
}

static int start(void **unused)
{
    (void)unused;
    return open_backend(threads_tested(2));
}

static int stop(void **unused)
{
    (void)unused;
    be->close(be);
    return 0;
}

int main(void)
{
    return run_entered(start, stop);
}
