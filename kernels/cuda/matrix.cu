/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrices of permutation groups: slices packed side by side, and the projection to doubly
 * stochastic matrices, sweep by sweep as in libcommon/assign/doubly_stochastic.c. */
#include "kernels/cuda/device.cuh"

static __global__ void pack_blocks(size_t n, size_t m, size_t slices, size_t stride, const float *x,
                                   float *out)
{
    EACH (i, n) {
        const size_t unit = i / (slices * m), slice = i / m % slices;
        out[i] = x[slice * stride + unit * m + i % m];
    }
}

void cuda_pack_slices(struct cuda *be, size_t k, size_t m, size_t slices, size_t stride,
                      const float *x, float *out)
{
    LAUNCH_EACH(be, pack_blocks, k * m * slices, m, slices, stride, x, out);
}

static __global__ void project_begin(size_t n, struct cuda_projection p, const float *matrix)
{
    EACH (i, n) {
        p.p[i] = (double)matrix[i];
        if (i == 0)
            p.total[2] = 0;
    }
}

void cuda_project_begin(struct cuda *be, const struct cuda_projection *p, const float *matrix)
{
    LAUNCH_EACH(be, project_begin, p->k * p->k, *p, matrix);
}

/* Block i clears the negative entries of row i. NaN stays. */
static __global__ void clear_negative(struct cuda_projection p)
{
    double *row = p.p + (size_t)blockIdx.x * p.k, sum = 0;

    for (size_t j = threadIdx.x; j < p.k; j += CUDA_THREADS) {
        const double x = row[j] < 0 ? 0 : row[j];
        row[j] = x;
        sum += x;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        p.row[blockIdx.x] = sum - 1;
}

/* Block b: columns from b * COLUMNS on, several of their rows at a time. */
enum { COLUMNS = 8 };
static __global__ void sum_columns(struct cuda_projection p)
{
    const size_t j = (size_t)blockIdx.x * COLUMNS + threadIdx.x % COLUMNS;
    double sum = 0;

    for (size_t i = threadIdx.x / COLUMNS; i < p.k && j < p.k; i += CUDA_THREADS / COLUMNS)
        sum += p.p[i * p.k + j];
    sum = lane_sum(sum, COLUMNS);
    if (threadIdx.x < COLUMNS && j < p.k)
        p.col[j] = sum - 1;
}

/* Maximum over the block, for all its threads. fmax ignores NaN. */
static __device__ double block_max(double x)
{
    __shared__ double part[CUDA_MAX_THREADS];

    part[threadIdx.x] = x;
    __syncthreads();
    for (unsigned rest = CUDA_THREADS / 2; rest >= 1; rest /= 2) {
        if (threadIdx.x < rest)
            part[threadIdx.x] = fmax(part[threadIdx.x], part[threadIdx.x + rest]);
        __syncthreads();
    }
    return part[0];
}

/* One block: the rows' excess, the maximum residual, and whether all are finite. */
static __global__ void sum_up(struct cuda_projection p)
{
    double excess = 0, worst = 0;

    for (size_t i = threadIdx.x; i < p.k; i += CUDA_THREADS) {
        excess += p.row[i];
        worst = fmax(worst, fmax(fabs(p.row[i]), fabs(p.col[i])));
    }
    excess = block_sum(excess);
    worst = block_max(worst);
    if (threadIdx.x > 0)
        return;
    p.total[0] = excess;
    p.total[1] = worst;
    if (excess - excess != 0 || worst - worst != 0) /* infinite or NaN */
        p.total[2] = 1;
}

static __global__ void towards_one(size_t n, struct cuda_projection p)
{
    const double size = (double)p.k;

    EACH (i, n)
        p.p[i] += (p.total[0] / (size * size) - p.row[i / p.k] / size) + -p.col[i % p.k] / size;
}

void cuda_project_sweep(struct cuda *be, const struct cuda_projection *p, int last)
{
    LAUNCH_BLOCKS(be, clear_negative, p->k, *p);
    LAUNCH_BLOCKS(be, sum_columns, (p->k + COLUMNS - 1) / COLUMNS, *p);
    LAUNCH_BLOCKS(be, sum_up, 1, *p);
    if (!last)
        LAUNCH_EACH(be, towards_one, p->k * p->k, *p);
}

static __global__ void project_end(size_t n, struct cuda_projection p, int first, float *matrix,
                                   double *worst)
{
    const int bad = p.total[2] != 0;

    EACH (i, n) {
        matrix[i] = bad ? (float)NAN : (float)p.p[i];
        if (i > 0)
            continue;
        const double residual = bad ? (double)NAN : p.total[1], before = first ? 0 : *worst;
        *worst = before != before || residual <= before ? before : residual;
    }
}

void cuda_project_end(struct cuda *be, const struct cuda_projection *p, int first, float *matrix,
                      double *worst)
{
    LAUNCH_EACH(be, project_end, p->k * p->k, *p, first, matrix, worst);
}
