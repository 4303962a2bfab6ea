/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation as an objective of the training loop. */
#include "mc_pam.h"

#include "mc_rng.h"
#include "mc_spectral.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mc_pam_defaults(struct mc_pam_options *o)
{
    *o = (struct mc_pam_options){.outer = 1,
                                 .permutation_epochs = 20,
                                 .curve_epochs = 250,
                                 .permutation_lr = NAN,
                                 .nu_permutation = 1e3,
                                 .nu_curve = 1e3,
                                 .sweeps = 20,
                                 .draws = 32,
                                 .drop = 5e-4,
                                 .terms = 10,
                                 .images = 5000,
                                 .points = 5};
}

static uint64_t iteration(const struct mc_pam *p)
{
    return p->o->permutation_epochs + p->o->curve_epochs;
}

uint64_t mc_pam_epochs(const struct mc_pam_options *o)
{
    return o->outer * (o->permutation_epochs + o->curve_epochs);
}

size_t mc_pam_vectors(int checkpoint)
{
    /* on the device a, b, Pb, the offset, its momentum and anchor, the point, an index and the
     * gradient; on the host a, b, the offset and an index */
    return 9 + 4 + (checkpoint ? 3 : 0);
}

static size_t units(const struct mc_pam *p)
{
    size_t n = 0;

    for (size_t g = 0; g < p->symmetry->n_groups; g++)
        n += p->symmetry->groups[g].size;
    return n;
}

/* ---- between host and device ------------------------------------------------------------------
 */

static int put_matrices(struct mc_pam *p, struct mc_fit *f, struct mc_buf *to, struct mc_error *err)
{
    float *m = malloc(p->matrices * sizeof *m);

    if (!m)
        return mc_fail(err, MC_ENOMEM, "out of memory");
    mc_action_matrices(p->symmetry, &p->previous, m);
    int rc = f->be->put(f->be, to, 0, m, p->matrices * sizeof *m, err);
    free(m);
    return rc;
}

/* A checkpoint holds float32: a unit's number is exact in one. */
static int put_perm(struct mc_fit *f, const struct mc_perm *perm, struct mc_buf *to,
                    struct mc_error *err)
{
    size_t at = 0;
    int rc = 0;

    for (size_t g = 0; !rc && g < perm->n_groups; g++) {
        float *unit = malloc(perm->sizes[g] * sizeof *unit);
        if (!unit)
            return mc_fail(err, MC_ENOMEM, "out of memory");
        for (size_t i = 0; i < perm->sizes[g]; i++)
            unit[i] = (float)perm->perm[g][i];
        rc = f->be->put(f->be, to, at * sizeof *unit, unit, perm->sizes[g] * sizeof *unit, err);
        at += perm->sizes[g];
        free(unit);
    }
    return rc;
}

static int get_perm(struct mc_fit *f, const struct mc_buf *from, struct mc_perm *perm,
                    struct mc_error *err)
{
    size_t at = 0;
    int rc = 0;

    for (size_t g = 0; !rc && g < perm->n_groups; g++) {
        float *unit = malloc(perm->sizes[g] * sizeof *unit);
        if (!unit)
            return mc_fail(err, MC_ENOMEM, "out of memory");
        rc = f->be->get(f->be, from, at * sizeof *unit, unit, perm->sizes[g] * sizeof *unit, err);
        for (size_t i = 0; !rc && i < perm->sizes[g]; i++)
            perm->perm[g][i] =
                unit[i] >= 0 && unit[i] < (float)perm->sizes[g] ? (int32_t)unit[i] : -1;
        at += perm->sizes[g];
        free(unit);
    }
    return rc ? rc : mc_perm_check(perm, err);
}

static int put_all(struct mc_pam *p, struct mc_fit *f, struct mc_error *err)
{
    int rc = put_perm(f, p->perm, p->d_perm, err);

    if (!rc)
        rc = put_perm(f, &p->previous, p->d_previous, err);
    if (!rc)
        rc = f->be->put(f->be, p->d_report, 0, p->report, p->o->outer * sizeof *p->report, err);
    return rc;
}

/* ---- the objective ----------------------------------------------------------------------------
 */

/* The images that judge: the first ones, in whole batches where there is one. */
static int prepare_judge(struct mc_pam *p, struct mc_fit *f, struct mc_error *err)
{
    struct mc_backend *be = f->be;
    const uint64_t batch = f->o->batch, n = f->data->info.n, T = p->o->points;
    uint64_t images = p->o->images < n ? p->o->images : n;
    float *points = malloc(T * 3 * sizeof *points);
    int32_t *order;
    int rc = 0;

    images = images < batch ? images : images / batch * batch;
    p->batches = (images + batch - 1) / batch;
    order = malloc(p->batches * batch * sizeof *order);
    if (!order || !points)
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
    for (uint64_t i = 0; !rc && i < p->batches * batch; i++)
        order[i] = i < images ? (int32_t)i : -1;
    for (uint64_t i = 0; !rc && i < T; i++) {
        const double t = ((double)i + .5) / (double)T;
        points[3 * i] = (float)(1 - t);
        points[3 * i + 1] = (float)t;
        points[3 * i + 2] = (float)(2 * t * (1 - t));
    }
    if (!rc)
        rc = be->buf_new(be, p->batches * batch * sizeof *order, &p->order, err);
    if (!rc)
        rc = be->put(be, p->order, 0, order, p->batches * batch * sizeof *order, err);
    if (!rc)
        rc = be->buf_new(be, T * 3 * sizeof *points, &p->points, err);
    if (!rc)
        rc = be->put(be, p->points, 0, points, T * 3 * sizeof *points, err);
    if (!rc)
        rc = be->buf_new(be, sizeof(struct mc_ctl), &p->ctl, err);
    if (!rc)
        rc = be->buf_new(be, sizeof(struct mc_ctl), &p->points_ctl, err);
    if (!rc)
        rc = be->buf_new(be, (MC_N_METRICS + 1) * sizeof(double), &p->sums, err);
    free(order);
    free(points);
    return rc;
}

static int prepare(struct mc_objective *o, struct mc_fit *f, struct mc_error *err)
{
    struct mc_pam *p = (struct mc_pam *)o;
    struct mc_backend *be = f->be;
    const size_t P = p->graph->P * sizeof(float), M = (p->matrices + 1) * sizeof(float);
    const size_t n = (units(p) + 1) * sizeof(float);
    const struct {
        struct mc_buf **buf;
        size_t bytes;
    } all[] = {{&p->d_a, P},
               {&p->d_b, P},
               {&p->d_pb, P},
               {&p->d_offset, P},
               {&p->d_momentum, P},
               {&p->d_anchor, P},
               {&p->d_point, P},
               {&p->index, P},
               {&p->d_matrices, M},
               {&p->d_matrices_anchor, M},
               {&p->d_matrices_grad, M},
               {&p->d_matrices_momentum, M},
               {&p->coefs, f->steps * 3 * sizeof(float)},
               {&p->residual, sizeof(double)},
               {&p->d_perm, n},
               {&p->d_previous, n},
               {&p->d_report, p->o->outer * sizeof *p->report}};
    int rc = 0;

    for (size_t i = 0; !rc && i < sizeof all / sizeof *all; i++)
        rc = be->buf_new(be, all[i].bytes, all[i].buf, err);
    if (!rc)
        rc = be->action_new(be, p->graph, p->symmetry, &p->action, err);
    if (!rc)
        rc = be->put(be, p->d_a, 0, p->a, P, err);
    if (!rc)
        rc = be->put(be, p->d_b, 0, p->b, P, err);
    if (!rc)
        rc = be->put(be, p->d_offset, 0, p->offset, P, err);
    if (!rc)
        rc = prepare_judge(p, f, err);
    return rc;
}

static int put_coefs(struct mc_pam *p, struct mc_fit *f, uint64_t e, struct mc_error *err)
{
    float *rows = malloc(f->steps * 3 * sizeof *rows);

    if (!rows)
        return mc_fail(err, MC_ENOMEM, "out of memory");
    for (uint64_t s = 0; s < f->steps; s++) {
        const struct mc_rng4 r = mc_rng(f->o->seed, MC_RNG_CURVE_T, (uint32_t)e, (uint32_t)s, 0);
        const double t = (double)mc_rng_unit(r.v[0]);
        rows[3 * s] = (float)(1 - t);
        rows[3 * s + 1] = (float)t;
        rows[3 * s + 2] = (float)(2 * t * (1 - t));
    }
    int rc = f->be->put(f->be, p->coefs, 0, rows, f->steps * 3 * sizeof *rows, err);
    free(rows);
    return rc;
}

/* The objective where an iteration begins: the last one's end, or to be found. */
static int begin_iteration(struct mc_pam *p, struct mc_fit *f, uint64_t outer, struct mc_error *err)
{
    struct mc_pam_report *r = &p->report[outer];
    int rc;

    for (size_t g = 0; g < p->perm->n_groups; g++)
        memcpy(p->previous.perm[g], p->perm->perm[g], p->perm->sizes[g] * sizeof *p->perm->perm[g]);
    if ((rc = mc_pam_place(p, f, p->perm, err)))
        return rc;
    return mc_pam_judge(p, f, &r->loss_before, &r->decay_before, err);
}

static int epoch(struct mc_objective *o, struct mc_fit *f, uint64_t e, struct mc_error *err)
{
    struct mc_pam *p = (struct mc_pam *)o;
    const uint64_t outer = e / iteration(p), at = e % iteration(p);
    struct mc_backend *be = f->be;
    int rc = at ? 0 : begin_iteration(p, f, outer, err);

    if (!rc)
        rc = put_coefs(p, f, e, err);
    p->permuting = at < p->o->permutation_epochs;
    if (!rc && p->permuting) {
        rc = put_matrices(p, f, p->d_matrices_anchor, err);
        if (!rc && !at)
            be->copy(be, p->d_matrices, p->d_matrices_anchor, p->matrices * sizeof(float));
    } else if (!rc) {
        rc = mc_pam_place(p, f, p->perm, err);
        if (at == p->o->permutation_epochs) {
            be->copy(be, p->d_anchor, p->d_offset, p->graph->P * sizeof(float));
            be->zero(be, p->d_momentum);
        }
    }
    return rc;
}

static double lr(struct mc_objective *o, struct mc_fit *f, uint64_t e, uint64_t step)
{
    const struct mc_pam *p = (const struct mc_pam *)o;
    const uint64_t outer = e / iteration(p), at = e % iteration(p);
    const uint64_t n_p = p->o->permutation_epochs, n_c = p->o->curve_epochs;

    return at < n_p ? mc_fit_lr(&p->permutation_fit, outer * n_p + at, step, f->steps)
                    : mc_fit_lr(&p->curve_fit, outer * n_c + at - n_p, step, f->steps);
}

static const struct mc_buf *point(struct mc_objective *o, struct mc_fit *f)
{
    struct mc_pam *p = (struct mc_pam *)o;
    const struct mc_buf *const vectors[] = {p->d_a, p->d_pb, p->d_offset};

    if (p->permuting)
        f->be->act(p->action, p->d_matrices, p->d_b, p->d_pb);
    f->be->lincomb(f->be, p->graph->P, p->d_point, 3, vectors, p->coefs, f->ctl);
    return p->d_point;
}

static void step(struct mc_objective *o, struct mc_fit *f, const struct mc_buf *at)
{
    struct mc_pam *p = (struct mc_pam *)o;
    struct mc_backend *be = f->be;

    if (p->permuting) {
        const struct mc_sgd s = {.p = p->d_matrices,
                                 .m = p->d_matrices_momentum,
                                 .grad = p->d_matrices_grad,
                                 .point = p->d_matrices, /* decay 0: not looked at */
                                 .lrs = f->lrs,
                                 .coefs = p->coefs,
                                 .stride = 3,
                                 .k = 1};
        be->act_grad(p->action, p->d_matrices, p->d_b, f->grad, p->d_matrices_grad);
        be->sgd(be, p->matrices, &s, f->ctl);
        be->pull(be, p->matrices, p->d_matrices, p->d_matrices_anchor, f->lrs, p->o->nu_permutation,
                 f->ctl);
        be->project(p->action, p->d_matrices, p->o->sweeps, p->residual);
    } else {
        const struct mc_sgd s = {.p = p->d_offset,
                                 .m = p->d_momentum,
                                 .grad = f->grad,
                                 .point = at,
                                 .lrs = f->lrs,
                                 .coefs = p->coefs,
                                 .stride = 3,
                                 .k = 2,
                                 .momentum = (float)f->o->momentum,
                                 .decay = (float)f->o->decay,
                                 .nesterov = f->o->nesterov};
        be->sgd(be, p->graph->P, &s, f->ctl);
        be->pull(be, p->graph->P, p->d_offset, p->d_anchor, f->lrs, p->o->nu_curve, f->ctl);
    }
}

/* ---- at the ends of steps ---------------------------------------------------------------------
 */

/* The weights of the control point, (a + Pb) / 2 + offset, to the spectral norm that is allowed. */
static int clip(struct mc_pam *p, struct mc_fit *f, struct mc_error *err)
{
    const size_t n = p->graph->P;
    float *offset = malloc(2 * n * sizeof *offset), *pb = offset + n;
    int rc = offset ? f->be->get(f->be, p->d_offset, 0, offset, n * sizeof *offset, err)
                    : mc_fail(err, MC_ENOMEM, "out of memory");

    if (!rc)
        rc = f->be->get(f->be, p->d_pb, 0, pb, n * sizeof *pb, err);
    for (size_t l = 0; !rc && l < p->layers->L; l++) {
        const struct mc_param *t = &p->graph->params[p->layers->weight[l]];
        float *w = offset + t->offset;
        for (size_t i = 0; i < t->count; i++)
            w[i] += .5f * (p->a[t->offset + i] + pb[t->offset + i]);
        rc = mc_spectral_clip((size_t)t->tensor.shape[0], (size_t)t->tensor.shape[1], w,
                              p->o->spectral, err);
        if (rc > 0)
            rc = 0; /* so many values were clipped */
        for (size_t i = 0; i < t->count; i++)
            w[i] -= .5f * (p->a[t->offset + i] + pb[t->offset + i]);
    }
    if (!rc)
        rc = f->be->put(f->be, p->d_offset, 0, offset, n * sizeof *offset, err);
    free(offset);
    return rc;
}

static int measure_curve(struct mc_pam *p, struct mc_fit *f, struct mc_pam_report *r,
                         struct mc_error *err)
{
    const size_t n = p->graph->P;
    float *x = malloc(2 * n * sizeof *x);
    int rc = x ? f->be->get(f->be, p->d_offset, 0, x, n * sizeof *x, err)
               : mc_fail(err, MC_ENOMEM, "out of memory");
    double sum = 0;

    if (!rc)
        rc = f->be->get(f->be, p->d_anchor, 0, x + n, n * sizeof *x, err);
    for (size_t i = 0; !rc && i < n; i++)
        sum += pow((double)x[i] - (double)x[n + i], 2);
    free(x);
    r->proximal_curve = sum / (2 * p->o->nu_curve);
    return rc ? rc : mc_pam_judge(p, f, &r->loss_curve, &r->decay_curve, err);
}

/* The second theorem's least move: K_L sqrt(M) (delta / 2) sum of K_W^i, i = 1 ... L - 1. */
static double least_move(const struct mc_pam *p, const struct mc_fit *f)
{
    double sum = 0, power = 1;

    for (size_t i = 1; i < p->layers->L; i++) {
        power *= p->o->spectral;
        sum += power;
    }
    return sqrt(2) * sqrt((double)p->layers->M) * .5 * f->o->huber * sum;
}

/* What the whole iteration did; *stop: too little, by the theorem, and it is given up. */
static void end_iteration(struct mc_pam *p, struct mc_fit *f, struct mc_pam_report *r, int *stop)
{
    const int permuted = p->o->permutation_epochs > 0, curved = p->o->curve_epochs > 0;
    const double proximal =
        (permuted ? r->proximal_permutation : 0) + (curved ? r->proximal_curve : 0);
    const double after =
        curved ? r->loss_curve + r->decay_curve : r->loss_permutation + r->decay_permutation;

    r->decrease = r->loss_before + r->decay_before - after - proximal;
    if (!p->layers)
        return;
    r->least_move = least_move(p, f);
    r->rejected = proximal < r->least_move;
    if (!r->rejected)
        return;
    for (size_t g = 0; g < p->perm->n_groups; g++)
        memcpy(p->perm->perm[g], p->previous.perm[g], p->perm->sizes[g] * sizeof *p->perm->perm[g]);
    if (curved)
        f->be->copy(f->be, p->d_offset, p->d_anchor, p->graph->P * sizeof(float));
    *stop = 1;
}

static int after(struct mc_objective *o, struct mc_fit *f, uint64_t e, int *stop,
                 struct mc_error *err)
{
    struct mc_pam *p = (struct mc_pam *)o;
    const uint64_t outer = e / iteration(p), at = e % iteration(p);
    struct mc_pam_report *r = &p->report[outer];
    const int last = at + 1 == iteration(p);
    int rc = 0;

    if (at + 1 == p->o->permutation_epochs)
        rc = mc_pam_select(p, f, outer, err);
    if (!rc && p->layers && at >= p->o->permutation_epochs)
        rc = clip(p, f, err);
    if (!rc && last && p->o->curve_epochs)
        rc = measure_curve(p, f, r, err);
    if (!rc && last)
        end_iteration(p, f, r, stop);
    return rc ? rc : put_all(p, f, err);
}

static int resumed(struct mc_objective *o, struct mc_fit *f, uint64_t e, int *stop,
                   struct mc_error *err)
{
    struct mc_pam *p = (struct mc_pam *)o;
    int rc = get_perm(f, p->d_perm, p->perm, err);

    if (!rc)
        rc = get_perm(f, p->d_previous, &p->previous, err);
    if (!rc)
        rc = f->be->get(f->be, p->d_report, 0, p->report, p->o->outer * sizeof *p->report, err);
    *stop = !rc && p->report[e / iteration(p)].rejected == 1;
    return rc;
}

static size_t vectors(struct mc_objective *o, struct mc_fit *f, struct mc_fit_vector *v)
{
    const struct mc_pam *p = (const struct mc_pam *)o;
    const size_t P = p->graph->P, n = units(p);
    const struct mc_fit_vector all[] = {
        {"offset", p->d_offset, P},
        {"momentum", p->d_momentum, P},
        {"anchor", p->d_anchor, P},
        {"matrices", p->d_matrices, p->matrices},
        {"permutation", p->d_perm, n},
        {"previous", p->d_previous, n},
        {"report", p->d_report, p->o->outer * sizeof *p->report / sizeof(float)}};

    (void)f;
    memcpy(v, all, sizeof all);
    return sizeof all / sizeof *all;
}

static int finish(struct mc_objective *o, struct mc_fit *f, struct mc_error *err)
{
    struct mc_pam *p = (struct mc_pam *)o;

    return f->be->get(f->be, p->d_offset, 0, p->offset, p->graph->P * sizeof(float), err);
}

static void release(struct mc_objective *o, struct mc_fit *f)
{
    struct mc_pam *p = (struct mc_pam *)o;
    struct mc_buf *all[] = {p->d_a,
                            p->d_b,
                            p->d_pb,
                            p->d_offset,
                            p->d_momentum,
                            p->d_anchor,
                            p->d_point,
                            p->index,
                            p->d_matrices,
                            p->d_matrices_anchor,
                            p->d_matrices_grad,
                            p->d_matrices_momentum,
                            p->coefs,
                            p->residual,
                            p->d_perm,
                            p->d_previous,
                            p->d_report,
                            p->order,
                            p->ctl,
                            p->points,
                            p->points_ctl,
                            p->sums};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        f->be->buf_free(f->be, all[i]);
    f->be->action_free(p->action);
}

/* ---- a run ------------------------------------------------------------------------------------
 */

/* What the theorem asks: a cross-entropy of Lipschitz constant sqrt(2), ends within the norm. */
static int check_theorem(const struct mc_pam *p, struct mc_error *err)
{
    for (int i = 0; i < p->graph->n_nodes; i++)
        if (p->graph->nodes[i].op == MC_OP_LOSS && p->graph->nodes[i].loss_weight != 1)
            return mc_fail(err, MC_EUSAGE, "%s: the theorem is for a loss of weight 1, not %g",
                           p->graph->nodes[i].name, (double)p->graph->nodes[i].loss_weight);
    for (size_t l = 0; l < p->layers->L; l++) {
        const struct mc_param *t = &p->graph->params[p->layers->weight[l]];
        for (int end = 0; end < 2; end++) {
            double norm = 0;
            int rc = mc_spectral_norm((size_t)t->tensor.shape[0], (size_t)t->tensor.shape[1],
                                      (end ? p->b : p->a) + t->offset, &norm, err);
            if (rc)
                return rc;
            if (norm > p->o->spectral * (1 + 1e-6))
                return mc_fail(err, MC_EUSAGE,
                               "the %s network's %s has spectral norm %g, more than the %g that "
                               "the theorem is to hold for",
                               end ? "second" : "first", t->tensor.name, norm, p->o->spectral);
        }
    }
    return 0;
}

int mc_pam_init(struct mc_pam *p, const struct mc_pam_options *o, struct mc_fit_options *fit,
                const struct mc_symmetry *s, const struct mc_graph *g, const float *a,
                const float *b, float *offset, struct mc_perm *perm, struct mc_pam_report *report,
                struct mc_error *err)
{
    static const struct mc_objective pam = {.mode = MC_MODE_BATCH,
                                            .prepare = prepare,
                                            .epoch = epoch,
                                            .lr = lr,
                                            .point = point,
                                            .step = step,
                                            .after = after,
                                            .resumed = resumed,
                                            .vectors = vectors,
                                            .finish = finish,
                                            .release = release};
    double *numbers = (double *)report;
    int rc;

    *p = (struct mc_pam){.objective = pam,
                         .o = o,
                         .graph = g,
                         .symmetry = s,
                         .a = a,
                         .b = b,
                         .offset = offset,
                         .perm = perm,
                         .report = report};
    for (size_t i = 0; i < o->outer * MC_PAM_REPORT; i++)
        numbers[i] = NAN;
    p->permutation_fit = p->curve_fit = *fit;
    p->permutation_fit.epochs = o->outer * o->permutation_epochs;
    p->permutation_fit.lr = isnan(o->permutation_lr) ? .5 * fit->lr : o->permutation_lr;
    p->curve_fit.epochs = o->outer * o->curve_epochs;
    fit->epochs = mc_pam_epochs(o);
    if (!(p->at = malloc((s->n_groups + 1) * sizeof *p->at)))
        return mc_fail(err, MC_ENOMEM, "out of memory");
    p->matrices = mc_action_layout(s, p->at);
    if ((rc = mc_perm_init(&p->previous, s, err)) || o->spectral <= 0)
        return rc;
    if (!(p->layers = calloc(1, sizeof *p->layers)))
        return mc_fail(err, MC_ENOMEM, "out of memory");
    if ((rc = mc_spectral_layers(g, p->layers, err)))
        return rc;
    return check_theorem(p, err);
}

void mc_pam_release(struct mc_pam *p)
{
    mc_perm_release(&p->previous);
    if (p->layers)
        mc_spectral_layers_release(p->layers);
    free(p->layers);
    free(p->at);
    *p = (struct mc_pam){0};
}
