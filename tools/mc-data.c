/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-data: a data set in its publisher's own layout, or synthetic images, as a dataset stream. */
#include "formats/datasets/picture.h"
#include "formats/datasets/source.h"
#include "tools/cli/cli.h"

#include <string.h>

struct options {
    struct mc_cli cli;
    struct mc_image_source_opts source;
    int seeded, shuffled, unshuffled;
    uint64_t shuffle, samples;
};

enum { KEY_SPLIT = MC_KEY_TOOL, KEY_SHUFFLE, KEY_NO_SHUFFLE, KEY_SAMPLES, KEY_SIZE };

/* clang-format off */
static const struct argp_option options[] = {
    {"split", KEY_SPLIT, "NAME", 0, "train (default) or test", 1},
    {"shuffle", KEY_SHUFFLE, "SEED", 0, "in a random order (default: 1 for tiny-imagenet and folder, "
     "which are sorted by class; else the publisher's order)", 1},
    {"no-shuffle", KEY_NO_SHUFFLE, 0, 0, "tiny-imagenet and folder in their own order", 1},
    {"samples", KEY_SAMPLES, "N", 0, "the first N images only, after the shuffle; of synth, how many "
     "to make (default: 10000, test 2000)", 1},
    {"size", KEY_SIZE, "N", 0, "height and width: of synth from 8 to 256 (default 32); tiny-imagenet "
     "and folder: resize to N x N, up to 2048 (default: 64; as they are)", 2},
    {"seed", MC_KEY_SEED, "N", 0, "of synth: which images (default 1); classes are always the same",
     2},
    MC_OPTION_OUTPUT, MC_OPTION_NO_PROGRESS, MC_OPTION_NO_HISTORY, MC_OPTIONS_END};
/* clang-format on */

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;

    switch (key) {
    case KEY_SPLIT:
        o->source.split = arg;
        return 0;
    case KEY_SHUFFLE:
        o->shuffle = mc_parse_u64("--shuffle", arg, 0, INT64_MAX);
        o->shuffled = 1;
        return 0;
    case KEY_NO_SHUFFLE:
        o->unshuffled = 1;
        return 0;
    case KEY_SAMPLES:
        o->samples = mc_parse_u64("--samples", arg, 1, MC_DATASET_MAX_IMAGES);
        return 0;
    case KEY_SIZE:
        o->source.size = (int)mc_parse_u64("--size", arg, 1, MC_PICTURE_MAX_SIZE);
        return 0;
    case MC_KEY_SEED:
        o->source.seed = mc_parse_u64("--seed", arg, 0, INT64_MAX);
        o->seeded = 1;
        return 0;
    default:
        return mc_cli_option(&o->cli, key, arg, state);
    }
}

static const struct argp argp = {
    options,
    parse,
    "cifar10 DIR\ncifar100 DIR\ntiny-imagenet DIR\nfolder DIR\nsynth",
    "Write a data set as a stream: pixels and labels."
    "\vSets, and what DIR holds:\n\n"
    "cifar10: data_batch_1.bin ... data_batch_5.bin, test_batch.bin, batches.meta.txt, or "
    "cifar-10-batches-bin with them.\n\n"
    "cifar100: train.bin, test.bin, fine_label_names.txt, or cifar-100-binary with them; labels "
    "are "
    "the fine ones.\n\n"
    "tiny-imagenet: wnids.txt, words.txt, train/WNID/images/*.JPEG, val/val_annotations.txt with "
    "val/images (the test split), or tiny-imagenet-200 with them.\n\n"
    "folder: train/CLASS/*.jpg, *.jpeg or *.png, and test/ (or val/) likewise; without these, the "
    "classes' folders themselves, which --split names. With --size the shorter side is resized and "
    "the middle square taken; without, all images are of one size.\n\n"
    "synth: shapes and textures in ten classes, made here.\n\n"
    "Examples:\n"
    "  mc-data synth --split test --seed 1 -o test.mcz\n"
    "  mc-data synth --samples 500 --shuffle 7 | mc-info",
    NULL,
    NULL,
    NULL};

static void tell(void *ctx, uint64_t done)
{
    mc_progress_update(ctx, done, NULL);
}

static void describe(const struct options *o, const struct mc_dataset_info *info,
                     struct mc_history *h)
{
    mc_history_str(h, "set", info->name);
    mc_history_str(h, "split", info->split);
    if (!o->source.dir)
        mc_history_int(h, "seed", (int64_t)o->source.seed);
    if (!o->source.dir || o->source.size)
        mc_history_int(h, "size", info->spec.height);
    if (o->shuffled)
        mc_history_int(h, "shuffle", (int64_t)o->shuffle);
    mc_history_int(h, "samples", (int64_t)(o->samples ? o->samples : info->n));
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_image_source *set = NULL;
    struct mc_history *h = NULL;
    struct mc_progress progress;
    int rc = 0;

    if (o->cli.n_operands < 1 || o->cli.n_operands > 2)
        return mc_fail(err, MC_EUSAGE, "name a data set, and the folder where it lies");
    o->source.dir = o->cli.n_operands > 1 ? o->cli.operands[1] : NULL;
    if (o->source.dir && o->seeded)
        return mc_fail(err, MC_EUSAGE, "--seed is for synth");
    if (o->shuffled && o->unshuffled)
        return mc_fail(err, MC_EUSAGE, "--shuffle and --no-shuffle exclude each other");
    o->source.samples = o->source.dir ? 0 : o->samples;
    o->cli.own_operands = 1;
    mc_cli_file(&o->cli, MC_FILE_FOLDER, NULL, o->source.dir);
    if ((rc = mc_cli_ready(&o->cli, 1, err)))
        return rc;
    if ((rc = mc_image_source_open(&set, o->cli.operands[0], &o->source, err)))
        goto out;
    if (set->sorted && !o->shuffled && !o->unshuffled) {
        o->shuffled = 1;
        o->shuffle = 1;
    }
    if (!(h = mc_history_new("mc-data"))) {
        rc = mc_no_memory(err);
        goto out;
    }
    if (o->cli.no_history)
        mc_history_hide(h);
    describe(o, &set->info, h);
    mc_progress_begin(&progress, &o->cli, "writing", "images",
                      o->samples ? o->samples : set->info.n);
    rc = mc_image_source_write(set, o->shuffled ? &o->shuffle : NULL, o->samples, o->cli.output, h,
                               tell, &progress, err);
    mc_progress_end(&progress);
out:
    mc_image_source_close(set);
    mc_history_free(h);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o = {.source = {.split = "train", .seed = 1}};
    struct mc_error err = {0};

    mc_cli_parse(&o.cli, &argp, argc, argv, &o);
    return mc_cli_exit(&o.cli, run(&o, &err), &err);
}
