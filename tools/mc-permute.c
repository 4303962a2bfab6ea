/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-permute: a permutation and a network in, the permuted network out; and what one does with
 * permutations: invert, compose, draw, prove. */
#include "formats/codecs/permutation.h"
#include "formats/codecs/weights.h"
#include "libcommon/base/file.h"
#include "tools/align/verify.h"
#include "tools/cli/cli.h"
#include "tools/cli/belongs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct options {
    struct mc_cli cli;
    int inverse, compose, identity;
    uint64_t random; /* a seed */
    const char *verify, *perm_out;
    uint64_t samples;
};

/* clang-format off */
static const struct mc_option options[] = {
    {"inverse", 0, MC_OPT_FLAG, MC_AT(inverse), .group = 1, .flags = MC_OPT_HISTORY,
     .help = "use the permutation's inverse; given no WEIGHTS, write it"},
    {"compose", 0, MC_OPT_FLAG, MC_AT(compose), .group = 1, .flags = MC_OPT_HISTORY,
     .help = "write the permutation that is P and then Q"},
    {"identity", 0, MC_OPT_FLAG, MC_AT(identity), .group = 1, .flags = MC_OPT_HISTORY,
     .help = "write the permutation of WEIGHTS' groups that moves nothing"},
    {"random", 0, MC_OPT_U64, MC_AT(random), .arg = "SEED", .max = INT64_MAX, .group = 1, .flags = MC_OPT_HISTORY,
     .help = "permute WEIGHTS at random"},
    {"perm-out", 0, MC_OPT_RESULT, MC_AT(perm_out), .arg = "FILE", .group = 2,
     .help = "write the permutation that was applied there too"},
    {"verify", 0, MC_OPT_INPUT, MC_AT(verify), .arg = "DATASET", .group = 3,
     .help = "compare the logits of WEIGHTS and its permuted self, as a table; fails unless they differ by rounding "
     "only. Writes the weights only where -o says"},
    {"samples", 0, MC_OPT_U64, MC_AT(samples), .arg = "N", .max = INT32_MAX, .def = "0", .group = 3,
     .needs = {"verify"}, .help = "verify on the first N images, 0: all"},
    MC_OPTION_OUTPUT, MC_OPTIONS_BACKEND, MC_OPTION_NO_PROGRESS, MC_OPTION_NO_HISTORY, {0}};
/* clang-format on */

static const char operands[] =
    "PERM WEIGHTS\n--random SEED WEIGHTS\n--verify DATASET PERM WEIGHTS\n--inverse PERM\n"
    "--compose P Q\n--identity WEIGHTS";
static const char doc[] =
    "Reorder a network's units; the network stays the same function."
    "\vA permutation's entry i is the unit that goes to place i. PERM, WEIGHTS or DATASET may be - "
    "(standard input). -o may name WEIGHTS, which the result then replaces.\n\nExamples:\n"
    "  mc-permute p.mcz b.mcz -o pb.mcz\n"
    "  mc-corr moments.mcz | mc-hungarian | mc-permute - b.mcz -o pb.mcz";

static int is_random(const struct options *o)
{
    return mc_option_given(&o->cli, &o->random) != NULL;
}

static int invert(const struct options *o, struct mc_perm *p, struct mc_error *err)
{
    mc_option_note(&o->cli, &o->inverse, o->cli.history);
    return o->inverse ? mc_perm_inverse(p, err) : 0;
}

/* --compose, or --inverse of a permutation alone. */
static int combine(struct options *o, struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    const char **path = o->cli.operands;
    struct mc_perm p = {0}, q = {0};
    int rc = mc_perm_read(&p, (struct mc_stream){.path = path[0]}, NULL, h, err);

    if (!rc && o->compose) {
        rc = mc_perm_read(&q, (struct mc_stream){.path = path[1]}, NULL, h, err);
        if (!rc)
            rc = mc_fail_in(mc_perm_compose(&p, &q, err), err, "%s", path[1]);
    }
    if (rc)
        goto out;
    mc_option_note(&o->cli, &o->compose, h);
    if (!(rc = invert(o, &p, err)))
        rc = mc_perm_write(&p, NULL, o->cli.output, h, err);
out:
    mc_perm_release(&p);
    mc_perm_release(&q);
    return rc;
}

static int verify(struct options *o, const struct mc_weights *w, const struct mc_weights *pw,
                  struct mc_error *err)
{
    struct mc_dataset_reader *data = NULL;
    struct mc_verified v;
    struct mc_progress progress;
    struct mc_loader_options pass = {
        .samples = o->samples, .exact = 1, .progress = mc_progress_count_of, .arg = &progress};
    int rc = mc_dataset_open(&data, o->verify, err);

    if (rc || (rc = mc_backend_open(&o->cli.be, &o->cli.backend, err)))
        goto out;
    pass.be = o->cli.be;
    pass.data = data;
    mc_progress_begin(&progress, &o->cli, "verifying", "images", 0);
    rc = mc_verify(w, pw, &pass, &v, err);
    mc_progress_end(&progress);
    if (rc)
        goto out;
    mc_data_warn(&o->cli, w->graph, w->dataset, mc_dataset_get_info(data), o->verify,
                 MC_DATA_MEASURE);
    printf("images\tchanged\tlargest_difference\tlargest_logit\tloss_difference\n");
    printf("%" PRIu64 "\t%" PRIu64 "\t%.9g\t%.9g\t%.9g\n", v.images, v.changed, v.difference,
           v.logit, v.loss);
    if (!mc_verified_same(&v))
        rc = mc_fail(err, MC_EFAIL,
                     "the permuted network is not the same: logits differ by %g, losses "
                     "by %g",
                     v.difference, v.loss);
out:
    mc_dataset_close(data);
    return rc;
}

/* The permutation to apply to w: read or drawn; or the one that moves nothing. */
static int choose(const struct options *o, const struct mc_symmetry *s, struct mc_perm *p,
                  struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    const struct mc_stream from = {.path = o->cli.operands[0]};
    int rc =
        o->identity || is_random(o) ? mc_perm_init(p, s, err) : mc_perm_read(p, from, s, h, err);

    if (rc)
        return rc;
    mc_option_note(&o->cli, &o->identity, h);
    if (o->identity)
        return 0;
    if (is_random(o))
        mc_perm_random(p, o->random);
    mc_option_note(&o->cli, &o->random, h);
    return invert(o, p, err);
}

static int permute(struct options *o, struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    const char *path = o->cli.operands[o->cli.n_operands - 1];
    struct mc_weights w = {0}, pw = {0};
    struct mc_symmetry s = {0};
    struct mc_perm p = {0};
    int rc = mc_weights_read(&w, (struct mc_stream){.path = path, .declared = !o->verify}, h, err);

    if (rc)
        return rc;
    if ((rc = mc_fail_in(mc_symmetry_derive(&s, w.graph, err), err, "%s", path)) ||
        (rc = choose(o, &s, &p, err)))
        goto out;
    if (o->identity) {
        rc = mc_perm_write(&p, NULL, o->cli.output, h, err);
        goto out;
    }
    if ((rc = mc_weights_init(&pw, w.graph, w.dataset, err)) ||
        (rc = mc_perm_apply(&p, &s, w.graph, w.params, w.stats, pw.params, pw.stats, err)))
        goto out;
    if (mc_perm_found_elsewhere(&p, "", w.id))
        mc_warn(&o->cli, "%s was found for another network than %s",
                mc_file_called(o->cli.operands[0]), mc_file_called(path));
    for (size_t g = 0; g < p.n_groups; g++)
        mc_detail(&o->cli, "%s: %zu of %zu units move", p.groups[g].name, mc_perm_moved(&p, g),
                  p.groups[g].size);
    if (o->verify && (rc = verify(o, &w, &pw, err)))
        goto out;
    if (o->perm_out && *p.ids[0] && !o->inverse)
        mc_history_set_pair(h, p.ids[0], p.ids[1]);
    if (o->perm_out && (rc = mc_perm_write(&p, NULL, o->perm_out, h, err)))
        goto out;
    if (!o->verify || o->cli.output)
        rc = mc_weights_write(&pw, o->cli.output, h, err);
out:
    mc_perm_release(&p);
    mc_symmetry_release(&s);
    mc_weights_release(&w);
    mc_weights_release(&pw);
    return rc;
}

/* Operands and options that do not go together end the program. */
static void check_uses(const struct options *o)
{
    size_t n = o->cli.n_operands;
    int alone = o->compose || o->identity;

    if (o->compose + o->identity + is_random(o) > 1)
        mc_cli_usage("only one of --compose, --identity and --random");
    if (alone && (o->verify || o->perm_out))
        mc_cli_usage("%s writes a permutation: no --verify, no --perm-out",
                     o->compose ? "--compose" : "--identity");
    if (o->verify && o->cli.output && !strcmp(o->cli.output, "-"))
        mc_cli_usage("--verify prints a table: -o needs a file");
    if (o->verify && o->cli.backend.precision != MC_PRECISION_F32)
        mc_cli_usage("--verify proves in f32: the same network differs by more in %s",
                     mc_precision_names[o->cli.backend.precision]);
    if (!o->verify && (mc_option_given(&o->cli, &o->cli.backend.device) ||
                       o->cli.backend.precision != MC_PRECISION_F32))
        mc_cli_usage("--device and --precision have no effect without --verify");
    if (o->compose && n != 2)
        mc_cli_usage("--compose needs two permutations (see --help)");
    if ((o->identity || is_random(o)) && n != 1)
        mc_cli_usage("%s needs WEIGHTS (see --help)", o->identity ? "--identity" : "--random");
    if (!alone && !is_random(o) && n != 2 && !(o->inverse && n == 1 && !o->verify && !o->perm_out))
        mc_cli_usage("needs PERM and WEIGHTS (see --help)");
}

static void check_options(struct options *o)
{
    const size_t n = o->cli.n_operands;

    check_uses(o);
    o->cli.own_operands = 1;
    for (size_t i = 0; i < n; i++) {
        /* -o may replace the network that it is the permuted form of */
        const int replaced = !o->identity && !o->compose && i == n - 1 && (i || is_random(o));
        mc_files_add(&o->cli.files, replaced ? MC_FILE_REPLACED : MC_FILE_INPUT, NULL,
                     o->cli.operands[i]);
    }
    if (o->verify && o->cli.output) /* its table */
        mc_files_add(&o->cli.files, MC_FILE_OUTPUT, NULL, "-");
    o->cli.text = o->verify != NULL;
}

static int run(struct options *o, struct mc_error *err)
{
    if (o->compose || (!o->identity && !is_random(o) && o->cli.n_operands == 1))
        return combine(o, err);
    return permute(o, err);
}

MC_PROGRAM(operands, doc, options, .check = check_options, .run = run)
