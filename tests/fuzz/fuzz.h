/* SPDX-License-Identifier: Apache-2.0
 *
 * The fuzzer's targets: each passes untrusted bytes to the reader of one format. FUZZ_TARGET in the
 * environment selects the target (tests/fuzz/fuzz.c). */
#ifndef MC_FUZZ_H
#define MC_FUZZ_H

#include "formats/datasets/source.h"
#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

#define FUZZ_MAX ((size_t)1 << 16) /* maximum bytes of an input, also decompressed */

struct fuzz_target {
    const char *name;
    const char *const *words; /* words that the reader knows, ending in NULL; or NULL */
    /* Run the reader. Returns 0, or an error in err; MC_EFAIL if an accepted input has wrong
     * contents. */
    int (*take)(const struct fuzz_target *t, const uint8_t *x, size_t n, struct mc_error *err);
    /* Damage an input but usually keep checksums, lengths and compression correct. Returns the new
     * size, at most `most` and FUZZ_MAX. NULL: use fuzz_bytes. */
    size_t (*mutate)(const struct fuzz_target *t, uint8_t *x, size_t n, size_t most);
    int (*read)(const char *path, struct mc_error *err); /* streams only: the codec */
};

/* The targets of each file, ending with a NULL name. */
extern const struct fuzz_target fuzz_streams[], fuzz_archives[], fuzz_texts[], fuzz_images[];

/* Paths of the inputs of fuzz_put; up to FUZZ_FILES at once. */
enum { FUZZ_FILES = 2 };
extern char fuzz_paths[FUZZ_FILES][64];
/* Store an input in memory as file number `file`, padded with zeros to `size` bytes. MC_EFAIL. */
int fuzz_put(int file, const uint8_t *x, size_t n, size_t size, struct mc_error *err);

/* Apply libFuzzer's mutations, or insert a word. Returns the new size. */
size_t fuzz_bytes(const struct fuzz_target *t, uint8_t *x, size_t n, size_t most);
/* A random number below n, which must not be 0, for the current mutation. */
size_t fuzz_below(size_t n);

/* Read the first images of a set and check that each label is one of its classes. */
int fuzz_take_set(const char *name, const struct mc_image_source_opts *o, struct mc_error *err);

/* Load a file of the source tree (MC_ROOT), to be freed. Exits if it cannot be read. */
uint8_t *fuzz_load(const char *name, size_t *n);

#endif
