/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-corr: the similarity of the units of two networks, and the correlation of matched units. */
#include "formats/network/permutations.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"
#include "libcommon/base/json.h"
#include "tools/align/correlation.h"
#include "tools/align/matching.h"
#include "tools/align/raw_moments.h"
#include "tools/cli/cli.h"
#include "tools/cli/text.h"

#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Compare the units of two networks: similarity matrices for mc-hungarian."
    "\vReads moments (all shards of a run, in any order), or the raw activations of two networks; "
    "it recognises which. The measure is the correlation; l2, the negative mean squared "
    "distance of the activations; or moment, for mc-procrustes: second moments about 0, divided at "
    "each layer by the two networks' norms and summed over layers. Units with almost no variance "
    "get correlation 0 and are listed. "
    "mc-acts decides whether activations are from after or before the ReLU.\n\n"
    "With --signature, the output is a table (TSV): for each layer, the mean correlation of the "
    "units with those at the same position of the other network (identity), and with --perm with "
    "those that the permutation moves there (permuted); over all units, and over those with "
    "variance (_live).\n\n"
    "Examples:\n"
    "  mc-acts --data train.mcz a.mcz b.mcz | mc-corr | mc-hungarian -o p.mcz\n"
    "  mc-acts -d train.mcz --at pre a.mcz b.mcz | mc-corr --measure l2 -o pre.mcz\n"
    "  mc-corr acts-a.mcz acts-b.mcz | mc-hungarian -o p.mcz\n"
    "  mc-corr --signature --perm p.mcz moments.mcz > signature.tsv";

struct options {
    struct mc_cli cli;
    const char *perm;
    enum mc_measure measure;
    int signature;
};

static const struct mc_option options[] = {
    {"measure", 0, MC_OPT_CHOICE, MC_AT(measure), .names = mc_measure_names, .def = "correlation",
     .flags = MC_OPT_HISTORY, .help = "similarity measure"},
    {"signature", 0, MC_OPT_FLAG, MC_AT(signature),
     .help = "print the mean correlation of matched units per layer"},
    {"perm", 0, MC_OPT_INPUT, MC_AT(perm), .arg = "FILE.mcz", .needs = {"signature"},
     .help = "with --signature: also after this permutation"},
    MC_OPTION_OUTPUT,
    MC_OPTION_THREADS,
    MC_OPTION_DEVICE,
    MC_OPTION_NO_PROGRESS,
    MC_OPTION_NO_HISTORY,
    {0}};

static void check_options(struct options *o)
{
    if (o->signature && o->measure != MC_MEASURE_CORRELATION)
        mc_cli_usage("--signature requires --measure correlation (got %s)",
                     mc_measure_names[o->measure]);
    mc_cli_default_stdin(&o->cli);
    o->cli.text = o->signature;
}

/* ---- input ----------------------------------------------------------------------------------- */

/* Add the name of the moments' file to an error, if there is one file. */
static int name_input(int rc, const struct options *o, struct mc_error *err)
{
    if (rc != MC_EINPUT || o->cli.n_operands != 1)
        return rc;
    return mc_fail_in(rc, err, "%s", mc_file_called(o->cli.operands[0]));
}

/* first: a's activations, which are already open; closed here. */
static int read_raw(struct mc_moments *m, struct mc_reader *first, struct options *o,
                    struct mc_error *err)
{
    struct mc_activations_reader *a = NULL, *b = NULL;
    struct mc_history *h = o->cli.history;
    struct mc_progress p;
    int rc = mc_activations_open_stream(&a, first, err);

    if (!rc && o->cli.n_operands != 2)
        rc = mc_fail(err, MC_EINPUT,
                     "%s: the activations of two networks are required (got %zu operands)",
                     mc_reader_name(first), o->cli.n_operands);
    if (rc || (rc = mc_activations_open(&b, o->cli.operands[1], err)))
        goto out;
    mc_history_input(h, a->r);
    mc_history_input(h, b->r);
    if ((rc = mc_cli_open_backend(&o->cli, err)))
        goto out;
    mc_history_str(h, "products", o->cli.be->products);
    mc_history_facts(h, o->cli.be->facts, o->cli.be->n_facts);
    mc_progress_begin(&p, &o->cli, "counting", "images", a->position.images);
    rc = mc_joint_moments_of_streams(m, a, b, o->cli.be, mc_progress_count, &p, err);
    mc_progress_end(&p);
out:
    mc_activations_close(a);
    mc_activations_close(b);
    return rc;
}

static int read_input(struct mc_moments *m, struct options *o, struct mc_error *err)
{
    struct mc_reader *r = NULL;
    int rc = 0;

    for (size_t i = 0; i < o->cli.n_operands; i++) {
        if ((rc = mc_reader_open(&r, o->cli.operands[i], err)))
            return rc;
        if (!i && !strcmp(mc_reader_kind(r), "activations"))
            return read_raw(m, r, o, err);
        if (mc_option_given(&o->cli, &o->cli.backend.device)) {
            mc_reader_close(r);
            return mc_fail(err, MC_EUSAGE, "--device has no effect on moments");
        }
        if ((rc = mc_moments_add_stream(m, r, !i, o->cli.history, err)))
            return rc;
    }
    return name_input(mc_moments_expect_whole(m, err), o, err);
}

/* ---- output ---------------------------------------------------------------------------------- */

static void print_rows(const struct mc_signature *rows, const struct mc_taps *taps, int permuted,
                       FILE *f)
{
    fprintf(f, "layer\tunits\tdead_a\tdead_b\tidentity%s\tidentity_live%s\n",
            permuted ? "\tpermuted" : "", permuted ? "\tpermuted_live" : "");
    for (size_t i = 0; i < taps->n_taps; i++) {
        const struct mc_signature *s = &rows[i];
        size_t same = 0; /* a node of several groups has a row for each */
        for (size_t j = 0; j < taps->n_taps; j++)
            same += !strcmp(rows[j].layer, s->layer);
        mc_plain(f, s->layer);
        if (same > 1) {
            fputs(" (", f);
            mc_plain(f, taps->groups[taps->taps[i].group].name);
            fputs(")", f);
        }
        fprintf(f, "\t%zu\t%zu\t%zu\t%.9g", s->units, s->dead_a, s->dead_b, s->identity);
        if (permuted)
            fprintf(f, "\t%.9g\t%.9g\t%.9g\n", s->permuted, s->identity_live, s->permuted_live);
        else
            fprintf(f, "\t%.9g\n", s->identity_live);
    }
}

static int print_signature(const struct mc_moments *m, const struct options *o,
                           struct mc_error *err)
{
    struct mc_signature *rows = NULL;
    struct mc_perm perm = {0};
    struct mc_text text = {0};
    int rc = mc_new(&rows, m->taps.n_taps, err);

    if (!rc && o->perm)
        rc = mc_perm_read(&perm, (struct mc_stream){.path = o->perm}, NULL, NULL, err);
    if (!rc && o->perm && mc_perm_found_elsewhere(&perm, m->inputs[0], m->inputs[1]))
        mc_warn(&o->cli,
                "%s was computed for other networks than the moments, and is applied anyway",
                mc_file_called(o->perm));
    if (!rc)
        rc = name_input(mc_corr_signature(rows, m, o->perm ? &perm : NULL, err), o, err);
    if (!rc)
        rc = mc_text_open(&text, err);
    if (!rc)
        print_rows(rows, &m->taps, o->perm != NULL, text.f);
    rc = mc_text_close(&text, o->cli.output, rc, err);
    mc_perm_release(&perm);
    free(rows);
    return rc;
}

/* Print the number and the indices of dead units: "2 (0, 13)". */
static void list_dead(char *text, size_t size, const int32_t *dead, size_t n)
{
    int used = snprintf(text, size, "%zu", n);

    for (size_t i = 0; i < n && used > 0 && (size_t)used + 16 < size; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%d", i ? ", " : " (", dead[i]);
    if (n && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, (size_t)used + 16 < size ? ")" : ", ...)");
}

static void report_groups(const struct mc_matrices *m, const struct mc_cli *cli)
{
    if (mc_note_dead_units(cli, m, "have almost no variance: correlation 0 (-v lists them)"))
        return;
    for (size_t i = 0; i < m->n_groups; i++) {
        const struct mc_matrix *x = &m->matrices[i];
        const char *name = m->groups[i].name;
        const char *inner = mc_group_is_nested(&m->groups[i]) ? " and its equivalents" : "";
        char a[160], b[160];

        list_dead(a, sizeof a, x->dead_a, x->n_dead_a);
        list_dead(b, sizeof b, x->dead_b, x->n_dead_b);
        if (x->n_dead_a || x->n_dead_b)
            mc_note(cli,
                    "%s%s: of %zu units, %s of a and %s of b have almost no variance: "
                    "correlation 0",
                    name, inner, x->n, a, b);
        else if (x->n)
            mc_detail(cli, "%s%s: %zu units, measured at %zu layer%s", name, inner, x->n, x->taps,
                      x->taps == 1 ? "" : "s");
    }
}

static int write_matrices(const struct mc_moments *m, const struct options *o, struct mc_error *err)
{
    struct mc_matrices out = {0};
    int rc = name_input(mc_corr_matrices(&out, m, o->measure, err), o, err);

    if (!rc)
        rc = mc_matrices_write(&out, o->cli.output, o->cli.history, err);
    if (!rc)
        report_groups(&out, &o->cli);
    mc_matrices_release(&out);
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_moments m = {0};

    mc_options_note(&o->cli, o, o->cli.history);
    int rc = read_input(&m, o, err);
    if (!rc)
        rc = o->signature ? print_signature(&m, o, err) : write_matrices(&m, o, err);
    mc_moments_release(&m);
    return rc;
}

MC_PROGRAM("mc-corr", "[MOMENTS.mcz...]\nACTS_A.mcz ACTS_B.mcz", doc, options,
           .check = check_options, .run = run)
