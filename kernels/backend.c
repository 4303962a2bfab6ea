/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a backend by its name. */
#include "backend.h"

#include "cpu/cpu.h"

#include <string.h>

int mc_backend_open(struct mc_backend **out, const char *device, int threads, struct mc_error *err)
{
    if (!device || !strcmp(device, "auto") || !strcmp(device, "cpu"))
        return cpu_backend_new(out, threads, err);
    if (!strcmp(device, "cuda") || !strncmp(device, "cuda:", 5))
        return mc_fail(err, MC_EFAIL, "%s: no CUDA backend in this build", device);
    return mc_fail(err, MC_EUSAGE, "unknown device '%s': there are auto, cpu, cuda, cuda:N",
                   device);
}
