/* SPDX-License-Identifier: Apache-2.0
 *
 * The passes of a network's convolutions on a device, for programs that time or check their
 * engines. Header only. */
#ifndef MC_TEST_PASSES_H
#define MC_TEST_PASSES_H

#include "kernels/abi.h"
#include "kernels/cuda/cuda.h"
#include "tests/bench/tune.h"

/* Opens a device in a precision; exits on an error. */
static struct cuda *open_device(int device, const char *precision)
{
    struct mc_backend *be = NULL;
    struct mc_backend_opts o = {0};
    int p = 0;

    while (mc_precision_names[p] && strcmp(mc_precision_names[p], precision))
        p++;
    if (!mc_precision_names[p])
        need(mc_fail(&err, MC_EUSAGE, "unknown precision '%s'", precision));
    o.precision = (enum mc_precision)p;
    need(mc_backend_cuda_new(&be, MC_BACKEND_INTERFACE, device, &o, &err));
    return cuda_of(be);
}

/* Visits a convolution's passes in training; only attacks need the pixels' gradients. No pass is
 * prepared. */
static void each_pass(struct cuda *be, int batch, const struct mc_node *n, const struct mc_node *in,
                      void (*visit)(void *arg, struct cuda_conv *c, int pass), void *arg)
{
    const enum cuda_type type = cuda_type_of(be);
    const int pixels = in->op == MC_OP_NORMALISE;
    const struct cuda_conv_shape s = {.type = type,
                                      .n = batch,
                                      .ic = pixels ? cuda_pixel_channels(type, in->c) : in->c,
                                      MC_CONV_SIZES(in, n)};

    for (int pass = 0; pass < CUDA_N_PASSES; pass++) {
        struct cuda_conv *c = NULL;
        if (pixels && (pass == MC_PASS_DATA || pass == CUDA_PASS_ADD))
            continue;
        need(cuda_conv_new(be, &s, &c, &err));
        visit(arg, c, pass);
        cuda_conv_free(c);
    }
}

#endif
