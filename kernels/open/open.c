/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a backend by name: the CPU's, which is linked in, or the CUDA library, which is loaded on
 * demand. */
#include "kernels/backend.h"

#include "kernels/abi.h"
#include "kernels/cpu/cpu.h"
#include "kernels/open/backends.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The library stays open: CUDA cannot be unloaded safely. */
static int open_cuda(struct mc_backend **out, int device, const struct mc_backend_opts *o,
                     struct mc_error *err)
{
    char found[8192];
    const char *file = mc_cuda_library(found, sizeof found);
    mc_backend_cuda_new_fn *make = NULL;

    if (!file)
        return mc_fail(err, MC_EFAIL,
                       "cuda: this build has no CUDA backend (see docs/guides/gpu.md)");
    /* CUDA's own libraries are large: load them only if the driver exists */
    if (file == found && !mc_cuda_driver())
        return mc_fail(err, MC_EFAIL, "cuda: no device: the NVIDIA driver is missing");
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return mc_fail(err, MC_EFAIL, "cuda: %s", dlerror());
    void *symbol = dlsym(library, MC_BACKEND_CUDA_NEW);
    if (!symbol)
        return mc_fail(err, MC_EFAIL, "cuda: %s is not a CUDA backend of mc", file);
    memcpy(&make, &symbol, sizeof make); /* ISO C has no conversion from object to function
                                            pointers */
    return make(out, MC_BACKEND_INTERFACE, device, o, err);
}

/* Return N for "cuda" (0) or "cuda:N", otherwise -1. */
static int cuda_device(const char *device)
{
    char *end = NULL;

    if (!strcmp(device, "cuda"))
        return 0;
    if (strncmp(device, "cuda:", 5) || device[5] < '0' || device[5] > '9')
        return -1;
    const long n = strtol(device + 5, &end, 10);
    return *end || n > 1023 ? -1 : (int)n;
}

static int open_cpu(struct mc_backend **out, const struct mc_backend_opts *o, struct mc_error *err)
{
    if (o->precision != MC_PRECISION_F32)
        return mc_fail(err, MC_EUSAGE,
                       "--precision %s: the CPU supports only f32: use --device cuda",
                       mc_precision_names[o->precision]);
    return cpu_backend_new(out, o, err);
}

/* Open the best available backend. If only a GPU supports the precision, report why none opened. */
static int open_any(struct mc_backend **out, const struct mc_backend_opts *o, struct mc_error *err)
{
    struct mc_error reason = {0};
    const int rc = open_cuda(out, 0, o, &reason);

    if (!rc)
        return 0;
    if (o->precision != MC_PRECISION_F32)
        return mc_fail(err, (enum mc_err)rc, "--precision %s: %s", mc_precision_names[o->precision],
                       reason.text);
    const int cpu = open_cpu(out, o, err);
    if (!cpu && mc_cuda_expected())
        (*out)->fallback = reason;
    return cpu;
}

int mc_backend_open(struct mc_backend **out, const struct mc_backend_opts *o, struct mc_error *err)
{
    const char *device = o->device ? o->device : "auto";

    if (!strcmp(device, "auto"))
        return open_any(out, o, err);
    if (!strcmp(device, "cpu"))
        return open_cpu(out, o, err);
    if (cuda_device(device) >= 0)
        return open_cuda(out, cuda_device(device), o, err);
    return mc_fail(err, MC_EUSAGE, "unknown device '%s' (one of: auto, cpu, cuda, cuda:N)", device);
}
