/* SPDX-License-Identifier: Apache-2.0
 *
 * Pack MessagePack, and look up keys of its maps. */
#ifndef MC_PACK_H
#define MC_PACK_H

#include "libcommon/base/error.h"
#include "libcommon/base/tensor.h"

#include <msgpack.h>

#define MC_FORMAT_VERSION 3 /* the latest: formats/README.md has the rule */

/* A buffer of packed MessagePack. `failed` is set for good by an allocation failure and is checked
 * by the consumer. Call mc_pack_init first: zero is not a valid state. */
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
/* Pack the shortest decimal that rounds to this float, as a double: .4914, not 0.49140000343322754.
 * Other programs then compute with the number that was meant. */
void mc_pack_f32(struct mc_pack *p, float v);
void mc_pack_bool(struct mc_pack *p, int v);
/* Pack a key of an open map, and its value or the length of its array. */
void mc_put_str(struct mc_pack *p, const char *key, const char *value);
void mc_put_u64(struct mc_pack *p, const char *key, uint64_t value);
void mc_put_array(struct mc_pack *p, const char *key, size_t n);
/* Append packed objects. */
void mc_pack_raw(struct mc_pack *p, const struct mc_pack *from);
void mc_pack_object(struct mc_pack *p, const msgpack_object *o);

/* 1 if the object is this string. */
int mc_is_str(const msgpack_object *o, const char *text);
/* 1 if the object is a content id, 32 lower-case hex digits. */
int mc_is_id(const msgpack_object *o);

/* Look up a key. Returns 0, or MC_EINPUT with a message that names the key if it is missing or has
 * another type. Text must be UTF-8 without NUL; numbers must fit. mc_get_opt returns NULL for a
 * missing key. */
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
                             struct mc_error *err); /* finite; integers are accepted */

/* A table of the keys of a map whose values are members of a struct, in the stream's order. It
 * serves packing, unpacking and limits. */
enum mc_key_type {
    MC_KEY_TEXT,
    MC_KEY_COUNT, /* 0 or more, in an integer of 4 or 8 bytes */
    MC_KEY_FLAG,  /* an int */
    MC_KEY_F32,
    MC_KEY_F64
};
struct mc_key {
    const char *key;
    enum mc_key_type type;
    size_t offset, size; /* the member's */
    uint64_t max;        /* maximum count; or bytes of a text with its NUL, 0: size */
};
#define MC_KEY(record, member, key, type, max)                                                     \
    {                                                                                              \
        key, type, offsetof(record, member), sizeof(((record *)0)->member), max                    \
    }
/* Pack n keys of an open map from the struct at `base`. */
void mc_keys_pack(struct mc_pack *p, const struct mc_key *keys, size_t n, const void *base);
/* Unpack them into the struct at `base`. Errors as for mc_get_str. */
MC_USE_RESULT int mc_keys_unpack(const msgpack_object *map, const struct mc_key *keys, size_t n,
                                 void *base, struct mc_error *err);

#endif
