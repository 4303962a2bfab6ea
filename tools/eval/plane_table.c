/* SPDX-License-Identifier: Apache-2.0
 *
 * Planes at the command line. */
#include "tools/eval/plane_table.h"

#include "formats/codecs/curve.h"
#include "formats/codecs/weights.h"
#include "tools/cli/text.h"

#include <stdlib.h>
#include <string.h>

struct job {
    const struct mc_plane_cli *p;
    struct mc_eval_cli *e;
    struct mc_backend *be;
    uint64_t points; /* of a path */
    int json;
    FILE *f;
};

static int print_marks(const char *path, const struct mc_mark *m, size_t n, struct mc_error *err)
{
    struct mc_text t = {0};
    int rc = mc_text_open(&t, err);

    if (!rc)
        mc_report_marks(m, n, t.f);
    return mc_text_close(&t, path, rc, err);
}

/* The plane through three points of a span, and where a curve lies in it, if there is one. */
static int measure(const struct job *j, struct mc_span *span, const double *three,
                   const char *const names[3], const struct mc_curve *c, struct mc_checkpoint *id,
                   struct mc_error *err)
{
    struct mc_eval_cli *e = j->e;
    const struct mc_plane_grid *grid = &j->p->grid;
    struct mc_plane plane;
    const size_t k = span->k, T = grid->n * grid->n, n = 3 + (c ? j->points : 0);
    double *gram = calloc(k * k, sizeof *gram), *coef = calloc(T * k, sizeof *coef);
    double(*xy)[2] = calloc(T, sizeof *xy);
    struct mc_mark *marks = calloc(n, sizeof *marks);
    int rc = gram && coef && xy && marks ? 0 : mc_no_memory(err);

    if (rc)
        goto out;
    mc_curve_gram(k, span->vectors, span->graph->P, gram);
    if ((rc = mc_plane_through(&plane, k, gram, three, names, err)))
        goto out;
    mc_plane_points(&plane, grid, coef, xy);
    mc_plane_marks(&plane, three, names, c, n - 3, marks);
    mc_option_save(e->cli, grid->x, id);
    mc_option_save(e->cli, grid->y, id);
    span->T = T;
    span->coef = coef;
    e->report.xy = xy;
    e->say_memory = 1;
    rc = mc_eval_cli_measure(e, j->be, span, NULL, "a plane", id, err);
    if (!rc && j->p->marks)
        rc = print_marks(j->p->marks, marks, n, err);
    if (!rc && j->json)
        mc_report_plane_json(&e->report, marks, n, j->f);
    else if (!rc)
        mc_report_plane(&e->report, j->f);
out:
    free(marks);
    free(xy);
    free(coef);
    free(gram);
    return rc;
}

int mc_plane_cli_networks(struct mc_plane_cli *p, struct mc_eval_cli *e, struct mc_backend *be,
                          struct mc_reader *first, int json, FILE *f, struct mc_error *err)
{
    static const double three[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    struct mc_weights w[3] = {0};
    struct mc_checkpoint id = {0};
    const char *names[3];
    const float *vectors[3];
    const struct job j = {.p = p, .e = e, .be = be, .json = json, .f = f};
    int rc = 0;

    for (size_t i = 0; !rc && i < 3; i++) {
        const char *file = e->cli->operands[i];
        rc = i ? mc_weights_read(&w[i], file, NULL, err)
               : mc_weights_read_stream(&w[i], first, NULL, err);
        names[i] = strcmp(file, "-") ? file : "stdin";
        if (!rc)
            rc = mc_graph_expect_same(w[0].graph, w[i].graph, names[0], names[i], err);
        vectors[i] = w[i].params;
        mc_checkpoint_set(&id, (const char *const[]){"a", "b", "c"}[i], "%s", w[i].id);
    }
    if (!rc) {
        struct mc_span span = {.graph = w[0].graph, .k = 3, .vectors = vectors};
        rc = measure(&j, &span, three, names, NULL, &id, err);
    }
    for (size_t i = 0; i < 3; i++)
        mc_weights_release(&w[i]);
    return rc;
}

int mc_plane_cli_curve(struct mc_plane_cli *p, struct mc_eval_cli *e, struct mc_backend *be,
                       struct mc_reader *r, uint64_t points, int json, FILE *f,
                       struct mc_error *err)
{
    static const char *const names[3] = {"t = 0", "t = 1", "t = 0.5"};
    static const double at[3] = {0, 1, .5};
    struct mc_curve c = {0};
    struct mc_checkpoint id = {0};
    const struct job j = {.p = p, .e = e, .be = be, .points = points, .json = json, .f = f};
    double three[3 * MC_MAX_POINTS];
    int rc = mc_curve_read_stream(&c, r, NULL, err);

    if (rc)
        return rc;
    if (!mc_option_given(e->cli, p->grid.y)) {
        p->grid.y[0] = -.1;
        p->grid.y[1] = 1.5;
    }
    for (size_t i = 0; i < 3; i++)
        mc_curve_coefs(c.kind, c.n_points, at[i], three + i * c.n_points);
    struct mc_span span = {
        .graph = c.graph, .k = c.n_points, .vectors = (const float *const *)c.points};
    mc_checkpoint_set(&id, "curve", "%s", c.id);
    rc = measure(&j, &span, three, names, &c, &id, err);
    mc_curve_release(&c);
    return rc;
}
