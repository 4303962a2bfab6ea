/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass over a data set: a batch in, its adversarial examples out. */
#include "tools/attack/examples.h"

#include "kernels/upload.h"
#include "libcommon/base/rng.h"
#include "tools/attack/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX "-pgd"

struct pass {
    struct mc_backend *be;
    const struct mc_adversarial_options *o;
    size_t image; /* floats of one */
    struct mc_loader loader;
    struct mc_batch_attack attack; /* its plan is all that runs */
    struct mc_buf *params, *stats;
    struct mc_buf *loss, *correct; /* (B) */
    struct mc_dataset_writer *writer;
    float *clean, *examples;         /* (B,C,H,W) */
    float *host_loss, *host_correct; /* (B) */
    struct mc_adversarial_sums sums;
};

static int open_pass(struct pass *p, const struct mc_weights *w, struct mc_dataset_reader *data,
                     struct mc_error *err)
{
    const size_t B = p->o->batch;
    const struct mc_loader_options loader = {
        .batch = B, .samples = p->o->samples, .exact = 1, .seed = p->o->seed};
    struct mc_backend *be = p->be;
    int rc;

    if ((rc = mc_loader_open(&p->loader, be, w->graph, data, &loader, err)) ||
        (rc = mc_batch_attack_open(&p->attack, &p->o->attack, MC_RNG_ATTACK_MEASURE, &p->loader,
                                   w->graph, err)) ||
        (rc = mc_upload(be, &p->params, w->params, w->graph->P * sizeof(float), err)) ||
        (rc = mc_upload(be, &p->stats, w->stats, w->graph->S * sizeof(float), err)) ||
        (rc = be->buf_new(be, B * sizeof(float), &p->loss, err)) ||
        (rc = be->buf_new(be, B * sizeof(float), &p->correct, err)))
        return rc;
    p->host_loss = malloc(B * sizeof *p->host_loss);
    p->host_correct = malloc(B * sizeof *p->host_correct);
    p->clean = malloc(p->attack.attack.bytes);
    p->examples = malloc(p->attack.attack.bytes);
    if (!p->host_loss || !p->host_correct || !p->clean || !p->examples)
        return mc_fail(err, MC_ENOMEM, "out of memory");
    return 0;
}

static void close_pass(struct pass *p)
{
    struct mc_buf *all[] = {p->params, p->stats, p->loss, p->correct};

    mc_dataset_abandon(p->writer);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        p->be->buf_free(p->be, all[i]);
    mc_batch_attack_release(&p->attack);
    mc_loader_release(&p->loader);
    free(p->host_loss);
    free(p->host_correct);
    free(p->clean);
    free(p->examples);
}

static int create(struct pass *p, const char *path, const struct mc_dataset_info *from,
                  const struct mc_history *h, struct mc_error *err)
{
    struct mc_dataset_info info = *from; /* class_names stay the reader's */
    const size_t n = strlen(info.name), more = strlen(SUFFIX);

    info.n = p->loader.wanted;
    info.pixels = MC_F32;
    if (n + more < sizeof info.name && (n < more || strcmp(info.name + n - more, SUFFIX) != 0))
        memcpy(info.name + n, SUFFIX, more + 1);
    return mc_dataset_create(&p->writer, path, &info, h, err);
}

/* The network on whatever the plan has loaded: the batch's losses, and how many of its n images are
 * taken for their labels. */
static int look(struct pass *p, size_t n, double *loss, uint64_t *correct, struct mc_error *err)
{
    struct mc_backend *be = p->be;
    int rc;

    be->forward(p->attack.plan, MC_MODE_EVAL, p->params, p->stats, NULL, p->loader.ctl);
    be->output(p->attack.plan, MC_OUT_LOSS, 0, p->loss);
    be->output(p->attack.plan, MC_OUT_CORRECT, 0, p->correct);
    if ((rc = be->get(be, p->loss, 0, p->host_loss, n * sizeof(float), err)) ||
        (rc = be->get(be, p->correct, 0, p->host_correct, n * sizeof(float), err)))
        return rc;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(p->host_loss[i]))
            return mc_fail(err, MC_EINPUT, "the network's loss on image %llu is not finite",
                           (unsigned long long)(p->sums.images + i));
        *loss += (double)p->host_loss[i];
        *correct += p->host_correct[i] > 0;
    }
    return 0;
}

static double distance(const struct pass *p, size_t i)
{
    const float *a = p->clean + i * p->image, *b = p->examples + i * p->image;
    double most = 0, squares = 0;

    for (size_t q = 0; q < p->image; q++) {
        const double d = fabs((double)b[q] - (double)a[q]);
        most = d > most ? d : most;
        squares += d * d;
    }
    return p->o->attack.norm == MC_BALL_L2 ? sqrt(squares) : most;
}

/* The n images that are loaded. */
static int attack_batch(struct pass *p, size_t n, struct mc_error *err)
{
    const struct mc_attack_options *a = &p->o->attack;
    const size_t bytes = n * p->image * sizeof(float);
    struct mc_backend *be = p->be;
    double unused = 0;
    int rc = look(p, n, &p->sums.clean_loss, &p->sums.clean_correct, err);

    if (rc)
        return rc;
    if ((rc = mc_batch_attack_next(&p->attack, n, err)))
        return rc;
    mc_batch_attack_run(&p->attack, p->attack.plan, MC_MODE_EVAL, p->params, p->stats);
    if ((rc = look(p, n, &p->sums.loss, &p->sums.correct, err)))
        return rc;
    if (a->targeted) {
        struct mc_source towards = p->loader.source;
        towards.labels = p->attack.targets;
        be->load(p->attack.plan, &towards, p->loader.ctl);
        be->set_pixels(p->attack.plan, p->attack.attack.examples);
        if ((rc = look(p, n, &unused, &p->sums.reached, err)))
            return rc;
    }
    if ((rc = be->get(be, p->attack.attack.clean, 0, p->clean, bytes, err)) ||
        (rc = be->get(be, p->attack.attack.examples, 0, p->examples, bytes, err)))
        return rc;
    for (size_t i = 0; i < n; i++)
        p->sums.distance += distance(p, i);
    p->sums.images += n;
    return mc_dataset_write(p->writer, n, p->examples, p->loader.host_labels, err);
}

int mc_adversarial_write(const char *path, struct mc_backend *be, const struct mc_weights *w,
                         struct mc_dataset_reader *data, const struct mc_adversarial_options *o,
                         const struct mc_history *h, struct mc_adversarial_sums *out,
                         struct mc_error *err)
{
    const struct mc_dataset_info *info = mc_dataset_get_info(data);
    const struct mc_net_spec *s = &info->spec;
    struct pass p = {
        .be = be, .o = o, .image = (size_t)s->channels * (size_t)s->height * (size_t)s->width};
    size_t n = 0;
    int rc = open_pass(&p, w, data, err);

    if (!rc)
        rc = create(&p, path, info, h, err);
    while (!rc && !(rc = mc_loader_next(&p.loader, &p.attack.plan, 1, &n, err)) && n) {
        rc = attack_batch(&p, n, err);
        if (!rc && o->progress)
            o->progress(o->arg, &p.sums);
    }
    if (!rc) {
        rc = mc_dataset_commit(p.writer, NULL, err);
        p.writer = NULL;
    }
    *out = p.sums;
    close_pass(&p);
    return rc;
}
