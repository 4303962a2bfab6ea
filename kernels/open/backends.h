/* SPDX-License-Identifier: Apache-2.0
 *
 * Available backends, found without starting one. */
#ifndef MC_BACKENDS_H
#define MC_BACKENDS_H

#include <stddef.h>

/* Path of the CUDA library: the environment's MC_CUDA_LIBRARY (not checked), or the library next to
 * an installed or built program. NULL: none. */
const char *mc_cuda_library(char *path, size_t size);
/* Returns whether the NVIDIA driver's library can be loaded. Does not look for devices. */
int mc_cuda_driver(void);
/* Returns whether the user can expect a GPU: a library exists, and a driver or MC_CUDA_LIBRARY. */
int mc_cuda_expected(void);
/* "cpu (avx512, oneDNN 2.6.3), cuda (library found, no NVIDIA driver)": the instruction set that
 * the CPU's kernels may use, and the state of CUDA. Starts no device. */
void mc_backends_describe(char *text, size_t size);

#endif
