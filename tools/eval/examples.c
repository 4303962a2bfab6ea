/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass over a data set: attack each batch and write its adversarial examples. */
#include "tools/eval/examples.h"

#include "libcommon/base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pass {
    struct mc_loader loader;
    struct mc_batch_attack attack;     /* only its plan runs */
    struct mc_model model;             /* has no plan */
    size_t image;                      /* floats per image */
    struct mc_buf *d_loss, *d_correct; /* (B) */
    struct mc_dataset_writer *writer;
    float *clean, *examples; /* (B,C,H,W) */
    float *loss, *correct;   /* (B) */
    struct mc_adversarial_sums *sums;
};

static int open_pass(struct pass *p, const struct mc_weights *w, const struct mc_loader_options *o,
                     const struct mc_attack_options *attack, struct mc_error *err)
{
    const size_t B = o->batch, pixels = B * p->image;
    int rc;

    if ((rc = mc_loader_open(&p->loader, w->graph, o, err)) ||
        (rc = mc_batch_attack_open(&p->attack, attack, MC_RNG_ATTACK_MEASURE, &p->loader, w->graph,
                                   err)) ||
        (rc = mc_model_open(&p->model, o->be, w->graph, w->params, w->stats, NULL, err)))
        return rc;
    mc_bufs_add(&p->loader.bufs, &p->d_loss, NULL, B * sizeof(float), err);
    mc_bufs_add(&p->loader.bufs, &p->d_correct, NULL, B * sizeof(float), err);
    if (p->loader.bufs.rc)
        return p->loader.bufs.rc;
    if (!(p->clean = malloc(2 * (pixels + B) * sizeof *p->clean)))
        return mc_no_memory(err);
    p->examples = p->clean + pixels;
    p->loss = p->examples + pixels;
    p->correct = p->loss + B;
    return 0;
}

static int create(struct pass *p, const struct mc_adversarial *a,
                  const struct mc_dataset_info *from, struct mc_error *err)
{
    struct mc_dataset_info info = *from; /* class_names stay the reader's */
    const size_t n = strlen(info.name), more = strlen(MC_DATASET_EXAMPLES);

    info.n = p->loader.n_images;
    info.pixels = MC_F32;
    if (n + more < sizeof info.name &&
        (n < more || strcmp(info.name + n - more, MC_DATASET_EXAMPLES) != 0))
        memcpy(info.name + n, MC_DATASET_EXAMPLES, more + 1);
    return mc_dataset_create(&p->writer, a->path, &info, a->history, err);
}

/* Run the network on the batch in its plan. Add the losses of the n images to *loss and count the
 * correct ones. */
static int measure_loaded(struct pass *p, const struct mc_model *m, size_t n, double *loss,
                          uint64_t *correct, struct mc_error *err)
{
    struct mc_backend *be = m->be;
    int rc;

    mc_model_forward(m, p->loader.ctl);
    be->output(m->plan, MC_OUT_LOSS, 0, p->d_loss);
    be->output(m->plan, MC_OUT_CORRECT, 0, p->d_correct);
    if ((rc = be->get(be, p->d_loss, 0, p->loss, n * sizeof(float), err)) ||
        (rc = be->get(be, p->d_correct, 0, p->correct, n * sizeof(float), err)))
        return rc;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(p->loss[i]))
            return mc_fail(err, MC_EINPUT, "the network's loss on image %llu is not finite",
                           (unsigned long long)(p->sums->images + i));
        *loss += (double)p->loss[i];
        *correct += p->correct[i] > 0;
    }
    return 0;
}

static double distance(const struct pass *p, size_t i)
{
    const float *a = p->clean + i * p->image, *b = p->examples + i * p->image;
    double largest = 0, squares = 0;

    for (size_t q = 0; q < p->image; q++) {
        const double d = fabs((double)b[q] - (double)a[q]);
        largest = d > largest ? d : largest;
        squares += d * d;
    }
    return p->attack.attack.options.norm == MC_BALL_L2 ? sqrt(squares) : largest;
}

/* Attack the n loaded images and write them. */
static int attack_batch(struct pass *p, size_t n, struct mc_error *err)
{
    const struct mc_loader *f = &p->loader;
    const struct mc_attack *attack = &p->attack.attack;
    const size_t bytes = n * p->image * sizeof(float);
    struct mc_adversarial_sums *sums = p->sums;
    struct mc_backend *be = f->be;
    struct mc_model m = p->model;
    double unused = 0;
    int rc;

    m.plan = p->attack.plan;
    if ((rc = mc_batch_attack_load(&p->attack, f, n, err)) ||
        (rc = measure_loaded(p, &m, n, &sums->clean_loss, &sums->clean_correct, err)))
        return rc;
    mc_batch_attack_run(&p->attack, f, &m, MC_MODE_EVAL);
    if ((rc = measure_loaded(p, &m, n, &sums->loss, &sums->correct, err)))
        return rc;
    if (attack->targets) {
        struct mc_source target = f->source;
        target.labels = attack->targets;
        be->load(m.plan, &target, f->ctl);
        be->set_pixels(m.plan, attack->examples);
        if ((rc = measure_loaded(p, &m, n, &unused, &sums->reached, err)))
            return rc;
    }
    if ((rc = be->get(be, attack->clean, 0, p->clean, bytes, err)) ||
        (rc = be->get(be, attack->examples, 0, p->examples, bytes, err)))
        return rc;
    for (size_t i = 0; i < n; i++)
        sums->distance += distance(p, i);
    sums->images += n;
    return mc_dataset_write(p->writer, n, p->examples, f->host_labels, err);
}

int mc_adversarial_write(struct mc_adversarial *a, const struct mc_weights *w,
                         const struct mc_loader_options *o, struct mc_error *err)
{
    const struct mc_dataset_info *info = mc_dataset_get_info(o->data);
    const struct mc_net_spec *s = &info->spec;
    struct pass p = {.image = (size_t)s->channels * (size_t)s->height * (size_t)s->width,
                     .sums = &a->sums};
    size_t n = 0;
    int rc = open_pass(&p, w, o, a->attack, err);

    a->sums = (struct mc_adversarial_sums){0};
    if (!rc)
        rc = create(&p, a, info, err);
    while (!rc && !(rc = mc_loader_next(&p.loader, NULL, 0, &n, err)) && n)
        rc = attack_batch(&p, n, err);
    rc = mc_dataset_commit(p.writer, rc, NULL, err);
    mc_model_release(&p.model);
    mc_batch_attack_release(&p.attack);
    mc_loader_release(&p.loader);
    free(p.clean);
    return rc;
}
