/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-hungarian: matrices to the permutation of greatest value, group by group, exactly. */
#include "formats/codecs/matrices.h"
#include "formats/codecs/permutation.h"
#include "libcommon/assign/assign.h"
#include "libcommon/assign/constrained.h"
#include "tools/cli/cli.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Match the units of two networks, each group by an optimal assignment."
    "\vReads matrices (rows: units of the first network, columns: of the second, greater is "
    "better) and writes the permutation of the greatest total value in every group, found exactly "
    "(Jonker and Volgenant). With -v, a line a group: its units; the value and its mean; the gap "
    "to the dual's bound, which proves the value greatest where it is 0 to rounding; the rows that "
    "an equally good permutation matches otherwise. Units that hardly vary are matched with what "
    "the others leave, and told.\n\n"
    "With --constraint, the best permutation found of those that are not worse than the identity "
    "in "
    "other matrices, those before the ReLU, by a search over the constraint's multiplier: the gap "
    "is then to what any such permutation can be worth, and -v adds the multiplier, how much "
    "better "
    "than the identity's the constraint's value is (slack), and the value without a constraint.\n\n"
    "Examples:\n"
    "  mc-hungarian matrices.mcz -o p.mcz\n"
    "  mc-hungarian -v --constraint pre.mcz post.mcz -o p.mcz\n"
    "  mc-acts --data train.mcz a.mcz b.mcz | mc-corr | mc-hungarian -v -o p.mcz";

struct options {
    struct mc_cli cli;
    const char *matrices, *constraint;
};

static const struct mc_option options[] = {
    {"constraint", 0, MC_OPT_INPUT, MC_AT(constraint), .arg = "MATRICES",
     .help = "of activations before the ReLU: nothing worse than the identity in these"},
    MC_OPTION_OUTPUT,
    MC_OPTION_THREADS,
    MC_OPTION_NO_HISTORY,
    {0}};

/* Room for one permutation a group. */
static int perm_like(struct mc_perm *p, const struct mc_matrices *m, struct mc_error *err)
{
    int rc = mc_perm_alloc(p, m->n_groups, err);

    for (size_t k = 0; k < m->n_groups && !rc; k++)
        rc = mc_perm_set_group(p, k, m->groups[k].name, m->groups[k].size, err);
    return rc;
}

static const char *file_name(const char *operand)
{
    return strcmp(operand, "-") ? operand : "stdin";
}

/* The constraint is of the same groups, and before the ReLU what the matrices are after it. */
static int check_constraint(const struct mc_matrices *m, const struct mc_matrices *c,
                            const struct options *o, struct mc_error *err)
{
    const char *file = file_name(o->constraint), *post = file_name(o->matrices);

    if (strcmp(c->at, "pre"))
        return mc_fail(err, MC_EINPUT, "%s: is of activations after the ReLU, not before it", file);
    if (strcmp(m->at, "post"))
        return mc_fail(err, MC_EINPUT, "%s: is of activations before the ReLU, not after it", post);
    if (c->n_groups != m->n_groups)
        return mc_fail(err, MC_EINPUT, "%s has %zu group%s, %s has %zu", file, c->n_groups,
                       c->n_groups == 1 ? "" : "s", post, m->n_groups);
    for (size_t k = 0; k < m->n_groups; k++) {
        const struct mc_matrix_group *x = &m->groups[k], *y = &c->groups[k];
        if (strcmp(x->name, y->name) || x->size != y->size)
            return mc_fail(err, MC_EINPUT, "%s has %s of %zu units where %s has %s of %zu", file,
                           y->name, y->size, post, x->name, x->size);
    }
    return 0;
}

static int assign_group(const struct mc_matrix_group *g, const struct mc_matrix_group *constraint,
                        int32_t *col, struct mc_constrained *info, struct mc_error *err)
{
    if (constraint)
        return mc_assign_constrained(g->size, g->value, constraint->value, col, info, err);
    return mc_assign_max(g->size, g->value, col, &info->found, err);
}

/* Groups in parallel; of several failures that of the first group is told. */
static int assign(struct mc_perm *p, struct mc_constrained *info, const struct mc_matrices *m,
                  const struct mc_matrices *c, int threads, struct mc_error *err)
{
    size_t failed = m->n_groups;

#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (size_t k = 0; k < m->n_groups; k++) {
        struct mc_error mine = {0};
        if (assign_group(&m->groups[k], c->n_groups ? &c->groups[k] : NULL, p->perm[k], &info[k],
                         &mine)) {
#pragma omp critical
            if (k < failed) {
                failed = k;
                *err = mine;
            }
        }
    }
    return failed < m->n_groups ? mc_fail_in(err->code, err, "%s", m->groups[failed].name) : 0;
}

enum { MOST_LINES = 8 }; /* of groups with dead units; more are summed up but with -v */

static void report_dead(const struct mc_cli *cli, const struct mc_matrices *m)
{
    size_t dead_a = 0, dead_b = 0, groups = 0;

    for (size_t k = 0; k < m->n_groups; k++) {
        dead_a += m->groups[k].n_dead_a;
        dead_b += m->groups[k].n_dead_b;
        groups += m->groups[k].n_dead_a || m->groups[k].n_dead_b;
    }
    if (groups > MOST_LINES && !cli->verbose) {
        mc_note(cli, "%zu units of a and %zu of b, in %zu groups, are dead and fill what is left",
                dead_a, dead_b, groups);
        return;
    }
    for (size_t k = 0; k < m->n_groups; k++) {
        const struct mc_matrix_group *g = &m->groups[k];
        if (g->n_dead_a || g->n_dead_b)
            mc_note(cli, "%s: of %zu units, %zu of a and %zu of b are dead and fill what is left",
                    g->name, g->size, g->n_dead_a, g->n_dead_b);
    }
}

static void report(const struct options *o, const struct mc_matrices *m,
                   const struct mc_constrained *info)
{
    const struct mc_cli *cli = &o->cli;

    for (size_t k = 0; k < m->n_groups; k++) {
        const struct mc_matrix_group *g = &m->groups[k];
        const struct mc_assignment *found = &info[k].found;
        char more[160] = "";

        if (o->constraint)
            snprintf(more, sizeof more, ", multiplier %.4g, slack %.4g, unconstrained %.9g",
                     info[k].multiplier, info[k].slack, info[k].free_value);
        mc_detail(cli, "%s: %zu units, value %.9g (mean %.6f), gap %.2g, %zu in ties%s", g->name,
                  g->size, found->value, found->value / (double)g->size, found->gap, found->n_ties,
                  more);
    }
    report_dead(cli, m);
}

static int read_inputs(struct mc_matrices *m, struct mc_matrices *c, const struct options *o,
                       struct mc_history *h, struct mc_error *err)
{
    int rc = mc_matrices_read(m, o->matrices, h, err);

    if (rc || !o->constraint)
        return rc;
    if ((rc = mc_matrices_read(c, o->constraint, h, err)))
        return rc;
    mc_history_str(h, "constraint", c->measure);
    return check_constraint(m, c, o, err);
}

static int write_permutation(const struct mc_perm *p, const struct mc_constrained *info,
                             const struct options *o, struct mc_history *h, struct mc_error *err)
{
    struct mc_assignment *found = calloc(p->n_groups + 1, sizeof *found);

    if (!found)
        return mc_no_memory(err);
    for (size_t k = 0; k < p->n_groups; k++)
        found[k] = info[k].found;
    int rc = mc_perm_write(p, found, o->cli.output, h, err);
    free(found);
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_history *h = mc_cli_history(&o->cli, err);
    struct mc_matrices m = {0}, constraint = {0};
    struct mc_perm p = {0};
    struct mc_constrained *info = NULL;
    int threads = o->cli.backend.threads ? o->cli.backend.threads : omp_get_max_threads(), rc;

    if (!h)
        return err->code;
    if ((rc = mc_cli_ready(&o->cli, 1, err)) || (rc = read_inputs(&m, &constraint, o, h, err)) ||
        (rc = perm_like(&p, &m, err)))
        goto out;
    if (!(info = calloc(m.n_groups + 1, sizeof *info))) {
        rc = mc_no_memory(err);
        goto out;
    }
    if ((rc = assign(&p, info, &m, &constraint, threads, err)))
        goto out;
    report(o, &m, info);
    rc = write_permutation(&p, info, o, h, err);
out:
    free(info);
    mc_perm_release(&p);
    mc_matrices_release(&constraint);
    mc_matrices_release(&m);
    mc_history_free(h);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o = {0};
    struct mc_error err = {0};

    mc_options_add(&o.cli, options, &o);
    mc_cli_parse(&o.cli, "[MATRICES.mcz]", doc, argc, argv);
    if (o.cli.n_operands > 1)
        mc_cli_usage("takes one matrices stream, %zu are given", o.cli.n_operands);
    if (!o.cli.n_operands)
        o.cli.operands[o.cli.n_operands++] = "-";
    o.matrices = o.cli.operands[0];
    return mc_cli_exit(&o.cli, run(&o, &err), &err);
}
