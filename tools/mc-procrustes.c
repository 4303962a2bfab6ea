/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-procrustes: the best map of each group for given matrices, of the kind that the group
 * allows. */
#include "formats/codecs/matrices.h"
#include "formats/codecs/permutation.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"
#include "libcommon/permutation/procrustes.h"
#include "tools/align/weight_maps.h"
#include "tools/cli/cli.h"
#include "tools/cli/memory.h"
#include "tools/cli/networks.h"

#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Map the units of one network to another's: permutations, signs, rotations."
    "\vReads one matrix C per group of units, as mc-corr --measure moment writes them. Writes for "
    "each group the map M of the second network's units that maximises trace(M^T C), of the kind "
    "that the group allows (the column allows of a group file). An orthogonal map is the polar "
    "factor of C; one that fixes the vector of ones is found in the complement of the ones; a "
    "permutation is an optimal assignment, as of mc-hungarian; with signs, one of |C|; a "
    "rotation of pairs of units has the best angle of each pair. If units contain groups, as heads "
    "do, the units are matched by the values of the best maps inside.\n\n"
    "The maps of a group that allows permutations only are those of mc-hungarian. mc-permute "
    "applies the maps. With second moments, M brings the second network's activations "
    "nearest to the first network's.\n\n"
    "Directions that no data reached are counted. There, the map is the nearest to the "
    "identity; or if the two networks are given, the one with the maximum inner product of their "
    "parameters, as in mc-match --maps.\n\n"
    "-v prints one line per group: the number of units, the kind, the value trace(M^T C), and the "
    "number of directions without data.\n\n"
    "Time: a singular value decomposition per group, and one per pair of heads. An optimised "
    "LAPACK (Debian: libopenblas0) is six times as fast as the reference, or more.\n\n"
    "Examples:\n"
    "  mc-corr --measure moment moments.mcz | mc-procrustes -o maps.mcz\n"
    "  mc-permute maps.mcz b.mcz -o mapped.mcz\n"
    "  mc-procrustes -v matrices.mcz a.mcz b.mcz -o maps.mcz";

struct options {
    struct mc_cli cli;
};

static const struct mc_option options[] = {
    MC_OPTION_OUTPUT, MC_OPTION_THREADS, MC_OPTION_NO_HISTORY, {0}};

/* The networks whose weights decide directions without data. */
struct networks {
    struct mc_weights a, b;
    struct mc_symmetry s;
};

/* Expect the groups that the matrices have. */
static int check_groups(const struct mc_perm *p, const struct mc_matrices *m,
                        const struct mc_symmetry *s, struct mc_error *err)
{
    int rc = mc_perm_check_groups(p, s, err);

    for (size_t g = 0; g < m->n_groups && !rc; g++)
        if (m->groups[g].allows != s->groups[g].allows)
            rc = mc_fail(err, MC_EINPUT, "group %s allows %s maps, but the matrix is for %s maps",
                         s->groups[g].name, mc_allows_names[s->groups[g].allows],
                         mc_allows_names[m->groups[g].allows]);
    return rc;
}

static int read_networks(struct networks *n, const struct options *o, const struct mc_perm *p,
                         const struct mc_matrices *m, struct mc_error *err)
{
    struct mc_cli cli = o->cli;
    double bytes;
    int rc;

    cli.operands++;
    if ((rc = mc_read_networks(&n->a, &n->b, &cli, 1, cli.history, err)))
        return rc;
    if ((rc = mc_fail_in(mc_symmetry_derive(&n->s, n->a.graph, err), err, "%s", *cli.operands)))
        return rc;
    bytes = mc_weight_maps_bytes(&n->s, n->a.graph);
    mc_warn_found_elsewhere(&cli, p, o->cli.operands[0], n->a.id, n->b.id);
    rc = mc_fail_in(check_groups(p, m, &n->s, err), err, "%s", *cli.operands);
    return rc ? rc : mc_memory_check(2.0 * sizeof(float) * (double)n->a.graph->P + bytes, err);
}

/* Find the rest of the maps that have directions without data. */
static int complete(const struct networks *n, struct mc_perm *p, struct mc_assignment *info,
                    struct mc_procrustes *found, const double *const *value, int threads,
                    struct mc_error *err)
{
    unsigned char *keep = NULL;
    size_t n_free = 0;
    int rc = mc_new(&keep, p->n_groups, err);

    if (rc)
        return rc;
    memset(keep, 1, p->n_groups);
    for (size_t g = 0; g < p->n_groups; g++)
        if (found[g].n_free) {
            n_free += found[g].n_free;
            keep[mc_group_is_nested(&p->groups[g]) ? p->groups[g].outer : g] = 0;
        }
    const struct mc_weight_match_opts opts = {.keep = keep, .data = value, .threads = threads};
    if (n_free)
        rc =
            mc_weight_maps(p, info, found, &n->s, n->a.graph, n->a.params, n->b.params, &opts, err);
    free(keep);
    return rc;
}

static void report(const struct mc_cli *cli, const struct mc_matrices *m,
                   const struct mc_procrustes *found)
{
    size_t without = 0, groups = 0;

    for (size_t g = 0; g < m->n_groups; g++) {
        mc_detail(cli, "%s: %zu units, %s, value %.9g, %zu directions without data",
                  m->groups[g].name, m->groups[g].size, mc_allows_names[m->groups[g].allows],
                  found[g].value, found[g].n_free);
        without += found[g].n_free;
        groups += found[g].n_free > 0;
    }
    if (without)
        mc_note(cli, "%zu direction%s of %zu group%s without data: mapped %s (-v lists them)",
                without, without == 1 ? "" : "s", groups, groups == 1 ? "" : "s",
                cli->n_operands > 1 ? "by the weights" : "nearest to the identity");
}

static int check_measure(const struct mc_matrices *m, struct mc_error *err)
{
    for (size_t g = 0; g < m->n_groups; g++)
        if (m->groups[g].allows && !strcmp(m->measure, "l2"))
            return mc_fail(err, MC_EINPUT,
                           "group %s allows %s maps, but the measure is l2 (moment or correlation "
                           "expected)",
                           m->groups[g].name, mc_allows_names[m->groups[g].allows]);
    return 0;
}

static int run(struct options *o, struct mc_error *err)
{
    const struct mc_stream from = {.path = o->cli.operands[0]};
    const char *name = mc_file_called(from.path);
    const int has_networks = o->cli.n_operands > 1, threads = o->cli.backend.threads;
    struct mc_reader *r = NULL;
    struct networks nets = {0};
    struct mc_matrices m = {0};
    struct mc_perm p = {0};
    struct mc_assignment *info = NULL;
    struct mc_procrustes *found = NULL;
    struct mc_nesting nesting = {0};
    const double **value = NULL;
    int rc = mc_stream_open(&r, from, NULL, NULL, err);

    if (rc || (rc = mc_matrices_read(&m, (struct mc_stream){.reader = r}, o->cli.history, err)))
        goto out;
    if ((rc = mc_new(&info, m.n_groups, err)) || (rc = mc_new(&found, m.n_groups, err)))
        goto out;
    if ((rc = mc_new(&value, m.n_groups, err)) ||
        (rc = mc_nesting_find(&nesting, m.groups, m.n_groups, err)) ||
        (rc = mc_perm_identity(&p, m.groups, m.n_groups, err)))
        goto out;
    for (size_t g = 0; g < m.n_groups; g++)
        value[g] = m.matrices[g].value;
    const struct mc_procrustes_values values = {.c = value};
    mc_history_pair(mc_reader_history(r), p.ids);
    if (has_networks && (rc = read_networks(&nets, o, &p, &m, err)))
        goto out;
    if (!(rc = check_measure(&m, err)))
        rc = mc_procrustes(&p, info, found, &nesting, &values, threads, err);
    if (mc_fail_in(rc, err, "%s", name))
        goto out;
    if (has_networks && (rc = complete(&nets, &p, info, found, value, threads, err)))
        goto out;
    report(&o->cli, &m, found);
    rc = mc_perm_write(&p, info, o->cli.output, o->cli.history, err);
out:
    free(info);
    free(found);
    free(value);
    mc_nesting_release(&nesting);
    mc_perm_release(&p);
    mc_matrices_release(&m);
    mc_symmetry_release(&nets.s);
    mc_weights_release(&nets.a);
    mc_weights_release(&nets.b);
    mc_stream_close(from, r);
    return rc;
}

static void check_options(struct options *o)
{
    mc_cli_operands(&o->cli, o->cli.n_operands > 1 ? "MATRICES.mcz A.mcz B.mcz" : "[MATRICES.mcz]");
    mc_cli_default_stdin(&o->cli);
}

MC_PROGRAM("[MATRICES.mcz]\nMATRICES.mcz A.mcz B.mcz", doc, options, .check = check_options,
           .run = run)
