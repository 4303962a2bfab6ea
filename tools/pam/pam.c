/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation as an objective of the training loop. */
#include "tools/pam/pam.h"
#include "libcommon/base/alloc.h"

#include <math.h>
#include <stdlib.h>

static uint64_t iteration(const struct mc_pam *p)
{
    return p->o->permutation_epochs + p->o->curve_epochs;
}

uint64_t mc_pam_epochs(const struct mc_pam_options *o)
{
    return o->outer * (o->permutation_epochs + o->curve_epochs);
}

/* ---- the objective --------------------------------------------------------------------------- */

static int prepare(struct mc_objective *o, struct mc_train *f, struct mc_error *err)
{
    struct mc_pam *p = (struct mc_pam *)o;
    const size_t P = p->graph->P * sizeof(float), M = (p->matrices + 1) * sizeof(float);
    struct mc_buf **const vectors[] = {&p->d_pb, &p->d_momentum, &p->d_anchor, &p->d_point,
                                       &p->index};
    struct mc_buf **const matrices[] = {&p->d_matrices, &p->d_matrices_anchor, &p->d_matrices_grad,
                                        &p->d_matrices_momentum};
    int rc;

    mc_bufs_add(&f->bufs, &p->d_a, p->a, P, err);
    mc_bufs_add(&f->bufs, &p->d_b, p->b, P, err);
    mc_bufs_add(&f->bufs, &p->d_offset, p->offset, P, err);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        mc_bufs_add(&f->bufs, vectors[i], NULL, P, err);
    for (size_t i = 0; p->o->permutation_epochs && i < sizeof matrices / sizeof *matrices; i++)
        mc_bufs_add(&f->bufs, matrices[i], NULL, M, err);
    mc_bufs_add(&f->bufs, &p->coefs, NULL, f->steps * 3 * sizeof(float), err);
    mc_bufs_add(&f->bufs, &p->residual, NULL, sizeof(double), err);
    if (!(rc = f->bufs.rc) && p->o->permutation_epochs)
        rc = f->be->soft_perm_new(f->be, p->graph, p->symmetry, &p->soft_perm, err);
    return rc ? rc : mc_pam_prepare_sets(p, f, err);
}

/* Save the permutation and the offset as the iteration's start, apply the permutation, and measure
 * the objective. */
static int begin_iteration(struct mc_pam *p, struct mc_train *f, uint64_t outer,
                           struct mc_error *err)
{
    struct mc_pam_report *r = &p->report[outer];
    int rc;

    mc_perm_copy(&p->previous, p->perm);
    f->be->copy(f->be, p->d_anchor, p->d_offset, p->graph->P * sizeof(float));
    rc = mc_pam_place(p, f, p->perm, err);
    return rc ? rc : mc_pam_measure_current(p, f, &r->before, &r->relu_before, err);
}

/* Write p->previous as matrices to p->d_matrices_anchor. */
static int put_anchor(struct mc_pam *p, struct mc_train *f, struct mc_error *err)
{
    float *m = malloc(p->matrices * sizeof *m);

    if (!m)
        return mc_no_memory(err);
    mc_soft_perm_matrices(p->symmetry, &p->previous, m);
    int rc = f->be->put(f->be, p->d_matrices_anchor, 0, m, p->matrices * sizeof *m, err);
    free(m);
    return rc;
}

static int epoch(struct mc_objective *o, struct mc_train *f, uint64_t e, struct mc_error *err)
{
    struct mc_pam *p = (struct mc_pam *)o;
    const uint64_t outer = e / iteration(p), phase = e % iteration(p);
    const int permuting = phase < p->o->permutation_epochs;
    struct mc_backend *be = f->be;
    int rc = phase ? 0 : begin_iteration(p, f, outer, err);

    if (!rc)
        rc = mc_train_put_weights(f, e, 3, mc_pam_weights, NULL, p->coefs, err);
    if (permuting != p->permuting) {
        be->capture_free(be, f->step);
        f->step = NULL;
    }
    p->permuting = permuting;
    if (!rc && p->permuting) {
        rc = put_anchor(p, f, err);
        if (!rc && !phase)
            be->copy(be, p->d_matrices, p->d_matrices_anchor, p->matrices * sizeof(float));
    } else if (!rc) {
        rc = mc_pam_place(p, f, p->perm, err);
        if (phase == p->o->permutation_epochs)
            be->zero(be, p->d_momentum);
    }
    return rc;
}

static double lr(struct mc_objective *o, struct mc_train *f, uint64_t e, uint64_t step)
{
    const struct mc_pam *p = (const struct mc_pam *)o;
    const uint64_t outer = e / iteration(p), phase = e % iteration(p);
    const uint64_t n_p = p->o->permutation_epochs, n_c = p->o->curve_epochs;

    return phase < n_p ? mc_train_lr(&p->permutation_fit, outer * n_p + phase, step, f->steps)
                       : mc_train_lr(&p->curve_fit, outer * n_c + phase - n_p, step, f->steps);
}

static const struct mc_buf *point(struct mc_objective *o, struct mc_train *f)
{
    struct mc_pam *p = (struct mc_pam *)o;

    if (p->permuting)
        f->be->soft_permute(p->soft_perm, p->d_matrices, p->d_b, p->d_pb);
    mc_pam_point(p, f, p->coefs, f->ctl);
    return p->d_point;
}

void mc_pam_descend(struct mc_backend *be, size_t n, const struct mc_sgd *s,
                    const struct mc_buf *anchor, double nu, const struct mc_buf *ctl)
{
    be->sgd(be, n, s, ctl);
    be->proximal(be, n, s->p, anchor, s->lrs, nu * (1 - (double)s->momentum), ctl);
}

static void step(struct mc_objective *o, struct mc_train *f, const struct mc_buf *point)
{
    struct mc_pam *p = (struct mc_pam *)o;
    struct mc_backend *be = f->be;

    if (p->permuting) {
        const struct mc_sgd s = {.p = p->d_matrices,
                                 .m = p->d_matrices_momentum,
                                 .grad = p->d_matrices_grad,
                                 .point = p->d_matrices, /* decay 0: ignored */
                                 .lrs = f->lrs,
                                 .coefs = p->coefs,
                                 .stride = 3,
                                 .k = 1};
        be->soft_permute_grad(p->soft_perm, p->d_matrices, p->d_b, f->grad, p->d_matrices_grad);
        mc_pam_descend(be, p->matrices, &s, p->d_matrices_anchor, p->o->nu_permutation, f->ctl);
        be->project(p->soft_perm, p->d_matrices, p->o->sweeps, p->residual);
    } else {
        const struct mc_sgd s = {.p = p->d_offset,
                                 .m = p->d_momentum,
                                 .grad = f->grad,
                                 .point = point,
                                 .lrs = f->lrs,
                                 .coefs = p->coefs,
                                 .stride = 3,
                                 .k = 2,
                                 .momentum = (float)f->o->momentum,
                                 .decay = (float)f->o->decay,
                                 .nesterov = f->o->nesterov};
        mc_pam_descend(be, p->graph->P, &s, p->d_anchor, p->o->nu_curve, f->ctl);
    }
}

/* ---- ends of steps --------------------------------------------------------------------------- */

/* Curve steps move the offset; so may the clip at the end of a permutation step. */
static int offset_moves(const struct mc_pam *p)
{
    return p->o->curve_epochs > 0 || p->o->spectral > 0;
}

/* Measure the offset's proximal term and the objective after the step. */
static int measure_curve(struct mc_pam *p, struct mc_train *f, struct mc_pam_report *r,
                         struct mc_error *err)
{
    const size_t n = p->graph->P;
    float *x = malloc(2 * n * sizeof *x);
    int rc = x ? f->be->get(f->be, p->d_offset, 0, x, n * sizeof *x, err) : mc_no_memory(err);
    double sum = 0;

    if (!rc)
        rc = f->be->get(f->be, p->d_anchor, 0, x + n, n * sizeof *x, err);
    for (size_t i = 0; !rc && i < n; i++)
        sum += pow((double)x[i] - (double)x[n + i], 2);
    free(x);
    r->proximal_curve = sum / (2 * p->o->nu_curve);
    return rc ? rc : mc_pam_measure_current(p, f, &r->curve, &r->relu, err);
}

/* Evaluate the whole iteration. *stop: the theorem's rule rejects it, and it is undone. */
static void end_iteration(struct mc_pam *p, struct mc_train *f, struct mc_pam_report *r, int *stop)
{
    const int permuted = p->o->permutation_epochs > 0, curved = offset_moves(p);
    const double proximal =
        (permuted ? r->proximal_permutation : 0) + (curved ? r->proximal_curve : 0);
    const struct mc_pam_value *after = curved ? &r->curve : &r->permutation;

    r->decrease = r->before.loss + r->before.decay - (after->loss + after->decay) - proximal;
    if (p->o->spectral <= 0)
        return;
    r->least_move = mc_pam_min_move(p, f);
    r->rejected = proximal < r->least_move;
    if (r->rejected < 1)
        return;
    mc_perm_copy(p->perm, &p->previous);
    f->be->copy(f->be, p->d_offset, p->d_anchor, p->graph->P * sizeof(float));
    *stop = 1;
}

static int after(struct mc_objective *o, struct mc_train *f, uint64_t e, int *stop,
                 struct mc_error *err)
{
    struct mc_pam *p = (struct mc_pam *)o;
    const uint64_t outer = e / iteration(p), phase = e % iteration(p);
    struct mc_pam_report *r = &p->report[outer];
    const int last = phase + 1 == iteration(p);
    int rc = 0;

    if (phase + 1 == p->o->permutation_epochs) {
        rc = mc_pam_select(p, f, outer, err);
        if (!rc && p->o->spectral > 0) /* the clip needs the selected permutation, not the last */
            rc = mc_pam_place(p, f, p->perm, err);
    }
    if (!rc && p->o->spectral > 0 && phase + 1 >= p->o->permutation_epochs)
        rc = mc_pam_clip(p, f, err);
    if (!rc && last && offset_moves(p))
        rc = measure_curve(p, f, r, err);
    if (!rc && last)
        end_iteration(p, f, r, stop);
    mc_pam_save_perms(p);
    return rc;
}

static int resumed(struct mc_objective *o, struct mc_train *f, uint64_t e, int *stop,
                   struct mc_error *err)
{
    struct mc_pam *p = (struct mc_pam *)o;
    int rc = mc_fail_in(mc_pam_restore(p, err), err, "%s", f->o->checkpoint);

    *stop = !rc && p->report[e / iteration(p)].rejected == 1;
    return rc;
}

static int finish(struct mc_objective *o, struct mc_train *f, struct mc_error *err)
{
    struct mc_pam *p = (struct mc_pam *)o;

    return f->be->get(f->be, p->d_offset, 0, p->offset, p->graph->P * sizeof(float), err);
}

static void memory(const struct mc_objective *o, const struct mc_train_options *t,
                   struct mc_train_memory *m)
{
    const struct mc_pam *p = (const struct mc_pam *)o;

    m->plans += t->huber > 0; /* for the ReLU set */
    /* device: a, b, Pb, the offset with momentum and anchor, point, index, gradient; host: a, b,
     * offset, and two vectors to measure its move */
    m->vectors += 9u + 5u + (t->checkpoint ? 3u : 0u);
    if (!p->o->permutation_epochs)
        return;
    m->vectors += 2; /* for the products with matrices */
    /* device: matrices, anchor, gradient, momentum; host: one copy */
    m->matrices += (5 + (t->checkpoint ? 1u : 0u)) * p->matrices;
}

static void release(struct mc_objective *o, struct mc_train *f)
{
    struct mc_pam *p = (struct mc_pam *)o;

    mc_pam_release_sets(p, f);
    f->be->soft_perm_free(p->soft_perm);
}

/* ---- a run ----------------------------------------------------------------------------------- */

int mc_pam_init(struct mc_pam *p, struct mc_train_options *train, struct mc_error *err)
{
    static const struct mc_objective pam = {.mode = MC_MODE_BATCH,
                                            .prepare = prepare,
                                            .epoch = epoch,
                                            .lr = lr,
                                            .point = point,
                                            .step = step,
                                            .after = after,
                                            .resumed = resumed,
                                            .vectors = mc_pam_vectors,
                                            .memory = memory,
                                            .finish = finish,
                                            .release = release};
    const struct mc_pam_options *o = p->o;
    double *numbers = (double *)p->report;
    int rc;

    p->objective = pam;
    for (size_t i = 0; i < o->outer * MC_PAM_REPORT; i++)
        numbers[i] = NAN;
    p->permutation_fit = p->curve_fit = *train;
    p->permutation_fit.epochs = o->outer * o->permutation_epochs;
    p->permutation_fit.lr = o->permutation_lr;
    p->curve_fit.epochs = o->outer * o->curve_epochs;
    train->epochs = mc_pam_epochs(o);
    for (size_t g = 0; g < p->symmetry->n_groups; g++)
        p->n_units += p->symmetry->groups[g].size;
    if ((rc = mc_new(&p->offsets, p->symmetry->n_groups, err)) ||
        (rc = mc_new(&p->units, 2 * p->n_units, err)))
        return rc;
    p->matrices = mc_soft_perm_layout(p->symmetry, p->offsets);
    if ((rc = mc_perm_init(&p->previous, p->symmetry, err)) || o->spectral <= 0)
        return rc;
    return mc_pam_theorem_init(p, err);
}

void mc_pam_release(struct mc_pam *p)
{
    mc_perm_release(&p->previous);
    mc_spectral_layers_release(&p->layers);
    free(p->offsets);
    free(p->units);
    *p = (struct mc_pam){0};
}
