/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-pgd: a network and a data set in, the data set's adversarial examples out. */
#include "tools/eval/examples.h"
#include "tools/attack/options.h"
#include "tools/cli/cli.h"
#include "tools/cli/computed_with.h"
#include "tools/cli/log.h"
#include "tools/load/loader.h"

#include <string.h>
#include <unistd.h>

struct options {
    struct mc_cli cli;
    struct mc_attack_options attack;
    const char *data;
    uint64_t samples; /* 0: all */
    uint64_t batch;
};

/* A run under way, for the progress line and the log. */
struct watch {
    const struct options *o;
    struct mc_progress progress;
    struct mc_log *log;
    struct mc_adversarial out;
};

enum {
    KEY_EPS = MC_KEY_TOOL,
    KEY_STEP,
    KEY_STEPS,
    KEY_RESTARTS,
    KEY_NORM,
    KEY_START,
    KEY_TARGET,
    KEY_SAMPLES,
    KEY_BATCH
};

/* clang-format off */
static const struct argp_option options[] = {
    {"data", 'd', "FILE", 0, "the data set", 1},
    {"samples", KEY_SAMPLES, "N", 0, "its first N images (default: all)", 1},
    {"norm", KEY_NORM, "linf|l2", 0, "what the radius measures: the largest change of a pixel's channel, "
     "or the Euclidean length of the whole image's change (default linf)", 2},
    {"eps", KEY_EPS, "R", 0, "radius of the ball around an image that its example stays in, as 8/255 or .03: "
     "pixels are from 0 to 1 (default 8/255, for Tiny ImageNet 4/255; with l2 0.5)", 2},
    {"step", KEY_STEP, "R", 0, "length of a step in the same norm, along the sign of the loss's gradient, "
     "with l2 along the gradient (default eps/4)", 2},
    {"steps", KEY_STEPS, "N", 0, "steps from each start (default 5)", 2},
    {"restarts", KEY_RESTARTS, "N", 0, "attack so many times from starts of their own and keep, for each "
     "image, the one of greatest loss, or to a target of least (default 1)", 2},
    {"start", KEY_START, "random|clean", 0, "begin anywhere in the ball, or at the image (default random)", 2},
    {"target", KEY_TARGET, "CLASS|+N", 0, "go down the loss of that class, counted from 0, or of the image's "
     "own plus N, instead of up the loss of the image's own", 2},
    {"batch", KEY_BATCH, "N", 0, "images at a time (default 128)", 3},
    MC_OPTION_OUTPUT, MC_OPTION_SEED, MC_OPTION_THREADS, MC_OPTION_DEVICE, MC_OPTION_PRECISION,
    MC_OPTION_DETERMINISTIC,
    MC_OPTION_LOG_JSON, MC_OPTION_NO_PROGRESS, MC_OPTION_NO_HISTORY, MC_OPTIONS_END};
/* clang-format on */

/* The attack's own name of an option. */
static const char *attack_key(int key)
{
    for (const struct argp_option *a = options; a->name || a->key; a++)
        if (a->key == key)
            return a->name;
    return NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    char option[32];

    switch (key) {
    case 'd':
        o->data = arg;
        return 0;
    case KEY_EPS:
    case KEY_STEP:
    case KEY_STEPS:
    case KEY_RESTARTS:
    case KEY_NORM:
    case KEY_START:
    case KEY_TARGET:
        snprintf(option, sizeof option, "--%s", attack_key(key));
        mc_attack_parse_one(&o->attack, attack_key(key), option, arg);
        return 0;
    case KEY_SAMPLES:
        o->samples = mc_parse_u64("--samples", arg, 1, INT32_MAX);
        return 0;
    case KEY_BATCH:
        o->batch = mc_parse_u64("--batch", arg, 1, 65536);
        return 0;
    default:
        return mc_cli_option(&o->cli, key, arg, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "WEIGHTS.mcz",
    .doc =
        "Write the adversarial examples of a data set against a network."
        "\vProjected gradient descent (Madry et al. 2018) on the pixels of every image, which stay "
        "from 0 to 1; labels and all else stay the data set's. The network runs in evaluation mode "
        "with the statistics of its own stream. The examples are float32 and can be fed to any "
        "program and any network: another one's accuracy on them says how well they transfer. One "
        "pass, in constant memory. The radii and steps are those of --attack elsewhere.\n\n"
        "Examples:\n"
        "  mc-pgd net.mcz --data test.mcz | mc-eval --data - net.mcz\n"
        "  mc-pgd net.mcz -d test.mcz --eps 4/255 --steps 20 --restarts 5 -o adv.mcz\n"
        "  mc-bezier --point .5 --bn-data train.mcz curve.mcz |\n"
        "      mc-pgd - --data test.mcz --norm l2 --eps .25 -o middle-adv.mcz"};

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

static void tell(void *arg, uint64_t images, uint64_t in_all)
{
    struct watch *w = arg;
    const struct mc_adversarial_sums *s = &w->out.sums;
    char extra[48];

    (void)in_all;
    snprintf(extra, sizeof extra, "accuracy %.2f%%", 100 * (double)s->correct / (double)s->images);
    mc_progress_update(&w->progress, images, extra);
    log_sums(w->log, "batch", w->o, s);
}

static void summary(const struct options *o, const struct mc_adversarial_sums *s)
{
    const double n = (double)s->images;
    char reached[64] = "";

    if (o->attack.targeted)
        snprintf(reached, sizeof reached, ", %.2f%% are taken for the target",
                 100 * (double)s->reached / n);
    mc_note(&o->cli,
            "%llu images: accuracy %.2f%% -> %.2f%%, loss %.4g -> %.4g%s, mean %s distance from "
            "the clean image %.4g",
            (unsigned long long)s->images, 100 * (double)s->clean_correct / n,
            100 * (double)s->correct / n, s->clean_loss / n, s->loss / n, reached,
            o->attack.norm == MC_BALL_L2 ? "l2" : "l-infinity", s->distance / n);
}

static int read_weights(struct mc_weights *w, const char *path, struct mc_history *h,
                        struct mc_error *err)
{
    struct mc_reader *r = NULL;
    int rc = mc_reader_open(&r, path, err);

    if (!rc && !strcmp(mc_reader_kind(r), "curve"))
        rc = mc_fail(err, MC_EINPUT,
                     "%s: is a curve; mc-bezier --point T makes a network of a point of it",
                     mc_reader_name(r));
    if (!rc)
        rc = mc_weights_read_stream(w, r, h, err);
    mc_reader_close(r);
    return rc;
}

/* What the data decide of the attack; the history tells it. */
static int resolve_options(struct options *o, const struct mc_dataset_info *info,
                           struct mc_history *h, struct mc_error *err)
{
    char text[MC_ATTACK_TEXT];
    int rc = mc_attack_resolve(&o->attack, info, err);

    mc_attack_text(&o->attack, text);
    mc_history_str(h, "attack", text);
    if (o->samples)
        mc_history_int(h, "samples", (int64_t)o->samples);
    mc_history_int(h, "batch", (int64_t)o->batch);
    mc_history_int(h, "seed", (int64_t)o->cli.seed);
    return rc;
}

static int attack(struct options *o, struct mc_backend *be, const struct mc_weights *w,
                  struct mc_dataset_reader *data, struct mc_history *h, struct mc_error *err)
{
    struct watch watch = {.o = o, .out = {.path = o->cli.output, .history = h}};
    const struct mc_loader_options opts = {.attack = &o->attack,
                                           .batch = o->batch,
                                           .samples = o->samples,
                                           .exact = 1,
                                           .seed = o->cli.seed,
                                           .progress = tell,
                                           .arg = &watch};
    uint64_t images = 0;
    struct mc_error log_err = {0};
    int rc = mc_data_samples(mc_dataset_get_info(data), o->data, o->samples, 1, &images, err);

    if (!rc && o->cli.log_path)
        rc = mc_log_open(&watch.log, o->cli.log_path, 0, err);
    if (rc)
        return rc;
    mc_progress_begin(&watch.progress, &o->cli, "attacking", "images", images);
    rc = mc_adversarial_write(&watch.out, be, w, data, &opts, err);
    mc_progress_end(&watch.progress);
    if (!rc) {
        log_sums(watch.log, "done", o, &watch.out.sums);
        summary(o, &watch.out.sums);
    }
    const int log_rc = mc_log_close(watch.log, &log_err);
    if (!rc && log_rc) {
        *err = log_err;
        rc = log_rc;
    }
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_backend *be = NULL;
    struct mc_dataset_reader *data = NULL;
    struct mc_weights w = {0};
    struct mc_history *h = mc_history_new(o->cli.tool);
    int rc = h ? mc_cli_ready(&o->cli, 1, err) : mc_no_memory(err);

    if (h && o->cli.no_history)
        mc_history_hide(h);
    if (rc || (rc = read_weights(&w, o->cli.operands[0], h, err)) ||
        (rc = mc_dataset_open(&data, o->data, err)))
        goto out;
    mc_history_input(h, mc_dataset_stream(data));
    if ((rc = resolve_options(o, mc_dataset_get_info(data), h, err)) ||
        (rc = mc_data_fits(w.graph, mc_dataset_get_info(data), o->data, err)) ||
        (rc = mc_backend_open(&be, &o->cli.backend, err)))
        goto out;
    mc_computed_with_history(be, h);
    rc = attack(o, be, &w, data, h, err);
out:
    mc_dataset_close(data);
    if (be)
        be->close(be);
    mc_weights_release(&w);
    mc_history_free(h);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o = {.batch = 128};
    struct mc_error err = {0};

    mc_attack_defaults(&o.attack);
    mc_cli_parse(&o.cli, &argp, argc, argv, &o);
    if (!o.data)
        mc_cli_usage("--data is needed (see --help)");
    if (!o.cli.n_operands && (!strcmp(o.data, "-") || isatty(STDIN_FILENO)))
        mc_cli_usage("needs the network to attack: WEIGHTS.mcz (see --help)");
    if (!o.cli.n_operands)
        o.cli.operands[o.cli.n_operands++] = "-";
    if (o.cli.n_operands > 1)
        mc_cli_usage("takes one network, %zu are given", o.cli.n_operands);
    mc_cli_file(&o.cli, MC_FILE_INPUT, "--data", o.data);
    return mc_cli_exit(&o.cli, run(&o, &err), &err);
}
