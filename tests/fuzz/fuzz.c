/* SPDX-License-Identifier: Apache-2.0
 *
 * The fuzzer, with libFuzzer (`make fuzz`, tests/fuzz/run):
 *
 *     FUZZ_TARGET=NAME fuzz [libFuzzer's options] FOLDER...
 *
 * A target accepts an input, or refuses it with MC_EINPUT and a message. Anything else aborts, and
 * libFuzzer stores the input. Linked with replay.c instead, it runs the given inputs. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *x, size_t n);
size_t LLVMFuzzerMutate(uint8_t *x, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *x, size_t n, size_t most, unsigned seed);

char fuzz_paths[FUZZ_FILES][64];
static uint64_t state;

static const struct fuzz_target *target(void)
{
    static const struct fuzz_target *const all[] = {fuzz_streams, fuzz_archives, fuzz_texts,
                                                    fuzz_images};
    static const struct fuzz_target *found;
    const char *name = getenv("FUZZ_TARGET");

    for (size_t i = 0; !found && name && i < sizeof all / sizeof *all; i++)
        for (const struct fuzz_target *t = all[i]; t->name && !found; t++)
            found = strcmp(t->name, name) ? NULL : t;
    if (found)
        return found;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (const struct fuzz_target *t = all[i]; t->name; t++)
            puts(t->name);
    fputs("fuzz: set FUZZ_TARGET to one of these\n", stderr);
    fflush(stdout);
    _exit(2); /* libFuzzer reports exit() as a fault */
}

int fuzz_put(int file, const uint8_t *x, size_t n, size_t size, struct mc_error *err)
{
    static int fds[FUZZ_FILES];

    if (!fds[file]) {
        fds[file] = memfd_create("input", MFD_CLOEXEC);
        snprintf(fuzz_paths[file], sizeof fuzz_paths[file], "/proc/self/fd/%d", fds[file]);
    }
    if (ftruncate(fds[file], 0) || pwrite(fds[file], x, n, 0) != (ssize_t)n ||
        (size > n && ftruncate(fds[file], (off_t)size)))
        return mc_fail(err, MC_EFAIL, "cannot write the input");
    return 0;
}

uint8_t *fuzz_load(const char *name, size_t *n)
{
    const char *root = getenv("MC_ROOT");
    uint8_t *x = malloc(FUZZ_MAX);
    char path[4096];
    FILE *f = NULL;

    snprintf(path, sizeof path, "%s/%s", root ? root : ".", name);
    if (!x || !(f = fopen(path, "rb")) || !(*n = fread(x, 1, FUZZ_MAX, f))) {
        fprintf(stderr, "fuzz: cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
    return x;
}

int LLVMFuzzerTestOneInput(const uint8_t *x, size_t n)
{
    const struct fuzz_target *t = target();
    struct mc_error err = {0};
    const int rc = t->take(t, x, n, &err);

    if (rc && (rc != MC_EINPUT || err.code != MC_EINPUT || !*err.text)) {
        fprintf(stderr, "fuzz: %s: %d, %d '%s'\n", t->name, rc, (int)err.code, err.text);
        abort();
    }
    return 0;
}

/* splitmix64 */
size_t fuzz_below(size_t n)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (size_t)((z ^ z >> 31) % n);
}

size_t fuzz_bytes(const struct fuzz_target *t, uint8_t *x, size_t n, size_t most)
{
    size_t words = 0;

    while (t->words && t->words[words])
        words++;
    if (!words || fuzz_below(2))
        return LLVMFuzzerMutate(x, n, most);
    const char *word = t->words[fuzz_below(words)];
    const size_t len = strlen(word), at = fuzz_below(n + 1);
    if (fuzz_below(2) && at + len <= n) {
        memcpy(x + at, word, len);
        return n;
    }
    if (n + len > most)
        return n;
    memmove(x + at + len, x + at, n - at);
    memcpy(x + at, word, len);
    return n + len;
}

size_t LLVMFuzzerCustomMutator(uint8_t *x, size_t n, size_t most, unsigned seed)
{
    const struct fuzz_target *t = target();

    state = seed;
    return t->mutate && fuzz_below(16) ? t->mutate(t, x, n, most) : fuzz_bytes(t, x, n, most);
}
