/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-convert: conversion of weights from and to safetensors and npz files. */
#include "formats/codecs/dataset.h"
#include "formats/exchange/convert.h"
#include "formats/exchange/graph_json.h"
#include "formats/stream/input.h"
#include "tools/cli/cli.h"
#include "tools/cli/data_warnings.h"
#include "tools/cli/networks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    struct mc_cli cli;
    const char *net, *data, *like, *groups, *map;
    int from, to; /* enum mc_convert_format */
    int f32;
};

static const char *const formats[] = {"mcz", "safetensors", "npz", NULL};

/* clang-format off */
static const struct mc_option options[] = {
    {"net", 'n', MC_OPT_TEXT, MC_AT(net), .arg = "NAME|FILE.json", .group = 10,
     .help = "network of the imported weights, " MC_HELP_NET},
    {"data", 'd', MC_OPT_INPUT, MC_AT(data), .arg = "FILE.mcz", .group = 10,
     .help = "data set that decides the image size, classes and normalisation of --net"},
    {"like", 0, MC_OPT_INPUT, MC_AT(like), .arg = "WEIGHTS.mcz", .group = 10,
     .help = "use the network of these weights instead of --net"},
    {"groups", 0, MC_OPT_INPUT, MC_AT(groups), .arg = "FILE.tsv", .group = 10,
     .help = "for a network without a graph: table of its permutation groups, one row per line; imports all "
     "floating-point tensors"},
    {"map", 0, MC_OPT_INPUT, MC_AT(map), .arg = "FILE.map", .group = 20,
     .help = "names of modules in the foreign file: one rule per line, the foreign name and ours"},
    {"from", 0, MC_OPT_CHOICE, MC_AT(from), .names = formats, .group = 30,
     .help = "format of IN (default: from its name, .safetensors or .npz; safetensors for an index of shards or a "
     "folder; else mcz)"},
    {"to", 0, MC_OPT_CHOICE, MC_AT(to), .names = formats, .group = 30,
     .help = "format of the output (default: likewise)"},
    {"f32", 0, MC_OPT_FLAG, MC_AT(f32), .group = 30, .flags = MC_OPT_HISTORY,
     .help = "convert float16 and bfloat16 to float32; default: unchanged"},
    MC_OPTION_OUTPUT, MC_OPTION_NO_HISTORY, {0}};
/* clang-format on */

static const char doc[] =
    "Convert weights from or to safetensors and npz files, with PyTorch's names."
    "\vNames, dtypes and maps: formats/exchange/convert.md. Networks without a graph (--groups), "
    "for all programs that need no graph: docs/guides/any-module.md.\n\n"
    "Memory: 66 MiB for networks of any size. A network is held in memory if it is written as npz, "
    "or if a pipe has its tensors in another order; a tensor, if npz has it in Fortran "
    "order.\n\nExamples:\n"
    "  mc-convert a.mcz -o a.safetensors\n"
    "  mc-convert net.safetensors --net resnet20 --data train.mcz -o net.mcz\n"
    "  mc-convert net.npz --like a.mcz --map kuangliu.map -o net.mcz\n"
    "  mc-convert gpt.safetensors --groups gpt.tsv -o gpt.mcz\n"
    "  mc-convert model.safetensors.index.json --groups gpt.tsv -o gpt.mcz\n"
    "  mc-convert MODEL/ --groups gpt.tsv -o gpt.mcz";

static const char *input(const struct options *o)
{
    return o->cli.operands[0];
}

/* ---- the network of foreign weights ---------------------------------------------------------- */

/* Build the network for the data. Read the data to the end, so that a truncated set is an error. */
static int build(const struct options *o, struct mc_graph **g, struct mc_dataset_info *data,
                 struct mc_error *err)
{
    struct mc_dataset_reader *d = NULL;
    int rc = mc_dataset_open(&d, o->data, err);

    if (rc)
        return rc;
    const struct mc_dataset_info *info = mc_dataset_get_info(d);
    mc_history_input(o->cli.history, mc_dataset_stream(d));
    snprintf(data->name, sizeof data->name, "%s", info->name);
    data->spec = info->spec;
    data->n = info->n;
    if (!(rc = mc_network_build(g, o->net, &info->spec, err)))
        rc = mc_reader_rest(mc_dataset_stream(d), NULL, err);
    mc_dataset_close(d);
    return rc;
}

static int read_like(const struct options *o, struct mc_graph **g, struct mc_dataset_info *data,
                     struct mc_error *err)
{
    const struct mc_stream from = {.path = o->like, .declared = 1};
    struct mc_values like;
    int rc = mc_values_open(&like, "weights", from, o->cli.history, err);

    if (!rc && !(rc = mc_values_end(&like, err))) {
        snprintf(data->name, sizeof data->name, "%s", like.curve.dataset);
        *g = like.curve.graph;
        like.curve.graph = NULL;
    }
    mc_values_close(&like);
    return rc;
}

static void report_notes(const struct options *o, const char *path,
                         const struct mc_convert_notes *n)
{
    for (int i = 0; i < MC_N_DTYPES; i++)
        if (n->converted[i] && (o->f32 || i == MC_F64))
            mc_note(&o->cli, "%s: %zu tensor%s of %s %s float32", path, n->converted[i],
                    n->converted[i] == 1 ? "" : "s", mc_dtype_name((enum mc_dtype)i),
                    i == MC_F64 ? "rounded to" : "became");
    if (n->whole)
        mc_note(&o->cli, "%s: left out %zu tensor%s of integers: %s%s", path, n->whole,
                n->whole == 1 ? "" : "s", n->names, n->whole > MC_CONVERT_NAMED ? ", ..." : "");
    if (n->left_out)
        mc_detail(&o->cli, "%s: %zu tensor%s left out", path, n->left_out,
                  n->left_out == 1 ? "" : "s");
}

/* Check that the output does not replace a shard. */
static int protect_parts(struct options *o, const struct mc_foreign *f, struct mc_error *err)
{
    for (size_t i = 0; i < f->n_parts; i++)
        mc_files_add(&o->cli.files, MC_FILE_INPUT, NULL, f->parts[i]->file);
    return mc_files_check(&o->cli.files, err);
}

/* Say in the message of rc if the file is one shard: it lacks the tensors of the others. */
static int explain_shard(int rc, const struct mc_foreign *f, struct mc_error *err)
{
    char *index = NULL;

    if (rc != MC_EINPUT || f->n_parts)
        return rc;
    mc_safetensors_find_index(&index, f->file);
    if (index)
        mc_fail_in(rc, err, "%s is one shard (give its folder or %s)", f->file, index);
    free(index);
    return rc;
}

/* Write the tensors of a source, and close it. */
static int write_all(const struct options *o, struct mc_convert_source *s, const char *dataset,
                     const struct mc_rename *map, struct mc_error *err)
{
    int rc = mc_convert_write(s, (enum mc_convert_format)o->to, o->cli.output, dataset, map,
                              o->cli.history, err);

    s->close(s);
    return rc;
}

static int import(struct options *o, const struct mc_rename *map, struct mc_error *err)
{
    struct mc_convert_source *source = NULL;
    struct mc_convert_notes notes;
    struct mc_foreign *f = NULL;
    struct mc_graph *g = NULL;
    struct mc_dataset_info data = {0}; /* name; with --data also the normalisation */
    int rc = o->like ? read_like(o, &g, &data, err) : o->groups ? 0 : build(o, &g, &data, err);

    if (rc)
        goto out;
    rc = o->from == MC_CONVERT_NPZ ? mc_npz_open(&f, input(o), err)
                                   : mc_safetensors_open(&f, input(o), err);
    if (!rc)
        rc = protect_parts(o, f, err);
    if (!rc && o->groups)
        rc = mc_convert_declare(&g, f, map, o->groups, err);
    if (!rc)
        rc = mc_convert_from_foreign(&source, g, f, map, o->f32, &notes, err);
    if (rc)
        goto out;
    mc_history_str(o->cli.history, "from", formats[o->from]);
    mc_history_str(o->cli.history, "net", g->net);
    mc_option_note(&o->cli, &o->f32, o->cli.history);
    if ((rc = write_all(o, source, data.name, map, err)))
        goto out;
    report_notes(o, f->file, &notes);
    if (o->data)
        mc_data_warn(&o->cli, g, data.name, &data, o->data, MC_DATA_MEASURE);
out:
    if (f)
        rc = explain_shard(rc, f, err);
    mc_foreign_close(f);
    mc_graph_free(g);
    return rc;
}

static int export(struct options *o, const struct mc_rename *map, struct mc_error *err)
{
    const struct mc_stream from = {.path = input(o), .declared = 1};
    struct mc_convert_source *source = NULL;
    struct mc_values v;
    int rc = mc_values_open(&v, "weights", from, o->cli.history, err);

    mc_option_note(&o->cli, &o->f32, o->cli.history);
    if (!rc)
        rc = mc_convert_from_values(&source, &v, o->f32, err);
    if (!rc)
        rc = write_all(o, source, v.curve.dataset, map, err);
    mc_values_close(&v);
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_rename *map = NULL;
    int rc = o->map ? mc_rename_read(&map, o->map, err) : 0;

    if (!rc)
        rc = o->from == MC_CONVERT_MCZ ? export(o, map, err) : import(o, map, err);
    mc_rename_free(map);
    return rc;
}

/* ---- the command line ------------------------------------------------------------------------ */

static int format_of(const char *path)
{
    const char *dot = path ? strrchr(path, '.') : NULL;

    if (dot && !strcmp(dot, ".safetensors"))
        return MC_CONVERT_SAFETENSORS;
    return dot && !strcmp(dot, ".npz") ? MC_CONVERT_NPZ : MC_CONVERT_MCZ;
}

static void check_options(struct options *o)
{
    mc_cli_operands(&o->cli, "[IN]");
    mc_cli_default_stdin(&o->cli);
    const int folder = mc_safetensors_is_folder(input(o));
    if (folder) {
        o->cli.registers_operands = 1;
        mc_files_add(&o->cli.files, MC_FILE_FOLDER, NULL, input(o));
    }
    if (o->net && mc_graph_json_is(o->net))
        mc_files_add(&o->cli.files, MC_FILE_INPUT, "net", o->net);
    if (!mc_option_given(&o->cli, &o->from))
        o->from = folder || mc_safetensors_is_index(input(o)) ? MC_CONVERT_SAFETENSORS
                                                              : format_of(input(o));
    if (!mc_option_given(&o->cli, &o->to))
        o->to = format_of(o->cli.output);
    o->cli.foreign = o->to != MC_CONVERT_MCZ;
    if (o->cli.output && mc_safetensors_is_folder(o->cli.output))
        mc_cli_usage("--output: '%s' is a folder (use -o %s%smodel.safetensors)", o->cli.output,
                     o->cli.output, o->cli.output[strlen(o->cli.output) - 1] == '/' ? "" : "/");
    if (o->from == MC_CONVERT_MCZ && (o->groups || o->net || o->like) && strcmp(input(o), "-") &&
        access(input(o), F_OK))
        mc_cli_usage("%s: no such file or folder", input(o));
    if (o->from == MC_CONVERT_MCZ && mc_cli_is_pickle(input(o)))
        mc_cli_usage("%s: PyTorch pickles cannot be read: " MC_INPUT_FROM_TORCH, input(o));
    if (mc_cli_is_pickle(o->cli.output))
        mc_cli_usage("--output: '%s': pickles cannot be written: use .safetensors, which PyTorch "
                     "reads with safetensors.torch.load_file",
                     o->cli.output);
    if (o->from == MC_CONVERT_MCZ && o->to == MC_CONVERT_MCZ && !o->f32)
        mc_cli_usage("an input or output named *.safetensors or *.npz is required (or --from, "
                     "--to or --f32)");
    if (o->from == MC_CONVERT_MCZ) {
        if (o->net || o->data || o->like || o->groups)
            mc_cli_usage("--%s has no effect: %s contains its network",
                         o->net    ? "net"
                         : o->data ? "data"
                         : o->like ? "like"
                                   : "groups",
                         input(o));
        if (o->map && o->to == MC_CONVERT_MCZ)
            mc_cli_usage("--map has no effect: a stream keeps its names");
        return;
    }
    if (!o->like + !o->net + !o->groups != 2)
        mc_cli_usage("%s: one of --like WEIGHTS.mcz, --groups FILE.tsv and --net NAME with --data "
                     "FILE.mcz is required: a %s file does not contain its network",
                     input(o), formats[o->from]);
    if (!o->net != !o->data)
        mc_cli_usage("--net and --data require each other");
}

MC_PROGRAM("mc-convert", "WEIGHTS.mcz\nFILE.safetensors\nINDEX.json\nFOLDER\nFILE.npz", doc,
           options, .check = check_options, .run = run)
