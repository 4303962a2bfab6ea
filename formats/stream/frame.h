/* SPDX-License-Identifier: Apache-2.0
 *
 * What the reader, the writer and the history share and nobody else needs: the limits, and a
 * stream's origin. */
#ifndef MC_FRAME_H
#define MC_FRAME_H

#include "formats/stream/bounds.h"
#include "formats/stream/pack.h"

#include <xxhash.h>

struct mc_history;
struct mc_reader;

#define MC_RECORD_MAX ((size_t)64 << 20) /* bytes of a packed record */
#define MC_CUT ((uint64_t)32 << 20)      /* a writer's records hold no more; nor may a row */
#define MC_WINDOW_LOG_MAX 23
#define MC_ZSTD_LEVEL 1
#define MC_KIND_MAX 32

/* A record and the end record have the same, as a reader learns which it is only then. */
extern const struct mc_bounds_limits mc_limits_header, mc_limits_history, mc_limits_record;

/* The content id of a stream that is being read, shared by the reader and the histories that name
 * it as an input. id is "" until the stream's end was seen and found right. */
struct mc_origin {
    int refs;
    char id[MC_ID_LEN];
    char name[256]; /* for errors */
};
void mc_origin_drop(struct mc_origin *o);
/* The reader's own; the caller counts its reference. */
struct mc_origin *mc_reader_origin(struct mc_reader *r);

/* Whether an unpacked history is one: MC_EINPUT otherwise. */
MC_USE_RESULT int mc_history_check(const msgpack_object *list, struct mc_error *err);
/* The list of entries, [] when h is NULL or hidden. */
MC_USE_RESULT int mc_history_pack(const struct mc_history *h, struct mc_pack *p,
                                  struct mc_error *err);
/* [id, ...]: MC_EUSAGE when an input was not read to its end. */
MC_USE_RESULT int mc_history_pack_inputs(const struct mc_history *h, struct mc_pack *p,
                                         struct mc_error *err);

/* The 32 hex digits of a hash. */
void mc_hash_id(XXH128_hash_t h, char id[MC_ID_LEN]);

/* Whether a kind's name is made of a-z, 0-9, - and _, and not too long. */
int mc_kind_ok(const char *kind);
/* 0, or -1 when a tensor cannot be in a stream: mc_tensor_check, and a row over MC_CUT bytes. */
int mc_stream_tensor_check(const struct mc_tensor *t);

#endif
