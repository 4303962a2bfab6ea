/* SPDX-License-Identifier: Apache-2.0
 *
 * Random damage to tables and logs: fuzz_table [SECONDS [SEED]]. Whatever comes, a reader takes it
 * whole or says MC_EINPUT, and every cell that it took as a number is finite; the sanitizers see to
 * the rest. */
#include "libcommon/base/rng.h"
#include "tools/plot/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX 4096

static const char *const samples[] = {
    "t\ttest.loss\ttest.accuracy\n0\t0.5\t83.5\n0.5\t-1e-3\t+12.\n1\t.75\t83\n",
    "layer\tunits\tidentity\tpermuted\nlayers.0.conv\t16\t0.01\t0.63\n",
    "{\"event\":\"start\",\"net\":\"a \\\"b\\\" \\u00e9\",\"list\":[1,{\"x\":[]},\"]\"]}\n"
    "{\"event\":\"epoch\",\"epoch\":1,\"loss\":2.5e0,\"accuracy\":null}\n"
    "{\"event\":\"epoch\",\"epoch\":2,\"loss\":2,\"accuracy\":50,\"more\":true}\n",
};
static const char *const sets[] = {"\t",
                                   "\n",
                                   "\"",
                                   "\\",
                                   "\\u",
                                   "{",
                                   "}",
                                   "[",
                                   "]",
                                   ",",
                                   ":",
                                   "nan",
                                   "1e999",
                                   "-",
                                   "null",
                                   "",
                                   "\\u00",
                                   "epoch",
                                   "{\"event\":\"epoch\"}\n",
                                   "\xff\xfe",
                                   "0x1",
                                   "\r\n",
                                   "event",
                                   " ",
                                   "[[[[[[[[",
                                   "\"loss\":"};

static uint64_t seed = 1, counter;

static uint32_t below(uint32_t n)
{
    uint64_t c = counter++;
    return mc_rng_below(mc_rng(seed, 0, (uint32_t)(c >> 32), (uint32_t)c, 0).v[0], n);
}

/* One change at a random place: a piece put in, a stretch cut out or doubled, a byte changed. */
static size_t damage(char *text, size_t n)
{
    size_t at = below((uint32_t)n + 1), len = below(16);
    const char *set = sets[below(sizeof sets / sizeof *sets)];

    if (at + len > n)
        len = n - at;
    switch (below(4)) {
    case 0:
        len = strlen(set);
        memmove(text + at + len, text + at, n - at);
        memcpy(text + at, set, len);
        return n + len;
    case 1:
        memmove(text + at, text + at + len, n - at - len);
        return n - len;
    case 2:
        memmove(text + at + len, text + at, n - at);
        return n + len;
    default:
        if (at < n)
            text[at] = (char)below(256);
        return n;
    }
}

static int bad(const char *what, const char *text, size_t n)
{
    fprintf(stderr, "fuzz_table: %s\n", what);
    fwrite(text, 1, n, stderr);
    return 1;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    char file[] = "/tmp/fuzz_table.XXXXXX", text[MAX];
    static double v[MAX];
    unsigned long runs = 0, taken = 0;
    time_t end = time(NULL) + (time_t)seconds;
    int fd = mkstemp(file), rc = fd < 0;

    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    while (!rc && time(NULL) < end) {
        size_t which = below(sizeof samples / sizeof *samples), n = strlen(samples[which]);
        memcpy(text, samples[which], n);
        for (uint32_t k = below(6); k-- && n < MAX - 64;)
            n = damage(text, n);
        if (ftruncate(fd, 0) || pwrite(fd, text, n, 0) != (ssize_t)n) {
            rc = bad("cannot write its file", "", 0);
            break;
        }
        struct mc_table t = {0};
        struct mc_error err = {0};
        int got =
            which == 2 ? mc_table_read_log(&t, file, "epoch", &err) : mc_table_read(&t, file, &err);
        runs++;
        if (got && (got != MC_EINPUT || err.code != MC_EINPUT || !*err.text || t.text))
            rc = bad("refused otherwise than it should", text, n);
        taken += !got;
        for (size_t c = 0; !got && !rc && c < t.cols; c++) {
            if (t.rows > MAX || t.cols > MAX)
                rc = bad("larger than its text", text, n);
            else if (!mc_table_numbers(&t, c, v, &err))
                for (size_t r = 0; r < t.rows; r++)
                    if (!isfinite(v[r]))
                        rc = bad("took a number that is none", text, n);
        }
        mc_table_release(&t);
    }
    if (fd >= 0) {
        close(fd);
        unlink(file);
    }
    printf("fuzz_table: %lu runs, %lu taken\n", runs, taken);
    return rc || !taken || taken == runs;
}
