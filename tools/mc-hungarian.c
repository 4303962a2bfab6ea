/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-hungarian: the permutation with the maximum value in given matrices, exact, group by group. */
#include "formats/codecs/matrices.h"
#include "formats/codecs/permutation.h"
#include "libcommon/base/file.h"
#include "tools/align/chosen_groups.h"
#include "tools/align/matching.h"
#include "tools/cli/cli.h"

#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Match the units of two networks by an optimal assignment in each group."
    "\vReads one similarity matrix per group of units, as mc-corr writes them: rows are units of "
    "the first network, columns are units of the second, and higher is better. Writes the "
    "permutation of the second network's units for which the sum over matched pairs is greatest, "
    "like SciPy's linear_sum_assignment (exact; Jonker and Volgenant's algorithm). Units with "
    "almost no variance match nothing well: they get the remaining partners and are listed.\n\n"
    "-v prints one line per group: the number of units; the value (the sum) and its mean per pair; "
    "the gap; the number of units in ties. The gap is the distance to an upper bound on the value: "
    "a gap of 0, up to rounding, proves that no permutation is better. Units in ties could be "
    "matched differently with the same value. If units contain groups of units (the blocks of a "
    "grouped convolution contain channels), the value of a pair is that of the best matching "
    "inside, and the mean is per inner pair.\n\n"
    "With --groups, the groups that no pattern matches keep their order, and -v prints \"kept\" "
    "for "
    "them. A chosen group of units moves whole units; the order inside a unit stays unless the "
    "groups inside are chosen too.\n\n"
    "With --constraint, the permutation must be at least as good as the identity in a second set "
    "of matrices, those of activations before the ReLU (the paper, appendix C.3). A search over a "
    "Lagrange multiplier finds it. It may not be the best such permutation; the gap is then the "
    "distance to an upper bound for all of them. -v adds the multiplier; the slack, by how much "
    "the permutation is better than the identity in the second matrices; and the best value "
    "without the constraint. Units that contain groups are not supported.\n\n"
    "Examples:\n"
    "  mc-hungarian matrices.mcz -o p.mcz\n"
    "  mc-hungarian -v --groups '*.mlp,*.heads' matrices.mcz -o p.mcz\n"
    "  mc-hungarian -v --constraint pre.mcz post.mcz -o p.mcz\n"
    "  mc-acts --data train.mcz a.mcz b.mcz | mc-corr | mc-hungarian -v -o p.mcz";

struct options {
    struct mc_cli cli;
    const char *matrices, *constraint, *groups;
};

static const struct mc_option options[] = {
    {"constraint", 0, MC_OPT_INPUT, MC_AT(constraint), .arg = "MATRICES.mcz",
     .help = "write a permutation at least as good as the identity in these matrices (see below)"},
    {"groups", 0, MC_OPT_TEXT, MC_AT(groups), .arg = "PATTERN,...",
     .help = MC_HELP_CHOSEN_GROUPS " the identity"},
    MC_OPTION_OUTPUT,
    MC_OPTION_THREADS,
    MC_OPTION_NO_HISTORY,
    {0}};

static void report(const struct options *o, const struct mc_matrices *m,
                   const struct mc_assignment *info, const struct mc_constrained *constrained)
{
    const struct mc_cli *cli = &o->cli;

    for (size_t k = 0; k < m->n_groups; k++) {
        const struct mc_group *g = &m->groups[k];
        const size_t holds = m->matrices[k].holds;
        const struct mc_assignment *found = &info[k];
        char more[160] = "";

        if (found->kept) {
            mc_detail(cli, "%s: %zu units, kept", g->name, g->size);
            continue;
        }
        if (o->constraint)
            snprintf(more, sizeof more, ", multiplier %.4g, slack %.4g, unconstrained %.9g",
                     constrained[k].multiplier, constrained[k].slack, constrained[k].free_value);
        mc_detail(cli, "%s: %zu units, value %.9g (mean %.6f), gap %.2g, %zu in ties%s", g->name,
                  g->size, found->value, found->value / (double)(holds ? holds : g->size),
                  found->gap, found->n_ties, more);
    }
    if (mc_note_dead_units(cli, m, "have almost no variance: matched with the remaining units"))
        return;
    for (size_t k = 0; k < m->n_groups; k++) {
        const struct mc_matrix *x = &m->matrices[k];
        if (!info[k].kept && (x->n_dead_a || x->n_dead_b))
            mc_note(cli,
                    "%s%s: of %zu units, %zu of a and %zu of b have almost no variance: matched "
                    "with the remaining units",
                    m->groups[k].name, m->groups[k].within ? " and its equivalents" : "", x->n,
                    x->n_dead_a, x->n_dead_b);
    }
}

static int read_inputs(struct mc_matrices *m, struct mc_matrices *c, const struct options *o,
                       struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    int rc = mc_matrices_read(m, (struct mc_stream){.path = o->matrices}, h, err);

    if (rc || !o->constraint)
        return rc;
    if ((rc = mc_matrices_read(c, (struct mc_stream){.path = o->constraint}, h, err)))
        return rc;
    mc_history_str(h, "constraint", c->measure);
    return mc_match_check(m, c, o->matrices, o->constraint, err);
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_matrices m = {0}, constraint = {0};
    struct mc_perm p = {0};
    struct mc_assignment *info = NULL;
    struct mc_constrained *constrained = NULL;
    unsigned char *keep = NULL;
    int rc = read_inputs(&m, &constraint, o, err);

    if (rc || (rc = mc_groups_keep(&keep, m.groups, m.n_groups, o->groups,
                                   mc_file_called(o->matrices), err)))
        goto out;
    if (o->groups)
        mc_history_str(o->cli.history, "groups", o->groups);
    info = calloc(m.n_groups + 1, sizeof *info);
    constrained = calloc(m.n_groups + 1, sizeof *constrained);
    rc = info && constrained
             ? mc_match(&p, info, constrained, &m, o->constraint ? &constraint : NULL, keep,
                        o->cli.backend.threads, err)
             : mc_no_memory(err);
    if (mc_fail_in(rc, err, "%s", mc_file_called(o->matrices)))
        goto out;
    report(o, &m, info, constrained);
    rc = mc_perm_write(&p, info, o->cli.output, o->cli.history, err);
out:
    free(keep);
    free(info);
    free(constrained);
    mc_perm_release(&p);
    mc_matrices_release(&constraint);
    mc_matrices_release(&m);
    return rc;
}

static void check_options(struct options *o)
{
    mc_cli_operands(&o->cli, "[MATRICES.mcz]");
    mc_cli_default_stdin(&o->cli);
    o->matrices = o->cli.operands[0];
}

MC_PROGRAM("[MATRICES.mcz]", doc, options, .check = check_options, .run = run)
