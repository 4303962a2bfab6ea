/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation: measure the objective along the curve. */
#include "tools/pam/pam.h"

#include <math.h>
#include <stdlib.h>

/* Epoch that keys the images' augmentation, the same for every measurement. */
#define MEASURE_EPOCH UINT32_MAX
enum { DECAY_SUM = MC_N_METRICS };

static uint64_t whole_batches(uint64_t images, uint64_t batch)
{
    return images < batch ? images : images / batch * batch;
}

/* Create a set of `images` images from index `first` on, in batches. */
static int new_set(struct mc_pam_set *set, struct mc_train *f, uint64_t first, uint64_t images,
                   struct mc_error *err)
{
    const uint64_t batch = f->o->batch;
    int32_t *order;

    set->images = images;
    set->batches = (images + batch - 1) / batch;
    if (!set->batches)
        return 0;
    if (!(order = malloc(set->batches * batch * sizeof *order)))
        return mc_no_memory(err);
    for (uint64_t i = 0; i < set->batches * batch; i++)
        order[i] = i < images ? (int32_t)(first + i) : -1;
    mc_bufs_add(&f->bufs, &set->order, order, set->batches * batch * sizeof *order, err);
    free(order);
    return f->bufs.rc;
}

/* Create a second set of the selection images, for the network with its own ReLU. */
static int new_relu_set(struct mc_pam *p, struct mc_train *f, uint64_t images, struct mc_error *err)
{
    struct mc_pam_set *set = &p->sets[MC_PAM_RELU];
    const int attacked = f->o->attack != NULL;
    const struct mc_plan_opts o = {
        .batch = f->o->batch, .train_only = 1, .backward = attacked, .input_grad = attacked};
    int rc = new_set(set, f, 0, images, err);

    return rc ? rc : f->be->plan_new(f->be, p->graph, &o, &set->plan, err);
}

int mc_pam_prepare_sets(struct mc_pam *p, struct mc_train *f, struct mc_error *err)
{
    const uint64_t T = p->o->points, n = f->data->info.n, batch = f->o->batch;
    const uint64_t images = whole_batches(p->o->images < n ? p->o->images : n, batch);
    const uint64_t others = n - images < images ? n - images : images;
    const struct mc_ctl begin = {.seed = f->o->seed, .epoch = MEASURE_EPOCH};
    float *points = malloc(T * 3 * sizeof *points);
    int rc = points ? 0 : mc_no_memory(err);

    for (uint64_t i = 0; !rc && i < T; i++)
        mc_pam_weights(NULL, ((double)i + .5) / (double)T, points + 3 * i);
    if (!rc)
        rc = new_set(&p->sets[MC_PAM_SELECTION], f, 0, images, err);
    if (!rc && p->o->permutation_epochs)
        rc = new_set(&p->sets[MC_PAM_OTHERS], f, images, others / batch * batch, err);
    if (!rc && f->o->huber > 0)
        rc = new_relu_set(p, f, images, err);
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

void mc_pam_release_sets(struct mc_pam *p, struct mc_train *f)
{
    for (size_t i = 0; i < MC_PAM_SETS; i++) {
        struct mc_pam_set *set = &p->sets[i];
        f->be->capture_free(f->be, set->repeat);
        if (set->plan)
            f->be->plan_free(set->plan);
    }
}

void mc_pam_weights(const void *unused, double t, float *weights)
{
    (void)unused;
    weights[0] = (float)(1 - t);
    weights[1] = (float)t;
    weights[2] = (float)(2 * t * (1 - t));
}

void mc_pam_point(const struct mc_pam *p, const struct mc_train *f, const struct mc_buf *coefs,
                  const struct mc_buf *ctl)
{
    const struct mc_buf *const vectors[] = {p->d_a, p->d_pb, p->d_offset};

    f->be->lincomb(f->be, p->graph->P, p->d_point, 3, vectors, coefs, ctl);
}

/* Move to the point at the next t, or at the first. */
static void next_point(const struct mc_pam *p, const struct mc_train *f, int first)
{
    if (first)
        f->be->copy(f->be, p->points_ctl, p->begin, sizeof(struct mc_ctl));
    mc_pam_point(p, f, p->points, p->points_ctl);
    f->be->ctl_next(f->be, p->points_ctl);
}

struct measurement {
    struct mc_pam *p;
    struct mc_train *f;
    const struct mc_buf *order;
};

/* Measure a batch at every t. */
static void measure_batch(void *arg)
{
    const struct measurement *m = arg;
    struct mc_pam *p = m->p;
    struct mc_train *f = m->f;
    const struct mc_source source = mc_train_source(f, m->order);

    f->be->load(f->plan, &source, p->ctl);
    for (uint64_t i = 0; i < p->o->points; i++) {
        next_point(p, f, i == 0);
        mc_train_forward(f, MC_MODE_BATCH, &source, p->ctl, p->d_point);
        f->be->metrics(f->plan, p->sums);
    }
    f->be->ctl_next(f->be, p->ctl);
}

int mc_pam_measure(struct mc_pam *p, struct mc_train *f, enum mc_pam_set_name name,
                   struct mc_pam_value *value, struct mc_error *err)
{
    struct mc_pam_set *set = &p->sets[name];
    struct mc_train train = *f; /* uses the set's plan */
    struct measurement measurement = {p, &train, set->order};
    struct mc_backend *be = f->be;
    double sums[MC_N_METRICS + 1];

    *value = (struct mc_pam_value){NAN, NAN};
    if (!set->batches)
        return 0;
    if (set->plan)
        train.plan = set->plan;
    be->copy(be, p->ctl, p->begin, sizeof(struct mc_ctl));
    be->zero(be, p->sums);
    for (uint64_t i = 0; i < p->o->points; i++) {
        next_point(p, f, i == 0);
        be->sumsq(be, p->graph->P, p->d_point, .5, p->sums, DECAY_SUM);
    }
    be->repeat(be, &set->repeat, set->batches, measure_batch, &measurement);
    int rc = be->get(be, p->sums, 0, sums, sizeof sums, err);
    if (rc)
        return rc;
    value->loss = sums[MC_METRIC_OBJECTIVE] / sums[MC_METRIC_IMAGES];
    value->decay = f->o->decay * sums[DECAY_SUM] / (double)p->o->points;
    return 0;
}

int mc_pam_measure_current(struct mc_pam *p, struct mc_train *f, struct mc_pam_value *value,
                           double *relu, struct mc_error *err)
{
    struct mc_pam_value with_relu;
    int rc = mc_pam_measure(p, f, MC_PAM_SELECTION, value, err);

    if (!rc && !isfinite(value->loss + value->decay))
        rc = mc_fail(err, MC_EFAIL, "the loss is not finite (try a smaller learning rate)");
    if (!rc && !(rc = mc_pam_measure(p, f, MC_PAM_RELU, &with_relu, err)))
        *relu = with_relu.loss;
    return rc;
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
