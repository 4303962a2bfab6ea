/* SPDX-License-Identifier: Apache-2.0
 *
 * Which backends there are, without starting one. */
#ifndef MC_BACKENDS_H
#define MC_BACKENDS_H

#include <stddef.h>

/* Path of the CUDA library: the environment's MC_CUDA_LIBRARY, or the one that lies beside an
 * installed or a built program. NULL: there is none. The environment's is not looked for. */
const char *mc_cuda_library(char *path, size_t size);
/* The NVIDIA driver's library can be loaded. Says nothing of devices. */
int mc_cuda_driver(void);
/* "cpu (avx512, oneDNN 2.6.3), cuda (library found, no NVIDIA driver)": the instruction set that
 * the CPU's kernels may use, and what there is for CUDA. Starts no device. */
void mc_backends_describe(char *text, size_t size);

#endif
