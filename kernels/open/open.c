/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a backend by its name: the CPU's, which every program has, or the CUDA library, which is
 * looked for when it is wanted. */
#include "kernels/backend.h"

#include "kernels/abi.h"
#include "kernels/cpu/cpu.h"
#include "kernels/open/backends.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The library stays open: CUDA does not like to be unloaded. */
static int open_cuda(struct mc_backend **out, int device, const struct mc_backend_opts *o,
                     struct mc_error *err)
{
    char found[8192];
    const char *file = mc_cuda_library(found, sizeof found);
    mc_backend_cuda_new_fn *make = NULL;

    if (!file)
        return mc_fail(err, MC_EFAIL, "cuda: no CUDA backend in this build");
    /* the driver's own library; CUDA's, which are large, are loaded only where it is */
    if (file == found && !mc_cuda_driver())
        return mc_fail(err, MC_EFAIL, "cuda: no device: there is no NVIDIA driver here");
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return mc_fail(err, MC_EFAIL, "cuda: %s", dlerror());
    void *symbol = dlsym(library, MC_BACKEND_CUDA_NEW);
    if (!symbol)
        return mc_fail(err, MC_EFAIL, "cuda: %s is no backend of this suite", file);
    memcpy(&make, &symbol, sizeof make); /* ISO C converts no object's address to a function's */
    return make(out, MC_BACKEND_INTERFACE, device, o, err);
}

/* "cuda" or "cuda:N" -> N; -1: neither. */
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
                       "--precision %s: the CPU computes in f32; the others need --device cuda",
                       mc_precision_names[o->precision]);
    return cpu_backend_new(out, o, err);
}

/* Where only a device will do, why there is none is what to say. */
static int open_any(struct mc_backend **out, const struct mc_backend_opts *o, struct mc_error *err)
{
    struct mc_error why = {0};

    if (!MC_CUDA_PROVEN)
        return open_cpu(out, o, err);
    const int rc = open_cuda(out, 0, o, &why);
    if (rc && o->precision != MC_PRECISION_F32)
        return mc_fail(err, (enum mc_err)rc, "--precision %s: %s", mc_precision_names[o->precision],
                       why.text);
    return rc ? open_cpu(out, o, err) : 0;
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
    return mc_fail(err, MC_EUSAGE, "unknown device '%s': there are auto, cpu, cuda, cuda:N",
                   device);
}
