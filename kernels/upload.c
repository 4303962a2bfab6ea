/* SPDX-License-Identifier: Apache-2.0
 *
 * A new buffer of a device that holds what the host has. */
#include "kernels/upload.h"

int mc_upload(struct mc_backend *be, struct mc_buf **out, const void *src, size_t bytes,
              struct mc_error *err)
{
    int rc = be->buf_new(be, bytes ? bytes : sizeof(float), out, err);

    return rc || !bytes ? rc : be->put(be, *out, 0, src, bytes, err);
}
