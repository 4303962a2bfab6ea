/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-info: the contents and the history of a stream. It always reads to the end and prints nothing
 * about a damaged or truncated stream. */
#include "formats/network/check.h"
#include "formats/codecs/graph.h"
#include "formats/exchange/graph_json.h"
#include "formats/exchange/json_object.h"
#include "formats/stream/pack.h"
#include "formats/stream/reader.h"
#include "libcommon/base/json.h"
#include "tools/cli/cli.h"

#include <inttypes.h>
#include <string.h>

struct options {
    struct mc_cli cli;
    int check, json, graph;
};

static const struct mc_option options[] = {
    {"check", 0, MC_OPT_FLAG, MC_AT(check),
     .help = "check streams completely: print a line for each valid one and an error for each "
             "other one; with --json or --graph, print the valid ones that way"},
    {"json", 0, MC_OPT_FLAG, MC_AT(json), .help = "print one JSON object per stream, in one line"},
    {"graph", 0, MC_OPT_FLAG, MC_AT(graph),
     .help = "print the network of weights or a curve as a graph file for --net"},
    {0}};

static const char doc[] =
    "Print a stream's kind, content id, meta data, history and tensors.\v"
    "Memory: at most 132 MiB, also with --check of weights, curves, data sets "
    "and activations. --check of other streams holds them.\n\n"
    "Examples:\n"
    "  mc-data synth --split test --size 100 | mc-info\n"
    "  mc-info --check *.mcz\n"
    "  mc-info --graph a.mcz > mine.json";

/* ---- JSON ------------------------------------------------------------------------------------ */

static void print_json(const struct mc_reader *r)
{
    fputs("{\"file\":", stdout);
    mc_json_str(stdout, mc_reader_name(r));
    printf(",\"kind\":\"%s\",\"id\":\"%s\",\"inputs\":[", mc_reader_kind(r), mc_reader_id(r));
    for (size_t i = 0; i < mc_reader_n_inputs(r); i++)
        printf("%s\"%s\"", i ? "," : "", mc_reader_input(r, i));
    printf("],\"records\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"meta\":", mc_reader_records(r),
           mc_reader_bytes(r));
    mc_json_object(stdout, mc_reader_meta(r));
    fputs(",\"history\":", stdout);
    mc_json_object(stdout, mc_reader_history(r));
    fputs(",\"tensors\":[", stdout);
    for (size_t i = 0; i < mc_reader_n_tensors(r); i++) {
        const struct mc_tensor *t = mc_reader_tensor(r, i);
        printf("%s{\"name\":", i ? "," : "");
        mc_json_str(stdout, t->name);
        printf(",\"dtype\":\"%s\",\"shape\":[", mc_dtype_name(t->dtype));
        for (int k = 0; k < t->ndim; k++)
            printf("%s%" PRIu64, k ? "," : "", t->shape[k]);
        fputs("]}", stdout);
    }
    puts("]}");
}

/* ---- text ------------------------------------------------------------------------------------ */

/* "1 record", "2 records" */
static void print_count(uint64_t n, const char *unit)
{
    printf("%" PRIu64 " %s%s", n, unit, n == 1 ? "" : "s");
}

static void print_value(const msgpack_object *o)
{
    char number[MC_SHORTEST];

    if (o->type == MSGPACK_OBJECT_STR)
        mc_plain_text(stdout, o->via.str.ptr, o->via.str.size);
    else if (o->type == MSGPACK_OBJECT_FLOAT32 || o->type == MSGPACK_OBJECT_FLOAT64)
        fputs(mc_shortest(number, o->via.f64), stdout);
    else
        mc_json_object(stdout, o);
}

/* True for values that are printed; of longer ones only the size is. */
static int is_short(const msgpack_object *o)
{
    if (o->type == MSGPACK_OBJECT_MAP)
        return !o->via.map.size;
    if (o->type != MSGPACK_OBJECT_ARRAY)
        return o->type != MSGPACK_OBJECT_STR || o->via.str.size <= 200;
    for (uint32_t i = 0; i < o->via.array.size; i++)
        if (o->via.array.ptr[i].type == MSGPACK_OBJECT_ARRAY ||
            o->via.array.ptr[i].type == MSGPACK_OBJECT_MAP)
            return 0;
    return o->via.array.size <= 16;
}

static void print_meta(const msgpack_object *meta, int verbose)
{
    for (uint32_t i = 0; i < meta->via.map.size; i++) {
        const msgpack_object *key = &meta->via.map.ptr[i].key, *v = &meta->via.map.ptr[i].val;
        fputs("  ", stdout);
        mc_plain_text(stdout, key->via.str.ptr, key->via.str.size);
        printf("%*s", key->via.str.size < 16 ? (int)(16 - key->via.str.size) : 1, "");
        if (verbose || is_short(v))
            print_value(v);
        else if (v->type == MSGPACK_OBJECT_MAP)
            printf("(%" PRIu32 " key%s; -v shows them)", v->via.map.size,
                   v->via.map.size == 1 ? "" : "s");
        else if (v->type == MSGPACK_OBJECT_ARRAY)
            printf("(%" PRIu32 " item%s; -v shows them)", v->via.array.size,
                   v->via.array.size == 1 ? "" : "s");
        else
            printf("(%" PRIu32 " bytes of text; -v shows them)", v->via.str.size);
        putchar('\n');
    }
}

static void print_history(const msgpack_object *list)
{
    for (uint32_t i = 0; i < list->via.array.size; i++) {
        const msgpack_object *e = &list->via.array.ptr[i];
        const msgpack_object *args = mc_get_opt(e, "args"), *parents = mc_get_opt(e, "parents");
        printf("  %2" PRIu32 "  ", i + 1);
        print_value(mc_get_opt(e, "tool"));
        putchar(' ');
        print_value(mc_get_opt(e, "version"));
        for (uint32_t k = 0; k < args->via.array.size; k++) {
            const msgpack_object *pair = args->via.array.ptr[k].via.array.ptr;
            putchar(' ');
            print_value(&pair[0]);
            putchar('=');
            print_value(&pair[1]);
        }
        for (uint32_t k = 0; k < parents->via.array.size; k++)
            printf("%s%" PRIu64, k ? ", " : "  from ", parents->via.array.ptr[k].via.u64 + 1);
        putchar('\n');
    }
}

static void print_tensors(const struct mc_reader *r)
{
    for (size_t i = 0; i < mc_reader_n_tensors(r); i++) {
        const struct mc_tensor *t = mc_reader_tensor(r, i);
        char shape[MC_MAX_DIMS * 21 + 1] = "scalar";
        size_t length = 0;
        for (int k = 0; k < t->ndim; k++)
            length += (size_t)snprintf(shape + length, sizeof shape - length, "%s%" PRIu64,
                                       k ? "x" : "", t->shape[k]);
        printf("  %-8s  %-16s  ", mc_dtype_name(t->dtype), shape);
        mc_plain(stdout, t->name);
        putchar('\n');
    }
}

static void print(const struct mc_reader *r, int verbose)
{
    mc_plain(stdout, mc_reader_name(r));
    printf(": %s\n", mc_reader_kind(r));
    printf("id %s, ", mc_reader_id(r));
    print_count(mc_reader_n_tensors(r), "tensor");
    fputs(", ", stdout);
    print_count(mc_reader_records(r), "record");
    fputs(", ", stdout);
    print_count(mc_reader_bytes(r), "byte");
    putchar('\n');
    for (size_t i = 0; i < mc_reader_n_inputs(r); i++)
        printf("input %s\n", mc_reader_input(r, i));
    puts("meta");
    print_meta(mc_reader_meta(r), verbose);
    puts("history");
    print_history(mc_reader_history(r));
    puts("tensors");
    print_tensors(r);
}

static void print_check(const struct mc_reader *r)
{
    mc_plain(stdout, mc_reader_name(r));
    printf(": ok, kind %s, id %s, ", mc_reader_kind(r), mc_reader_id(r));
    print_count(mc_reader_records(r), "record");
    putchar('\n');
}

static int print_graph(const struct mc_reader *r, struct mc_error *err)
{
    const msgpack_object *map = mc_get_opt(mc_reader_meta(r), "graph");
    struct mc_graph *g = NULL;
    int rc = 0;

    if (!map)
        return mc_fail(err, MC_EINPUT, "%s: weights or curve with a graph expected, got %s",
                       mc_reader_name(r), mc_reader_kind(r));
    if ((rc = mc_graph_unpack(&g, map, err)))
        return mc_fail_in(rc, err, "%s", mc_reader_name(r));
    rc = mc_graph_json_print(stdout, g, err);
    mc_graph_free(g);
    return rc;
}

static int show(const struct options *o, const char *path, struct mc_error *err)
{
    struct mc_reader *r = NULL;
    int rc = mc_reader_open(&r, path, err);

    if (!rc)
        rc = o->check ? mc_stream_check(r, err) : mc_reader_rest(r, NULL, err);
    if (rc)
        goto out;
    if (o->graph)
        rc = print_graph(r, err);
    else if (o->json)
        print_json(r);
    else if (!o->check)
        print(r, o->cli.verbose);
    else if (!o->cli.quiet)
        print_check(r);
out:
    mc_reader_close(r);
    return rc;
}

/* Read all files; the status is that of the last failure. */
static int run(struct options *o, struct mc_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < o->cli.n_operands; i++) {
        struct mc_error now = {0};
        int failed = show(o, o->cli.operands[i], &now);
        if (!failed)
            continue;
        if (rc && *err->text)
            mc_message(err->text);
        rc = failed;
        *err = now;
    }
    return rc;
}

static void check_options(struct options *o)
{
    o->cli.text = 1;
    if (o->json && o->graph)
        mc_cli_usage("--json and --graph cannot be combined");
    mc_cli_default_stdin(&o->cli);
}

MC_PROGRAM("mc-info", "[FILE.mcz...]", doc, options, .check = check_options, .prints = 1,
           .run = run)
