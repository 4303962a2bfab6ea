/* SPDX-License-Identifier: Apache-2.0
 *
 * The fuzzer's targets: each hands untrusted bytes to the reader of one format. FUZZ_TARGET in the
 * environment names the one that runs (tests/fuzz/fuzz.c). */
#ifndef MC_FUZZ_H
#define MC_FUZZ_H

#include "formats/datasets/source.h"
#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

#define FUZZ_MAX ((size_t)1 << 16) /* bytes of an input, decompressed too */

struct fuzz_target {
    const char *name;
    const char *const *words; /* what means something to the reader; ends in NULL; may be NULL */
    /* The reader: 0, or an error in err; anything wrong with what was taken is MC_EFAIL. */
    int (*take)(const struct fuzz_target *t, const uint8_t *x, size_t n, struct mc_error *err);
    /* Damage that keeps checksums, lengths and compression right, or mostly: the new size, at most
     * `most` and FUZZ_MAX. NULL: fuzz_bytes alone. */
    size_t (*mutate)(const struct fuzz_target *t, uint8_t *x, size_t n, size_t most);
    int (*read)(const char *path, struct mc_error *err); /* of a stream: its codec */
};

/* The targets of each file; the last one's name is NULL. */
extern const struct fuzz_target fuzz_streams[], fuzz_archives[], fuzz_texts[], fuzz_images[];

/* Where fuzz_put leaves an input, of which there may be FUZZ_FILES at once. */
enum { FUZZ_FILES = 2 };
extern char fuzz_paths[FUZZ_FILES][64];
/* Put an input where a reader finds it, in memory, as file `file`; after it come zeros up to `size`
 * bytes. MC_EFAIL. */
int fuzz_put(int file, const uint8_t *x, size_t n, size_t size, struct mc_error *err);

/* libFuzzer's own mutations, or a word put in somewhere; the new size. */
size_t fuzz_bytes(const struct fuzz_target *t, uint8_t *x, size_t n, size_t most);
/* A number below n, which is not 0, of the mutation that runs. */
size_t fuzz_below(size_t n);

/* The first images of a set, each label one of its classes. */
int fuzz_take_set(const char *name, const struct mc_image_source_opts *o, struct mc_error *err);

/* A file of the source tree (MC_ROOT), to be freed; exits where it cannot be read. */
uint8_t *fuzz_load(const char *name, size_t *n);

#endif
