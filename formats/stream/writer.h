/* SPDX-License-Identifier: Apache-2.0
 *
 * Write streams. formats/stream/reader.h describes the format. */
#ifndef MC_WRITER_H
#define MC_WRITER_H

#include "formats/stream/history.h"

struct mc_writer;

/* The header of a stream. */
struct mc_header {
    const char *kind;
    const struct mc_pack *meta; /* one packed map, NULL: empty */
    const struct mc_tensor *tensors;
    size_t n_tensors;
};

/* Start a stream at `path`, as mc_output_open. `history` may be NULL; it stays the caller's and
 * must live until the writer is closed. A row must not exceed 32 MiB. */
MC_USE_RESULT int mc_writer_open(struct mc_writer **out, const char *path,
                                 const struct mc_header *header, const struct mc_history *history,
                                 struct mc_error *err);
/* Write the next `rows` rows of tensor i, in records of at most 32 MiB. */
MC_USE_RESULT int mc_writer_rows(struct mc_writer *w, size_t i, uint64_t rows, const void *data,
                                 struct mc_error *err);
/* Write the next bytes of tensor i, in records of as many whole rows as fit in 32 MiB, however the
 * bytes are split. Other tensors may follow only after a whole record. */
MC_USE_RESULT int mc_writer_bytes(struct mc_writer *w, size_t i, const void *data, size_t bytes,
                                  struct mc_error *err);
/* Write a whole tensor. */
MC_USE_RESULT int mc_writer_tensor(struct mc_writer *w, size_t i, const void *data,
                                   struct mc_error *err);
/* If rc, the caller's result so far, is 0, commit: write the end record, end the frame, flush,
 * rename. All tensors must be complete. Otherwise remove the temporary file. Returns rc, or the
 * error of the commit. Frees w, which may be NULL, in any case. id (MC_ID_LEN, may be NULL)
 * receives the content id after a commit. */
MC_USE_RESULT int mc_writer_close(struct mc_writer *w, int rc, char *id, struct mc_error *err);

#endif
