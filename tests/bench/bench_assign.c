/* SPDX-License-Identifier: Apache-2.0
 *
 * One side of the benchmark of linear assignment. For each line "kind n seed" of standard input it
 * assigns that matrix (the last one is kept) and prints seconds and value. */
#include "libcommon/assign/assign.h"
#include "tests/parity/assign_matrices.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
    char kind[32], last_kind[32] = "";
    size_t n, last_n = 0;
    unsigned long long seed, last_seed = 0;
    double *value = NULL;
    int32_t *col = NULL;
    int status = 1;

    while (scanf("%31s %zu %llu", kind, &n, &seed) == 3) {
        if (strcmp(kind, last_kind) || n != last_n || seed != last_seed) {
            free(value);
            free(col);
            value = n > 0 ? assign_matrix(assign_kind_named(kind), n, seed) : NULL;
            col = malloc(n * sizeof *col + 1);
            if (!value || !col)
                goto out;
            memcpy(last_kind, kind, sizeof kind);
            last_n = n;
            last_seed = seed;
        }
        struct mc_assignment info;
        struct mc_error err = {0};
        double start = seconds();
        if (mc_assign_max(n, value, col, &info, &err)) {
            fprintf(stderr, "bench_assign: %s\n", err.text);
            goto out;
        }
        printf("%.9f %.17g\n", seconds() - start, info.value);
        if (fflush(stdout))
            goto out;
    }
    status = !feof(stdin);
out:
    free(value);
    free(col);
    return status;
}
