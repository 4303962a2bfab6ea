/* SPDX-License-Identifier: Apache-2.0
 *
 * Projected gradient descent on the pixels. */
#include "tools/attack/attack.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Refuse lengths above 1, the range of a pixel: users who type 8 mean 8/255. */
static int check_length(const struct mc_attack_options *o, const char *name, double length,
                        struct mc_error *err)
{
    if (o->norm == MC_BALL_L2 || !(length > 1))
        return 0;
    return mc_fail(err, MC_EUSAGE,
                   "attack %s must be at most 1, in pixels of [0,1] (got %g; 8 of 255 levels are "
                   "8/255)",
                   name, length);
}

int mc_attack_resolve(struct mc_attack_options *o, const struct mc_dataset_info *info,
                      struct mc_error *err)
{
    const int tiny = !strncmp(info->name, "tiny-imagenet", 13);
    const double eps = o->norm == MC_BALL_L2 ? .5 : tiny ? 4. / 255 : 8. / 255;
    int rc = check_length(o, "eps", o->eps, err);

    if (rc || (rc = check_length(o, "step", o->step, err)))
        return rc;
    if (o->targeted && !o->shift && o->target >= info->spec.classes)
        return mc_fail(err, MC_EUSAGE, "attack target %d is not a class: %s has %d", o->target,
                       info->name, info->spec.classes);
    if (o->targeted && o->shift && o->target % info->spec.classes == 0)
        return mc_fail(err, MC_EUSAGE,
                       "attack target +%d is the image's own class: %s has %d classes", o->target,
                       info->name, info->spec.classes);
    if (o->clean_start && o->restarts > 1)
        return mc_fail(
            err, MC_EUSAGE,
            "attack restarts must be 1 from a clean start, as all would be equal (got %llu)",
            (unsigned long long)o->restarts);
    if (isnan(o->step))
        o->step = (isnan(o->eps) ? eps : o->eps) / 4;
    if (isnan(o->eps))
        o->eps = eps;
    return 0;
}

void mc_attack_text(const struct mc_attack_options *o, char text[MC_ATTACK_TEXT])
{
    char target[24] = "";

    if (o->targeted)
        snprintf(target, sizeof target, ",target=%s%d", o->shift ? "+" : "", o->target);
    snprintf(text, MC_ATTACK_TEXT,
             "pgd:eps=%.9g,step=%.9g,steps=%llu,restarts=%llu,norm=%s,start=%s%s", o->eps, o->step,
             (unsigned long long)o->steps, (unsigned long long)o->restarts,
             o->norm == MC_BALL_L2 ? "l2" : "linf", o->clean_start ? "clean" : "random", target);
}

static size_t image_bytes(const struct mc_graph *g)
{
    return (size_t)g->input[0] * (size_t)g->input[1] * (size_t)g->input[2] * sizeof(float);
}

size_t mc_attack_bytes(const struct mc_attack_options *o, const struct mc_graph *g, size_t batch)
{
    const size_t buffers = o->restarts > 1 ? 4 : 3;

    return batch * (buffers * image_bytes(g) + sizeof(float));
}

int mc_attack_open(struct mc_attack *a, const struct mc_attack_options *o, uint32_t purpose,
                   struct mc_backend *be, const struct mc_graph *g, size_t batch,
                   struct mc_error *err)
{
    const size_t bytes = batch * image_bytes(g), losses = batch * sizeof(float);
    struct mc_bufs *b = &a->bufs;
    float *nan_losses = malloc(losses);

    *a = (struct mc_attack){
        .options = *o, .purpose = purpose, .be = be, .bytes = bytes, .batch = batch, .bufs.be = be};
    if (!nan_losses)
        return mc_no_memory(err);
    for (size_t i = 0; i < batch; i++)
        nan_losses[i] = NAN;
    mc_bufs_add(b, &a->clean, NULL, bytes, err);
    mc_bufs_add(b, &a->grad, NULL, bytes, err);
    mc_bufs_add(b, &a->examples, NULL, bytes, err);
    if (o->restarts > 1)
        mc_bufs_add(b, &a->x, NULL, bytes, err);
    mc_bufs_add(b, &a->worst, NULL, losses, err);
    mc_bufs_add(b, &a->nan_losses, nan_losses, losses, err);
    free(nan_losses);
    return b->rc;
}

void mc_attack_release(struct mc_attack *a)
{
    mc_bufs_release(&a->bufs);
    *a = (struct mc_attack){0};
}

void mc_attack_targets(const struct mc_attack_options *o, int classes, size_t n,
                       const int32_t *labels, int32_t *targets)
{
    for (size_t i = 0; i < n; i++)
        targets[i] = !o->targeted ? labels[i]
                     : o->shift   ? (labels[i] + o->target % classes) % classes
                                  : o->target;
}

void mc_attack_run(struct mc_attack *a, struct mc_plan *p, const struct mc_source *src,
                   const struct mc_buf *ctl, enum mc_mode mode, const struct mc_buf *params,
                   struct mc_buf *stats)
{
    const struct mc_attack_options *o = &a->options;
    const struct mc_ball ball = {.norm = o->norm,
                                 .eps = (float)o->eps,
                                 .step = (float)(o->targeted ? -o->step : o->step),
                                 .purpose = a->purpose};
    const int has_restarts = o->restarts > 1;
    struct mc_backend *be = a->be;
    struct mc_buf *x = has_restarts ? a->x : a->examples;
    struct mc_source target = *src;

    be->pixels(p, src, ctl, a->clean);
    if (o->targeted) {
        target.labels = a->targets;
        be->load(p, &target, ctl);
    }
    if (has_restarts)
        be->copy(be, a->worst, a->nan_losses, a->batch * sizeof(float));
    for (uint64_t r = 0; r < o->restarts; r++) {
        if (o->clean_start)
            be->copy(be, x, a->clean, a->bytes);
        else
            be->attack_start(p, &ball, (uint32_t)r, a->clean, x);
        for (uint64_t s = 0; s < o->steps; s++) {
            be->set_pixels(p, x);
            be->forward(p, mode, params, stats, NULL, ctl);
            be->backward(p, params, NULL);
            be->input_grad(p, a->grad);
            be->attack_step(p, &ball, a->clean, a->grad, x);
        }
        if (!has_restarts)
            break;
        be->set_pixels(p, x);
        be->forward(p, mode, params, stats, NULL, ctl);
        be->attack_keep(p, o->targeted, x, a->worst, a->examples);
    }
    if (o->targeted)
        be->load(p, src, ctl);
    be->set_pixels(p, a->examples);
}
