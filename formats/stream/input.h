/* SPDX-License-Identifier: Apache-2.0
 *
 * Decode an input, which must be exactly one zstd frame with a checksum and a window of at most 8
 * MiB. Used by formats/stream/reader.h. Also: the message for inputs in PyTorch's own format. */
#ifndef MC_INPUT_H
#define MC_INPUT_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* How to convert a file that torch.save wrote. */
#define MC_INPUT_FROM_TORCH                                                                        \
    "convert it with safetensors.torch.save_file(net.state_dict(), FILE), or with "                \
    "python -m mcz.torch export"
struct mc_input;

/* Open a file, or stdin if path is "-" (MC_EUSAGE if that is a terminal). Errors name the path. */
MC_USE_RESULT int mc_input_open(struct mc_input **out, const char *path, struct mc_error *err);
void mc_input_close(struct mc_input *in);

/* Read exactly n decoded bytes. Errors of this function and the next do not name the path. */
MC_USE_RESULT int mc_input_read(struct mc_input *in, void *dst, size_t n, struct mc_error *err);
/* Check that the frame ends here with its checksum, and the input with it. */
MC_USE_RESULT int mc_input_finish(struct mc_input *in, struct mc_error *err);

/* Bytes of the input decoded so far. */
uint64_t mc_input_bytes(const struct mc_input *in);

#endif
