/* SPDX-License-Identifier: Apache-2.0
 *
 * The one format of every stream: a single zstd frame (checksum on) that holds MessagePack objects
 *
 *     0      header   {"mcz": 1, "kind": str, "meta": map, "tensors": [[name, dtype, shape], ...]}
 *     1      history  [entry, ...]                  (empty with --no-history; outside the content
 * id) 2..    records  {"t": index into tensors, "row": first row, "data": ext 1, "xxh": XXH3-64}
 *     last   end      {"end": records, "id": content id, "inputs": [content id, ...]}
 *
 * `data` is ext type 1, Flax's layout: packed array [shape, dtype name, bytes], little-endian,
 * row-major, the shape with as many rows as this record holds. The rows of one tensor come in
 * order without gaps; records of different tensors may be interleaved; every announced tensor must
 * be complete when the end record comes. No record is over 64 MiB; a writer cuts a tensor's data
 * at 32 MiB. xxh covers the tensor's raw bytes. The content id is the XXH3-128 (32 hex digits) over
 * the decoded bytes of the header and the records, history left out.
 *
 * A reader checks everything against fixed limits before it allocates. formats/README.md is the
 * specification. */
#ifndef MC_READER_H
#define MC_READER_H

#include "formats/stream/pack.h"

struct mc_reader;

/* A part of a tensor: rows [row, row + rows). data stays valid until the next mc_reader_next. */
struct mc_record {
    size_t index;                   /* which of the announced tensors */
    const struct mc_tensor *tensor; /* the whole tensor's name, dtype and shape */
    uint64_t row, rows;
    const void *data; /* 64-byte aligned */
    size_t bytes;
};

/* Open a file, or stdin for "-" (refused with MC_EUSAGE when that is a terminal), and read its
 * header and history. Errors name the path ("stdin" for "-"). The reader's own memory is under
 * 2 records + 16 MiB and grows only as bytes really arrive. */
MC_USE_RESULT int mc_reader_open(struct mc_reader **out, const char *path, struct mc_error *err);
/* Frees everything; ends no error. NULL is fine. */
void mc_reader_close(struct mc_reader *r);

const char *mc_reader_name(const struct mc_reader *r); /* path, or "stdin" */
const char *mc_reader_kind(const struct mc_reader *r);
const msgpack_object *mc_reader_meta(const struct mc_reader *r);    /* a map */
const msgpack_object *mc_reader_history(const struct mc_reader *r); /* an array */
size_t mc_reader_n_tensors(const struct mc_reader *r);
const struct mc_tensor *mc_reader_tensor(const struct mc_reader *r, size_t i);
/* Index of the tensor called so, or -1. */
long mc_reader_find(const struct mc_reader *r, const char *tensor);
/* MC_EINPUT "x.mcz: is a curve stream, not weights" unless the kind is this one. */
MC_USE_RESULT int mc_reader_expect(const struct mc_reader *r, const char *kind,
                                   struct mc_error *err);

/* Next record: 1, or 0 when the end record, the frame's end and the end of input were seen and all
 * is right, or MC_EINPUT "x.mcz: record 12, byte 40960: tensor \"conv3\": checksum mismatch".
 * Errors are sticky. */
MC_USE_RESULT int mc_reader_next(struct mc_reader *r, struct mc_record *rec, struct mc_error *err);
/* The memory of the last record becomes the caller's, who frees it; the reader goes on in what
 * *slab held before: NULL, or what an earlier call gave. *size is the slab's, 0 at first. */
void mc_reader_swap(struct mc_reader *r, void **slab, size_t *size);
/* Read whole tensor(s) to the end of the stream: dst[i] (may be NULL: skipped but checked) receives
 * tensor i, which must be as large as announced. */
MC_USE_RESULT int mc_reader_rest(struct mc_reader *r, void *const *dst, struct mc_error *err);
/* Content id and end inputs, valid after mc_reader_next returned 0; "" before. */
const char *mc_reader_id(const struct mc_reader *r);
size_t mc_reader_n_inputs(const struct mc_reader *r);
const char *mc_reader_input(const struct mc_reader *r, size_t i);
uint64_t mc_reader_records(const struct mc_reader *r);
uint64_t mc_reader_bytes(const struct mc_reader *r); /* compressed bytes taken from the input */

#endif
