/* SPDX-License-Identifier: Apache-2.0
 *
 * The training loop at the command line. */
#include "tools/train/options.h"

#include "tools/cli/computed_with.h"

#include <stdlib.h>
#include <string.h>

void mc_train_cli_defaults(struct mc_train_cli *f, double lr)
{
    memset(f, 0, sizeof *f);
    f->train.epochs = 250;
    f->train.batch = 128;
    f->train.lr = lr;
    f->train.momentum = .9;
    f->train.decay = 5e-4;
    f->train.nesterov = 1;
    f->train.schedule = MC_SCHEDULE_STEP;
    f->train.step_epochs = 20;
    f->train.augment = 1;
    f->train.checkpoint_every = 1;
}

static const char *const schedules[] = {"step", "cosine", "onecycle", "linear", NULL};

static void parse_schedule(struct mc_train_options *o, const char *arg)
{
    if (!strncmp(arg, "step:", 5)) {
        o->schedule = MC_SCHEDULE_STEP;
        o->step_epochs = mc_parse_u64("--schedule step", arg + 5, 1, 1000000);
        return;
    }
    o->schedule = (enum mc_schedule)mc_parse_choice("--schedule", arg, schedules);
}

static error_t take(struct mc_train_cli *f, int key, const char *arg)
{
    struct mc_train_options *o = &f->train;

    switch (key) {
    case 'd':
        f->data = arg;
        return 0;
    case MC_KEY_EPOCHS:
        o->epochs = mc_parse_u64("--epochs", arg, 0, 1000000);
        return 0;
    case MC_KEY_BATCH:
        o->batch = mc_parse_u64("--batch", arg, 2, 65536);
        return 0;
    case MC_KEY_LR:
        o->lr = mc_parse_f64("--lr", arg, 0, 1e6);
        return 0;
    case MC_KEY_MOMENTUM:
        o->momentum = mc_parse_f64("--momentum", arg, 0, 1);
        return 0;
    case MC_KEY_DECAY:
        o->decay = mc_parse_f64("--weight-decay", arg, 0, 1e6);
        return 0;
    case MC_KEY_SCHEDULE:
        parse_schedule(o, arg);
        return 0;
    case MC_KEY_NO_NESTEROV:
        o->nesterov = 0;
        return 0;
    case MC_KEY_NO_AUGMENT:
        o->augment = 0;
        return 0;
    case MC_KEY_SAMPLES:
        f->samples = mc_parse_u64("--samples", arg, 1, INT32_MAX);
        return 0;
    case MC_KEY_HUBER:
        o->huber = mc_parse_f64("--huber", arg, 0, 1e6);
        return 0;
    case MC_KEY_ATTACK:
        mc_attack_parse(&f->attack, arg);
        o->attack = &f->attack;
        return 0;
    case MC_KEY_STOP_AFTER:
        o->stop_after = mc_parse_u64("--stop-after", arg, 1, 1000000);
        return 0;
    case MC_KEY_CHECKPOINT:
        o->checkpoint = arg;
        return 0;
    case MC_KEY_CHECKPOINT_EVERY:
        o->checkpoint_every = mc_parse_u64("--checkpoint-every", arg, 1, 1000000);
        return 0;
    case MC_KEY_RESUME:
        o->resume = 1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

error_t mc_train_cli_option(struct mc_train_cli *f, struct mc_cli *cli, int key, char *arg,
                            struct argp_state *state)
{
    static const struct argp_option names[] = {MC_TRAIN_OPTIONS(""), {0}};

    if (take(f, key, arg))
        return mc_cli_option(cli, key, arg, state);
    for (const struct argp_option *o = names; o->name; o++)
        if (o->key == key && key != MC_KEY_BATCH)
            f->given = o->name;
    return 0;
}

int mc_train_cli_ready(const struct mc_train_cli *f, struct mc_cli *cli, struct mc_error *err)
{
    mc_cli_file(cli, MC_FILE_INPUT, "--data", f->data);
    mc_cli_file(cli, MC_FILE_OUTPUT, "--checkpoint", f->train.checkpoint);
    int rc = mc_cli_ready(cli, 1, err);

    return rc ? rc : mc_checkpoint_check_path(f->train.checkpoint, f->train.resume, err);
}

int mc_train_cli_memory(const struct mc_train_cli *f, const struct mc_cli *cli,
                        struct mc_backend *be, const struct mc_graph *g,
                        const struct mc_dataset_info *info, int plans, size_t vectors,
                        size_t matrices, struct mc_error *err)
{
    const struct mc_plan_opts o = {.batch = f->train.batch,
                                   .train_only = 1,
                                   .backward = 1,
                                   .input_grad = f->train.attack != NULL};
    const double images = (double)info->n * (double)mc_dataset_image_bytes(info);
    struct mc_plan *plan = NULL;
    char more[64] = "";

    if (!cli->verbose)
        return 0;
    int rc = be->plan_new(be, g, &o, &plan, err);
    if (rc)
        return rc;
    const size_t attack = f->train.attack ? mc_attack_bytes(f->train.attack, g, f->train.batch) : 0;
    const double bytes = plans * (double)be->plan_bytes(plan) + (double)attack;
    be->plan_free(plan);
    if (matrices)
        snprintf(more, sizeof more, ", permutation matrices %.1f MB",
                 (double)matrices * sizeof(float) / 1e6);
    mc_detail(cli,
              "memory: %llu images of %s %.1f MB, a batch's activations and scratch %.1f MB, "
              "%zu vectors of the network's size %.1f MB%s",
              (unsigned long long)info->n, info->name, images / 1e6, bytes / 1e6, vectors,
              (double)vectors * (double)g->P * sizeof(float) / 1e6, more);
    return 0;
}

void mc_train_cli_check(const struct mc_train_cli *f)
{
    if (f->train.resume && !f->train.checkpoint)
        mc_cli_usage("--resume needs --checkpoint FILE");
    if (f->train.nesterov && f->train.momentum == 0)
        mc_cli_usage("--momentum 0 needs --no-nesterov");
    if (f->train.attack && !f->train.epochs)
        mc_cli_usage("--attack is for training, and there is none with --epochs 0");
}

static void note(const struct mc_train_cli *f, struct mc_history *h)
{
    const struct mc_train_options *o = &f->train;

    mc_history_int(h, "epochs", (int64_t)o->epochs);
    if (o->stop_after)
        mc_history_int(h, "stop-after", (int64_t)o->stop_after);
    mc_history_int(h, "batch", (int64_t)o->batch);
    mc_history_num(h, "lr", o->lr);
    mc_history_num(h, "momentum", o->momentum);
    if (!o->nesterov)
        mc_history_int(h, "no-nesterov", 1);
    mc_history_num(h, "weight-decay", o->decay);
    mc_history_str(h, "schedule", schedules[o->schedule]);
    if (o->schedule == MC_SCHEDULE_STEP)
        mc_history_int(h, "step-epochs", (int64_t)o->step_epochs);
    if (!o->augment)
        mc_history_int(h, "no-augment", 1);
    if (f->samples)
        mc_history_int(h, "samples", (int64_t)f->samples);
    if (o->huber != 0)
        mc_history_num(h, "huber", o->huber);
    if (o->attack) {
        char text[MC_ATTACK_TEXT];
        mc_attack_text(o->attack, text);
        mc_history_str(h, "attack", text);
    }
    mc_history_int(h, "seed", (int64_t)o->seed);
}

int mc_train_cli_settle(struct mc_train_cli *f, const struct mc_backend *be,
                        const struct mc_dataset_info *info, struct mc_history *h,
                        struct mc_error *err)
{
    int rc = f->train.attack ? mc_attack_resolve(&f->attack, info, err) : 0;

    note(f, h);
    mc_computed_with_history(be, h);
    return rc;
}

static int begin(void *arg, uint64_t done, struct mc_error *err)
{
    struct mc_train_cli *f = arg;

    f->done_before = done;
    if (done)
        mc_detail(f->cli, "resumed after epoch %llu of %llu", (unsigned long long)done,
                  (unsigned long long)f->train.epochs);
    return f->cli->log_path ? mc_log_open(&f->log, f->cli->log_path, done > 0, err) : 0;
}

static int due(void *arg)
{
    const struct mc_train_cli *f = arg;

    return mc_progress_due(&f->progress);
}

static void progress(void *arg, uint64_t images, uint64_t in_all, uint64_t epoch, double loss,
                     double accuracy)
{
    struct mc_train_cli *f = arg;
    uint64_t before = f->done_before * f->images;
    char extra[120];

    snprintf(extra, sizeof extra, "epoch %llu/%llu  loss %.3f  accuracy %.1f%%",
             (unsigned long long)epoch + 1, (unsigned long long)f->train.epochs, loss,
             100 * accuracy);
    f->progress.total = in_all - before; /* the rate is this run's alone */
    mc_progress_update(&f->progress, images - before, extra);
}

static void epoch_done(void *arg, const struct mc_train_epoch *e)
{
    struct mc_train_cli *f = arg;

    if (e->epoch > f->done_before)
        mc_log_live(f->log);
    mc_log_begin(f->log, "epoch");
    mc_log_int(f->log, "epoch", (int64_t)e->epoch);
    mc_log_int(f->log, "epochs", (int64_t)e->epochs);
    mc_log_num(f->log, "loss", e->loss);
    mc_log_num(f->log, "accuracy", 100 * e->accuracy);
    mc_log_num(f->log, "objective", e->objective);
    mc_log_num(f->log, "decay", e->decay);
    mc_log_num(f->log, "lr", e->lr);
    if (e->seconds > 0)
        mc_log_num(f->log, "images_per_second", (double)e->images / e->seconds);
    mc_log_end(f->log);
    if (e->seconds > 0)
        mc_detail(f->cli, "epoch %llu/%llu: loss %.4f, accuracy %.2f%%, lr %.4g, %.0f images/s",
                  (unsigned long long)e->epoch, (unsigned long long)e->epochs, e->loss,
                  100 * e->accuracy, e->lr, (double)e->images / e->seconds);
    if (f->told)
        f->told(f->told_arg, f->log, e);
}

int mc_train_cli_run(struct mc_train_cli *f, const struct mc_cli *cli, struct mc_backend *be,
                     const struct mc_graph *g, const struct mc_in_memory *data,
                     struct mc_objective *objective, const struct mc_checkpoint_setting *identity,
                     size_t n_identity, struct mc_error *err)
{
    char described[sizeof be->describe];
    struct mc_train_watch watch = {
        .begin = begin, .due = due, .progress = progress, .epoch = epoch_done, .arg = f};
    f->cli = cli;
    f->train.seed = cli->seed;
    f->images = data->info.n;
    memcpy(described, be->describe, sizeof described);
    mc_progress_begin(&f->progress, cli, "training", "images", 0);
    int rc = mc_train_run(be, g, data, objective, &f->train, cli->tool, identity, n_identity,
                          &watch, err);
    mc_progress_end(&f->progress);
    if (strcmp(described, be->describe)) /* the device could not do what it should */
        mc_warn(cli, "slower than it could be: %s", be->describe);
    return rc;
}

int mc_train_cli_close(struct mc_train_cli *f, struct mc_error *err)
{
    int rc = mc_log_close(f->log, err);

    f->log = NULL;
    return rc;
}
