/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-pam: two networks in, a curve between the first and a permutation of the second out, curve and
 * permutation learned in turn. */
#include "tools/pam/options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

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
    "the permutation of B: mc-eval measures it, and mc-permute takes the permutation from it.\n\n"
    "-v and --log-json tell the objective Q (loss and weight decay along the curve) after each "
    "step, and whether it fell by more than the price; -v also says first how much memory the run "
    "takes. --stop-after counts the epochs of all steps.\n\nExamples:\n"
    "  mc-pam -d train.mcz --perm p.mcz --epochs 20 a.mcz b.mcz -o curve.mcz\n"
    "  mc-pam -d train.mcz --stage permutation a.mcz b.mcz -o perm.mcz";

/* The two networks, the path between them and where it starts from. */
struct start {
    struct mc_weights a, b;
    struct mc_symmetry symmetry;
    struct mc_perm perm;
    float *offset; /* (P) */
    uint64_t sum;  /* of both, in which two runs that start elsewhere differ */
};

static void release(struct start *s)
{
    mc_weights_release(&s->a);
    mc_weights_release(&s->b);
    mc_symmetry_release(&s->symmetry);
    mc_perm_release(&s->perm);
    free(s->offset);
}

/* From a curve between these networks: its permutation, and its control point's offset. */
static int start_from_curve(const struct options *o, struct start *s, struct mc_history *h,
                            struct mc_error *err)
{
    struct mc_curve c = {0};
    const size_t P = s->a.graph->P;
    float *end = malloc(P * sizeof *end);
    int rc = end ? mc_curve_read(&c, o->init, h, err) : mc_no_memory(err);

    if (!rc &&
        (!mc_graph_same(c.graph, s->a.graph) || c.kind != MC_CURVE_BEZIER || c.n_points != 3))
        rc = mc_fail(err, MC_EINPUT, "%s: is no quadratic Bezier curve of these networks", o->init);
    if (!rc && c.perm) {
        mc_perm_release(&s->perm);
        s->perm = *c.perm;
        *c.perm = (struct mc_perm){0};
    }
    if (!rc &&
        (rc = mc_perm_apply(&s->perm, &s->symmetry, s->a.graph, s->b.params, NULL, end, NULL, err)))
        mc_fail_in(rc, err, "%s", o->init);
    if (!rc && (memcmp(c.points[0], s->a.params, P * sizeof *end) ||
                memcmp(c.points[2], end, P * sizeof *end)))
        rc = mc_fail(err, MC_EINPUT, "%s: is not a curve from %s to its permutation of %s", o->init,
                     o->cli.operands[0], o->cli.operands[1]);
    for (size_t i = 0; !rc && i < P; i++)
        s->offset[i] = c.points[1][i] - .5f * (c.points[0][i] + c.points[2][i]);
    mc_curve_release(&c);
    free(end);
    return rc;
}

static int begin(const struct options *o, struct start *s, struct mc_history *h,
                 struct mc_error *err)
{
    int rc = mc_weights_read_two(&s->a, &s->b, o->cli.operands[0], o->cli.operands[1], h, err);

    if (!rc)
        rc = mc_symmetry_derive(&s->symmetry, s->a.graph, err);
    if (!rc && !(s->offset = calloc(s->a.graph->P, sizeof *s->offset)))
        rc = mc_no_memory(err);
    if (!rc && o->perm) {
        rc = mc_perm_read(&s->perm, o->perm, &s->symmetry, h, err);
        if (!rc && *s->perm.of[0] &&
            (strcmp(s->perm.of[0], s->a.id) != 0 || strcmp(s->perm.of[1], s->b.id) != 0))
            mc_warn(&o->cli, "%s was found between other networks than %s and %s", o->perm,
                    o->cli.operands[0], o->cli.operands[1]);
    } else if (!rc) {
        rc = mc_perm_init(&s->perm, &s->symmetry, err);
    }
    if (!rc && o->init)
        rc = start_from_curve(o, s, h, err);
    if (!rc)
        s->sum = XXH3_64bits(s->offset, s->a.graph->P * sizeof *s->offset);
    for (size_t g = 0; !rc && g < s->perm.n_groups; g++)
        s->sum = XXH3_64bits_withSeed(s->perm.perm[g], s->perm.sizes[g] * sizeof *s->perm.perm[g],
                                      s->sum);
    return rc;
}

/* The curve a, its control point, P b. */
static int write_curve(const struct options *o, const struct start *s, const struct mc_history *h,
                       struct mc_error *err)
{
    struct mc_curve c = {0};
    const struct mc_graph *g = s->a.graph;
    struct mc_perm perm = s->perm; /* lent */
    int rc = mc_curve_init(&c, g, MC_CURVE_BEZIER, 3, s->a.dataset, err);

    if (!rc)
        rc = mc_perm_apply(&perm, &s->symmetry, g, s->b.params, NULL, c.points[2], NULL, err);
    if (!rc) {
        memcpy(c.points[0], s->a.params, g->P * sizeof(float));
        for (size_t i = 0; i < g->P; i++)
            c.points[1][i] = .5f * (c.points[0][i] + c.points[2][i]) + s->offset[i];
        c.perm = &perm;
        rc = mc_curve_write(&c, o->cli.output, h, err);
        c.perm = NULL;
    }
    mc_curve_release(&c);
    return rc;
}

static int train(struct options *o, struct mc_backend *be, struct start *s, struct mc_history *h,
                 struct mc_error *err)
{
    const int checkpoint = o->train.train.checkpoint != NULL;
    struct mc_in_memory data = {0};
    struct mc_pam_report *report = calloc(o->pam.pam.outer, sizeof *report);
    struct mc_pam pam = {.o = &o->pam.pam,
                         .graph = s->a.graph,
                         .symmetry = &s->symmetry,
                         .a = s->a.params,
                         .b = s->b.params,
                         .offset = s->offset,
                         .perm = &s->perm,
                         .report = report};
    struct mc_checkpoint identity = {0};
    struct mc_train_job job = {.be = be,
                               .graph = s->a.graph,
                               .data = &data,
                               .objective = &pam.objective,
                               .identity = &identity};
    struct mc_train_memory memory = {.plans =
                                         1 + (o->train.train.huber > 0)}; /* with its own ReLU */
    int rc = report ? mc_in_memory_open(&data, o->train.data, o->train.samples, h, err)
                    : mc_no_memory(err);

    if (!rc)
        rc = mc_data_fits(s->a.graph, &data.info, o->train.data, err);
    if (!rc)
        rc = mc_train_cli_resolve(&o->train, be, &data.info, h, err);
    if (!rc)
        rc = mc_pam_init(&pam, &o->train.train, err);
    if (!rc) {
        memory.vectors = mc_pam_vectors(&pam, checkpoint);
        memory.matrices = mc_pam_matrices(&pam, checkpoint);
        mc_checkpoint_set(&identity, "a", "%s", s->a.id);
        mc_checkpoint_set(&identity, "b", "%s", s->b.id);
        mc_checkpoint_set(&identity, "start", "%016" PRIx64, s->sum);
        mc_pam_cli_identity(&o->pam, &identity);
        mc_pam_cli_watch(&o->pam, &o->train, report);
        rc = mc_train_cli_run(&o->train, &job, &memory, err);
    }
    mc_pam_release(&pam);
    mc_in_memory_release(&data, be);
    free(report);
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_backend *be = NULL;
    struct start s = {0};
    struct mc_history *h = mc_cli_history(&o->cli, err);
    int rc = h ? mc_train_cli_check_files(&o->train, err) : err->code;

    if (!rc)
        rc = mc_backend_open(&be, &o->cli.backend, err);
    if (!rc)
        rc = begin(o, &s, h, err);
    if (!rc) {
        mc_history_set_pair(h, s.a.id, s.b.id);
        mc_options_note(&o->cli, &o->pam, h);
        rc = train(o, be, &s, h, err);
    }
    if (!rc)
        rc = write_curve(o, &s, h, err);
    if (mc_train_cli_close(&o->train, rc ? NULL : err) && !rc)
        rc = err->code;
    release(&s);
    if (be)
        be->close(be);
    mc_history_free(h);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o = {0};
    struct mc_error err = {0};

    mc_options_add(&o.cli, options, &o);
    mc_pam_cli_options(&o.pam, &o.train, &o.cli);
    mc_cli_parse(&o.cli, "A.mcz B.mcz", doc, argc, argv);
    mc_pam_cli_check(&o.pam, &o.train);
    if (o.cli.n_operands != 2)
        mc_cli_usage("needs two weights streams (see --help)");
    if (!o.train.data)
        mc_cli_usage("needs --data FILE (see --help)");
    if (o.perm && o.init)
        mc_cli_usage("--perm and --init exclude each other");
    return mc_cli_exit(&o.cli, run(&o, &err), &err);
}
