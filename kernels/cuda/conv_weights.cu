/* SPDX-License-Identifier: Apache-2.0
 *
 * The weight gradient of a 3x3 or 1x1 convolution in float32, in a fixed order: cuDNN's fast
 * engines add in any order. A block takes a tile of channels and a part of the images' rows. A
 * thread accumulates OUT output channels times the taps of one input channel, or times IN_1X1 input
 * channels. The threads of a slice take every `slices`-th group of four pixels. The parts are then
 * added in order. */
#include "kernels/cuda/device.cuh"

#include <cassert>

#define OUT 8        /* a thread's output channels */
#define IN_1X1 8     /* a thread's input channels in a 1x1 convolution */
#define QUAD 4       /* pixels at a time */
#define X_ROOM 4608  /* numbers of x in shared memory */
#define DY_ROOM 7168 /* numbers of dy in shared memory */
#define MAX_LANES 16u
#define BLOCKS 396 /* about three for each multiprocessor of a large device */
#define SUM_LANES 16u
#define READS 8 /* parts that a thread reads before it adds them */

/* A thread's sums per output channel. */
#define SUMS(k) ((k) == 1 ? IN_1X1 : (k) * (k))

/* Sizes of a tile. A row of x starts at column QUAD of its row in shared memory, so that it is
 * aligned; the columns around it are 0. */
struct tiling {
    struct cuda_conv_sizes s; /* 1x1: rows may be regrouped, as no pixel needs neighbours */
    uint32_t lanes;           /* threads with different input channels */
    uint32_t in, out;         /* channels of a tile; out is a multiple of OUT */
    uint32_t rows, groups;    /* output rows at a time, and groups of them in an image */
    uint32_t quads;           /* in an output row */
    uint32_t pitch, channel;  /* numbers per row and channel of x in shared memory */
    uint32_t in_tiles, tiles; /* tiles of input channels, and all tiles */
    uint32_t parts;
};

static uint32_t power_of_two(uint32_t n, uint32_t limit)
{
    uint32_t p = 1;

    while (p < n && 2 * p <= limit)
        p *= 2;
    return p;
}

static uint32_t ceiling(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

/* Numbers per channel of x for `rows` output rows. Threads with different channels read different
 * banks. */
static uint32_t channel_room(const struct tiling *t, uint32_t rows)
{
    const uint32_t n = ((rows - 1) * t->s.stride + t->s.kernel) * t->pitch;
    return n + (n % 8 == 4 ? 0 : 4);
}

static int fits(const struct tiling *t, uint32_t rows)
{
    return t->in * channel_room(t, rows) <= X_ROOM && t->out * rows * t->quads * QUAD <= DY_ROOM;
}

/* Return 0 if the shape is not supported. */
static int tile(const struct cuda_conv_sizes *s, struct tiling *t)
{
    const int one = s->kernel == 1 && s->stride == 1 && s->pad == 0;
    const uint32_t each = one ? IN_1X1 : 1;

    if (!one && (s->kernel != 3 || s->stride < 1 || s->stride > 2 || s->pad > 1))
        return 0;
    t->s = *s;
    if (one && s->oh * s->ow % 32 == 0) {
        t->s.ih = t->s.oh = s->oh * s->ow / 32;
        t->s.iw = t->s.ow = 32;
    }
    t->out = OUT * power_of_two(ceiling(s->oc, OUT), CUDA_THREADS < 8 ? CUDA_THREADS : 8);
    t->lanes = power_of_two(ceiling(s->ic, each), CUDA_THREADS / (t->out / OUT));
    if (t->lanes > MAX_LANES)
        t->lanes = MAX_LANES;
    t->in = t->lanes * each;
    t->quads = ceiling(t->s.ow, QUAD);
    t->pitch = QUAD * (t->quads - 1) * s->stride + (one ? 2 : 4) * QUAD;
    if (t->pitch < t->s.iw + QUAD)
        t->pitch = ceiling(t->s.iw, QUAD) * QUAD + QUAD;
    for (; t->lanes > 1 && !fits(t, 1); t->in = t->lanes * each)
        t->lanes /= 2;
    while (t->out > OUT && !fits(t, 1))
        t->out /= 2;
    if (!fits(t, 1))
        return 0;
    for (t->rows = 1; t->rows < t->s.oh && fits(t, t->rows + 1);)
        t->rows++;
    t->groups = ceiling(t->s.oh, t->rows);
    t->rows = ceiling(t->s.oh, t->groups);
    t->channel = channel_room(t, t->rows);
    t->in_tiles = ceiling(s->ic, t->in);
    t->tiles = t->in_tiles * ceiling(s->oc, t->out);
    t->parts = BLOCKS / t->tiles > 1 ? BLOCKS / t->tiles : 1;
    if (t->parts > s->n * t->groups)
        t->parts = s->n * t->groups;
    return 1;
}

static size_t count(const struct cuda_conv_sizes *s)
{
    return (size_t)s->oc * s->ic * s->kernel * s->kernel;
}

size_t cuda_conv_weights_work(const struct cuda_conv_sizes *s)
{
    struct tiling t;
    return tile(s, &t) ? t.parts * count(s) * sizeof(float) : 0;
}

/* Channels of an image, and the first row to copy. */
struct source {
    const float *data;
    uint32_t channels, height, width;
    int first;
};

/* Rows in shared memory: row r of channel c is at data + c * room + r * pitch. */
struct copied {
    float *data;
    uint32_t channels, rows, room, pitch;
};

/* Copy rows to shared memory. Rows outside of a channel, and channels after the last one, are
 * zeros. W: 4 if rows can be read by fours, else 1. */
template <int W>
static __device__ void load_rows(const struct source &from, const struct copied &to)
{
    const uint32_t across = from.width / W, n = to.channels * to.rows * across;

    for (uint32_t e = threadIdx.x; e < n; e += 4 * CUDA_THREADS) {
        pack<float, W> u[4];
        uint32_t offset[4];
        UNROLL
        for (int k = 0; k < 4; k++) {
            const uint32_t i = e + k * CUDA_THREADS, row = i / across, q = i - row * across;
            const uint32_t c = row / to.rows, r = row - c * to.rows;
            const uint32_t y = (uint32_t)(from.first + (int)r);
            offset[k] = c * to.room + r * to.pitch + q * W;
            for (int j = 0; j < W; j++)
                u[k].v[j] = 0;
            if (i < n && c < from.channels && y < from.height)
                u[k] = *(const pack<float, W> *)(from.data + (c * from.height + y) * from.width +
                                                 q * W);
        }
        UNROLL
        for (int k = 0; k < 4; k++)
            if (e + k * CUDA_THREADS < n)
                *(pack<float, W> *)(to.data + offset[k]) = u[k];
    }
}

/* Add a quad's products. x: the first of the rows' numbers, SHIFT before the first tap's. */
template <int K, int STRIDE, int SHIFT, int N>
static __device__ inline void add_quad(const struct tiling &t, const float *x, const float *dy,
                                       uint32_t plane, float (&sum)[OUT][N])
{
    pack<float, QUAD> g[OUT];

    UNROLL
    for (int o = 0; o < OUT; o++)
        g[o] = *(const pack<float, QUAD> *)(dy + o * plane);
    UNROLL
    for (int row = 0; row < N / K; row++) { /* a row of taps, or an input channel */
        pack<float, QUAD> u[K];
        UNROLL
        for (int k = 0; k < K; k++)
            u[k] = *(const pack<float, QUAD> *)(x + row * (K == 1 ? t.lanes * t.channel : t.pitch) +
                                                k * QUAD);
        UNROLL
        for (int kx = 0; kx < K; kx++) {
            UNROLL
            for (int p = 0; p < QUAD; p++) {
                const int column = SHIFT + p * STRIDE + kx;
                UNROLL
                for (int o = 0; o < OUT; o++) {
                    float *a = &sum[o][row * K + kx];
                    *a = fmaf(g[o].v[p], u[column / QUAD].v[column % QUAD], *a);
                }
            }
        }
    }
}

/* Carries the template arguments through a launch. */
template <int K, int STRIDE, int SHIFT, int W> struct tiling_for {
    struct tiling t;
};

/* Memory traffic: x once per tile of output channels, dy once per tile of input channels; part
 * once. gpu-bench counts x and dy once.
 * part (parts, O, I, K, K) */
template <int K, int STRIDE, int SHIFT, int W>
static __global__ void weight_parts(tiling_for<K, STRIDE, SHIFT, W> f, const float *x,
                                    const float *dy, float *part)
{
    alignas(16) __shared__ float xs[X_ROOM];
    alignas(16) __shared__ float gs[DY_ROOM];
    constexpr int N = SUMS(K);
    const struct tiling &t = f.t;
    const struct cuda_conv_sizes &s = t.s;
    const uint32_t p = blockIdx.x % t.parts, tile = blockIdx.x / t.parts;
    const uint32_t in = tile % t.in_tiles * t.in, out = tile / t.in_tiles * t.out;
    const uint32_t jobs = t.lanes * (t.out / OUT), job = threadIdx.x % jobs;
    const uint32_t slice = threadIdx.x / jobs, slices = CUDA_THREADS / jobs;
    const uint32_t i = job % t.lanes, o = job / t.lanes * OUT, plane = t.rows * t.quads * QUAD;
    const uint32_t units = s.n * t.groups, begin = (uint32_t)((uint64_t)units * p / t.parts);
    const uint32_t end = (uint32_t)((uint64_t)units * (p + 1) / t.parts);
    const uint32_t x_rows = (t.rows - 1) * s.stride + K;
    float sum[OUT][N] = {};

    for (uint32_t k = threadIdx.x; k < X_ROOM; k += CUDA_THREADS)
        xs[k] = 0;
    for (uint32_t k = threadIdx.x; k < DY_ROOM; k += CUDA_THREADS)
        gs[k] = 0;
    for (uint32_t unit = begin; unit < end; unit++) {
        const uint32_t image = unit / t.groups, y = (unit - image * t.groups) * t.rows;
        __syncthreads(); /* the previous rows were read */
        const struct source from_x = {x + (image * s.ic + in) * s.ih * s.iw, s.ic - in, s.ih, s.iw,
                                      (int)(y * s.stride) - (int)s.pad};
        const struct source from_dy = {dy + (image * s.oc + out) * s.oh * s.ow, s.oc - out, s.oh,
                                       s.ow, (int)y};
        load_rows<W>(from_x, {xs + QUAD, t.in, x_rows, t.channel, t.pitch});
        load_rows<W>(from_dy, {gs, t.out, t.rows, plane, t.quads * QUAD});
        __syncthreads();
        uint32_t r = slice / t.quads, q = slice - r * t.quads;
        for (uint32_t k = slice; k < t.rows * t.quads; k += slices) {
            add_quad<K, STRIDE, SHIFT>(t,
                                       xs + i * t.channel + r * STRIDE * t.pitch +
                                           q * QUAD * STRIDE + (SHIFT ? 0 : QUAD),
                                       gs + o * plane + (r * t.quads + q) * QUAD, plane, sum);
            for (q += slices; q >= t.quads; q -= t.quads)
                r++;
        }
    }
    /* add the slices, one output channel of each thread at a time */
    part += p * (size_t)s.oc * s.ic * K * K;
    UNROLL
    for (int k = 0; k < OUT; k++) {
        __syncthreads();
        UNROLL
        for (int n = 0; n < N; n++)
            xs[threadIdx.x * N + n] = sum[k][n];
        __syncthreads();
        for (uint32_t e = threadIdx.x; e < jobs * N; e += CUDA_THREADS) {
            const uint32_t j = e / N, n = e % N, d = out + j / t.lanes * OUT + k;
            const uint32_t c = in + j % t.lanes + (K == 1 ? n * t.lanes : 0);
            float a = xs[e];
            for (uint32_t other = 1; other < slices; other++)
                a += xs[e + other * jobs * N];
            if (c < s.ic && d < s.oc)
                part[(d * s.ic + c) * (K * K) + (K == 1 ? 0 : n)] = a;
        }
    }
}

/* dw (n) = the sums of part (parts, n). Memory traffic: part and dw once. */
static __global__ void add_weight_parts(uint32_t n, uint32_t parts, uint32_t lanes,
                                        const float *part, float *dw)
{
    const uint32_t j = blockIdx.x * lanes + threadIdx.x % lanes, step = CUDA_THREADS / lanes;
    double sum = 0;

    for (uint32_t p = threadIdx.x / lanes; j < n && p < parts; p += READS * step) {
        float u[READS];
        UNROLL
        for (uint32_t k = 0; k < READS; k++)
            u[k] = p + k * step < parts ? part[(size_t)(p + k * step) * n + j] : 0;
        UNROLL
        for (uint32_t k = 0; k < READS; k++)
            sum += (double)u[k];
    }
    sum = lane_sum(sum, lanes);
    if (threadIdx.x < lanes && j < n)
        dw[j] = (float)sum;
}

template <int K, int STRIDE, int SHIFT, int W>
static void launch(struct cuda *be, const struct tiling &t, const float *x, const float *dy,
                   float *part)
{
    const tiling_for<K, STRIDE, SHIFT, W> f = {t};
    LAUNCH_BLOCKS(be, weight_parts, t.tiles * t.parts, f, x, dy, part);
}

typedef void launch_fn(struct cuda *, const struct tiling &, const float *, const float *, float *);

void cuda_conv_weights(struct cuda *be, const struct cuda_conv_sizes *s, const float *x,
                       const float *dy, float *part, float *dw)
{
    /* by stride, padding and width of loads */
    static launch_fn *const one[2] = {launch<1, 1, 0, 1>, launch<1, 1, 0, QUAD>};
    static launch_fn *const three[2][2][2] = {
        {{launch<3, 1, 0, 1>, launch<3, 1, 0, QUAD>}, {launch<3, 1, 3, 1>, launch<3, 1, 3, QUAD>}},
        {{launch<3, 2, 0, 1>, launch<3, 2, 0, QUAD>}, {launch<3, 2, 3, 1>, launch<3, 2, 3, QUAD>}}};
    const uint32_t lanes = SUM_LANES < CUDA_THREADS ? SUM_LANES : CUDA_THREADS;
    const uint32_t n = (uint32_t)count(s);
    struct tiling t;

    const int supported = tile(s, &t);
    assert(supported);
    (void)supported;
    const int wide =
        t.s.iw % QUAD == 0 && t.s.ow % QUAD == 0 && cuda_aligned(x) && cuda_aligned(dy);
    (s->kernel == 1 ? one[wide] : three[s->stride - 1][s->pad][wide])(be, t, x, dy, part);
    cuda_report_bytes((double)(t.parts + 1) * n * sizeof(float));
    LAUNCH_BLOCKS(be, add_weight_parts, (n + lanes - 1) / lanes, n, t.parts, lanes, part, dw);
}
