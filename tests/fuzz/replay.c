/* SPDX-License-Identifier: Apache-2.0
 *
 * In libFuzzer's place where the compiler has none: each file, or file of a folder, that is named
 * is an input, run once. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *x, size_t n);
size_t LLVMFuzzerMutate(uint8_t *x, size_t n, size_t most);

/* Nothing is mutated here. */
size_t LLVMFuzzerMutate(uint8_t *x, size_t n, size_t most)
{
    (void)x;
    (void)most;
    return n;
}

static void run(const char *path)
{
    struct stat st;
    FILE *f = fopen(path, "rb");
    uint8_t *x = NULL;

    if (!f || fstat(fileno(f), &st) || !(x = malloc((size_t)st.st_size + 1)) ||
        fread(x, 1, (size_t)st.st_size, f) != (size_t)st.st_size) {
        fprintf(stderr, "fuzz: cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
    LLVMFuzzerTestOneInput(x, (size_t)st.st_size);
    free(x);
}

int main(int argc, char **argv)
{
    size_t runs = 0;

    for (int i = 1; i < argc; i++) {
        DIR *d = opendir(argv[i]);
        char path[8192];
        for (struct dirent *e; d && (e = readdir(d));) {
            snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            if (e->d_name[0] != '.') {
                run(path);
                runs++;
            }
        }
        if (d)
            closedir(d);
        else {
            run(argv[i]);
            runs++;
        }
    }
    printf("%zu inputs\n", runs);
    return !runs;
}
