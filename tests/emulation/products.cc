/* SPDX-License-Identifier: Apache-2.0
 *
 * cuBLAS on the emulated device, as its manual defines the calls: matrices lie by columns. */
#include "device.h"

#include <cublas_v2.h>

#include <vector>

static int none;

cublasStatus_t cublasCreate_v2(cublasHandle_t *h)
{
    *h = (cublasHandle_t)(void *)&none;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t)
{
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

cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t)
{
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusString(cublasStatus_t)
{
    return "an invalid argument";
}

/* C (m,n) = alpha op(A) (m,k) op(B) (k,n) + beta C; C is not read where beta is 0. */
template <class T>
static cublasStatus_t gemm(cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, T alpha,
                           const T *a, int lda, const T *b, int ldb, T beta, T *c, int ldc)
{
    if (lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m || m < 0 || n < 0 || k < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    emulated_begin();
    std::vector<double> sum((size_t)m);
    for (long j = 0; j < n; j++) {
        for (double &v : sum)
            v = 0;
        for (long q = 0; q < k && !ta; q++) {
            const double v = (double)(tb ? b[q * ldb + j] : b[j * ldb + q]);
            for (long i = 0; i < m; i++)
                sum[(size_t)i] += (double)a[q * lda + i] * v;
        }
        for (long i = 0; i < m && ta; i++)
            for (long q = 0; q < k; q++)
                sum[(size_t)i] +=
                    (double)a[i * lda + q] * (double)(tb ? b[q * ldb + j] : b[j * ldb + q]);
        for (long i = 0; i < m; i++) {
            T *to = &c[j * ldc + i];
            *to =
                beta != 0 ? (T)(alpha * (T)sum[(size_t)i] + beta * *to) : alpha * (T)sum[(size_t)i];
        }
    }
    emulated_end();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m,
                              int n, int k, const float *alpha, const float *a, int lda,
                              const float *b, int ldb, const float *beta, float *c, int ldc)
{
    return gemm(ta, tb, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);
}

cublasStatus_t cublasDgemm_v2(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m,
                              int n, int k, const double *alpha, const double *a, int lda,
                              const double *b, int ldb, const double *beta, double *c, int ldc)
{
    return gemm(ta, tb, m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb,
                                         int m, int n, int k, const float *alpha, const float *a,
                                         int lda, long long stride_a, const float *b, int ldb,
                                         long long stride_b, const float *beta, float *c, int ldc,
                                         long long stride_c, int count)
{
    cublasStatus_t rc = CUBLAS_STATUS_SUCCESS;
    for (int i = 0; !rc && i < count; i++)
        rc = gemm(ta, tb, m, n, k, *alpha, a + i * stride_a, lda, b + i * stride_b, ldb, *beta,
                  c + i * stride_c, ldc);
    return rc;
}
