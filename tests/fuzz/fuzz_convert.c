/* SPDX-License-Identifier: Apache-2.0
 *
 * Random damage to safetensors, npz, graph and map files: fuzz_convert [SECONDS [SEED]]. Whatever
 * comes is taken whole or refused with MC_EINPUT, and what was taken is finite; the sanitizers see
 * to the rest. */
#include "formats/exchange/convert.h"
#include "formats/exchange/graph_json.h"
#include "tests/fuzz/fuzz.h"

#define MAX 65536

enum kind { SAFETENSORS, NPZ, GRAPH, MAP, N_KINDS };

static const char *const words[] = {"{", "}",  "[",  "]", "\"", ",", ":", "0", "1", "2", "3", "4",
                                    "5", "6",  "7",  "8", "9",  "-", ".", "e", "E", "*", "#", "\\",
                                    " ", "\n", "\t", "'", "(",  ")", "T", "F", "<", "f", NULL};
static struct mc_graph *graph;
static enum kind kind;
static struct {
    unsigned char bytes[MAX];
    size_t n;
} samples[N_KINDS];

/* The golden network as all three, and a map. */
static int prepare(void)
{
    const char *root = getenv("MC_ROOT"), *map = "layer*.*.shortcut layer*.*.downsample # x\n"
                                                 "linear fc\nmodule .\nmean -\n";
    const char *json = "tests/parity/convert_golden.json";
    const char *tensors = "tests/parity/convert_golden.safetensors";
    char golden[4096], npz[] = "/tmp/fuzz_convert.XXXXXX";
    int fd = mkstemp(npz), rc = fd < 0;
    struct mc_convert_notes notes;
    struct mc_foreign *f = NULL;
    struct mc_weights w = {0};
    FILE *in = NULL;

    snprintf(golden, sizeof golden, "%s/%s", root ? root : ".", json);
    rc = rc || !(samples[GRAPH].n = fuzz_read(json, samples[GRAPH].bytes, MAX)) ||
         mc_graph_json_read(&graph, golden, NULL);
    snprintf(golden, sizeof golden, "%s/%s", root ? root : ".", tensors);
    rc = rc || !(samples[SAFETENSORS].n = fuzz_read(tensors, samples[SAFETENSORS].bytes, MAX)) ||
         mc_safetensors_open(&f, golden, NULL) ||
         mc_convert_import(&w, graph, "", f, NULL, &notes, NULL) ||
         mc_convert_export(&w, MC_CONVERT_NPZ, npz, NULL, NULL) || !(in = fopen(npz, "rb")) ||
         !(samples[NPZ].n = fread(samples[NPZ].bytes, 1, MAX, in));
    samples[MAP].n = strlen(map);
    memcpy(samples[MAP].bytes, map, samples[MAP].n);
    if (in)
        fclose(in);
    close(fd);
    unlink(npz);
    mc_foreign_close(f);
    mc_weights_release(&w);
    return rc;
}

static size_t sample(unsigned char *x)
{
    kind = (enum kind)below(N_KINDS);
    memcpy(x, samples[kind].bytes, samples[kind].n);
    return samples[kind].n;
}

static int take(const unsigned char *x, size_t n, struct mc_error *err)
{
    struct mc_convert_notes notes;
    struct mc_rename *map = NULL;
    struct mc_foreign *f = NULL;
    struct mc_graph *g = NULL;
    struct mc_weights w = {0};
    char name[MC_RENAME_NAME];
    int rc = fuzz_put(x, n, err);

    if (rc)
        return rc;
    if (kind == GRAPH) {
        rc = mc_graph_json_read(&g, fuzz_path, err);
    } else if (kind == MAP) {
        rc = mc_rename_read(&map, fuzz_path, err);
        for (size_t i = 0; i < graph->n_params && !rc; i++)
            rc = mc_rename_theirs(map, graph->params[i].tensor.name, name, err);
    } else {
        rc =
            kind == NPZ ? mc_npz_open(&f, fuzz_path, err) : mc_safetensors_open(&f, fuzz_path, err);
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
    const struct fuzzer f = {
        .name = "convert", .words = words, .most = 4, .sample = sample, .take = take};
    int rc = prepare();

    if (rc)
        fprintf(stderr, "fuzz_convert: cannot prepare its samples\n");
    else
        rc = fuzz(&f, argc, argv);
    mc_graph_free(graph);
    return rc != 0;
}
