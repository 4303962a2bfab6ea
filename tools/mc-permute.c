/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-permute: apply, invert, compose, draw or verify permutations of a network's units. */
#include "formats/network/permutations.h"
#include "formats/network/permuted.h"
#include "libcommon/base/file.h"
#include "tools/align/joining.h"
#include "tools/align/verify.h"
#include "tools/cli/cli.h"
#include "tools/cli/data_warnings.h"
#include "tools/cli/memory.h"
#include "tools/cli/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct options {
    struct mc_cli cli;
    int inverse, compose, identity, join;
    uint64_t random;     /* a seed */
    uint64_t member, to; /* from 1; 0: not given */
    const char *verify, *perm_out;
    uint64_t samples;
};

/* clang-format off */
static const struct mc_option options[] = {
    {"inverse", 0, MC_OPT_FLAG, MC_AT(inverse), .group = 1, .flags = MC_OPT_HISTORY,
     .help = "apply the inverse of PERM; without WEIGHTS, write the inverse"},
    {"compose", 0, MC_OPT_FLAG, MC_AT(compose), .group = 1, .flags = MC_OPT_HISTORY,
     .help = "write the permutation that applies P and then Q"},
    {"identity", 0, MC_OPT_FLAG, MC_AT(identity), .group = 1, .flags = MC_OPT_HISTORY,
     .help = "write the identity permutation of WEIGHTS' groups"},
    {"join", 0, MC_OPT_FLAG, MC_AT(join), .group = 1, .flags = MC_OPT_HISTORY,
     .help = "write a joint set of permutations to one order, and of networks that keep theirs (see below)"},
    {"random", 0, MC_OPT_U64, MC_AT(random), .arg = "SEED", .max = INT64_MAX, .group = 1, .flags = MC_OPT_HISTORY,
     .help = "permute WEIGHTS at random"},
    {"member", 0, MC_OPT_U64, MC_AT(member), .arg = "N", .min = 1, .max = MC_MAX_MEMBERS, .group = 2,
     .help = "use member N of a joint set; without WEIGHTS, write its permutation (default: the member of WEIGHTS)"},
    {"to", 0, MC_OPT_U64, MC_AT(to), .arg = "N", .min = 1, .max = MC_MAX_MEMBERS, .group = 2,
     .help = "bring the member to the order of member N's network instead of the common order"},
    {"perm-out", 0, MC_OPT_RESULT, MC_AT(perm_out), .arg = "FILE.mcz", .group = 2,
     .help = "also write the applied permutation"},
    {"verify", 0, MC_OPT_INPUT, MC_AT(verify), .arg = "DATASET.mcz", .group = 3,
     .help = "print a table that compares the logits of WEIGHTS before and after the permutation; fail unless they "
     "are equal up to rounding. Writes weights only with -o"},
    {"samples", 0, MC_OPT_U64, MC_AT(samples), .arg = "N", .max = INT32_MAX, .def = "0", .group = 3,
     .needs = {"verify"}, .help = "verify on the first N images; 0: all"},
    MC_OPTION_OUTPUT, MC_OPTIONS_BACKEND, MC_OPTION_NO_PROGRESS, MC_OPTION_NO_HISTORY, {0}};
/* clang-format on */

static const char operands[] =
    "PERM.mcz WEIGHTS.mcz\n--random SEED WEIGHTS.mcz\n--verify DATASET.mcz PERM.mcz WEIGHTS.mcz\n"
    "--inverse PERM.mcz\n--compose P.mcz Q.mcz\n--identity WEIGHTS.mcz\n--join FILE.mcz "
    "FILE.mcz...\n"
    "--member N JOINT.mcz";
static const char doc[] =
    "Permute a network's units without changing its function."
    "\vEntry i of a permutation is the unit that moves to position i. PERM may also be a curve "
    "that contains a permutation. One of the inputs may be - (standard input). If -o names "
    "WEIGHTS, the result replaces it.\n\n"
    "PERM may be a joint set (mc-hungarian --joint), which has one permutation per network: that "
    "of "
    "WEIGHTS is found by its content id. --compose accepts a joint set as P: Q then follows every "
    "member.\n\n"
    "--join writes a joint set of one member per FILE. A network keeps its order. A permutation "
    "brings its second network to the common order. If the first FILE is a network A, a "
    "permutation of A to the order of a network B is inverted, so B comes to the order of A.\n\n"
    "--verify prints a heading and one line: images, images whose predicted class changed, the "
    "largest "
    "difference of a logit, the largest logit, and the largest difference of a batch's mean "
    "loss.\n\n"
    "A group of PERM may hold an orthogonal matrix (mc-procrustes), if WEIGHTS' groups allow it. "
    "Values are computed in float64 and rounded once. --random draws maps of the kind that each "
    "group allows. --inverse and --compose accept matrices, joint sets do not.\n\n"
    "Memory: at most the permutations, twice the largest tensor and 66 MiB; with matrices, 12 "
    "bytes "
    "per value of the largest tensor more. If WEIGHTS is a pipe "
    "and PERM a joint set, the network is held as well, unless --member is given. --verify needs "
    "16 bytes per parameter and a batch's activations. For such a pipe and --verify, -v prints how "
    "much.\n\n"
    "Examples:\n"
    "  mc-permute p.mcz b.mcz -o pb.mcz\n"
    "  mc-corr moments.mcz | mc-hungarian | mc-permute - b.mcz -o pb.mcz\n"
    "  mc-permute --identity b.mcz -o unaligned.mcz\n"
    "  mc-permute joint.mcz net-3.mcz -o p3.mcz\n"
    "  mc-permute --join net-1.mcz p12.mcz p13.mcz -o to-1.mcz\n"
    "  mc-permute --member 3 --to 2 joint.mcz -o map-3-to-2.mcz";

static int is_random(const struct options *o)
{
    return mc_option_given(&o->cli, &o->random) != NULL;
}

static int invert(const struct options *o, struct mc_perm *p, struct mc_error *err)
{
    mc_option_note(&o->cli, &o->inverse, o->cli.history);
    return o->inverse ? mc_perm_inverse(p, err) : 0;
}

/* The network to permute. */
struct network {
    const char *path;         /* NULL: none */
    char id[MC_ID_LEN];       /* "" if unknown so far */
    struct mc_values *values; /* to read it, while the id is unknown */
};

/* Find out a network's id before its values are used: read a file for it, hold a pipe in memory. */
static int learn_id(const struct options *o, struct network *of, struct mc_error *err)
{
    struct mc_values *v = of->values;
    double bytes = 0;
    int rc = 0;

    if (mc_values_rereadable(of->path))
        return mc_values_id(of->id, (struct mc_stream){.path = of->path, .declared = 1}, err);
    for (size_t i = 0; i < v->n; i++)
        bytes += (double)mc_values_bytes(v, i);
    mc_detail(&o->cli, "memory: network %.1f MB", bytes / 1e6);
    if (!(rc = mc_memory_check(bytes, err)) && !(rc = mc_values_hold(v, err)))
        memcpy(of->id, v->id, sizeof of->id);
    return rc;
}

/* Find the member of a joint set that --member names, or whose network has the content id. */
static int find_member(const struct options *o, const struct mc_joint_perm *j, const char *path,
                       struct network *of, size_t *member, struct mc_error *err)
{
    const char *file = mc_file_called(path), *id = of->id;
    int rc = 0;

    if (j->n_members == 1 && (o->member || o->to))
        return mc_fail(err, MC_EINPUT, "%s: a joint set expected for --%s, got one permutation",
                       file, o->member ? "member" : "to");
    if (o->member > j->n_members || o->to > j->n_members)
        return mc_fail(err, MC_EINPUT,
                       "%s: --%s must be at most %zu, its members (got %" PRIu64 ")", file,
                       o->member > j->n_members ? "member" : "to", j->n_members,
                       o->member > j->n_members ? o->member : o->to);
    if (!o->member && j->n_members > 1 && of->path && !*id && (rc = learn_id(o, of, err)))
        return rc;
    *member = o->member ? o->member - 1 : j->n_members == 1 ? 0 : mc_joint_perm_find(j, id);
    if (*member < j->n_members)
        return 0;
    if (!*id)
        return mc_fail(err, MC_EINPUT, "%s: a joint set of %zu (--member N chooses one)", file,
                       j->n_members);
    return mc_fail(err, MC_EINPUT,
                   "%s: not one of the %zu networks of %s, by its id %s (--member N chooses one)",
                   mc_file_called(of->path), j->n_members, file, id);
}

/* Read a permutation, or the member of a joint set for this network. */
static int read_perm(const struct options *o, const char *path, struct network *of,
                     struct mc_perm *p, struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    struct mc_joint_perm j;
    size_t member = 0, to = o->to - 1;
    int rc = mc_joint_perm_read(&j, (struct mc_stream){.path = path}, h, err);

    if (rc || (rc = find_member(o, &j, path, of, &member, err)) ||
        (rc = mc_joint_perm_get(p, &j, member, o->to ? &to : NULL, err)))
        goto out;
    if (j.n_members > 1)
        mc_history_int(h, "member", (int64_t)member + 1);
    mc_option_note(&o->cli, &o->to, h);
out:
    mc_joint_perm_release(&j);
    return rc;
}

/* Write a permutation without weights: its inverse, or a member of a joint set. */
static int write_perm(struct options *o, struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    const char *path = o->cli.operands[0];
    struct network none = {0};
    struct mc_perm p = {0};
    int rc = read_perm(o, path, &none, &p, err);

    if (rc)
        goto out;
    if (!o->inverse && *p.ids[0])
        mc_history_set_pair(h, p.ids[0], p.ids[1]);
    if (!(rc = invert(o, &p, err)))
        rc = mc_perm_write(&p, NULL, o->cli.output, h, err);
out:
    mc_perm_release(&p);
    return rc;
}

static int compose(struct options *o, struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    const char **path = o->cli.operands;
    struct mc_joint_perm p = {0};
    struct mc_perm q = {0};
    int rc = mc_joint_perm_read(&p, (struct mc_stream){.path = path[0]}, h, err);

    if (!rc && p.n_members > 1 && o->inverse)
        rc = mc_fail(err, MC_EINPUT,
                     "%s: a joint set has no inverse (--member N writes one permutation)",
                     mc_file_called(path[0]));
    if (!rc)
        rc = mc_perm_read(&q, (struct mc_stream){.path = path[1], .maps = 1}, NULL, h, err);
    if (!rc && p.n_members > 1 && mc_perm_first_map(&q) < q.n_groups)
        rc = mc_fail(err, MC_EINPUT, "%s: a joint set cannot be followed by matrices",
                     mc_file_called(path[1]));
    if (!rc)
        rc = mc_fail_in(mc_joint_perm_follow(&p, &q, err), err, "%s", path[1]);
    if (rc)
        goto out;
    mc_option_note(&o->cli, &o->compose, h);
    if (p.n_members > 1)
        rc = mc_joint_perm_write(&p, o->cli.output, h, err);
    else if (!(rc = invert(o, &p.members[0], err)))
        rc = mc_perm_write(&p.members[0], NULL, o->cli.output, h, err);
out:
    mc_joint_perm_release(&p);
    mc_perm_release(&q);
    return rc;
}

static int join(struct options *o, struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    struct mc_joint_perm j = {0};
    int rc = mc_joint_perm_join(&j, o->cli.operands, o->cli.n_operands, h, err);

    mc_option_note(&o->cli, &o->join, h);
    if (!rc)
        rc = mc_joint_perm_write(&j, o->cli.output, h, err);
    mc_joint_perm_release(&j);
    return rc;
}

/* Report the memory that --verify needs. Fail if the machine has less. */
static int check_memory(struct options *o, const struct mc_graph *g, struct mc_error *err)
{
    const double host = 8.0 * (double)g->P, networks = 2 * host;
    const int on_cpu = !strcmp(o->cli.be->name, "cpu"); /* a device has its own memory */
    size_t activations = 0;
    int rc = mc_verify_bytes(o->cli.be, g, &activations, err);

    if (rc)
        return rc;
    mc_detail(&o->cli, "memory: networks %.1f MB, activations %.1f MB", networks / 1e6,
              (double)activations / 1e6);
    return mc_memory_check(on_cpu ? networks + (double)activations : host, err);
}

static int verify(struct options *o, struct mc_dataset_reader *data, const struct mc_weights *w,
                  const struct mc_weights *pw, struct mc_error *err)
{
    struct mc_verified v;
    struct mc_text t = {0};
    struct mc_progress progress;
    struct mc_loader_options pass = {
        .samples = o->samples, .exact = 1, .progress = mc_progress_count_of, .arg = &progress};
    int rc;

    pass.be = o->cli.be;
    pass.data = data;
    mc_progress_begin(&progress, &o->cli, "verifying", "images", 0);
    rc = mc_verify(w, pw, &pass, &v, err);
    mc_progress_end(&progress);
    if (rc)
        return rc;
    mc_data_warn(&o->cli, w->graph, w->dataset, mc_dataset_get_info(data), o->verify,
                 MC_DATA_MEASURE);
    if (!(rc = mc_text_open(&t, err)))
        fprintf(t.f,
                "images\tchanged\tlargest_difference\tlargest_logit\tloss_difference\n"
                "%" PRIu64 "\t%" PRIu64 "\t%.9g\t%.9g\t%.9g\n",
                v.images, v.changed, v.difference, v.logit, v.loss);
    if ((rc = mc_text_close(&t, NULL, rc, err)) || mc_verified_same(&v))
        return rc;
    return mc_fail(err, MC_EFAIL, "the permuted network differs: logits by up to %g, losses by %g",
                   v.difference, v.loss);
}

/* Read or draw the permutation to apply to this network, or create the identity. */
static int get_perm(const struct options *o, const struct mc_symmetry *s, struct network *of,
                    struct mc_perm *p, struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    const char *path = o->cli.operands[0];
    int rc = 0;

    if (o->identity || is_random(o))
        rc = mc_perm_init(p, s, err);
    else if (!(rc = read_perm(o, path, of, p, err)))
        rc = mc_fail_in(mc_perm_set_nesting(p, s, err), err, "%s", mc_file_called(path));
    if (rc)
        return rc;
    mc_option_note(&o->cli, &o->identity, h);
    if (o->identity)
        return 0;
    if (is_random(o)) {
        mc_perm_random(p, o->random);
        rc = mc_perm_random_maps(p, s->groups, o->random, err);
    }
    mc_option_note(&o->cli, &o->random, h);
    return rc ? rc : invert(o, p, err);
}

/* Open the weights, and say so if they are the permutation. */
static int open_weights(struct mc_reader **r, const struct options *o, struct mc_error *err)
{
    const char **path = o->cli.operands;
    const size_t n = o->cli.n_operands;
    int rc = mc_reader_open(r, path[n - 1], err);

    if (!rc && n == 2 && strcmp(path[0], path[1]) != 0 && strcmp(path[0], "-") != 0 &&
        !strcmp(mc_reader_kind(*r), "permutation"))
        rc = mc_fail(err, MC_EINPUT,
                     "%s: weights expected, got permutation: the permutation comes first "
                     "(mc-permute %s %s)",
                     mc_reader_name(*r), path[1], path[0]);
    return rc;
}

/* Warn if the permutation was computed for another network, and list what moves. */
static void report(const struct options *o, const struct mc_perm *p, const struct network *of)
{
    if (mc_perm_found_elsewhere(p, "", of->id))
        mc_warn(&o->cli, "%s was computed for another network than %s, and is applied anyway",
                mc_file_called(o->cli.operands[0]), mc_file_called(of->path));
    for (size_t g = 0; g < p->n_groups; g++)
        mc_detail(&o->cli, "%s: %zu of %zu units move", p->groups[g].name, mc_perm_moved(p, g),
                  p->groups[g].size);
}

/* Permute a network in memory, and verify it. */
static int permute_verified(struct options *o, struct mc_reader *r, struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    struct network of = {.path = o->cli.operands[o->cli.n_operands - 1]};
    struct mc_weights w = {0}, pw = {0};
    struct mc_symmetry s = {0};
    struct mc_perm p = {0};
    struct mc_dataset_reader *data = NULL;
    int rc = mc_weights_read(&w, (struct mc_stream){.reader = r}, h, err);

    if (rc)
        return rc;
    if ((rc = mc_dataset_open(&data, o->verify, err)) || (rc = mc_cli_open_backend(&o->cli, err)) ||
        (rc = check_memory(o, w.graph, err)))
        goto out;
    memcpy(of.id, w.id, sizeof of.id);
    if ((rc = mc_fail_in(mc_symmetry_derive(&s, w.graph, err), err, "%s", mc_reader_name(r))) ||
        (rc = get_perm(o, &s, &of, &p, err)) ||
        (rc = mc_weights_init(&pw, w.graph, w.dataset, err)) ||
        (rc = mc_perm_apply(&p, &s, w.graph, w.params, w.stats, pw.params, pw.stats, err)))
        goto out;
    memcpy(pw.types, w.types, (w.graph->n_params + w.graph->n_stats) * sizeof *w.types);
    report(o, &p, &of);
    if ((rc = verify(o, data, &w, &pw, err)))
        goto out;
    if (o->perm_out && *p.ids[0] && !o->inverse)
        mc_history_set_pair(h, p.ids[0], p.ids[1]);
    if (o->perm_out && (rc = mc_perm_write(&p, NULL, o->perm_out, h, err)))
        goto out;
    if (o->cli.output)
        rc = mc_weights_write(&pw, o->cli.output, h, err);
out:
    mc_dataset_close(data);
    mc_perm_release(&p);
    mc_symmetry_release(&s);
    mc_weights_release(&w);
    mc_weights_release(&pw);
    return rc;
}

/* Write the open network permuted, tensor by tensor. Its end and --perm-out come before the output's
 * end, so a failure leaves no complete output. */
static int write_permuted(struct options *o, struct mc_values *v, struct network *of,
                          const struct mc_symmetry *s, const struct mc_perm *p,
                          struct mc_error *err)
{
    struct mc_weights out = {.graph = v->curve.graph, .types = v->curve.types};
    struct mc_history *h = o->cli.history;
    struct mc_permuted permuted = {0};
    struct mc_writer *w = NULL;
    int rc = mc_permuted_open(&permuted, p, s, v->curve.graph, err);

    memcpy(out.dataset, v->curve.dataset, sizeof out.dataset);
    if (o->perm_out && *p->ids[0] && !o->inverse)
        mc_history_set_pair(h, p->ids[0], p->ids[1]);
    if (!rc)
        rc = mc_weights_open(&w, &out, o->cli.output, h, err);
    for (size_t i = 0; !rc && i < v->n; i++)
        rc = mc_permuted_copy(&permuted, v, i, w, i, err);
    if (!rc && !(rc = mc_values_end(v, err))) {
        memcpy(of->id, v->id, sizeof of->id);
        report(o, p, of);
    }
    if (!rc && o->perm_out)
        rc = mc_perm_write(p, NULL, o->perm_out, h, err);
    mc_permuted_release(&permuted);
    return mc_writer_close(w, rc, NULL, err);
}

/* Permute a network tensor by tensor, or write the identity permutation of its groups. */
static int permute_stream(struct options *o, struct mc_reader *r, struct mc_error *err)
{
    struct mc_values v;
    struct network of = {.path = o->cli.operands[o->cli.n_operands - 1], .values = &v};
    struct mc_symmetry s = {0};
    struct mc_perm p = {0};
    int rc = mc_values_open(&v, "weights", (struct mc_stream){.reader = r, .declared = 1},
                            o->cli.history, err);

    if (!rc)
        rc = mc_fail_in(mc_symmetry_derive(&s, v.curve.graph, err), err, "%s", mc_reader_name(r));
    if (!rc)
        rc = get_perm(o, &s, &of, &p, err);
    if (!rc && !o->identity)
        rc = write_permuted(o, &v, &of, &s, &p, err);
    else if (!rc && !(rc = mc_values_end(&v, err)))
        rc = mc_perm_write(&p, NULL, o->cli.output, o->cli.history, err);
    mc_perm_release(&p);
    mc_symmetry_release(&s);
    mc_values_close(&v);
    return rc;
}

static int permute(struct options *o, struct mc_error *err)
{
    struct mc_reader *r = NULL;
    int rc = open_weights(&r, o, err);

    if (!rc)
        rc = o->verify ? permute_verified(o, r, err) : permute_stream(o, r, err);
    mc_reader_close(r);
    return rc;
}

/* Refuse operands and options that cannot be combined. */
static void check_uses(const struct options *o)
{
    const size_t n = o->cli.n_operands;
    const int writes_perm = o->compose || o->identity || o->join;
    const char *use = o->compose ? "compose" : o->identity ? "identity" : "join";
    const int alone = (o->inverse || o->member) && n == 1 && !o->verify && !o->perm_out;

    if (o->compose + o->identity + o->join + is_random(o) > 1)
        mc_cli_usage("only one of --compose, --identity, --join and --random can be given");
    if (o->join && o->inverse)
        mc_cli_usage("--inverse has no effect with --join");
    if ((o->member || o->to) && (writes_perm || is_random(o)))
        mc_cli_usage("--%s has no effect with --%s", o->member ? "member" : "to",
                     writes_perm ? use : "random");
    if (writes_perm && (o->verify || o->perm_out))
        mc_cli_usage("--%s has no effect with --%s, which writes a permutation",
                     o->verify ? "verify" : "perm-out", use);
    if (o->verify && o->cli.output && !strcmp(o->cli.output, "-"))
        mc_cli_usage("--verify prints its table to standard output: -o requires a file");
    if (o->verify && o->cli.backend.precision != MC_PRECISION_F32)
        mc_cli_usage("--verify requires --precision f32 (got %s, whose rounding is too coarse)",
                     mc_precision_names[o->cli.backend.precision]);
    if (!o->verify && (mc_option_given(&o->cli, &o->cli.backend.device) ||
                       o->cli.backend.precision != MC_PRECISION_F32))
        mc_cli_usage("--device and --precision have no effect without --verify");
    if (o->verify && n == 1 && !is_random(o))
        mc_cli_usage("--verify reads a data set, then PERM and WEIGHTS follow: mc-permute --verify "
                     "DATASET.mcz %s %s",
                     o->verify, o->cli.operands[0]);
    if (o->join && o->cli.n_operands > MC_MAX_MEMBERS)
        mc_cli_usage("at most %d files", MC_MAX_MEMBERS);
    if (o->join && o->cli.n_operands > 1)
        return;
    mc_cli_operands(&o->cli, o->join                       ? "FILE.mcz FILE.mcz"
                             : o->compose                  ? "P.mcz Q.mcz"
                             : o->identity || is_random(o) ? "WEIGHTS.mcz"
                             : alone                       ? "PERM.mcz"
                                                           : "PERM.mcz WEIGHTS.mcz");
}

static void check_options(struct options *o)
{
    const size_t n = o->cli.n_operands;

    check_uses(o);
    o->cli.registers_operands = 1;
    for (size_t i = 0; i < n; i++) {
        /* -o may replace the network that is permuted */
        const int replaced =
            !o->identity && !o->compose && !o->join && i == n - 1 && (i || is_random(o));
        mc_files_add(&o->cli.files, replaced ? MC_FILE_REPLACED : MC_FILE_INPUT, NULL,
                     o->cli.operands[i]);
    }
    if (o->verify && o->cli.output) /* its table */
        mc_files_add(&o->cli.files, MC_FILE_OUTPUT, NULL, "-");
    o->cli.text = o->verify != NULL;
}

static int run(struct options *o, struct mc_error *err)
{
    if (o->compose || o->join)
        return o->join ? join(o, err) : compose(o, err);
    return !o->identity && !is_random(o) && o->cli.n_operands == 1 ? write_perm(o, err)
                                                                   : permute(o, err);
}

MC_PROGRAM("mc-permute", operands, doc, options, .check = check_options, .run = run)
