/* SPDX-License-Identifier: Apache-2.0
 *
 * The one symbol of the CUDA library, by which kernels/open/open.c opens it at run time. */
#ifndef MC_ABI_H
#define MC_ABI_H

#include "kernels/backend.h"
#include "libcommon/graph/symmetry.h"

#include <stdint.h>

/* MC_BACKEND_INTERFACE, a checksum of the headers of the structs that both sides share, is given by
 * the Makefile to both sides: a library refuses a program that was built with others. */
#define MC_BACKEND_CUDA_NEW "mc_backend_cuda_new"

/* 0: no device has run it, so that `auto` leaves it alone. To be set to 1 when `make gpu-check` has
 * passed on one. */
#define MC_CUDA_PROVEN 0

/* device: 0 is the first. MC_EFAIL, saying why: another interface, no device, no such device, one
 * that this build has no code for, a CUDA library that does not start. err may be NULL. */
typedef int mc_backend_cuda_new_fn(struct mc_backend **out, uint32_t interface, int device,
                                   const struct mc_backend_opts *o, struct mc_error *err);
mc_backend_cuda_new_fn mc_backend_cuda_new;

#endif
