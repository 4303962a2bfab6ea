/* SPDX-License-Identifier: Apache-2.0
 *
 * Command-line options of planes. */
#include "tools/options/plane.h"

#include "formats/codecs/curve.h"
#include "formats/codecs/weights.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"
#include "tools/cli/text.h"
#include "tools/cli/networks.h"

#include <stdlib.h>

/* Networks or a curve that define a plane. */
struct subject {
    struct mc_span span;
    struct mc_plane plane;    /* k, three, names */
    const struct mc_curve *c; /* a curve to mark in the plane, or NULL */
};

static int write_marks(const struct mc_report *r, const char *path, struct mc_error *err)
{
    struct mc_text t = {0};
    int rc = mc_text_open(&t, err);

    if (!rc)
        mc_report_marks(r, t.f);
    return mc_text_close(&t, path, rc, err);
}

static int measure(const struct mc_plane_cli *p, struct subject *s, FILE *f, struct mc_error *err)
{
    struct mc_eval_cli *e = p->eval;
    struct mc_report *report = &e->report;
    const size_t k = s->span.k, T = p->grid.n * p->grid.n, n = 3 + (s->c ? p->points : 0);
    double gram[MC_MAX_POINTS * MC_MAX_POINTS];
    double *xy = NULL;
    struct mc_mark *marks = NULL;
    int rc = 0;

    if ((rc = mc_new(&xy, T * (2 + k), err)) || (rc = mc_new(&marks, n, err)))
        goto out;
    mc_curve_gram(k, s->span.vectors, s->span.graph->P, gram);
    s->plane.k = k;
    s->plane.gram = gram;
    if ((rc = mc_plane_through(&s->plane, err)))
        goto out;
    double *coef = xy + 2 * T;
    mc_plane_points(&s->plane, &p->grid, coef, xy);
    mc_plane_marks(&s->plane, s->c, n - 3, marks);
    mc_option_save(e->cli, p->grid.x, &e->sweep.state);
    mc_option_save(e->cli, p->grid.y, &e->sweep.state);
    s->span.T = T;
    s->span.coef = coef;
    report->coords = xy;
    report->n_coords = 2;
    report->marks = marks;
    report->n_marks = n;
    rc = mc_eval_cli_measure(e, &s->span, err);
    if (!rc && p->marks)
        rc = write_marks(report, p->marks, err);
    if (!rc)
        rc = mc_report_print(report, f, err);
out:
    free(marks);
    free(xy);
    return rc;
}

int mc_plane_cli_networks(struct mc_plane_cli *p, struct mc_reader *first, FILE *f,
                          struct mc_error *err)
{
    static const double three[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    struct mc_weights w[3] = {0};
    const char *names[3];
    const float *vectors[3];
    struct subject s = {.span = {.k = 3, .vectors = vectors},
                        .plane = {.three = three, .names = names}};
    int rc = 0;

    for (size_t i = 0; !rc && i < 3; i++) {
        const char *file = p->eval->cli->operands[i];
        const struct mc_stream from = {.path = i ? file : NULL, .reader = first};
        rc = mc_weights_read(&w[i], from, NULL, err);
        names[i] = mc_file_called(file);
        if (!rc)
            rc = mc_expect_same_network(p->eval->cli, w[0].graph, w[i].graph, names[0], names[i],
                                        err);
        vectors[i] = w[i].params;
        mc_eval_cli_subject(p->eval, w[i].dataset, w[i].augmented);
        mc_checkpoint_set(&p->eval->sweep.state, (const char *const[]){"a", "b", "c"}[i], "%s",
                          w[i].id);
    }
    s.span.graph = w[0].graph;
    if (!rc)
        rc = measure(p, &s, f, err);
    for (size_t i = 0; i < 3; i++)
        mc_weights_release(&w[i]);
    return rc;
}

int mc_plane_cli_curve(struct mc_plane_cli *p, struct mc_reader *r, FILE *f, struct mc_error *err)
{
    static const char *const names[3] = {"t = 0", "t = 1", "t = 0.5"};
    static const double marks[3] = {0, 1, .5};
    struct mc_curve c = {0};
    double three[3 * MC_MAX_POINTS];
    struct subject s = {.plane = {.three = three, .names = names}, .c = &c};
    int rc = mc_curve_read(&c, (struct mc_stream){.reader = r}, NULL, err);

    if (rc)
        return rc;
    if (!mc_option_given(p->eval->cli, p->grid.y)) {
        p->grid.y[0] = -.1;
        p->grid.y[1] = 1.5;
    }
    for (size_t i = 0; i < 3; i++)
        mc_curve_coefs(c.kind, c.n_points, marks[i], three + i * c.n_points);
    mc_eval_cli_subject(p->eval, c.dataset, c.augmented);
    s.span.graph = c.graph;
    s.span.k = c.n_points;
    s.span.vectors = (const float *const *)c.points;
    mc_checkpoint_set(&p->eval->sweep.state, "curve", "%s", c.id);
    rc = measure(p, &s, f, err);
    mc_curve_release(&c);
    return rc;
}
