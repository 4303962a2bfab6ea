/* SPDX-License-Identifier: Apache-2.0
 *
 * The format of every stream: one zstd frame (with a checksum) of MessagePack objects
 *
 *     0      header   {"mcz": 1, "kind": str, "meta": map, "tensors": [[name, dtype, shape], ...]}
 *     1      history  [entry, ...]
 *     2..    records  {"t": index into tensors, "row": first row, "data": ext 1, "xxh": XXH3-64}
 *     last   end      {"end": records, "id": content id, "inputs": [content id, ...]}
 *
 * formats/README.md is the specification. `data` is ext type 1, Flax's layout: the packed array
 * [shape, dtype name, bytes], little-endian, row-major; shape[0] counts the record's rows. A
 * tensor's rows come in order without gaps. Records of different tensors may be interleaved. Every
 * announced tensor must be complete at the end record. A record is at most 64 MiB; a writer splits
 * a tensor's data at 32 MiB. xxh is the hash of the tensor's raw bytes. The content id is the
 * XXH3-128 (32 hex digits) of the decoded header and records; the history is excluded.
 *
 * A reader checks everything against fixed limits before it allocates. Data is valid only when the
 * whole stream was read: a program must not write its result, or exit with 0, before mc_reader_next
 * has returned 0 or mc_reader_rest has succeeded. A pipe that breaks is noticed only there.
 *
 *     struct mc_reader *r = NULL;
 *     struct mc_record record;
 *
 *     if ((rc = mc_reader_open(&r, path, err)) || (rc = mc_reader_expect(r, "moments", err)))
 *         goto out;
 *     while ((rc = mc_reader_next(r, &record, err)) > 0)
 *         use(record.tensor->name, record.row, record.data);
 * out:
 *     mc_reader_close(r); */
#ifndef MC_READER_H
#define MC_READER_H

#include "formats/stream/pack.h"

struct mc_reader;

/* Rows [row, row + rows) of a tensor. data is valid until the next mc_reader_next. */
struct mc_record {
    size_t index;                   /* index of the tensor */
    const struct mc_tensor *tensor; /* the whole tensor's name, dtype and shape */
    uint64_t row, rows;
    const void *data; /* 64-byte aligned */
    size_t bytes;
};

/* Open a file, or stdin if path is "-" (MC_EUSAGE if that is a terminal), and read its header and
 * history. Errors name the path ("stdin" for "-"). The reader uses less than 2 records + 16 MiB,
 * and its memory grows only as bytes arrive. */
MC_USE_RESULT int mc_reader_open(struct mc_reader **out, const char *path, struct mc_error *err);
/* Free r, which may be NULL. */
void mc_reader_close(struct mc_reader *r);

const char *mc_reader_name(const struct mc_reader *r); /* path, or "stdin" */
const char *mc_reader_kind(const struct mc_reader *r);
const msgpack_object *mc_reader_meta(const struct mc_reader *r);    /* a map */
const msgpack_object *mc_reader_history(const struct mc_reader *r); /* an array */
size_t mc_reader_n_tensors(const struct mc_reader *r);
const struct mc_tensor *mc_reader_tensor(const struct mc_reader *r, size_t i);
/* Index of the tensor with this name, or -1. */
long mc_reader_find(const struct mc_reader *r, const char *tensor);
/* MC_EINPUT "x.mcz: moments expected, got weights: run mc-acts first" unless the kind matches. */
MC_USE_RESULT int mc_reader_expect(const struct mc_reader *r, const char *kind,
                                   struct mc_error *err);

/* Read the next record. Returns 1, or 0 if the end record, the frame and the input end here and are
 * valid, or MC_EINPUT "x.mcz: record 12, byte 40960: tensor \"conv3\": checksum mismatch". An error
 * is permanent. */
MC_USE_RESULT int mc_reader_next(struct mc_reader *r, struct mc_record *rec, struct mc_error *err);
/* Give the last record's memory to the caller, who frees it. The reader continues in *slab of *size
 * bytes: NULL and 0, or what an earlier call returned. */
void mc_reader_swap(struct mc_reader *r, void **slab, size_t *size);
/* Read to the end of the stream. dst[i] receives the whole tensor i and must have its announced
 * size; if NULL, the tensor is checked and skipped. */
MC_USE_RESULT int mc_reader_rest(struct mc_reader *r, void *const *dst, struct mc_error *err);
/* Content id and inputs of the end record. Valid after mc_reader_next returned 0; "" before. */
const char *mc_reader_id(const struct mc_reader *r);
size_t mc_reader_n_inputs(const struct mc_reader *r);
const char *mc_reader_input(const struct mc_reader *r, size_t i);
uint64_t mc_reader_records(const struct mc_reader *r);
uint64_t mc_reader_bytes(const struct mc_reader *r); /* compressed bytes read */

#endif
