/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams with correct framing, checksums and id, in which one object is changed. Each object of
 * each stored sample, also within records, is replaced by values of every type. Each list gets an
 * additional element, loses one, and repeats its first element many times. The codec refuses the
 * stream as bad input or reads it; most changes must be refused. */
#include "tests/unit/formats/objects.h"
#include "tests/unit/formats/outcome.h"

#include "tests/unit/formats/kinds.h"
#include "tests/unit/under.h"

#include <glob.h>
#include <zstd.h>

enum { MOST_TOP = 64, MOST_NODES = 4096 };

/* The stream's objects in order, and the contents of the records' ext. */
static msgpack_object top[MOST_TOP], inside[MOST_TOP], *ext[MOST_TOP];
static size_t n_top;
static msgpack_zone zone;

static void load(const char *path)
{
    static unsigned char packed[MAX], raw[MAX];
    FILE *f = fopen(path, "rb");
    ZSTD_DCtx *d = ZSTD_createDCtx();
    ZSTD_outBuffer out = {raw, MAX, 0};
    size_t from = 0;

    assert_non_null(f);
    assert_non_null(d);
    ZSTD_inBuffer in = {packed, fread(packed, 1, MAX, f), 0};
    fclose(f);
    assert_int_equal(ZSTD_decompressStream(d, &out, &in), 0);
    ZSTD_freeDCtx(d);
    assert_true(msgpack_zone_init(&zone, 8192));
    for (n_top = 0; from < out.pos; n_top++) {
        size_t at = from;
        assert_true(n_top < MOST_TOP);
        assert_true(msgpack_unpack((char *)raw, out.pos, &at, &zone, &top[n_top]) >= 0);
        from = at;
        ext[n_top] = NULL;
        const msgpack_object *data =
            top[n_top].type == MSGPACK_OBJECT_MAP ? mc_get_opt(&top[n_top], "data") : NULL;
        if (data && data->type == MSGPACK_OBJECT_EXT) {
            at = 0;
            assert_true(msgpack_unpack(data->via.ext.ptr, data->via.ext.size, &at, &zone,
                                       &inside[n_top]) >= 0);
            ext[n_top] = (msgpack_object *)(uintptr_t)data;
        }
    }
}

/* Store as a stream in memory, with correct checksums and id. */
static void store(void)
{
    static unsigned char packed[2 * MAX];
    msgpack_sbuffer out, part;
    msgpack_packer pk, pk_part;
    ZSTD_CCtx *z = ZSTD_createCCtx();

    msgpack_sbuffer_init(&out);
    msgpack_packer_init(&pk, &out, msgpack_sbuffer_write);
    for (size_t i = 0; i < n_top; i++) {
        msgpack_sbuffer_init(&part);
        if (ext[i] && ext[i]->type == MSGPACK_OBJECT_EXT) {
            msgpack_packer_init(&pk_part, &part, msgpack_sbuffer_write);
            msgpack_pack_object(&pk_part, inside[i]);
            ext[i]->via.ext.ptr = part.data;
            ext[i]->via.ext.size = (uint32_t)part.size;
        }
        msgpack_pack_object(&pk, top[i]);
        msgpack_sbuffer_destroy(&part);
    }
    fix_checksums((uint8_t *)out.data, out.size);
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(z, ZSTD_c_contentSizeFlag, 0);
    const size_t n = ZSTD_compress2(z, packed, sizeof packed, out.data, out.size);
    assert_false(ZSTD_isError(n));
    memory_put(packed, n);
    ZSTD_freeCCtx(z);
    msgpack_sbuffer_destroy(&out);
}

static size_t read_ok, refused;

static void judge(const struct kind *k, const char *path, size_t node, size_t change)
{
    int rc = 0;

    store();
    forget();
    rc = k->read(memory_path, &why);
    if (rc ? rc != MC_EINPUT || why.code != MC_EINPUT || !strstr(why.text, memory_path)
           : *why.text != 0)
        fail_msg("%s, object %zu, change %zu: %d \"%s\"", path, node, change, rc, why.text);
    ++*(rc ? &refused : &read_ok);
}

#define TEXT(s)                                                                                    \
    {                                                                                              \
        .type = MSGPACK_OBJECT_STR, .via.str = { sizeof s - 1, s }                                 \
    }
#define WHOLE(n)                                                                                   \
    {                                                                                              \
        .type = MSGPACK_OBJECT_POSITIVE_INTEGER, .via.u64 = n                                      \
    }
#define REAL(x)                                                                                    \
    {                                                                                              \
        .type = MSGPACK_OBJECT_FLOAT64, .via.f64 = x                                               \
    }

enum { MANY = 70000 }; /* elements: within a header's limit of objects, above most lists' limits */
static msgpack_object one = WHOLE(1), many[MANY];
static const msgpack_object values[] = {
    {.type = MSGPACK_OBJECT_NIL},
    {.type = MSGPACK_OBJECT_BOOLEAN, .via.boolean = true},
    WHOLE(0),
    WHOLE(1),
    WHOLE(7),
    WHOLE(1ull << 32),
    WHOLE(UINT64_MAX),
    {.type = MSGPACK_OBJECT_NEGATIVE_INTEGER, .via.i64 = -1},
    {.type = MSGPACK_OBJECT_NEGATIVE_INTEGER, .via.i64 = INT64_MIN},
    REAL(0),
    REAL(-.5),
    REAL(1e300),
    REAL(NAN),
    REAL(INFINITY),
    {.type = MSGPACK_OBJECT_FLOAT32, .via.f64 = .5},
    TEXT(""),
    TEXT("x"),
    TEXT(
        "a text that is longer than most that stand here may be: 0123456789 0123456789 0123456789"),
    {.type = MSGPACK_OBJECT_BIN, .via.bin = {1, "x"}},
    {.type = MSGPACK_OBJECT_ARRAY, .via.array = {0, NULL}},
    {.type = MSGPACK_OBJECT_ARRAY, .via.array = {1, &one}},
    {.type = MSGPACK_OBJECT_MAP, .via.map = {0, NULL}},
};

/* Replace the object by each other value; shorten and lengthen lists. */
static void change(const struct kind *k, const char *path, msgpack_object *o, size_t node)
{
    const msgpack_object was = *o;
    msgpack_object longer[256];

    for (size_t v = is_slow() ? node % 7 : 0; v < COUNT(values); v += is_slow() ? 7 : 1) {
        *o = values[v];
        judge(k, path, node, v);
    }
    if (was.type == MSGPACK_OBJECT_ARRAY) {
        const msgpack_object *first = was.via.array.size ? was.via.array.ptr : &values[0];
        const int plain = first->type != MSGPACK_OBJECT_ARRAY && first->type != MSGPACK_OBJECT_MAP;
        for (size_t i = 0; i < MANY; i++)
            many[i] = plain ? *first : values[0];
        *o = (msgpack_object){.type = MSGPACK_OBJECT_ARRAY, .via.array = {MANY, many}};
        judge(k, path, node, COUNT(values));
    }
    *o = was;
    if (o->type == MSGPACK_OBJECT_ARRAY && o->via.array.size && o->via.array.size < 255) {
        o->via.array.size--;
        judge(k, path, node, 100);
        memcpy(longer, was.via.array.ptr, was.via.array.size * sizeof *longer);
        longer[was.via.array.size] = longer[was.via.array.size - 1];
        o->via.array.ptr = longer;
        o->via.array.size = was.via.array.size + 1;
        judge(k, path, node, 101);
    } else if (o->type == MSGPACK_OBJECT_MAP && o->via.map.size) {
        o->via.map.size--;
        judge(k, path, node, 102);
    }
    *o = was;
}

TEST(wrong_values_are_bad_input)
{
    static msgpack_object *nodes[MOST_NODES];
    char pattern[4096];
    glob_t found;

    for (size_t i = 0; i < N_KINDS; i++) {
        snprintf(pattern, sizeof pattern, "%s/formats/samples/good-%s*.mcz", getenv("MC_ROOT"),
                 kinds[i].name);
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        for (size_t s = 0; s < found.gl_pathc; s++) {
            const char *path = found.gl_pathv[s];
            size_t n = 0;
            if (strstr(path, "groups.mcz")) /* refused even unchanged, for the missing graph */
                continue;
            load(path);
            read_ok = refused = 0;
            for (size_t t = 0; t < n_top; t++) {
                n = list_nodes(&top[t], nodes, n, MOST_NODES);
                if (ext[t])
                    n = list_nodes(&inside[t], nodes, n, MOST_NODES);
            }
            assert_in_range(n, 20, MOST_NODES - 1);
            for (size_t at = 0; at < n; at++)
                change(&kinds[i], path, nodes[at], at);
            assert_true(refused > 4 * read_ok);
            msgpack_zone_destroy(&zone);
        }
        globfree(&found);
    }
}

int main(void)
{
    if (memory_open())
        return 1;
    return run_entered(NULL, NULL);
}
