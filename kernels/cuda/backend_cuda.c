/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening the CUDA backend: the device, its checks, the table of functions. Also cuBLAS's
 * products. */
#include "kernels/cuda/cuda.h"

#include "kernels/abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fixed workspace makes cuBLAS choose the same algorithm, and so the same bits, every time. */
#define BLAS_WORK ((size_t)32 << 20)

static void failed(struct cuda *be, enum mc_err code, const char *operation, const char *reason)
{
    if (be->failed)
        return;
    be->failed = code;
    snprintf(be->reason, sizeof be->reason, "%s%s", operation, reason);
}

static void check(struct cuda *be, cudaError_t status, const char *operation)
{
    if (status != cudaSuccess)
        failed(be, status == cudaErrorMemoryAllocation ? MC_ENOMEM : MC_EFAIL, operation,
               cudaGetErrorString(status));
}

void cuda_check(struct cuda *be, cudaError_t status)
{
    check(be, status, "");
}

void cuda_check_kernel(struct cuda *be, cudaError_t status, const char *kernel)
{
    char operation[80];

    if (status == cudaSuccess)
        return;
    snprintf(operation, sizeof operation, "%s: ", kernel);
    check(be, status, operation);
}

void cuda_dnn_reason(cudnnStatus_t status, char text[CUDA_DNN_REASON])
{
    char more[160] = "";

    cudnnGetLastErrorString(more, sizeof more);
    snprintf(text, CUDA_DNN_REASON, "%s%s%s", cudnnGetErrorString(status), more[0] ? ": " : "",
             more);
    for (; *text; text++)
        if ((unsigned char)*text < ' ')
            *text = ' ';
}

void cuda_check_dnn(struct cuda *be, cudnnStatus_t status, const char *operation)
{
    char reason[CUDA_DNN_REASON];

    if (status == CUDNN_STATUS_SUCCESS || be->failed)
        return;
    cuda_dnn_reason(status, reason);
    failed(be, MC_EFAIL, operation, reason);
}

static void check_blas(struct cuda *be, cublasStatus_t status)
{
    if (status != CUBLAS_STATUS_SUCCESS)
        failed(be, MC_EFAIL, "cuBLAS: ", cublasGetStatusString(status));
}

void (*cuda_watch)(struct cuda *be, const char *kernel, double bytes);
static double moved;

void cuda_report_bytes(double bytes)
{
    if (cuda_watch)
        moved = bytes;
}

void cuda_report_launch(struct cuda *be, const char *kernel)
{
    if (!cuda_watch)
        return;
    cuda_watch(be, kernel, moved);
    moved = 0;
}

int cuda_skips(const struct cuda *be)
{
    return be->precision == MC_PRECISION_F16;
}

cudaStream_t cuda_stream(const struct cuda *be)
{
    return be->current;
}

struct cuda *cuda_backend(struct mc_backend *base)
{
    struct cuda *be = cuda_of(base);

    cuda_enter(be);
    return be;
}

struct cuda_partial cuda_parts(const struct cuda *be)
{
    return (struct cuda_partial){be->part, (uint32_t *)(be->part + CUDA_PARTS)};
}

int cuda_fork(struct cuda *be)
{
    if (cuda_watch)
        return 0;
    cuda_check(be, cudaEventRecord(be->forks, be->stream));
    cuda_check(be, cudaStreamWaitEvent(be->side, be->forks, 0));
    be->forked = 1;
    return 1;
}

void cuda_join(struct cuda *be)
{
    cuda_check(be, cudaEventRecord(be->joins, be->side));
    cuda_check(be, cudaStreamWaitEvent(be->stream, be->joins, 0));
    be->forked = 0;
}

void cuda_begin_side(struct cuda *be)
{
    if (cuda_fork(be))
        be->current = be->side;
}

struct cuda *cuda_side_backend(struct mc_backend *base)
{
    struct cuda *be = cuda_of(base);

    cuda_use(be);
    if (be->forked)
        cuda_begin_side(be);
    return be;
}

void cuda_end_side(struct cuda *be)
{
    be->current = be->stream;
}

/* ---- products ---------------------------------------------------------------------------------
 * cuBLAS matrices are column-major: our row-major c = a b is its c^T = b^T a^T. */

static cublasOperation_t operation(const struct mc_factor *f)
{
    return f->transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

void cuda_gemm(struct cuda *be, const struct mc_product *p)
{
    const float one = 1;
    check_blas(be, cublasSgemm(be->blas, operation(&p->b), operation(&p->a), (int)p->size.n,
                               (int)p->size.m, (int)p->size.k, &one, p->b.x, (int)p->b.ld, p->a.x,
                               (int)p->a.ld, &p->beta, p->c.x, (int)p->c.ld));
}

static cudaDataType data_type(enum cuda_type t)
{
    return t == CUDA_F16 ? CUDA_R_16F : t == CUDA_BF16 ? CUDA_R_16BF : CUDA_R_32F;
}

/* The handle's mode stays pedantic for the other products. Partial sums are float32. */
void cuda_layer_product(struct cuda *be, const struct mc_product *p, enum cuda_type from,
                        enum cuda_type to)
{
    const float one = 1;
    const int exact = be->precision == MC_PRECISION_F32;
    const cublasComputeType_t compute = exact              ? CUBLAS_COMPUTE_32F_PEDANTIC
                                        : from == CUDA_F32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                           : CUBLAS_COMPUTE_32F;
    const cublasMath_t mode =
        (cublasMath_t)(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);

    if (!exact)
        check_blas(be, cublasSetMathMode(be->blas, mode));
    cuda_report_bytes(
        (double)((p->size.m * p->size.k + p->size.k * p->size.n) * cuda_type_size(from) +
                 p->size.m * p->size.n * cuda_type_size(to)));
    check_blas(be, cublasGemmEx(be->blas, operation(&p->b), operation(&p->a), (int)p->size.n,
                                (int)p->size.m, (int)p->size.k, &one, p->b.x, data_type(from),
                                (int)p->b.ld, p->a.x, data_type(from), (int)p->a.ld, &p->beta,
                                p->c.x, data_type(to), (int)p->c.ld, compute, CUBLAS_GEMM_DEFAULT));
    cuda_report_launch(be, "cuBLAS product");
    if (!exact)
        check_blas(be, cublasSetMathMode(be->blas, CUBLAS_PEDANTIC_MATH));
}

void cuda_gemm64(struct cuda *be, const struct mc_product *p)
{
    const double one = 1, beta = (double)p->beta;
    check_blas(be, cublasDgemm(be->blas, operation(&p->b), operation(&p->a), (int)p->size.n,
                               (int)p->size.m, (int)p->size.k, &one, p->b.x, (int)p->b.ld, p->a.x,
                               (int)p->a.ld, &beta, p->c.x, (int)p->c.ld));
}

void cuda_gemm_slices(struct cuda *be, const struct mc_product *p, size_t stride, size_t count)
{
    const float one = 1;
    check_blas(be, cublasSgemmStridedBatched(be->blas, operation(&p->b), operation(&p->a),
                                             (int)p->size.n, (int)p->size.m, (int)p->size.k, &one,
                                             p->b.x, (int)p->b.ld, (long long)stride, p->a.x,
                                             (int)p->a.ld, 0, &p->beta, p->c.x, (int)p->c.ld,
                                             (long long)stride, (int)count));
}

/* ---- opening --------------------------------------------------------------------------------- */

void cuda_close(struct mc_backend *base)
{
    struct cuda *be = cuda_of(base);

    cuda_enter(be);
    if (be->properties)
        (void)cudnnBackendDestroyDescriptor(be->properties);
    if (be->dnn)
        (void)cudnnDestroy(be->dnn);
    if (be->dnn_side)
        (void)cudnnDestroy(be->dnn_side);
    if (be->blas)
        (void)cublasDestroy(be->blas);
    (void)cudaFree(be->blas_work);
    (void)cudaFree(be->part);
    if (be->forks)
        (void)cudaEventDestroy(be->forks);
    if (be->joins)
        (void)cudaEventDestroy(be->joins);
    if (be->side)
        (void)cudaStreamDestroy(be->side);
    if (be->stream)
        (void)cudaStreamDestroy(be->stream);
    while (be->choices) {
        struct cuda_choice *last = be->choices;
        be->choices = last->next;
        free(last);
    }
    free(be);
}

static int find_device(int device, struct mc_error *err)
{
    int n = 0;
    const cudaError_t rc = cudaGetDeviceCount(&n);

    if (rc != cudaSuccess)
        return mc_fail(err, MC_EFAIL, "cuda: no device: %s", cudaGetErrorString(rc));
    if (device >= n)
        return mc_fail(err, MC_EFAIL, "cuda:%d: no such device (%d device%s found)", device, n,
                       n == 1 ? "" : "s");
    return 0;
}

static int start(struct cuda *be, struct mc_error *err)
{
    void *part = NULL;

    cuda_check(be, cudaSetDevice(be->device));
    cuda_check(be, cudaStreamCreateWithFlags(&be->stream, cudaStreamNonBlocking));
    cuda_check(be, cudaStreamCreateWithFlags(&be->side, cudaStreamNonBlocking));
    be->current = be->stream;
    cuda_check(be, cudaEventCreateWithFlags(&be->forks, cudaEventDisableTiming));
    cuda_check(be, cudaEventCreateWithFlags(&be->joins, cudaEventDisableTiming));
    if (!be->failed)
        cuda_check_dnn(be, cudnnCreate(&be->dnn), "cuDNN: ");
    if (!be->failed)
        cuda_check_dnn(be, cudnnSetStream(be->dnn, be->stream), "cuDNN: ");
    if (!be->failed)
        cuda_check_dnn(be, cudnnCreate(&be->dnn_side), "cuDNN: ");
    if (!be->failed)
        cuda_check_dnn(be, cudnnSetStream(be->dnn_side, be->side), "cuDNN: ");
    if (!be->failed)
        cuda_check_dnn(be, cuda_describe_device(be), "cuDNN: ");
    if (!be->failed)
        check_blas(be, cublasCreate(&be->blas));
    if (be->failed)
        return mc_fail(err, be->failed, "cuda:%d: %s", be->device, be->reason);
    int rc = cuda_alloc(be, BLAS_WORK, "cuBLAS", &be->blas_work, err);
    if (!rc)
        rc = cuda_alloc(be, (CUDA_PARTS + 1) * sizeof *be->part, "partial sums", &part, err);
    if (rc)
        return rc;
    be->part = part;
    check_blas(be, cublasSetStream(be->blas, be->stream));
    check_blas(be, cublasSetWorkspace(be->blas, be->blas_work, BLAS_WORK));
    check_blas(be, cublasSetMathMode(be->blas, CUBLAS_PEDANTIC_MATH));
    /* our first kernel: fails without code for this device */
    cuda_add_doubles(be, 1, be->part, be->part + 1);
    cuda_check(be, cudaStreamSynchronize(be->stream));
    return be->failed ? mc_fail(err, be->failed, "cuda:%d: %s", be->device, be->reason) : 0;
}

static const struct mc_backend table = {
    .name = "cuda", .threads = 1, .launch_steps = 32, .products = "f64", MC_FUNCTION_ENTRIES(cuda)};

int mc_backend_cuda_new(struct mc_backend **out, uint32_t interface, int device,
                        const struct mc_backend_opts *o, struct mc_error *err)
{
    struct cudaDeviceProp prop;
    struct cuda *be = NULL;
    int rc = 0, runtime = 0, blas = 0;

    if (interface != MC_BACKEND_INTERFACE)
        return mc_fail(err, MC_EFAIL,
                       "cuda: the CUDA library belongs to another version of this program");
    if ((rc = find_device(device, err)))
        return rc;
    be = calloc(1, sizeof *be);
    if (!be)
        return mc_no_memory(err);
    be->base = table;
    be->device = device;
    be->precision = o->precision; /* threads are the host's */
    be->any_order = o->any_order;
    memset(&prop, 0, sizeof prop);
    cuda_check(be, cudaGetDeviceProperties(&prop, device));
    cuda_check(be, cudaRuntimeGetVersion(&runtime));
    snprintf(be->kind, sizeof be->kind, "sm_%d%d", prop.major, prop.minor);
    be->processors = prop.multiProcessorCount;
    if ((rc = start(be, err))) {
        cuda_close(&be->base);
        return rc;
    }
    snprintf(be->base.describe, sizeof be->base.describe,
             "cuda:%d, %.64s (%d.%d), CUDA %d.%d, cuDNN %zu, %s%s", device, prop.name, prop.major,
             prop.minor, runtime / 1000, runtime % 1000 / 10, cudnnGetVersion(),
             mc_precision_names[o->precision], o->any_order ? ", any-order" : "");
    (void)cublasGetVersion(be->blas, &blas); /* fails only without a handle */
    mc_backend_fact(&be->base, "device", "cuda");
    mc_backend_fact(&be->base, "isa", "%s", be->kind);
    mc_backend_fact(&be->base, "multiprocessors", "%d", be->processors);
    mc_backend_fact(&be->base, "cuda", "%d", runtime);
    mc_backend_fact(&be->base, "cublas", "%d", blas);
    mc_backend_fact(&be->base, "cudnn", "%zu", cudnnGetVersion());
    if (o->precision != MC_PRECISION_F32)
        mc_backend_fact(&be->base, "precision", "%s", mc_precision_names[o->precision]);
    if (o->any_order)
        mc_backend_fact(&be->base, "deterministic", "no");
    /* Must be the last fact. If a resumed run differs, the message names the first different fact,
     * which must be the cause, not the algorithms that result from it. */
    be->algorithms = be->base.facts[be->base.n_facts].value;
    mc_backend_fact(&be->base, "algorithms", "%08x", 0u);
    *out = &be->base;
    return 0;
}
