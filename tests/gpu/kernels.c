/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of a network's training step on a device, per kernel: launches, and the bytes that they
 * must read and write.
 *
 *     kernels device precision batch net...
 *
 * prints, tab-separated, net, kernel, launches and MB per step. On a device it also prints
 * microseconds per step (from the previous launch's end to its end), GB/s, and the
 * card's GB/s by its memory's clock and width. Kernels of the same name share a line, a call of
 * cuDNN or cuBLAS counts as one kernel, and each network ends with its sum. Linked with
 * tests/emulation and with MC_EMULATION_IDLE set nothing is computed; only the first four columns
 * are printed. */
#include "libcommon/base/rng.h"
#include "tests/gpu/passes.h"

enum { KINDS = 64, LAUNCHES = 4096, STEPS = 20, IMAGES = 256, PIXELS = IMAGES * 3 * 32 * 32 };

#define BUSY ((size_t)256 << 20) /* 100 times, some 6 ms of a card with 4 TB/s */

static struct kind {
    char name[48];
    unsigned launches;
    double bytes, ms;
} kinds[KINDS];
static size_t n_kinds;

static int which[LAUNCHES]; /* kind of each launch of a step */
static cudaEvent_t ends[LAUNCHES + 1];
static size_t n_launches;

static void must(cudaError_t rc)
{
    if (rc != cudaSuccess)
        need(mc_fail(&err, MC_EFAIL, "%s", cudaGetErrorString(rc)));
}

static void watch(struct cuda *be, const char *kernel, double bytes)
{
    size_t k = 0;

    while (k < n_kinds && strncmp(kinds[k].name, kernel, sizeof kinds[k].name - 1))
        k++;
    if (k == KINDS || n_launches == LAUNCHES)
        need(mc_fail(&err, MC_EFAIL, "more than 64 kinds of kernels"));
    if (k == n_kinds)
        snprintf(kinds[n_kinds++].name, sizeof kinds[k].name, "%s", kernel);
    kinds[k].launches++;
    kinds[k].bytes += bytes;
    which[n_launches++] = (int)k;
    must(cudaEventRecord(ends[n_launches], be->stream));
}

struct step {
    struct mc_backend *be;
    struct mc_plan *plan;
    const struct mc_graph *g;
    struct mc_source source;
    struct mc_sgd sgd;
    struct mc_buf *stats, *grad, *ctl, *sums, *busy;
};

static struct mc_buf *device(struct mc_backend *be, const void *from, size_t bytes)
{
    struct mc_buf *b = NULL;

    need(be->buf_new(be, bytes, &b, &err));
    if (from)
        need(be->put(be, b, 0, from, bytes, &err));
    return b;
}

/* A step like tests/bench/bench_train.c's. The device is kept busy while the host queues it, so
 * that the times are the device's alone. */
static void run_step(const struct step *s)
{
    struct mc_backend *be = s->be;

    n_launches = 0;
    for (int i = 0; i < 100; i++)
        must(cudaMemsetAsync(s->busy->data, i, s->busy->bytes, cuda_of(be)->stream));
    must(cudaEventRecord(ends[0], cuda_of(be)->stream));
    be->load(s->plan, &s->source, s->ctl);
    be->forward(s->plan, MC_MODE_TRAIN, s->sgd.p, s->stats, NULL, s->ctl);
    be->metrics(s->plan, s->sums);
    be->sumsq(be, s->g->P, s->sgd.p, .5, s->sums, MC_N_METRICS);
    be->backward(s->plan, s->sgd.p, s->grad);
    be->sgd(be, s->g->P, &s->sgd, s->ctl);
    be->ctl_next(be, s->ctl);
}

static void open_step(struct step *s, struct mc_graph *g, size_t batch, struct mc_backend *be)
{
    static const struct mc_augment augment = {.rotate = 15, .flip = 1, .pad = 4};
    const struct mc_ctl ctl = {.seed = 1};
    const float lrs[STEPS + 1] = {0};
    float *params = calloc(g->P, sizeof *params), *stats = calloc(g->S + 1, sizeof *stats);
    int32_t *order = calloc((STEPS + 1) * batch, sizeof *order);
    uint8_t *pixels = malloc(PIXELS);

    if (!params || !stats || !order || !pixels)
        need(mc_no_memory(&err));
    for (size_t i = 0; i < PIXELS; i++)
        pixels[i] = (uint8_t)(i * 2654435761u >> 24);
    mc_graph_init(g, 1, params, stats);
    for (size_t i = 0; i < (STEPS + 1) * batch; i++)
        order[i] = (int32_t)(i * 31 % IMAGES);
    *s = (struct step){.be = be, .g = g};
    s->source = (struct mc_source){.images = device(be, pixels, PIXELS),
                                   .pixels = MC_U8,
                                   .labels = device(be, NULL, IMAGES * sizeof(int32_t)),
                                   .order = device(be, order, (STEPS + 1) * batch * sizeof *order),
                                   .augment = &augment,
                                   .purpose = MC_RNG_AUGMENT};
    s->sgd = (struct mc_sgd){.p = device(be, params, g->P * sizeof *params),
                             .m = device(be, NULL, g->P * sizeof *params),
                             .lrs = device(be, lrs, sizeof lrs),
                             .momentum = .9f,
                             .decay = 5e-4f,
                             .nesterov = 1};
    s->sgd.grad = s->grad = device(be, NULL, g->P * sizeof *params);
    s->sgd.point = s->sgd.p;
    s->stats = device(be, stats, (g->S + 1) * sizeof *stats);
    s->ctl = device(be, &ctl, sizeof ctl);
    s->sums = device(be, NULL, (MC_N_METRICS + 1) * sizeof(double));
    s->busy = device(be, NULL, BUSY);
    need(be->plan_new(be, g, &(struct mc_plan_opts){.batch = batch, .train_only = 1, .backward = 1},
                      &s->plan, &err));
    free(params);
    free(stats);
    free(order);
    free(pixels);
}

static void close_step(struct step *s)
{
    const struct mc_buf *all[] = {s->source.images, s->source.labels, s->source.order, s->sgd.p,
                                  s->sgd.m,         s->sgd.lrs,       s->grad,         s->stats,
                                  s->ctl,           s->sums,          s->busy};

    s->be->plan_free(s->plan);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        s->be->buf_free(s->be, (struct mc_buf *)(uintptr_t)all[i]);
}

static int by_bytes(const void *a, const void *b)
{
    const struct kind *x = a, *y = b;
    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : strcmp(x->name, y->name);
}

static void print_kind(const char *net, const struct kind *k, double card)
{
    printf("%s\t%s\t%u\t%.1f", net, k->name, k->launches, k->bytes / 1e6);
    if (k->ms > 0)
        printf("\t%.1f\t%.0f\t%.0f", 1e3 * k->ms, k->bytes / 1e6 / k->ms, card);
    putchar('\n');
}

static void one_net(struct cuda *be, const char *net, size_t batch, double card)
{
    const struct mc_net_spec spec = {3, 32, 32, 10, {.5f, .5f, .5f}, {.25f, .25f, .25f}};
    struct mc_graph *g = NULL;
    struct step s;
    struct kind all = {.name = "all"};
    double sums[MC_N_METRICS];

    need(mc_net_build(&g, net, &spec, &err));
    open_step(&s, g, batch, &be->base);
    run_step(&s); /* loads the libraries' code */
    cuda_watch = watch;
    for (int i = 0; i < STEPS; i++) {
        for (size_t k = 0; k < n_kinds; k++) /* the last step's are printed */
            kinds[k].launches = 0, kinds[k].bytes = 0;
        run_step(&s);
        need(be->base.get(&be->base, s.sums, 0, sums, sizeof sums, &err));
        for (size_t k = 0; k < n_launches; k++) {
            float ms = 0;
            must(cudaEventElapsedTime(&ms, ends[k], ends[k + 1]));
            kinds[which[k]].ms += (double)ms / STEPS;
        }
    }
    cuda_watch = NULL;
    qsort(kinds, n_kinds, sizeof *kinds, by_bytes);
    for (size_t k = 0; k < n_kinds; k++) {
        print_kind(net, &kinds[k], card);
        all.launches += kinds[k].launches;
        all.bytes += kinds[k].bytes;
        all.ms += kinds[k].ms;
    }
    print_kind(net, &all, card);
    memset(kinds, 0, sizeof kinds);
    n_kinds = 0;
    close_step(&s);
    mc_graph_free(g);
}

int main(int argc, char **argv)
{
    int clock = 0, width = 0;

    if (argc < 5 || atoi(argv[3]) < 1) {
        fprintf(stderr, "usage: kernels device precision batch net...\n");
        return 2;
    }
    struct cuda *be = open_device(atoi(argv[1]), argv[2]);
    must(cudaDeviceGetAttribute(&clock, cudaDevAttrMemoryClockRate, be->device)); /* kHz */
    must(cudaDeviceGetAttribute(&width, cudaDevAttrGlobalMemoryBusWidth, be->device));
    for (int i = 0; i <= LAUNCHES; i++)
        must(cudaEventCreateWithFlags(&ends[i], cudaEventDefault));
    for (int i = 4; i < argc; i++)
        one_net(be, argv[i], (size_t)atoi(argv[3]), 2e-6 * clock * width / 8);
    for (int i = 0; i <= LAUNCHES; i++)
        must(cudaEventDestroy(ends[i]));
    be->base.close(&be->base);
    return 0;
}
