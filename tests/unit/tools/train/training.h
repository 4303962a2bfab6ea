/* SPDX-License-Identifier: Apache-2.0
 *
 * Ten images, and the start and options of networks and curves trained on them. Header only, for
 * test programs. */
#ifndef MC_TEST_TRAINING_H
#define MC_TEST_TRAINING_H

#include "libcommon/base/rng.h"
#include "libcommon/nets/nets.h"
#include "tests/unit/kernels/open.h"
#include "tests/unit/tools/train/job.h"
#include "tools/curve/objective.h"
#include "tests/unit/must.h"

enum {
    N = 10, /* images in batches of B; the last one is short */
    B = 4,
    STEPS = 3,
    EPOCHS = 2,
    C = 2, /* shape of an image */
    H = 3,
    W = 4,
    CLASSES = 3,
    IMAGE = C * H * W,
    MAX_K = 4
};

static const float MEAN[] = {.5f, .4f}, STD[] = {.25f, .3f};

static struct mc_backend *be;

static inline float unit(uint32_t purpose, uint32_t i)
{
    return mc_rng_unit(mc_rng(41, purpose, i, 0, 0).v[0]);
}

/* ---- data, options and networks ---- */

static uint8_t pixels[N * IMAGE];
static int32_t labels[N];

static inline struct mc_in_memory data_set(void)
{
    struct mc_in_memory d = {.info = {.n = N, .pixels = MC_U8, .augment = {.flip = 1, .pad = 1}}};

    for (uint32_t i = 0; i < N * IMAGE; i++)
        pixels[i] = (uint8_t)(256 * unit(1, i));
    for (uint32_t i = 0; i < N; i++)
        labels[i] = (int32_t)(i * 7 % CLASSES);
    snprintf(d.id, sizeof d.id, "ten images");
    must(be->buf_new(be, sizeof pixels, &d.images, &why));
    must(be->buf_new(be, sizeof labels, &d.labels, &why));
    must(be->put(be, d.images, 0, pixels, sizeof pixels, &why));
    must(be->put(be, d.labels, 0, labels, sizeof labels, &why));
    return d;
}

static inline struct mc_train_options options(int nesterov, double huber)
{
    return (struct mc_train_options){.epochs = EPOCHS,
                                     .batch = B,
                                     .lr = .3,
                                     .momentum = .9,
                                     .decay = .05,
                                     .nesterov = nesterov,
                                     .schedule = MC_SCHEDULE_COSINE,
                                     .step_epochs = 1,
                                     .seed = 17,
                                     .huber = huber};
}

static inline struct mc_graph *network(const char *name)
{
    struct mc_net_spec spec = {.channels = C, .height = H, .width = W, .classes = CLASSES};
    struct mc_graph *g = NULL;

    memcpy(spec.mean, MEAN, sizeof MEAN);
    memcpy(spec.std, STD, sizeof STD);
    must(mc_net_build(&g, name, &spec, &why));
    return g;
}

static inline void init_point(const struct mc_graph *g, uint32_t point, float *params)
{
    for (size_t t = 0; t < g->n_params; t++)
        for (size_t i = 0; i < g->params[t].count; i++) {
            const float u = 2 * unit(100 * (point + 1) + (uint32_t)t, (uint32_t)i) - 1;
            params[g->params[t].offset + i] =
                g->nodes[g->params[t].node].op == MC_OP_BATCHNORM ? .9f + .3f * u : .8f * u;
        }
}

/* Results of a run. */
struct outcome {
    float *points[MAX_K], *stats;
    struct mc_train_epoch epochs[EPOCHS];
    size_t n_epochs;
};

static inline void record_epoch(void *arg, const struct mc_train_epoch *e)
{
    struct outcome *u = arg;

    assert_true(u->n_epochs < EPOCHS);
    u->epochs[u->n_epochs++] = *e;
}

static inline int start_backend(void **state)
{
    return enter_folder(state) || open_tested(&be, "cpu", 2, &why);
}

static inline int stop_backend(void **state)
{
    be->close(be);
    return leave_folder(state);
}

#endif
