/* SPDX-License-Identifier: Apache-2.0
 *
 * Pooling. The way back asks for each input pixel which windows it lies in, in their order, so that
 * nothing is added atomically. */
#include "kernels/cuda/device.cuh"

/* Of pixel i: the output places whose windows may hold it. */
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

/* Element i of those that lie as s says: its image and channel's first pixel in d, and its pixel.
 */
static __device__ inline uint32_t plane_in(const struct cuda_shape *s, uint32_t i,
                                           const struct cuda_shape *d, uint32_t *pixel)
{
    *pixel = i / s->pixel % s->hw;
    return i / s->image * d->image + i / s->channel % s->c * d->channel;
}

template <class T>
static __global__ void max_pool(uint32_t n, struct cuda_shape s, struct cuda_shape d,
                                struct mc_window w, const T *x, T *y, int32_t *where)
{
    for
        EACH(i, n)
        {
            uint32_t q;
            const T *p = x + plane_in(&d, i, &s, &q);
            const struct mc_span h = mc_window_at(&w, 0, (int)q / w.ow);
            const struct mc_span v = mc_window_at(&w, 1, (int)q % w.ow);
            int at = h.from * w.iw + v.from;
            float best = value(p[(uint32_t)at * s.pixel]);
            for (int a = h.from; a < h.to; a++)
                for (int b = v.from; b < v.to; b++) {
                    const float z = value(p[(uint32_t)(a * w.iw + b) * s.pixel]);
                    if (z > best || z != z) { /* a NaN wins and stays, as in PyTorch */
                        best = z;
                        at = a * w.iw + b;
                    }
                }
            set(&y[i], best);
            if (where)
                where[i] = at;
        }
}

void cuda_max_pool(struct cuda *be, const struct cuda_shape *s, const struct cuda_shape *d,
                   const struct mc_window *w, const void *x, void *y, int32_t *where)
{
    cuda_moves(cuda_bytes(s) + cuda_bytes(d) + (where ? 4. * d->n * d->c * d->hw : 0));
    WITH_TYPE(s->type,
              LAUNCH_EACH(be, max_pool, d->n * d->image, *s, *d, *w, (const T *)x, (T *)y, where));
}

template <class T>
static __global__ void max_pool_back(uint32_t n, struct cuda_shape s, struct cuda_shape d,
                                     struct mc_window w, const T *dy, const int32_t *where, int add,
                                     T *dx)
{
    for
        EACH(i, n)
        {
            uint32_t at;
            const uint32_t plane = plane_in(&s, i, &d, &at);
            const struct mc_span h = windows_with(&w, 0, (int)at / w.iw);
            const struct mc_span v = windows_with(&w, 1, (int)at % w.iw);
            float sum = 0;
            for (int a = h.from; a < h.to; a++)
                for (int b = v.from; b < v.to; b++) {
                    const uint32_t from = plane + (uint32_t)(a * w.ow + b) * d.pixel;
                    if (where[from] == (int32_t)at)
                        sum += value(dy[from]);
                }
            set_or_add(&dx[i], add, sum);
        }
}

void cuda_max_pool_back(struct cuda *be, const struct cuda_shape *s, const struct cuda_shape *d,
                        const struct mc_window *w, const void *dy, const int32_t *where, int add,
                        void *dx)
{
    cuda_moves(cuda_bytes(s) * (add ? 2 : 1) + cuda_bytes(d) + 4. * d->n * d->c * d->hw);
    WITH_TYPE(s->type, LAUNCH_EACH(be, max_pool_back, s->n * s->image, *s, *d, *w, (const T *)dy,
                                   where, add, (T *)dx));
}

template <class T>
static __global__ void avg_pool(uint32_t n, struct cuda_shape s, struct cuda_shape d,
                                struct mc_window w, const T *x, T *y)
{
    for
        EACH(i, n)
        {
            uint32_t q;
            const T *p = x + plane_in(&d, i, &s, &q);
            const struct mc_span h = mc_window_at(&w, 0, (int)q / w.ow);
            const struct mc_span v = mc_window_at(&w, 1, (int)q % w.ow);
            float sum = 0;
            for (int a = h.from; a < h.to; a++)
                for (int b = v.from; b < v.to; b++)
                    sum += value(p[(uint32_t)(a * w.iw + b) * s.pixel]);
            set(&y[i], sum * (1.0f / (float)((h.to - h.from) * (v.to - v.from))));
        }
}

void cuda_avg_pool(struct cuda *be, const struct cuda_shape *s, const struct cuda_shape *d,
                   const struct mc_window *w, const void *x, void *y)
{
    cuda_moves(cuda_bytes(s) + cuda_bytes(d));
    WITH_TYPE(s->type,
              LAUNCH_EACH(be, avg_pool, d->n * d->image, *s, *d, *w, (const T *)x, (T *)y));
}

template <class T>
static __global__ void avg_pool_back(uint32_t n, struct cuda_shape s, struct cuda_shape d,
                                     struct mc_window w, const T *dy, int add, T *dx)
{
    for
        EACH(i, n)
        {
            uint32_t at;
            const T *g = dy + plane_in(&s, i, &d, &at);
            const struct mc_span h = windows_with(&w, 0, (int)at / w.iw);
            const struct mc_span v = windows_with(&w, 1, (int)at % w.iw);
            float sum = 0;
            for (int a = h.from; a < h.to; a++)
                for (int b = v.from; b < v.to; b++) {
                    const struct mc_span p = mc_window_at(&w, 0, a), q = mc_window_at(&w, 1, b);
                    sum += value(g[(uint32_t)(a * w.ow + b) * d.pixel]) *
                           (1.0f / (float)((p.to - p.from) * (q.to - q.from)));
                }
            set_or_add(&dx[i], add, sum);
        }
}

void cuda_avg_pool_back(struct cuda *be, const struct cuda_shape *s, const struct cuda_shape *d,
                        const struct mc_window *w, const void *dy, int add, void *dx)
{
    cuda_moves(cuda_bytes(s) * (add ? 2 : 1) + cuda_bytes(d));
    WITH_TYPE(s->type, LAUNCH_EACH(be, avg_pool_back, s->n * s->image, *s, *d, *w, (const T *)dy,
                                   add, (T *)dx));
}
