/* SPDX-License-Identifier: Apache-2.0
 *
 * Encode a stream's objects: one zstd frame, of blocks for networks (formats/README.md). Used by
 * formats/stream/writer.c. */
#ifndef MC_ENCODER_H
#define MC_ENCODER_H

#include "libcommon/base/error.h"

#include <stddef.h>

struct mc_encoder;

/* Open the output at `path`, as mc_output_open, for a stream of this kind. */
MC_USE_RESULT int mc_encoder_open(struct mc_encoder **out, const char *path, const char *kind,
                                  struct mc_error *err);
/* Write bytes of objects, except the data of a record. */
MC_USE_RESULT int mc_encoder_objects(struct mc_encoder *e, const void *data, size_t n,
                                     struct mc_error *err);
/* Before the data of a record: the bytes of a value. */
MC_USE_RESULT int mc_encoder_width(struct mc_encoder *e, size_t width, struct mc_error *err);
/* Write bytes of a record's data, the last ones if `last`. Blocks start at its first value, however
 * the bytes are split. */
MC_USE_RESULT int mc_encoder_values(struct mc_encoder *e, const void *data, size_t n, int last,
                                    struct mc_error *err);
/* If rc, the caller's result so far, is 0, end the frame. Then close the output with the result, as
 * mc_output_close. Frees e, which may be NULL. */
MC_USE_RESULT int mc_encoder_close(struct mc_encoder *e, int rc, struct mc_error *err);

#endif
