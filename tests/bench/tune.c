/* SPDX-License-Identifier: Apache-2.0
 *
 * Times every algorithm of every convolution of the given networks, and prints this instruction
 * set's lines of kernels/cpu/algorithms.tsv: the fastest algorithm, but direct unless another is
 * faster by a twentieth, and our Winograd, which is more accurate, unless oneDNN's is faster by a
 * tenth.
 *
 *     tune threads repeats batch net:HEIGHTxWIDTH...
 *
 * Repeats are interleaved, and the minimum counts. With one thread processor time is measured. A
 * busy machine therefore disturbs little. */
#include "kernels/cpu/cpu.h"
#include "tests/bench/tune.h"

static clockid_t watch = CLOCK_MONOTONIC;

static void measure(struct cpu *be, struct cpu_conv_shape s, enum mc_pass pass, int repeats)
{
    const size_t b = (size_t)be->k->block;
    const size_t ic = s.plain_input ? (size_t)s.ic : ((size_t)s.ic + b - 1) / b * b;
    const size_t oc = ((size_t)s.oc + b - 1) / b * b;
    float *x = floats((size_t)(s.n * s.ih * s.iw) * ic);
    float *y = floats((size_t)(s.n * s.oh * s.ow) * oc);
    float *w = floats((size_t)(s.ic / s.groups * s.oc * s.kernel[0] * s.kernel[1]));
    struct cpu_conv *conv[CPU_N_TABLED] = {NULL};
    void *work[CPU_N_TABLED] = {NULL};
    double least[CPU_N_TABLED];
    enum cpu_algorithm best = CPU_DIRECT;
    char text[MC_SHAPE_TEXT];

    s.backward_data = s.backward_weights = 1;
    for (enum cpu_algorithm a = 0; a < CPU_N_TABLED; a++) {
        s.algorithm[pass] = a;
        least[a] = 1e9;
        need(cpu_conv_new(be, &s, &conv[a], &err));
        work[a] = floats(cpu_conv_work(conv[a]) / sizeof(float));
    }
    for (int r = 0; r < repeats; r++)
        for (enum cpu_algorithm a = 0; a < CPU_N_TABLED; a++) {
            const double t = seconds(watch);
            cpu_conv_run(conv[a], pass,
                         &(struct cpu_tensors){.x = x, .weight = w, .y = y, .work = work[a]});
            const double took = seconds(watch) - t;
            least[a] = took < least[a] ? took : least[a];
        }
    for (enum cpu_algorithm a = 1; a < CPU_N_TABLED; a++)
        if (least[a] < .95 * least[CPU_DIRECT] && least[a] < least[best])
            best = a;
    if (best == CPU_DNNL_WINOGRAD && least[CPU_WINOGRAD] < .95 * least[CPU_DIRECT] &&
        least[best] > .9 * least[CPU_WINOGRAD])
        best = CPU_WINOGRAD;
    MC_CONV_TEXT(&s, text);
    printf("%s\t%s\t%s\t%s", be->k->name, mc_pass_name(pass), text, cpu_algorithm_name(best));
    for (enum cpu_algorithm a = 0; a < CPU_N_TABLED; a++) {
        printf("\t%.3f", least[a] * 1e3);
        cpu_conv_free(conv[a]);
        free(work[a]);
    }
    printf("\n");
    fflush(stdout);
    free(x);
    free(y);
    free(w);
}

struct task {
    struct cpu *be;
    int repeats, batch;
};

/* Only a 3x3 convolution of stride 1, other than the pixels', has a choice. */
static void tune(void *arg, const struct mc_node *n, const struct mc_node *in)
{
    const struct task *t = arg;

    if (in->op == MC_OP_NORMALISE || n->kernel[0] != 3 || n->stride[0] != 1)
        return;
    for (enum mc_pass pass = 0; pass < MC_N_PASSES; pass++)
        measure(t->be,
                (struct cpu_conv_shape){.n = t->batch,
                                        .ic = in->c,
                                        .ih = in->h,
                                        .iw = in->w,
                                        .oc = n->c,
                                        .oh = n->h,
                                        .ow = n->w,
                                        .kernel = {n->kernel[0], n->kernel[1]},
                                        .stride = {n->stride[0], n->stride[1]},
                                        .pad = {n->pad[0], n->pad[1]},
                                        .groups = n->groups},
                pass, t->repeats);
}

int main(int argc, char **argv)
{
    struct mc_backend *be = NULL;

    if (argc < 5) {
        fprintf(stderr, "usage: tune threads repeats batch net:HEIGHTxWIDTH...\n");
        return 2;
    }
    need(mc_backend_open(&be, &(struct mc_backend_opts){.device = "cpu", .threads = atoi(argv[1])},
                         &err));
    if (be->threads == 1)
        watch = CLOCK_THREAD_CPUTIME_ID;
    struct task task = {(struct cpu *)be, atoi(argv[2]), atoi(argv[3])};
    for (int i = 4; i < argc; i++)
        each_conv(argv[i], tune, &task);
    be->close(be);
    return 0;
}
