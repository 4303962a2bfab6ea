/* SPDX-License-Identifier: Apache-2.0
 *
 * Chunks of points, with a checkpoint after each. */
#include "tools/eval/batched.h"

#include "formats/network/values.h"
#include "libcommon/base/alloc.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory limit for the points of a chunk. */
#define CHUNK_BYTES ((size_t)128 << 20)
/* Floats of a point's results in a checkpoint. The number of images and the four results are
 * doubles, stored as the bits of two float32 each. With an attack, the robust results follow. */
#define N_FLOATS (sizeof(struct mc_eval_result) / sizeof(float))

struct run {
    struct mc_batched *s;
    int reestimate;                        /* re-estimate batch norm's statistics on s->bn */
    size_t T, chunk, first;                /* points: all, per chunk; the next one */
    uint64_t images, total;                /* times points, of this run */
    uint64_t before;                       /* images of earlier passes */
    size_t points;                         /* in this pass */
    float *stats;                          /* (chunk,S) */
    char name[MC_BATCHED_MAX_DATA][2][80]; /* checkpoint settings' names */
};

/* Read a data set's content id, which is at the stream's end. */
static int content_id(const char *path, char *id, struct mc_error *err)
{
    struct mc_reader *r = NULL;
    int rc = mc_reader_open(&r, path, err);

    if (!rc)
        rc = mc_reader_rest(r, NULL, err);
    if (!rc)
        snprintf(id, MC_ID_LEN, "%s", mc_reader_id(r));
    mc_reader_close(r);
    return rc;
}

static int check_rereadable(const struct run *r, const char *path, struct mc_error *err)
{
    const int once = !r->s->several && !r->s->checkpoint && r->chunk == r->T;

    if (once || mc_values_rereadable(path))
        return 0;
    return mc_fail(err, MC_EUSAGE,
                   "data cannot be %s, because they are read more than once (use a file)",
                   strcmp(path, "-") ? "a pipe" : "standard input");
}

/* Open a data set, check that it fits, and determine the number of images to use. */
static int check_data(struct run *r, struct mc_batched_data *d, struct mc_error *err)
{
    int rc = d->reader ? 0 : mc_dataset_open(&d->reader, d->path, err);

    if (rc)
        return rc;
    mc_history_input(r->s->history, mc_dataset_stream(d->reader));
    const struct mc_dataset_info *info = mc_dataset_get_info(d->reader);
    const char *name = mc_reader_name(mc_dataset_stream(d->reader));
    d->total = info->n;
    if ((rc = mc_data_samples(info, name, d->samples, d->samples_exact, &d->n_images, err)) ||
        (rc = mc_data_expect(r->s->span->graph, info, name, err)))
        return rc;
    if ((rc = check_rereadable(r, d->path, err)))
        return rc;
    r->total += d->n_images * r->T;
    return 0;
}

static int describe_data(struct run *r, const struct mc_batched_data *d, const char *data,
                         const char *images, struct mc_error *err)
{
    char id[MC_ID_LEN] = "";
    int rc = content_id(d->path, id, err);

    mc_checkpoint_set(&r->s->state, data, "%s", id);
    mc_checkpoint_set(&r->s->state, images, "%llu", (unsigned long long)d->n_images);
    return rc;
}

static size_t row_floats(const struct mc_batched *s)
{
    return s->attack ? 2 * N_FLOATS : N_FLOATS;
}

/* Describe the run for its checkpoint: everything that determines the results, and the results. */
static int describe_run(struct run *r, struct mc_error *err)
{
    const struct mc_batched *s = r->s;
    struct mc_checkpoint *state = &r->s->state;
    int rc = 0;

    mc_checkpoint_set(state, "points", "%zu", r->T);
    if (r->reestimate)
        rc = describe_data(r, &s->bn, "bn-data", "bn-samples", err);
    for (size_t i = 0; !rc && i < s->n_data; i++) {
        snprintf(r->name[i][0], sizeof r->name[i][0], "data %s", s->data[i].name);
        snprintf(r->name[i][1], sizeof r->name[i][1], "images of %s", s->data[i].name);
        rc = describe_data(r, &s->data[i], r->name[i][0], r->name[i][1], err);
    }
    mc_checkpoint_set_facts(state, s->pass.be->facts, s->pass.be->n_facts);
    for (size_t i = 0; !rc && i < s->n_data; i++) {
        struct mc_checkpoint_vector *v = &state->vectors[state->n_vectors++];
        snprintf(v->name, sizeof v->name, "%s", s->data[i].name);
        v->n = r->T * row_floats(s);
        rc = mc_new(&v->data, v->n, err);
    }
    return rc;
}

/* Copy a point's results to the checkpoint's row, or back. */
static void copy_results(const struct run *r, size_t data, size_t point, int to_checkpoint)
{
    const struct mc_batched_data *d = &r->s->data[data];
    float *row = r->s->state.vectors[data].data + point * row_floats(r->s);

    for (int i = 0; i < (r->s->attack ? 2 : 1); i++, row += N_FLOATS) {
        struct mc_eval_result *m = (i ? d->robust : d->out).result + point;
        memcpy(to_checkpoint ? (void *)row : m, to_checkpoint ? m : (void *)row, sizeof *m);
    }
}

/* Return 1 if measuring can have this result. Losses are at least 0 and differences of float32
 * logits, so their mean bounds their standard error; accuracies count images. */
static int is_possible(const struct mc_eval_result *m)
{
    const double hits = m->accuracy * m->images, tolerance = 1e-6;
    const double se = sqrt(m->accuracy * (1 - m->accuracy) / m->images);

    return m->loss >= 0 && m->loss <= 3.0 * (double)FLT_MAX && m->loss_se >= 0 &&
           m->loss_se <= m->loss * (1 + tolerance) && m->accuracy >= 0 && m->accuracy <= 1 &&
           fabs(hits - round(hits)) <= tolerance && fabs(m->accuracy_se - se) <= tolerance;
}

/* Save the results so far, unless one is not finite: then the run fails, also if it is resumed. */
static int save(struct run *r, struct mc_error *err)
{
    for (size_t i = 0; i < r->s->n_data; i++)
        for (size_t t = 0; t < r->first; t++)
            if (!is_possible(&r->s->data[i].out.result[t]) ||
                (r->s->attack && !is_possible(&r->s->data[i].robust.result[t])))
                return 0;
    for (size_t i = 0; i < r->s->n_data; i++)
        for (size_t t = 0; t < r->first; t++)
            copy_results(r, i, t, 1);
    r->s->state.epoch = r->first;
    return mc_checkpoint_write(&r->s->state, r->s->checkpoint, err);
}

static int restore(struct run *r, struct mc_error *err)
{
    int rc = mc_checkpoint_read(&r->s->state, r->s->checkpoint, err);

    if (!rc && r->s->state.epoch > r->T)
        rc = mc_fail(err, MC_EINPUT, "%s: has %llu points, but the run has %zu", r->s->checkpoint,
                     (unsigned long long)r->s->state.epoch, r->T);
    if (rc)
        return rc;
    r->first = (size_t)r->s->state.epoch;
    for (size_t i = 0; i < r->s->n_data; i++)
        for (size_t t = 0; t < r->first; t++) {
            const struct mc_batched_data *d = &r->s->data[i];
            copy_results(r, i, t, 0);
            const struct mc_eval_result *m[] = {&d->out.result[t], &d->robust.result[t]};
            for (int k = 0; k < (r->s->attack ? 2 : 1); k++) {
                if (m[k]->images != (double)d->n_images)
                    return mc_fail(err, MC_EINPUT, "%s: point %zu: %llu images expected, got %g",
                                   r->s->checkpoint, t, (unsigned long long)d->n_images,
                                   m[k]->images);
                if (!is_possible(m[k]))
                    return mc_fail(err, MC_EINPUT,
                                   "%s: point %zu: \"%s\" holds results that no run has: loss %g "
                                   "(error %g), accuracy %g (error %g)",
                                   r->s->checkpoint, t, d->name, m[k]->loss, m[k]->loss_se,
                                   m[k]->accuracy, m[k]->accuracy_se);
            }
        }
    return 0;
}

static void report_progress(void *arg, uint64_t images, uint64_t total)
{
    struct run *r = arg;

    (void)total;
    r->images = r->before + images * r->points;
    r->s->pass.progress(r->s->pass.arg, r->images, r->total);
}

/* Return the results of the points from p on. */
static struct mc_eval_output output_from(const struct mc_eval_output *all, size_t p,
                                         uint64_t images)
{
    struct mc_eval_output f = {.result = all->result + p};

    if (all->loss) {
        f.loss = all->loss + p * images;
        f.correct = all->correct + p * images;
    }
    return f;
}

/* Measure one data set at the points of a chunk. bn: instead, re-estimate batch-norm statistics. */
static int pass(struct run *r, struct mc_batched_data *d, const struct mc_span *span, int bn,
                struct mc_error *err)
{
    struct mc_loader_options o = r->s->pass;
    const struct mc_attack_options *attack = bn && !r->s->bn_attack ? NULL : r->s->attack;
    int rc = d->reader ? 0 : mc_dataset_open(&d->reader, d->path, err);

    o.data = d->reader;
    o.samples = d->samples;
    o.exact = d->samples_exact;
    o.progress = report_progress;
    o.arg = r;
    r->before = r->images;
    r->points = span->T;
    if (!rc && bn)
        rc = mc_eval_statistics(span, &o, attack, r->stats, err);
    else if (!rc) {
        const struct mc_eval_output out = output_from(&d->out, r->first, d->n_images);
        const struct mc_eval_output robust =
            attack ? output_from(&d->robust, r->first, d->n_images) : (struct mc_eval_output){0};
        rc = mc_eval_loss(span, &o, attack, &out, attack ? &robust : NULL, err);
        snprintf(d->id, sizeof d->id, "%s", mc_reader_id(mc_dataset_stream(d->reader)));
    }
    mc_dataset_close(d->reader);
    d->reader = NULL;
    return rc;
}

/* Return element i of the vectors' linear combination. */
static float sum_at(const float *const *vectors, size_t k, const double *coef, size_t i)
{
    double sum = 0;

    for (size_t j = 0; j < k; j++)
        sum += coef[j] * (double)vectors[j][i];
    return (float)sum;
}

static int run_chunk(struct run *r, struct mc_error *err)
{
    const struct mc_batched *s = r->s;
    const size_t S = s->span->graph->S, left = r->T - r->first;
    struct mc_span span = *s->span;
    int rc = 0;

    span.T = left < r->chunk ? left : r->chunk;
    span.coef += r->first * span.k;
    span.stats = r->stats;
    if (r->reestimate)
        rc = pass(r, &r->s->bn, &span, 1, err);
    for (size_t i = 0; !r->reestimate && i < span.T * S; i++)
        r->stats[i] = sum_at(s->stats, span.k, span.coef + i / S * span.k, i % S);
    for (size_t i = 0; !rc && i < s->n_data; i++)
        rc = pass(r, &r->s->data[i], &span, 0, err);
    if (!rc)
        r->first += span.T;
    if (!rc && s->checkpoint)
        rc = save(r, err);
    return rc;
}

/* Allocate the results per image. */
static int per_image_new(const struct run *r, struct mc_batched_data *d, struct mc_error *err)
{
    const size_t n = r->T * (size_t)d->n_images;
    struct mc_eval_output *const all[] = {&d->out, &d->robust};
    int rc = 0;

    for (int i = 0; !rc && i < (r->s->attack ? 2 : 1); i++)
        if (!(rc = mc_new(&all[i]->loss, n, err)))
            rc = mc_new(&all[i]->correct, n, err);
    return rc;
}

static double per_image_bytes(const struct run *r)
{
    const struct mc_batched *s = r->s;
    double images = 0;

    for (size_t i = 0; s->per_image && i < s->n_data; i++)
        images += (double)s->data[i].n_images * (s->attack ? 2 : 1);
    return images * (double)r->T *
           (double)(sizeof *s->data->out.loss + sizeof *s->data->out.correct);
}

static size_t point_bytes(const struct mc_batched *s)
{
    const size_t S = s->span->graph->S;

    /* statistics on host and device, and sums on the device */
    return 2 * S * sizeof(float) +
           (MC_REESTIMATE_SIZE(S) + (s->attack ? 2u : 1u) * MC_N_METRICS) * sizeof(double);
}

static int prepare(struct run *r, struct mc_error *err)
{
    struct mc_batched *s = r->s;
    size_t bytes = 0;
    int rc = 0;

    r->T = s->span->T;
    r->chunk = CHUNK_BYTES / point_bytes(s);
    if (s->checkpoint && r->chunk > s->checkpoint_every)
        r->chunk = s->checkpoint_every;
    r->chunk = r->chunk < 1 ? 1 : r->chunk > r->T ? r->T : r->chunk;
    if (r->reestimate)
        rc = check_data(r, &s->bn, err);
    else if (s->bn.path && !(rc = check_rereadable(r, s->bn.path, err)))
        rc = mc_data_check(s->span->graph, s->bn.path, err);
    for (size_t i = 0; !rc && i < s->n_data; i++)
        rc = check_data(r, &s->data[i], err);
    if (!rc)
        rc = mc_eval_bytes(s->pass.be, s->span, s->pass.batch, s->attack, &bytes, err);
    if (!rc && s->checkpoint)
        rc = describe_run(r, err);
    if (!rc && s->checkpoint && s->resume && mc_checkpoint_exists(s->checkpoint))
        rc = restore(r, err);
    if (rc || (rc = mc_new(&r->stats, r->chunk * s->span->graph->S, err)))
        return rc;
    r->total = r->total / r->T * (r->T - r->first);
    rc = s->begin(s->pass.arg, r->first, r->chunk, bytes + r->chunk * point_bytes(s),
                  per_image_bytes(r), err);
    for (size_t i = 0; !rc && s->per_image && i < s->n_data; i++)
        rc = per_image_new(r, &s->data[i], err);
    return rc;
}

int mc_batched_run(struct mc_batched *s, struct mc_error *err)
{
    struct run r = {.s = s, .reestimate = s->bn.path && s->span->graph->S};

    assert(!s->state.n_vectors && !s->state.epoch); /* every run needs its own state */
    int rc = prepare(&r, err);

    while (!rc && r.first < r.T)
        rc = run_chunk(&r, err);
    for (size_t i = 0; i < s->state.n_vectors; i++)
        free(s->state.vectors[i].data);
    s->state.n_vectors = 0;
    for (size_t i = 0; i < s->n_data; i++) {
        mc_dataset_close(s->data[i].reader);
        s->data[i].reader = NULL;
    }
    mc_dataset_close(s->bn.reader);
    s->bn.reader = NULL;
    free(r.stats);
    return rc;
}
