/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic of planes. */
#include "tools/eval/plane.h"

#include <math.h>
#include <stdio.h>

#define FLAT 1e-5

/* Return the inner product of two differences, computed from distances between the vectors (as in
 * mc_curve_chord). Components that all vectors share then cancel once, not in every product. */
static double dot(const struct mc_plane *p, const double *c, const double *d)
{
    double sum = 0;

    for (size_t i = 0; i < p->k; i++)
        for (size_t j = 0; j < p->k; j++) {
            double distance2 =
                p->gram[i * p->k + i] + p->gram[j * p->k + j] - 2 * p->gram[i * p->k + j];
            sum -= .5 * c[i] * d[j] * distance2;
        }
    return sum;
}

static double length(const struct mc_plane *p, const double *c)
{
    double square = dot(p, c, c);

    return square > 0 ? sqrt(square) : 0;
}

int mc_plane_through(struct mc_plane *p, struct mc_error *err)
{
    const size_t k = p->k;
    const double *a = p->three, *b = a + k, *c = b + k;
    const char *const *names = p->names;
    double w[MC_MAX_POINTS] = {0};

    for (size_t i = 0; i < k; i++) {
        p->a[i] = a[i];
        p->u[i] = b[i] - a[i];
        w[i] = c[i] - a[i];
    }
    p->b_x = length(p, p->u);
    /* equal vectors except for float32 rounding */
    if (!(p->b_x > 1e-7 * sqrt(p->gram[0])))
        return mc_fail(err, MC_EINPUT,
                       "%s and %s are the same point (a plane needs three distinct points)",
                       names[0], names[1]);
    double along = dot(p, w, p->u) / (p->b_x * p->b_x);
    for (size_t i = 0; i < k; i++)
        p->v[i] = w[i] - along * p->u[i];
    p->c_x = along * p->b_x;
    p->c_y = length(p, p->v);
    if (!(p->c_y > FLAT * p->b_x))
        return mc_fail(err, MC_EINPUT,
                       "%s is on the line through %s and %s (a plane needs three points not on a "
                       "line)",
                       names[2], names[0], names[1]);
    return 0;
}

void mc_plane_point(const struct mc_plane *p, double alpha, double beta, double *coef)
{
    for (size_t i = 0; i < p->k; i++)
        coef[i] = p->a[i] + alpha * p->u[i] + beta * p->v[i];
}

/* Replace rounding noise by 0. */
static double snap(const struct mc_plane *p, double x)
{
    return fabs(x) < 1e-9 * p->b_x ? 0 : x;
}

void mc_plane_place(const struct mc_plane *p, const double *coef, double *x, double *y, double *off)
{
    double w[MC_MAX_POINTS] = {0};

    for (size_t i = 0; i < p->k; i++)
        w[i] = coef[i] - p->a[i];
    double alpha = dot(p, w, p->u) / (p->b_x * p->b_x);
    double beta = dot(p, w, p->v) / (p->c_y * p->c_y);
    *x = snap(p, alpha * p->b_x);
    *y = snap(p, beta * p->c_y);
    for (size_t i = 0; i < p->k; i++)
        w[i] -= alpha * p->u[i] + beta * p->v[i];
    *off = snap(p, length(p, w));
}

void mc_plane_points(const struct mc_plane *p, const struct mc_plane_grid *g, double *coef,
                     double *xy)
{
    const double last = (double)(g->n - 1);

    for (size_t i = 0; i < g->n * g->n; i++) {
        const double s = (double)(i % g->n) / last, t = (double)(i / g->n) / last;
        /* exact at both ends */
        const double alpha = (1 - s) * g->x[0] + s * g->x[1];
        const double beta = (1 - t) * g->y[0] + t * g->y[1];
        mc_plane_point(p, alpha, beta, coef + i * p->k);
        xy[2 * i] = alpha * p->b_x;
        xy[2 * i + 1] = beta * p->c_y;
    }
}

void mc_plane_marks(const struct mc_plane *p, const struct mc_curve *c, size_t T, struct mc_mark *m)
{
    double coef[MC_MAX_POINTS];

    for (size_t i = 0; i < 3; i++, m++) {
        m->kind = "network";
        snprintf(m->name, sizeof m->name, "%s", p->names[i]);
        mc_plane_place(p, p->three + i * p->k, &m->x, &m->y, &m->off);
    }
    for (size_t i = 0; c && i < T; i++, m++) {
        const double t = (double)i / (double)(T - 1);
        m->kind = "path";
        snprintf(m->name, sizeof m->name, "%.9g", t);
        mc_curve_coefs(c->kind, c->n_points, t, coef);
        mc_plane_place(p, coef, &m->x, &m->y, &m->off);
    }
}
