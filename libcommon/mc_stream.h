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
#ifndef MC_STREAM_H
#define MC_STREAM_H

#include "mc_error.h"
#include "mc_tensor.h"

#include <msgpack.h>

#define MC_FORMAT_VERSION 1
#define MC_ID_LEN 33 /* content id with its final 0 */

/* ---- packing and looking into MessagePack maps ------------------------------------------------
 */

/* A buffer that MessagePack is packed into. Memory failures are sticky: `failed` is checked by
 * whoever consumes it. Zero-initialised is not valid: mc_pack_init first. */
struct mc_pack {
    msgpack_sbuffer buf;
    msgpack_packer pk;
    int failed;
};
void mc_pack_init(struct mc_pack *p);
void mc_pack_release(struct mc_pack *p);
void mc_pack_map(struct mc_pack *p, size_t n);
void mc_pack_array(struct mc_pack *p, size_t n);
void mc_pack_str(struct mc_pack *p, const char *s);
void mc_pack_u64(struct mc_pack *p, uint64_t v);
void mc_pack_i64(struct mc_pack *p, int64_t v);
void mc_pack_f64(struct mc_pack *p, double v);
/* As the shortest decimal that is this float, made a double: .4914, not 0.49140000343322754, so
 * that another program computes with the number that was meant. */
void mc_pack_f32(struct mc_pack *p, float v);
void mc_pack_bool(struct mc_pack *p, int v);
/* An object that is already packed in `from`. */
void mc_pack_raw(struct mc_pack *p, const struct mc_pack *from);
void mc_pack_object(struct mc_pack *p, const msgpack_object *o);

/* Looking up: all return 0, or MC_EINPUT with a sentence that names the key. Text must be NUL-free
 * UTF-8; numbers must fit. A missing key is an error; mc_get_opt gives NULL instead. */
const msgpack_object *mc_get_opt(const msgpack_object *map, const char *key);
MC_USE_RESULT int mc_get_map(const msgpack_object *map, const char *key, const msgpack_object **out,
                             struct mc_error *err);
MC_USE_RESULT int mc_get_array(const msgpack_object *map, const char *key,
                               const msgpack_object **out, struct mc_error *err);
MC_USE_RESULT int mc_get_str(const msgpack_object *map, const char *key, char *out, size_t size,
                             struct mc_error *err);
MC_USE_RESULT int mc_get_u64(const msgpack_object *map, const char *key, uint64_t max,
                             uint64_t *out, struct mc_error *err);
MC_USE_RESULT int mc_get_f64(const msgpack_object *map, const char *key, double *out,
                             struct mc_error *err); /* finite; integers count as numbers */
MC_USE_RESULT int mc_get_bool(const msgpack_object *map, const char *key, int *out,
                              struct mc_error *err);

/* ---- history ----------------------------------------------------------------------------------
 */

struct mc_reader;

/* Where a stream comes from: a list of {tool, version, args, parents: [earlier indices]}, the last
 * entry being the run that writes. Equal entries are kept once, so a merge keeps every parent. Only
 * what decides the result belongs in it: arguments, and what a backend computes with
 * (mc_computing.h); no paths, dates or hosts. */
struct mc_history;

/* New history for a run of `tool` (version MC_VERSION). Returns NULL when out of memory. */
struct mc_history *mc_history_new(const char *tool);
void mc_history_free(struct mc_history *h);
/* Arguments, in the order they are given. */
void mc_history_str(struct mc_history *h, const char *name, const char *value);
void mc_history_int(struct mc_history *h, const char *name, int64_t value);
void mc_history_num(struct mc_history *h, const char *name, double value);
/* The run reads this stream: its history becomes a parent now, its content id is taken when the
 * output is closed or the reader is closed, whichever comes first (it is known at its end). An
 * output whose input was not read to its end is refused at mc_writer_close. */
void mc_history_input(struct mc_history *h, struct mc_reader *r);
/* The content ids of the two networks that a permutation was found between: arguments "a" and "b"
 * of a stream's run, or of those before it from which mc-hungarian and mc-corr made it. 1, or 0 and
 * "" where the history does not say. */
int mc_history_pair(const msgpack_object *history, char pair[2][MC_ID_LEN]);
void mc_history_note_pair(struct mc_history *h, const char *a, const char *b);
/* --no-history: nothing of the above is written but the input ids. */
void mc_history_hide(struct mc_history *h);

/* ---- reading ----------------------------------------------------------------------------------
 */

/* A piece of a tensor: rows [row, row + rows). data stays valid until the next mc_reader_next. */
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
/* Read whole tensor(s) to the end of the stream: dst[i] (may be NULL: skipped but checked) receives
 * tensor i, which must be as large as announced. */
MC_USE_RESULT int mc_reader_rest(struct mc_reader *r, void *const *dst, struct mc_error *err);
/* Content id and end inputs, valid after mc_reader_next returned 0; "" before. */
const char *mc_reader_id(const struct mc_reader *r);
size_t mc_reader_n_inputs(const struct mc_reader *r);
const char *mc_reader_input(const struct mc_reader *r, size_t i);
uint64_t mc_reader_records(const struct mc_reader *r);
uint64_t mc_reader_bytes(const struct mc_reader *r); /* compressed bytes taken from the input */

/* ---- writing ----------------------------------------------------------------------------------
 */

struct mc_writer;

/* Begin a stream at `path`, or stdout for "-" or NULL (refused with MC_EUSAGE when that is a
 * terminal). A regular file is written under a temporary name beside it (stale temporaries of dead
 * runs are removed; a live one's is left alone) and replaces the old one at mc_writer_close; pipes
 * and devices are written directly. `meta` holds one packed map; NULL is an empty one. `history`
 * (may be NULL) stays the caller's and must live until the writer is closed. No row may be over 32
 * MiB.
 */
MC_USE_RESULT int mc_writer_open(struct mc_writer **out, const char *path, const char *kind,
                                 const struct mc_pack *meta, const struct mc_tensor *tensors,
                                 size_t n_tensors, const struct mc_history *history,
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

/* Install handlers that remove the temporaries on SIGINT, SIGTERM, SIGHUP and then die of the
 * signal. Programs call it once, first thing. */
void mc_stream_catch_signals(void);

#endif
