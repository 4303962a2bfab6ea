/* SPDX-License-Identifier: Apache-2.0
 *
 * Softmax cross-entropy heads and their metrics, in float64. */
#include "kernels/cuda/device.cuh"

static __global__ void begin_forward(size_t n, struct cuda_rows r, const struct mc_ctl *ctl)
{
    EACH (i, n) {
        r.batch->ctl = *ctl;
        r.batch->objective = 0;
    }
}

void cuda_begin_forward(struct cuda *be, const struct cuda_rows *r, const struct mc_ctl *ctl)
{
    LAUNCH_EACH(be, begin_forward, (size_t)1, *r, ctl);
}

#define IMAGE_THREADS (CUDA_THREADS < 32 ? CUDA_THREADS : 32) /* a warp */

/* Softmax of an image's logits x, for its threads. top is the maximum: on a tie the lowest index
 * wins, and a NaN stays, as in PyTorch. The sum of exp(x - top) adds IMAGE_THREADS partial sums by
 * halves. The whole block calls it. */
struct softmax {
    float top;
    uint32_t best;
    double sum;
};
template <class T>
static __device__ struct softmax softmax_of(const T *x, uint32_t classes, int valid)
{
    __shared__ struct softmax part[CUDA_MAX_THREADS];
    const uint32_t side = threadIdx.x % IMAGE_THREADS;
    struct softmax *entry = &part[threadIdx.x], s = {-INFINITY, classes, 0};

    for (uint32_t j = side; valid && j < classes; j += IMAGE_THREADS) {
        const float v = value(x[j]);
        if (v > s.top || v != v || s.best == classes) {
            s.top = v;
            s.best = j;
        }
    }
    __syncthreads(); /* the previous values were read */
    *entry = s;
    __syncthreads();
    for (uint32_t rest = IMAGE_THREADS / 2; rest >= 1; rest /= 2) {
        if (side < rest) {
            const struct softmax o = entry[rest];
            if (o.best < classes &&
                (o.top > entry->top || o.top != o.top || entry->best == classes ||
                 (o.top == entry->top && o.best < entry->best))) {
                entry->top = o.top;
                entry->best = o.best;
            }
        }
        __syncthreads();
    }
    s = part[threadIdx.x - side];
    for (uint32_t j = side; valid && j < classes; j += IMAGE_THREADS)
        s.sum += exp((double)value(x[j]) - (double)s.top);
    __syncthreads();
    entry->sum = s.sum;
    __syncthreads();
    for (uint32_t rest = IMAGE_THREADS / 2; rest >= 1; rest /= 2) {
        if (side < rest)
            entry->sum += entry[rest].sum;
        __syncthreads();
    }
    s.sum = part[threadIdx.x - side].sum;
    return s;
}

/* The last block adds the objective. Memory traffic: the logits once. */
template <class T>
static __global__ void losses(uint32_t n, uint32_t classes, const T *logits, struct cuda_rows r,
                              int main_head, double weight, uint32_t *arrived)
{
    const uint32_t i = blockIdx.x * (CUDA_THREADS / IMAGE_THREADS) + threadIdx.x / IMAGE_THREADS;
    const T *x = logits + i * classes;
    const int counts = i < n && i < r.batch->valid;
    const struct softmax s = softmax_of(x, classes, counts);
    double sum = 0;

    if (i < n && threadIdx.x % IMAGE_THREADS == 0) {
        const uint32_t label = (uint32_t)r.labels[i];
        const double loss = counts ? log(s.sum) + (double)s.top - (double)value(x[label]) : 0.0;
        r.head[i] = loss;
        if (main_head) {
            r.loss[i] = (float)loss;
            r.correct[i] = counts && s.best == label && s.top == s.top ? 1.0f : 0.0f;
        }
    }
    if (!is_last_block(arrived, gridDim.x))
        return;
    for (uint32_t k = threadIdx.x; k < n; k += CUDA_THREADS)
        sum += r.head[k];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        r.batch->objective += weight * sum;
}

static size_t image_blocks(size_t n)
{
    return (n * IMAGE_THREADS + CUDA_THREADS - 1) / CUDA_THREADS;
}

void cuda_loss(struct cuda *be, const struct cuda_head *h, const struct cuda_rows *r, int main_head,
               uint32_t *arrived)
{
    cuda_report_bytes((double)(h->n * h->classes * cuda_type_size(h->type)));
    WITH_TYPE(h->type,
              LAUNCH_BLOCKS(be, losses, image_blocks(h->n), (uint32_t)h->n, (uint32_t)h->classes,
                            (const T *)h->logits, *r, main_head, h->weight, arrived));
}

/* Memory traffic: the logits and dx once, and dx twice if it adds. */
template <class T>
static __global__ void loss_back(uint32_t n, uint32_t classes, const T *logits, struct cuda_rows r,
                                 double weight, const float *scale, int add, T *dx)
{
    const uint32_t i = blockIdx.x * (CUDA_THREADS / IMAGE_THREADS) + threadIdx.x / IMAGE_THREADS;
    const T *x = logits + i * classes;
    const int counts = i < n && i < r.batch->valid;
    const struct softmax s = softmax_of(x, classes, counts);

    if (scale)
        weight *= (double)*scale;
    for (uint32_t j = threadIdx.x % IMAGE_THREADS; i < n && j < classes; j += IMAGE_THREADS) {
        float g = 0;
        if (counts) {
            const double share = exp((double)value(x[j]) - (double)s.top) / s.sum;
            const double hit = j == (uint32_t)r.labels[i] ? 1.0 : 0.0;
            g = (float)(weight / (double)r.batch->valid * (share - hit));
        }
        set_or_add(&dx[i * classes + j], add, g);
    }
}

void cuda_loss_back(struct cuda *be, const struct cuda_head *h, const struct cuda_rows *r,
                    const float *scale, int add, void *dx)
{
    cuda_report_bytes((add ? 3. : 2.) * (double)(h->n * h->classes * cuda_type_size(h->type)));
    WITH_TYPE(h->type,
              LAUNCH_BLOCKS(be, loss_back, image_blocks(h->n), (uint32_t)h->n, (uint32_t)h->classes,
                            (const T *)h->logits, *r, h->weight, scale, add, (T *)dx));
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
    EACH (element, n) {
        const uint32_t i = element / (s.c * s.hw), k = element / s.hw % s.c, q = element % s.hw;
        to[element] =
            i < s.batch->valid ? value(from[i * s.image + k * s.channel + q * s.pixel]) : 0.0f;
    }
}

void cuda_copy_out(struct cuda *be, const struct cuda_shape *s, const void *from, float *to)
{
    WITH_TYPE(s->type, LAUNCH_EACH(be, copy_out, s->n * s->c * s->hw, *s, (const T *)from, to));
}
