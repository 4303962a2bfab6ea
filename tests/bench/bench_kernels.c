/* SPDX-License-Identifier: Apache-2.0
 *
 * The hot kernels of a training step at the shapes of tinyten and resnet32, batch 128, one thread.
 *
 *     bench_kernels [repeats]
 *
 * prints, tab-separated, kernel, shape, milliseconds (best of `repeats`, 20), its rate and this
 * core's limit: GF/s of the products that it computes, next to those of independent fused
 * multiply-adds, or GB/s that it must read and write, next to those of reading 512 MiB. An activation
 * that stays in the last cache exceeds the second limit. Processor time. */
#include "kernels/cpu/cpu.h"
#include "tests/bench/tune.h"

enum { N = 128 };

static struct cpu *be;
static int repeats = 20;
static double peak, memory; /* GF/s, GB/s */

struct job {
    struct cpu_shape s;
    struct cpu_norm norm;
    float *x, *y, *z, *part, *w, *work;
    struct cpu_conv *conv;
};

static double best(void (*run)(const struct job *), const struct job *j)
{
    double least = 1e9;

    for (int r = 0; r < repeats; r++) {
        const double t = seconds(CLOCK_THREAD_CPUTIME_ID);
        run(j);
        const double took = seconds(CLOCK_THREAD_CPUTIME_ID) - t;
        least = took < least ? took : least;
    }
    return least;
}

static void line(const char *kernel, const char *shape, double took, double amount, double limit,
                 const char *unit)
{
    printf("%s\t%s\t%.3f\t%.0f\t%.0f\t%s\n", kernel, shape, took * 1e3, amount / took * 1e-9, limit,
           unit);
}

/* ---- the limits ------------------------------------------------------------------------------ */

/* 16 independent chains of multiply-adds, ROUNDS long, of vectors of `floats` */
enum { ROUNDS = 1 << 20 };
#define CHAINS(name, isa, floats)                                                                  \
    __attribute__((target(isa))) static float name(float by)                                       \
    {                                                                                              \
        typedef float v __attribute__((vector_size(floats * 4)));                                  \
        v sum[16];                                                                                 \
        const v f = (v){0} + by;                                                                   \
        for (int i = 0; i < 16; i++)                                                               \
            sum[i] = f * (float)i;                                                                 \
        for (int r = 0; r < ROUNDS; r++)                                                           \
            for (int i = 0; i < 16; i++)                                                           \
                sum[i] = sum[i] * f + f;                                                           \
        for (int i = 1; i < 16; i++)                                                               \
            sum[0] += sum[i];                                                                      \
        return sum[0][0];                                                                          \
    }
#if defined __x86_64__
CHAINS(chains_16, "avx512f", 16)
CHAINS(chains_8, "avx2,fma", 8)
#endif
CHAINS(chains_4, "sse2", 4)

static volatile float sink = .5f;

static double multiply_adds(void)
{
    double least = 1e9;
    const char *name = be->k->name;
    const int width = strcmp(name, "avx512") == 0 ? 16 : strcmp(name, "avx2") == 0 ? 8 : 4;

    for (int r = 0; r < repeats; r++) {
        const double t = seconds(CLOCK_THREAD_CPUTIME_ID);
        sink = width == 16 ? chains_16(sink) : width == 8 ? chains_8(sink) : chains_4(sink);
        const double took = seconds(CLOCK_THREAD_CPUTIME_ID) - t;
        least = took < least ? took : least;
    }
    return 32.0 * width * ROUNDS / least * 1e-9;
}

static void sum(const struct job *j)
{
    be->k->channel_sums(&j->s, j->x, j->part);
}

static double reads(void)
{
    const size_t count = (size_t)128 << 20, b = (size_t)be->k->block;
    struct job j = {.s = {.n = 1, .valid = 1, .cb = 1, .hw = count / b}};

    j.x = floats(count);
    j.part = floats(b);
    const double took = best(sum, &j);
    free(j.x);
    free(j.part);
    return (double)count * sizeof(float) / took * 1e-9;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static void stats(const struct job *j)
{
    be->k->stats(&j->s, j->x, j->part);
}

static void norm(const struct job *j)
{
    be->k->norm(&j->s, j->x, NULL, &j->norm, NULL, j->y);
}

static void norm_back_sums(const struct job *j)
{
    be->k->norm_back_sums(&j->s, j->x, NULL, j->y, &j->norm, j->part, NULL);
}

static void norm_back(const struct job *j)
{
    be->k->norm_back(&j->s, j->x, j->y, &j->norm, j->z);
}

static void add(const struct job *j)
{
    be->k->add(j->s.n * j->s.cb * j->s.hw * (size_t)be->k->block, j->x, j->y, j->z);
}

static void forward(const struct job *j)
{
    cpu_conv_run(j->conv, MC_PASS_FORWARD,
                 &(struct cpu_tensors){.x = j->x, .weight = j->w, .y = j->y, .work = j->work});
}

static void data_gradient(const struct job *j)
{
    cpu_conv_run(j->conv, MC_PASS_DATA,
                 &(struct cpu_tensors){.x = j->x, .weight = j->w, .y = j->y, .work = j->work});
}

static void weight_gradient(const struct job *j)
{
    cpu_conv_run(j->conv, MC_PASS_WEIGHTS,
                 &(struct cpu_tensors){.x = j->x, .weight = j->w, .y = j->y, .work = j->work});
}

/* Kernels that only read and write activations; `passes`: how many of them. */
static void activations(int channels, int side)
{
    static const struct {
        const char *name;
        void (*run)(const struct job *);
        int passes;
    } kernels[] = {{"batch norm: sums", stats, 1},
                   {"batch norm: apply, ReLU", norm, 2},
                   {"batch norm: gradient's sums", norm_back_sums, 2},
                   {"batch norm: gradient", norm_back, 3},
                   {"sum of two", add, 3}};
    const size_t b = (size_t)be->k->block, cb = ((size_t)channels + b - 1) / b;
    const size_t hw = (size_t)(side * side), count = N * cb * hw * b;
    float *vector = floats(4 * cb * b);
    struct job j = {.s = {N, N, cb, hw},
                    .norm = {vector, vector + cb * b, vector + 2 * cb * b, vector, vector, 0},
                    .x = floats(count),
                    .y = floats(count),
                    .z = floats(count),
                    .part = floats(2 * N * cb * b),
                    .w = vector + 3 * cb * b};
    char shape[64];

    snprintf(shape, sizeof shape, "%dx%dx%d", channels, side, side);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        line(kernels[i].name, shape, best(kernels[i].run, &j),
             (double)count * sizeof(float) * kernels[i].passes, memory, "GB/s");
    free(vector);
    free(j.x);
    free(j.y);
    free(j.z);
    free(j.part);
}

/* A convolution's passes by the algorithms of the table; Winograd computes 36 products of channels
 * per 16 pixels of 3x3 windows instead of 144. */
static void convolution(int ic, int side, int oc, int kernel, int stride)
{
    static void (*const run[])(const struct job *) = {forward, data_gradient, weight_gradient};
    static const char *const names[] = {"forward", "data's gradient", "weights' gradient"};
    const size_t b = (size_t)be->k->block;
    const int out = (side - 1) / stride + 1;
    struct cpu_conv_shape s = {.n = N,
                               .ic = ic,
                               .ih = side,
                               .iw = side,
                               .oc = oc,
                               .oh = out,
                               .ow = out,
                               .kernel = {kernel, kernel},
                               .stride = {stride, stride},
                               .pad = {kernel / 2, kernel / 2},
                               .groups = 1,
                               .plain_input = ic == 3,
                               .backward_data = ic != 3,
                               .backward_weights = 1};
    struct job j = {.x = floats((size_t)(N * side * side) * (((size_t)ic + b - 1) / b * b)),
                    .y = floats((size_t)(N * out * out) * (((size_t)oc + b - 1) / b * b)),
                    .w = floats((size_t)(ic * oc * kernel * kernel))};
    char shape[MC_SHAPE_TEXT], name[128];

    for (enum mc_pass pass = 0; pass < MC_N_PASSES; pass++)
        s.algorithm[pass] = cpu_choose(be->k, pass, &s);
    need(cpu_conv_new(be, &s, &j.conv, &err));
    j.work = floats(cpu_conv_work(j.conv) / sizeof(float));
    mc_shape_text(shape, (const int[]){ic, side, side}, (const int[]){oc, out, out}, s.kernel,
                  s.stride, s.pad, 1);
    for (enum mc_pass pass = 0; pass < MC_N_PASSES; pass++) {
        if (pass == MC_PASS_DATA && !s.backward_data)
            continue;
        const int winograd = s.algorithm[pass] == CPU_WINOGRAD;
        const double products = 2.0 * N * ic * oc * out * out * kernel * kernel;
        snprintf(name, sizeof name, "convolution (%s): %s", cpu_conv_implementation(j.conv, pass),
                 names[pass]);
        line(name, shape, best(run[pass], &j), winograd ? products / 4 : products, peak, "GF/s");
    }
    cpu_conv_free(j.conv);
    free(j.x);
    free(j.y);
    free(j.w);
    free(j.work);
}

int main(int argc, char **argv)
{
    struct mc_backend *opened = NULL;

    repeats = argc > 1 ? atoi(argv[1]) : repeats;
    need(mc_backend_open(&opened, &(struct mc_backend_opts){.device = "cpu", .threads = 1}, &err));
    be = (struct cpu *)opened;
    peak = multiply_adds();
    memory = reads();
    printf("kernel\tshape\tms\trate\tlimit\tunit\n");
    for (int stage = 0; stage < 3; stage++) {
        const int channels = 16 << stage, side = 32 >> stage;
        convolution(channels, side, channels, 3, 1);
        if (stage < 2)
            convolution(channels, side, 2 * channels, 3, 2);
        activations(channels, side);
    }
    convolution(3, 32, 16, 3, 1);
    convolution(64, 8, 64, 1, 1);
    opened->close(opened);
    return 0;
}
