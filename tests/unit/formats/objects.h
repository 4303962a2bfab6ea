/* SPDX-License-Identifier: Apache-2.0
 *
 * The MessagePack objects of a decompressed stream, for tests that change them: find the end of
 * one, list the nodes of one, and correct checksums, count and content id. Header only. */
#ifndef MC_TEST_OBJECTS_H
#define MC_TEST_OBJECTS_H

#include "formats/stream/bounds.h"
#include "formats/stream/pack.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

static const struct mc_bounds_limits wide = {
    .bytes = 1 << 20, .objects = 1 << 16, .depth = 200, .ext = 1};

/* The end of the object at `at`; 0 if it has none. */
static inline size_t object_end(const uint8_t *b, size_t n, size_t at)
{
    struct mc_bounds s = {.data = b + at, .have = n - at};
    size_t len = 0;

    return at < n && !mc_bounds_check(&s, &wide, &len, NULL) ? at + len : 0;
}

static inline void put64(uint8_t *to, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)(v >> (56 - 8 * i));
}

/* Correct a record's xxh if it has 8 bytes at the record's end. */
static inline void fix_record(uint8_t *b, size_t n)
{
    msgpack_unpacked whole, inner;
    const msgpack_object *data = NULL;
    size_t at = 0;

    msgpack_unpacked_init(&whole);
    msgpack_unpacked_init(&inner);
    if (n > 9 && b[n - 9] == 0xcf &&
        msgpack_unpack_next(&whole, (char *)b, n, &at) == MSGPACK_UNPACK_SUCCESS &&
        whole.data.type == MSGPACK_OBJECT_MAP && (data = mc_get_opt(&whole.data, "data")) &&
        data->type == MSGPACK_OBJECT_EXT) {
        const uint8_t *body = (const uint8_t *)data->via.ext.ptr;
        const size_t len = data->via.ext.size;
        at = 0;
        if (object_end(body, len, 0) &&
            msgpack_unpack_next(&inner, (const char *)body, len, &at) == MSGPACK_UNPACK_SUCCESS &&
            inner.data.type == MSGPACK_OBJECT_ARRAY && inner.data.via.array.size == 3 &&
            inner.data.via.array.ptr[2].type == MSGPACK_OBJECT_BIN) {
            const msgpack_object_bin *bin = &inner.data.via.array.ptr[2].via.bin;
            put64(b + n - 8, XXH3_64bits(bin->ptr, bin->size));
        }
    }
    msgpack_unpacked_destroy(&whole);
    msgpack_unpacked_destroy(&inner);
}

/* Correct checksums, count and content id as far as the objects can be parsed. */
static inline void fix_checksums(uint8_t *b, size_t n)
{
    static const uint8_t id_key[] = {0xa2, 'i', 'd', 0xd9, 32}, end_key[] = {0xa3, 'e', 'n', 'd'};
    XXH3_state_t *hash = XXH3_createState();
    size_t at = object_end(b, n, 0), history = at ? object_end(b, n, at) : 0, records = 0;

    if (hash && history) {
        XXH3_128bits_reset(hash);
        XXH3_128bits_update(hash, b, at);
        at = history;
        for (size_t end; (end = object_end(b, n, at)); at = end, records++) {
            if (end == n) { /* the end record */
                const XXH128_hash_t h = XXH3_128bits_digest(hash);
                uint8_t *id = memmem(b + at, n - at, id_key, sizeof id_key),
                        *count = memmem(b + at, n - at, end_key, sizeof end_key);
                char text[40];
                snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)h.high64,
                         (unsigned long long)h.low64);
                if (id && id + sizeof id_key + 32 <= b + n)
                    memcpy(id + sizeof id_key, text, 32);
                if (count && count + sizeof end_key < b + n && count[sizeof end_key] < 128 &&
                    records < 128)
                    count[sizeof end_key] = (uint8_t)records;
                break;
            }
            fix_record(b + at, end - at);
            XXH3_128bits_update(hash, b + at, end - at);
        }
    }
    XXH3_freeState(hash);
}

/* List o and all objects below it in nodes. Returns their number. */
static inline size_t list_nodes(msgpack_object *o, msgpack_object **nodes, size_t n, size_t most)
{
    if (n < most)
        nodes[n++] = o;
    if (o->type == MSGPACK_OBJECT_ARRAY)
        for (uint32_t i = 0; i < o->via.array.size; i++)
            n = list_nodes(&o->via.array.ptr[i], nodes, n, most);
    if (o->type == MSGPACK_OBJECT_MAP)
        for (uint32_t i = 0; i < o->via.map.size; i++) {
            n = list_nodes(&o->via.map.ptr[i].key, nodes, n, most);
            n = list_nodes(&o->via.map.ptr[i].val, nodes, n, most);
        }
    return n;
}

#endif
