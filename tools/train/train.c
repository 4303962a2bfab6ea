/* SPDX-License-Identifier: Apache-2.0
 *
 * The training loop. */
#include "tools/train/train.h"

#include "formats/codecs/flat.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/rng.h"

#include <math.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Doubles on the device per epoch: the backend's metrics and the sum over batches of |theta|^2 / 2;
 * at its end also the sum of squares of each checkpointed vector. */
#define N_SUMS (MC_N_METRICS + 1)
#define DECAY_SUM MC_N_METRICS
#define N_SUMS_AT_END (N_SUMS + MC_CHECKPOINT_MAX)

/* Results of each epoch in a checkpoint, as float32: loss, objective, decay, accuracy, lr. */
#define N_RESULTS 5

double mc_train_lr(const struct mc_train_options *o, uint64_t epoch, uint64_t step, uint64_t steps)
{
    double total = (double)o->epochs * (double)steps;
    double position = (double)(epoch * steps + step);

    switch (o->schedule) {
    case MC_SCHEDULE_COSINE:
        return o->lr * .5 * (1 + cos(M_PI * position / total));
    case MC_SCHEDULE_ONECYCLE: {
        double top = .3 * total - 1, end = total - 1;
        double low = o->lr / 25, lowest = low / 1e4;
        if (position <= top)
            return top <= 0 ? o->lr : o->lr + (low - o->lr) * .5 * (1 + cos(M_PI * position / top));
        return end <= top ? o->lr
                          : lowest + (o->lr - lowest) * .5 *
                                         (1 + cos(M_PI * (position - top) / (end - top)));
    }
    case MC_SCHEDULE_LINEAR: {
        double progress = (position / total - .5) / .4;
        return o->lr * (1 - .99 * fmin(fmax(progress, 0), 1));
    }
    default:
        return o->lr * pow(.5, floor(position / (o->step_epochs * (double)steps))) *
               pow(o->step_factor != 0 ? o->step_factor : .9996, (double)epoch);
    }
}

/* List the shuffled samples of an epoch: (steps, batch), padded with -1. */
static void epoch_order(const struct mc_train_options *o, uint64_t epoch, uint64_t n,
                        uint64_t steps, int32_t *order)
{
    for (uint64_t i = 0; i < steps * o->batch; i++)
        order[i] = i < n ? (int32_t)i : -1;
    for (uint64_t i = n - 1; i > 0; i--) {
        struct mc_rng4 r = mc_rng(o->seed, MC_RNG_SHUFFLE, (uint32_t)epoch, (uint32_t)i, 0);
        uint32_t j = mc_rng_below(r.v[0], (uint32_t)i + 1);
        int32_t t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

struct run {
    struct mc_train train;
    const struct mc_train_options *o;
    struct mc_objective *objective;
    const struct mc_train_job *job;
    struct mc_checkpoint *state; /* the job's */
    uint64_t images, last;       /* per epoch; epoch to stop after */
    struct mc_graph *graph;      /* copy with the Huber delta */
    struct mc_buf *order, *sums;
    int32_t *host_order;
    float *host_lrs;
    float *results; /* (epochs, N_RESULTS) */
    struct mc_train_vector vectors[MC_CHECKPOINT_MAX];
    size_t n_vectors;
    double untimed; /* seconds of the epoch outside training */
};

struct mc_source mc_train_source(const struct mc_train *f, const struct mc_buf *order)
{
    const struct mc_in_memory *d = f->data;

    return (struct mc_source){.images = d->images,
                              .pixels = d->info.pixels,
                              .labels = d->labels,
                              .order = order,
                              .augment = f->o->augment ? &d->info.augment : NULL,
                              .purpose = MC_RNG_AUGMENT};
}

void mc_train_forward(struct mc_train *f, enum mc_mode mode, const struct mc_source *src,
                      const struct mc_buf *ctl, const struct mc_buf *point)
{
    if (f->o->attack)
        mc_attack_run(&f->attack, f->plan, src, ctl, MC_MODE_BATCH, point, NULL);
    f->be->forward(f->plan, mode, point, f->stats, NULL, ctl);
}

int mc_train_put_weights(struct mc_train *f, uint64_t epoch, size_t k,
                         void (*weights)(const void *arg, double t, float *weights),
                         const void *arg, struct mc_buf *to, struct mc_error *err)
{
    float *rows = malloc(f->steps * k * sizeof *rows);

    if (!rows)
        return mc_no_memory(err);
    for (uint64_t s = 0; s < f->steps; s++) {
        const struct mc_rng4 r =
            mc_rng(f->o->seed, MC_RNG_CURVE_T, (uint32_t)epoch, (uint32_t)s, 0);
        weights(arg, (double)mc_rng_unit(r.v[0]), rows + s * k);
    }
    int rc = f->be->put(f->be, to, 0, rows, f->steps * k * sizeof *rows, err);
    free(rows);
    return rc;
}

static int prepare_attack(struct run *r, struct mc_error *err)
{
    const struct mc_attack_options *o = r->o->attack;
    struct mc_backend *be = r->train.be;
    const size_t bytes = r->images * sizeof(int32_t);
    struct mc_train *f = &r->train;
    int rc;

    if (!o)
        return 0;
    rc = mc_attack_open(&f->attack, o, MC_RNG_ATTACK, be, f->graph, r->o->batch, err);
    if (rc || !o->targeted)
        return rc;
    int32_t *labels = malloc(bytes);
    if (!labels)
        return mc_no_memory(err);
    if (!(rc = be->get(be, f->data->labels, 0, labels, bytes, err))) {
        mc_attack_targets(o, f->graph->classes, r->images, labels, labels);
        mc_bufs_add(&f->bufs, &f->attack.targets, labels, bytes, err);
        rc = f->bufs.rc;
    }
    free(labels);
    return rc;
}

static int prepare(struct run *r, struct mc_error *err)
{
    struct mc_train *f = &r->train;
    struct mc_backend *be = f->be;
    size_t slots = f->steps * r->o->batch;
    struct mc_plan_opts plan = {
        .batch = r->o->batch, .train_only = 1, .backward = 1, .input_grad = r->o->attack != NULL};
    int rc = be->plan_new(be, f->graph, &plan, &f->plan, err);

    if (rc)
        return rc;
    mc_bufs_add(&f->bufs, &f->ctl, NULL, sizeof(struct mc_ctl), err);
    mc_bufs_add(&f->bufs, &f->lrs, NULL, f->steps * sizeof(float), err);
    mc_bufs_add(&f->bufs, &f->grad, NULL, f->graph->P * sizeof(float), err);
    mc_bufs_add(&f->bufs, &f->stats, NULL, f->graph->S * sizeof(float), err);
    mc_bufs_add(&f->bufs, &r->order, NULL, slots * sizeof(int32_t), err);
    mc_bufs_add(&f->bufs, &r->sums, NULL, N_SUMS_AT_END * sizeof(double), err);
    if ((rc = f->bufs.rc) || (rc = prepare_attack(r, err)) ||
        (rc = mc_new(&r->host_order, slots, err)) || (rc = mc_new(&r->host_lrs, f->steps, err)) ||
        (rc = mc_new(&r->results, r->o->epochs * N_RESULTS, err)))
        return rc;
    return r->objective->prepare(r->objective, f, err);
}

/* List the checkpoint's vectors: the objective's, the epochs' results, and the plan's state. */
static int state_vectors(struct run *r, struct mc_error *err)
{
    struct mc_checkpoint *s = r->state;

    struct mc_train_vector plan = {.name = "plan"};

    r->n_vectors = r->objective->vectors(r->objective, &r->train, r->vectors);
    r->vectors[r->n_vectors++] = (struct mc_train_vector){
        .name = "epochs", .host = r->results, .n = r->o->epochs * N_RESULTS};
    if ((plan.buf = r->train.be->plan_state(r->train.plan, &plan.n)))
        r->vectors[r->n_vectors++] = plan;
    for (size_t i = 0; i < r->n_vectors; i++) {
        const struct mc_train_vector *from = &r->vectors[i];
        struct mc_checkpoint_vector *v = &s->vectors[s->n_vectors++];
        memcpy(v->name, from->name, sizeof v->name);
        v->n = from->n;
        v->data = from->host ? from->host : malloc(v->n * sizeof *v->data);
        if (!v->data)
            return mc_no_memory(err);
    }
    return 0;
}

/* Copy the checkpoint's vectors to the device, or back. */
static int copy_vectors(struct run *r, int to_device, struct mc_error *err)
{
    struct mc_backend *be = r->train.be;
    int rc = 0;

    for (size_t i = 0; !rc && i < r->n_vectors; i++) {
        const struct mc_checkpoint_vector *v = &r->state->vectors[i];
        const size_t bytes = v->n * sizeof *v->data;
        if (r->vectors[i].host)
            continue;
        rc = to_device ? be->put(be, r->vectors[i].buf, 0, v->data, bytes, err)
                       : be->get(be, r->vectors[i].buf, 0, v->data, bytes, err);
    }
    return rc;
}

static int save(struct run *r, uint64_t epoch, struct mc_error *err)
{
    int rc = copy_vectors(r, 0, err);

    r->state->epoch = epoch;
    return rc ? rc : mc_checkpoint_write(r->state, r->o->checkpoint, err);
}

/* MC_EINPUT if a vector of the checkpoint holds values that no run writes. */
static int check_vector(const struct run *r, size_t i, struct mc_error *err)
{
    const struct mc_checkpoint_vector *v = &r->state->vectors[i];
    const char *file = r->o->checkpoint;
    const int is_results = v->data == r->results;

    if (r->vectors[i].host && !is_results) /* the objective's, perhaps bits of doubles */
        return 0;
    int rc = mc_finite(MC_F32, v->data, v->n, file, v->name, err);
    if (!rc && r->vectors[i].buf && r->vectors[i].buf == r->train.stats)
        rc = mc_flat_finite(r->graph->stats, r->graph->n_stats, v->data, file, err);
    if (!rc && !strcmp(v->name, "plan") && !(v->data[0] > 0))
        rc = mc_fail(err, MC_EINPUT, "%s: \"plan\" holds a loss scale of %g", file,
                     (double)v->data[0]);
    for (uint64_t e = 0; !rc && is_results && e < r->state->epoch; e++) {
        const float *k = v->data + e * N_RESULTS;
        if (!(k[0] >= 0 && k[2] >= 0 && k[3] >= 0 && k[3] <= 1 && k[4] >= 0))
            rc = mc_fail(err, MC_EINPUT,
                         "%s: \"epochs\" holds results of epoch %llu that no run has: loss %g, "
                         "decay %g, accuracy %g, lr %g",
                         file, (unsigned long long)e + 1, (double)k[0], (double)k[2], (double)k[3],
                         (double)k[4]);
    }
    return rc;
}

static int restore(struct run *r, struct mc_error *err)
{
    int rc = mc_checkpoint_read(r->state, r->o->checkpoint, err);

    if (!rc && r->state->epoch > r->last)
        rc = mc_fail(err, MC_EINPUT, "%s: has %llu epochs, but this run ends after %llu",
                     r->o->checkpoint, (unsigned long long)r->state->epoch,
                     (unsigned long long)r->last);
    for (size_t i = 0; !rc && i < r->n_vectors; i++)
        rc = check_vector(r, i, err);
    return rc ? rc : copy_vectors(r, 1, err);
}

static void report_epoch(const struct run *r, uint64_t epoch, double seconds)
{
    const float *k = r->results + epoch * N_RESULTS;
    struct mc_train_epoch e = {.epoch = epoch + 1,
                               .epochs = r->o->epochs,
                               .loss = k[0],
                               .objective = k[1],
                               .decay = k[2],
                               .accuracy = k[3],
                               .lr = k[4],
                               .seconds = seconds,
                               .images = r->images};

    if (r->job->watch.epoch)
        r->job->watch.epoch(r->job->watch.arg, &e);
}

static int report_progress(struct run *r, uint64_t epoch, uint64_t step, struct mc_error *err)
{
    const struct mc_train_watch *w = &r->job->watch;
    double sums[N_SUMS];
    uint64_t n = r->images, images = (step + 1) * r->o->batch;

    if (!w->progress || !w->progress_due || !w->progress_due(w->arg))
        return 0;
    int rc = r->train.be->get(r->train.be, r->sums, 0, sums, sizeof sums, err);
    if (!rc)
        w->progress(w->arg, epoch * n + (images < n ? images : n), r->last * n, epoch,
                    sums[MC_METRIC_LOSS] / sums[MC_METRIC_IMAGES],
                    sums[MC_METRIC_CORRECT] / sums[MC_METRIC_IMAGES]);
    return rc;
}

static int start_epoch(struct run *r, uint64_t epoch, struct mc_error *err)
{
    struct mc_train *f = &r->train;
    struct mc_backend *be = f->be;
    struct mc_ctl ctl = {.seed = r->o->seed, .epoch = (uint32_t)epoch, .row = 0};

    epoch_order(r->o, epoch, r->images, f->steps, r->host_order);
    for (uint64_t s = 0; s < f->steps; s++)
        r->host_lrs[s] = (float)(r->objective->lr ? r->objective->lr(r->objective, f, epoch, s)
                                                  : mc_train_lr(r->o, epoch, s, f->steps));
    int rc = be->put(be, r->order, 0, r->host_order, f->steps * r->o->batch * sizeof *r->host_order,
                     err);
    if (!rc)
        rc = be->put(be, f->lrs, 0, r->host_lrs, f->steps * sizeof *r->host_lrs, err);
    if (!rc)
        rc = be->put(be, f->ctl, 0, &ctl, sizeof ctl, err);
    const double start = mc_now();
    if (!rc && r->objective->epoch)
        rc = r->objective->epoch(r->objective, f, epoch, err);
    r->untimed = mc_now() - start;
    be->zero(be, r->sums);
    return rc;
}

/* Compute the epoch's means from the device's sums. Also check the vectors: the loss does not show
 * a failure in the last step. */
static int end_epoch(struct run *r, uint64_t epoch, struct mc_error *err)
{
    struct mc_backend *be = r->train.be;
    double sums[N_SUMS_AT_END];
    float *k = r->results + epoch * N_RESULTS;

    for (size_t i = 0; i < r->n_vectors; i++)
        if (r->vectors[i].rate)
            be->sumsq(be, r->vectors[i].n, r->vectors[i].buf, 1, r->sums, N_SUMS + i);
    int rc = be->get(be, r->sums, 0, sums, sizeof sums, err);
    if (rc)
        return rc;
    double n = sums[MC_METRIC_IMAGES];
    double decay = r->o->decay * sums[DECAY_SUM] / (double)r->train.steps;
    k[0] = (float)(sums[MC_METRIC_LOSS] / n);
    k[1] = (float)(sums[MC_METRIC_OBJECTIVE] / n + decay);
    k[2] = (float)decay;
    k[3] = (float)(sums[MC_METRIC_CORRECT] / n);
    k[4] = r->host_lrs[r->train.steps - 1];
    if (!isfinite(k[1]))
        return mc_fail(err, MC_EFAIL, "the loss is not finite in epoch %llu (try a smaller --lr)",
                       (unsigned long long)epoch + 1);
    for (size_t i = 0; i < r->n_vectors; i++)
        if (r->vectors[i].rate && !isfinite(sums[N_SUMS + i]))
            return mc_fail(err, MC_EFAIL,
                           "parameters are not finite after epoch %llu (try a smaller %s)",
                           (unsigned long long)epoch + 1, r->vectors[i].rate);
    return 0;
}

static void train_step(void *arg)
{
    struct run *r = arg;
    struct mc_train *f = &r->train;
    struct mc_backend *be = f->be;
    const struct mc_source source = mc_train_source(f, r->order);
    const struct mc_buf *point = r->objective->point(r->objective, f);

    be->load(f->plan, &source, f->ctl);
    mc_train_forward(f, r->objective->mode, &source, f->ctl, point);
    be->metrics(f->plan, r->sums);
    be->sumsq(be, f->graph->P, point, .5, r->sums, DECAY_SUM);
    be->backward(f->plan, point, f->grad);
    r->objective->step(r->objective, f, point);
    be->ctl_next(be, f->ctl);
}

static int run_epoch(struct run *r, uint64_t epoch, int *stop, struct mc_error *err)
{
    struct mc_train *f = &r->train;
    struct mc_backend *be = f->be;
    double start = mc_now();
    int rc = start_epoch(r, epoch, err);

    for (uint64_t s = 0, n; !rc && s < f->steps; s += n) {
        n = f->steps - s < be->launch_steps ? f->steps - s : be->launch_steps;
        be->repeat(be, &f->step, n, train_step, r);
        rc = report_progress(r, epoch, s + n - 1, err);
    }
    if (!rc)
        rc = end_epoch(r, epoch, err);
    const double seconds = mc_now() - start - r->untimed;
    if (!rc && r->objective->after)
        rc = r->objective->after(r->objective, f, epoch, stop, err);
    if (!rc)
        report_epoch(r, epoch, seconds);
    return rc;
}

static int run_all(struct run *r, struct mc_error *err)
{
    uint64_t last = r->last;
    int rc = 0, stop = 0;

    if (r->o->checkpoint && r->o->resume && mc_checkpoint_exists(r->o->checkpoint))
        rc = restore(r, err);
    if (!rc && r->state->epoch && r->objective->resumed)
        rc = r->objective->resumed(r->objective, &r->train, r->state->epoch - 1, &stop, err);
    if (!rc && r->job->watch.begin)
        rc = r->job->watch.begin(r->job->watch.arg, r->state->epoch, err);
    for (uint64_t e = 0; !rc && e < r->state->epoch; e++)
        report_epoch(r, e, 0);
    for (uint64_t e = r->state->epoch; !rc && !stop && e < last; e++) {
        rc = run_epoch(r, e, &stop, err);
        uint64_t epochs = e + 1, every = r->o->checkpoint_every ? r->o->checkpoint_every : 1;
        if (!rc && r->o->checkpoint && (epochs % every == 0 || epochs == last || stop))
            rc = save(r, epochs, err);
    }
    return rc;
}

int mc_train_run(const struct mc_train_job *job, struct mc_error *err)
{
    const struct mc_train_options *o = job->o;
    struct mc_backend *be = job->be;
    const uint64_t images = job->data->info.n;
    struct run r = {.job = job,
                    .state = job->state,
                    .o = o,
                    .objective = job->objective,
                    .images = images,
                    .last = o->stop_after && o->stop_after < o->epochs ? o->stop_after : o->epochs,
                    .graph = mc_graph_copy(job->graph)};
    int rc;

    assert(!job->state->n_vectors && !job->state->epoch); /* every run needs its own state */
    if (!r.graph)
        return mc_no_memory(err);
    if (o->huber > 0)
        mc_graph_huber(r.graph, (float)o->huber);
    if (o->dropout && !mc_graph_set_dropout(r.graph, (float)*o->dropout)) {
        mc_graph_free(r.graph);
        return mc_fail(err, MC_EUSAGE, "--dropout: the network has no dropout");
    }
    r.train = (struct mc_train){.be = be,
                                .bufs.be = be,
                                .graph = r.graph,
                                .o = o,
                                .data = job->data,
                                .steps = (images + o->batch - 1) / o->batch};
    if (!(rc = prepare(&r, err)))
        mc_checkpoint_set_facts(job->state, be->facts, be->n_facts);
    if (!rc && !(rc = state_vectors(&r, err)) && !(rc = run_all(&r, err)))
        rc = r.objective->finish(r.objective, &r.train, err);

    be->capture_free(be, r.train.step);
    if (r.objective->release)
        r.objective->release(r.objective, &r.train);
    for (size_t i = 0; i < r.n_vectors; i++)
        if (!r.vectors[i].host)
            free(r.state->vectors[i].data);
    r.state->n_vectors = 0;
    free(r.results);
    free(r.host_order);
    free(r.host_lrs);
    mc_attack_release(&r.train.attack);
    mc_bufs_release(&r.train.bufs);
    if (r.train.plan)
        be->plan_free(r.train.plan);
    mc_graph_free(r.graph);
    return rc;
}
