/* SPDX-License-Identifier: Apache-2.0
 *
 * cuBLAS on the emulated device, by its manual's definitions: matrices are column-major. */
#include "tests/emulation/device.h"
#include "tests/emulation/numbers.h"

#include <cublas_v2.h>

#include <vector>

struct cublasContext {
    cublasMath_t mode;
};

cublasStatus_t cublasCreate_v2(cublasHandle_t *h)
{
    *h = new cublasContext{CUBLAS_DEFAULT_MATH};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t h)
{
    delete h;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t, cudaStream_t)
{
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void *work, size_t)
{
    return work ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t h, cublasMath_t mode)
{
    h->mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int *version)
{
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusString(cublasStatus_t)
{
    return "an invalid argument";
}

/* C (m,n) = alpha op(A) (m,k) op(B) (k,n) + beta C; C is not read if beta is 0. */
template <class F, class T, class C>
static cublasStatus_t gemm(cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, F alpha,
                           const T *a, int lda, const T *b, int ldb, F beta, C *c, int ldc)
{
    if (lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m || m < 0 || n < 0 || k < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    emulated_do([=] {
        std::vector<double> sum((size_t)m);
        for (long j = 0; j < n; j++) {
            for (double &v : sum)
                v = 0;
            for (long q = 0; q < k && !ta; q++) {
                const double v = (double)number(tb ? b[q * ldb + j] : b[j * ldb + q]);
                for (long i = 0; i < m; i++)
                    sum[(size_t)i] += (double)number(a[q * lda + i]) * v;
            }
            for (long i = 0; i < m && ta; i++)
                for (long q = 0; q < k; q++)
                    sum[(size_t)i] += (double)number(a[i * lda + q]) *
                                      (double)number(tb ? b[q * ldb + j] : b[j * ldb + q]);
            for (long i = 0; i < m; i++) {
                C *to = &c[j * ldc + i];
                const F product = alpha * (F)sum[(size_t)i];
                put(beta != 0 ? product + beta * number(*to) : product, to);
            }
        }
    });
    return CUBLAS_STATUS_SUCCESS;
}

/* All modes but the pedantic one shorten the factors as much as any mode may, so that a mode that
 * was left set is noticed. */
static cublasStatus_t gemm_by_mode(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb,
                                   int m, int n, int k, float alpha, const float *a, int lda,
                                   const float *b, int ldb, float beta, float *c, int ldc)
{
    if (h->mode == CUBLAS_PEDANTIC_MATH)
        return gemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    return gemm(ta, tb, m, n, k, alpha, (const tf32 *)a, lda, (const tf32 *)b, ldb, beta, c, ldc);
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,
                              int n, int k, const float *alpha, const float *a, int lda,
                              const float *b, int ldb, const float *beta, float *c, int ldc)
{
    return gemm_by_mode(h, ta, tb, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);
}

cublasStatus_t cublasDgemm_v2(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m,
                              int n, int k, const double *alpha, const double *a, int lda,
                              const double *b, int ldb, const double *beta, double *c, int ldc)
{
    return gemm(ta, tb, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t h, cublasOperation_t ta,
                                         cublasOperation_t tb, int m, int n, int k,
                                         const float *alpha, const float *a, int lda,
                                         long long stride_a, const float *b, int ldb,
                                         long long stride_b, const float *beta, float *c, int ldc,
                                         long long stride_c, int count)
{
    cublasStatus_t rc = CUBLAS_STATUS_SUCCESS;
    for (int i = 0; !rc && i < count; i++)
        rc = gemm_by_mode(h, ta, tb, m, n, k, *alpha, a + i * stride_a, lda, b + i * stride_b, ldb,
                          *beta, c + i * stride_c, ldc);
    return rc;
}

/* The rows of the manual's table for products in float32. */
template <class T>
static cublasStatus_t gemm_to(cudaDataType to, cublasOperation_t ta, cublasOperation_t tb, int m,
                              int n, int k, const void *alpha, const void *a, int lda,
                              const void *b, int ldb, const void *beta, void *c, int ldc)
{
    const float x = *(const float *)alpha, y = *(const float *)beta;
    if (to == CUDA_R_32F)
        return gemm(ta, tb, m, n, k, x, (const T *)a, lda, (const T *)b, ldb, y, (float *)c, ldc);
    return gemm(ta, tb, m, n, k, x, (const T *)a, lda, (const T *)b, ldb, y, (T *)c, ldc);
}

cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m,
                            int n, int k, const void *alpha, const void *a, cudaDataType a_type,
                            int lda, const void *b, cudaDataType b_type, int ldb, const void *beta,
                            void *c, cudaDataType c_type, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t)
{
    const float x = *(const float *)alpha, y = *(const float *)beta;
    if (a_type != b_type || (c_type != a_type && c_type != CUDA_R_32F))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (a_type == CUDA_R_32F && compute == CUBLAS_COMPUTE_32F_FAST_TF32)
        return gemm(ta, tb, m, n, k, x, (const tf32 *)a, lda, (const tf32 *)b, ldb, y, (float *)c,
                    ldc);
    if (a_type == CUDA_R_32F && compute == CUBLAS_COMPUTE_32F_PEDANTIC)
        return gemm(ta, tb, m, n, k, x, (const float *)a, lda, (const float *)b, ldb, y, (float *)c,
                    ldc);
    if (a_type == CUDA_R_16F && compute == CUBLAS_COMPUTE_32F)
        return gemm_to<__half>(c_type, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    if (a_type == CUDA_R_16BF && compute == CUBLAS_COMPUTE_32F)
        return gemm_to<__nv_bfloat16>(c_type, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}
