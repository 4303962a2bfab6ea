/* SPDX-License-Identifier: Apache-2.0
 *
 * Two small trained networks and runs of proximal alternating minimisation between them. Header
 * only, for test programs. */
#ifndef MC_TEST_PAM_H
#define MC_TEST_PAM_H

#include "formats/datasets/synth.h"
#include "libcommon/base/rng.h"
#include "libcommon/nets/nets.h"
#include "tests/unit/kernels/open.h"
#include "tests/unit/tools/train/job.h"
#include "tools/pam/pam.h"
#include "tests/unit/must.h"

enum {
    N = 70, /* images in batches of B; the last one is short */
    B = 16,
    STEPS = 5,
    CHANNELS = 3,
    SIDE = 8,
    IMAGE = CHANNELS * SIDE * SIDE,
    MAX_ROWS = 32 /* maximum number of epochs and of iterations */
};

static struct mc_backend *be;
static struct mc_in_memory data;
static uint8_t pixels[N * IMAGE];
static int32_t labels[N];

static inline void near(const char *name, double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * (1 + fabs(want))))
        fail_msg("%s: %.9g, expected %.9g", name, got, want);
}

static inline float *zeros(size_t n)
{
    float *x = calloc(n, sizeof *x);

    assert_non_null(x);
    return x;
}

/* ---- two networks and the start of a path between them ---- */

struct ends {
    struct mc_graph *g;
    struct mc_symmetry s;
    float *a, *b, *offset; /* offset, perm: start of a run */
    struct mc_perm perm;
};

static inline float *trained(const struct mc_graph *g, uint64_t seed)
{
    const struct mc_train_options o = {.epochs = 40,
                                       .batch = B,
                                       .lr = .05,
                                       .momentum = .9,
                                       .nesterov = 1,
                                       .step_epochs = 20,
                                       .seed = seed};
    struct mc_weights w = {0};
    struct mc_curve_objective l;
    float *params = zeros(g->P);

    must(mc_weights_init(&w, g, "test", &why));
    mc_graph_init(g, seed, w.params, w.stats);
    mc_curve_objective_network(&l, &w);
    must(run_job(be, g, &data, &l.objective, &o, NULL, NULL, &why));
    memcpy(params, w.params, g->P * sizeof *params);
    mc_weights_release(&w);
    return params;
}

/* The result owns g. */
static inline struct ends ends_of_graph(struct mc_graph *g)
{
    struct ends e = {.g = g};

    must(mc_symmetry_derive(&e.s, e.g, &why));
    must(mc_perm_init(&e.perm, &e.s, &why));
    e.a = trained(e.g, 1);
    e.b = trained(e.g, 2);
    e.offset = zeros(e.g->P);
    return e;
}

static inline struct mc_graph *graph_of(const char *net)
{
    struct mc_net_spec spec = {CHANNELS, SIDE, SIDE, MC_SYNTH_CLASSES, {0}, {0}};
    struct mc_graph *g = NULL;

    memcpy(spec.mean, mc_synth_mean, sizeof mc_synth_mean);
    memcpy(spec.std, mc_synth_std, sizeof mc_synth_std);
    must(mc_net_build(&g, net, &spec, &why));
    return g;
}

static inline struct ends ends_of(const char *net)
{
    return ends_of_graph(graph_of(net));
}

static inline void release_ends(struct ends *e)
{
    free(e->a);
    free(e->b);
    free(e->offset);
    mc_perm_release(&e->perm);
    mc_symmetry_release(&e->s);
    mc_graph_free(e->g);
}

/* ---- a run ---- */

struct result {
    float *offset;
    struct mc_perm perm;
    struct mc_pam_report report[MAX_ROWS];
    double lr[MAX_ROWS]; /* (n_epochs) as reported */
    size_t n_epochs;
};

static inline void record_epoch(void *arg, const struct mc_train_epoch *e)
{
    struct result *r = arg;

    assert_true(r->n_epochs < MAX_ROWS);
    r->lr[r->n_epochs++] = e->lr;
}

static inline struct mc_pam_options options(uint64_t permutation_epochs, uint64_t curve_epochs)
{
    return (struct mc_pam_options){.outer = 1,
                                   .permutation_epochs = permutation_epochs,
                                   .curve_epochs = curve_epochs,
                                   .permutation_lr = .4,
                                   .nu_permutation = 1e3,
                                   .nu_curve = 1e3,
                                   .sweeps = 20,
                                   .draws = 8,
                                   .drop = 5e-4,
                                   .terms = 10,
                                   .images = 40,
                                   .points = 3,
                                   .jointly = 1,
                                   .by_objective = 1};
}

static inline struct mc_train_options schedule(void)
{
    return (struct mc_train_options){.batch = B,
                                     .lr = .05,
                                     .momentum = .9,
                                     .decay = .01,
                                     .nesterov = 1,
                                     .step_epochs = 20,
                                     .seed = 17};
}

static inline int try_run(const struct ends *e, const struct mc_pam_options *o,
                          struct mc_train_options train, struct result *r, struct mc_error *err)
{
    struct mc_pam p = {.o = o,
                       .graph = e->g,
                       .symmetry = &e->s,
                       .a = e->a,
                       .b = e->b,
                       .perm = &r->perm,
                       .report = r->report};
    *r = (struct result){.n_epochs = 0};
    p.offset = r->offset = zeros(e->g->P);
    memcpy(r->offset, e->offset, e->g->P * sizeof *r->offset);
    must(mc_perm_init(&r->perm, &e->s, err));
    must(mc_perm_compose(&r->perm, &e->perm, err));
    int rc = mc_pam_init(&p, &train, err);
    if (!rc)
        rc = run_job(be, e->g, &data, &p.objective, &train, record_epoch, r, err);
    mc_pam_release(&p);
    return rc;
}

static inline struct result run(const struct ends *e, const struct mc_pam_options *o,
                                struct mc_train_options train)
{
    struct result r;

    must(try_run(e, o, train, &r, &why));
    return r;
}

static inline void release(struct result *r)
{
    free(r->offset);
    mc_perm_release(&r->perm);
}

static inline size_t moved(const struct mc_perm *p, const struct mc_perm *q)
{
    size_t n = 0;

    for (size_t g = 0; g < p->n_groups; g++)
        for (size_t i = 0; i < p->groups[g].size; i++)
            n += p->perm[g][i] != q->perm[g][i];
    return n;
}

static inline double distance(const struct ends *e, const float *x, const float *y)
{
    double sum = 0;

    for (size_t i = 0; i < e->g->P; i++)
        sum += pow((double)x[i] - (double)y[i], 2);
    return sum;
}

/* ---- set-up ---- */

static inline int start(void **state)
{
    const size_t n = sizeof pixels;

    if (enter_folder(state) || open_tested(&be, "cpu", 1, &why))
        return -1;
    for (uint32_t i = 0; i < N; i++)
        labels[i] = mc_synth_image(1, 0, i, SIDE, pixels + (size_t)i * IMAGE);
    data.info = (struct mc_dataset_info){.n = N, .pixels = MC_U8, .augment = {.flip = 1, .pad = 1}};
    snprintf(data.id, sizeof data.id, "seventy images");
    return be->buf_new(be, n, &data.images, &why) ||
           be->buf_new(be, sizeof labels, &data.labels, &why) ||
           be->put(be, data.images, 0, pixels, n, &why) ||
           be->put(be, data.labels, 0, labels, sizeof labels, &why);
}

static inline int stop(void **state)
{
    mc_in_memory_release(&data, be);
    be->close(be);
    return leave_folder(state);
}

#endif
