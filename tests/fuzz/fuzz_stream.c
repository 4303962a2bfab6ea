/* SPDX-License-Identifier: Apache-2.0
 *
 * Random damage to streams of every kind: fuzz_stream [SECONDS [SEED]]. A good sample is decoded,
 * its objects are damaged, and mostly its checksums, count and content id are made right again, so
 * that the damage gets past the framing into the codec of its kind. Whatever comes, a reader says
 * yes or MC_EINPUT; the sanitizers see to the rest. Without them, memory must stay under 64 MiB. */
#include "tests/unit/formats/kinds.h"

#include "formats/stream/bounds.h"
#include "libcommon/base/rng.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#define MAX ((size_t)1 << 20)

struct sample {
    const struct kind *kind;
    unsigned char *raw; /* decoded */
    size_t size;
};

static struct sample samples[N_KINDS];
static unsigned char raw[MAX], packed[2 * MAX];
static uint64_t seed = 1, counter;

static uint32_t below(uint32_t n)
{
    uint64_t c = counter++;
    return mc_rng_below(mc_rng(seed, 0, (uint32_t)(c >> 32), (uint32_t)c, 0).v[0], n);
}

static const struct mc_bounds_limits wide = {
    .bytes = MAX, .objects = 1 << 20, .depth = 200, .ext = 1};

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

/* One piece of damage at a random place; the new size. */
static size_t damage(unsigned char *b, size_t n)
{
    static const unsigned char tags[] = {0x00, 0x7f, 0x80, 0x81, 0x8f, 0x90, 0x91, 0x9f, 0xa0,
                                         0xa1, 0xbf, 0xc0, 0xc2, 0xc3, 0xc4, 0xc6, 0xc7, 0xc9,
                                         0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd3, 0xd4,
                                         0xd9, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xe0, 0xff};
    size_t at = below((uint32_t)n), from = below((uint32_t)n);
    size_t len = 1 + below(below(4) ? 8 : 64);

    switch (below(7)) {
    case 0:
        b[at] ^= (unsigned char)(1u << below(8));
        return n;
    case 1:
        b[at] = tags[below(sizeof tags)];
        return n;
    case 2:
        b[at] = (unsigned char)below(256);
        return n;
    case 3: /* a number grows */
        if (n + 8 > MAX)
            return n;
        memmove(b + at + 8, b + at, n - at);
        b[at] = 0xcf;
        put64(b + at + 1, below(2) ? (uint64_t)1 << below(64) : UINT64_MAX >> below(64));
        return n + 8;
    case 4: /* bytes go */
        if (len > n - at - 1)
            return n;
        memmove(b + at, b + at + len, n - at - len);
        return n - len;
    case 5: /* bytes come from elsewhere */
        if (len > n - from || n + len > MAX)
            return n;
        memcpy(packed, b + from, len);
        memmove(b + at + len, b + at, n - at);
        memcpy(b + at, packed, len);
        return n + len;
    default: /* bytes are overwritten from elsewhere */
        if (len > n - from || len > n - at)
            return n;
        memmove(b + at, b + from, len);
        return n;
    }
}

static int load(struct sample *s, const struct kind *k)
{
    const char *root = getenv("MC_ROOT");
    char path[4096];
    size_t n = 0;
    FILE *f = NULL;

    s->kind = k;
    snprintf(path, sizeof path, "%s/formats/samples/good-%s.mcz", root ? root : ".", k->name);
    if (!(f = fopen(path, "rb")))
        return -1;
    n = fread(packed, 1, sizeof packed, f);
    fclose(f);
    ZSTD_DCtx *z = ZSTD_createDCtx();
    ZSTD_inBuffer in = {packed, n, 0};
    ZSTD_outBuffer out = {raw, sizeof raw, 0};
    size_t rc = z ? ZSTD_decompressStream(z, &out, &in) : 1;
    ZSTD_freeDCtx(z);
    s->size = out.pos;
    if (rc || !(s->raw = malloc(s->size)))
        return -1;
    memcpy(s->raw, raw, s->size);
    return 0;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 10;
    uint64_t runs = 0, passed = 0;
    struct mc_error err = {0};
    struct timespec begun, now;
    struct rusage use;
    int file = memfd_create("stream", 0);
    char path[64];

    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    for (size_t i = 0; i < N_KINDS; i++)
        if (load(&samples[i], &kinds[i])) {
            fprintf(stderr, "fuzz_stream: no good sample of %s\n", kinds[i].name);
            return 1;
        }
    ZSTD_CCtx *z = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        const struct sample *s = &samples[below(N_KINDS)];
        size_t n = s->size, size = 0;
        memcpy(raw, s->raw, n);
        for (uint32_t k = 1 + below(below(2) ? 1 : 4); k; k--)
            n = damage(raw, n);
        if (below(8))
            mend(raw, n);
        size = ZSTD_compress2(z, packed, sizeof packed, raw, n);
        memset(&err, 0, sizeof err);
        if (ZSTD_isError(size) || ftruncate(file, 0) ||
            pwrite(file, packed, size, 0) != (ssize_t)size)
            return 1;
        int rc = s->kind->read(path, &err);
        if (rc != 0 && (rc != MC_EINPUT || err.code != MC_EINPUT)) {
            fprintf(stderr, "fuzz_stream: seed %llu, run %llu, %s: %d %s\n",
                    (unsigned long long)seed, (unsigned long long)runs, s->kind->name, rc,
                    err.text);
            return 1;
        }
        passed += rc == 0;
        runs++;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begun.tv_sec) + 1e-9 * (double)(now.tv_nsec - begun.tv_nsec) <
             seconds);
    getrusage(RUSAGE_SELF, &use);
    printf("fuzz_stream: %llu damaged streams, %llu read as good ones, %ld KiB at most\n",
           (unsigned long long)runs, (unsigned long long)passed, use.ru_maxrss);
#if !defined(__SANITIZE_ADDRESS__)
    if (use.ru_maxrss > 64 << 10) {
        fprintf(stderr, "fuzz_stream: used more than 64 MiB\n");
        return 1;
    }
#endif
    for (size_t i = 0; i < N_KINDS; i++)
        free(samples[i].raw);
    ZSTD_freeCCtx(z);
    close(file);
    return 0;
}
