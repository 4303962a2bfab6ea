/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-data: conversion of published data sets, or synthetic images, to dataset streams. */
#include "formats/datasets/picture.h"
#include "formats/datasets/source.h"
#include "tools/cli/cli.h"

#include <string.h>

struct options {
    struct mc_cli cli;
    struct mc_image_source_opts source;
    int no_shuffle;
    uint64_t shuffle, samples;
};

static const char *const layouts[] = {"auto", "nchw", "nhwc", NULL};

/* clang-format off */
static const struct mc_option options[] = {
    {"split", 0, MC_OPT_TEXT, MC_AT(source.split), .arg = "train|test", .def = "train", .group = 1,
     .help = "split to write"},
    {"shuffle", 0, MC_OPT_U64, MC_AT(shuffle), .arg = "SEED", .max = INT64_MAX, .group = 1,
     .help = "shuffle the images (default: seed 1 for sets sorted by class, such as tiny-imagenet and folder; else "
     "the publisher's order)"},
    {"no-shuffle", 0, MC_OPT_FLAG, MC_AT(no_shuffle), .group = 1, .help = "keep the order of a set sorted by class"},
    {"samples", 0, MC_OPT_U64, MC_AT(samples), .arg = "N", .min = 1, .max = MC_DATASET_MAX_IMAGES, .group = 1,
     .help = "write only the first N images, after shuffling; synth: number of images (default: 10000, test 2000)"},
    {"size", 0, MC_OPT_INT, MC_AT(source.size), .arg = "N", .min = 1, .max = MC_PICTURE_MAX_SIZE, .group = 2,
     .help = "height and width. synth: 8 to 256 (default 32); tiny-imagenet and folder: resize to N x N, up to 2048 "
     "(default: 64 and unchanged)"},
    {"seed", 0, MC_OPT_U64, MC_AT(source.seed), .arg = "N", .max = INT64_MAX, .def = "1", .group = 2,
     .flags = MC_OPT_HISTORY, .help = "synth: seed of the images; the classes are always the same"},
    {"arrays", 0, MC_OPT_TEXT, MC_AT(source.arrays), .arg = "IMAGES,LABELS", .group = 3,
     .help = "npz: names of the two arrays, if they differ from those below"},
    {"layout", 0, MC_OPT_CHOICE, MC_AT(source.layout), .names = layouts, .def = "auto", .group = 3,
     .help = "npz and idx: position of the channels, if the shape is ambiguous"},
    {"classes", 0, MC_OPT_INT, MC_AT(source.classes), .arg = "N", .min = 1, .max = MC_DATASET_MAX_CLASSES, .group = 3,
     .help = "npz and idx: number of classes (default: largest label plus 1); folder: of class folders (default: 2 or more)"},
    MC_OPTION_OUTPUT, MC_OPTION_THREADS, MC_OPTION_NO_PROGRESS, MC_OPTION_NO_HISTORY, {0}};
/* clang-format on */

static const char operands[] =
    "cifar10 DIR\ncifar100 DIR\ntiny-imagenet DIR\nfolder DIR\nnpz FILE.npz\n"
    "idx DIR\nidx IMAGES LABELS\nsynth";
static const char doc[] =
    "Convert a data set to a stream of pixels and labels."
    "\vData sets and the contents of DIR (pipelines/setup/fetch.sh downloads the first three from "
    "their publishers):\n\n"
    "cifar10 (the binary version): data_batch_1.bin ... data_batch_5.bin, test_batch.bin, "
    "batches.meta.txt, or a folder cifar-10-batches-bin with them.\n\n"
    "cifar100: train.bin, test.bin, fine_label_names.txt, or a folder cifar-100-binary with them. "
    "The labels are the fine ones.\n\n"
    "tiny-imagenet: wnids.txt, words.txt, train/WNID/images/*.JPEG, val/val_annotations.txt with "
    "val/images (the test split), or a folder tiny-imagenet-200 with them.\n\n"
    "folder: train/CLASS/*.jpg, *.jpeg or *.png, also in folders within CLASS, and test/ (or val/) "
    "likewise. Without these, DIR contains the classes' folders itself and --split only names the "
    "split. The number of other files is printed. --size resizes the shorter side and crops the "
    "middle square; without it, all images must have the same size.\n\n"
    "npz (NumPy): images uint8 or float in [0,1], (N,C,H,W), (N,H,W,C) or grey (N,H,W), and labels "
    "(N). Names, in upper or lower case: SPLIT_images and SPLIT_labels, images_SPLIT and "
    "labels_SPLIT, x_SPLIT and y_SPLIT, SPLIT_x and SPLIT_y; for train also images and labels, "
    "data and labels, x and y, data and target, image and label, arr_0 and arr_1.\n\n"
    "idx (MNIST and similar), plain or .gz: train-images-idx3-ubyte, train-labels-idx1-ubyte, and "
    "t10k- likewise, or train-images.idx3-ubyte; or any two files.\n\n"
    "synth: generated shapes and textures in ten classes.\n\n"
    "Examples:\n"
    "  mc-data synth --split test --seed 1 -o test.mcz\n"
    "  mc-data synth --samples 500 --shuffle 7 | mc-info";

static void note_options(const struct options *o, const struct mc_dataset_info *info,
                         const uint64_t *shuffle)
{
    struct mc_history *h = o->cli.history;

    mc_history_str(h, "set", info->name);
    mc_history_str(h, "split", info->split);
    if (!o->source.dir)
        mc_option_note(&o->cli, &o->source.seed, h);
    if (!o->source.dir || o->source.size)
        mc_history_int(h, "size", info->spec.height);
    if (o->source.arrays)
        mc_history_str(h, "arrays", o->source.arrays);
    if (o->source.layout)
        mc_history_str(h, "layout", layouts[o->source.layout]);
    if (o->source.classes)
        mc_history_int(h, "classes", o->source.classes);
    if (shuffle)
        mc_history_int(h, "shuffle", (int64_t)*shuffle);
    mc_history_int(h, "samples", (int64_t)(o->samples ? o->samples : info->n));
}

static void check_options(struct options *o)
{
    if (!o->cli.n_operands)
        mc_cli_usage("missing: a data set: cifar10, cifar100, tiny-imagenet or folder with its "
                     "DIR, npz FILE.npz, idx DIR, or synth (see --help)");
    mc_cli_operands(&o->cli, "SET [DIR] [LABELS]");
    o->source.dir = o->cli.n_operands > 1 ? o->cli.operands[1] : NULL;
    o->source.labels = o->cli.n_operands > 2 ? o->cli.operands[2] : NULL;
    if (o->source.dir && mc_option_given(&o->cli, &o->source.seed))
        mc_cli_usage("--seed has no effect without synth (use --shuffle SEED to shuffle)");
    if (mc_option_given(&o->cli, &o->shuffle) && o->no_shuffle)
        mc_cli_usage("--shuffle and --no-shuffle cannot be combined");
    o->source.samples = o->source.dir ? 0 : o->samples;
    o->cli.registers_operands = 1;
    mc_files_add(&o->cli.files, MC_FILE_FOLDER, NULL, o->source.dir);
    mc_files_add(&o->cli.files, MC_FILE_FOLDER, NULL, o->source.labels);
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_image_source *set = NULL;
    struct mc_progress progress;
    const uint64_t one = 1, *shuffle = mc_option_given(&o->cli, &o->shuffle) ? &o->shuffle : NULL;
    int rc = mc_image_source_open(&set, o->cli.operands[0], &o->source, err);

    if (rc)
        return rc;
    if (set->sorted && !shuffle && !o->no_shuffle)
        shuffle = &one;
    note_options(o, &set->info, shuffle);
    mc_progress_begin(&progress, &o->cli, "writing", "images",
                      o->samples ? o->samples : set->info.n);
    const struct mc_image_choice choice = {o->samples, shuffle, o->cli.backend.threads,
                                           mc_progress_count, &progress};
    rc = mc_image_source_write(set, o->cli.output, &choice, o->cli.history, err);
    mc_progress_end(&progress);
    if (!rc && *set->note)
        mc_note(&o->cli, "%s: %s", o->source.dir, set->note);
    mc_image_source_close(set);
    return rc;
}

MC_PROGRAM("mc-data", operands, doc, options, .check = check_options, .run = run)
