/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-pam: two networks in, a curve between the first and a permutation of the second out, curve and
 * permutation learned in turn. */
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
    {"perm", 0, MC_OPT_INPUT, MC_AT(perm), .arg = "FILE", .group = 10,
     .help = "permutation to start from, or a curve's (default: the identity)"},
    {"init", 0, MC_OPT_INPUT, MC_AT(init), .arg = "CURVE", .group = 10,
     .help = "start from this curve: its permutation and its control point"},
    MC_OPTIONS_RUN, {0}};
/* clang-format on */

static const char doc[] =
    "Learn a permutation of the second network and a curve to it in turn."
    "\vProximal alternating minimisation. A permutation step trains a doubly stochastic matrix for "
    "each group of units, in the place of their permutation, and then chooses the permutation that "
    "does best along the path: of some drawn from these matrices, the one nearest to them, and the "
    "one from before. A curve step trains the curve's control point, as mc-bezier does, at --lr "
    "for --epochs. In either, moving away from where the step began has a price (--nu-permutation, "
    "--nu-curve); a step that moves nothing says what to change. The output is a curve that holds "
    "the permutation of B: mc-eval measures it, and mc-permute takes the permutation from it. "
    "Blocks of a convolution in groups stay in the order that the "
    "first permutation gives them; their units move within them.\n\n"
    "-v and --log-json tell the objective Q (loss and weight decay along the curve) after each "
    "step, and whether it fell by more than the price; -v also says first how much memory the run "
    "takes. --stop-after counts the epochs of all steps.\n\nExamples:\n"
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
                     "--select-images: %" PRIu64 " are asked for, there are %" PRIu64
                     " images to train on",
                     *select, n);
    if (!rc)
        rc = mc_train_cli_resolve(&o->train, s->a.graph, s->a.dataset, s->b.dataset, err);
    if (!rc)
        rc = mc_pam_init(&pam, &o->train.train, err);
    if (!rc) {
        mc_checkpoint_set(state, "a", "%s", s->a.id);
        mc_checkpoint_set(state, "b", "%s", s->b.id);
        mc_checkpoint_set(state, "start", "%016" PRIx64, s->sum);
        mc_pam_cli_identity(&o->pam, state);
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
    if (o->cli.n_operands != 2)
        mc_cli_usage("needs two weights streams (see --help)");
    if (!o->train.data)
        mc_cli_usage("needs --data FILE (see --help)");
    if (o->perm && o->init)
        mc_cli_usage("--perm and --init exclude each other");
}

MC_PROGRAM("A.mcz B.mcz", doc, options, .add = add_options, .check = check_options, .run = run)
