/* SPDX-License-Identifier: Apache-2.0
 *
 * Internals shared by the reader, the writer and the history: the limits, and a stream's origin. */
#ifndef MC_FRAME_H
#define MC_FRAME_H

#include "formats/stream/bounds.h"
#include "formats/stream/pack.h"

#include <xxhash.h>

struct mc_history;
struct mc_reader;

#define MC_RECORD_MAX ((size_t)64 << 20) /* bytes of a packed record */
#define MC_CUT ((uint64_t)32 << 20)      /* maximum data of a writer's record, and of a row */
#define MC_WINDOW_LOG_MAX 23
#define MC_ZSTD_LEVEL 1
#define MC_ZSTD_BLOCKS_LEVEL (-500) /* for streams of networks, which are in blocks */
#define MC_ZSTD_BLOCKS_WINDOW 17    /* one block of zstd */
#define MC_KIND_MAX 32

/* Format version 3: the frame starts with MC_BLOCKS, and the objects are in blocks: a width (1, 2, 4 or
 * 8), the number of bytes (4 bytes, little-endian), the bytes. If the width is not 1, they are planes
 * (libcommon/base/planes.h) of values of that width. */
#define MC_BLOCKS "\x81\xa3mcz\x03" /* the object {"mcz": 3} */
#define MC_BLOCKS_LEN (sizeof MC_BLOCKS - 1)
#define MC_BLOCK_HEAD 5
#define MC_BLOCK_MAX ((size_t)1 << 20) /* bytes in a block */
#define MC_BLOCK_VALUES 131072 /* values in a writer's block: a plane fills a block of zstd */

/* Records and the end record share limits: a reader can distinguish them only after unpacking. */
extern const struct mc_bounds_limits mc_limits_header, mc_limits_history, mc_limits_record;

/* Content id of a stream that is being read, shared by its reader and the histories that list it as
 * an input. id is "" until the stream's end is verified. */
struct mc_origin {
    int refs;
    char id[MC_ID_LEN];
    char name[256]; /* name in messages */
};
void mc_origin_drop(struct mc_origin *o);
/* The reader's origin. A caller that keeps it must increment refs. */
struct mc_origin *mc_reader_origin(struct mc_reader *r);

/* Check an unpacked history. MC_EINPUT if it is malformed. */
MC_USE_RESULT int mc_history_check(const msgpack_object *list, struct mc_error *err);
/* Pack the list of entries: [] if h is NULL or hidden. */
MC_USE_RESULT int mc_history_pack(const struct mc_history *h, struct mc_pack *p,
                                  struct mc_error *err);
/* The name of the input with the longest history, or NULL if no input has one. */
const char *mc_history_longest(const struct mc_history *h);
/* Pack the inputs, [id, ...]. MC_EUSAGE if an input was not read to its end. */
MC_USE_RESULT int mc_history_pack_inputs(const struct mc_history *h, struct mc_pack *p,
                                         struct mc_error *err);

/* Format a hash as 32 hex digits. */
void mc_hash_id(XXH128_hash_t h, char id[MC_ID_LEN]);

/* 1 if the name is 1 to MC_KIND_MAX characters from a-z, 0-9, - and _. */
int mc_kind_ok(const char *kind);
/* The next command for a stream of kind `got` if `expected` is required, or "". */
const char *mc_kind_hint(const char *expected, const char *got);
/* 0, or -1 if a stream cannot hold the tensor: mc_tensor_check fails, or a row exceeds MC_CUT
 * bytes. */
int mc_stream_tensor_check(const struct mc_tensor *t);

#endif
