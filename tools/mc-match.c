/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-match: the permutation that best matches the weights of two networks; or one permutation per
 * network to a common order. */
#include "formats/network/permutations.h"
#include "formats/codecs/weights.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"
#include "tools/options/chosen_groups.h"
#include "tools/align/joint_weights.h"
#include "tools/align/weight_maps.h"
#include "tools/cli/cli.h"
#include "tools/cli/log.h"
#include "tools/cli/memory.h"
#include "tools/cli/networks.h"

#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Match the units of two or more networks by their weights, without data."
    "\vWrites the permutation of B's units that moves its parameters close to A's (weight "
    "matching, Ainsworth et al. 2023). It visits the groups in random order until nothing changes. "
    "For each group it computes the assignment with the maximum inner product of the parameters "
    "that the group permutes in A and B, while the other groups stay fixed. Without --init, a "
    "first sweep goes from the image to the logits and uses only the parameters between groups "
    "that are already matched. All weights and biases that a group permutes count, on both axes of "
    "a layer, including those of batch norm; running statistics do not. The result is a local "
    "maximum: another --seed, or --init from an alignment by activations, may find a better "
    "one.\n\n"
    "-v prints the objective (inner product of all parameters of A and the permuted B) and the "
    "Euclidean distance between the two, at the start and after each sweep, and the number of "
    "changed groups. Then it prints one line per group: its units; the value (inner product of the "
    "parameters that the group permutes) and the mean per unit; gap and ties as in mc-hungarian; "
    "the number of units that move; or \"kept\" if --groups did not choose it.\n\n"
    "With --maps, a group that allows more than permutations (the column allows of a group file) "
    "gets "
    "the map of that kind with the maximum inner product, as in mc-procrustes. Heads are matched "
    "by "
    "the best maps inside. Sweeps visit the groups in their order until the objective rises by at "
    "most 1e-7 of the product of both networks' norms. --init may have matrices.\n\n"
    "With --joint, writes a joint set: one permutation per network to the order of the first, "
    "found by mc-permute by content id. The objective is the sum of all pairs' inner products. "
    "The search starts from each network, to which it matches all others. Then it matches each "
    "network to the sum of the others until none changes, and keeps the best start. -v prints one "
    "line per pass and the objective.\n\n"
    "Memory: 4 bytes per parameter of each network (with --joint, of two more), 8 per value of the "
    "largest tensor, and for the largest group 20 per pair of units (12 if there is one group) "
    "and up to 32 KiB per unit. -v prints it with buffers of .4 MB per thread. Reading needs up to "
    "66 MiB in addition.\n\n"
    "Examples:\n"
    "  mc-match a.mcz b.mcz -o p.mcz\n"
    "  mc-match a.mcz b.mcz | mc-permute - b.mcz -o pb.mcz\n"
    "  mc-match --joint a.mcz b.mcz c.mcz -o joint.mcz\n"
    "  mc-match -v --groups '*.mlp,*.heads' a.mcz b.mcz -o p.mcz";

struct options {
    struct mc_cli cli;
    const char *init, *groups;
    int joint, maps;
    uint64_t seed;
};

/* clang-format off */
static const struct mc_option options[] = {
    {"init", 0, MC_OPT_INPUT, MC_AT(init), .arg = "FILE.mcz",
     .help = "start from this permutation; Ainsworth et al. start from the identity"},
    {"groups", 0, MC_OPT_TEXT, MC_AT(groups), .arg = "PATTERN,...",
     .help = MC_HELP_CHOSEN_GROUPS " the identity, or as in --init"},
    {"joint", 0, MC_OPT_FLAG, MC_AT(joint), .flags = MC_OPT_HISTORY,
     .help = "match two or more networks to one common order"},
    {"maps", 0, MC_OPT_FLAG, MC_AT(maps), .flags = MC_OPT_HISTORY,
     .help = "find the maps that groups allow: rotations and signs too (see below)"},
    MC_OPTION_OUTPUT, MC_OPTION_SEED(MC_AT(seed), .flags = MC_OPT_HISTORY), MC_OPTION_THREADS,
    MC_OPTION_LOG_JSON, MC_OPTION_NO_PROGRESS, MC_OPTION_NO_HISTORY, {0}};
/* clang-format on */

/* ---- the networks ---------------------------------------------------------------------------- */

struct networks {
    size_t n;
    struct mc_weights *w;
    const float **params;
    char (*ids)[MC_ID_LEN];
    struct mc_symmetry s;
    unsigned char *keep; /* groups that --groups did not choose */
};

/* Report the memory of the search, or refuse it if the machine has less. */
static int check_memory(const struct networks *all, const struct options *o, struct mc_error *err)
{
    const struct mc_graph *g = all->w[0].graph;
    const double vectors = (double)all->n + (o->joint ? 2 : 0);
    const double networks = vectors * (double)g->P * sizeof(float);
    const double matching = o->maps ? mc_weight_maps_bytes(&all->s, g)
                                    : mc_weight_match_bytes(&all->s, g, o->cli.backend.threads);

    mc_detail(&o->cli, "memory: networks %.1f MB, matching %.1f MB", networks / 1e6,
              matching / 1e6);
    return mc_memory_check(networks + matching, err);
}

/* Read the networks of the operands. The memory is checked after the first. */
static int read_networks(struct networks *all, const struct options *o, struct mc_error *err)
{
    const char **path = o->cli.operands;
    const size_t n = o->cli.n_operands;
    int rc = 0;

    if ((rc = mc_new(&all->w, n, err)) || (rc = mc_new(&all->params, n, err)) ||
        (rc = mc_new(&all->ids, n, err)))
        return rc;
    all->n = n;
    for (size_t i = 0; i < n; i++) {
        const struct mc_stream from = {.path = path[i], .declared = 1};
        if ((rc = mc_weights_read(&all->w[i], from, o->cli.history, err)))
            return rc;
        const struct mc_graph *g = all->w[0].graph;
        if (i == 0 && ((rc = mc_fail_in(mc_symmetry_derive(&all->s, g, err), err, "%s", path[0])) ||
                       (rc = check_memory(all, o, err))))
            return rc;
        if ((rc = mc_expect_same_network(&o->cli, g, all->w[i].graph, path[0], path[i], err)))
            return rc;
        all->params[i] = all->w[i].params;
        memcpy(all->ids[i], all->w[i].id, MC_ID_LEN);
        for (size_t k = 0; o->joint && k < i; k++)
            if (!strcmp(all->ids[i], all->ids[k]))
                return mc_fail(err, MC_EINPUT, "%s: the same network as %s (each network once)",
                               mc_file_called(path[i]), mc_file_called(path[k]));
    }
    if (o->groups)
        mc_history_str(o->cli.history, "groups", o->groups);
    return mc_groups_keep(&all->keep, all->s.groups, all->s.n_groups, o->groups, path[0], err);
}

static void networks_release(struct networks *all)
{
    for (size_t i = 0; all->w && i < all->n; i++)
        mc_weights_release(&all->w[i]);
    mc_symmetry_release(&all->s);
    free(all->w);
    free(all->params);
    free(all->ids);
    free(all->keep);
}

/* ---- two networks ---------------------------------------------------------------------------- */

struct watch {
    const struct mc_cli *cli;
    struct mc_log *log;
    struct mc_progress progress;
    struct mc_weight_sweep last;
};

static void report_sweep(void *arg, const struct mc_weight_sweep *s)
{
    struct watch *w = arg;
    char extra[96];

    mc_log_begin(w->log, s->sweep ? "sweep" : "start");
    mc_log_int(w->log, "sweep", (int64_t)s->sweep);
    mc_log_num(w->log, "objective", s->objective);
    mc_log_num(w->log, "distance", s->distance);
    mc_log_int(w->log, "changed", (int64_t)s->changed);
    mc_log_end(w->log);
    snprintf(extra, sizeof extra, "objective %.6g, distance %.6g", s->objective, s->distance);
    if (!s->sweep)
        mc_detail(w->cli, "start: %s", extra);
    else
        mc_detail(w->cli, "sweep %zu: %s, %zu group%s changed", s->sweep, extra, s->changed,
                  s->changed == 1 ? "" : "s");
    mc_progress_update(&w->progress, s->sweep, extra);
    w->last = *s;
}

/* Print a line per group. found: of --maps, or NULL. */
static void report_groups(const struct mc_cli *cli, const struct mc_perm *p,
                          const struct mc_assignment *info, const struct mc_procrustes *found)
{
    for (size_t g = 0; g < p->n_groups; g++) {
        const struct mc_group *group = &p->groups[g];
        const double value = found ? found[g].value : info[g].value;
        if (group->allows)
            mc_detail(cli,
                      "%s: %zu units, %s, value %.9g (mean %.6g), %zu directions without weights",
                      group->name, group->size, mc_allows_names[group->allows], value,
                      value / (double)group->size, found[g].n_free);
        else if (info[g].kept)
            mc_detail(cli, "%s: %zu units, kept", group->name, group->size);
        else
            mc_detail(cli, "%s: %zu units, value %.9g (mean %.6g), gap %.2g, %zu in ties, %zu move",
                      group->name, group->size, value, value / (double)group->size, info[g].gap,
                      info[g].n_ties, mc_perm_moved(p, g));
    }
}

static int match(struct options *o, const struct networks *all, struct mc_perm *p,
                 struct mc_error *err)
{
    struct watch w = {.cli = &o->cli};
    const struct mc_weight_match_opts opts = {.keep = o->maps ? NULL : all->keep,
                                              .seed = o->seed,
                                              .forward = !o->init,
                                              .threads = o->cli.backend.threads,
                                              .swept = report_sweep,
                                              .arg = &w};
    const struct mc_graph *graph = all->w[0].graph;
    struct mc_assignment *info = NULL;
    struct mc_procrustes *found = NULL;
    int rc = mc_new(&info, p->n_groups, err);

    if (!rc && o->maps)
        rc = mc_new(&found, p->n_groups, err);
    if (!rc)
        rc = mc_log_open(&w.log, o->cli.log_path, 0, err);
    mc_progress_begin(&w.progress, &o->cli, "matching", "sweeps", 0);
    if (!rc && o->maps)
        rc = mc_weight_maps(p, info, found, &all->s, graph, all->params[0], all->params[1], &opts,
                            err);
    else if (!rc)
        rc = mc_weight_match(p, info, &all->s, graph, all->params[0], all->params[1], &opts, err);
    mc_progress_end(&w.progress);
    if (!rc)
        report_groups(&o->cli, p, info, found);
    if (!rc)
        rc = mc_perm_write(p, info, o->cli.output, o->cli.history, err);
    free(info);
    free(found);
    return mc_log_close(w.log, rc, err);
}

static int match_pair(struct options *o, struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    struct networks all = {0};
    struct mc_perm p = {0};
    int rc = read_networks(&all, o, err);

    if (!rc && o->init)
        rc = mc_perm_read(&p, (struct mc_stream){.path = o->init, .maps = o->maps}, &all.s, h, err);
    else if (!rc)
        rc = mc_perm_init(&p, &all.s, err);
    if (!rc) {
        mc_history_set_pair(h, all.ids[0], all.ids[1]);
        mc_option_note(&o->cli, o->maps ? (void *)&o->maps : &o->seed, h);
        rc = match(o, &all, &p, err);
    }
    mc_perm_release(&p);
    networks_release(&all);
    return rc;
}

/* ---- --joint --------------------------------------------------------------------------------- */

static void report_pass(void *arg, const struct mc_joint_pass *p)
{
    struct watch *w = arg;
    char text[64];

    mc_log_begin(w->log, "pass");
    mc_log_int(w->log, "reference", (int64_t)p->reference + 1);
    mc_log_int(w->log, "pass", (int64_t)p->pass);
    mc_log_int(w->log, "changed", (int64_t)p->changed);
    if (!p->changed)
        mc_log_num(w->log, "objective", p->objective);
    mc_log_end(w->log);
    snprintf(text, sizeof text, "%zu network%s changed", p->changed, p->changed == 1 ? "" : "s");
    if (p->changed)
        mc_detail(w->cli, "reference %zu, pass %zu: %s", p->reference + 1, p->pass, text);
    else
        mc_detail(w->cli, "reference %zu, pass %zu: objective %.9g", p->reference + 1, p->pass,
                  p->objective);
    mc_progress_update(&w->progress, p->pass, text);
}

static int search(const struct options *o, const struct networks *all, struct mc_joint_perm *j,
                  struct mc_error *err)
{
    struct watch w = {.cli = &o->cli};
    const struct mc_joint_weights_opts opts = {.seed = o->seed,
                                               .keep = all->keep,
                                               .threads = o->cli.backend.threads,
                                               .passed = report_pass,
                                               .arg = &w};
    double objective = 0;
    int rc = mc_log_open(&w.log, o->cli.log_path, 0, err);

    mc_progress_begin(&w.progress, &o->cli, "matching", "passes", 0);
    if (!rc)
        rc =
            mc_joint_weight_match(j, &objective, &all->s, all->w[0].graph, all->params, &opts, err);
    mc_progress_end(&w.progress);
    if (!rc)
        mc_detail(&o->cli, "objective %.9g", objective);
    return mc_log_close(w.log, rc, err);
}

static int match_jointly(struct options *o, struct mc_error *err)
{
    struct mc_history *h = o->cli.history;
    struct networks all = {0};
    struct mc_joint_perm j = {0};
    int rc = read_networks(&all, o, err);

    if (!rc)
        rc = mc_joint_perm_init(&j, all.n, all.s.groups, all.s.n_groups, err);
    if (!rc) {
        mc_option_note(&o->cli, &o->joint, h);
        mc_option_note(&o->cli, &o->seed, h);
        rc = search(o, &all, &j, err);
    }
    if (!rc) {
        mc_joint_perm_set_ids(&j, (const char(*)[MC_ID_LEN])all.ids);
        rc = mc_joint_perm_write(&j, o->cli.output, h, err);
    }
    mc_joint_perm_release(&j);
    networks_release(&all);
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    return o->joint ? match_jointly(o, err) : match_pair(o, err);
}

static void check_options(struct options *o)
{
    if (o->joint && o->init)
        mc_cli_usage("--init and --joint cannot be combined");
    if (o->maps && (o->joint || o->groups || mc_option_given(&o->cli, &o->seed)))
        mc_cli_usage("--%s has no effect with --maps", o->joint    ? "joint"
                                                       : o->groups ? "groups"
                                                                   : "seed");
    if (o->joint && o->cli.n_operands > MC_MAX_MEMBERS)
        mc_cli_usage("at most %d networks", MC_MAX_MEMBERS);
    if (!o->joint || o->cli.n_operands < 2)
        mc_cli_operands(&o->cli, "A.mcz B.mcz");
}

MC_PROGRAM("mc-match", "A.mcz B.mcz\n--joint A.mcz B.mcz...", doc, options, .check = check_options,
           .run = run)
