/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/curve/line.h"

#include "formats/network/combine.h"
#include "formats/network/permuted.h"
#include "libcommon/base/alloc.h"
#include "tools/curve/points.h"

#include <stdlib.h>
#include <string.h>

static int copy_ends(struct mc_line *line, struct mc_writer *w, size_t n, struct mc_error *err)
{
    struct mc_values *a = &line->ends[0], *b = &line->ends[1];
    struct mc_permuted permuted = {0};
    int rc = line->perm
                 ? mc_permuted_open(&permuted, line->perm, line->symmetry, a->curve.graph, err)
                 : 0;

    for (size_t i = 0; i < n && !rc; i++)
        rc = mc_values_copy(a, i, w, i, err);
    for (size_t i = 0; i < n && !rc; i++)
        rc = line->perm ? mc_permuted_copy(&permuted, b, i, w, n + i, err)
                        : mc_values_copy(b, i, w, n + i, err);
    for (size_t g = 0; line->perm && g < line->perm->n_groups && !rc; g++)
        rc = mc_writer_tensor(w, 2 * n + g, line->perm->perm[g], err);
    for (int i = 0; i < 2 && !rc; i++)
        rc = mc_values_end(&line->ends[i], err);
    mc_permuted_release(&permuted);
    return rc;
}

int mc_line_write(struct mc_line *line, const char *path, const struct mc_history *h,
                  struct mc_error *err)
{
    const struct mc_curve *first = &line->ends[0].curve;
    const size_t n = first->graph->n_params;
    struct mc_curve c = {
        .graph = first->graph, .kind = line->kind, .n_points = 2, .perm = line->perm};
    struct mc_writer *w = NULL;
    int rc = mc_new(&c.types, 2 * n, err);

    memcpy(c.dataset, first->dataset, sizeof c.dataset);
    for (size_t i = 0; i < 2 * n && !rc; i++)
        c.types[i] = mc_values_type(&line->ends[i / n], i % n);
    if (!rc)
        rc = mc_curve_open(&w, &c, path, h, err);
    if (!rc)
        rc = copy_ends(line, w, n, err);
    free(c.types);
    return mc_writer_close(w, rc, NULL, err);
}

/* Open the curve again, with its history for the last point, and check that it did not change. */
static int open_again(struct mc_values *v, const struct mc_values *first, const char *curve,
                      struct mc_history *h, struct mc_error *err)
{
    int rc = mc_values_open(v, "curve", (struct mc_stream){.path = curve, .declared = 1}, h, err);

    if (!rc && (v->n != first->n || v->n_params != first->n_params))
        rc = mc_fail(err, MC_EINPUT, "%s: changed during reading", curve);
    return rc;
}

int mc_point_write(struct mc_values *first, const char *curve, double t, const char *path,
                   struct mc_history *h, struct mc_error *err)
{
    const struct mc_curve *c = &first->curve;
    const size_t n = c->n_points, n_params = first->n_params, last = n - 1;
    struct mc_values points[MC_MAX_POINTS] = {0};
    struct mc_term terms[MC_MAX_POINTS];
    struct mc_weights out = {.graph = c->graph};
    struct mc_writer *w = NULL;
    double coef[MC_MAX_POINTS];
    size_t k = 0;
    int rc = mc_new(&out.types, n_params, err);

    memcpy(out.dataset, c->dataset, sizeof out.dataset);
    mc_curve_coefs(c->kind, n, t, coef);
    for (size_t i = 0; i < n && !rc; i++) {
        if (i < last && coef[i] == 0)
            continue;
        rc = open_again(&points[i], first, curve, i == last ? h : NULL, err);
        terms[k++] = (struct mc_term){&points[i], i * n_params, coef[i]};
    }
    for (size_t i = 0; i < n_params && !rc; i++)
        out.types[i] = mc_values_type(first, i) == mc_values_type(first, last * n_params + i)
                           ? mc_values_type(first, i)
                           : MC_F32;
    if (!rc)
        rc = mc_weights_open(&w, &out, path, h, err);
    if (!rc)
        rc = mc_combine(w, terms, k, out.types, n_params, MC_COMBINE_POINT, err);
    if (!rc) /* the last point's reader has checked all values */
        rc = mc_values_end(&points[last], err);
    for (size_t i = 0; i < n; i++)
        mc_values_close(&points[i]);
    free(out.types);
    return mc_writer_close(w, rc, NULL, err);
}
