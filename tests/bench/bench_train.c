/* SPDX-License-Identifier: Apache-2.0
 *
 * A network's training speed: the steps of the real loop (gather, rotation, flip, crop, forward,
 * metrics, norm for the decay, backward, SGD) on random images.
 *
 *     bench_train [net [batch [threads [seconds [cpu]]]]]
 *
 * prints, tab-separated, net, batch, threads, and the best and median images/s of a step (on a
 * device of one launch's steps). With `cpu` it counts the first thread's processor time, which a
 * busy machine disturbs less. */
#include "kernels/backend.h"
#include "libcommon/base/rng.h"
#include "libcommon/nets/nets.h"
#include "tests/unit/kernels/open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { IMAGES = 4096, MAX_STEPS = 100000 };

static clockid_t watch = CLOCK_MONOTONIC;

static double now(void)
{
    struct timespec t;
    clock_gettime(watch, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct mc_error err;

static void need(int rc)
{
    if (!rc)
        return;
    fprintf(stderr, "bench_train: %s\n", err.text);
    exit(1);
}

static struct mc_buf *device(struct mc_backend *be, const void *from, size_t bytes)
{
    struct mc_buf *b = NULL;
    need(be->buf_new(be, bytes, &b, &err));
    if (from)
        need(be->put(be, b, 0, from, bytes, &err));
    return b;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

struct step {
    struct mc_backend *be;
    struct mc_plan *plan;
    const struct mc_graph *g;
    const struct mc_source *source;
    const struct mc_sgd *sgd;
    struct mc_buf *stats, *grad, *ctl, *sums;
};

static void run_step(void *arg)
{
    const struct step *s = arg;
    struct mc_backend *be = s->be;

    be->load(s->plan, s->source, s->ctl);
    be->forward(s->plan, MC_MODE_TRAIN, s->sgd->p, s->stats, NULL, s->ctl);
    be->metrics(s->plan, s->sums);
    be->sumsq(be, s->g->P, s->sgd->p, .5, s->sums, MC_N_METRICS);
    be->backward(s->plan, s->sgd->p, s->grad);
    be->sgd(be, s->g->P, s->sgd, s->ctl);
}

/* Waits until several runs may start together. In the folder MC_GATE each creates a file when it is
 * warm; all start when the file "go" exists. */
static void wait_at_gate(void)
{
    const char *gate = getenv("MC_GATE");
    char path[4096];
    FILE *f;

    if (!gate)
        return;
    snprintf(path, sizeof path, "%s/%ld", gate, (long)getpid());
    if (!(f = fopen(path, "w")))
        need(mc_fail(&err, MC_EFAIL, "cannot open '%s'", path));
    fclose(f);
    snprintf(path, sizeof path, "%s/go", gate);
    while (access(path, F_OK))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

int main(int argc, char **argv)
{
    const char *net = argc > 1 ? argv[1] : "tinyten";
    const size_t batch = argc > 2 ? strtoul(argv[2], NULL, 10) : 128;
    const int threads = argc > 3 ? atoi(argv[3]) : 2;
    const double seconds = argc > 4 ? strtod(argv[4], NULL) : 5;
    if (argc > 5 && !strcmp(argv[5], "cpu"))
        watch = CLOCK_THREAD_CPUTIME_ID;
    const struct mc_net_spec spec = {
        3, 32, 32, 10, {.4914f, .4822f, .4465f}, {.247f, .243f, .261f}};
    const struct mc_augment augment = {.rotate = 15, .flip = 1, .pad = 4};
    const struct mc_ctl ctl = {.seed = 1};
    const float lr = .01f;
    struct mc_backend *be = NULL;
    struct mc_graph *g = NULL;
    struct mc_plan *plan = NULL;
    struct mc_capture *saved = NULL;
    static double took[MAX_STEPS];
    double images = 0;
    size_t n = 0;

    if (!batch)
        need(mc_fail(&err, MC_EUSAGE, "batch must be at least 1"));
    need(mc_net_build(&g, net, &spec, &err));
    need(open_tested(&be, "cpu", threads, &err));
    const size_t image = 3 * 32 * 32;
    uint8_t *pixels = malloc(IMAGES * image);
    int32_t *labels = malloc(IMAGES * sizeof *labels), *order = malloc(batch * sizeof *order);
    float *params = calloc(g->P, sizeof *params), *stats = calloc(g->S + 1, sizeof *stats);
    if (!pixels || !labels || !order || !params || !stats)
        need(mc_no_memory(&err));
    for (size_t i = 0; i < IMAGES * image; i++)
        pixels[i] = (uint8_t)(i * 2654435761u >> 24);
    for (size_t i = 0; i < IMAGES; i++)
        labels[i] = (int32_t)(i % 10);
    for (size_t i = 0; i < batch; i++)
        order[i] = (int32_t)(i * 31 % IMAGES);
    mc_graph_init(g, 1, params, stats);
    struct mc_buf *d_pixels = device(be, pixels, IMAGES * image);
    struct mc_buf *d_labels = device(be, labels, IMAGES * sizeof *labels);
    struct mc_buf *d_order = device(be, order, batch * sizeof *order);
    struct mc_buf *d_params = device(be, params, g->P * sizeof *params);
    struct mc_buf *d_stats = device(be, stats, (g->S + 1) * sizeof *stats);
    struct mc_buf *d_m = device(be, NULL, g->P * sizeof *params);
    struct mc_buf *d_grad = device(be, NULL, g->P * sizeof *params);
    struct mc_buf *d_ctl = device(be, &ctl, sizeof ctl), *d_lr = device(be, &lr, sizeof lr);
    struct mc_buf *d_sums = device(be, NULL, (MC_N_METRICS + 1) * sizeof(double));
    const struct mc_source source = {.images = d_pixels,
                                     .pixels = MC_U8,
                                     .labels = d_labels,
                                     .order = d_order,
                                     .augment = &augment,
                                     .purpose = MC_RNG_AUGMENT};
    const struct mc_sgd sgd = {.p = d_params,
                               .m = d_m,
                               .grad = d_grad,
                               .point = d_params,
                               .lrs = d_lr,
                               .momentum = .9f,
                               .decay = 5e-4f,
                               .nesterov = 1};
    need(be->plan_new(be, g, &(struct mc_plan_opts){.batch = batch, .train_only = 1, .backward = 1},
                      &plan, &err));
    struct step step = {be, plan, g, &source, &sgd, d_stats, d_grad, d_ctl, d_sums};
    for (int warm = 0; warm < 2; warm++) /* directly, then captured */
        be->repeat(be, &saved, be->launch_steps, run_step, &step);
    need(be->get(be, d_sums, 0, &images, sizeof images, &err)); /* waits for the device's steps */
    wait_at_gate();
    const double begun = now();
    while (n < MAX_STEPS && (n < 8 || now() - begun < seconds)) {
        const double t = now();
        be->repeat(be, &saved, be->launch_steps, run_step, &step);
        need(be->get(be, d_sums, 0, &images, sizeof images, &err));
        took[n++] = (now() - t) / (double)be->launch_steps;
    }
    if (strstr(be->describe, "not captured"))
        fprintf(stderr, "bench_train: %s\n", be->describe);
    qsort(took, n, sizeof *took, ascending);
    printf("%s\t%zu\t%d\t%.1f\t%.1f\n", net, batch, threads, (double)batch / took[0],
           (double)batch / took[n / 2]);
    be->capture_free(be, saved);
    be->plan_free(plan);
    struct mc_buf *all[] = {d_pixels, d_labels, d_order, d_params, d_stats,
                            d_m,      d_grad,   d_ctl,   d_lr,     d_sums};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        be->buf_free(be, all[i]);
    be->close(be);
    mc_graph_free(g);
    free(pixels);
    free(labels);
    free(order);
    free(params);
    free(stats);
    return 0;
}
