/* SPDX-License-Identifier: Apache-2.0
 *
 * Pooling. The backward pass finds, for each input pixel, the windows that contain it, in order, so
 * that nothing is added atomically. */
#include "kernels/cuda/device.cuh"

/* The outputs whose windows may contain pixel i. */
static __device__ struct mc_span windows_with(const struct mc_window *w, int axis, int i)
{
    const int in = axis ? w->iw : w->ih, out = axis ? w->ow : w->oh;
    struct mc_span s;

    if (w->adaptive) {
        s.from = i * out / in;
        s.to = ((i + 1) * out - 1) / in + 1;
    } else {
        const int first = i + w->pad[axis] - w->kernel[axis] + 1;
        s.from = first <= 0 ? 0 : (first + w->stride[axis] - 1) / w->stride[axis];
        s.to = (i + w->pad[axis]) / w->stride[axis] + 1;
    }
    s.to = s.to < out ? s.to : out;
    return s;
}

/* For element i in the layout of s: the offset in d of its image and channel, and its pixel. */
static __device__ inline uint32_t plane_in(const struct cuda_shape *s, uint32_t i,
                                           const struct cuda_shape *d, uint32_t *pixel)
{
    *pixel = i / s->pixel % s->hw;
    return i / s->image * d->image + i / s->channel % s->c * d->channel;
}

/* Compile `...` with T, and with P for packs of it: 8 channels in half precision if the channels of
 * s and d allow it, else 1. */
#define WITH_CHANNELS(s, d, ...)                                                                   \
    do {                                                                                           \
        if ((s)->type != CUDA_F32 && (s)->c % 8 == 0 && (s)->pixel % 8 == 0 &&                     \
            (d)->pixel % 8 == 0)                                                                   \
            WITH_TYPE((s)->type, typedef PACK(T, 8) P; __VA_ARGS__);                               \
        else                                                                                       \
            WITH_TYPE((s)->type, typedef PACK(T, 1) P; __VA_ARGS__);                               \
    } while (0)
#define PACKS(s) ((s)->n * (s)->image / (uint32_t)(sizeof(P) / sizeof(T)))

/* Compile `...` with I, the type of an index within a window: a byte if all indexes fit. */
#define WITH_INDEX(w, ...)                                                                         \
    do {                                                                                           \
        if (cuda_index_size(w) == 1) {                                                             \
            typedef uint8_t I;                                                                     \
            __VA_ARGS__;                                                                           \
        } else {                                                                                   \
            typedef int32_t I;                                                                     \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
    } while (0)

size_t cuda_index_size(const struct mc_window *w)
{
    return w->kernel[0] * w->kernel[1] <= 256 ? sizeof(uint8_t) : sizeof(int32_t);
}

/* Index along an axis of pixel i in output o's window. */
static __device__ inline int in_window(const struct mc_window *w, int axis, int i, int o)
{
    return i + w->pad[axis] - o * w->stride[axis];
}

/* Channels last: a thread's W channels of one pixel. */
template <class T, int W> static __device__ inline pack<T, W> load(const T *x)
{
    return *(const pack<T, W> *)x;
}

/* Memory traffic: x, y and argmax once. */
template <class T, int W, class I>
static __global__ void max_pool(uint32_t n, struct cuda_shape s, struct cuda_shape d,
                                struct mc_window w, const T *x, pack<T, W> *y, I *argmax)
{
    EACH (i, n) {
        uint32_t q;
        const T *p = x + plane_in(&d, i * W, &s, &q);
        const int row = (int)q / w.ow, column = (int)q % w.ow;
        const struct mc_span h = mc_window_at(&w, 0, row), v = mc_window_at(&w, 1, column);
        const I first =
            (I)(in_window(&w, 0, h.from, row) * w.kernel[1] + in_window(&w, 1, v.from, column));
        pack<T, W> best = load<T, W>(p + (uint32_t)(h.from * w.iw + v.from) * s.pixel);
        pack<I, W> indices;
        for (int j = 0; j < W; j++)
            indices.v[j] = first;
        for (int a = h.from; a < h.to; a++)
            for (int b = v.from; b < v.to; b++) {
                const I index =
                    (I)(in_window(&w, 0, a, row) * w.kernel[1] + in_window(&w, 1, b, column));
                const pack<T, W> u = load<T, W>(p + (uint32_t)(a * w.iw + b) * s.pixel);
                for (int j = 0; j < W; j++) {
                    const float z = value(u.v[j]);
                    if (z > value(best.v[j]) || z != z) { /* NaN stays, as in PyTorch */
                        best.v[j] = u.v[j];
                        indices.v[j] = index;
                    }
                }
            }
        y[i] = best;
        if (argmax)
            *(pack<I, W> *)(argmax + i * W) = indices;
    }
}

void cuda_max_pool(struct cuda *be, const struct cuda_shape *s, const struct cuda_shape *d,
                   const struct mc_window *w, const void *x, void *y, void *argmax)
{
    cuda_report_bytes(cuda_bytes(s) + cuda_bytes(d) +
                      (argmax ? (double)cuda_index_size(w) * d->n * d->c * d->hw : 0));
    WITH_INDEX(w, WITH_CHANNELS(s, d,
                                LAUNCH_EACH(be, max_pool, PACKS(d), *s, *d, *w, (const T *)x,
                                            (P *)y, (I *)argmax)));
}

/* Memory traffic: dy, argmax and dx once, and dx twice if it adds. */
template <class T, int W, class I>
static __global__ void max_pool_back(uint32_t n, struct cuda_shape s, struct cuda_shape d,
                                     struct mc_window w, const T *dy, const I *argmax, int add,
                                     pack<T, W> *dx)
{
    EACH (i, n) {
        uint32_t pixel;
        const uint32_t plane = plane_in(&s, i * W, &d, &pixel);
        const int row = (int)pixel / w.iw, column = (int)pixel % w.iw;
        const struct mc_span h = windows_with(&w, 0, row), v = windows_with(&w, 1, column);
        float sum[W] = {};
        for (int a = h.from; a < h.to; a++)
            for (int b = v.from; b < v.to; b++) {
                const uint32_t from = plane + (uint32_t)(a * w.ow + b) * d.pixel;
                const pack<T, W> g = load<T, W>(dy + from);
                const pack<I, W> k = load<I, W>(argmax + from);
                const int index =
                    in_window(&w, 0, row, a) * w.kernel[1] + in_window(&w, 1, column, b);
                for (int j = 0; j < W; j++)
                    sum[j] += (int)k.v[j] == index ? value(g.v[j]) : 0;
            }
        pack<T, W> to = {};
        if (add)
            to = dx[i];
        for (int j = 0; j < W; j++)
            set_or_add(&to.v[j], add, sum[j]);
        dx[i] = to;
    }
}

void cuda_max_pool_back(struct cuda *be, const struct cuda_shape *s, const struct cuda_shape *d,
                        const struct mc_window *w, const void *dy, const void *argmax, int add,
                        void *dx)
{
    cuda_report_bytes(cuda_bytes(s) * (add ? 2 : 1) + cuda_bytes(d) +
                      (double)cuda_index_size(w) * d->n * d->c * d->hw);
    WITH_INDEX(w, WITH_CHANNELS(s, d,
                                LAUNCH_EACH(be, max_pool_back, PACKS(s), *s, *d, *w, (const T *)dy,
                                            (const I *)argmax, add, (P *)dx)));
}

template <class T, int W>
static __global__ void avg_pool(uint32_t n, struct cuda_shape s, struct cuda_shape d,
                                struct mc_window w, const T *x, pack<T, W> *y)
{
    EACH (i, n) {
        uint32_t q;
        const T *p = x + plane_in(&d, i * W, &s, &q);
        const struct mc_span h = mc_window_at(&w, 0, (int)q / w.ow);
        const struct mc_span v = mc_window_at(&w, 1, (int)q % w.ow);
        const float factor = 1.0f / (float)((h.to - h.from) * (v.to - v.from));
        float sum[W] = {};
        pack<T, W> to;
        for (int a = h.from; a < h.to; a++)
            for (int b = v.from; b < v.to; b++) {
                const pack<T, W> u = load<T, W>(p + (uint32_t)(a * w.iw + b) * s.pixel);
                for (int j = 0; j < W; j++)
                    sum[j] += value(u.v[j]);
            }
        for (int j = 0; j < W; j++)
            set(&to.v[j], sum[j] * factor);
        y[i] = to;
    }
}

void cuda_avg_pool(struct cuda *be, const struct cuda_shape *s, const struct cuda_shape *d,
                   const struct mc_window *w, const void *x, void *y)
{
    cuda_report_bytes(cuda_bytes(s) + cuda_bytes(d));
    WITH_CHANNELS(s, d, LAUNCH_EACH(be, avg_pool, PACKS(d), *s, *d, *w, (const T *)x, (P *)y));
}

template <class T, int W>
static __global__ void avg_pool_back(uint32_t n, struct cuda_shape s, struct cuda_shape d,
                                     struct mc_window w, const T *dy, int add, pack<T, W> *dx)
{
    EACH (i, n) {
        uint32_t pixel;
        const T *g = dy + plane_in(&s, i * W, &d, &pixel);
        const struct mc_span h = windows_with(&w, 0, (int)pixel / w.iw);
        const struct mc_span v = windows_with(&w, 1, (int)pixel % w.iw);
        float sum[W] = {};
        pack<T, W> to = {};
        for (int a = h.from; a < h.to; a++)
            for (int b = v.from; b < v.to; b++) {
                const struct mc_span p = mc_window_at(&w, 0, a), q = mc_window_at(&w, 1, b);
                const float factor = 1.0f / (float)((p.to - p.from) * (q.to - q.from));
                const pack<T, W> u = load<T, W>(g + (uint32_t)(a * w.ow + b) * d.pixel);
                for (int j = 0; j < W; j++)
                    sum[j] += value(u.v[j]) * factor;
            }
        if (add)
            to = dx[i];
        for (int j = 0; j < W; j++)
            set_or_add(&to.v[j], add, sum[j]);
        dx[i] = to;
    }
}

void cuda_avg_pool_back(struct cuda *be, const struct cuda_shape *s, const struct cuda_shape *d,
                        const struct mc_window *w, const void *dy, int add, void *dx)
{
    cuda_report_bytes(cuda_bytes(s) * (add ? 2 : 1) + cuda_bytes(d));
    WITH_CHANNELS(
        s, d, LAUNCH_EACH(be, avg_pool_back, PACKS(s), *s, *d, *w, (const T *)dy, add, (P *)dx));
}
