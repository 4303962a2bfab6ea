/* SPDX-License-Identifier: Apache-2.0
 *
 * Correlations and distances from moments. */
#include "tools/align/correlation.h"

#include "kernels/backend.h"
#include "libcommon/base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const mc_measure_names[MC_N_MEASURES + 1] = {"correlation", "l2", "moment", NULL};

/* Return the relative error allowed in sums of n products. Additions in float64 round by at most n
 * * 2^-53, doubled here. The 1e-9 allows for sums that users computed from means and variances; it
 * is invisible in a correlation. */
static double rounding(double n)
{
    return 1e-9 + n * 0x1p-52;
}

/* Relative error allowed in variances and covariances of float32 products. */
#define PRODUCTS_ROUNDING 5e-5

/* Compute each unit's limit: sqrt(Sxx - Sx^2 / n), enlarged for the rounding of these sums and of
 * Sxy. By Cauchy-Schwarz, |Sxy - Sx Sy / n| is at most the product of the two units' limits. */
static void limits(size_t K, double n, const double *sum, const double *sumsq, double *limit)
{
    for (size_t i = 0; i < K; i++) {
        const double variance = sumsq[i] - sum[i] * (sum[i] / n);
        limit[i] = sqrt(fmax(variance, 0) * (1 + PRODUCTS_ROUNDING) + 2 * rounding(n) * sumsq[i]);
    }
}

/* Compute 1 / (sqrt(n) * standard deviation) of each unit, or 0 if the unit is dead. */
static void scales(size_t K, double n, const double *sum, const double *sumsq, double *scale,
                   char *dead)
{
    double largest = 0;

    for (size_t i = 0; i < K; i++) {
        scale[i] = sumsq[i] - sum[i] * (sum[i] / n);
        largest = fmax(largest, scale[i]);
    }
    for (size_t i = 0; i < K; i++) {
        dead[i] =
            !(scale[i] > MC_CORR_DEAD * largest && scale[i] > MC_CORR_ROUNDING * fabs(sumsq[i]));
        scale[i] = dead[i] ? 0 : 1 / sqrt(scale[i]);
    }
}

/* Reject sums that no numbers can have: by Cauchy-Schwarz, sum^2 / n is at most the sum of squares,
 * except for the rounding of n additions. The check also keeps later values finite: the square of a
 * finite sum could overflow. */
static int check_squares(const struct mc_tap_info *t, const double *sum, const double *sumsq,
                         struct mc_error *err)
{
    const double n = (double)t->samples, slack = 1 + rounding(n);

    for (size_t i = 0; i < t->count; i++) {
        if (sumsq[i] < 0)
            return mc_fail(err, MC_EINPUT, "tap %s: a sum of squares is negative", t->name);
        if (!(sum[i] * (sum[i] / n) <= sumsq[i] * slack))
            return mc_fail(err, MC_EINPUT, "tap %s: unit %zu: sums are inconsistent", t->name, i);
    }
    return 0;
}

static int check_sums(const struct mc_tap_info *t, const double *sums, struct mc_error *err)
{
    if (t->samples < 2)
        return mc_fail(err, MC_EINPUT, "tap %s: at least 2 samples are required (got %llu)",
                       t->name, (unsigned long long)t->samples);
    for (size_t i = 0; i < MC_MOMENTS_SIZE(t->count); i++)
        if (!isfinite(sums[i]))
            return mc_fail(err, MC_EINPUT, "tap %s: a sum is not finite", t->name);
    int rc = check_squares(t, sums, sums + 2 * t->count, err);
    return rc ? rc : check_squares(t, sums + t->count, sums + 3 * t->count, err);
}

/* Values (K,K) and dead units (K) of a tap, with K of the widest tap. Rows are units of network
 * a. */
struct tap_values {
    double *value, *scale_a, *scale_b, *limit_a, *limit_b;
    char *dead_a, *dead_b;
    void *memory;
};

static int tap_values_new(struct tap_values *v, const struct mc_taps *t, struct mc_error *err)
{
    size_t K = 1;

    for (size_t i = 0; i < t->n_taps; i++)
        K = t->taps[i].count > K ? t->taps[i].count : K;
    if (!(v->memory = malloc(K * (K + 4) * sizeof *v->value + 2 * K)))
        return mc_no_memory(err);
    v->value = v->memory;
    v->scale_a = v->value + K * K;
    v->scale_b = v->scale_a + K;
    v->limit_a = v->scale_b + K;
    v->limit_b = v->limit_a + K;
    v->dead_a = (char *)(v->limit_b + K);
    v->dead_b = v->dead_a + K;
    return 0;
}

_Static_assert(MC_N_MEASURES == 3, "measure_tap and group_matrix must know every measure");

/* 1 / (|A|_F |B|_F) for the networks' sums of squares (K), or 0 if one is zero. */
static double moment_scale(size_t K, const double *sumsq_a, const double *sumsq_b)
{
    double a = 0, b = 0;

    for (size_t i = 0; i < K; i++) {
        a += sumsq_a[i];
        b += sumsq_b[i];
    }
    return a > 0 && b > 0 ? 1 / (sqrt(a) * sqrt(b)) : 0;
}

/* Compute a tap's correlations, negative mean squared distances or second moments. Only
 * correlations have dead units. */
static int measure_tap(struct tap_values *v, const struct mc_moments *m, size_t tap,
                       enum mc_measure measure, struct mc_error *err)
{
    const struct mc_tap_info *t = &m->taps.taps[tap];
    const size_t K = t->count;
    const double n = (double)t->samples;
    const double *sum_a = m->sums[tap], *sum_b = sum_a + K;
    const double *sumsq_a = sum_b + K, *sumsq_b = sumsq_a + K, *cross = sumsq_b + K;
    int rc = check_sums(t, sum_a, err);

    if (rc)
        return rc;
    limits(K, n, sum_a, sumsq_a, v->limit_a);
    limits(K, n, sum_b, sumsq_b, v->limit_b);
    memset(v->dead_a, 0, K);
    memset(v->dead_b, 0, K);
    if (measure == MC_MEASURE_CORRELATION) {
        scales(K, n, sum_a, sumsq_a, v->scale_a, v->dead_a);
        scales(K, n, sum_b, sumsq_b, v->scale_b, v->dead_b);
    }
    const double scale = moment_scale(K, sumsq_a, sumsq_b);
    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < K; j++) {
            const double covariance = cross[i * K + j] - sum_a[i] * (sum_b[j] / n);
            double x;
            if (measure == MC_MEASURE_CORRELATION) {
                x = covariance * v->scale_a[i] * v->scale_b[j];
                v->value[i * K + j] = x > 1 ? 1 : x < -1 ? -1 : x; /* outside only by rounding */
            } else if (measure == MC_MEASURE_MOMENT) {
                v->value[i * K + j] = x = cross[i * K + j] * scale;
            } else {
                x = sumsq_a[i] + sumsq_b[j] - 2 * cross[i * K + j];
                v->value[i * K + j] = x > 0 ? -(x / n) : 0; /* below 0 only by rounding */
            }
            if (!isfinite(x) || !(fabs(covariance) <= v->limit_a[i] * v->limit_b[j]))
                return mc_fail(err, MC_EINPUT, "tap %s: units %zu and %zu: sums are inconsistent",
                               t->name, i, j);
        }
    return 0;
}

/* Number of taps so far that contain each pair (K,K) and in which each unit is alive (K). */
struct tally {
    uint32_t *pairs, *alive_a, *alive_b;
};

static void add_tap(struct mc_matrix *g, const struct mc_tap_info *t, const struct tap_values *v,
                    const struct tally *c)
{
    const size_t K = g->n;

    g->taps++;
    for (size_t r = 0; r < t->count; r++) {
        const size_t row = t->start + r;
        c->alive_a[row] += !v->dead_a[r];
        c->alive_b[row] += !v->dead_b[r];
        for (size_t s = 0; s < t->count; s++) {
            g->value[row * K + t->start + s] += v->value[r * t->count + s];
            c->pairs[row * K + t->start + s]++;
        }
    }
}

static int group_matrix(struct mc_matrix *g, const struct mc_moments *m, size_t group,
                        enum mc_measure measure, struct tap_values *v, struct mc_error *err)
{
    const size_t K = g->n;
    uint32_t *counts = NULL;
    int rc = 0;

    if ((rc = mc_new(&g->value, K * K, err)) || (rc = mc_new(&g->dead_a, K, err)) ||
        (rc = mc_new(&g->dead_b, K, err)) || (rc = mc_new(&counts, K * (K + 2), err)))
        return rc;
    const struct tally c = {counts, counts + K * K, counts + K * K + K};
    for (size_t i = 0; !rc && i < m->taps.n_taps; i++)
        if (m->taps.taps[i].group == group && !(rc = measure_tap(v, m, i, measure, err)))
            add_tap(g, &m->taps.taps[i], v, &c);
    for (size_t i = 0; i < K; i++) {
        if (!c.alive_a[i])
            g->dead_a[g->n_dead_a++] = (int32_t)i;
        if (!c.alive_b[i])
            g->dead_b[g->n_dead_b++] = (int32_t)i;
    }
    for (size_t i = 0; !rc && i < K * K; i++) {
        if (c.pairs[i] > 1 && measure != MC_MEASURE_MOMENT)
            g->value[i] /= c.pairs[i];
        /* the default 0 would be the best distance */
        if (!c.pairs[i] && measure == MC_MEASURE_L2)
            rc =
                mc_fail(err, MC_EINPUT,
                        "group %s: no tap contains both unit %zu and unit %zu: distance is unknown",
                        m->taps.groups[group].name, i / K, i % K);
    }
    free(counts);
    return rc;
}

int mc_corr_matrices(struct mc_matrices *out, const struct mc_moments *m, enum mc_measure measure,
                     struct mc_error *err)
{
    struct tap_values v = {0};
    int rc;

    memset(out, 0, sizeof *out);
    /* a group's size is unverified until taps cover the whole group */
    if ((rc = mc_taps_check(&m->taps, err)))
        return rc;
    strcpy(out->measure, mc_measure_names[measure]);
    memcpy(out->place, m->taps.place, sizeof out->place);
    rc = tap_values_new(&v, &m->taps, err);
    if (!rc && !(rc = mc_matrices_alloc(out, m->taps.n_groups, err))) {
        memcpy(out->groups, m->taps.groups, out->n_groups * sizeof *out->groups);
        rc = mc_matrices_nest(out, err);
    }
    for (size_t i = 0; !rc && i < out->n_groups; i++)
        if (out->matrices[i].n)
            rc = group_matrix(&out->matrices[i], m, i, measure, &v, err);
    free(v.memory);
    return rc;
}

static void layer_means(struct mc_signature *s, const struct mc_tap_info *t, const int32_t *perm,
                        const struct tap_values *v)
{
    const size_t K = t->count;
    size_t live_identity = 0, live_permuted = 0;

    memset(s, 0, sizeof *s);
    memcpy(s->layer, t->name, sizeof s->layer);
    s->units = K;
    for (size_t i = 0; i < K; i++) {
        size_t to = perm ? (size_t)perm[t->start + i] : t->start + i;

        s->dead_a += v->dead_a[i] != 0;
        s->dead_b += v->dead_b[i] != 0;
        s->identity += v->value[i * K + i];
        live_identity += !v->dead_a[i] && !v->dead_b[i];
        if (to < t->start || to - t->start >= K)
            continue;
        s->permuted += v->value[i * K + to - t->start];
        live_permuted += !v->dead_a[i] && !v->dead_b[to - t->start];
    }
    s->identity_live = live_identity ? s->identity / (double)live_identity : 0;
    s->permuted_live = live_permuted ? s->permuted / (double)live_permuted : 0;
    s->identity /= (double)K;
    s->permuted /= (double)K;
}

int mc_corr_signature(struct mc_signature *out, const struct mc_moments *m,
                      const struct mc_perm *perm, struct mc_error *err)
{
    const struct mc_symmetry groups = {.groups = m->taps.groups, .n_groups = m->taps.n_groups};
    struct mc_nesting nesting = {0};
    struct tap_values v = {0};
    int32_t *to = NULL; /* as long as the largest group with the groups inside it */
    size_t longest = 0;
    int rc = perm ? mc_perm_check_groups(perm, &groups, err) : 0;

    for (size_t k = 0; perm && k < m->taps.n_groups; k++) {
        const size_t n = mc_group_tap_units(m->taps.groups, k);
        longest = n > longest ? n : longest;
    }
    if (!rc && perm && !(rc = mc_nesting_find(&nesting, m->taps.groups, m->taps.n_groups, err)))
        rc = mc_new(&to, longest, err);
    if (!rc)
        rc = tap_values_new(&v, &m->taps, err);
    for (size_t i = 0; !rc && i < m->taps.n_taps; i++) {
        const struct mc_tap_info *t = &m->taps.taps[i];
        if (perm)
            mc_nesting_of_taps(&nesting, perm->perm, t->group, to);
        if (!(rc = measure_tap(&v, m, i, MC_MEASURE_CORRELATION, err)))
            layer_means(&out[i], t, to, &v);
    }
    mc_nesting_release(&nesting);
    free(to);
    free(v.memory);
    return rc;
}

int mc_moments_add_stream(struct mc_moments *m, struct mc_reader *r, int is_first,
                          struct mc_history *h, struct mc_error *err)
{
    struct mc_moments shard = {0};
    int rc = mc_moments_read(is_first ? m : &shard, (struct mc_stream){.reader = r}, h, err);

    if (!rc && !is_first && (rc = mc_moments_add(m, &shard, err)))
        mc_fail_in(rc, err, "%s", mc_reader_name(r));
    mc_moments_release(&shard);
    mc_reader_close(r);
    return rc;
}
