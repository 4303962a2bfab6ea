/* SPDX-License-Identifier: Apache-2.0
 *
 * CIFAR-10 and CIFAR-100 in the publisher's binary format. A file consists of records: a label byte
 * (CIFAR-100: a coarse label before it), then 3x32x32 pixel bytes. A text file has the class names,
 * one per line. */
#include "formats/datasets/image_set.h"
#include "formats/stream/bounds.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIDE 32
#define PIXELS (3 * SIDE * SIDE)
#define MAX_LABELS 2 /* bytes before the pixels; the last is the label */
#define MAX_FILES 5
#define MAX_NAMES 4096 /* size limit of the file of names */

struct layout {
    const char *set, *dir, *names, *test, *train[MAX_FILES];
    const char *python, *python_names; /* the publisher's pickles: their folder, one file in it */
    int classes, labels;
    size_t train_records; /* per file */
};
#define TEST_RECORDS 10000

static const struct layout cifar10 = {
    .set = "cifar10",
    .dir = "cifar-10-batches-bin",
    .python = "cifar-10-batches-py",
    .python_names = "batches.meta",
    .names = "batches.meta.txt",
    .test = "test_batch.bin",
    .train = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
              "data_batch_5.bin"},
    .classes = 10,
    .labels = 1,
    .train_records = 10000,
};
static const struct layout cifar100 = {
    .set = "cifar100",
    .dir = "cifar-100-binary",
    .python = "cifar-100-python",
    .python_names = "meta",
    .names = "fine_label_names.txt",
    .test = "test.bin",
    .train = {"train.bin"},
    .classes = 100,
    .labels = 2,
    .train_records = 50000,
};

struct cifar {
    struct mc_image_source source;
    const struct layout *layout;
    size_t records, record; /* records per file; bytes per record */
    char *paths[MAX_FILES];
    int files[MAX_FILES]; /* -1: not open */
    int n_files;
};

static void cifar_close(struct mc_image_source *s)
{
    struct cifar *c = (struct cifar *)s;

    for (int i = 0; i < MAX_FILES; i++) {
        free(c->paths[i]);
        if (c->files[i] >= 0)
            close(c->files[i]);
    }
    mc_dataset_info_release(&c->source.info);
    free(c);
}

static int cifar_get(struct mc_image_source *s, uint64_t index, void *image, int32_t *label,
                     struct mc_error *err)
{
    struct cifar *c = (struct cifar *)s;
    const int labels = c->layout->labels;
    size_t file = (size_t)index / c->records, number = (size_t)index % c->records;
    off_t position = lseek(c->files[file], (off_t)(number * c->record), SEEK_SET);
    unsigned char record[MAX_LABELS + PIXELS];
    ssize_t n = position < 0 ? -1 : mc_file_read_all(c->files[file], record, c->record);

    if (n < 0)
        return mc_fail(err, MC_EFAIL, "%s: cannot read: %s", c->paths[file], strerror(errno));
    if ((size_t)n < c->record)
        return mc_fail(err, MC_EINPUT, "%s: the file has become shorter", c->paths[file]);
    if ((*label = record[labels - 1]) >= c->layout->classes)
        return mc_fail(err, MC_EINPUT, "%s: record %zu has label %d of %d classes", c->paths[file],
                       number, (int)*label, c->layout->classes);
    memcpy(image, record + labels, PIXELS);
    return 0;
}

static int open_file(struct cifar *c, const char *dir, const char *name, struct mc_error *err)
{
    uint64_t bytes = 0;
    int i = c->n_files, rc = 0;

    if (!(c->paths[i] = mc_path_in(dir, name)))
        return mc_no_memory(err);
    if ((rc = mc_file_open(&c->files[i], &bytes, c->paths[i], MC_EINPUT, err)))
        return rc;
    if (bytes != c->records * c->record)
        return mc_fail(err, MC_EINPUT, "%s: has %llu bytes, not %zu records of %zu", c->paths[i],
                       (unsigned long long)bytes, c->records, c->record);
    c->n_files++;
    return 0;
}

/* Read one name per line, skipping blank lines. Without this file the set has no names. */
static int read_names(struct cifar *c, const char *dir, struct mc_error *err)
{
    struct mc_dataset_info *info = &c->source.info;
    char *path = mc_path_in(dir, c->layout->names), *line = NULL;
    const int classes = c->layout->classes;
    struct stat st;
    uint64_t bytes = 0;
    size_t size = 0;
    int n = 0, rc = 0;
    FILE *f = NULL;

    if (!path)
        return mc_no_memory(err);
    if (stat(path, &st) && errno == ENOENT)
        goto out;
    if ((rc = mc_file_fopen(&f, &bytes, path, MC_EINPUT, err)))
        goto out;
    if (bytes > MAX_NAMES) {
        rc = mc_fail(err, MC_EINPUT, "%s: not a list of %d names", path, classes);
        goto out;
    }
    if ((rc = mc_new(&info->class_names, (size_t)classes, err)))
        goto out;
    for (ssize_t len; !rc && (len = getline(&line, &size, f)) >= 0;) {
        while (len > 0 && line[len - 1] && strchr(" \t\r\n", line[len - 1]))
            line[--len] = 0;
        if (!len)
            continue;
        if (n == classes || len > 64 || !mc_is_text((const unsigned char *)line, (size_t)len))
            rc = mc_fail(err, MC_EINPUT, "%s: not a list of %d names", path, classes);
        else if (!(info->class_names[n++] = strdup(line)))
            rc = mc_no_memory(err);
    }
    if (!rc)
        rc = mc_file_check_end(f, path, err);
    if (!rc && n != classes)
        rc = mc_fail(err, MC_EINPUT, "%s: %d class names expected, got %d", path, classes, n);
out:
    if (f)
        fclose(f);
    free(line);
    free(path);
    return rc;
}

/* If the folder holds the publisher's pickles instead of the file, MC_EINPUT names the commands to
 * use. */
static int refuse_python(const struct layout *l, const char *dir, const char *file,
                         struct mc_error *err)
{
    char *paths[] = {mc_path_in(dir, file), mc_path_in(dir, l->python),
                     mc_path_in(dir, l->python_names)};
    struct stat st;
    int rc = paths[0] && paths[1] && paths[2] ? 0 : mc_no_memory(err);

    if (!rc && stat(paths[0], &st) && (!stat(paths[1], &st) || !stat(paths[2], &st)))
        rc = mc_fail(err, MC_EINPUT,
                     "%s: holds the Python version, whose pickles cannot be read (convert it: "
                     "python -m mcz.data %s-python DIR -o FILE; or fetch the binary version: "
                     "pipelines/setup/fetch.sh %s DIR)",
                     dir, l->set, l->set);
    for (int i = 0; i < 3; i++)
        free(paths[i]);
    return rc;
}

static int cifar_open(struct mc_image_source **out, const struct layout *l,
                      const struct mc_image_source_opts *o, struct mc_error *err)
{
    struct cifar *c = NULL;
    char *dir = NULL;
    int rc = mc_new(&c, 1, err), test = !strcmp(o->split, "test");
    const char *first = test ? l->test : l->train[0];

    if (rc)
        return rc;
    for (int i = 0; i < MAX_FILES; i++)
        c->files[i] = -1;
    c->layout = l;
    c->records = test ? TEST_RECORDS : l->train_records;
    c->record = (size_t)l->labels + PIXELS;
    struct mc_dataset_info *info = &c->source.info;
    info->spec = (struct mc_net_spec){
        3, SIDE, SIDE, l->classes, {.4914f, .4822f, .4465f}, {.247f, .243f, .261f}};
    info->augment = (struct mc_augment){.rotate = 15, .flip = 1, .pad = 4};
    c->source.get = cifar_get;
    c->source.close = cifar_close;
    if (!(rc = mc_unpacked_folder(&dir, o->dir, l->dir, first, err)))
        rc = refuse_python(l, dir, first, err);
    if (!rc)
        rc = mc_expect_published(dir, first, l->set, err);
    for (int i = 0; i < (test ? 1 : MAX_FILES) && !rc && (test || l->train[i]); i++)
        rc = open_file(c, dir, test ? l->test : l->train[i], err);
    if (!rc)
        rc = read_names(c, dir, err);
    info->n = (uint64_t)c->n_files * c->records;
    free(dir);
    if (rc)
        cifar_close(&c->source);
    else
        *out = &c->source;
    return rc;
}

int mc_cifar10_open(struct mc_image_source **out, const struct mc_image_source_opts *o,
                    struct mc_error *err)
{
    return cifar_open(out, &cifar10, o, err);
}

int mc_cifar100_open(struct mc_image_source **out, const struct mc_image_source_opts *o,
                     struct mc_error *err)
{
    return cifar_open(out, &cifar100, o, err);
}
