/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding the files that a backend needs. This file refers to no backend, so that programs that do
 * not compute link none. */
#include "kernels/open/backends.h"

#include "libcommon/base/isa.h"

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl_version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libmc-cuda.so"

const char *mc_cuda_library(char *path, size_t size)
{
    static const char *const places[] = {"../lib/mc/" LIBRARY, "../lib/" LIBRARY};
    const char *requested = getenv("MC_CUDA_LIBRARY");
    char program[4096];

    if (requested && *requested)
        return requested;
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program);
    if (n <= 0 || n == (ssize_t)sizeof program)
        return NULL;
    program[n] = 0;
    char *last = strrchr(program, '/');
    if (!last)
        return NULL;
    last[1] = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const int length = snprintf(path, size, "%s%s", program, places[i]);
        if (length > 0 && (size_t)length < size && !access(path, R_OK))
            return path;
    }
    return NULL;
}

int mc_cuda_driver(void)
{
    return dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != NULL;
}

int mc_cuda_expected(void)
{
    char path[8192];
    const char *library = mc_cuda_library(path, sizeof path);

    return library && (library != path || mc_cuda_driver());
}

void mc_backends_describe(char *text, size_t size)
{
    static const char *const isas[] = {"portable", "avx2", "avx512"}; /* in enum mc_isa's order */
    struct mc_error err = {0};
    enum mc_isa isa;
    char path[8192];
    const char *library = mc_cuda_library(path, sizeof path);
    const char *cuda = "not in this build";

    if (library && access(library, R_OK))
        cuda = "the library of MC_CUDA_LIBRARY is missing";
    else if (library)
        cuda = mc_cuda_driver() ? "library and NVIDIA driver found"
                                : "library found, no NVIDIA driver";
    snprintf(text, size, "cpu (%s, oneDNN %d.%d.%d), cuda (%s)",
             mc_isa(&isa, &err) ? err.text : isas[isa], DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR,
             DNNL_VERSION_PATCH, cuda);
}
