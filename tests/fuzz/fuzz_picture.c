/* SPDX-License-Identifier: Apache-2.0
 *
 * Random damage to JPEG and PNG files: fuzz_picture [SECONDS [SEED]]. The samples of tests/pictures
 * get bytes changed, cut out or doubled; mostly a PNG's checksums are made right again, so that the
 * damage gets past them. Whatever comes, the decoder takes it within its limits, and a square is
 * made of it, or it says MC_EINPUT; the sanitizers see to the rest. */
#include "formats/datasets/picture.h"
#include "libcommon/base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX ((size_t)16384)

static const char *const files[] = {
    "rgb.jpg",       "tall.jpeg",      "progressive.JPG", "grey.jpg",  "cmyk.jpg",
    "rgb.png",       "palette.PNG",    "bits.png",        "alpha.png", "wide.png",
    "wide-grey.png", "interlaced.png", "grey-alpha.png"};
enum { FILES = sizeof files / sizeof *files };

static uint8_t samples[FILES][MAX], work[2 * MAX];
static size_t sizes[FILES];
static uint64_t seed = 1, counter;

static uint32_t below(uint32_t n)
{
    uint64_t c = counter++;
    return mc_rng_below(mc_rng(seed, 0, (uint32_t)(c >> 32), (uint32_t)c, 0).v[0], n);
}

static size_t damage(uint8_t *b, size_t n)
{
    size_t at = below((uint32_t)n), len = below(12);

    if (at + len > n)
        len = n - at;
    switch (below(6)) {
    case 0:
        memmove(b + at, b + at + len, n - at - len);
        return n - len;
    case 1:
        memmove(b + at + len, b + at, n - at);
        return n + len;
    case 2:
        return at + 1;
    case 3: /* where sizes and kinds are */
        b[below(n < 40 ? (uint32_t)n : 40)] = (uint8_t)below(256);
        return n;
    default:
        b[at] ^= (uint8_t)(1 << below(8));
        return n;
    }
}

static uint32_t crc_of(const uint8_t *b, size_t n)
{
    uint32_t crc = ~0u;

    for (size_t i = 0; i < n; i++) {
        crc ^= b[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static void mend_png(uint8_t *b, size_t n)
{
    for (size_t at = 8; n >= 12 && at <= n - 12;) {
        size_t len =
            (size_t)b[at] << 24 | (size_t)b[at + 1] << 16 | (size_t)b[at + 2] << 8 | b[at + 3];
        if (len > n - 12 - at)
            return;
        const uint32_t crc = crc_of(b + at + 4, len + 4);
        for (int i = 0; i < 4; i++)
            b[at + 8 + len + (size_t)i] = (uint8_t)(crc >> (24 - 8 * i));
        at += len + 12;
    }
}

static int read_samples(void)
{
    const char *root = getenv("MC_ROOT");
    char path[512];

    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/tests/pictures/%s", root ? root : ".", files[i]);
        FILE *f = fopen(path, "rb");
        if (!f || !(sizes[i] = fread(samples[i], 1, MAX, f))) {
            fprintf(stderr, "fuzz_picture: cannot read %s\n", path);
            return 1;
        }
        fclose(f);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const time_t end = time(NULL) + (time_t)(argc > 1 ? atof(argv[1]) : 5);
    static uint8_t square[3 * 40 * 40];
    struct mc_picture p = {0};
    unsigned long runs = 0, taken = 0;
    int rc = read_samples();

    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    while (!rc && time(NULL) < end) {
        const uint32_t which = below(FILES);
        size_t n = sizes[which];
        memcpy(work, samples[which], n);
        for (uint32_t k = below(5); k-- && n;)
            n = damage(work, n);
        if (work[0] == 0x89 && below(4))
            mend_png(work, n);
        uint8_t *exact = malloc(n ? n : 1);
        if (!exact)
            return 1;
        memcpy(exact, work, n);
        struct mc_error err = {0};
        int got = mc_picture_decode(&p, "x", exact, n, &err);
        free(exact);
        runs++;
        if (got && (got != MC_EINPUT || err.code != MC_EINPUT || !*err.text))
            rc = 1;
        if (!got && ((size_t)p.width * (size_t)p.height > MC_PICTURE_MAX_PIXELS ||
                     mc_picture_square(&p, 1 + (int)below(40), square, &err)))
            rc = 1;
        if (rc)
            fprintf(stderr, "fuzz_picture: run %lu of seed %llu, a %s: %s\n", runs,
                    (unsigned long long)seed, files[which], err.text);
        taken += !got;
    }
    mc_picture_release(&p);
    printf("fuzz_picture: %lu runs, %lu taken\n", runs, taken);
    return rc || !taken || taken == runs;
}
