/* SPDX-License-Identifier: Apache-2.0
 *
 * Packing MessagePack, and looking into its maps. */
#ifndef MC_PACK_H
#define MC_PACK_H

#include "libcommon/base/error.h"
#include "libcommon/base/tensor.h"

#include <msgpack.h>

#define MC_FORMAT_VERSION 1

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
/* A key of an open map, and its value or the length of the array that is its value. */
void mc_put_str(struct mc_pack *p, const char *key, const char *value);
void mc_put_u64(struct mc_pack *p, const char *key, uint64_t value);
void mc_put_array(struct mc_pack *p, const char *key, size_t n);
/* An object that is already packed in `from`. */
void mc_pack_raw(struct mc_pack *p, const struct mc_pack *from);
void mc_pack_object(struct mc_pack *p, const msgpack_object *o);

/* Whether an object is a string, and this one. */
int mc_is_str(const msgpack_object *o, const char *text);

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

/* The keys of a map whose values are the members of a struct, in the order in which streams hold
 * them: packed, unpacked and bounded by one table. */
enum mc_key_type {
    MC_KEY_TEXT,  /* a char array */
    MC_KEY_COUNT, /* 0 or more, in an integer of 4 or 8 bytes */
    MC_KEY_FLAG,  /* an int */
    MC_KEY_F32,
    MC_KEY_F64
};
struct mc_key {
    const char *key;
    enum mc_key_type type;
    size_t offset, size; /* of the member */
    uint64_t max; /* a count's greatest; a text's bytes with its final 0, or 0: all of size */
};
#define MC_KEY(record, member, key, type, max)                                                     \
    {                                                                                              \
        key, type, offsetof(record, member), sizeof(((record *)0)->member), max                    \
    }
/* n keys of an open map, from the struct at `base`. */
void mc_keys_pack(struct mc_pack *p, const struct mc_key *keys, size_t n, const void *base);
/* Errors as of the functions above. */
MC_USE_RESULT int mc_keys_unpack(const msgpack_object *map, const struct mc_key *keys, size_t n,
                                 void *base, struct mc_error *err);

#endif
