/* SPDX-License-Identifier: Apache-2.0
 *
 * Times cuDNN's algorithms of every convolution of the given networks on a device, and prints the
 * lines of kernels/cuda/algorithms.tsv for it: of the deterministic ones the fastest, the untuned
 * choice unless another is faster by a twentieth; and where one whose sums come in any order is
 * faster than that by a twentieth, a line for it.
 *
 *     tune device precision repeats batch net:HEIGHTxWIDTH...
 *
 * Plain buffers, no network: nothing learns from it. Several calls between two waits; repeats are
 * interleaved, and the least time counts. */
#include "../bench/tune.h"
#include "cuda/cuda.h"
#include "cuda/door.h"

enum { CALLS = 10 };

struct task {
    struct cuda *be;
    int repeats, batch;
};

struct buffers {
    struct mc_buf *x, *y, *w, *work;
};

static struct mc_buf *take(struct cuda *be, size_t floats)
{
    struct mc_buf *b = NULL;
    need(be->base.buf_new(&be->base, floats * sizeof(float), &b, &err));
    return b;
}

static double one_reading(struct cuda *be, struct cuda_conv *c, enum mc_pass pass,
                          const struct buffers *b)
{
    char waited = 0;

    const double t = seconds(CLOCK_MONOTONIC);
    for (int i = 0; i < CALLS; i++) {
        if (pass == MC_PASS_FORWARD)
            cuda_conv_forward(c, b->x->data, b->w->data, b->y->data, b->work->data);
        else if (pass == MC_PASS_DATA)
            cuda_conv_backward_data(c, b->y->data, b->w->data, 0, b->x->data, b->work->data);
        else
            cuda_conv_backward_weights(c, b->x->data, b->y->data, b->w->data, b->work->data);
    }
    need(be->base.get(&be->base, b->work, 0, &waited, 1, &err));
    return (seconds(CLOCK_MONOTONIC) - t) / CALLS;
}

static int untuned(struct cuda *be, struct cuda_conv_shape s, enum mc_pass pass, int any_order)
{
    struct cuda_conv *c = NULL;
    size_t work = 0;

    be->any_order = any_order;
    need(cuda_conv_new(be, &s, &c, &err));
    const int a = cuda_choose_untuned(c, pass, &work);
    cuda_conv_free(c);
    return a;
}

static void measure(const struct task *t, struct cuda_conv_shape s, enum mc_pass pass)
{
    struct cuda *be = t->be;
    struct cuda_conv *conv[CUDA_N_ALGORITHMS] = {NULL};
    double least[CUDA_N_ALGORITHMS], fixed_ms = 0;
    char text[MC_SHAPE_TEXT], key[CUDA_TABLE_KEY];
    size_t work = 1;

    cuda_conv_text(&s, text);
    be->any_order = 1;
    for (int a = 0; a < CUDA_N_ALGORITHMS; a++) {
        least[a] = 1e9;
        if (!cuda_algorithm_fits(be, pass, a))
            continue;
        s.algorithm[pass] = a + 1;
        if (cuda_conv_new(be, &s, &conv[a], NULL))
            continue; /* it does not take the shape */
        if (cuda_conv_work(conv[a]) > CUDA_MOST_WORK) {
            cuda_conv_free(conv[a]);
            conv[a] = NULL;
        } else if (cuda_conv_work(conv[a]) > work) {
            work = cuda_conv_work(conv[a]);
        }
    }
    s.algorithm[pass] = 0;
    struct buffers b = {take(be, (size_t)s.n * (size_t)(s.ic * s.ih * s.iw)),
                        take(be, (size_t)s.n * (size_t)(s.oc * s.oh * s.ow)),
                        take(be, (size_t)(s.ic * s.oc * s.kernel[0] * s.kernel[1])),
                        take(be, work / sizeof(float) + 1)};
    for (int r = 0; r <= t->repeats; r++) /* the first warms up */
        for (int a = 0; a < CUDA_N_ALGORITHMS; a++) {
            const double took = conv[a] ? one_reading(be, conv[a], pass, &b) : 1e9;
            least[a] = r && took < least[a] ? took : least[a];
        }
    for (int any_order = 0; any_order < 2; any_order++) {
        const int usual = untuned(be, s, pass, any_order);
        int best = usual;
        for (int a = 0; a < CUDA_N_ALGORITHMS; a++)
            if (conv[a] && cuda_algorithm_fits(be, pass, a) && least[a] < least[best] &&
                least[a] < .95 * least[usual])
                best = a;
        cuda_table_key(be, any_order, key);
        if (!any_order || least[best] < .95 * fixed_ms)
            printf("%s\t%s\t%s\t%s\t%.4f\t%s\t%.4f\n", key, mc_pass_name(pass), text,
                   cuda_algorithm_name(pass, best), least[best] * 1e3,
                   cuda_algorithm_name(pass, usual), least[usual] * 1e3);
        fixed_ms = least[best];
    }
    fflush(stdout);
    for (int a = 0; a < CUDA_N_ALGORITHMS; a++)
        cuda_conv_free(conv[a]);
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
