/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-hungarian: matrices to the permutation of greatest value, group by group, exactly. */
#include "mc_assign.h"
#include "mc_cli.h"
#include "mc_matrices.h"
#include "mc_permutation.h"

#include <omp.h>
#include <stdlib.h>

static const char doc[] =
    "Match the units of two networks, each group by an optimal assignment."
    "\vReads matrices (rows: units of the first network, columns: of the second, greater is "
    "better) and writes the permutation of the greatest total value in every group, found exactly "
    "(Jonker and Volgenant). With -v, a line a group: its units; the value and its mean; the gap "
    "to the dual's bound, which proves the value greatest where it is 0 to rounding; the rows that "
    "an equally good permutation matches otherwise. Units that hardly vary are matched with what "
    "the others leave, and told.\n\n"
    "Examples:\n"
    "  mc-hungarian matrices.mcz -o p.mcz\n"
    "  mc-acts --data train.mcz a.mcz b.mcz | mc-corr | mc-hungarian -v -o p.mcz";

static const struct argp_option options[] = {MC_OPTION_OUTPUT, MC_OPTION_THREADS,
                                             MC_OPTION_NO_HISTORY, MC_OPTIONS_END};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    return mc_cli_option(state->input, key, arg, state);
}

static const struct argp argp = {options, parse, "[MATRICES.mcz]", doc, NULL, NULL, NULL};

/* Room for one permutation a group. */
static int perm_like(struct mc_perm *p, const struct mc_matrices *m, struct mc_error *err)
{
    int rc = mc_perm_alloc(p, m->n_groups, err);

    for (size_t k = 0; k < m->n_groups && !rc; k++)
        rc = mc_perm_set_group(p, k, m->groups[k].name, m->groups[k].size, err);
    return rc;
}

/* Groups in parallel; of several failures that of the first group is told. */
static int assign(struct mc_perm *p, struct mc_assignment *info, const struct mc_matrices *m,
                  int threads, struct mc_error *err)
{
    size_t failed = m->n_groups;

#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (size_t k = 0; k < m->n_groups; k++) {
        struct mc_error mine = {0};
        if (mc_assign_max(p->sizes[k], m->groups[k].value, p->perm[k], &info[k], &mine)) {
#pragma omp critical
            if (k < failed) {
                failed = k;
                *err = mine;
            }
        }
    }
    return failed < m->n_groups ? mc_fail_in(err, m->groups[failed].name) : 0;
}

static void report(const struct mc_cli *cli, const struct mc_matrices *m,
                   const struct mc_assignment *info)
{
    for (size_t k = 0; k < m->n_groups; k++) {
        const struct mc_matrix_group *g = &m->groups[k];
        mc_detail(cli, "%s: %zu units, value %.9g (mean %.6f), gap %.2g, %zu in ties", g->name,
                  g->size, info[k].value, info[k].value / (double)g->size, info[k].gap,
                  info[k].n_ties);
        if (g->n_dead_a || g->n_dead_b)
            mc_note(cli, "%s: of %zu units, %zu of a and %zu of b are dead and fill what is left",
                    g->name, g->size, g->n_dead_a, g->n_dead_b);
    }
}

static int run(const struct mc_cli *cli, struct mc_error *err)
{
    struct mc_history *h = mc_history_new("mc-hungarian");
    struct mc_matrices m = {0};
    struct mc_perm p = {0};
    struct mc_assignment *info = NULL;
    int rc;

    if (!h)
        return mc_fail(err, MC_ENOMEM, "out of memory");
    if (cli->no_history)
        mc_history_hide(h);
    if ((rc = mc_cli_output_ready(cli, err)) ||
        (rc = mc_matrices_read(&m, cli->n_operands ? cli->operands[0] : "-", h, err)) ||
        (rc = perm_like(&p, &m, err)))
        goto out;
    if (!(info = calloc(m.n_groups + 1, sizeof *info))) {
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
        goto out;
    }
    if ((rc = assign(&p, info, &m, cli->threads ? cli->threads : omp_get_max_threads(), err)))
        goto out;
    report(cli, &m, info);
    rc = mc_perm_write(&p, info, cli->output, h, err);
out:
    free(info);
    mc_perm_release(&p);
    mc_matrices_release(&m);
    mc_history_free(h);
    return rc;
}

int main(int argc, char **argv)
{
    struct mc_cli cli = {0};
    struct mc_error err = {0};

    mc_cli_parse(&cli, &argp, argc, argv, &cli);
    if (cli.n_operands > 1)
        mc_cli_usage("takes one matrices stream, %zu are given", cli.n_operands);
    return mc_cli_exit(&cli, run(&cli, &err), &err);
}
