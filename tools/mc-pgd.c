/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-pgd: the adversarial examples of a data set against a network. */
#include "tools/eval/examples.h"
#include "tools/options/attack.h"
#include "tools/cli/cli.h"
#include "tools/cli/log.h"
#include "tools/load/loader.h"
#include "tools/cli/data_warnings.h"

#include <string.h>
#include <unistd.h>

struct options {
    struct mc_cli cli;
    struct mc_attack_options attack;
    const char *data;
    struct mc_loader_options pass; /* samples 0: all */
};

/* The state of a run, for the progress line and the log. */
struct watch {
    const struct options *o;
    struct mc_progress progress;
    struct mc_log *log;
    struct mc_adversarial out;
};

/* clang-format off */
static const struct mc_option options[] = {
    {"data", 'd', MC_OPT_INPUT, MC_AT(data), .arg = "FILE.mcz", .group = 1, .help = "data set to attack"},
    {"samples", 0, MC_OPT_U64, MC_AT(pass.samples), .arg = "N", .min = 1, .max = INT32_MAX, .group = 1,
     .flags = MC_OPT_HISTORY, .help = "use the first N images (default: all)"},
    {"batch", 0, MC_OPT_U64, MC_AT(pass.batch), .arg = "N", .min = 1, .max = 65536, .def = "128", .group = 3,
     .flags = MC_OPT_HISTORY, .help = "images per batch"},
    MC_OPTION_SEED(MC_AT(pass.seed), .flags = MC_OPT_HISTORY), MC_OPTIONS_RUN, {0}};
/* clang-format on */

static const char doc[] =
    "Write adversarial examples of a data set against a network."
    "\vRuns projected gradient descent (Madry et al. 2018) on the pixels of every image. Pixels "
    "stay in [0,1]; labels and all other properties of the data set are unchanged. The network "
    "runs in evaluation mode with its own statistics. The examples are a data set of float32 "
    "pixels for any program and any network; another network's accuracy on them shows how well "
    "they transfer. The program makes one pass in constant memory. Its options are the keys of "
    "--attack in other programs.\n\n"
    "Examples:\n"
    "  mc-pgd net.mcz --data test.mcz | mc-eval --data - net.mcz\n"
    "  mc-pgd net.mcz -d test.mcz --eps 4/255 --steps 20 --restarts 5 -o adv.mcz\n"
    "  mc-bezier --point .5 --bn-data train.mcz curve.mcz |\n"
    "      mc-pgd - --data test.mcz --norm l2 --eps .25 -o middle-adv.mcz";

static void log_sums(struct mc_log *log, const char *event, const struct options *o,
                     const struct mc_adversarial_sums *s)
{
    const double n = (double)s->images;

    mc_log_begin(log, event);
    mc_log_int(log, "images", (int64_t)s->images);
    mc_log_num(log, "clean_loss", s->clean_loss / n);
    mc_log_num(log, "clean_accuracy", 100 * (double)s->clean_correct / n);
    mc_log_num(log, "loss", s->loss / n);
    mc_log_num(log, "accuracy", 100 * (double)s->correct / n);
    if (o->attack.targeted)
        mc_log_num(log, "reached", 100 * (double)s->reached / n);
    mc_log_num(log, "distance", s->distance / n);
    mc_log_end(log);
}

static void log_progress(void *arg, uint64_t images, uint64_t in_all)
{
    struct watch *w = arg;
    const struct mc_adversarial_sums *s = &w->out.sums;
    char extra[48];

    (void)in_all;
    snprintf(extra, sizeof extra, "accuracy %.2f%%", 100 * (double)s->correct / (double)s->images);
    mc_progress_update(&w->progress, images, extra);
    log_sums(w->log, "batch", w->o, s);
}

/* Set the line that the program ends with. */
static void set_result(struct watch *w)
{
    const struct options *o = w->o;
    const struct mc_adversarial_sums *s = &w->out.sums;
    const double n = (double)s->images;
    char reached[64] = "";

    if (o->attack.targeted)
        snprintf(reached, sizeof reached, ", %.2f%% classified as the target",
                 100 * (double)s->reached / n);
    snprintf(w->progress.result, sizeof w->progress.result,
             "%llu images: accuracy %.2f%% -> %.2f%%, loss %.4g -> %.4g%s, mean %s distance from "
             "the clean image %.4g",
             (unsigned long long)s->images, 100 * (double)s->clean_correct / n,
             100 * (double)s->correct / n, s->clean_loss / n, s->loss / n, reached,
             o->attack.norm == MC_BALL_L2 ? "l2" : "l-infinity", s->distance / n);
}

/* Complete the attack from the data and record it in the history. */
static int resolve_options(struct options *o, const struct mc_dataset_info *info,
                           struct mc_error *err)
{
    int rc = mc_attack_resolve(&o->attack, info, err);

    mc_attack_record(&o->attack, o->cli.history, NULL);
    mc_options_note(&o->cli, o, o->cli.history);
    return rc;
}

static int attack(struct options *o, const struct mc_weights *w, struct mc_dataset_reader *data,
                  struct mc_error *err)
{
    struct watch watch = {
        .o = o, .out = {.path = o->cli.output, .attack = &o->attack, .history = o->cli.history}};
    struct mc_loader_options *pass = &o->pass;
    uint64_t images = 0;
    int rc = mc_data_samples(mc_dataset_get_info(data), o->data, pass->samples, 1, &images, err);

    pass->be = o->cli.be;
    pass->data = data;
    pass->exact = 1;
    pass->progress = log_progress;
    pass->arg = &watch;
    if (!rc)
        rc = mc_log_open(&watch.log, o->cli.log_path, 0, err);
    if (rc)
        return rc;
    mc_progress_begin(&watch.progress, &o->cli, "attacking", "images", images);
    rc = mc_adversarial_write(&watch.out, w, pass, err);
    if (!rc) {
        log_sums(watch.log, "done", o, &watch.out.sums);
        set_result(&watch);
    }
    mc_progress_end(&watch.progress);
    return mc_log_close(watch.log, rc, err);
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_dataset_reader *data = NULL;
    struct mc_weights w = {0};
    struct mc_history *h = o->cli.history;
    int rc = mc_weights_read(&w, (struct mc_stream){.path = o->cli.operands[0]}, h, err);

    if (rc || (rc = mc_dataset_open(&data, o->data, err)))
        goto out;
    mc_history_input(h, mc_dataset_stream(data));
    if ((rc = resolve_options(o, mc_dataset_get_info(data), err)) ||
        (rc = mc_data_expect(w.graph, mc_dataset_get_info(data), o->data, err)) ||
        (rc = mc_cli_open_backend(&o->cli, err)))
        goto out;
    mc_history_facts(h, o->cli.be->facts, o->cli.be->n_facts);
    rc = attack(o, &w, data, err);
    if (!rc)
        mc_data_warn(&o->cli, w.graph, w.dataset, mc_dataset_get_info(data), o->data,
                     MC_DATA_MEASURE);
out:
    mc_dataset_close(data);
    mc_weights_release(&w);
    return rc;
}

static void add_options(struct options *o)
{
    mc_attack_cli_options(&o->attack, &o->cli);
}

static void check_options(struct options *o)
{
    const int from_stdin = !isatty(STDIN_FILENO) && (!o->data || strcmp(o->data, "-") != 0);

    mc_cli_operands(&o->cli, from_stdin ? "[WEIGHTS.mcz]" : "WEIGHTS.mcz");
    mc_cli_require(o->data != NULL, "--data FILE.mcz");
    mc_cli_default_stdin(&o->cli);
}

MC_PROGRAM("mc-pgd", "WEIGHTS.mcz", doc, options, .add = add_options, .check = check_options,
           .run = run)
