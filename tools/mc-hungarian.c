/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-hungarian: the permutation with the maximum value in given matrices, exact, group by group; or
 * one permutation per network to a common order. */
#include "formats/codecs/matrices.h"
#include "formats/network/permutations.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"
#include "tools/options/chosen_groups.h"
#include "libcommon/base/json.h"
#include "tools/align/joint_matching.h"
#include "tools/align/matching.h"
#include "tools/cli/cli.h"
#include "tools/cli/text.h"

#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Match the units of two or more networks by optimal assignments in each group."
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
    "for them. A chosen group moves whole units. The order inside a unit stays unless the groups "
    "inside are chosen too.\n\n"
    "With --constraint, the permutation must be at least as good as the identity in a second set "
    "of matrices, those of activations before the ReLU (the paper, appendix C.3). A search over a "
    "Lagrange multiplier finds it. It may not be the best such permutation; the gap is then the "
    "distance to an upper bound for all of them. -v adds the multiplier; the slack, by how much "
    "the permutation is better than the identity in the second matrices; and the best value "
    "without the constraint. Units that contain groups are not supported.\n\n"
    "With --joint, reads the matrices of every pair of K networks, in any order, and writes a "
    "joint set: K permutations that bring all networks to one order, so that the maps between "
    "any two agree. The first network keeps its order. mc-permute finds the permutation of a "
    "network by its content id. The objective is the sum of all pairs' values. The search "
    "starts from each network as the reference of all others, and from --starts random orders. "
    "It matches each network to all others in turn, and at the end one side of every "
    "bipartition of the networks to the other, until no such move improves. The result is a "
    "local maximum, never worse than any reference. -v prints one line per group and one for "
    "the total; --table writes them: the objective; the objective with each network as "
    "reference; the sum of the pairs' own maxima (pairs). No common order exceeds that sum, "
    "and usually none reaches it. With --groups, choose a group and the groups within its units "
    "together.\n\n"
    "With --joint --score, searches nothing. Prints a table with the objective of a joint set, "
    "which mc-match --joint or mc-permute --join wrote: one row per group and one for the total. "
    "So orders from different methods can be compared.\n\n"
    "Examples:\n"
    "  mc-hungarian matrices.mcz -o p.mcz\n"
    "  mc-hungarian -v --groups '*.mlp,*.heads' matrices.mcz -o p.mcz\n"
    "  mc-hungarian -v --constraint pre.mcz post.mcz -o p.mcz\n"
    "  mc-acts --data train.mcz a.mcz b.mcz | mc-corr | mc-hungarian -v -o p.mcz\n"
    "  mc-hungarian --joint m12.mcz m13.mcz m23.mcz -o joint.mcz\n"
    "  mc-hungarian --joint --score joint.mcz m12.mcz m13.mcz m23.mcz";

struct options {
    struct mc_cli cli;
    const char *matrices, *constraint, *groups, *score;
    int joint;
    struct mc_joint_opts search;
    const char *table;
};

/* clang-format off */
static const struct mc_option options[] = {
    {"constraint", 0, MC_OPT_INPUT, MC_AT(constraint), .arg = "MATRICES.mcz",
     .help = "write a permutation at least as good as the identity in these matrices (see below)"},
    {"groups", 0, MC_OPT_TEXT, MC_AT(groups), .arg = "PATTERN,...",
     .help = MC_HELP_CHOSEN_GROUPS " the identity"},
    {"joint", 0, MC_OPT_FLAG, MC_AT(joint), .flags = MC_OPT_HISTORY,
     .help = "match all networks to one common order; reads the matrices of every pair"},
    {"starts", 0, MC_OPT_U64, MC_AT(search.starts), .arg = "N", .max = 1000000, .def = "50",
     .flags = MC_OPT_HISTORY, .needs = {"joint"},
     .help = "random starts of --joint, after one from each network"},
    {"score", 0, MC_OPT_INPUT, MC_AT(score), .arg = "JOINT.mcz", .needs = {"joint"},
     .help = "print the objective of this joint set instead of a search"},
    {"table", 0, MC_OPT_RESULT, MC_AT(table), .arg = "FILE.tsv", .needs = {"joint"},
     .help = "write a table of the objective of each group and the total"},
    MC_OPTION_OUTPUT,
    MC_OPTION_SEED(MC_AT(search.seed), .flags = MC_OPT_HISTORY, .needs = {"joint"}),
    MC_OPTION_THREADS, MC_OPTION_NO_HISTORY, {0}};
/* clang-format on */

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
                    m->groups[k].name,
                    mc_group_is_nested(&m->groups[k]) ? " and its equivalents" : "", x->n,
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

static int match(struct options *o, struct mc_error *err)
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
    rc = mc_new(&info, m.n_groups, err);
    if (!rc)
        rc = mc_new(&constrained, m.n_groups, err);
    if (!rc)
        rc = mc_match(&p, info, constrained, &m, o->constraint ? &constraint : NULL, keep,
                      o->cli.backend.threads, err);
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

/* ---- --joint --------------------------------------------------------------------------------- */

/* The sums of all groups. */
static struct mc_joint_result total(const struct mc_joint_result *results, size_t n)
{
    struct mc_joint_result sum = {0};

    for (size_t k = 0; k < n; k++) {
        sum.value += results[k].value;
        sum.pairs += results[k].pairs;
        for (size_t i = 0; i < MC_JOINT_MAX; i++)
            sum.reference[i] += results[k].reference[i];
    }
    return sum;
}

static double best_reference(const struct mc_joint_result *r, size_t K)
{
    double best = r->reference[0];

    for (size_t i = 1; i < K; i++)
        best = r->reference[i] > best ? r->reference[i] : best;
    return best;
}

/* Note the units with almost no variance, network by network. */
static void note_dead_units(const struct mc_cli *cli, const struct mc_joint_set *set)
{
    size_t all = 0;

    for (size_t i = 0; i < set->n_networks; i++) {
        const size_t pair = mc_joint_pair(set->n_networks, 0, i ? i : 1);
        const struct mc_matrices *m = &set->inputs[set->input_of[pair]].m;
        for (size_t k = 0; k < m->n_groups; k++) {
            const size_t dead = i ? m->matrices[k].n_dead_b : m->matrices[k].n_dead_a;
            all += dead;
            if (dead)
                mc_detail(cli, "%s: of %zu units, %zu of member %zu have almost no variance",
                          m->groups[k].name, m->matrices[k].n, dead, i + 1);
        }
    }
    if (all)
        mc_note(cli,
                "%zu unit%s of %zu networks have almost no variance: matched with the remaining "
                "units (-v lists them)",
                all, all == 1 ? "" : "s", set->n_networks);
}

static void print_row(const char *name, size_t units, const struct mc_joint_result *r, size_t K,
                      FILE *f)
{
    mc_plain(f, name);
    fprintf(f, "\t%zu\t%.9g", units, r->value);
    for (size_t i = 0; i < K; i++)
        fprintf(f, "\t%.9g", r->reference[i]);
    if (K)
        fprintf(f, "\t%.9g", r->pairs);
    putc('\n', f);
}

/* A row per group that is not nested, and the total. K: the number of references, or 0 for a score,
 * which has only objectives. */
static int print_table(const struct mc_joint_set *set, const struct mc_joint_result *results,
                       size_t K, const char *path, struct mc_error *err)
{
    const struct mc_matrices *m = &set->inputs[0].m;
    const struct mc_joint_result sum = total(results, m->n_groups);
    struct mc_text text = {0};
    size_t units = 0;
    int rc = mc_text_open(&text, err);

    if (!rc) {
        fputs("group\tunits\tobjective", text.f);
        for (size_t i = 0; i < K; i++)
            fprintf(text.f, "\treference_%zu", i + 1);
        fputs(K ? "\tpairs\n" : "\n", text.f);
        for (size_t k = 0; k < m->n_groups; k++)
            if (!mc_group_is_nested(&m->groups[k])) {
                units += m->groups[k].size;
                print_row(m->groups[k].name, m->groups[k].size, &results[k], K, text.f);
            }
        print_row("total", units, &sum, K, text.f);
    }
    return mc_text_close(&text, path, rc, err);
}

static int score(const struct options *o, const struct mc_joint_set *set, struct mc_error *err)
{
    const char *file = mc_file_called(o->score);
    struct mc_joint_perm orders = {0};
    struct mc_joint_result *results = NULL;
    int rc = mc_joint_perm_read(&orders, (struct mc_stream){.path = o->score}, NULL, err);

    if (!rc && orders.n_members == 1)
        rc = mc_fail(err, MC_EINPUT, "%s: a joint set expected, got one permutation", file);
    if (!rc && !(rc = mc_new(&results, set->inputs[0].m.n_groups, err)) &&
        !(rc = mc_joint_score(results, set, &orders, file, err)))
        rc = print_table(set, results, 0, o->cli.output, err);
    free(results);
    mc_joint_perm_release(&orders);
    return rc;
}

static void report_joint(const struct options *o, const struct mc_joint_set *set,
                         const struct mc_joint_result *results)
{
    const struct mc_cli *cli = &o->cli;
    const struct mc_matrices *m = &set->inputs[0].m;
    const struct mc_joint_result sum = total(results, m->n_groups);
    const size_t K = set->n_networks;

    for (size_t i = 0; i < K; i++)
        mc_detail(cli, "member %zu is %s", i + 1, set->ids[i]);
    for (size_t k = 0; k < m->n_groups; k++)
        if (o->search.keep[k] && !mc_group_is_nested(&m->groups[k]))
            mc_detail(cli, "%s: %zu units, kept", m->groups[k].name, m->groups[k].size);
        else if (!mc_group_is_nested(&m->groups[k]))
            mc_detail(cli, "%s: %zu units, objective %.9g, best reference %.9g, pairs %.9g",
                      m->groups[k].name, m->groups[k].size, results[k].value,
                      best_reference(&results[k], K), results[k].pairs);
    mc_detail(cli, "total: objective %.9g, best reference %.9g, pairs %.9g", sum.value,
              best_reference(&sum, K), sum.pairs);
    note_dead_units(cli, set);
}

static int match_jointly(struct options *o, struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    struct mc_joint_set set = {0};
    struct mc_joint_perm joint = {0};
    struct mc_joint_result *results = NULL;
    unsigned char *keep = NULL;
    int rc = mc_joint_set_read(&set, o->cli.operands, o->cli.n_operands, h, err);

    if (rc)
        goto out;
    if (o->score) {
        rc = score(o, &set, err);
        goto out;
    }
    if ((rc = mc_groups_keep(&keep, set.inputs[0].m.groups, set.inputs[0].m.n_groups, o->groups,
                             mc_file_called(set.inputs[0].path), err)))
        goto out;
    mc_options_note(&o->cli, o, h);
    if (o->groups)
        mc_history_str(h, "groups", o->groups);
    o->search.keep = keep;
    o->search.threads = o->cli.backend.threads;
    if ((rc = mc_new(&results, set.inputs[0].m.n_groups, err)) ||
        (rc = mc_joint_match(&joint, results, &set, &o->search, err)))
        goto out;
    report_joint(o, &set, results);
    if (o->table && (rc = print_table(&set, results, set.n_networks, o->table, err)))
        goto out;
    rc = mc_joint_perm_write(&joint, o->cli.output, h, err);
out:
    free(keep);
    free(results);
    mc_joint_perm_release(&joint);
    mc_joint_set_release(&set);
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    return o->joint ? match_jointly(o, err) : match(o, err);
}

static void check_options(struct options *o)
{
    const void *const searches[] = {&o->search.starts, &o->search.seed, &o->groups, &o->table};

    if (o->joint && o->constraint)
        mc_cli_usage("--constraint and --joint cannot be combined");
    for (size_t i = 0; o->score && i < sizeof searches / sizeof *searches; i++) {
        const char *given = mc_option_given(&o->cli, searches[i]);
        if (given)
            mc_cli_usage("--%s has no effect with --score, which searches nothing", given);
    }
    o->cli.text = o->score != NULL;
    if (o->joint && !o->cli.n_operands)
        mc_cli_operands(&o->cli, "MATRICES.mcz");
    if (o->joint)
        return;
    o->cli.not_operands = "mc-match aligns two networks";
    mc_cli_operands(&o->cli, "[MATRICES.mcz]");
    mc_cli_default_stdin(&o->cli);
    o->matrices = o->cli.operands[0];
}

MC_PROGRAM("mc-hungarian", "[MATRICES.mcz]\n--joint MATRICES.mcz...", doc, options,
           .check = check_options, .run = run)
