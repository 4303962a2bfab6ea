/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz streams. An input is a whole stream, compressed as on disk. The decompressed bytes or
 * MessagePack objects are damaged; objects keep their form. Blocks are taken apart first and put
 * together again. Usually the checksums, count and content id are then corrected, so that the
 * damage passes the framing and reaches the codec of its kind. */
#include "tests/fuzz/fuzz.h"

#include "formats/stream/frame.h"
#include "libcommon/base/planes.h"
#include "tests/unit/formats/kinds.h"
#include "tests/unit/formats/objects.h"

#include <math.h>
#include <zstd.h>

/* ---- damage that keeps the form of objects ---- */

/* Replace a pointer's bytes by mutated ones in the zone. */
static void change_text(const struct fuzz_target *t, msgpack_zone *zone, const char **ptr,
                        uint32_t *size)
{
    const size_t most = *size + 64;
    char *to = msgpack_zone_malloc(zone, most);

    if (!to)
        return;
    if (*size)
        memcpy(to, *ptr, *size);
    *size = (uint32_t)fuzz_bytes(t, (uint8_t *)to, *size, most);
    *ptr = to;
}

/* Add an element, a copy of another, or remove one. */
static void change_count(msgpack_zone *zone, void **ptr, uint32_t *n, size_t size)
{
    char *to = msgpack_zone_malloc(zone, (*n + 1) * size);
    const size_t at = fuzz_below(*n + 1), from = fuzz_below(*n + 1);

    if (!to || !*n)
        return;
    if (fuzz_below(2)) {
        memcpy(to, *ptr, at * size);
        memcpy(to + at * size, (char *)*ptr + (from < *n ? from : 0) * size, size);
        memcpy(to + (at + 1) * size, (char *)*ptr + at * size, (*n - at) * size);
        ++*n;
    } else {
        memcpy(to, *ptr, *n * size);
        if (at < *n)
            memmove(to + at * size, to + (at + 1) * size, (*n - at - 1) * size);
        --*n;
    }
    *ptr = to;
}

static void change_node(const struct fuzz_target *t, msgpack_zone *zone, msgpack_object *o)
{
    static const double reals[] = {0, -0.0, .5, 1, -1, 1e-300, 1e300, 3e38, 1e39, INFINITY, NAN};
    const uint64_t number = fuzz_below(3) == 0 ? fuzz_below(8)
                            : fuzz_below(2)    ? (uint64_t)1 << fuzz_below(64)
                                               : UINT64_MAX >> fuzz_below(64);

    switch (fuzz_below(4) ? o->type : fuzz_below(8)) {
    case MSGPACK_OBJECT_STR:
        if (o->type == MSGPACK_OBJECT_STR)
            change_text(t, zone, &o->via.str.ptr, &o->via.str.size);
        break;
    case MSGPACK_OBJECT_BIN:
        if (o->type == MSGPACK_OBJECT_BIN)
            change_text(t, zone, &o->via.bin.ptr, &o->via.bin.size);
        break;
    case MSGPACK_OBJECT_EXT:
        change_text(t, zone, &o->via.ext.ptr, &o->via.ext.size);
        break;
    case MSGPACK_OBJECT_ARRAY:
        if (o->type == MSGPACK_OBJECT_ARRAY)
            change_count(zone, (void **)&o->via.array.ptr, &o->via.array.size,
                         sizeof *o->via.array.ptr);
        break;
    case MSGPACK_OBJECT_MAP:
        if (o->type == MSGPACK_OBJECT_MAP)
            change_count(zone, (void **)&o->via.map.ptr, &o->via.map.size, sizeof *o->via.map.ptr);
        break;
    case MSGPACK_OBJECT_NIL:
    case MSGPACK_OBJECT_BOOLEAN:
        o->type = fuzz_below(4) ? MSGPACK_OBJECT_BOOLEAN : MSGPACK_OBJECT_NIL;
        o->via.boolean = fuzz_below(2);
        break;
    case MSGPACK_OBJECT_FLOAT64:
        o->type = MSGPACK_OBJECT_FLOAT64;
        o->via.f64 = reals[fuzz_below(sizeof reals / sizeof *reals)];
        break;
    default:
        o->type = fuzz_below(8) ? MSGPACK_OBJECT_POSITIVE_INTEGER : MSGPACK_OBJECT_NEGATIVE_INTEGER;
        o->via.u64 =
            o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER ? number | (uint64_t)1 << 63 : number;
    }
}

/* Damage a record's [shape, dtype, bytes]. */
static void change_inside(const struct fuzz_target *t, msgpack_zone *zone, msgpack_object *ext)
{
    static msgpack_object *nodes[64];
    msgpack_sbuffer out;
    msgpack_packer pk;
    msgpack_object o;
    size_t at = 0;

    if (!object_end((const uint8_t *)ext->via.ext.ptr, ext->via.ext.size, 0) ||
        msgpack_unpack(ext->via.ext.ptr, ext->via.ext.size, &at, zone, &o) < 0)
        return;
    change_node(t, zone, nodes[fuzz_below(list_nodes(&o, nodes, 0, 64))]);
    msgpack_sbuffer_init(&out);
    msgpack_packer_init(&pk, &out, msgpack_sbuffer_write);
    char *to = msgpack_pack_object(&pk, o) ? NULL : msgpack_zone_malloc(zone, out.size + 1);
    if (to) {
        memcpy(to, out.data, out.size);
        ext->via.ext.ptr = to;
        ext->via.ext.size = (uint32_t)out.size;
    }
    msgpack_sbuffer_destroy(&out);
}

/* Change, repeat, move or remove one of the consecutive objects in x. */
static size_t change_objects(const struct fuzz_target *t, uint8_t *x, size_t n)
{
    static msgpack_object top[64], *nodes[4096];
    size_t count = 0, from = 0, rest = 0;
    msgpack_sbuffer out;
    msgpack_packer pk;
    msgpack_zone zone;
    int failed = 0;

    if (!msgpack_zone_init(&zone, 8192))
        return n;
    for (size_t end; count < 64 && (end = object_end(x, n, from)); from = end, count++) {
        size_t at = 0;
        if (msgpack_unpack((char *)x + from, end - from, &at, &zone, &top[count]) < 0)
            break;
    }
    msgpack_sbuffer_init(&out);
    msgpack_packer_init(&pk, &out, msgpack_sbuffer_write);
    if (count) {
        const size_t k = fuzz_below(2) ? 0 : fuzz_below(count), action = fuzz_below(16);
        const size_t other = fuzz_below(count);
        const size_t n_nodes = list_nodes(&top[k], nodes, 0, 4096), which = fuzz_below(n_nodes);
        msgpack_object *o = nodes[which];
        if (action < 1) { /* reorder */
            const msgpack_object was = top[k];
            top[k] = top[other];
            top[other] = was;
        } else if (action < 4) {
            /* only later nodes, so that no node contains itself */
            *o = *nodes[which + fuzz_below(n_nodes - which)];
        } else if (o->type == MSGPACK_OBJECT_EXT && fuzz_below(4)) {
            change_inside(t, &zone, o);
        } else {
            change_node(t, &zone, o);
        }
        rest = action == 4 ? k : count; /* remove */
        for (size_t i = 0; i < count && !failed; i++)
            failed = i == rest ? 0 : msgpack_pack_object(&pk, top[i]);
        if (!failed && action == 5)
            failed = msgpack_pack_object(&pk, top[other]);
    }
    if (out.size && !failed && out.size + (n - from) <= FUZZ_MAX) {
        memmove(x + out.size, x + from, n - from);
        memcpy(x, out.data, out.size);
        n = out.size + (n - from);
    }
    msgpack_sbuffer_destroy(&out);
    msgpack_zone_destroy(&zone);
    return n;
}

/* ---- blocks (formats/README.md) ---- */

/* Put the objects in the blocks of x at `to`. Returns their size; 0 if x is not in valid blocks. */
static size_t join_blocks(const uint8_t *x, size_t n, uint8_t *to)
{
    size_t size = 0;

    if (n < MC_BLOCKS_LEN || memcmp(x, MC_BLOCKS, MC_BLOCKS_LEN) != 0)
        return 0;
    for (size_t at = MC_BLOCKS_LEN, len; at < n; at += len, size += len) {
        const size_t width = x[at];
        if (n - at <= MC_BLOCK_HEAD || x[at + 3] || x[at + 4] || !width || width > 8 ||
            (width & (width - 1)))
            return 0;
        len = x[at + 1] | (size_t)x[at + 2] << 8;
        at += MC_BLOCK_HEAD;
        if (!len || len > n - at || len % width)
            return 0;
        if (width > 1)
            mc_planes_join(width, len / width, x + at, to + size);
        else
            memcpy(to + size, x + at, len);
    }
    return size;
}

/* Put x in blocks of random widths and lengths at `to`, which has room for 6 n + MC_BLOCKS_LEN
 * bytes. Returns their size. */
static size_t split_blocks(const uint8_t *x, size_t n, uint8_t *to)
{
    size_t size = MC_BLOCKS_LEN;

    memcpy(to, MC_BLOCKS, MC_BLOCKS_LEN);
    for (size_t at = 0, len; at < n; at += len) {
        size_t width = (size_t)1 << fuzz_below(4);
        len = 1 + fuzz_below((size_t)1 << fuzz_below(16));
        len = len < n - at ? len : n - at;
        width = len < width ? 1 : width;
        len -= len % width;
        const uint8_t head[MC_BLOCK_HEAD] = {(uint8_t)width, len & 255, len >> 8 & 255};
        memcpy(to + size, head, sizeof head);
        size += sizeof head;
        if (width > 1)
            mc_planes_split(width, len / width, x + at, to + size);
        else
            memcpy(to + size, x + at, len);
        size += len;
    }
    return size;
}

/* ---- the targets ---- */

/* Frames of zstd before version 0.8 have another magic number and unlimited windows. */
static int is_frame(const uint8_t *x, size_t n)
{
    static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd};

    return n >= sizeof magic && !memcmp(x, magic, sizeof magic);
}

static size_t mutate(const struct fuzz_target *t, uint8_t *x, size_t n, size_t most)
{
    static uint8_t raw[2 * FUZZ_MAX], blocks[6 * FUZZ_MAX + MC_BLOCKS_LEN];
    static ZSTD_DCtx *d;
    static ZSTD_CCtx *z;

    if (!d) {
        d = ZSTD_createDCtx();
        z = ZSTD_createCCtx();
        ZSTD_DCtx_setParameter(d, ZSTD_d_windowLogMax, MC_WINDOW_LOG_MAX);
        ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
        ZSTD_CCtx_setParameter(z, ZSTD_c_contentSizeFlag, 0);
        ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, 1);
    }
    ZSTD_inBuffer in = {x, n, 0};
    ZSTD_outBuffer out = {raw, FUZZ_MAX, 0};
    ZSTD_DCtx_reset(d, ZSTD_reset_session_only);
    if (!is_frame(x, n) || ZSTD_isError(ZSTD_decompressStream(d, &out, &in)) || !out.pos)
        return fuzz_bytes(t, x, n, most);
    size_t size = out.pos;
    /* else damage the blocks themselves */
    const size_t joined = fuzz_below(4) ? join_blocks(raw, size, blocks) : 0;
    if (joined)
        memcpy(raw, blocks, size = joined);
    const int split = joined ? fuzz_below(8) != 0 : !fuzz_below(32);
    do
        size = fuzz_below(4) ? change_objects(t, raw, size) : fuzz_bytes(t, raw, size, FUZZ_MAX);
    while (!fuzz_below(4));
    if (fuzz_below(8))
        fix_checksums(raw, size);
    if (split)
        size = split_blocks(raw, size, blocks);
    const size_t packed = ZSTD_compress2(z, x, most, split ? blocks : raw, size);
    return ZSTD_isError(packed) ? 0 : packed;
}

static int take(const struct fuzz_target *t, const uint8_t *x, size_t n, struct mc_error *err)
{
    const int rc = fuzz_put(0, x, n, n, err);

    return rc ? rc : t->read(fuzz_paths[0], err);
}

/* Read a stream of any kind, and its history, as mc-info does. */
static int read_any(const char *path, struct mc_error *err)
{
    struct mc_reader *r = NULL;
    int rc = mc_reader_open(&r, path, err);

    if (!rc)
        rc = mc_reader_rest(r, NULL, err);
    mc_reader_close(r);
    return rc;
}

/* Derive the groups of an untrusted graph too. */
static int read_network(const char *path, struct mc_error *err)
{
    struct mc_symmetry s = {0};
    struct mc_weights w = {0};
    int rc = mc_weights_read(&w, (struct mc_stream){.path = path}, NULL, err);

    if (!rc)
        rc = mc_symmetry_derive(&s, w.graph, err);
    mc_symmetry_release(&s);
    mc_weights_release(&w);
    return rc;
}

/* MessagePack tags, and keys */
static const char *const words[] = {
    "\x7f", "\x80", "\x81", "\x8f", "\x90", "\x91", "\x9f", "\xa0",  "\xa1",  "\xbf",   "\xc0",
    "\xc2", "\xc3", "\xc4", "\xc6", "\xc7", "\xc9", "\xca", "\xcb",  "\xcc",  "\xcd",   "\xce",
    "\xcf", "\xd0", "\xd3", "\xd4", "\xd9", "\xdb", "\xdc", "\xdd",  "\xde",  "\xdf",   "\xe0",
    "\xff", "conv", "relu", "add",  "mul",  "/",    "bn",   "float", "uint8", "linear", NULL};

#define STREAM(kind, read)                                                                         \
    {                                                                                              \
        kind, words, take, mutate, read                                                            \
    }
const struct fuzz_target fuzz_streams[] = {STREAM("stream", read_any),
                                           STREAM("dataset", read_dataset),
                                           STREAM("weights", read_network),
                                           STREAM("moments", read_moments),
                                           STREAM("activations", read_activations),
                                           STREAM("matrices", read_matrices),
                                           STREAM("permutation", read_permutation),
                                           STREAM("curve", read_curve),
                                           STREAM("checkpoint", read_checkpoint),
                                           STREAM("losses", read_losses),
                                           {0}};
