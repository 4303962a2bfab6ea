/* SPDX-License-Identifier: Apache-2.0
 *
 * Bootstrap over images: a resample is a weight per image, and a point's result is the weighted
 * mean over its images. */
#include "tools/eval/bootstrap.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/rng.h"
#include "tools/curve/points.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

const char *const mc_bootstrap_figure_names[MC_BOOTSTRAP_FIGURES] = {"ends", "mean", "arc_mean",
                                                                     "min",  "max",  "barrier"};

#define LANES 16 /* resamples per pass */

/* One data set and quantity of a path, with the points where the quantity is lowest, highest, and
 * farthest above (accuracy: below) the line between the path's ends. */
struct path {
    const struct mc_losses *l;
    const struct mc_losses_data *d;
    int accuracy;
    size_t lowest, highest, farthest;
};

static double value_of(const struct path *p, size_t image)
{
    return p->accuracy ? 100.0 * p->d->correct[image] : (double)p->d->loss[image];
}

/* Compute weighted means of T points in LANES resamples. weight: (N,LANES); mean: (LANES,T). */
static void means(const struct path *p, const float *weight, double *mean)
{
    const size_t T = p->l->T, N = (size_t)p->d->images;

    for (size_t t = 0; t < T; t++) {
        double sum[LANES] = {0};
        for (size_t n = 0; n < N; n++) {
            const double v = value_of(p, t * N + n);
            for (size_t j = 0; j < LANES; j++)
                sum[j] += v * (double)weight[n * LANES + j];
        }
        for (size_t j = 0; j < LANES; j++)
            mean[j * T + t] = sum[j] / (double)N;
    }
}

/* Compute the results in the order of their names. */
static void figures(const struct path *p, const double *mean, double out[MC_BOOTSTRAP_FIGURES])
{
    const size_t T = p->l->T;
    const double t = p->l->t[p->farthest], line = (1 - t) * mean[0] + t * mean[T - 1];
    const double far = mean[p->farthest];
    struct mc_curve_summary s;

    mc_curve_summarise(T, p->l->t, mean, p->l->chord, &s);
    const double all[MC_BOOTSTRAP_FIGURES] = {
        (s.first + s.last) / 2, s.mean,           s.arc_mean,
        mean[p->lowest],        mean[p->highest], p->accuracy ? line - far : far - line};
    memcpy(out, all, sizeof all);
}

/* Count how often resample r draws each image, in its lane of weight (N,LANES). */
static void draw(uint64_t seed, size_t r, size_t N, float *lane)
{
    for (size_t n = 0; n < N; n++)
        lane[n * LANES] = 0;
    for (size_t n = 0; n < N; n += 4) {
        const struct mc_rng4 x = mc_rng(seed, MC_RNG_BOOTSTRAP, (uint32_t)r, (uint32_t)(n / 4), 0);
        for (size_t k = 0; k < 4 && n + k < N; k++)
            lane[mc_rng_below(x.v[k], (uint32_t)N) * LANES] += 1;
    }
}

/* Compute resamples r to r + LANES (of R) of both paths. out: (3,FIGURES,R). */
static void resample(const struct path *path, int paths, size_t r,
                     const struct mc_bootstrap_options *o, float *weight, double *mean, double *out)
{
    const size_t N = (size_t)path->d->images, R = o->resamples;
    double all[2][LANES][MC_BOOTSTRAP_FIGURES] = {{{0}}};

    for (size_t j = 0; j < LANES; j++)
        draw(o->seed, r + j, N, weight + j);
    for (int p = 0; p < paths; p++) {
        means(&path[p], weight, mean);
        for (size_t j = 0; j < LANES; j++)
            figures(&path[p], mean + j * path[p].l->T, all[p][j]);
    }
    for (size_t j = 0; j < LANES && r + j < R; j++)
        for (size_t f = 0; f < MC_BOOTSTRAP_FIGURES; f++) {
            const double a = all[0][j][f], b = all[1][j][f], v[3] = {a, b, b - a};
            for (size_t k = 0; k < 3; k++)
                out[(k * MC_BOOTSTRAP_FIGURES + f) * R + r + j] = v[k];
        }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* x: (n), sorted. */
static double quantile(const double *x, size_t n, double q)
{
    const double position = q * (double)(n - 1);
    const size_t i = (size_t)position;

    return i + 1 < n ? x[i] + (position - (double)i) * (x[i + 1] - x[i]) : x[n - 1];
}

static size_t point_at(const struct mc_losses *l, double t)
{
    size_t i = 0;

    while (i + 1 < l->T && l->t[i] < t)
        i++;
    return i;
}

/* Compute the results of the original images, and the points where they occur. */
static int measure(struct path *p, double out[MC_BOOTSTRAP_FIGURES], struct mc_error *err)
{
    const size_t T = p->l->T, N = (size_t)p->d->images;
    struct mc_curve_summary s;
    double *mean = NULL;
    int rc = mc_new(&mean, T, err);

    for (size_t t = 0; !rc && t < T; t++) {
        for (size_t n = 0; n < N; n++)
            mean[t] += value_of(p, t * N + n);
        mean[t] /= (double)N;
    }
    if (!rc) {
        mc_curve_summarise(T, p->l->t, mean, p->l->chord, &s);
        p->lowest = point_at(p->l, s.min_t);
        p->highest = point_at(p->l, s.max_t);
        p->farthest = point_at(p->l, p->accuracy ? s.dip_t : s.barrier_t);
        figures(p, mean, out);
    }
    free(mean);
    return rc;
}

double mc_bootstrap_bytes(const struct mc_losses *a, const struct mc_losses *b,
                          const struct mc_bootstrap_options *o)
{
    const struct mc_losses *const both[] = {a, b};
    double bytes = 0, images = 0, points = 0;

    for (size_t p = 0; p < (b ? 2 : 1); p++) {
        const struct mc_losses *l = both[p];
        for (size_t i = 0; i < l->n_data; i++) {
            const double n = (double)l->data[i].images;
            bytes += (double)l->T * n * (double)(sizeof *l->data->loss + sizeof *l->data->correct);
            images = n > images ? n : images;
        }
        bytes += 2 * (double)l->T * (double)sizeof *l->t;
        points = (double)l->T > points ? (double)l->T : points;
    }
    bytes += 3. * MC_BOOTSTRAP_FIGURES * (double)o->resamples * sizeof(double);
    return bytes + (o->threads ? o->threads : omp_get_max_threads()) * LANES *
                       (images * sizeof(float) + points * sizeof(double));
}

int mc_bootstrap(struct mc_bootstrap *out, const struct mc_losses *a, size_t first,
                 const struct mc_losses *b, size_t second, int accuracy,
                 const struct mc_bootstrap_options *o, struct mc_error *err)
{
    struct path path[2] = {{.l = a, .d = &a->data[first], .accuracy = accuracy},
                           {.l = b, .d = b ? &b->data[second] : NULL, .accuracy = accuracy}};
    const int paths = b ? 2 : 1;
    const size_t N = (size_t)path[0].d->images, R = o->resamples,
                 T = b && b->T > a->T ? b->T : a->T;
    const size_t all = 3 * MC_BOOTSTRAP_FIGURES;
    double value[3][MC_BOOTSTRAP_FIGURES] = {{0}}, *samples = NULL;
    int rc = mc_new(&samples, all * R, err), alloc_failed = 0;

    for (int p = 0; !rc && p < paths; p++)
        rc = measure(&path[p], value[p], err);
#pragma omp parallel num_threads(o->threads ? o->threads : omp_get_max_threads()) if (!rc)
    {
        float *weight = malloc(N * LANES * sizeof *weight);
        double *mean = malloc(T * LANES * sizeof *mean);
        if (!weight || !mean) {
#pragma omp atomic write
            alloc_failed = 1;
        }
#pragma omp barrier
#pragma omp for schedule(static)
        for (size_t r = 0; r < R; r += LANES)
            if (!rc && !alloc_failed)
                resample(path, paths, r, o, weight, mean, samples);
        free(weight);
        free(mean);
    }
    rc = rc ? rc : alloc_failed ? mc_no_memory(err) : 0;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; !rc && i < all; i++) {
        const size_t k = i / MC_BOOTSTRAP_FIGURES, f = i % MC_BOOTSTRAP_FIGURES;
        struct mc_interval *to = k < 2 ? &out->path[k][f] : &out->difference[f];
        double *x = samples + i * R;
        qsort(x, R, sizeof *x, ascending);
        to->value = k < 2 ? value[k][f] : value[1][f] - value[0][f];
        to->low = quantile(x, R, (1 - o->level) / 2);
        to->high = quantile(x, R, (1 + o->level) / 2);
    }
    free(samples);
    return rc;
}
