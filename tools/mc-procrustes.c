/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-procrustes: the best map of each group for given matrices, of the kind that the group
 * allows. */
#include "formats/codecs/matrices.h"
#include "formats/codecs/permutation.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"
#include "libcommon/permutation/procrustes.h"
#include "tools/cli/cli.h"

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
    "identity.\n\n"
    "-v prints one line per group: the number of units, the kind, the value trace(M^T C), and the "
    "number of directions without data.\n\n"
    "Time: a singular value decomposition per group, and one per pair of heads. An optimised "
    "LAPACK (Debian: libopenblas0) is six times as fast as the reference, or more.\n\n"
    "Examples:\n"
    "  mc-corr --measure moment moments.mcz | mc-procrustes -o maps.mcz\n"
    "  mc-permute maps.mcz b.mcz -o mapped.mcz\n"
    "  mc-procrustes -v matrices.mcz -o maps.mcz";

struct options {
    struct mc_cli cli;
};

static const struct mc_option options[] = {
    MC_OPTION_OUTPUT, MC_OPTION_THREADS, MC_OPTION_NO_HISTORY, {0}};

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
        mc_note(cli,
                "%zu direction%s of %zu group%s without data: mapped nearest to the identity (-v "
                "lists them)",
                without, without == 1 ? "" : "s", groups, groups == 1 ? "" : "s");
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
    const char *path = o->cli.operands[0];
    struct mc_matrices m = {0};
    struct mc_perm p = {0};
    struct mc_assignment *info = NULL;
    struct mc_procrustes *found = NULL;
    struct mc_nesting nesting = {0};
    const double **value = NULL;
    int rc = mc_matrices_read(&m, (struct mc_stream){.path = path}, o->cli.history, err);

    if (rc || (rc = mc_new(&info, m.n_groups, err)) || (rc = mc_new(&found, m.n_groups, err)))
        goto out;
    if ((rc = mc_new(&value, m.n_groups, err)) ||
        (rc = mc_nesting_find(&nesting, m.groups, m.n_groups, err)) ||
        (rc = mc_perm_identity(&p, m.groups, m.n_groups, err)))
        goto out;
    for (size_t g = 0; g < m.n_groups; g++)
        value[g] = m.matrices[g].value;
    if (!(rc = check_measure(&m, err)))
        rc = mc_procrustes(&p, info, found, &nesting, value, o->cli.backend.threads, err);
    if (mc_fail_in(rc, err, "%s", mc_file_called(path)))
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
    return rc;
}

static void check_options(struct options *o)
{
    mc_cli_operands(&o->cli, "[MATRICES.mcz]");
    mc_cli_default_stdin(&o->cli);
}

MC_PROGRAM("[MATRICES.mcz]", doc, options, .check = check_options, .run = run)
