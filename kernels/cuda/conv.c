/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution by cuDNN, each pass with the engine that choice.c chooses. */
#include "kernels/cuda/cuda.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define PASS_TEXT 240

static void describe_pass(const struct cuda_conv *c, int pass, char text[PASS_TEXT])
{
    static const char *const names[] = {[MC_PASS_FORWARD] = "forward",
                                        [MC_PASS_DATA] = "data gradient",
                                        [MC_PASS_WEIGHTS] = "weight gradient",
                                        [CUDA_PASS_ADD] = "added data gradient"};
    const struct cuda_conv_shape *s = &c->shape;
    snprintf(text, PASS_TEXT, "%.95s%s%s of a convolution of %dx%dx%dx%d by %dx%d to %d channels%s",
             s->node ? s->node : "", s->node ? ": " : "", names[pass], s->n, s->ic, s->ih, s->iw,
             s->kernel[0], s->kernel[1], s->oc, s->groups > 1 ? " in groups" : "");
}

int cuda_conv_new(struct cuda *be, const struct cuda_conv_shape *s, struct cuda_conv **out,
                  struct mc_error *err)
{
    struct cuda_conv *c = calloc(1, sizeof *c);
    char text[PASS_TEXT];
    int rc = 0;

    if (!c)
        return mc_no_memory(err);
    c->be = be;
    c->shape = *s;
    for (int pass = 0; !rc && pass < CUDA_N_PASSES; pass++) {
        if (!s->needed[pass] || !cuda_choose(c, pass))
            continue;
        describe_pass(c, pass, text);
        rc = mc_fail(err, MC_EFAIL, "%s: cuDNN has no %salgorithm in %s: %s%s", text,
                     be->any_order ? "" : "deterministic ", mc_precision_names[be->precision],
                     c->reason, s->type == CUDA_F32 ? "" : " (--precision f32 may have one)");
    }
    if (rc)
        cuda_conv_free(c);
    else
        *out = c;
    return rc;
}

void cuda_conv_free(struct cuda_conv *c)
{
    if (!c)
        return;
    /* cuDNN unloads a plan's compiled code with the plan, so wait for running work */
    (void)cudaStreamSynchronize(c->be->stream);
    (void)cudaStreamSynchronize(c->be->side);
    for (int pass = 0; pass < CUDA_N_PASSES; pass++)
        cuda_engine_release(&c->engines[pass]);
    free(c);
}

size_t cuda_conv_work(const struct cuda_conv *c, int weights)
{
    size_t most = 0;

    for (int pass = 0; pass < CUDA_N_PASSES; pass++)
        if (weights == (pass == MC_PASS_WEIGHTS))
            most = c->engines[pass].work > most ? c->engines[pass].work : most;
    return most;
}

void cuda_conv_run(struct cuda_conv *c, int pass, const void *x, const void *weight, const void *y,
                   const void *work, int side)
{
    static const char *const calls[] = {[MC_PASS_FORWARD] = "cuDNN forward",
                                        [MC_PASS_DATA] = "cuDNN data",
                                        [MC_PASS_WEIGHTS] = "cuDNN weights",
                                        [CUDA_PASS_ADD] = "cuDNN add"};
    const struct cuda_engine *e = &c->engines[pass];
    char text[PASS_TEXT], message[PASS_TEXT + 10];

    assert(e->plan || e->native.n);
    cuda_report_bytes((double)cuda_type_size(c->shape.type) *
                      ((double)c->shape.n * c->shape.ic * c->shape.ih * c->shape.iw *
                           (pass == CUDA_PASS_ADD ? 2 : 1) +
                       (double)c->shape.n * c->shape.oc * c->shape.oh * c->shape.ow +
                       (double)c->shape.oc * c->shape.ic / c->shape.groups * c->shape.kernel[0] *
                           c->shape.kernel[1]));
    if (e->native.n) {
        if (side)
            cuda_begin_side(c->be);
        cuda_conv_weights(c->be, &e->native, x, y, (float *)(uintptr_t)work,
                          (float *)(uintptr_t)weight);
        cuda_end_side(c->be);
        return;
    }
    side = side && cuda_fork(c->be);
    const cudnnStatus_t rc =
        cuda_engine_run(side ? c->be->dnn_side : c->be->dnn, e, x, weight, y, work);
    cuda_report_launch(c->be, calls[pass]);
    if (rc == CUDNN_STATUS_SUCCESS)
        return;
    describe_pass(c, pass, text);
    snprintf(message, sizeof message, "%s: cuDNN: ", text);
    cuda_check_dnn(c->be, rc, message);
}
