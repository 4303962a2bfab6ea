/* SPDX-License-Identifier: Apache-2.0
 *
 * A new buffer of a device that holds what the host has. */
#ifndef MC_UPLOAD_H
#define MC_UPLOAD_H

#include "kernels/backend.h"

/* src: `bytes` bytes; without any, a buffer that can be passed on and not read. The caller's to
 * free, also after an error. */
MC_USE_RESULT int mc_upload(struct mc_backend *be, struct mc_buf **out, const void *src,
                            size_t bytes, struct mc_error *err);

#endif
