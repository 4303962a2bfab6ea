/* SPDX-License-Identifier: Apache-2.0
 *
 * What every fuzzer does: fuzz_NAME [SECONDS [SEED]] takes a good sample, damages it in a few
 * places and hands it to a reader, until the time is over. The reader takes it or refuses it with
 * MC_EINPUT and a sentence; anything else ends the fuzzer, which keeps the input in
 * /tmp/fuzz_NAME.bad. Some must be taken, some refused. Header only. */
#ifndef MC_FUZZ_H
#define MC_FUZZ_H

#include "libcommon/base/error.h"
#include "libcommon/base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FUZZ_MAX ((size_t)1 << 20) /* bytes of an input */

struct fuzzer {
    const char *name;
    const char *const *words; /* what means something to the reader; "" is a byte 0; ends in NULL */
    int most;                 /* places that are damaged */
    /* copies a good sample to x and returns its size */
    size_t (*sample)(unsigned char *x);
    /* damage of its own, the new size; may be NULL */
    size_t (*damage)(unsigned char *x, size_t n);
    /* makes checksums right again, mostly; may be NULL */
    void (*mend)(unsigned char *x, size_t n);
    /* the reader: 0, or an error in err; anything wrong with what was taken is MC_EFAIL */
    int (*take)(const unsigned char *x, size_t n, struct mc_error *err);
};

static uint64_t fuzz_seed = 1, fuzz_counter;
static char fuzz_path[64]; /* of what fuzz_put wrote */

static inline uint32_t below(size_t n)
{
    uint64_t c = fuzz_counter++;
    return mc_rng_below(mc_rng(fuzz_seed, 0, (uint32_t)(c >> 32), (uint32_t)c, 0).v[0],
                        (uint32_t)n);
}

/* Reads a file of the source tree into x, at most `size` bytes; 0 and a message where it cannot. */
static inline size_t fuzz_read(const char *name, unsigned char *x, size_t size)
{
    const char *root = getenv("MC_ROOT");
    char path[4096];
    size_t n = 0;
    FILE *f = NULL;

    snprintf(path, sizeof path, "%s/%s", root ? root : ".", name);
    if ((f = fopen(path, "rb"))) {
        n = fread(x, 1, size, f);
        fclose(f);
    }
    if (!n)
        fprintf(stderr, "cannot read %s\n", path);
    return n;
}

/* Puts an input where a reader finds it, at fuzz_path, in memory. */
static inline int fuzz_put(const unsigned char *x, size_t n, struct mc_error *err)
{
    static int fd = -1;

    if (fd < 0) {
        fd = memfd_create("input", 0);
        snprintf(fuzz_path, sizeof fuzz_path, "/proc/self/fd/%d", fd);
    }
    if (ftruncate(fd, 0) || pwrite(fd, x, n, 0) != (ssize_t)n)
        return mc_fail(err, MC_EFAIL, "cannot write the input");
    return 0;
}

/* A stretch of x from `from` is put in at `at`. */
static inline size_t fuzz_insert(unsigned char *x, size_t n, size_t at, const void *from,
                                 size_t len)
{
    unsigned char piece[64];

    if (len > sizeof piece || n + len > FUZZ_MAX)
        return n;
    memcpy(piece, from, len);
    memmove(x + at + len, x + at, n - at);
    memcpy(x + at, piece, len);
    return n + len;
}

/* One change at a random place: a bit, a byte, a word, a stretch from elsewhere, a cut. */
static inline size_t fuzz_damage(const struct fuzzer *f, unsigned char *x, size_t n)
{
    const size_t at = below(n), from = below(n);
    size_t len = 1 + below(below(4) ? 12 : 64), words = 0;
    const char *word = "";

    len = len < n - from ? len : n - from;
    while (f->words[words])
        words++;
    if (words)
        word = f->words[below(words)];
    const size_t letters = *word ? strlen(word) : 1;
    switch (below(8)) {
    case 0:
        x[at] ^= (unsigned char)(1u << below(8));
        return n;
    case 1:
        x[at] = (unsigned char)below(256);
        return n;
    case 2:
        memcpy(x + at, word, letters < n - at ? letters : n - at);
        return n;
    case 3:
        return fuzz_insert(x, n, at, word, letters);
    case 4:
        return fuzz_insert(x, n, at, x + from, len);
    case 5:
        memmove(x + at, x + from, len < n - at ? len : n - at);
        return n;
    case 6:
        memmove(x + from, x + from + len, n - from - len);
        return n - len;
    default:
        return below(4) ? n : at;
    }
}

static inline void fuzz_keep(const struct fuzzer *f, const unsigned char *x, size_t n)
{
    char path[128];
    FILE *out = NULL;

    snprintf(path, sizeof path, "/tmp/fuzz_%s.bad", f->name);
    if ((out = fopen(path, "wb"))) {
        fwrite(x, 1, n, out);
        fclose(out);
        fprintf(stderr, "fuzz_%s: the input is kept in %s\n", f->name, path);
    }
}

static inline double fuzz_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The exit status. */
static inline int fuzz(const struct fuzzer *f, int argc, char **argv)
{
    const double end = fuzz_now() + (argc > 1 ? atof(argv[1]) : 5);
    static unsigned char x[FUZZ_MAX];
    unsigned long runs = 0, taken = 0;
    int bad = 0;

    fuzz_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    while (!bad && fuzz_now() < end) {
        struct mc_error err = {0};
        size_t n = f->sample(x);
        for (uint32_t k = below((size_t)f->most + 1); k-- && n;)
            n = f->damage && !below(4) ? f->damage(x, n) : fuzz_damage(f, x, n);
        if (f->mend && below(8))
            f->mend(x, n);
        const int rc = f->take(x, n, &err);
        bad = rc && (rc != MC_EINPUT || err.code != MC_EINPUT || !*err.text);
        if (bad) {
            fprintf(stderr, "fuzz_%s: run %lu of seed %llu: %d '%s'\n", f->name, runs,
                    (unsigned long long)fuzz_seed, rc, err.text);
            fuzz_keep(f, x, n);
        }
        runs++;
        taken += !rc;
    }
    printf("fuzz_%s: %lu runs, %lu taken\n", f->name, runs, taken);
    return bad || !taken || taken == runs;
}

#endif
