/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-bound: an upper bound of the barrier between two networks, from the distance of their
 * pre-activations. */
#include "formats/network/permutations.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"
#include "tools/align/bound.h"
#include "tools/cli/cli.h"
#include "tools/cli/text.h"
#include "tools/curve/points.h"
#include "tools/cli/networks.h"

#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Bound the loss barrier of the straight line between two networks."
    "\vReads the two networks, the moments of their pre-activations on some images, and optionally "
    "a permutation of the second network's units, or a curve that contains one. The bound limits "
    "how far the loss on those images, in evaluation mode, rises above the line between its values "
    "at the ends: for the second network unchanged (unaligned) and permuted (aligned). It is "
    "computed from the distances of the pre-activations and the spectral norms of the weights; no "
    "network runs. It applies to linear layers with ReLUs between them, as in mlp without batch "
    "norm. The table (TSV) contains the maximum over the points, its position and the mean, as "
    "mc-eval --summary does for the measured loss. -v prints one line per layer.\n\n"
    "Examples:\n"
    "  mc-bound a.mcz b.mcz moments.mcz p.mcz --path bound.tsv\n"
    "  mc-acts --at pre -d train.mcz a.mcz b.mcz | mc-bound a.mcz b.mcz -";

struct options {
    struct mc_cli cli;
    uint64_t points;
    const char *path;
};

static const struct mc_option options[] = {
    {"points", 'p', MC_OPT_U64, MC_AT(points), .arg = "T", .min = 3, .max = 100001, .def = "65",
     .help = "points of the line, t = 0 to 1"},
    {"path", 0, MC_OPT_RESULT, MC_AT(path), .arg = "FILE.tsv",
     .help = "write a table of the bound at every point"},
    MC_OPTION_OUTPUT,
    {0}};

static const char operands[] = "A.mcz B.mcz MOMENTS.mcz [PERMUTATION.mcz]";

enum { UNALIGNED, ALIGNED, WAYS };
static const char *const way_names[WAYS] = {"unaligned", "aligned"};

struct inputs {
    struct mc_weights a, b;
    struct mc_moments m;
    struct mc_perm perm;
    struct mc_bound bound;
    double *delta[WAYS]; /* (L-1); aligned: NULL without a permutation */
};

static void check_options(struct options *o)
{
    mc_cli_operands(&o->cli, operands);
    o->cli.text = 1;
}

static int read_perm(struct inputs *in, const struct options *o, struct mc_error *err)
{
    const char *path = o->cli.operands[3];
    struct mc_symmetry s = {0};
    int rc = mc_symmetry_derive(&s, in->a.graph, err);

    if (!rc)
        rc = mc_perm_read(&in->perm, (struct mc_stream){.path = path}, &s, NULL, err);
    if (!rc)
        mc_warn_found_elsewhere(&o->cli, &in->perm, path, in->a.id, in->b.id);
    mc_symmetry_release(&s);
    return rc;
}

static int read_moments(struct inputs *in, const char *path, struct mc_error *err)
{
    int rc = mc_moments_read(&in->m, (struct mc_stream){.path = path}, NULL, err);

    return rc ? rc
              : mc_fail_in(mc_bound_check(&in->bound, &in->m, &in->a, &in->b, err), err, "%s",
                           mc_file_called(path));
}

static int read_inputs(struct inputs *in, const struct options *o, struct mc_error *err)
{
    const char **path = o->cli.operands;
    int rc = mc_read_networks(&in->a, &in->b, &o->cli, 0, NULL, err);

    if (!rc)
        rc = mc_fail_in(mc_bound_init(&in->bound, &in->a, &in->b, err), err, "%s",
                        mc_file_called(path[0]));
    if (!rc)
        rc = read_moments(in, path[2], err);
    if (!rc && o->cli.n_operands == 4)
        rc = read_perm(in, o, err);
    for (int w = 0; !rc && w < WAYS; w++) {
        if (w == ALIGNED && o->cli.n_operands < 4)
            break;
        if (!(rc = mc_new(&in->delta[w], in->bound.L, err)))
            rc = mc_fail_in(
                mc_bound_distances(&in->bound, &in->m, w ? &in->perm : NULL, in->delta[w], err),
                err, "%s", mc_file_called(path[2]));
    }
    return rc;
}

static void release(struct inputs *in)
{
    for (int w = 0; w < WAYS; w++)
        free(in->delta[w]);
    mc_bound_release(&in->bound);
    mc_perm_release(&in->perm);
    mc_moments_release(&in->m);
    mc_weights_release(&in->b);
    mc_weights_release(&in->a);
}

static void print_layers(const struct inputs *in, const struct mc_cli *cli)
{
    const struct mc_graph *g = in->a.graph;

    for (size_t l = 0; l < in->bound.L; l++) {
        const double *norm = in->bound.norm[l];
        char distance[96] = "";

        if (l + 1 < in->bound.L)
            snprintf(distance, sizeof distance, ", distance of pre-activations %.6g",
                     in->delta[0][l]);
        if (*distance && in->delta[ALIGNED])
            snprintf(distance + strlen(distance), sizeof distance - strlen(distance),
                     ", aligned %.6g", in->delta[ALIGNED][l]);
        mc_detail(cli, "%s: spectral norms %.6g and %.6g%s",
                  g->params[in->bound.weight[l]].tensor.name, norm[0], norm[1], distance);
    }
}

/* value: (WAYS,T), the first `ways` rows are set. */
static int print_path(const struct options *o, size_t ways, const double *t, const double *value,
                      struct mc_error *err)
{
    struct mc_text text = {0};
    int rc = mc_text_open(&text, err);

    for (size_t w = 0; !rc && w < ways; w++)
        fprintf(text.f, "%s\t%s", w ? "" : "t", way_names[w]);
    for (size_t i = 0; !rc && i < o->points; i++) {
        fprintf(text.f, "\n%.9g", t[i]);
        for (size_t w = 0; w < ways && !rc; w++)
            rc = mc_put_result(text.f, 9, value[w * o->points + i], err);
    }
    if (!rc)
        putc('\n', text.f);
    return mc_text_close(&text, o->path, rc, err);
}

static int print_bounds(const struct options *o, const struct inputs *in, struct mc_error *err)
{
    const size_t T = o->points, ways = in->delta[ALIGNED] ? 2 : 1;
    double *t = NULL;
    struct mc_curve_summary s;
    struct mc_text text = {0};
    int rc = mc_new(&t, (2 + WAYS) * T, err);

    if (rc)
        return rc;
    double *chord = t + T, *value = chord + T;
    if (!(rc = mc_text_open(&text, err)))
        fputs("permutation\tmax\tmax_t\tmean\n", text.f);
    for (size_t w = 0; !rc && w < ways; w++) {
        for (size_t i = 0; i < T; i++) {
            t[i] = (double)i / (double)(T - 1);
            chord[i] = 1;
            value[w * T + i] = mc_bound_at(&in->bound, in->delta[w], t[i]);
        }
        mc_curve_summarise(T, t, value + w * T, chord, &s);
        fputs(way_names[w], text.f);
        if (!(rc = mc_put_result(text.f, 9, s.max, err)) &&
            !(rc = mc_put_result(text.f, 4, s.max_t, err)))
            rc = mc_put_result(text.f, 9, s.mean, err);
        mc_fail_in(rc, err, "the bound of %s and %s", mc_file_called(o->cli.operands[0]),
                   mc_file_called(o->cli.operands[1]));
        putc('\n', text.f);
    }
    if (!rc && o->path)
        rc = print_path(o, ways, t, value, err);
    free(t);
    return mc_text_close(&text, o->cli.output, rc, err);
}

static int run(struct options *o, struct mc_error *err)
{
    struct inputs in = {0};
    int rc = read_inputs(&in, o, err);

    if (!rc) {
        print_layers(&in, &o->cli);
        rc = print_bounds(o, &in, err);
    }
    release(&in);
    return rc;
}

MC_PROGRAM("mc-bound", operands, doc, options, .check = check_options, .run = run)
