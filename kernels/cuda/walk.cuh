/* SPDX-License-Identifier: Apache-2.0
 *
 * A block's loop over the elements of an activation, by packs of W, and sums of channels that the
 * last block finishes. The channels' parameters are in registers, and the loop divides nothing.
 *
 * Channels last (LAST), a thread owns W channels and a fixed share of the block's pixels.
 * Channels first, the block owns one channel. W is 8 (16 bytes of half precision's types, twice
 * as many of float32), 4 channels first (16 bytes), or 1 if the channels or pixels are not a
 * multiple of that. */
#ifndef MC_CUDA_WALK_CUH
#define MC_CUDA_WALK_CUH

#include "kernels/cuda/device.cuh"

template <class T, int W, int LAST> struct layout {
    struct cuda_shape s;
    uint32_t lanes; /* threads side by side, W channels each; a power of two */
    uint32_t parts; /* blocks per tile of channels: lanes * W, or one channel */

    uint32_t tiles() const
    {
        return LAST ? (s.c + lanes * W - 1) / (lanes * W) : s.c;
    }
};

/* The block's loop: over one part of the elements of tile blockIdx.x / parts. */
template <class T, int W, int LAST> struct walk {
    uint32_t c;        /* the thread's first channel */
    uint32_t e, end;   /* pixels of all images; channels first in packs */
    uint32_t i, q, hw; /* channels first: image, pack of hw */
    uint32_t step, step_i, step_q, counted;

    __device__ walk(const layout<T, W, LAST> &l)
    {
        const uint32_t tile = blockIdx.x / l.parts, part = blockIdx.x % l.parts;
        hw = LAST ? l.s.hw : l.s.hw / W;
        const uint32_t all = l.s.n * hw;
        c = LAST ? (tile * l.lanes + threadIdx.x % l.lanes) * W : tile;
        counted = l.s.batch->valid * hw;
        step = CUDA_THREADS / l.lanes;
        e = (uint32_t)((uint64_t)all * part / l.parts) + threadIdx.x / l.lanes;
        end = (uint32_t)((uint64_t)all * (part + 1) / l.parts);
        end = c < l.s.c ? end : 0; /* the last tile may have fewer channels */
        i = LAST ? 0 : e / hw;
        q = LAST ? 0 : e - i * hw;
        step_i = LAST ? 0 : step / hw;
        step_q = LAST ? 0 : step - step_i * hw;
    }
    __device__ bool more() const
    {
        return e < end;
    }
    __device__ bool counts() const
    {
        return e < counted;
    }
    __device__ void only_counted()
    {
        end = end < counted ? end : counted;
    }
    __device__ void next()
    {
        e += step;
        if (LAST)
            return;
        i += step_i;
        q += step_q;
        if (q >= hw) {
            q -= hw;
            i++;
        }
    }
    /* Offset in a tensor with the shape's channels but another layout. */
    __device__ uint32_t offset(const struct cuda_place &p) const
    {
        return LAST ? e * p.pixel + c : i * p.image + (c * hw + q) * W;
    }
    __device__ pack<T, W> load(const T *x, const struct cuda_place &p) const
    {
        return *(const pack<T, W> *)(x + offset(p));
    }
    __device__ void store(T *x, const struct cuda_place &p, const pack<T, W> &v) const
    {
        *(pack<T, W> *)(x + offset(p)) = v;
    }
};

/* Packs that a thread loads before it uses the first: hides latency. */
#define AHEAD 4

/* Call load(walk, k) for up to AHEAD packs, then use(walk, k) for each of them, until `w` ends. */
template <class V, class L, class U>
static __device__ inline void walk_ahead(V &w, const L &load, const U &use)
{
    while (w.more()) {
        V v = w;
        UNROLL
        for (int k = 0; k < AHEAD; k++) {
            if (v.more())
                load(v, k);
            v.next();
        }
        UNROLL
        for (int k = 0; k < AHEAD; k++) {
            if (w.more())
                use(w, k);
            w.next();
        }
    }
}

/* A channel's parameter for element j of a pack. */
template <int W, int LAST> struct parameters {
    float v[LAST ? W : 1];

    __device__ parameters(const float *x, uint32_t c, bool in_range)
    {
        if (LAST && in_range) {
            const pack<float, W> p = *(const pack<float, W> *)(x + c);
            for (int j = 0; j < W; j++)
                v[LAST ? j : 0] = p.v[j];
        } else {
            for (int j = 0; j < (LAST ? W : 1); j++)
                v[j] = in_range ? x[c] : 0;
        }
    }
    __device__ float operator[](int j) const
    {
        return v[LAST ? j : 0];
    }
};

/* A layout of up to `limit` blocks, with at least AHEAD packs per thread. */
template <class T, int W, int LAST>
static layout<T, W, LAST> layout_for(const struct cuda_shape *s, uint32_t limit)
{
    layout<T, W, LAST> l = {*s, 1, 1};
    /* 32 channels leave few parts for each thread of the block that finishes the sums */
    while (LAST && l.lanes * W < s->c && l.lanes * W < 32 && l.lanes < CUDA_THREADS)
        l.lanes *= 2;
    const uint32_t packs = s->n * (LAST ? s->hw : s->hw / W) * l.lanes;
    const uint32_t parts = (packs + AHEAD * CUDA_THREADS - 1) / (AHEAD * CUDA_THREADS);
    const uint32_t per_tile = limit / l.tiles() > 1 ? limit / l.tiles() : 1;
    l.parts = parts < 1 ? 1 : parts < per_tile ? parts : per_tile;
    return l;
}

/* Compile `...` with T and l, the layout for `limit` blocks, with wide packs if `wide` allows
 * it. */
#define WITH_LAYOUT_OF(T_, W, LAST, shape, limit, ...)                                             \
    do {                                                                                           \
        typedef T_ T;                                                                              \
        const layout<T, W, LAST> l = layout_for<T, W, LAST>(shape, limit);                         \
        __VA_ARGS__;                                                                               \
    } while (0)
#define WITH_LAST(T_, wide, ...)                                                                   \
    do {                                                                                           \
        if (wide)                                                                                  \
            WITH_LAYOUT_OF(T_, 8, 1, __VA_ARGS__);                                                 \
        else                                                                                       \
            WITH_LAYOUT_OF(T_, 1, 1, __VA_ARGS__);                                                 \
    } while (0)
#define WITH_LAYOUT(wide, shape, limit, ...)                                                       \
    do {                                                                                           \
        if ((shape)->channel != 1 && (wide))                                                       \
            WITH_LAYOUT_OF(float, 4, 0, shape, limit, __VA_ARGS__);                                \
        else if ((shape)->channel != 1)                                                            \
            WITH_LAYOUT_OF(float, 1, 0, shape, limit, __VA_ARGS__);                                \
        else if ((shape)->type == CUDA_F32)                                                        \
            WITH_LAST(float, wide, shape, limit, __VA_ARGS__);                                     \
        else if ((shape)->type == CUDA_BF16)                                                       \
            WITH_LAST(__nv_bfloat16, wide, shape, limit, __VA_ARGS__);                             \
        else                                                                                       \
            WITH_LAST(__half, wide, shape, limit, __VA_ARGS__);                                    \
    } while (0)

/* Return whether a tensor of the shape's channels can be read by packs. NULL can. */
static inline int walks_wide(const struct cuda_shape *s, const void *x, const struct cuda_place *p)
{
    const uint32_t by = s->channel == 1 ? 8 : 4;
    return (s->channel == 1 ? s->c % by == 0 && p->pixel % by == 0
                            : s->hw % by == 0 && p->image % by == 0) &&
           cuda_aligned(x);
}

/* ---- sums of a tile's channels --------------------------------------------------------------- */

/* Add up K sums per thread (K a power of two) over the threads whose number has the same remainder
 * modulo `lanes`. Sum k is at index k * lanes + remainder of the result, which the whole block may
 * read until the next call. Order of addition: K terms in a row, then halves. */
template <int K> static __device__ inline double *lane_sums(const double (&x)[K], unsigned lanes)
{
    enum { PITCH = CUDA_MAX_THREADS + 1 }; /* the threads that read a column use different banks */
    __shared__ double part[K * PITCH];
    __shared__ double sum[K * 32 > 2 * CUDA_MAX_THREADS ? K * 32 : 2 * CUDA_MAX_THREADS];
    const unsigned all = K * lanes, rows = CUDA_THREADS / lanes;

    __syncthreads(); /* the previous sums were read */
    for (int k = 0; k < K; k++)
        part[k * PITCH + threadIdx.x] = x[k];
    __syncthreads();
    if (all >= CUDA_THREADS) {
        for (unsigned v = threadIdx.x; v < all; v += CUDA_THREADS) {
            double a = 0;
            for (unsigned r = 0; r < rows; r++)
                a += part[v / lanes * PITCH + r * lanes + v % lanes];
            sum[v] = a;
        }
        __syncthreads();
        return sum;
    }
    const unsigned v = threadIdx.x % all, first = threadIdx.x / all * K;
    double a = 0;
    for (int r = 0; r < K; r++)
        a += part[v / lanes * PITCH + (first + r) * lanes + v % lanes];
    sum[threadIdx.x] = a;
    __syncthreads();
    for (unsigned rest = CUDA_THREADS / 2; rest >= all; rest /= 2) {
        if (threadIdx.x < rest)
            sum[threadIdx.x] += sum[threadIdx.x + rest];
        __syncthreads();
    }
    return sum;
}

#define PARTS_AHEAD 16 /* parts that a thread reads before it adds them */

/* Write the block's sums a and b of its channels to part (parts, C, 2). The tile's last block then
 * calls end(channel, sum of a, sum of b) for each channel. The order of addition depends only on
 * the shape. */
template <class T, int W, int LAST, int A, class E>
static __device__ void end_sums(const layout<T, W, LAST> &l, const double (&ab)[A], double *part,
                                uint32_t *arrived, const E &end)
{
    const uint32_t tile = blockIdx.x / l.parts, in_range = blockIdx.x % l.parts;
    const uint32_t side = LAST ? l.lanes * W : 1, first = tile * side, c = l.s.c;
    const double *sum = lane_sums(ab, l.lanes);

    for (uint32_t v = threadIdx.x; v < A * l.lanes; v += CUDA_THREADS) {
        const uint32_t k = v / l.lanes, j = k % (A / 2);
        const uint32_t channel = first + (LAST ? v % l.lanes * W + j : 0);
        if (channel < c)
            part[2 * (in_range * c + channel) + k / (A / 2)] = sum[v];
    }
    if (!is_last_block(arrived + tile, l.parts))
        return;
    const uint32_t lanes = side < CUDA_THREADS ? side : CUDA_THREADS;
    for (uint32_t from = 0; from < side; from += lanes) {
        const uint32_t channel = first + from + threadIdx.x % lanes;
        double both[2] = {0, 0};
        const uint32_t rows = CUDA_THREADS / lanes;
        for (uint32_t p = threadIdx.x / lanes; channel < c && p < l.parts;
             p += PARTS_AHEAD * rows) {
            pack<double, 2> u[PARTS_AHEAD];
            UNROLL
            for (uint32_t k = 0; k < PARTS_AHEAD; k++) {
                const uint32_t row = p + k * rows;
                u[k].v[0] = u[k].v[1] = 0;
                if (row < l.parts)
                    u[k] = *(const pack<double, 2> *)(part + 2 * (row * c + channel));
            }
            UNROLL
            for (uint32_t k = 0; k < PARTS_AHEAD; k++) {
                both[0] += u[k].v[0];
                both[1] += u[k].v[1];
            }
        }
        const double *s = lane_sums(both, lanes);
        if (threadIdx.x < lanes && channel < c)
            end(channel, s[threadIdx.x], s[lanes + threadIdx.x]);
    }
}

#endif
