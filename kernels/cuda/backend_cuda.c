/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA backend's door: which device, and whether it can be had. */
#include "door.h"

#include <cuda_runtime_api.h>

static int find_device(int device, struct mc_error *err)
{
    int n = 0;
    const cudaError_t rc = cudaGetDeviceCount(&n);

    if (rc != cudaSuccess)
        return mc_fail(err, MC_EFAIL, "cuda: no device: %s", cudaGetErrorString(rc));
    if (device >= n)
        return mc_fail(err, MC_EFAIL, "cuda:%d: there %s %d device%s", device,
                       n == 1 ? "is" : "are", n, n == 1 ? "" : "s");
    return 0;
}

int mc_backend_cuda_new(struct mc_backend **out, uint32_t interface, int device,
                        struct mc_error *err)
{
    (void)out;
    if (interface != MC_BACKEND_INTERFACE)
        return mc_fail(err, MC_EFAIL, "cuda: the CUDA library was built for another version");
    int rc = find_device(device, err);
    if (rc)
        return rc;
    return mc_fail(err, MC_EFAIL, "cuda: the CUDA backend of this build is not complete yet");
}
