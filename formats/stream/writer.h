/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing streams; formats/stream/reader.h describes them. */
#ifndef MC_WRITER_H
#define MC_WRITER_H

#include "formats/stream/history.h"

struct mc_writer;

/* What a stream announces. */
struct mc_header {
    const char *kind;
    const struct mc_pack *meta; /* one packed map; NULL: an empty one */
    const struct mc_tensor *tensors;
    size_t n_tensors;
};

/* Begin a stream at `path`, or stdout for "-" or NULL (refused with MC_EUSAGE when that is a
 * terminal). A regular file is written under a temporary name beside it (stale temporaries of dead
 * runs are removed; a live one's is left alone) and replaces the old one at mc_writer_close; pipes
 * and devices are written directly. `history`
 * (may be NULL) stays the caller's and must live until the writer is closed. No row may be over 32
 * MiB. */
MC_USE_RESULT int mc_writer_open(struct mc_writer **out, const char *path,
                                 const struct mc_header *header, const struct mc_history *history,
                                 struct mc_error *err);
/* The next `rows` rows of tensor i; cut into records of at most 32 MiB. */
MC_USE_RESULT int mc_writer_rows(struct mc_writer *w, size_t i, uint64_t rows, const void *data,
                                 struct mc_error *err);
/* A whole tensor. */
MC_USE_RESULT int mc_writer_tensor(struct mc_writer *w, size_t i, const void *data,
                                   struct mc_error *err);
/* Commit: end record, frame's end, fsync, rename. All tensors must be complete. Frees w whatever
 * comes. id (MC_ID_LEN, may be NULL) receives the content id. */
MC_USE_RESULT int mc_writer_close(struct mc_writer *w, char *id, struct mc_error *err);
/* After a failure: removes the temporary, writes no end record, frees w. NULL is fine. */
void mc_writer_abandon(struct mc_writer *w);

#endif
