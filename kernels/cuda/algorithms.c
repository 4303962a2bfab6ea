/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of cuDNN's algorithms computes a pass of a convolution: the committed table's; else of
 * those that cuDNN's heuristics name the first that may be taken; else the first of a list. Nothing
 * is timed here: a timed choice would change the bytes of a rerun. */
#include "kernels/cuda/cuda.h"

#include <stdio.h>

static const char TABLE[] =
#include "algorithms.inc"
    ;

/* By cuDNN's number. Atomic: float32 is added in any order. */
static const struct algorithm {
    const char *name;
    int atomic, fft, winograd;
} algorithms[MC_N_PASSES][CUDA_N_ALGORITHMS] = {
    [MC_PASS_FORWARD] =
        {
            [CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM] = {.name = "implicit-gemm"},
            [CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM] = {.name = "implicit-precomp-gemm"},
            [CUDNN_CONVOLUTION_FWD_ALGO_GEMM] = {.name = "gemm"},
            [CUDNN_CONVOLUTION_FWD_ALGO_DIRECT] = {.name = "direct"},
            [CUDNN_CONVOLUTION_FWD_ALGO_FFT] = {.name = "fft", .fft = 1},
            [CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING] = {.name = "fft-tiling", .fft = 1},
            [CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD] = {.name = "winograd", .winograd = 1},
            [CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED] = {.name = "winograd-nonfused",
                                                              .winograd = 1},
        },
    [MC_PASS_DATA] =
        {
            [CUDNN_CONVOLUTION_BWD_DATA_ALGO_0] = {.name = "algo-0", .atomic = 1},
            [CUDNN_CONVOLUTION_BWD_DATA_ALGO_1] = {.name = "algo-1"},
            [CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT] = {.name = "fft", .fft = 1},
            [CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING] = {.name = "fft-tiling", .fft = 1},
            [CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD] = {.name = "winograd", .winograd = 1},
            [CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED] = {.name = "winograd-nonfused",
                                                                   .winograd = 1},
        },
    [MC_PASS_WEIGHTS] =
        {
            [CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0] = {.name = "algo-0", .atomic = 1},
            [CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1] = {.name = "algo-1"},
            [CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT] = {.name = "fft", .fft = 1},
            [CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3] = {.name = "algo-3", .atomic = 1},
            [CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD] = {.name = "winograd", .winograd = 1},
            [CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED] = {.name = "winograd-nonfused",
                                                                     .winograd = 1},
            [CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING] = {.name = "fft-tiling", .fft = 1},
        },
};

const char *cuda_algorithm_name(enum mc_pass pass, int algorithm)
{
    return algorithm >= 0 && algorithm < CUDA_N_ALGORITHMS ? algorithms[pass][algorithm].name
                                                           : NULL;
}

/* Fourier transforms take much memory and streams of their own; half precision has too few bits for
 * Winograd's intermediate numbers. */
int cuda_algorithm_fits(const struct cuda *be, enum mc_pass pass, int algorithm)
{
    const struct algorithm *a = &algorithms[pass][algorithm];
    const int half = be->precision == MC_PRECISION_BF16 || be->precision == MC_PRECISION_F16;

    return a->name && !a->fft && !(a->winograd && half) && !(a->atomic && !be->any_order);
}

int cuda_algorithm_takes(struct cuda_conv *c, enum mc_pass pass, int algorithm, size_t *work)
{
    cudnnStatus_t rc = CUDNN_STATUS_NOT_SUPPORTED;

    *work = 0;
    if (pass == MC_PASS_FORWARD)
        rc = cudnnGetConvolutionForwardWorkspaceSize(c->be->dnn, c->x, c->w, c->conv, c->y,
                                                     (cudnnConvolutionFwdAlgo_t)algorithm, work);
    else if (pass == MC_PASS_DATA)
        rc = cudnnGetConvolutionBackwardDataWorkspaceSize(
            c->be->dnn, c->w, c->y, c->conv, c->x, (cudnnConvolutionBwdDataAlgo_t)algorithm, work);
    else
        rc = cudnnGetConvolutionBackwardFilterWorkspaceSize(
            c->be->dnn, c->x, c->y, c->conv, c->w, (cudnnConvolutionBwdFilterAlgo_t)algorithm,
            work);
    (void)cudaGetLastError(); /* a refusal is no later launch's failure */
    c->refused = rc;
    return rc == CUDNN_STATUS_SUCCESS;
}

/* ---- the table --------------------------------------------------------------------------------
 */

void cuda_table_key(const struct cuda *be, int any_order, char key[CUDA_TABLE_KEY])
{
    snprintf(key, CUDA_TABLE_KEY, "%s\t%d\t%s\t%s", be->kind, be->dnn_major,
             mc_precision_names[be->precision], any_order ? "any" : "fixed");
}

uint32_t cuda_table_hash(void)
{
    return mc_conv_table_hash(TABLE);
}

static int by_table(const struct cuda *be, int any_order, enum mc_pass pass, const char *shape)
{
    const char *names[CUDA_N_ALGORITHMS];
    char key[CUDA_TABLE_KEY];

    for (int a = 0; a < CUDA_N_ALGORITHMS; a++)
        names[a] = algorithms[pass][a].name ? algorithms[pass][a].name : "";
    cuda_table_key(be, any_order, key);
    return mc_conv_table_choice(TABLE, key, pass, shape, names, CUDA_N_ALGORITHMS);
}

/* ---- cuDNN's heuristics -----------------------------------------------------------------------
 */

enum { MOST = 3 * CUDA_N_ALGORITHMS }; /* an algorithm comes once a kind of arithmetic */

struct named {
    int algorithm;
    cudnnDeterminism_t determinism;
    cudnnMathType_t math;
};

/* The passes' structs differ in name only. */
#define TAKE_NAMES(type, get, ...)                                                                 \
    do {                                                                                           \
        type list[MOST];                                                                           \
        int n = 0;                                                                                 \
        if (get(c->be->dnn, __VA_ARGS__, MOST, &n, list))                                          \
            n = 0;                                                                                 \
        for (int i = 0; i < n; i++)                                                                \
            if (list[i].status == CUDNN_STATUS_SUCCESS)                                            \
                out[taken++] =                                                                     \
                    (struct named){(int)list[i].algo, list[i].determinism, list[i].mathType};      \
    } while (0)

static int name_all(const struct cuda_conv *c, enum mc_pass pass, struct named out[MOST])
{
    int taken = 0;

    if (pass == MC_PASS_FORWARD)
        TAKE_NAMES(cudnnConvolutionFwdAlgoPerf_t, cudnnGetConvolutionForwardAlgorithm_v7, c->x,
                   c->w, c->conv, c->y);
    else if (pass == MC_PASS_DATA)
        TAKE_NAMES(cudnnConvolutionBwdDataAlgoPerf_t, cudnnGetConvolutionBackwardDataAlgorithm_v7,
                   c->w, c->y, c->conv, c->x);
    else
        TAKE_NAMES(cudnnConvolutionBwdFilterAlgoPerf_t,
                   cudnnGetConvolutionBackwardFilterAlgorithm_v7, c->x, c->y, c->conv, c->w);
    (void)cudaGetLastError();
    return taken;
}

static int by_heuristics(struct cuda_conv *c, enum mc_pass pass, size_t *work)
{
    struct named list[MOST];
    const int n = name_all(c, pass, list);

    /* ranked for another arithmetic than the descriptor's is no rank of ours; if that is all there
     * is, it is still better than none */
    for (int other = 0; other < 2; other++)
        for (int i = 0; i < n; i++)
            if ((list[i].math == c->math) != other && list[i].algorithm >= 0 &&
                list[i].algorithm < CUDA_N_ALGORITHMS &&
                (c->be->any_order || list[i].determinism == CUDNN_DETERMINISTIC) &&
                cuda_algorithm_fits(c->be, pass, list[i].algorithm) &&
                cuda_algorithm_takes(c, pass, list[i].algorithm, work) && *work <= CUDA_MOST_WORK)
                return list[i].algorithm;
    return -1;
}

/* ---- the choice -------------------------------------------------------------------------------
 */

/* The first refusal stays: of the algorithm that takes most. */
static int takes(struct cuda_conv *c, enum mc_pass pass, int algorithm, size_t *work)
{
    const int yes = cuda_algorithm_takes(c, pass, algorithm, work);

    if (!yes && !c->why[0])
        cuda_dnn_reason(c->refused, c->why);
    return yes;
}

/* All deterministic; the last ones for shapes that nothing else takes. */
static int by_list(struct cuda_conv *c, enum mc_pass pass, size_t *work)
{
    static const int lists[MC_N_PASSES][3] = {
        [MC_PASS_FORWARD] = {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
                             CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
                             CUDNN_CONVOLUTION_FWD_ALGO_GEMM},
        [MC_PASS_DATA] = {CUDNN_CONVOLUTION_BWD_DATA_ALGO_1,
                          CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED,
                          CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD},
        [MC_PASS_WEIGHTS] = {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1,
                             CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED, -1},
    };

    for (int i = 0; i < 3 && lists[pass][i] >= 0; i++)
        if (cuda_algorithm_fits(c->be, pass, lists[pass][i]) &&
            takes(c, pass, lists[pass][i], work))
            return lists[pass][i];
    return -1;
}

int cuda_choose_untuned(struct cuda_conv *c, enum mc_pass pass, size_t *work)
{
    const int a = by_heuristics(c, pass, work);
    return a >= 0 ? a : by_list(c, pass, work);
}

int cuda_choose(struct cuda_conv *c, enum mc_pass pass, size_t *work)
{
    const struct cuda_conv_shape *s = &c->shape;
    char shape[MC_SHAPE_TEXT];
    int a = s->algorithm[pass] - 1;

    c->why[0] = 0;
    if (a >= 0)
        return takes(c, pass, a, work) ? a : -1;
    cuda_conv_text(s, shape);
    for (int any_order = c->be->any_order; any_order >= 0; any_order--) {
        a = by_table(c->be, any_order, pass, shape);
        if (a >= 0 && cuda_algorithm_fits(c->be, pass, a) && cuda_algorithm_takes(c, pass, a, work))
            return a;
    }
    return cuda_choose_untuned(c, pass, work);
}

void cuda_conv_text(const struct cuda_conv_shape *s, char text[MC_SHAPE_TEXT])
{
    mc_shape_text(text, (const int[]){s->ic, s->ih, s->iw}, (const int[]){s->oc, s->oh, s->ow},
                  s->kernel, s->stride, s->pad, s->groups);
}
