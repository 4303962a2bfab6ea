/* SPDX-License-Identifier: Apache-2.0
 *
 * The decoded bytes of an input that must be exactly one zstd frame with a checksum and a window of
 * at most 8 MiB, which the reader of formats/stream/reader.h uses; and what others say of inputs
 * that are PyTorch's. */
#ifndef MC_INPUT_H
#define MC_INPUT_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* What is told of a file of torch.save's. */
#define MC_INPUT_FROM_TORCH                                                                        \
    "becomes a file for mc-convert by python -m mcz.torch export, or by "                          \
    "safetensors.torch.save_file(net.state_dict(), FILE)"

struct mc_input;

/* A file, or stdin for "-" (MC_EUSAGE when that is a terminal). Errors name the path. */
MC_USE_RESULT int mc_input_open(struct mc_input **out, const char *path, struct mc_error *err);
void mc_input_close(struct mc_input *in);

/* Exactly n decoded bytes, or an error; errors of this and the next do not name the path. */
MC_USE_RESULT int mc_input_read(struct mc_input *in, void *dst, size_t n, struct mc_error *err);
/* The frame must end here with its checksum, and the input with it. */
MC_USE_RESULT int mc_input_finish(struct mc_input *in, struct mc_error *err);

/* Bytes of the input that were decoded so far. */
uint64_t mc_input_bytes(const struct mc_input *in);

#endif
