/* SPDX-License-Identifier: Apache-2.0
 *
 * Pooling. The way back asks for each input pixel which windows it lies in, in their order, so that
 * nothing is added atomically. */
#include "device.cuh"

/* The part of a window that lies on the image: [from, to) along one axis. */
struct span {
    int from, to;
};

/* Of output place o: pixels. */
static __device__ struct span window_of(const struct cuda_window *w, int axis, int o)
{
    const int in = axis ? w->iw : w->ih, out = axis ? w->ow : w->oh;
    struct span s;

    if (w->adaptive) {
        s.from = o * in / out;
        s.to = ((o + 1) * in + out - 1) / out;
        return s;
    }
    s.from = o * w->stride[axis] - w->pad[axis];
    s.to = s.from + w->kernel[axis] < in ? s.from + w->kernel[axis] : in;
    s.from = s.from < 0 ? 0 : s.from;
    return s;
}

/* Of pixel i: the output places whose windows may hold it. */
static __device__ struct span windows_with(const struct cuda_window *w, int axis, int i)
{
    const int in = axis ? w->iw : w->ih, out = axis ? w->ow : w->oh;
    struct span s;

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

static __global__ void max_pool(size_t n, struct cuda_window w, const float *x, float *y,
                                int32_t *where)
{
    const size_t ohw = (size_t)w.oh * w.ow, ihw = (size_t)w.ih * w.iw;

    for
        EACH(i, n)
        {
            const float *p = x + i / ohw * ihw;
            const struct span h = window_of(&w, 0, (int)(i % ohw) / w.ow);
            const struct span v = window_of(&w, 1, (int)(i % ohw) % w.ow);
            int at = h.from * w.iw + v.from;
            float best = p[at];
            for (int a = h.from; a < h.to; a++)
                for (int b = v.from; b < v.to; b++) {
                    const float z = p[a * w.iw + b];
                    if (z > best || z != z) { /* a NaN wins and stays, as in PyTorch */
                        best = z;
                        at = a * w.iw + b;
                    }
                }
            y[i] = best;
            if (where)
                where[i] = at;
        }
}

void cuda_max_pool(struct cuda *be, size_t planes, const struct cuda_window *w, const float *x,
                   float *y, int32_t *where)
{
    LAUNCH_EACH(be, max_pool, planes * (size_t)(w->oh * w->ow), *w, x, y, where);
}

static __global__ void max_pool_back(size_t n, struct cuda_window w, const float *dy,
                                     const int32_t *where, int add, float *dx)
{
    const size_t ohw = (size_t)w.oh * w.ow, ihw = (size_t)w.ih * w.iw;

    for
        EACH(i, n)
        {
            const size_t plane = i / ihw * ohw;
            const int at = (int)(i % ihw);
            const struct span h = windows_with(&w, 0, at / w.iw),
                              v = windows_with(&w, 1, at % w.iw);
            float sum = 0;
            for (int a = h.from; a < h.to; a++)
                for (int b = v.from; b < v.to; b++)
                    if (where[plane + (size_t)(a * w.ow + b)] == at)
                        sum += dy[plane + (size_t)(a * w.ow + b)];
            dx[i] = add ? dx[i] + sum : sum;
        }
}

void cuda_max_pool_back(struct cuda *be, size_t planes, const struct cuda_window *w,
                        const float *dy, const int32_t *where, int add, float *dx)
{
    LAUNCH_EACH(be, max_pool_back, planes * (size_t)(w->ih * w->iw), *w, dy, where, add, dx);
}

static __global__ void avg_pool(size_t n, struct cuda_window w, const float *x, float *y)
{
    const size_t ohw = (size_t)w.oh * w.ow, ihw = (size_t)w.ih * w.iw;

    for
        EACH(i, n)
        {
            const float *p = x + i / ohw * ihw;
            const struct span h = window_of(&w, 0, (int)(i % ohw) / w.ow);
            const struct span v = window_of(&w, 1, (int)(i % ohw) % w.ow);
            float sum = 0;
            for (int a = h.from; a < h.to; a++)
                for (int b = v.from; b < v.to; b++)
                    sum += p[a * w.iw + b];
            y[i] = sum * (1.0f / (float)((h.to - h.from) * (v.to - v.from)));
        }
}

void cuda_avg_pool(struct cuda *be, size_t planes, const struct cuda_window *w, const float *x,
                   float *y)
{
    LAUNCH_EACH(be, avg_pool, planes * (size_t)(w->oh * w->ow), *w, x, y);
}

static __global__ void avg_pool_back(size_t n, struct cuda_window w, const float *dy, int add,
                                     float *dx)
{
    const size_t ohw = (size_t)w.oh * w.ow, ihw = (size_t)w.ih * w.iw;

    for
        EACH(i, n)
        {
            const float *g = dy + i / ihw * ohw;
            const int at = (int)(i % ihw);
            const struct span h = windows_with(&w, 0, at / w.iw),
                              v = windows_with(&w, 1, at % w.iw);
            float sum = 0;
            for (int a = h.from; a < h.to; a++)
                for (int b = v.from; b < v.to; b++) {
                    const struct span p = window_of(&w, 0, a), q = window_of(&w, 1, b);
                    sum += g[a * w.ow + b] * (1.0f / (float)((p.to - p.from) * (q.to - q.from)));
                }
            dx[i] = add ? dx[i] + sum : sum;
        }
}

void cuda_avg_pool_back(struct cuda *be, size_t planes, const struct cuda_window *w,
                        const float *dy, int add, float *dx)
{
    LAUNCH_EACH(be, avg_pool_back, planes * (size_t)(w->ih * w->iw), *w, dy, add, dx);
}

static __global__ void global_pool(size_t n, size_t hw, const float *x, float *y)
{
    const float share = 1.0f / (float)hw;

    for
        EACH(i, n)
        {
            float sum = 0;
            for (size_t q = 0; q < hw; q++)
                sum += x[i * hw + q];
            y[i] = sum * share;
        }
}

void cuda_global_pool(struct cuda *be, size_t planes, size_t hw, const float *x, float *y)
{
    LAUNCH_EACH(be, global_pool, planes, hw, x, y);
}

static __global__ void global_pool_back(size_t n, size_t hw, const float *dy, int add, float *dx)
{
    const float share = 1.0f / (float)hw;

    for
        EACH(i, n)
        {
            const float g = dy[i / hw] * share;
            dx[i] = add ? dx[i] + g : g;
        }
}

void cuda_global_pool_back(struct cuda *be, size_t planes, size_t hw, const float *dy, int add,
                           float *dx)
{
    LAUNCH_EACH(be, global_pool_back, planes * hw, hw, dy, add, dx);
}
