/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzz texts: graph files, group files, maps of names. Accepted inputs are
 * checked: a printed graph reads back equal, a mapped name maps back, a cell is a finite number. */
#include "tests/fuzz/fuzz.h"

#include "formats/exchange/convert.h"
#include "formats/exchange/graph_json.h"
#include "libcommon/graph/group_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int take_graph(const struct fuzz_target *t, const uint8_t *x, size_t n, struct mc_error *err)
{
    struct mc_graph *g = NULL, *again = NULL;
    struct mc_symmetry s = {0};
    struct mc_error none;
    char *text = NULL;
    size_t size = 0;
    FILE *f = NULL;
    int rc = fuzz_put(0, x, n, n, err);

    (void)t;
    if (!rc && !(rc = mc_graph_json_read(&g, fuzz_paths[0], err))) {
        if (!(f = open_memstream(&text, &size)) || mc_graph_json_print(f, g, err) || fclose(f) ||
            fuzz_put(1, (uint8_t *)text, size, size, err) ||
            mc_graph_json_read(&again, fuzz_paths[1], &none) || again->n_nodes != g->n_nodes ||
            again->n_params != g->n_params)
            rc = mc_fail(err, MC_EFAIL, "is not read as it was printed");
        else
            rc = mc_symmetry_derive(&s, g, err);
    }
    free(text);
    mc_symmetry_release(&s);
    mc_graph_free(again);
    mc_graph_free(g);
    return rc;
}

static int take_groups(const struct fuzz_target *t, const uint8_t *x, size_t n,
                       struct mc_error *err)
{
    struct mc_tensor tensors[6];
    struct mc_symmetry s = {0};
    struct mc_graph *g = NULL;

    (void)t;
    tensors[0] = mc_tensor_make("a.weight", MC_F32, 2, (const uint64_t[]){6, 4});
    tensors[1] = mc_tensor_make("a.bias", MC_F32, 1, (const uint64_t[]){6});
    tensors[2] = mc_tensor_make("b.weight", MC_F32, 4, (const uint64_t[]){8, 6, 3, 3});
    tensors[3] = mc_tensor_make("b.bias", MC_F32, 1, (const uint64_t[]){8});
    tensors[4] = mc_tensor_make("c.weight", MC_F32, 2, (const uint64_t[]){2, 72});
    tensors[5] = mc_tensor_make("qkv", MC_F32, 2, (const uint64_t[]){24, 4});
    int rc = mc_graph_declare(&g, "net", tensors, 6, (const char *)x, n, err);
    if (!rc)
        rc = mc_symmetry_derive(&s, g, err);
    for (size_t i = 0; !rc && i < s.n_groups; i++)
        if (!s.groups[i].size || s.groups[i].size > 72 ||
            (s.groups[i].outer != MC_NO_GROUP && s.groups[i].outer >= s.n_groups))
            rc = mc_fail(err, MC_EFAIL, "group of %zu", s.groups[i].size);
    mc_symmetry_release(&s);
    mc_graph_free(g);
    return rc;
}

static int take_map(const struct fuzz_target *t, const uint8_t *x, size_t n, struct mc_error *err)
{
    static const char *const names[] = {"layers.0.conv1.weight", "layer4.2.shortcut.0.bias",
                                        "linear.weight", "bn.running_mean"};
    char foreign[MC_RENAME_NAME], local[MC_RENAME_NAME];
    struct mc_rename *map = NULL;
    int rc = fuzz_put(0, x, n, n, err);

    (void)t;
    if (!rc)
        rc = mc_rename_read(&map, fuzz_paths[0], err);
    for (size_t i = 0; !rc && i < sizeof names / sizeof *names; i++) {
        rc = mc_rename_to_foreign(map, names[i], foreign, err);
        if (!rc && (mc_rename_to_local(map, foreign, local, err) != 1 || strcmp(local, names[i])))
            rc = mc_fail(err, MC_EFAIL, "%s does not lead back", names[i]);
    }
    mc_rename_free(map);
    return rc;
}

static const char *const graph_words[] = {"{",
                                          "}",
                                          "[",
                                          "]",
                                          "\"",
                                          ",",
                                          ":",
                                          "0",
                                          "1",
                                          "2",
                                          "3",
                                          "64",
                                          "-1",
                                          ".5",
                                          "1e9",
                                          "\\u0000",
                                          "true",
                                          "false",
                                          "null",
                                          "\"op\":",
                                          "\"name\":",
                                          "\"in\":",
                                          "\"out\":",
                                          "\"groups\":",
                                          "\"kernel\":",
                                          "\"stride\":",
                                          "\"pad\":",
                                          "\"conv\"",
                                          "\"linear\"",
                                          "\"relu\"",
                                          "\"add\"",
                                          "\"mul\"",
                                          "\"concat\"",
                                          "\"maxpool\"",
                                          "\"avgpool\"",
                                          "\"globalpool\"",
                                          "\"flatten\"",
                                          "\"dropout\"",
                                          "\"batchnorm\"",
                                          "\"layernorm\"",
                                          "\"scale\"",
                                          "\"gelu\"",
                                          "\"loss\"",
                                          NULL};
static const char *const group_words[] = {"tensor\taxis\toffset\tcount\tblock\tgroup\n",
                                          "\twithin\tunit\n",
                                          "a.weight",
                                          "a.bias",
                                          "qkv",
                                          "b.weight",
                                          "b.bias",
                                          "c.weight",
                                          "\t",
                                          "\n",
                                          "\n\n",
                                          "#",
                                          "0",
                                          "1",
                                          "1/2",
                                          "1/4",
                                          "2",
                                          "3",
                                          "4",
                                          "6",
                                          "8",
                                          "9",
                                          "72",
                                          "18446744073709551616",
                                          "-",
                                          "g",
                                          "h",
                                          " ",
                                          ":",
                                          "*",
                                          NULL};
static const char *const map_words[] = {"*",     ".",      "-",      "#",  "\n", " ", "layers",
                                        "conv1", "module", "weight", "\t", "**", NULL};
const struct fuzz_target fuzz_texts[] = {{"graph", graph_words, take_graph, NULL, NULL},
                                         {"groups", group_words, take_groups, NULL, NULL},
                                         {"map", map_words, take_map, NULL, NULL},
                                         {0}};
