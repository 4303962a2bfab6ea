/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over a channel's elements. Each block sums some of the pixels; another kernel, or the last
 * block, adds these parts in a fixed order. If channels are first, a block sums one channel; if
 * they are last, it sums a pixel's channels side by side. */
#include "kernels/cuda/walk.cuh"

/* Channels last: the number of threads side by side, a power of two. Each sums a pack of channels,
 * or one. */
static uint32_t lanes_of(const struct cuda_shape *s, int wide)
{
    const uint32_t needed = wide ? s->c / cuda_pack(s->type) : s->c;
    uint32_t lanes = 1;

    while (lanes < needed && lanes < 32 && lanes < CUDA_THREADS)
        lanes *= 2;
    return lanes;
}

/* Number of parts: enough blocks for a large device, each with enough numbers to pay off. */
size_t cuda_sum_parts(const struct cuda_shape *s)
{
    const size_t side = s->channel == 1 ? (s->c < 128 ? s->c : 128) : 1;
    const size_t parts = ((size_t)s->n * s->hw * side + 2047) / 2048;
    const size_t limit = CUDA_MAX_PARTS;
    return parts < 1 ? 1 : parts < limit ? parts : limit;
}

struct sum_args {
    enum cuda_sum kind;
    struct cuda_norm m;
    uint32_t parts;
};

/* The terms of element x at pixel p (counted over all images). */
static __device__ inline void sum_terms(const struct sum_args *t, uint32_t p, float x, float dy,
                                        double *a, double *b)
{
    if (t->kind == CUDA_SUM_PRODUCT) {
        *a += (double)x * (double)dy;
    } else if (t->kind == CUDA_SUM_LAYER) {
        *a += (double)dy;
        *b += (double)dy * (double)((x - t->m.mean[p]) * t->m.inv[p]);
    } else {
        *a += (double)x;
        *b += (double)x * (double)x;
    }
}

/* The elements [from, to) of the part, out of `all`, that precede `counted`. */
static __device__ inline void segment(uint32_t all, uint32_t part, uint32_t parts, uint32_t counted,
                                      uint32_t *from, uint32_t *to)
{
    *from = (uint32_t)((uint64_t)all * part / parts);
    *to = (uint32_t)((uint64_t)all * (part + 1) / parts);
    *to = *to < counted ? *to : counted;
}

/* Block (c, part): some of a channel's N * HW pixels, in packs. */
template <class T, int W>
static __global__ void sum_planes(struct cuda_shape s, struct sum_args t, const pack<T, W> *x,
                                  const pack<T, W> *dy, double *out)
{
    const uint32_t c = blockIdx.x / t.parts, hw = s.hw / W, image = s.image / W;
    const pack<T, W> *plane = x + c * hw;
    uint32_t from, to;
    double a = 0, b = 0;

    segment(s.n * hw, blockIdx.x % t.parts, t.parts, s.batch->valid * hw, &from, &to);
    for (uint32_t e = from + threadIdx.x; e < to; e += CUDA_THREADS) {
        const uint32_t i = e / hw, place = i * image + (e - i * hw);
        const pack<T, W> u = plane[place], g = dy ? dy[c * hw + place] : u;
        for (int j = 0; j < W; j++)
            sum_terms(&t, i * s.hw + (e - i * hw) * W + j, value(u.v[j]), value(g.v[j]), &a, &b);
    }
    a = block_sum(a);
    b = block_sum(b);
    if (threadIdx.x == 0) {
        out[2 * blockIdx.x] = a;
        out[2 * blockIdx.x + 1] = b;
    }
}

/* Block (tile of lanes * W channels, part): some of N * HW pixels; a lane's threads take turns. */
template <class T, int W>
static __global__ void sum_rows(struct cuda_shape s, struct sum_args t, uint32_t lanes,
                                const pack<T, W> *x, const pack<T, W> *dy, double *out)
{
    const uint32_t part = blockIdx.x % t.parts, side = threadIdx.x % lanes;
    const uint32_t c = (blockIdx.x / t.parts * lanes + side) * W, pixel = s.pixel / W;
    const int in_range = c < s.c; /* the last tile may have fewer channels */
    uint32_t from, to;
    double a[W] = {}, b[W] = {};

    segment(s.n * s.hw, part, t.parts, s.batch->valid * s.hw, &from, &to);
    for (uint32_t e = from + threadIdx.x / lanes; in_range && e < to; e += CUDA_THREADS / lanes) {
        const pack<T, W> u = x[e * pixel + c / W], g = dy ? dy[e * pixel + c / W] : u;
        for (int j = 0; j < W; j++)
            sum_terms(&t, e, value(u.v[j]), value(g.v[j]), &a[j], &b[j]);
    }
    for (int j = 0; j < W; j++) {
        a[j] = lane_sum(a[j], lanes);
        b[j] = lane_sum(b[j], lanes);
        if (in_range && threadIdx.x < lanes) {
            out[2 * ((size_t)(c + j) * t.parts + part)] = a[j];
            out[2 * ((size_t)(c + j) * t.parts + part) + 1] = b[j];
        }
    }
}

void cuda_sums(struct cuda *be, const struct cuda_shape *s, enum cuda_sum kind, const void *x,
               const void *dy, const struct cuda_norm *m, double *part)
{
    const int aligned = cuda_aligned(x) && cuda_aligned(dy);
    const struct cuda_norm none = {};
    const uint32_t by = cuda_pack(s->type);
    const struct sum_args t = {kind, m ? *m : none, (uint32_t)cuda_sum_parts(s)};

    cuda_report_bytes(cuda_bytes(s) * (dy ? 2 : 1) + 16. * s->c * (double)t.parts);
    if (s->channel == 1) {
        const int wide = aligned && s->c % by == 0 && s->pixel % by == 0;
        const uint32_t lanes = lanes_of(s, wide), side = wide ? lanes * by : lanes;
        WITH_PACKS(s->type, wide,
                   LAUNCH_BLOCKS(be, sum_rows, (s->c + side - 1) / side * t.parts, *s, t, lanes,
                                 (const P *)x, (const P *)dy, part));
    } else {
        WITH_PACKS(s->type, aligned && s->hw % by == 0,
                   LAUNCH_BLOCKS(be, sum_planes, s->c * t.parts, *s, t, (const P *)x, (const P *)dy,
                                 part));
    }
}

/* One block per channel. */
static __global__ void parts_to_floats(uint32_t parts, const double *part, float *out)
{
    const uint32_t c = blockIdx.x;
    double sum = 0;

    for (uint32_t i = threadIdx.x; i < parts; i += CUDA_THREADS)
        sum += part[2 * (c * parts + i)];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        out[c] = (float)sum;
}

void cuda_sums_to_floats(struct cuda *be, const struct cuda_shape *s, const double *part,
                         float *out)
{
    cuda_report_bytes(16. * s->c * (double)cuda_sum_parts(s));
    LAUNCH_BLOCKS(be, parts_to_floats, s->c, (uint32_t)cuda_sum_parts(s), part, out);
}

/* One block per channel. */
static __global__ void parts_to_doubles(uint32_t parts, const double *part, double *sum, double *sq)
{
    const uint32_t c = blockIdx.x;
    double a = 0, b = 0;

    for (uint32_t i = threadIdx.x; i < parts; i += CUDA_THREADS) {
        a += part[2 * (c * parts + i)];
        b += part[2 * (c * parts + i) + 1];
    }
    a = block_sum(a);
    b = block_sum(b);
    if (threadIdx.x == 0) {
        sum[c] += a;
        sq[c] += b;
    }
}

size_t cuda_partial_size(const struct cuda_shape *s)
{
    size_t limit = 0;

    for (int wide = 0; wide < 2; wide++)
        WITH_LAYOUT(wide, s, CUDA_SUM_BLOCKS,
                    limit = l.parts * (size_t)s->c > limit ? l.parts * (size_t)s->c : limit;
                    (void)sizeof(T));
    return limit;
}

/* Memory traffic: dy once. */
template <class T, int W, int LAST>
static __global__ void bias_sums(layout<T, W, LAST> l, struct cuda_place p, const T *dy, float *out,
                                 struct cuda_partial o)
{
    walk<T, W, LAST> w(l);
    double ab[LAST ? 2 * W : 2] = {};
    pack<T, W> u[AHEAD];

    w.only_counted();
    walk_ahead(
        w, [&](const auto &position, int k) { u[k] = position.load(dy, p); },
        [&](const auto &, int k) {
            for (int j = 0; j < W; j++)
                ab[LAST ? j : 0] += (double)value(u[k].v[j]);
        });
    end_sums(l, ab, o.part, o.arrived,
             [&](uint32_t c, double sum, double) { out[c] = (float)sum; });
}

void cuda_bias_sums(struct cuda *be, const struct cuda_shape *s, const void *dy, float *out,
                    const struct cuda_partial *o)
{
    const struct cuda_place p = {s->image, s->pixel};

    cuda_report_bytes(cuda_bytes(s));
    WITH_LAYOUT(walks_wide(s, dy, &p), s, CUDA_SUM_BLOCKS,
                LAUNCH_BLOCKS(be, bias_sums, l.tiles() * l.parts, l, p, (const T *)dy, out, *o));
}

void cuda_sums_to_doubles(struct cuda *be, const struct cuda_shape *s, const double *part,
                          double *sum, double *sq)
{
    LAUNCH_BLOCKS(be, parts_to_doubles, s->c, (uint32_t)cuda_sum_parts(s), part, sum, sq);
}
