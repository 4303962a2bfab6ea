/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz pictures and sets of images. A PNG's checksums are usually corrected after damage. An input
 * of a set is split into files. cifar: a byte, names up to a byte 0, then records; the file size is
 * correct unless the first byte is odd. idx: a byte N, N labels, then images. */
#include "tests/fuzz/fuzz.h"

#include "formats/datasets/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* Decode from memory of exactly this size, so that an overrun is detected. */
static int take_picture(const struct fuzz_target *t, const uint8_t *x, size_t n,
                        struct mc_error *err)
{
    static struct mc_picture picture;
    static uint8_t square[3 * 40 * 40];
    uint8_t *exact = malloc(n ? n : 1);

    (void)t;
    if (!exact)
        return mc_no_memory(err);
    memcpy(exact, x, n);
    int rc = mc_picture_decode(&picture, "x", exact, n, err);
    free(exact);
    if (!rc && (size_t)picture.width * (size_t)picture.height > MC_PICTURE_MAX_PIXELS)
        rc = mc_fail(err, MC_EFAIL, "larger than may be");
    if (!rc && mc_picture_square(&picture, (int)(n % 40) + 1, square, err))
        rc = MC_EFAIL;
    return rc;
}

static size_t damage_png(const struct fuzz_target *t, uint8_t *x, size_t n, size_t most)
{
    n = fuzz_bytes(t, x, n, most);
    for (size_t at = 8; n >= 12 && at <= n - 12 && fuzz_below(32);) {
        const size_t len =
            (size_t)x[at] << 24 | (size_t)x[at + 1] << 16 | (size_t)x[at + 2] << 8 | x[at + 3];
        if (len > n - 12 - at)
            break;
        const unsigned long crc = crc32(0, x + at + 4, (unsigned)len + 4);
        for (size_t i = 0; i < 4; i++)
            x[at + 8 + len + i] = (uint8_t)(crc >> (24 - 8 * i));
        at += len + 12;
    }
    return n;
}

int fuzz_take_set(const char *name, const struct mc_image_source_opts *o, struct mc_error *err)
{
    static float image[1 << 14];
    struct mc_image_source *s = NULL;
    int32_t label = 0;
    int rc = mc_image_source_open(&s, name, o, err);
    const struct mc_net_spec *spec = s ? &s->info.spec : NULL;

    for (uint64_t i = 0; !rc && i < s->info.n && i < 4 &&
                         (size_t)spec->channels * (size_t)spec->height * (size_t)spec->width <=
                             sizeof image / sizeof *image;
         i++) {
        rc = s->get(s, i, image, &label, err);
        if (!rc && (label < 0 || label >= spec->classes))
            rc = mc_fail(err, MC_EFAIL, "label %d of %d", (int)label, spec->classes);
    }
    mc_image_source_close(s);
    return rc;
}

static int take_idx(const struct fuzz_target *t, const uint8_t *x, size_t n, struct mc_error *err)
{
    const struct mc_image_source_opts o = {
        .dir = fuzz_paths[0], .labels = fuzz_paths[1], .split = "train"};
    const size_t labels = !n ? 0 : x[0] < n - 1 ? x[0] : n - 1;
    int rc = fuzz_put(1, x + (n > 0), labels, 0, err);

    (void)t;
    if (!rc)
        rc = fuzz_put(0, x + (n > 0) + labels, n - labels - (n > 0), 0, err);
    return rc ? rc : fuzz_take_set("idx", &o, err);
}

/* Make a folder whose file `name` is file k of fuzz_put. */
static void link_in(const char *folder, const char *name, int k)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (symlink(fuzz_paths[k], path)) {
        fprintf(stderr, "fuzz: cannot make %s\n", path);
        exit(1);
    }
}

static char folder[] = "/tmp/mc-fuzz-XXXXXX";

static void remove_folder(void)
{
    static const char *const names[] = {"test_batch.bin", "batches.meta.txt", "test.bin",
                                        "fine_label_names.txt"};
    char path[256];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static int take_cifar(const struct fuzz_target *t, const uint8_t *x, size_t n, struct mc_error *err)
{
    static int made;
    const struct mc_image_source_opts o = {.dir = folder, .split = "test"};
    const int hundred = !strcmp(t->name, "cifar100");
    const uint8_t *end = n ? memchr(x + 1, 0, n - 1) : NULL;
    const size_t names = end ? (size_t)(end - x - 1) : 0, rest = end ? n - names - 2 : 0;
    int rc = fuzz_put(1, x + 1, names, 0, err);

    if (!rc)
        rc = fuzz_put(0, end ? end + 1 : x, rest,
                      (size_t)10000 * (3073 + (size_t)hundred) + (n && x[0] & 1 ? x[0] : 0), err);
    if (rc)
        return rc;
    if (!made) {
        if (!mkdtemp(folder))
            exit(1);
        atexit(remove_folder);
        link_in(folder, hundred ? "test.bin" : "test_batch.bin", 0);
        link_in(folder, hundred ? "fine_label_names.txt" : "batches.meta.txt", 1);
        made = 1;
    }
    return fuzz_take_set(t->name, &o, err);
}

static const char *const idx_words[] = {
    "\x08", "\x03", "\x04", "\x01", "\x02", "\x1f\x8b\x08", "\xff\xff\xff\xff", NULL};
static const char *const name_words[] = {"\n", "airplane\n", "\xc3\xa9", "\xff", " ", "\r\n", NULL};

const struct fuzz_target fuzz_images[] = {{"png", NULL, take_picture, damage_png, NULL},
                                          {"jpeg", NULL, take_picture, NULL, NULL},
                                          {"idx", idx_words, take_idx, NULL, NULL},
                                          {"cifar10", name_words, take_cifar, NULL, NULL},
                                          {"cifar100", name_words, take_cifar, NULL, NULL},
                                          {0}};
