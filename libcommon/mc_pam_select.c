/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation: what candidates are judged on, and from doubly stochastic
 * matrices back to a permutation. */
#include "mc_pam.h"

#include "mc_assign.h"
#include "mc_rng.h"
#include "mc_stochastic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The epoch that keys the augmentation of the images that judge: the same at all times. */
#define JUDGE_EPOCH UINT32_MAX
enum { DECAY_SUM = MC_N_METRICS };

uint64_t mc_pam_judge_images(const struct mc_pam_options *o, uint64_t n, uint64_t batch)
{
    const uint64_t images = o->images < n ? o->images : n;

    return images < batch ? images : images / batch * batch;
}

int mc_pam_prepare_judge(struct mc_pam *p, struct mc_fit *f, struct mc_error *err)
{
    struct mc_backend *be = f->be;
    const uint64_t batch = f->o->batch, T = p->o->points;
    const uint64_t images = mc_pam_judge_images(p->o, f->data->info.n, batch);
    const struct mc_ctl begin = {.seed = f->o->seed, .epoch = JUDGE_EPOCH};
    float *points = malloc(T * 3 * sizeof *points);
    int32_t *order;
    int rc = 0;

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
        rc = be->buf_new(be, sizeof begin, &p->begin, err);
    if (!rc)
        rc = be->put(be, p->begin, 0, &begin, sizeof begin, err);
    if (!rc)
        rc = be->buf_new(be, (MC_N_METRICS + 1) * sizeof(double), &p->sums, err);
    free(order);
    free(points);
    return rc;
}

/* The point at the next t; from the first one on. */
static void next_point(const struct mc_pam *p, const struct mc_fit *f, int first)
{
    const struct mc_buf *const vectors[] = {p->d_a, p->d_pb, p->d_offset};
    struct mc_backend *be = f->be;

    if (first)
        be->copy(be, p->points_ctl, p->begin, sizeof(struct mc_ctl));
    be->lincomb(be, p->graph->P, p->d_point, 3, vectors, p->points, p->points_ctl);
    be->ctl_next(be, p->points_ctl);
}

struct judgement {
    struct mc_pam *p;
    struct mc_fit *f;
};

/* A batch at every t. */
static void judge_batch(void *arg)
{
    struct mc_pam *p = ((struct judgement *)arg)->p;
    struct mc_fit *f = ((struct judgement *)arg)->f;
    const struct mc_source source = mc_fit_source(f, p->order);

    mc_fit_load(f, &source, p->ctl);
    for (uint64_t i = 0; i < p->o->points; i++) {
        next_point(p, f, i == 0);
        mc_fit_forward(f, MC_MODE_BATCH, &source, p->ctl, p->d_point);
        f->be->metrics(f->plan, p->sums);
    }
    f->be->ctl_next(f->be, p->ctl);
}

/* The same, finite or not. */
static int measure(struct mc_pam *p, struct mc_fit *f, double *loss, double *decay,
                   struct mc_error *err)
{
    struct judgement judgement = {p, f};
    struct mc_backend *be = f->be;
    double sums[MC_N_METRICS + 1];

    be->copy(be, p->ctl, p->begin, sizeof(struct mc_ctl));
    be->zero(be, p->sums);
    for (uint64_t i = 0; i < p->o->points; i++) {
        next_point(p, f, i == 0);
        be->sumsq(be, p->graph->P, p->d_point, .5, p->sums, DECAY_SUM);
    }
    be->repeat(be, &p->judged, p->batches, judge_batch, &judgement);
    int rc = be->get(be, p->sums, 0, sums, sizeof sums, err);
    if (rc)
        return rc;
    *loss = sums[MC_METRIC_OBJECTIVE] / sums[MC_METRIC_IMAGES];
    *decay = f->o->decay * sums[DECAY_SUM] / (double)p->o->points;
    return 0;
}

int mc_pam_judge(struct mc_pam *p, struct mc_fit *f, double *loss, double *decay,
                 struct mc_error *err)
{
    int rc = measure(p, f, loss, decay, err);

    if (!rc && !isfinite(*loss + *decay))
        rc = mc_fail(err, MC_EFAIL, "the loss is not finite (a smaller learning rate may help)");
    return rc;
}

int mc_pam_place(struct mc_pam *p, struct mc_fit *f, const struct mc_perm *perm,
                 struct mc_error *err)
{
    const size_t n = p->graph->P;
    uint32_t *index = malloc(n * sizeof *index);
    int rc = index ? mc_perm_gather(perm, p->symmetry, p->graph, index, NULL, err)
                   : mc_fail(err, MC_ENOMEM, "out of memory");

    if (!rc)
        rc = f->be->put(f->be, p->index, 0, index, n * sizeof *index, err);
    if (!rc)
        f->be->gather(f->be, n, p->d_pb, p->d_b, p->index);
    free(index);
    return rc;
}

/* ---- candidates -------------------------------------------------------------------------------
 */

/* Units that b puts elsewhere than a does. */
static size_t differ(const struct mc_perm *a, const struct mc_perm *b)
{
    size_t n = 0;

    for (size_t g = 0; g < a->n_groups; g++)
        for (size_t i = 0; i < a->sizes[g]; i++)
            n += a->perm[g][i] != b->perm[g][i];
    return n;
}

/* One group's part of all candidates: c[1] gets the assignment, the others draws. */
static int fill_group(struct mc_pam *p, const struct mc_fit *f, uint64_t outer, size_t g,
                      const float *matrix, struct mc_perm *c, struct mc_error *err)
{
    const size_t k = p->symmetry->groups[g].size;
    struct mc_birkhoff b = {0};
    double *d = malloc(k * k * sizeof *d);
    int rc = d ? 0 : mc_fail(err, MC_ENOMEM, "out of memory");

    for (size_t i = 0; !rc && i < k * k; i++)
        d[i] = (double)matrix[i];
    if (!rc)
        rc = mc_assign_max(k, d, c[1].perm[g], NULL, err);
    if (!rc && p->o->draws)
        rc = mc_birkhoff_decompose(&b, k, d, p->o->drop, p->o->terms, err);
    for (uint64_t i = 0; !rc && i < p->o->draws; i++) {
        const struct mc_rng4 r =
            mc_rng(f->o->seed, MC_RNG_BIRKHOFF, (uint32_t)outer, (uint32_t)i, (uint32_t)g);
        const int32_t *drawn = b.n_terms
                                   ? b.perm + mc_birkhoff_draw(&b, (double)mc_rng_unit(r.v[0])) * k
                                   : c[1].perm[g]; /* too far from doubly stochastic */
        memcpy(c[2 + i].perm[g], drawn, k * sizeof *drawn);
    }
    mc_birkhoff_release(&b);
    free(d);
    return rc;
}

static int fill(struct mc_pam *p, struct mc_fit *f, uint64_t outer, struct mc_perm *c, size_t n,
                struct mc_error *err)
{
    float *matrices = malloc(p->matrices * sizeof *matrices);
    int rc = matrices ? 0 : mc_fail(err, MC_ENOMEM, "out of memory");

    for (size_t i = 0; !rc && i < n; i++)
        rc = mc_perm_init(&c[i], p->symmetry, err);
    if (!rc)
        rc = f->be->get(f->be, p->d_matrices, 0, matrices, p->matrices * sizeof *matrices, err);
    if (!rc)
        mc_perm_copy(&c[0], &p->previous);
    for (size_t g = 0; !rc && g < p->symmetry->n_groups; g++)
        rc = fill_group(p, f, outer, g, matrices + p->at[g], c, err);
    free(matrices);
    return rc;
}

/* Is candidate i one that came before? */
static int known(const struct mc_perm *c, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (!differ(&c[j], &c[i]))
            return 1;
    return 0;
}

int mc_pam_select(struct mc_pam *p, struct mc_fit *f, uint64_t outer, struct mc_error *err)
{
    const size_t n = 2 + p->o->draws;
    struct mc_pam_report *r = &p->report[outer];
    struct mc_perm *c = calloc(n, sizeof *c);
    double best = INFINITY;
    int rc = c ? fill(p, f, outer, c, n, err) : mc_fail(err, MC_ENOMEM, "out of memory");

    if (!rc)
        rc = f->be->get(f->be, p->residual, 0, &r->residual, sizeof r->residual, err);
    if (!rc) {
        f->be->act(p->action, p->d_matrices, p->d_b, p->d_pb);
        rc = measure(p, f, &r->loss_relaxed, &r->decay_relaxed, err);
    }
    r->candidates = 0;
    for (size_t i = 0; !rc && i < n; i++) {
        const double moved = (double)differ(&c[0], &c[i]);
        const double proximal = moved / p->o->nu_permutation;
        const int seen = known(c, i);
        double loss = r->loss_before, decay = r->decay_before;
        if (i && !seen && !(rc = mc_pam_place(p, f, &c[i], err)))
            rc = measure(p, f, &loss, &decay, err);
        if (rc)
            break;
        if (i == 1) { /* if seen, it is the previous one */
            r->loss_projection = loss;
            r->decay_projection = decay;
        }
        if (seen)
            continue;
        r->candidates++;
        const double value = loss + (p->o->bare_loss ? 0 : proximal);
        if (!i || value < best) {
            best = value;
            r->kept = (double)i;
            r->loss_permutation = loss;
            r->decay_permutation = decay;
            r->proximal_permutation = proximal;
            r->moved = moved;
        }
    }
    if (!rc)
        mc_perm_copy(p->perm, &c[(size_t)r->kept]);
    for (size_t i = 0; c && i < n; i++)
        mc_perm_release(&c[i]);
    free(c);
    return rc;
}
