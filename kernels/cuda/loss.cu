/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax cross-entropy heads and what is counted of them, in float64. */
#include "device.cuh"

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

static __global__ void losses(size_t n, size_t classes, const float *logits, struct cuda_rows r,
                              int main_head)
{
    for
        EACH(i, n)
        {
            const float *x = logits + i * classes;
            const size_t label = (size_t)r.labels[i];
            size_t best = 0;
            double sum = 0, loss = 0;
            float correct = 0;
            if (i < r.batch->valid) {
                for (size_t j = 1; j < classes; j++)
                    if (x[j] > x[best] || x[j] != x[j]) /* a NaN wins and stays, as in PyTorch */
                        best = j;
                for (size_t j = 0; j < classes; j++)
                    sum += exp((double)x[j] - (double)x[best]);
                loss = log(sum) + (double)x[best] - (double)x[label];
                correct = best == label && x[best] == x[best] ? 1.0f : 0.0f;
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

void cuda_loss(struct cuda *be, size_t n, size_t classes, const float *logits,
               const struct cuda_rows *r, int main_head, double weight)
{
    LAUNCH_EACH(be, losses, n, classes, logits, *r, main_head);
    LAUNCH_BLOCKS(be, add_objective, 1, n, *r, weight);
}

static __global__ void loss_back(size_t n, size_t classes, const float *logits, struct cuda_rows r,
                                 double weight, int add, float *dx)
{
    for
        EACH(i, n)
        {
            const float *x = logits + i * classes;
            const int counts = i < r.batch->valid;
            double sum = 0, top = (double)x[0];
            for (size_t j = 1; j < classes; j++)
                top = (double)x[j] > top ? (double)x[j] : top;
            for (size_t j = 0; j < classes; j++)
                sum += exp((double)x[j] - top);
            for (size_t j = 0; j < classes; j++) {
                const double share = exp((double)x[j] - top) / sum;
                const double hit = j == (size_t)r.labels[i] ? 1.0 : 0.0;
                const float g =
                    counts ? (float)(weight / (double)r.batch->valid * (share - hit)) : 0.0f;
                float *to = &dx[i * classes + j];
                *to = add ? *to + g : g;
            }
        }
}

void cuda_loss_back(struct cuda *be, size_t n, size_t classes, const float *logits,
                    const struct cuda_rows *r, double weight, int add, float *dx)
{
    LAUNCH_EACH(be, loss_back, n, classes, logits, *r, weight, add, dx);
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

static __global__ void copy_out(size_t n, struct cuda_shape s, const float *from, float *to)
{
    const size_t count = s.c * s.hw;

    for
        EACH(i, n)
    to[i] = i / count < s.batch->valid ? from[i / count * s.image + i % count] : 0.0f;
}

void cuda_copy_out(struct cuda *be, const struct cuda_shape *s, const float *from, float *to)
{
    LAUNCH_EACH(be, copy_out, s->n * s->c * s->hw, *s, from, to);
}
