/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation: what the objective along the curve is measured on. */
#include "tools/pam/pam.h"

#include <math.h>
#include <stdlib.h>

/* The epoch that keys the augmentation of the images that judge: the same at all times. */
#define JUDGE_EPOCH UINT32_MAX
enum { DECAY_SUM = MC_N_METRICS };

static uint64_t whole_batches(uint64_t images, uint64_t batch)
{
    return images < batch ? images : images / batch * batch;
}

uint64_t mc_pam_judge_images(const struct mc_pam_options *o, uint64_t n, uint64_t batch)
{
    return whole_batches(o->images < n ? o->images : n, batch);
}

uint64_t mc_pam_other_images(const struct mc_pam_options *o, uint64_t n, uint64_t batch)
{
    const uint64_t judging = mc_pam_judge_images(o, n, batch);
    const uint64_t others = n - judging < judging ? n - judging : judging;

    return others / batch * batch;
}

/* `images` of them from `first` on, in batches. */
static int new_judge(struct mc_pam_judge *j, struct mc_train *f, uint64_t first, uint64_t images,
                     struct mc_error *err)
{
    const uint64_t batch = f->o->batch;
    int32_t *order;

    j->batches = (images + batch - 1) / batch;
    if (!j->batches)
        return 0;
    if (!(order = malloc(j->batches * batch * sizeof *order)))
        return mc_no_memory(err);
    for (uint64_t i = 0; i < j->batches * batch; i++)
        order[i] = i < images ? (int32_t)(first + i) : -1;
    mc_bufs_add(&f->bufs, &j->order, order, j->batches * batch * sizeof *order, err);
    free(order);
    return f->bufs.rc;
}

/* The judging images again, on the network with its own ReLU. */
static int new_relu_judge(struct mc_pam *p, struct mc_train *f, uint64_t images,
                          struct mc_error *err)
{
    struct mc_pam_judge *j = &p->judges[MC_PAM_RELU];
    const int attacked = f->o->attack != NULL;
    const struct mc_plan_opts o = {
        .batch = f->o->batch, .train_only = 1, .backward = attacked, .input_grad = attacked};
    int rc = new_judge(j, f, 0, images, err);

    return rc ? rc : f->be->plan_new(f->be, p->graph, &o, &j->plan, err);
}

int mc_pam_prepare_judges(struct mc_pam *p, struct mc_train *f, struct mc_error *err)
{
    const uint64_t T = p->o->points, n = f->data->info.n;
    const uint64_t images = mc_pam_judge_images(p->o, n, f->o->batch);
    const struct mc_ctl begin = {.seed = f->o->seed, .epoch = JUDGE_EPOCH};
    float *points = malloc(T * 3 * sizeof *points);
    int rc = points ? 0 : mc_no_memory(err);

    for (uint64_t i = 0; !rc && i < T; i++) {
        const double t = ((double)i + .5) / (double)T;
        points[3 * i] = (float)(1 - t);
        points[3 * i + 1] = (float)t;
        points[3 * i + 2] = (float)(2 * t * (1 - t));
    }
    if (!rc)
        rc = new_judge(&p->judges[MC_PAM_SELECTION], f, 0, images, err);
    if (!rc && p->o->permutation_epochs)
        rc = new_judge(&p->judges[MC_PAM_OTHERS], f, images,
                       mc_pam_other_images(p->o, n, f->o->batch), err);
    if (!rc && f->o->huber > 0)
        rc = new_relu_judge(p, f, images, err);
    if (!rc) {
        mc_bufs_add(&f->bufs, &p->points, points, T * 3 * sizeof *points, err);
        mc_bufs_add(&f->bufs, &p->ctl, NULL, sizeof begin, err);
        mc_bufs_add(&f->bufs, &p->points_ctl, NULL, sizeof begin, err);
        mc_bufs_add(&f->bufs, &p->begin, &begin, sizeof begin, err);
        mc_bufs_add(&f->bufs, &p->sums, NULL, (MC_N_METRICS + 1) * sizeof(double), err);
        rc = f->bufs.rc;
    }
    free(points);
    return rc;
}

void mc_pam_release_judges(struct mc_pam *p, struct mc_train *f)
{
    for (size_t i = 0; i < MC_PAM_JUDGES; i++) {
        struct mc_pam_judge *j = &p->judges[i];
        f->be->capture_free(f->be, j->repeat);
        if (j->plan)
            f->be->plan_free(j->plan);
    }
}

/* The point at the next t; from the first one on. */
static void next_point(const struct mc_pam *p, const struct mc_train *f, int first)
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
    struct mc_train *f;
    const struct mc_buf *order;
};

/* A batch at every t. */
static void judge_batch(void *arg)
{
    struct mc_pam *p = ((struct judgement *)arg)->p;
    struct mc_train *f = ((struct judgement *)arg)->f;
    const struct mc_source source = mc_train_source(f, ((struct judgement *)arg)->order);

    mc_train_load(f, &source, p->ctl);
    for (uint64_t i = 0; i < p->o->points; i++) {
        next_point(p, f, i == 0);
        mc_train_forward(f, MC_MODE_BATCH, &source, p->ctl, p->d_point);
        f->be->metrics(f->plan, p->sums);
    }
    f->be->ctl_next(f->be, p->ctl);
}

int mc_pam_measure(struct mc_pam *p, struct mc_train *f, enum mc_pam_judge_of of, double *loss,
                   double *decay, struct mc_error *err)
{
    struct mc_pam_judge *j = &p->judges[of];
    struct mc_train train = *f; /* with the judge's plan */
    struct judgement judgement = {p, &train, j->order};
    struct mc_backend *be = f->be;
    double sums[MC_N_METRICS + 1];

    *loss = *decay = NAN;
    if (!j->batches)
        return 0;
    if (j->plan)
        train.plan = j->plan;
    be->copy(be, p->ctl, p->begin, sizeof(struct mc_ctl));
    be->zero(be, p->sums);
    for (uint64_t i = 0; i < p->o->points; i++) {
        next_point(p, f, i == 0);
        be->sumsq(be, p->graph->P, p->d_point, .5, p->sums, DECAY_SUM);
    }
    be->repeat(be, &j->repeat, j->batches, judge_batch, &judgement);
    int rc = be->get(be, p->sums, 0, sums, sizeof sums, err);
    if (rc)
        return rc;
    *loss = sums[MC_METRIC_OBJECTIVE] / sums[MC_METRIC_IMAGES];
    *decay = f->o->decay * sums[DECAY_SUM] / (double)p->o->points;
    return 0;
}

int mc_pam_judge(struct mc_pam *p, struct mc_train *f, double *loss, double *decay, double *relu,
                 struct mc_error *err)
{
    double again;
    int rc = mc_pam_measure(p, f, MC_PAM_SELECTION, loss, decay, err);

    if (!rc && !isfinite(*loss + *decay))
        rc = mc_fail(err, MC_EFAIL, "the loss is not finite (a smaller learning rate may help)");
    return rc ? rc : mc_pam_measure(p, f, MC_PAM_RELU, relu, &again, err);
}

int mc_pam_place(struct mc_pam *p, struct mc_train *f, const struct mc_perm *perm,
                 struct mc_error *err)
{
    const size_t n = p->graph->P;
    uint32_t *index = malloc(n * sizeof *index);
    int rc =
        index ? mc_perm_gather(perm, p->symmetry, p->graph, index, NULL, err) : mc_no_memory(err);

    if (!rc)
        rc = f->be->put(f->be, p->index, 0, index, n * sizeof *index, err);
    if (!rc)
        f->be->gather(f->be, n, p->d_pb, p->d_b, p->index);
    free(index);
    return rc;
}
