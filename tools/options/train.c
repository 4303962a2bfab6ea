/* SPDX-License-Identifier: Apache-2.0
 *
 * Command-line options of the training loop. */
#include "tools/options/train.h"

#include "tools/cli/memory.h"
#include "tools/cli/data_warnings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const schedules[] = {"step", "cosine", "onecycle", "linear", NULL};

static void parse_schedule(const char *option, const char *arg, void *value)
{
    struct mc_train_options *o = value;

    o->step_epochs = 20;
    o->step_factor = 0;
    if (strncmp(arg, "step:", 5)) {
        o->schedule = (enum mc_schedule)mc_parse_choice(option, arg, schedules);
        return;
    }
    char epochs[64];
    const char *n = arg + 5, *factor = strchr(n, ':');

    snprintf(epochs, sizeof epochs, "%.*s", factor ? (int)(factor - n) : 63, n);
    o->schedule = MC_SCHEDULE_STEP;
    o->step_epochs = mc_parse_real("--schedule step", epochs, 1e-6, 1e6);
    if (factor)
        o->step_factor = mc_parse_real("--schedule step:N", factor + 1, 1e-6, 1);
}

static void record_schedule(const void *value, struct mc_history *h, struct mc_checkpoint *s)
{
    const struct mc_train_options *o = value;

    if (s) {
        mc_checkpoint_set_choice(s, "schedule", (int)o->schedule, schedules);
        mc_checkpoint_set(s, "step-epochs", "%.17g", o->step_epochs);
        if (o->step_factor != 0)
            mc_checkpoint_set(s, "step-factor", "%.17g", o->step_factor);
        return;
    }
    mc_history_str(h, "schedule", schedules[o->schedule]);
    if (o->schedule != MC_SCHEDULE_STEP)
        return;
    if (o->step_epochs == floor(o->step_epochs))
        mc_history_int(h, "step-epochs", (int64_t)o->step_epochs);
    else
        mc_history_num(h, "step-epochs", o->step_epochs);
    if (o->step_factor != 0)
        mc_history_num(h, "step-factor", o->step_factor);
}

/* clang-format off */
#define AT(member) offsetof(struct mc_train_cli, member)
enum { KEPT = MC_OPT_HISTORY | MC_OPT_IDENTITY };
static const struct mc_option rows[] = {
    {"data", 'd', MC_OPT_INPUT, AT(data), .arg = "FILE.mcz", .group = 10, .only = MC_USE_TRAINING,
     .help = "data set to train on (-: standard input)"},
    {"epochs", 0, MC_OPT_U64, AT(train.epochs), .arg = "N", .max = 1000000, .def = "250", .group = 20, .flags = KEPT,
     .only = MC_USE_CURVE_STEP | MC_USE_BOTH_STEPS, .help = "number of epochs"},
    {"stop-after", 0, MC_OPT_U64, AT(train.stop_after), .arg = "N", .min = 1, .max = 1000000, .group = 20,
     .flags = MC_OPT_HISTORY, .only = MC_USE_TRAINING, .help = "stop after N epochs; does not change the schedule"},
    {"batch", 0, MC_OPT_U64, AT(train.batch), .arg = "N", .min = 2, .max = 65536, .def = "128", .group = 20,
     .flags = KEPT, .help = "images per step"},
    {"lr", 0, MC_OPT_REAL, AT(train.lr), .arg = "X", .min = 1e-12, .max = 1e6, .group = 20, .flags = KEPT, .only = MC_USE_TRAINING,
     .help = "learning rate"},
    {"momentum", 0, MC_OPT_REAL, AT(train.momentum), .arg = "X", .max = 1, .def = "0.9", .group = 20, .flags = KEPT,
     .only = MC_USE_CURVE_STEP, .help = "Nesterov momentum"},
    {"no-nesterov", 0, MC_OPT_FLAG, AT(train.nesterov), .group = 20, .flags = KEPT | MC_OPT_CLEARS, .saved = "nesterov",
     .only = MC_USE_CURVE_STEP, .help = "use plain momentum"},
    {"weight-decay", 0, MC_OPT_REAL, AT(train.decay), .arg = "X", .max = 1e6, .def = "5e-4", .group = 20, .flags = KEPT,
     .only = MC_USE_TRAINING, .help = "weight decay of all parameters"},
    {"schedule", 0, MC_OPT_OTHER, AT(train), .arg = "step[:N[:F]]|linear|cosine|onecycle", .def = "step:20",
     .parse = parse_schedule, .record = record_schedule, .group = 20, .flags = KEPT, .only = MC_USE_TRAINING,
     .help = "learning rate schedule. step:N:F: halve the rate every N epochs (default 20; may be a fraction) and "
     "multiply it by F every epoch (default .9996), as in the paper. linear: constant for half of the epochs, then "
     "linearly down to 1% at 90% of them, as in the paper for robust networks. cosine: half a cosine from --lr down to "
     "0. onecycle: PyTorch's OneCycleLR with max_lr = --lr"},
    {"no-augment", 0, MC_OPT_FLAG, AT(train.augment), .group = 20, .flags = KEPT | MC_OPT_CLEARS, .saved = "augment",
     .only = MC_USE_TRAINING, .help = "train on unaugmented images"},
    {"samples", 0, MC_OPT_U64, AT(samples), .arg = "N", .min = 1, .max = INT32_MAX, .group = 20,
     .flags = MC_OPT_HISTORY, .only = MC_USE_TRAINING, .help = "train on the first N images"},
    {"huber", 0, MC_OPT_REAL, AT(train.huber), .arg = "DELTA", .max = 1e6, .group = 20, .flags = KEPT,
     .only = MC_USE_TRAINING, .help = "train with a smooth ReLU: 0 for x < 0, x^2 / (2 DELTA) up to DELTA, then "
     "x - DELTA / 2; the written network has its own ReLUs (default 0: off)"},
    {"dropout", 0, MC_OPT_REAL, AT(dropout), .arg = "P", .max = .999999, .group = 20, .flags = KEPT,
     .only = MC_USE_TRAINING, .help = "probability of every dropout of the network in training (0: without dropout); "
     "the written network keeps its own (default: its own)"},
    MC_OPTION_ATTACK(AT(attack), 20, "train on the adversarial examples of every batch", .flags = KEPT,
                     .only = MC_USE_TRAINING),
    MC_OPTION_SEED(AT(train.seed), .flags = KEPT),
    {"checkpoint", 0, MC_OPT_RESULT, AT(train.checkpoint), .arg = "FILE", .group = 30, .only = MC_USE_TRAINING,
     .help = "save the state of the run to FILE after every epoch; an existing FILE is an error without --resume"},
    {"checkpoint-every", 0, MC_OPT_U64, AT(train.checkpoint_every), .arg = "N", .min = 1, .max = 1000000, .def = "1",
     .group = 30, .needs = {"checkpoint"}, .help = "save the checkpoint after every N epochs"},
    {"resume", 0, MC_OPT_FLAG, AT(train.resume), .group = 30, .needs = {"checkpoint"},
     .help = "resume from the checkpoint if it exists"},
    {0}};
/* clang-format on */

void mc_train_cli_options(struct mc_train_cli *f, struct mc_cli *cli, const char *lr)
{
    f->cli = cli;
    f->dropout = -1; /* in checkpoints: not given */
    mc_options_add(cli, rows, f);
    mc_option_default(cli, &f->train.lr, lr);
}

int mc_train_cli_open(struct mc_train_cli *f, struct mc_error *err)
{
    int rc = mc_checkpoint_check_path(f->train.checkpoint, f->train.resume, err);

    f->state.tool = f->cli->tool;
    mc_checkpoint_set(&f->state, "version", "%s", MC_VERSION);
    return rc ? rc : mc_cli_open_backend(f->cli, err);
}

int mc_train_cli_open_data(struct mc_train_cli *f, struct mc_error *err)
{
    return mc_in_memory_open(&f->images, f->data, f->samples, f->cli->history, err);
}

/* Compute the memory for the images, the vectors and the plan, and print it with -v. Return
 * MC_ENOMEM if it does not fit. */
static int check_memory(const struct mc_train_cli *f, const struct mc_graph *g,
                        const struct mc_objective *objective, struct mc_error *err)
{
    const struct mc_dataset_info *info = &f->images.info;
    struct mc_train_memory m = {.plans = 1};
    const struct mc_plan_opts o = {.batch = f->train.batch,
                                   .train_only = 1,
                                   .backward = 1,
                                   .input_grad = f->train.attack != NULL};
    const double images = (double)info->n * (double)mc_dataset_image_bytes(info);
    size_t plan = 0, val = 0;
    char more[64] = "";

    objective->memory(objective, &f->train, &m);
    const double vectors = (double)m.vectors * (double)g->P * sizeof(float);
    const int on_cpu = !strcmp(f->cli->be->name, "cpu"); /* a device has its own memory */
    const int planned = f->train.epochs > 0 && (on_cpu || f->cli->verbose);
    int rc = planned ? mc_plan_bytes(f->cli->be, g, &o, &plan, err) : 0;
    const size_t attack = f->train.attack ? mc_attack_bytes(f->train.attack, g, f->train.batch) : 0;
    if (!rc && planned && f->val)
        rc = mc_eval_bytes(f->cli->be, &(struct mc_span){.graph = g, .k = 1}, o.batch, NULL, &val,
                           err);
    const double bytes = m.plans * (double)plan + (double)attack + (double)val;
    const double matrices = (double)m.matrices * sizeof(float);
    const double others = images + vectors + matrices;
    int by_batch = rc != 0;
    if (!rc && on_cpu) {
        rc = mc_memory_check(others + bytes, err);
        by_batch = others < bytes;
    }
    if (rc == MC_ENOMEM && on_cpu && by_batch)
        return mc_fail_in(rc, err, "--batch %zu", o.batch);
    if (rc)
        return rc;
    if (m.matrices)
        snprintf(more, sizeof more, ", permutation matrices %.1f MB", matrices / 1e6);
    mc_detail(f->cli,
              "memory: %llu images of %s %.1f MB, a batch's activations and scratch %.1f MB, "
              "%zu vectors of the network's size %.1f MB%s",
              (unsigned long long)info->n, info->name, images / 1e6, bytes / 1e6, m.vectors,
              vectors / 1e6, more);
    return 0;
}

void mc_train_cli_check(struct mc_train_cli *f)
{
    if (mc_option_given(f->cli, &f->attack))
        f->train.attack = &f->attack;
    if (mc_option_given(f->cli, &f->dropout))
        f->train.dropout = &f->dropout;
    if (f->train.nesterov && f->train.momentum == 0)
        mc_cli_usage("--momentum 0 requires --no-nesterov");
    if (f->train.attack && !f->train.epochs)
        mc_cli_usage("--attack has no effect with --epochs 0");
}

int mc_train_cli_resolve(struct mc_train_cli *f, const struct mc_graph *g, const char *dataset,
                         const char *other, struct mc_error *err)
{
    int rc = mc_data_expect(g, &f->images.info, f->data, err);

    if (!rc) {
        mc_data_warn(f->cli, g, dataset, &f->images.info, f->data, MC_DATA_TRAIN);
        mc_data_warn(f->cli, g, other, &f->images.info, f->data, MC_DATA_TRAIN);
    }
    if (!rc && f->train.epochs)
        rc = mc_data_batches(g, f->data, f->images.info.n, f->train.batch, err);
    if (!rc && f->train.attack)
        rc = mc_attack_resolve(&f->attack, &f->images.info, err);
    mc_options_note(f->cli, f, f->cli->history);
    mc_history_facts(f->cli->history, f->cli->be->facts, f->cli->be->n_facts);
    return rc;
}

static int begin(void *arg, uint64_t resumed, struct mc_error *err)
{
    struct mc_train_cli *f = arg;

    f->resumed = resumed;
    if (resumed)
        mc_detail(f->cli, "resumed after epoch %llu of %llu", (unsigned long long)resumed,
                  (unsigned long long)f->train.epochs);
    return mc_log_open(&f->log, f->cli->log_path, resumed > 0, err);
}

static int progress_due(void *arg)
{
    const struct mc_train_cli *f = arg;

    return mc_progress_due(&f->progress);
}

static void progress(void *arg, uint64_t images, uint64_t in_all, uint64_t epoch, double loss,
                     double accuracy)
{
    struct mc_train_cli *f = arg;
    uint64_t before = f->resumed * f->images.info.n;
    char extra[120], val[32] = "";

    if (f->val && epoch > f->resumed)
        snprintf(val, sizeof val, "  val %.1f%%", 100 * f->val->accuracy);
    snprintf(extra, sizeof extra, "epoch %llu/%llu  loss %.3f  accuracy %.1f%%%s",
             (unsigned long long)epoch + 1, (unsigned long long)f->train.epochs, loss,
             100 * accuracy, val);
    f->progress.total = in_all - before; /* without the earlier run, for the rate */
    mc_progress_update(&f->progress, images - before, extra);
}

static void epoch_done(void *arg, const struct mc_train_epoch *e)
{
    struct mc_train_cli *f = arg;
    const double rate = e->seconds > 0 ? (double)e->images / e->seconds : 0;
    const struct mc_eval_result *val = e->epoch > f->resumed ? f->val : NULL;
    char measured[64] = "";

    if (val)
        snprintf(measured, sizeof measured, ", val loss %.4f, val accuracy %.2f%%", val->loss,
                 100 * val->accuracy);
    snprintf(f->progress.result, sizeof f->progress.result,
             "%llu epoch%s, loss %.4f, accuracy %.2f%%%s", (unsigned long long)e->epoch,
             e->epoch > 1 ? "s" : "", e->loss, 100 * e->accuracy, measured);
    f->loss = e->loss;
    if (e->epoch > f->resumed) {
        f->progress.count = (e->epoch - f->resumed) * e->images; /* also without a terminal */
        mc_log_live(f->log);
    }
    mc_log_begin(f->log, "epoch");
    mc_log_int(f->log, "epoch", (int64_t)e->epoch);
    mc_log_int(f->log, "epochs", (int64_t)e->epochs);
    mc_log_num(f->log, "loss", e->loss);
    mc_log_num(f->log, "accuracy", 100 * e->accuracy);
    mc_log_num(f->log, "objective", e->objective);
    mc_log_num(f->log, "decay", e->decay);
    mc_log_num(f->log, "lr", e->lr);
    if (val) {
        mc_log_num(f->log, "val_loss", val->loss);
        mc_log_num(f->log, "val_accuracy", 100 * val->accuracy);
    }
    if (e->seconds > 0)
        mc_log_num(f->log, "images_per_second", rate);
    mc_log_end(f->log);
    if (e->seconds > 0)
        mc_detail(f->cli, "epoch %llu/%llu: loss %.4f, accuracy %.2f%%%s, lr %.4g, %.0f images/s",
                  (unsigned long long)e->epoch, (unsigned long long)e->epochs, e->loss,
                  100 * e->accuracy, measured, e->lr, rate);
    if (f->on_epoch)
        f->on_epoch(f->on_epoch_arg, f->log, e);
}

/* Warn if the last epoch's loss is far above that of guessing. mlp:2000 starts at 13 times that
 * loss and still learns; a diverging training soon reaches thousands of times. */
static void warn_diverged(const struct mc_train_cli *f, const struct mc_graph *g)
{
    const double chance = log(g->classes);

    if (f->loss > 100 * chance)
        mc_warn(f->cli,
                "the last epoch's loss is %.4g (guessing one of %d classes: %.4g): the training "
                "may have diverged (a lower --lr may help)",
                f->loss, g->classes, chance);
}

int mc_train_cli_run(struct mc_train_cli *f, const struct mc_graph *g,
                     struct mc_objective *objective, struct mc_error *err)
{
    struct mc_backend *be = f->cli->be;
    const struct mc_train_job job = {.be = be,
                                     .graph = g,
                                     .data = &f->images,
                                     .objective = objective,
                                     .o = &f->train,
                                     .state = &f->state,
                                     .watch = {.begin = begin,
                                               .progress_due = progress_due,
                                               .progress = progress,
                                               .epoch = epoch_done,
                                               .arg = f}};
    char described[sizeof be->describe];
    int rc = check_memory(f, g, objective, err);

    if (rc || (rc = mc_in_memory_read(&f->images, be, err)) || !f->train.epochs)
        return rc;
    mc_checkpoint_set(&f->state, "data", "%s", f->images.id);
    mc_checkpoint_set(&f->state, "images", "%llu", (unsigned long long)f->images.info.n);
    mc_options_save(f->cli, f, &f->state);
    memcpy(described, be->describe, sizeof described);
    mc_progress_begin(&f->progress, f->cli, "training", "images", 0);
    rc = mc_train_run(&job, err);
    mc_progress_end(&f->progress);
    mc_in_memory_release(&f->images, be);
    if (!rc)
        warn_diverged(f, g);
    if (strcmp(described, be->describe)) /* the device fell back to slower code */
        mc_warn(f->cli, "slower than possible: %s", be->describe);
    return rc;
}

int mc_train_cli_close(struct mc_train_cli *f, int rc, struct mc_error *err)
{
    if (f->cli->be)
        mc_in_memory_release(&f->images, f->cli->be);
    return mc_log_close(f->log, rc, err);
}
