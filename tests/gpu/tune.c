/* SPDX-License-Identifier: Apache-2.0
 *
 * Times cuDNN's algorithms of every convolution of the given networks on a device, and prints the
 * lines of kernels/cuda/algorithms.tsv for it: of the deterministic ones the fastest, the untuned
 * choice unless another is faster by a twentieth; and where one whose sums come in any order is
 * faster than that by a twentieth, a line for it.
 *
 *     tune device precision repeats batch net:HEIGHTxWIDTH...
 *
 * Plain buffers of numbers, no network: nothing learns from it. The calls are captured once and
 * replayed, as steps are, so that what is timed is the device's work and not the host's; repeats
 * are interleaved, and the least time counts. */
#include "kernels/abi.h"
#include "kernels/cuda/cuda.h"
#include "tests/bench/tune.h"

enum { CALLS = 16 };  /* of a reading */
#define NOT_TIMED 1e9 /* seconds */

struct task {
    struct cuda *be;
    int repeats, batch;
};

struct buffers {
    struct mc_buf *x, *y, *w, *work;
};

/* One algorithm's calls. */
struct call {
    struct cuda_conv *conv; /* NULL: it does not take the shape */
    enum mc_pass pass;
    const struct buffers *b;
    struct mc_capture *kept;
    double least;
};

/* Numbers between a half and one of either sign: zeros would cost less power, so less time. */
static struct mc_buf *take(struct cuda *be, enum cuda_type type, size_t n)
{
    const size_t size = cuda_type_size(type);
    const int bits = type == CUDA_F32 ? 23 : type == CUDA_BF16 ? 7 : 10; /* of the significand */
    const uint32_t half = type == CUDA_F32 ? 0x3f000000 : type == CUDA_BF16 ? 0x3f00 : 0x3800;
    unsigned char *x = malloc(n * size);
    uint32_t random = 1;
    struct mc_buf *b = NULL;

    if (!x)
        need(mc_no_memory(&err));
    for (size_t i = 0; i < n; i++) {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        const uint32_t u = half | random >> (32 - bits) | (random & 1) << (8 * size - 1);
        const uint16_t u16 = (uint16_t)u;
        memcpy(x + i * size, size == 4 ? (const void *)&u : (const void *)&u16, size);
    }
    need(be->base.buf_new(&be->base, n * size, &b, &err));
    need(be->base.put(&be->base, b, 0, x, n * size, &err));
    free(x);
    return b;
}

static void make(void *arg)
{
    const struct call *c = arg;
    const struct buffers *b = c->b;

    if (c->pass == MC_PASS_FORWARD)
        cuda_conv_forward(c->conv, b->x->data, b->w->data, b->y->data, b->work->data);
    else if (c->pass == MC_PASS_DATA)
        cuda_conv_backward_data(c->conv, b->y->data, b->w->data, 0, b->x->data, b->work->data);
    else
        cuda_conv_backward_weights(c->conv, b->x->data, b->y->data, b->w->data, b->work->data);
}

static void drop(struct cuda *be, struct call *c)
{
    be->base.capture_free(&be->base, c->kept);
    cuda_conv_free(c->conv);
    c->kept = NULL;
    c->conv = NULL;
    c->least = NOT_TIMED;
}

static void one_reading(struct cuda *be, struct call *c, int counts)
{
    char waited = 0;

    const double t = seconds(CLOCK_MONOTONIC);
    be->base.repeat(&be->base, &c->kept, CALLS, make, c);
    if (be->base.get(&be->base, c->b->work, 0, &waited, 1, &err)) {
        fprintf(stderr, "tune: %s: %s\n", mc_pass_name(c->pass), err.text);
        be->failed = 0; /* it is not taken; the others may be */
        be->why[0] = 0;
        drop(be, c);
        return;
    }
    const double took = (seconds(CLOCK_MONOTONIC) - t) / CALLS;
    char *uncaptured = strstr(be->base.describe, ", steps not captured");
    if (uncaptured) { /* nor would steps with it be, and the host's time would count */
        fprintf(stderr, "tune: %s%s\n", mc_pass_name(c->pass), uncaptured);
        *uncaptured = 0;
        be->direct = 0;
        drop(be, c);
        return;
    }
    c->least = counts && took < c->least ? took : c->least;
}

/* -1: there is none */
static int untuned(struct cuda *be, struct cuda_conv_shape s, enum mc_pass pass, int any_order)
{
    struct cuda_conv *c = NULL;
    size_t work = 0;

    be->any_order = any_order;
    if (cuda_conv_new(be, &s, &c, NULL))
        return -1;
    const int a = cuda_choose_untuned(c, pass, &work);
    cuda_conv_free(c);
    return a;
}

/* The lines of one shape and pass: in a fixed order, then in any where that is faster. */
static void print_best(struct cuda *be, const struct cuda_conv_shape *s, enum mc_pass pass,
                       const struct call *calls)
{
    double fixed = NOT_TIMED;
    char text[MC_SHAPE_TEXT], key[CUDA_TABLE_KEY];

    cuda_conv_text(s, text);
    for (int any_order = 0; any_order < 2; any_order++) {
        const int usual = untuned(be, *s, pass, any_order);
        const int known = usual >= 0 && calls[usual].least < NOT_TIMED;
        const double usual_time = known ? calls[usual].least : NOT_TIMED;
        int best = known ? usual : -1;
        double least = usual_time;
        for (int a = 0; a < CUDA_N_ALGORITHMS; a++)
            if (cuda_algorithm_fits(be, pass, a) && calls[a].least < least &&
                calls[a].least < .95 * usual_time) {
                best = a;
                least = calls[a].least;
            }
        cuda_table_key(be, any_order, key);
        if (best < 0)
            fprintf(stderr, "tune: %s %s %s: no algorithm\n", key, mc_pass_name(pass), text);
        else if (!any_order || least < .95 * fixed) {
            printf("%s\t%s\t%s\t%s\t%.4f", key, mc_pass_name(pass), text,
                   cuda_algorithm_name(pass, best), least * 1e3);
            if (known)
                printf("\t%s\t%.4f\n", cuda_algorithm_name(pass, usual), usual_time * 1e3);
            else
                printf("\t-\t-\n");
        }
        fixed = least;
    }
    fflush(stdout);
}

static void measure(const struct task *t, struct cuda_conv_shape s, enum mc_pass pass)
{
    struct cuda *be = t->be;
    struct call calls[CUDA_N_ALGORITHMS];
    size_t work = 1;
    struct buffers b = {take(be, s.type, (size_t)s.n * (size_t)(s.ic * s.ih * s.iw)),
                        take(be, s.type, (size_t)s.n * (size_t)(s.oc * s.oh * s.ow)),
                        take(be, s.type, (size_t)(s.ic * s.oc * s.kernel[0] * s.kernel[1])), NULL};

    be->any_order = 1;
    for (int a = 0; a < CUDA_N_ALGORITHMS; a++) {
        calls[a] = (struct call){.pass = pass, .b = &b, .least = NOT_TIMED};
        if (!cuda_algorithm_fits(be, pass, a))
            continue;
        s.algorithm[pass] = a + 1;
        if (cuda_conv_new(be, &s, &calls[a].conv, NULL))
            continue;
        if (cuda_conv_work(calls[a].conv) > CUDA_MOST_WORK)
            drop(be, &calls[a]);
        else if (cuda_conv_work(calls[a].conv) > work)
            work = cuda_conv_work(calls[a].conv);
    }
    s.algorithm[pass] = 0;
    need(be->base.buf_new(&be->base, work, &b.work, &err));
    for (int r = 0; r <= t->repeats; r++) /* the first warms up and captures */
        for (int a = 0; a < CUDA_N_ALGORITHMS; a++)
            if (calls[a].conv)
                one_reading(be, &calls[a], r);
    print_best(be, &s, pass, calls);
    for (int a = 0; a < CUDA_N_ALGORITHMS; a++)
        drop(be, &calls[a]);
    struct mc_buf *all[] = {b.x, b.y, b.w, b.work};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        be->base.buf_free(&be->base, all[i]);
}

static void tune(void *arg, const struct mc_node *n, const struct mc_node *in)
{
    const struct task *t = arg;
    const enum cuda_type type = cuda_type_of(t->be);
    const int pixels = in->op == MC_OP_NORMALISE;

    for (enum mc_pass pass = 0; pass < MC_N_PASSES; pass++) {
        if (pass == MC_PASS_DATA && pixels)
            continue; /* pixels' gradients are an attack's alone */
        measure(t,
                (struct cuda_conv_shape){.type = type,
                                         .n = t->batch,
                                         .ic = pixels ? cuda_pixel_channels(type, in->c) : in->c,
                                         .ih = in->h,
                                         .iw = in->w,
                                         .oc = n->c,
                                         .oh = n->h,
                                         .ow = n->w,
                                         .kernel = {n->kernel[0], n->kernel[1]},
                                         .stride = {n->stride[0], n->stride[1]},
                                         .pad = {n->pad[0], n->pad[1]},
                                         .groups = n->groups,
                                         .backward_data = pass == MC_PASS_DATA,
                                         .backward_weights = pass == MC_PASS_WEIGHTS},
                pass);
    }
}

int main(int argc, char **argv)
{
    struct mc_backend *be = NULL;
    struct mc_backend_opts o = {0};
    int p = 0;

    if (argc < 6) {
        fprintf(stderr, "usage: tune device precision repeats batch net:HEIGHTxWIDTH...\n");
        return 2;
    }
    while (mc_precision_names[p] && strcmp(mc_precision_names[p], argv[2]))
        p++;
    if (!mc_precision_names[p])
        need(mc_fail(&err, MC_EUSAGE, "there is no precision '%s'", argv[2]));
    o.precision = (enum mc_precision)p;
    need(mc_backend_cuda_new(&be, MC_BACKEND_INTERFACE, atoi(argv[1]), &o, &err));
    struct task t = {cuda_of(be), atoi(argv[3]), atoi(argv[4])};
    for (int i = 5; i < argc; i++)
        each_conv(argv[i], tune, &t);
    be->close(be);
    return 0;
}
