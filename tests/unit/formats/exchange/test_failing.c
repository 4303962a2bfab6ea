/* SPDX-License-Identifier: Apache-2.0
 *
 * Failing allocations and failing input and output calls while weights are exported and imported,
 * with a map of names and with group files, and while graphs are read and printed. */
#include "formats/exchange/convert.h"
#include "formats/exchange/graph_json.h"
#include "tests/unit/failing.h"

static const struct mc_net_spec spec = {
    .channels = 1, .height = 2, .width = 2, .classes = 2, .mean = {0.5f}, .std = {0.25f}};
static const char *const names[] = {
    [MC_CONVERT_SAFETENSORS] = "x.safetensors", [MC_CONVERT_NPZ] = "x.npz"};
static struct mc_graph *graph;
static struct mc_weights weights;

/* Write the foreign file f of network g as a stream, which is discarded. */
static int import(const struct mc_graph *g, struct mc_foreign *f, const struct mc_rename *map)
{
    struct mc_convert_source *s = NULL;
    struct mc_convert_notes notes;
    int rc = mc_convert_from_foreign(&s, g, f, map, 0, &notes, &why);

    if (!rc)
        rc = mc_convert_write(s, MC_CONVERT_MCZ, "/dev/null", "tiny", NULL, NULL, &why);
    if (s)
        s->close(s);
    return rc;
}

/* Write the stream weights.mcz as a foreign file. */
static int export(enum mc_convert_format format, const char *path, const struct mc_rename *map)
{
    const struct mc_stream from = {.path = "weights.mcz"};
    struct mc_convert_source *s = NULL;
    struct mc_values v;
    int rc = mc_values_open(&v, "weights", from, NULL, &why);

    if (!rc)
        rc = mc_convert_from_values(&s, &v, 0, &why);
    if (!rc)
        rc = mc_convert_write(s, format, path, "", map, NULL, &why);
    if (s)
        s->close(s);
    mc_values_close(&v);
    return rc;
}

static int read_back(const void *format)
{
    const enum mc_convert_format from = *(const enum mc_convert_format *)format;
    struct mc_rename *map = NULL;
    struct mc_foreign *f = NULL;
    struct mc_graph *g = NULL;
    int rc = mc_network_build(&g, "net.json", &spec, &why);

    if (!rc)
        rc = mc_rename_read(&map, "map", &why);
    if (!rc)
        rc = from == MC_CONVERT_NPZ ? mc_npz_open(&f, names[from], &why)
                                    : mc_safetensors_open(&f, names[from], &why);
    if (!rc)
        rc = import(g, f, map);
    mc_foreign_close(f);
    mc_rename_free(map);
    mc_graph_free(g);
    return rc;
}

static int declare(const void *arg)
{
    struct mc_foreign *f = NULL;
    struct mc_graph *g = NULL;
    int rc = mc_npz_open(&f, names[MC_CONVERT_NPZ], &why);

    (void)arg;
    if (!rc)
        rc = mc_convert_declare(&g, f, NULL, "groups.tsv", &why);
    if (!rc)
        rc = import(g, f, NULL);
    mc_foreign_close(f);
    mc_graph_free(g);
    return rc;
}

static int write_out(const void *format)
{
    struct mc_rename *map = NULL;
    int rc = mc_rename_read(&map, "map", &why);

    if (!rc)
        rc = export(*(const enum mc_convert_format *)format, file, map);
    mc_rename_free(map);
    return rc;
}

static int print(const void *arg)
{
    char text[65536];
    FILE *f = fmemopen(text, sizeof text, "w");
    int rc = f ? mc_graph_json_print(f, graph, &why) : mc_no_memory(&why);

    (void)arg;
    if (f)
        fclose(f);
    return rc;
}

TEST(failures_are_reported)
{
    static const enum mc_convert_format formats[] = {MC_CONVERT_SAFETENSORS, MC_CONVERT_NPZ};
    struct mc_rename *map = NULL;
    FILE *f = fopen("net.json", "w");

    must(mc_net_build(&graph, "mlp:bn,3", &spec, &why));
    assert_non_null(f);
    must(mc_graph_json_print(f, graph, &why));
    fclose(f);
    must(mc_weights_init(&weights, graph, "tiny", &why));
    must(mc_weights_write(&weights, "weights.mcz", NULL, &why));
    put_text("map", "# theirs ours\nfc1 layers.0\n");
    put_text("groups.tsv", "tensor\taxis\toffset\tcount\tblock\tgroup\n"
                           "fc1.linear.weight\t0\t0\t3\t1\ta\nfc1.linear.bias\t0\t0\t3\t1\ta\n");
    must(mc_rename_read(&map, "map", &why));
    fail_all("print", print, NULL, 0);
    for (size_t i = 0; i < COUNT(formats); i++) {
        must(export(formats[i], names[formats[i]], map));
        fail_all(names[formats[i]], write_out, &formats[i], 1);
        fail_all(names[formats[i]], read_back, &formats[i], 0);
    }
    fail_all("groups", declare, NULL, 0);
    for (size_t i = 0; i < COUNT(formats); i++)
        unlink(names[formats[i]]);
    unlink("weights.mcz");
    unlink("net.json");
    unlink("map");
    unlink("groups.tsv");
    mc_rename_free(map);
    mc_weights_release(&weights);
    mc_graph_free(graph);
}

int main(int argc, char **argv)
{
    return run_failing(argc, argv, enter_folder, leave_folder);
}
