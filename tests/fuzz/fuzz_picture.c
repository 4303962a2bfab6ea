/* SPDX-License-Identifier: Apache-2.0
 *
 * Random damage to JPEG and PNG files: fuzz_picture [SECONDS [SEED]]. The samples of tests/pictures
 * get bytes changed, cut out or doubled; mostly a PNG's checksums are made right again, so that the
 * damage gets past them. Whatever comes, the decoder takes it within its limits, and a square is
 * made of it, or it says MC_EINPUT; the sanitizers see to the rest. */
#include "formats/datasets/picture.h"
#include "tests/fuzz/fuzz.h"

#define MAX ((size_t)16384)

static const char *const files[] = {
    "rgb.jpg",       "tall.jpeg",      "progressive.JPG", "grey.jpg",  "cmyk.jpg",
    "rgb.png",       "palette.PNG",    "bits.png",        "alpha.png", "wide.png",
    "wide-grey.png", "interlaced.png", "grey-alpha.png"};
enum { FILES = sizeof files / sizeof *files };

static const char *const words[] = {NULL};
static uint8_t samples[FILES][MAX];
static size_t sizes[FILES];
static struct mc_picture picture;

static size_t sample(unsigned char *x)
{
    const uint32_t which = below(FILES);

    memcpy(x, samples[which], sizes[which]);
    return sizes[which];
}

/* Where sizes and kinds are. */
static size_t damage(unsigned char *x, size_t n)
{
    x[below(n < 40 ? n : 40)] = (uint8_t)below(256);
    return n;
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

static void mend(unsigned char *b, size_t n)
{
    if (!n || b[0] != 0x89)
        return;
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

/* From memory of exactly that size, so that tools that watch memory see a step past it. */
static int take(const unsigned char *x, size_t n, struct mc_error *err)
{
    static uint8_t square[3 * 40 * 40];
    uint8_t *exact = malloc(n ? n : 1);

    if (!exact)
        return mc_no_memory(err);
    memcpy(exact, x, n);
    int rc = mc_picture_decode(&picture, "x", exact, n, err);
    free(exact);
    if (!rc && (size_t)picture.width * (size_t)picture.height > MC_PICTURE_MAX_PIXELS)
        rc = mc_fail(err, MC_EFAIL, "larger than may be");
    if (!rc && mc_picture_square(&picture, 1 + (int)below(40), square, err))
        rc = MC_EFAIL;
    return rc;
}

int main(int argc, char **argv)
{
    const struct fuzzer f = {.name = "picture",
                             .words = words,
                             .most = 4,
                             .sample = sample,
                             .damage = damage,
                             .mend = mend,
                             .take = take};
    char path[512];

    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "tests/pictures/%s", files[i]);
        if (!(sizes[i] = fuzz_read(path, samples[i], MAX)))
            return 1;
    }
    const int rc = fuzz(&f, argc, argv);
    mc_picture_release(&picture);
    return rc;
}
