/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic of curves. */
#include "tools/curve/points.h"

#include "libcommon/base/narrow.h"

#include <math.h>
#include <string.h>

void mc_curve_coefs(enum mc_curve_kind kind, size_t k, double t, double *coef)
{
    size_t n = k - 1; /* degree, or segments */

    if (kind == MC_CURVE_CHAIN) {
        double position = t * (double)n;
        size_t i = position >= (double)n ? n - 1 : (size_t)position;
        memset(coef, 0, k * sizeof *coef);
        coef[i + 1] = position - (double)i;
        coef[i] = 1 - coef[i + 1];
        return;
    }
    double binomial = 1;
    for (size_t i = 0; i < k; i++) {
        coef[i] = binomial * pow(t, (double)i) * pow(1 - t, (double)(n - i));
        binomial = binomial * (double)(n - i) / (double)(i + 1);
    }
}

int mc_curve_between(struct mc_curve *out, const struct mc_weights *a, const struct mc_weights *b,
                     enum mc_curve_kind kind, size_t n_points, struct mc_error *err)
{
    const size_t P = a->graph->P, n = a->graph->n_params, last = n_points - 1;
    int rc = mc_curve_init(out, a->graph, kind, n_points, a->dataset, err);

    if (rc)
        return rc;
    memcpy(out->points[0], a->params, P * sizeof(float));
    memcpy(out->points[last], b->params, P * sizeof(float));
    memcpy(out->types, a->types, n * sizeof *out->types);
    memcpy(out->types + last * n, b->types, n * sizeof *out->types);
    for (size_t i = 1; i < last; i++) {
        const double u = (double)i / (double)last;
        for (size_t j = 0; j < P; j++)
            out->points[i][j] = (float)((1 - u) * (double)a->params[j] + u * (double)b->params[j]);
    }
    return 0;
}

/* Round once to the type. A value too large for it is left to the writer, which refuses it. */
static float rounded(enum mc_dtype type, double x)
{
    uint16_t narrow = 0;
    float y = (float)x;

    if (!mc_is_narrow(type))
        return y;
    mc_narrow_doubles(type, &x, &narrow, 1);
    if (mc_all_finite(type, &narrow, 1))
        mc_widen(type, &narrow, &y, 1);
    return y;
}

void mc_curve_point(const struct mc_curve *c, double t, struct mc_weights *out)
{
    const size_t n = c->graph->n_params;
    const enum mc_dtype *last = c->types + (c->n_points - 1) * n;
    double coef[MC_MAX_POINTS];

    mc_curve_coefs(c->kind, c->n_points, t, coef);
    for (size_t k = 0; k < n; k++) {
        const struct mc_param *p = &c->graph->params[k];
        out->types[k] = c->types[k] == last[k] ? last[k] : MC_F32;
        for (size_t j = p->offset; j < p->offset + p->count; j++) {
            double sum = 0;
            for (size_t i = 0; i < c->n_points; i++)
                sum += coef[i] * (double)c->points[i][j];
            out->params[j] = rounded(out->types[k], sum);
        }
    }
}

void mc_curve_gram(size_t k, const float *const *points, size_t n, double *gram)
{
    for (size_t a = 0; a < k; a++)
        for (size_t b = a; b < k; b++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += (double)points[a][i] * (double)points[b][i];
            gram[a * k + b] = gram[b * k + a] = sum;
        }
}

double mc_curve_chord(size_t k, const double *gram, const double *c0, const double *c1)
{
    double sum = 0;

    /* c1 - c0 sums to 0, so distances between the defining points suffice: |x|^2 = -1/2 sum d_a d_b
     * |p_a - p_b|^2. They lose less to cancellation than inner products. */
    for (size_t a = 0; a < k; a++)
        for (size_t b = a + 1; b < k; b++) {
            double distance2 = gram[a * k + a] + gram[b * k + b] - 2 * gram[a * k + b];
            sum -= (c1[a] - c0[a]) * (c1[b] - c0[b]) * distance2;
        }
    return sum > 0 ? sqrt(sum) : 0;
}

void mc_curve_sample(const struct mc_curve *c, const double *gram, size_t T, double *t,
                     double *coef, double *chord)
{
    const size_t k = c->n_points;

    for (size_t i = 0; i < T; i++) {
        t[i] = (double)i / (double)(T - 1);
        mc_curve_coefs(c->kind, k, t[i], coef + i * k);
        if (i)
            chord[i - 1] = mc_curve_chord(k, gram, coef + (i - 1) * k, coef + i * k);
    }
}

void mc_curve_summarise(size_t T, const double *t, const double *value, const double *chord,
                        struct mc_curve_summary *out)
{
    double sum = 0, area = 0, length = 0;

    memset(out, 0, sizeof *out);
    out->first = value[0];
    out->last = value[T - 1];
    out->min = out->max = value[0];
    out->min_t = out->max_t = t[0];
    for (size_t i = 0; i < T; i++) {
        double line = (1 - t[i]) * value[0] + t[i] * value[T - 1];
        sum += value[i];
        if (value[i] < out->min) {
            out->min = value[i];
            out->min_t = t[i];
        }
        if (value[i] > out->max) {
            out->max = value[i];
            out->max_t = t[i];
        }
        if (value[i] - line > out->barrier) {
            out->barrier = value[i] - line;
            out->barrier_t = t[i];
        }
        if (line - value[i] > out->dip) {
            out->dip = line - value[i];
            out->dip_t = t[i];
        }
        if (i + 1 < T) {
            area += chord[i] * .5 * (value[i] + value[i + 1]);
            length += chord[i];
        }
    }
    out->mean = sum / (double)T;
    out->arc_mean = length > 0 ? area / length : out->mean;
}
