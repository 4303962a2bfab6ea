/* SPDX-License-Identifier: Apache-2.0
 *
 * Random damage to safetensors, npz, graph and map files: fuzz_convert [SECONDS [SEED]]. Whatever
 * comes is taken whole or refused with MC_EINPUT, and what was taken is finite; the sanitizers see
 * to the rest. */
#include "formats/exchange/convert.h"
#include "formats/exchange/graph_json.h"
#include "libcommon/base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX 65536

enum kind { SAFETENSORS, NPZ, GRAPH, MAP, N_KINDS };

static uint64_t seed = 1, counter;
static char file[] = "/tmp/fuzz_convert.XXXXXX";
static struct mc_graph *graph;
static struct {
    unsigned char bytes[MAX];
    size_t n;
} samples[N_KINDS];

static uint32_t below(size_t n)
{
    uint64_t c = counter++;
    return mc_rng_below(mc_rng(seed, 0, (uint32_t)(c >> 32), (uint32_t)c, 0).v[0], (uint32_t)n);
}

/* A bit, a character that means something, a stretch from elsewhere, or an end. */
static size_t harm(unsigned char *x, size_t n)
{
    static const char meant[] = "{}[]\",:0123456789-.eE*#\\ \n\t'()TF<f4";
    size_t at = below(n ? n : 1), from = below(n ? n : 1), len = below(24);

    if (!n)
        return 0;
    len = len < n - from ? len : n - from;
    switch (below(8)) {
    case 0:
        x[at] ^= (unsigned char)(1u << below(8));
        return n;
    case 1:
    case 2:
        x[at] = (unsigned char)meant[below(sizeof meant - 1)];
        return n;
    case 3:
        x[at] = (unsigned char)below(256);
        return n;
    case 4: /* put in */
        if (n + len > MAX)
            return n;
        {
            unsigned char set[24];
            memcpy(set, x + from, len);
            memmove(x + at + len, x + at, n - at);
            memcpy(x + at, set, len);
        }
        return n + len;
    case 5: /* put over */
        memmove(x + at, x + from, len < n - at ? len : n - at);
        return n;
    case 6: /* taken out */
        memmove(x + from, x + from + len, n - from - len);
        return n - len;
    default:
        return below(4) ? n : at;
    }
}

static int read_sample(enum kind k, const char *path)
{
    FILE *f = fopen(path, "rb");

    if (!f)
        return -1;
    samples[k].n = fread(samples[k].bytes, 1, MAX, f);
    fclose(f);
    return samples[k].n ? 0 : -1;
}

/* The golden network as all three, and a map. */
static int prepare(void)
{
    const char *root = getenv("MC_ROOT"), *map = "layer*.*.shortcut layer*.*.downsample # x\n"
                                                 "linear fc\nmodule .\nmean -\n";
    struct mc_convert_notes notes;
    struct mc_foreign *f = NULL;
    struct mc_weights w = {0};
    char path[4096];
    int rc = 0;

    snprintf(path, sizeof path, "%s/tests/parity/convert_golden.json", root ? root : ".");
    rc = read_sample(GRAPH, path) || mc_graph_json_read(&graph, path, NULL);
    snprintf(path, sizeof path, "%s/tests/parity/convert_golden.safetensors", root ? root : ".");
    rc = rc || read_sample(SAFETENSORS, path) || mc_safetensors_open(&f, path, NULL) ||
         mc_convert_import(&w, graph, "", f, NULL, &notes, NULL) ||
         mc_convert_export(&w, MC_CONVERT_NPZ, file, NULL, NULL) || read_sample(NPZ, file);
    samples[MAP].n = strlen(map);
    memcpy(samples[MAP].bytes, map, samples[MAP].n);
    mc_foreign_close(f);
    mc_weights_release(&w);
    return rc;
}

static int take(enum kind k, struct mc_error *err)
{
    struct mc_convert_notes notes;
    struct mc_rename *map = NULL;
    struct mc_foreign *f = NULL;
    struct mc_graph *g = NULL;
    struct mc_weights w = {0};
    char name[MC_RENAME_NAME];
    int rc = 0;

    if (k == GRAPH) {
        rc = mc_graph_json_read(&g, file, err);
    } else if (k == MAP) {
        rc = mc_rename_read(&map, file, err);
        for (size_t i = 0; i < graph->n_params && !rc; i++)
            rc = mc_rename_theirs(map, graph->params[i].tensor.name, name, err);
    } else {
        rc = k == NPZ ? mc_npz_open(&f, file, err) : mc_safetensors_open(&f, file, err);
        if (!rc && !(rc = mc_convert_import(&w, graph, "", f, NULL, &notes, err)) &&
            (mc_flat_finite(graph->params, graph->n_params, w.params, NULL, NULL) ||
             mc_flat_finite(graph->stats, graph->n_stats, w.stats, NULL, NULL)))
            rc = MC_EFAIL;
    }
    mc_foreign_close(f);
    mc_rename_free(map);
    mc_graph_free(g);
    mc_weights_release(&w);
    return rc;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    unsigned long runs = 0, taken = 0;
    time_t end = time(NULL) + (time_t)seconds;
    static unsigned char x[MAX];
    int fd = mkstemp(file), rc = fd < 0 || prepare();

    if (rc)
        fprintf(stderr, "fuzz_convert: cannot prepare its samples\n");
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    close(fd);
    while (!rc && time(NULL) < end) {
        enum kind k = (enum kind)below(N_KINDS);
        size_t n = samples[k].n;
        struct mc_error err = {0};
        FILE *f = fopen(file, "wb");
        memcpy(x, samples[k].bytes, n);
        for (uint32_t times = 1 + below(4); times--;)
            n = harm(x, n);
        if (!f || fwrite(x, 1, n, f) != n || fclose(f)) {
            fprintf(stderr, "fuzz_convert: cannot write its file\n");
            rc = 1;
            break;
        }
        int got = take(k, &err);
        runs++;
        taken += !got;
        if (got && (got != MC_EINPUT || err.code != MC_EINPUT || !*err.text)) {
            fprintf(stderr, "fuzz_convert: kind %d, run %lu: %d, '%s'; kept in %s\n", (int)k, runs,
                    got, err.text, file);
            rc = 1;
        }
    }
    printf("fuzz_convert: %lu files, %lu of them taken\n", runs, taken);
    if (!rc)
        unlink(file);
    mc_graph_free(graph);
    return rc || !taken || taken == runs;
}
