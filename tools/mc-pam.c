/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-pam: learn a permutation of the second of two networks and a curve to it, in turn. */
#include "tools/options/pam.h"
#include "tools/cli/networks.h"
#include "tools/pam/start.h"

#include <inttypes.h>
#include <stdlib.h>

struct options {
    struct mc_cli cli;
    struct mc_train_cli train;
    struct mc_pam_cli pam;
    const char *perm, *init;
};

/* clang-format off */
static const struct mc_option options[] = {
    {"perm", 0, MC_OPT_INPUT, MC_AT(perm), .arg = "FILE.mcz", .group = 10,
     .help = "start from this permutation, or this curve's (default: the identity)"},
    {"init", 0, MC_OPT_INPUT, MC_AT(init), .arg = "CURVE.mcz", .group = 10,
     .help = "start from this curve's permutation and control point"},
    MC_OPTIONS_RUN, {0}};
/* clang-format on */

static const char doc[] =
    "Learn a permutation of the second network and a curve to it, in turn."
    "\vProximal alternating minimisation. A permutation step trains a doubly stochastic matrix for "
    "each group of units instead of a permutation. Then it selects the best permutation along the "
    "path: among some drawn from these matrices, the one nearest to them, and the previous one. A "
    "curve step trains the curve's control point like mc-bezier, with --lr and --epochs. In both, "
    "moving away from the start of the step has a cost (--nu-permutation, --nu-curve). If a step "
    "moves nothing, a note suggests what to change. The output is a curve that contains the "
    "permutation of B: mc-eval measures it, and mc-permute accepts it as a permutation. Blocks of "
    "a grouped convolution keep the order of the first permutation; units move only within "
    "them.\n\n"
    "-v and --log-json report the objective Q (loss and weight decay along the curve) after each "
    "step, and whether it decreased by more than the cost. -v first prints how much memory the run "
    "uses. --stop-after counts the epochs of all steps.\n\nExamples:\n"
    "  mc-pam -d train.mcz --perm p.mcz --epochs 20 a.mcz b.mcz -o curve.mcz\n"
    "  mc-pam -d train.mcz --stage permutation a.mcz b.mcz -o perm.mcz";

static int train(struct options *o, struct mc_pam_start *s, struct mc_error *err)
{
    struct mc_checkpoint *state = &o->train.state;
    struct mc_pam_report *report = calloc(o->pam.pam.outer, sizeof *report);
    struct mc_pam pam = {.o = &o->pam.pam,
                         .graph = s->a.graph,
                         .symmetry = &s->symmetry,
                         .a = s->a.params,
                         .b = s->b.params,
                         .offset = s->offset,
                         .perm = &s->perm,
                         .report = report};
    int rc = report ? mc_train_cli_open_data(&o->train, err) : mc_no_memory(err);

    const uint64_t *select = &o->pam.pam.images, n = o->train.images.info.n;
    if (!rc && *select > n && mc_option_given(&o->cli, select))
        rc = mc_fail(err, MC_EINPUT,
                     "--select-images must be at most %" PRIu64 ", the number of training images "
                     "(got %" PRIu64 ")",
                     n, *select);
    if (!rc)
        rc = mc_train_cli_resolve(&o->train, s->a.graph, s->a.dataset, s->b.dataset, err);
    if (!rc)
        rc = mc_pam_init(&pam, &o->train.train, err);
    if (!rc) {
        mc_checkpoint_set(state, "a", "%s", s->a.id);
        mc_checkpoint_set(state, "b", "%s", s->b.id);
        mc_checkpoint_set(state, "start", "%016" PRIx64, s->sum);
        mc_options_save(&o->cli, &o->pam, state);
        mc_pam_cli_watch(&o->pam, &o->train, &pam);
        rc = mc_train_cli_run(&o->train, s->a.graph, &pam.objective, err);
    }
    mc_pam_release(&pam);
    free(report);
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_pam_start s = {0};
    struct mc_history *h = o->cli.history;
    int rc = mc_train_cli_open(&o->train, err);

    if (!rc)
        rc = mc_read_networks(&s.a, &s.b, &o->cli, 0, h, err);
    if (!rc)
        rc = mc_pam_start_read(&s, o->cli.operands, o->perm, o->init, h, err);
    if (!rc) {
        if (o->perm)
            mc_warn_found_elsewhere(&o->cli, &s.perm, o->perm, s.a.id, s.b.id);
        mc_history_set_pair(h, s.a.id, s.b.id);
        mc_options_note(&o->cli, &o->pam, h);
        rc = train(o, &s, err);
    }
    if (!rc)
        rc = mc_pam_curve_write(&s, o->cli.output, h, err);
    mc_pam_start_release(&s);
    return mc_train_cli_close(&o->train, rc, err);
}

static void add_options(struct options *o)
{
    mc_pam_cli_options(&o->pam, &o->train, &o->cli);
}

static void check_options(struct options *o)
{
    mc_pam_cli_check(&o->pam, &o->train);
    mc_cli_operands(&o->cli, "A.mcz B.mcz");
    mc_cli_require(o->train.data != NULL, "--data FILE.mcz");
    if (o->perm && o->init)
        mc_cli_usage("--perm and --init cannot be combined");
}

MC_PROGRAM("mc-pam", "A.mcz B.mcz", doc, options, .add = add_options, .check = check_options,
           .run = run)
