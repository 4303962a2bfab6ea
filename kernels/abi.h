/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA library's only symbol. kernels/open/open.c loads it at run time. */
#ifndef MC_ABI_H
#define MC_ABI_H

#include "kernels/backend.h"
#include "libcommon/graph/symmetry.h"

#include <stdint.h>

/* MC_BACKEND_INTERFACE is a checksum of the headers whose structs the program and the library
 * share. The Makefile passes it to both; the library refuses a program that was built with other
 * headers. */
#define MC_BACKEND_CUDA_NEW "mc_backend_cuda_new"

/* Opens device number `device` (0 is the first). Returns MC_EFAIL if the interface differs, if the
 * device does not exist, if this build has no code for it, or if a CUDA library does not start. err
 * may be NULL. */
typedef int mc_backend_cuda_new_fn(struct mc_backend **out, uint32_t interface, int device,
                                   const struct mc_backend_opts *o, struct mc_error *err);
mc_backend_cuda_new_fn mc_backend_cuda_new;

#endif
