/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax cross-entropy heads and what is counted of them, in float64. */
#include "kernels/cuda/device.cuh"

static __global__ void begin_forward(size_t n, struct cuda_rows r, const struct mc_ctl *ctl)
{
    for
        EACH(i, n)
        {
            r.batch->ctl = *ctl;
            r.batch->objective = 0;
        }
}

void cuda_begin_forward(struct cuda *be, const struct cuda_rows *r, const struct mc_ctl *ctl)
{
    LAUNCH_EACH(be, begin_forward, (size_t)1, *r, ctl);
}

template <class T>
static __global__ void losses(uint32_t n, uint32_t classes, const T *logits, struct cuda_rows r,
                              int main_head)
{
    for
        EACH(i, n)
        {
            const T *x = logits + i * classes;
            const uint32_t label = (uint32_t)r.labels[i];
            uint32_t best = 0;
            double sum = 0, loss = 0;
            float correct = 0;
            if (i < r.batch->valid) {
                float top = value(x[0]);
                for (uint32_t j = 1; j < classes; j++) {
                    const float v = value(x[j]);
                    if (v > top || v != v) { /* a NaN wins and stays, as in PyTorch */
                        top = v;
                        best = j;
                    }
                }
                for (uint32_t j = 0; j < classes; j++)
                    sum += exp((double)value(x[j]) - (double)top);
                loss = log(sum) + (double)top - (double)value(x[label]);
                correct = best == label && top == top ? 1.0f : 0.0f;
            }
            r.head[i] = loss;
            if (main_head) {
                r.loss[i] = (float)loss;
                r.correct[i] = correct;
            }
        }
}

/* One block. */
static __global__ void add_objective(size_t n, struct cuda_rows r, double weight)
{
    double sum = 0;

    for (size_t i = threadIdx.x; i < n; i += CUDA_THREADS)
        sum += r.head[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        r.batch->objective += weight * sum;
}

void cuda_loss(struct cuda *be, enum cuda_type t, size_t n, size_t classes, const void *logits,
               const struct cuda_rows *r, int main_head, double weight)
{
    cuda_moves((double)(n * classes * cuda_type_size(t)));
    WITH_TYPE(t, LAUNCH_EACH(be, losses, (uint32_t)n, (uint32_t)classes, (const T *)logits, *r,
                             main_head));
    LAUNCH_BLOCKS(be, add_objective, 1, n, *r, weight);
}

template <class T>
static __global__ void loss_back(uint32_t n, uint32_t classes, const T *logits, struct cuda_rows r,
                                 double weight, int add, T *dx)
{
    for
        EACH(i, n)
        {
            const T *x = logits + i * classes;
            const int counts = i < r.batch->valid;
            double sum = 0, top = (double)value(x[0]);
            for (uint32_t j = 1; j < classes; j++)
                top = (double)value(x[j]) > top ? (double)value(x[j]) : top;
            for (uint32_t j = 0; j < classes; j++)
                sum += exp((double)value(x[j]) - top);
            for (uint32_t j = 0; j < classes; j++) {
                const double share = exp((double)value(x[j]) - top) / sum;
                const double hit = j == (uint32_t)r.labels[i] ? 1.0 : 0.0;
                const float g =
                    counts ? (float)(weight / (double)r.batch->valid * (share - hit)) : 0.0f;
                set_or_add(&dx[i * classes + j], add, g);
            }
        }
}

void cuda_loss_back(struct cuda *be, enum cuda_type t, size_t n, size_t classes, const void *logits,
                    const struct cuda_rows *r, double weight, int add, void *dx)
{
    cuda_moves((add ? 3. : 2.) * (double)(n * classes * cuda_type_size(t)));
    WITH_TYPE(t, LAUNCH_EACH(be, loss_back, (uint32_t)n, (uint32_t)classes, (const T *)logits, *r,
                             weight, add, (T *)dx));
}

/* One block. */
static __global__ void add_metrics(struct cuda_rows r, double *acc)
{
    double loss = 0, sq = 0, correct = 0;

    for (size_t i = threadIdx.x; i < r.batch->valid; i += CUDA_THREADS) {
        loss += (double)r.loss[i];
        sq += (double)r.loss[i] * (double)r.loss[i];
        correct += (double)r.correct[i];
    }
    loss = block_sum(loss);
    sq = block_sum(sq);
    correct = block_sum(correct);
    if (threadIdx.x == 0) {
        acc[MC_METRIC_IMAGES] += (double)r.batch->valid;
        acc[MC_METRIC_OBJECTIVE] += r.batch->objective;
        acc[MC_METRIC_LOSS] += loss;
        acc[MC_METRIC_LOSS_SQ] += sq;
        acc[MC_METRIC_CORRECT] += correct;
    }
}

void cuda_add_metrics(struct cuda *be, const struct cuda_rows *r, double *acc)
{
    LAUNCH_BLOCKS(be, add_metrics, 1, *r, acc);
}

template <class T>
static __global__ void copy_out(uint32_t n, struct cuda_shape s, const T *from, float *to)
{
    for
        EACH(at, n)
        {
            const uint32_t i = at / (s.c * s.hw), k = at / s.hw % s.c, q = at % s.hw;
            to[at] =
                i < s.batch->valid ? value(from[i * s.image + k * s.channel + q * s.pixel]) : 0.0f;
        }
}

void cuda_copy_out(struct cuda *be, const struct cuda_shape *s, const void *from, float *to)
{
    WITH_TYPE(s->type, LAUNCH_EACH(be, copy_out, s->n * s->c * s->hw, *s, (const T *)from, to));
}
