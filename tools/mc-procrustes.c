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
    "\vReads one matrix C per group of units, as mc-corr --measure moment writes them: rows are "
    "the units of the first network, columns those of the second. Writes for each group the map M "
    "of the second network's units that maximises trace(M^T C), of the kind that the group allows "
    "(the column allows of a group file):\n\n"
    "  permutation  the best assignment by C, as mc-hungarian finds it\n"
    "  signed       the best assignment by |C|, with the signs of its entries\n"
    "  rotation     the best angle of each pair of units\n"
    "  half-turn    the better sign of each pair of units\n"
    "  orthogonal   U V^T of the singular value decomposition C = U S V^T\n"
    "  centred      the same among matrices that fix the vector of ones\n\n"
    "If units contain groups, as heads do, the units are matched by the values of the best maps "
    "inside.\n\n"
    "mc-permute applies the maps. With second moments, M brings the second network's activations "
    "nearest to the first network's.\n\n"
    "Directions that no data reached are counted. There, the map is the nearest to the identity. "
    "If the networks A and B are given, it is the one with the maximum inner product of their "
    "parameters, as in mc-match --maps; the order of heads still follows the data. The networks "
    "are read only if there are such directions. A is the first network of the matrices. Networks "
    "whose groups allow more than permutations come from mcz.torch.canonical and mcz.torch.save."
    "\n\n"
    "-v prints one line per group: the number of units, the kind, the value trace(M^T C), and the "
    "number of directions without data.\n\n"
    "Time: a singular value decomposition per group, and one per pair of heads. If networks are "
    "given, a group with directions without data takes at least two more. With OpenBLAS (Debian: "
    "libopenblas0), one of 1,024 units takes 0.6 s of a core, and one of 4,096 units 41 s; the "
    "reference LAPACK takes six times as long. Memory: about 60 bytes per entry of the largest "
    "matrix, for each thread.\n\n"
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
static int check_groups(const struct mc_matrices *m, const struct mc_symmetry *s,
                        struct mc_error *err)
{
    for (size_t g = 0; g < m->n_groups || g < s->n_groups; g++) {
        const struct mc_group *x = &m->groups[g], *y = &s->groups[g];
        if (g == m->n_groups || g == s->n_groups || strcmp(x->name, y->name) ||
            x->size != y->size || x->allows != y->allows || !mc_group_same_place(x, y))
            return mc_fail(err, MC_EINPUT, "the matrices are for other groups (the first is %s)",
                           g == s->n_groups ? x->name : y->name);
    }
    return 0;
}

static int read_networks(struct networks *n, const struct options *o, const struct mc_perm *p,
                         const struct mc_matrices *m, struct mc_error *err)
{
    struct mc_cli cli = o->cli;
    const struct mc_graph *graph;
    int rc;

    cli.operands++;
    if ((rc = mc_read_networks(&n->a, &n->b, &cli, 1, cli.history, err)))
        return rc;
    graph = n->a.graph;
    if (!(rc = mc_symmetry_derive(&n->s, graph, err)))
        rc = check_groups(m, &n->s, err);
    if (mc_fail_in(rc, err, "%s", mc_file_called(*cli.operands)))
        return rc;
    mc_warn_found_elsewhere(&cli, p, o->cli.operands[0], n->a.id, n->b.id);
    return mc_memory_check(
        2.0 * sizeof(float) * (double)graph->P + mc_weight_maps_bytes(&n->s, graph), err);
}

/* Directions of a group without data. The order of units that contain groups does not count, because
 * weights do not decide it. */
static size_t n_without_data(const struct mc_matrices *m, const struct mc_procrustes *found,
                             size_t g)
{
    return m->matrices[g].holds ? 0 : found[g].n_free;
}

/* Solve the groups that have directions without data again, with the weights. */
static int complete(const struct options *o, const struct mc_matrices *m, struct mc_perm *p,
                    struct mc_assignment *info, struct mc_procrustes *found,
                    const double *const *value, struct mc_error *err)
{
    struct networks n = {0};
    unsigned char *keep = NULL;
    int rc = mc_new(&keep, p->n_groups, err);

    if (rc || (rc = read_networks(&n, o, p, m, err)))
        goto out;
    memset(keep, 1, p->n_groups);
    for (size_t g = 0; g < p->n_groups; g++)
        if (n_without_data(m, found, g))
            keep[mc_group_is_nested(&p->groups[g]) ? p->groups[g].outer : g] = 0;
    const struct mc_weight_match_opts opts = {
        .keep = keep, .data = value, .threads = o->cli.backend.threads};
    rc = mc_weight_maps(p, info, found, &n.s, n.a.graph, n.a.params, n.b.params, &opts, err);
out:
    free(keep);
    mc_symmetry_release(&n.s);
    mc_weights_release(&n.a);
    mc_weights_release(&n.b);
    return rc;
}

static void report(const struct mc_cli *cli, const struct mc_matrices *m,
                   const struct mc_procrustes *found, size_t without)
{
    size_t groups = 0;

    for (size_t g = 0; g < m->n_groups; g++) {
        const size_t n = n_without_data(m, found, g);
        mc_detail(cli, "%s: %zu units, %s, value %.9g, %zu directions without data",
                  m->groups[g].name, m->groups[g].size, mc_allows_names[m->groups[g].allows],
                  found[g].value, n);
        groups += n > 0;
    }
    if (without)
        mc_note(cli, "%zu direction%s of %zu group%s without data %s; -v lists them)", without,
                without == 1 ? "" : "s", groups, groups == 1 ? "" : "s",
                cli->n_operands > 1 ? "(mapped by the weights"
                                    : "(give the networks to map them by weights");
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
    struct mc_reader *r = NULL;
    struct mc_matrices m = {0};
    struct mc_perm p = {0};
    struct mc_assignment *info = NULL;
    struct mc_procrustes *found = NULL;
    struct mc_nesting nesting = {0};
    const double **value = NULL;
    size_t without = 0;
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
    if (!(rc = check_measure(&m, err)))
        rc = mc_procrustes(&p, info, found, &nesting, &values, o->cli.backend.threads, err);
    if (mc_fail_in(rc, err, "%s", name))
        goto out;
    for (size_t g = 0; g < m.n_groups; g++)
        without += n_without_data(&m, found, g);
    if (o->cli.n_operands > 1 && without && (rc = complete(o, &m, &p, info, found, value, err)))
        goto out;
    report(&o->cli, &m, found, without);
    rc = mc_perm_write(&p, info, o->cli.output, o->cli.history, err);
out:
    free(info);
    free(found);
    free(value);
    mc_nesting_release(&nesting);
    mc_perm_release(&p);
    mc_matrices_release(&m);
    mc_stream_close(from, r);
    return rc;
}

static void check_options(struct options *o)
{
    mc_cli_operands(&o->cli, o->cli.n_operands > 1 ? "MATRICES.mcz A.mcz B.mcz" : "[MATRICES.mcz]");
    mc_cli_default_stdin(&o->cli);
}

MC_PROGRAM("mc-procrustes", "[MATRICES.mcz]\nMATRICES.mcz A.mcz B.mcz", doc, options,
           .check = check_options, .run = run)
