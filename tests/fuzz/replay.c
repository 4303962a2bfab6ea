/* SPDX-License-Identifier: Apache-2.0
 *
 * A replacement for libFuzzer if the compiler lacks it:
 *
 *     fuzz [-damaged=N] [-last=PATH] FILE|FOLDER...
 *
 * Each file is an input, run once. Then N damaged inputs are derived from them with the target's
 * mutations, the same ones each time with the same libraries. Each is written to PATH before it
 * runs, so that an input that aborts the program is preserved. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *x, size_t n);
size_t LLVMFuzzerMutate(uint8_t *x, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *x, size_t n, size_t most, unsigned seed);

enum { MOST_INPUTS = 4096 };
static struct {
    uint8_t *x;
    size_t n;
} inputs[MOST_INPUTS];
static size_t n_inputs;

static void overwrite(uint8_t *x, size_t n)
{
    static const uint64_t numbers[] = {0,          1,         0x7f,       0x80,       0xff,
                                       0x7fff,     0x8000,    0xffff,     0x7fffffff, 0x80000000,
                                       0xffffffff, INT64_MAX, 1ull << 63, UINT64_MAX};
    const size_t width = (size_t)1 << fuzz_below(4), little = fuzz_below(2);
    uint64_t v = numbers[fuzz_below(sizeof numbers / sizeof *numbers)];

    if (width > n)
        return;
    uint8_t *at = x + fuzz_below(n - width + 1);
    for (size_t i = 0; i < width; i++, v >>= 8)
        at[little ? i : width - 1 - i] = (uint8_t)v;
}

/* Change, move, insert or remove bytes. */
size_t LLVMFuzzerMutate(uint8_t *x, size_t n, size_t most)
{
    const size_t how = n ? fuzz_below(7) : 3, at = fuzz_below(n + 1), left = n - at;
    const size_t length = 1 + fuzz_below(1 + fuzz_below(16));

    switch (how) {
    case 0:
        x[fuzz_below(n)] ^= (uint8_t)(1 << fuzz_below(8));
        return n;
    case 1:
        overwrite(x, n);
        return n;
    case 2: /* copy to another place */
        if (length <= left)
            memmove(x + fuzz_below(n - length + 1), x + at, length);
        return n;
    case 3:
        if (length > most - n || n > most)
            return n;
        memmove(x + at + length, x + at, left);
        for (size_t i = 0; i < length; i++)
            x[at + i] = (uint8_t)fuzz_below(256);
        return n + length;
    case 4: /* duplicate in place */
        if (length > left || n + length > most)
            return n;
        memmove(x + at + length, x + at, left);
        return n + length;
    case 5:
        if (length > left)
            return n;
        memmove(x + at, x + at + length, left - length);
        return n - length;
    default:
        return fuzz_below(8) ? n : at;
    }
}

/* Run with memory that ends where the input does, so that sanitizers detect an overread. */
static void take(const uint8_t *x, size_t n)
{
    uint8_t *own = malloc(n ? n : 1);

    if (!own)
        exit(1);
    memcpy(own, x, n);
    LLVMFuzzerTestOneInput(own, n);
    free(own);
}

static void run(const char *path)
{
    struct stat st;
    FILE *f = fopen(path, "rb");
    uint8_t *x = NULL;

    if (n_inputs == MOST_INPUTS) {
        fprintf(stderr, "fuzz: over %d inputs\n", MOST_INPUTS);
        exit(1);
    }

    if (!f || fstat(fileno(f), &st) || !(x = malloc((size_t)st.st_size + 1)) ||
        fread(x, 1, (size_t)st.st_size, f) != (size_t)st.st_size) {
        fprintf(stderr, "fuzz: cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
    take(x, (size_t)st.st_size);
    inputs[n_inputs].x = x;
    inputs[n_inputs++].n = (size_t)st.st_size;
}

static void run_all(const char *path)
{
    struct dirent **found = NULL;
    const int n = scandir(path, &found, NULL, alphasort);
    char file[8192];

    if (n < 0)
        run(path);
    for (int i = 0; i < n; i++) {
        snprintf(file, sizeof file, "%s/%s", path, found[i]->d_name);
        if (found[i]->d_name[0] != '.')
            run(file);
        free(found[i]);
    }
    free(found);
}

static void leave(const char *path, const uint8_t *x, size_t n)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(x, 1, n, f) != n || fclose(f)) {
        fprintf(stderr, "fuzz: cannot write %s\n", path);
        exit(1);
    }
}

static void run_damaged(unsigned long damaged, const char *last)
{
    static uint8_t x[FUZZ_MAX];

    for (unsigned k = 0; k < damaged; k++) {
        const size_t from = k % n_inputs;
        size_t n = inputs[from].n < FUZZ_MAX ? inputs[from].n : FUZZ_MAX;
        memcpy(x, inputs[from].x, n);
        for (unsigned times = 0; times <= k / n_inputs % 3; times++)
            n = LLVMFuzzerCustomMutator(x, n, FUZZ_MAX, 3 * k + times);
        if (last)
            leave(last, x, n);
        take(x, n);
    }
}

int main(int argc, char **argv)
{
    unsigned long damaged = 0;
    const char *last = NULL;
    char *end = NULL;

    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], "-damaged=", 9))
            damaged = strtoul(argv[i] + 9, &end, 10);
        else if (!strncmp(argv[i], "-last=", 6))
            last = argv[i] + 6;
        else
            run_all(argv[i]);
    if (end && (*end || !damaged)) {
        fprintf(stderr, "fuzz: -damaged=N: N must be a number above 0\n");
        return 2;
    }
    if (n_inputs)
        run_damaged(damaged, last);
    printf("%zu inputs, %lu damaged\n", n_inputs, damaged);
    for (size_t i = 0; i < n_inputs; i++)
        free(inputs[i].x);
    return !n_inputs;
}
