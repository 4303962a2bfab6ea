/* SPDX-License-Identifier: Apache-2.0
 *
 * Random damage to streams of every kind: fuzz_stream [SECONDS [SEED]]. A good sample is decoded,
 * its objects are damaged, and mostly its checksums, count and content id are made right again, so
 * that the damage gets past the framing into the codec of its kind. Whatever comes, a reader says
 * yes or MC_EINPUT; the sanitizers see to the rest. Without them, memory must stay under 64 MiB. */
#include "tests/unit/formats/kinds.h"

#include "formats/stream/bounds.h"
#include "tests/fuzz/fuzz.h"

#include <sys/resource.h>
#include <xxhash.h>
#include <zstd.h>

static struct sample {
    unsigned char *raw; /* decoded */
    size_t size;
} samples[N_KINDS];
static uint32_t which;
static unsigned char packed[2 * FUZZ_MAX];
static ZSTD_CCtx *z;

static const struct mc_bounds_limits wide = {
    .bytes = FUZZ_MAX, .objects = 1 << 20, .depth = 200, .ext = 1};

/* The end of the object that begins at `at`; 0 when there is none. */
static size_t object_end(const unsigned char *b, size_t n, size_t at)
{
    struct mc_bounds s = {.data = b + at, .have = n - at};
    size_t len = 0;

    return at < n && !mc_bounds_check(&s, &wide, &len, NULL) ? at + len : 0;
}

static void put64(unsigned char *to, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        to[i] = (unsigned char)(v >> (56 - 8 * i));
}

/* The record's xxh made right, where it lies at its end in 8 bytes. */
static void mend_record(unsigned char *b, size_t n)
{
    msgpack_unpacked whole, inner;
    const msgpack_object *data = NULL;
    size_t at = 0;

    msgpack_unpacked_init(&whole);
    msgpack_unpacked_init(&inner);
    if (n > 9 && b[n - 9] == 0xcf &&
        msgpack_unpack_next(&whole, (char *)b, n, &at) == MSGPACK_UNPACK_SUCCESS &&
        (data = mc_get_opt(&whole.data, "data")) && data->type == MSGPACK_OBJECT_EXT) {
        const unsigned char *body = (const unsigned char *)data->via.ext.ptr;
        size_t len = data->via.ext.size;
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

/* Checksums and content id made right, as far as the objects can still be walked. */
static void mend(unsigned char *b, size_t n)
{
    XXH3_state_t *hash = XXH3_createState();
    size_t at = object_end(b, n, 0), history = at ? object_end(b, n, at) : 0;

    if (hash && history) {
        XXH3_128bits_reset(hash);
        XXH3_128bits_update(hash, b, at);
        at = history;
        for (size_t end; (end = object_end(b, n, at)); at = end) {
            if (end == n) { /* the end record */
                static const unsigned char key[] = {0xa2, 'i', 'd', 0xd9, 32};
                unsigned char *id = memmem(b + at, n - at, key, sizeof key);
                char text[40];
                XXH128_hash_t h = XXH3_128bits_digest(hash);
                snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)h.high64,
                         (unsigned long long)h.low64);
                if (id && id + sizeof key + 32 <= b + n)
                    memcpy(id + sizeof key, text, 32);
                break;
            }
            mend_record(b + at, end - at);
            XXH3_128bits_update(hash, b + at, end - at);
        }
    }
    XXH3_freeState(hash);
}

/* tags of MessagePack */
static const char *const words[] = {
    "",     "\x7f", "\x80", "\x81", "\x8f", "\x90", "\x91", "\x9f", "\xa0", "\xa1", "\xbf", "\xc0",
    "\xc2", "\xc3", "\xc4", "\xc6", "\xc7", "\xc9", "\xca", "\xcb", "\xcc", "\xcd", "\xce", "\xcf",
    "\xd0", "\xd3", "\xd4", "\xd9", "\xdb", "\xdc", "\xdd", "\xde", "\xdf", "\xe0", "\xff", NULL};

/* A number grows. */
static size_t damage(unsigned char *x, size_t n)
{
    unsigned char number[9] = {0xcf};
    const size_t at = below(n);

    put64(number + 1, below(2) ? (uint64_t)1 << below(64) : UINT64_MAX >> below(64));
    x[at] = number[0];
    return fuzz_insert(x, n, at + 1, number + 1, 8);
}

static int load(struct sample *s, const char *name)
{
    static unsigned char raw[FUZZ_MAX];
    char path[256];
    ZSTD_DCtx *d = ZSTD_createDCtx();

    snprintf(path, sizeof path, "formats/samples/good-%s.mcz", name);
    ZSTD_inBuffer in = {packed, fuzz_read(path, packed, sizeof packed), 0};
    ZSTD_outBuffer out = {raw, sizeof raw, 0};
    size_t rc = d && in.size ? ZSTD_decompressStream(d, &out, &in) : 1;
    ZSTD_freeDCtx(d);
    s->size = out.pos;
    if (rc || !(s->raw = malloc(s->size)))
        return -1;
    memcpy(s->raw, raw, s->size);
    return 0;
}

static size_t sample(unsigned char *x)
{
    which = below(N_KINDS);
    memcpy(x, samples[which].raw, samples[which].size);
    return samples[which].size;
}

static int take(const unsigned char *x, size_t n, struct mc_error *err)
{
    const size_t size = ZSTD_compress2(z, packed, sizeof packed, x, n);

    if (ZSTD_isError(size) || fuzz_put(packed, size, err))
        return MC_EFAIL;
    return kinds[which].read(fuzz_path, err);
}

int main(int argc, char **argv)
{
    const struct fuzzer f = {.name = "stream",
                             .words = words,
                             .most = 4,
                             .sample = sample,
                             .damage = damage,
                             .mend = mend,
                             .take = take};
    struct rusage use;

    for (size_t i = 0; i < N_KINDS; i++)
        if (load(&samples[i], kinds[i].name))
            return 1;
    z = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
    const int rc = fuzz(&f, argc, argv);
    getrusage(RUSAGE_SELF, &use);
    printf("fuzz_stream: %ld KiB at most\n", use.ru_maxrss);
    for (size_t i = 0; i < N_KINDS; i++)
        free(samples[i].raw);
    ZSTD_freeCCtx(z);
#if !defined(__SANITIZE_ADDRESS__)
    if (use.ru_maxrss > 64 << 10) {
        fprintf(stderr, "fuzz_stream: used more than 64 MiB\n");
        return 1;
    }
#endif
    return rc;
}
