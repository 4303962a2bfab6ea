/* SPDX-License-Identifier: Apache-2.0
 *
 * Elementwise operations on activations. */
#include "kernels/cuda/device.cuh"

extern "C" {
#include "kernels/activation.h"
}

template <class T, int W>
static __global__ void relu(uint32_t n, const pack<T, W> *x, float delta, pack<T, W> *y)
{
    EACH (i, n) {
        pack<T, W> a = x[i];
        for (int j = 0; j < W; j++)
            set(&a.v[j], activate(value(a.v[j]), delta));
        y[i] = a;
    }
}

static int whole_packs(enum cuda_type t, size_t n)
{
    return n % cuda_pack(t) == 0;
}

/* Number of packs P in a vector of n. */
#define PACKS(n) (uint32_t)((n) / (sizeof(P) / sizeof(T)))

void cuda_relu(struct cuda *be, enum cuda_type t, size_t n, const void *x, float delta, void *y)
{
    cuda_report_bytes(2. * (double)n * (double)cuda_type_size(t));
    WITH_PACKS(t, whole_packs(t, n), LAUNCH_EACH(be, relu, PACKS(n), (const P *)x, delta, (P *)y));
}

template <class T, int W>
static __global__ void relu_back(uint32_t n, const pack<T, W> *x, const pack<T, W> *dy, float delta,
                                 int add, pack<T, W> *dx)
{
    EACH (i, n) {
        const pack<T, W> a = x[i], g = dy[i];
        pack<T, W> d = add ? dx[i] : a;
        for (int j = 0; j < W; j++)
            set_or_add(&d.v[j], add, activate_back(value(a.v[j]), value(g.v[j]), delta));
        dx[i] = d;
    }
}

void cuda_relu_back(struct cuda *be, enum cuda_type t, size_t n, const void *x, const void *dy,
                    float delta, int add, void *dx)
{
    cuda_report_bytes((add ? 4. : 3.) * (double)n * (double)cuda_type_size(t));
    WITH_PACKS(
        t, whole_packs(t, n),
        LAUNCH_EACH(be, relu_back, PACKS(n), (const P *)x, (const P *)dy, delta, add, (P *)dx));
}

template <class T>
static __global__ void activation(uint32_t n, enum mc_op op, float factor, const T *x, const T *dy,
                                  int add, T *y)
{
    EACH (i, n) {
        const float a = value(x[i]);
        set_or_add(&y[i], add,
                   dy ? value(dy[i]) * mc_activation_slope(op, factor, a)
                      : mc_activation(op, factor, a));
    }
}

void cuda_activation(struct cuda *be, enum cuda_type t, const struct mc_node *node, size_t n,
                     const void *x, const void *dy, int add, void *y)
{
    WITH_TYPE(t, LAUNCH_EACH(be, activation, (uint32_t)n, node->op, node->factor, (const T *)x,
                             (const T *)dy, add, (T *)y));
}

template <class T>
static __global__ void mul(uint32_t n, struct cuda_shape s, const T *x, struct cuda_shape fs,
                           const T *f, const float *learned, int add, T *y)
{
    EACH (i, n) {
        const uint32_t c = i / s.channel % s.c, q = fs.hw == 1 ? 0 : i / s.pixel % s.hw;
        const float by =
            learned ? learned[c] : value(f[i / s.image * fs.image + c * fs.channel + q * fs.pixel]);
        set_or_add(&y[i], add, value(x[i]) * by);
    }
}

void cuda_mul(struct cuda *be, const struct cuda_shape *s, const void *x,
              const struct cuda_shape *fs, const void *f, const float *learned, int add, void *y)
{
    WITH_TYPE(s->type, LAUNCH_EACH(be, mul, s->n * s->image, *s, (const T *)x, *fs, (const T *)f,
                                   learned, add, (T *)y));
}

/* One block per channel of an image. */
template <class T>
static __global__ void dots(struct cuda_shape s, const T *x, const T *dy, struct cuda_shape d,
                            int add, T *dx)
{
    const uint32_t i = blockIdx.x / s.c, c = blockIdx.x % s.c, offset = i * s.image + c * s.channel;
    double sum = 0;

    for (uint32_t q = threadIdx.x; q < s.hw; q += CUDA_THREADS)
        sum += (double)value(x[offset + q * s.pixel]) * (double)value(dy[offset + q * s.pixel]);
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        set_or_add(&dx[i * d.image + c * d.channel], add, (float)sum);
}

void cuda_dots(struct cuda *be, const struct cuda_shape *s, const void *x, const void *dy,
               const struct cuda_shape *d, int add, void *dx)
{
    WITH_TYPE(s->type, LAUNCH_BLOCKS(be, dots, (size_t)s->n * s->c, *s, (const T *)x, (const T *)dy,
                                     *d, add, (T *)dx));
}

template <class T, int W>
static __global__ void add_two(uint32_t n, const pack<T, W> *a, const pack<T, W> *b, pack<T, W> *y)
{
    EACH (i, n) {
        pack<T, W> u = a[i];
        const pack<T, W> v = b[i];
        for (int j = 0; j < W; j++)
            set(&u.v[j], value(u.v[j]) + value(v.v[j]));
        y[i] = u;
    }
}

void cuda_add(struct cuda *be, enum cuda_type t, size_t n, const void *a, const void *b, void *y)
{
    cuda_report_bytes(3. * (double)n * (double)cuda_type_size(t));
    WITH_PACKS(t, whole_packs(t, n),
               LAUNCH_EACH(be, add_two, PACKS(n), (const P *)a, (const P *)b, (P *)y));
}

template <class T, int W>
static __global__ void add_bias(uint32_t n, struct cuda_shape s, const float *bias, pack<T, W> *y)
{
    const uint32_t next = s.channel == 1;

    EACH (i, n) {
        const float *b = bias + i * W / s.channel % s.c;
        pack<T, W> a = y[i];
        for (int j = 0; j < W; j++)
            set(&a.v[j], value(a.v[j]) + b[(uint32_t)j * next]);
        y[i] = a;
    }
}

/* Return whether a packed shape's packs are pixels of one channel, or channels of one pixel. */
static int has_packs(const struct cuda_shape *s)
{
    return (s->channel == 1 ? s->c : s->hw) % cuda_pack(s->type) == 0;
}

void cuda_add_bias(struct cuda *be, const struct cuda_shape *s, const float *bias, void *y)
{
    cuda_report_bytes(2 * cuda_bytes(s));
    WITH_PACKS(s->type, has_packs(s),
               LAUNCH_EACH(be, add_bias, PACKS(s->n * s->image), *s, bias, (P *)y));
}

template <class T, int W>
static __global__ void copy_rows(uint32_t n, uint32_t count, const pack<T, W> *from,
                                 uint32_t from_row, int add, pack<T, W> *to, uint32_t to_row)
{
    EACH (i, n) {
        const uint32_t row = i / count, column = i - row * count;
        pack<T, W> a = from[row * from_row + column];
        pack<T, W> *y = &to[row * to_row + column];
        if (add) {
            const pack<T, W> old = *y;
            for (int j = 0; j < W; j++)
                set(&a.v[j], value(old.v[j]) + value(a.v[j]));
        }
        *y = a;
    }
}

void cuda_copy_rows(struct cuda *be, enum cuda_type t, size_t n, size_t count,
                    struct cuda_from_rows from, int add, struct cuda_to_rows to)
{
    const int wide = whole_packs(t, count) && whole_packs(t, from.row) && whole_packs(t, to.row) &&
                     cuda_aligned(from.data) && cuda_aligned(to.data);
    cuda_report_bytes((add ? 3. : 2.) * (double)(n * count) * (double)cuda_type_size(t));
    WITH_PACKS(t, wide,
               LAUNCH_EACH(be, copy_rows, PACKS(n * count), PACKS(count), (const P *)from.data,
                           PACKS(from.row), add, (P *)to.data, PACKS(to.row)));
}

/* Offset in shape d of element i of the packed shape s. */
static __device__ uint32_t place_in(const struct cuda_shape *s, uint32_t i,
                                    const struct cuda_shape *d)
{
    return i / s->image * d->image + i / s->channel % s->c * d->channel +
           i / s->pixel % s->hw * d->pixel;
}

template <class T>
static __global__ void reorder(uint32_t n, struct cuda_shape s, const T *from, struct cuda_shape d,
                               int add, T *to)
{
    EACH (i, n)
        set_or_add(&to[i], add, value(from[place_in(&d, i, &s)]));
}

void cuda_reorder(struct cuda *be, const struct cuda_shape *s, const void *from,
                  const struct cuda_shape *d, int add, void *to)
{
    cuda_report_bytes((add ? 3 : 2) * cuda_bytes(d));
    WITH_TYPE(d->type,
              LAUNCH_EACH(be, reorder, d->n * d->image, *s, (const T *)from, *d, add, (T *)to));
}

template <class T>
static __global__ void shift(uint32_t n, struct cuda_offset from, struct cuda_shape s, const T *x,
                             struct cuda_shape d, int add, T *y)
{
    EACH (i, n) {
        const int pixel = (int)(i / d.pixel % d.hw);
        const int c = (int)(i / d.channel % d.c) + from.channel;
        const int row = pixel / from.width + from.row, column = pixel % from.width + from.column;
        const int inside =
            c >= 0 && c < from.c && row >= 0 && row < from.h && column >= 0 && column < from.w;
        const uint32_t offset = i / d.image * s.image + (uint32_t)c * s.channel +
                                (uint32_t)(row * from.w + column) * s.pixel;
        set_or_add(&y[i], add, inside ? value(x[offset]) : 0.0f);
    }
}

void cuda_shift(struct cuda *be, const struct cuda_offset *o, const struct cuda_shape *s,
                const void *x, const struct cuda_shape *d, int add, void *y)
{
    cuda_report_bytes(cuda_bytes(s) + (add ? 2 : 1) * cuda_bytes(d));
    WITH_TYPE(d->type,
              LAUNCH_EACH(be, shift, d->n * d->image, *o, *s, (const T *)x, *d, add, (T *)y));
}

/* The backward pass draws the same mask again: a number depends only on its counter, which is the
 * element's position in (C,H,W). */
template <class T>
static __global__ void dropout(uint32_t n, struct cuda_shape s, struct cuda_rows r,
                               uint32_t counter, float keep, const T *x, int add, T *y)
{
    const float scale = 1 / keep;

    EACH (i, n) {
        const uint32_t e = i / s.channel % s.c * s.hw + i / s.pixel % s.hw;
        const struct mc_rng4 u = mc_rng(r.batch->ctl.seed, MC_RNG_DROPOUT, r.batch->ctl.epoch,
                                        r.ids[i / s.image], counter + e / 4);
        set_or_add(&y[i], add, mc_rng_unit(u.v[e % 4]) < keep ? value(x[i]) * scale : 0.0f);
    }
}

void cuda_dropout(struct cuda *be, const struct cuda_shape *s, const struct cuda_rows *r,
                  uint32_t node, float drop, const void *x, int add, void *y)
{
    cuda_report_bytes((add ? 3 : 2) * cuda_bytes(s));
    /* MC_MAX_NODES and MC_MAX_DROPOUT / 4 fill 32 bits: counters are unique */
    WITH_TYPE(s->type, LAUNCH_EACH(be, dropout, s->n * s->image, *s, *r, node << 20, 1 - drop,
                                   (const T *)x, add, (T *)y));
}
