/* SPDX-License-Identifier: Apache-2.0
 *
 * CIFAR-10 in its publisher's binary form: files of 10,000 records, each a label byte and 3x32x32
 * pixel bytes, and the classes' names, one a line. */
#include "mc_import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIDE 32
#define PIXELS (3 * SIDE * SIDE)
#define RECORD (1 + PIXELS)
#define RECORDS 10000 /* in a file */
#define MAX_FILES 5
#define CLASSES 10
#define MAX_NAMES 4096 /* bytes of their file */

struct cifar {
    struct mc_import import;
    char *paths[MAX_FILES];
    int files[MAX_FILES]; /* -1: not open */
    int n_files;
};

static void cifar_close(struct mc_import *s)
{
    struct cifar *c = (struct cifar *)s;

    for (int i = 0; i < MAX_FILES; i++) {
        free(c->paths[i]);
        if (c->files[i] >= 0)
            close(c->files[i]);
    }
    mc_dataset_info_release(&c->import.info);
    free(c);
}

static int cifar_get(struct mc_import *s, uint64_t index, void *image, int32_t *label,
                     struct mc_error *err)
{
    struct cifar *c = (struct cifar *)s;
    size_t file = (size_t)(index / RECORDS), done = 0;
    off_t at = (off_t)(index % RECORDS) * RECORD;
    unsigned char record[RECORD];

    while (done < RECORD) {
        ssize_t n = pread(c->files[file], record + done, RECORD - done, at + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mc_fail(err, MC_EFAIL, "%s: cannot read: %s", c->paths[file], strerror(errno));
        if (!n)
            return mc_fail(err, MC_EINPUT, "%s: has become shorter", c->paths[file]);
        done += (size_t)n;
    }
    if (record[0] >= CLASSES)
        return mc_fail(err, MC_EINPUT, "%s: record %d has label %d of %d classes", c->paths[file],
                       (int)(index % RECORDS), record[0], CLASSES);
    *label = record[0];
    memcpy(image, record + 1, PIXELS);
    return 0;
}

static int open_file(struct cifar *c, const char *dir, const char *name, struct mc_error *err)
{
    struct stat st;
    int i = c->n_files;

    if (asprintf(&c->paths[i], "%s/%s", dir, name) < 0) {
        c->paths[i] = NULL;
        return mc_fail(err, MC_ENOMEM, "out of memory");
    }
    if ((c->files[i] = open(c->paths[i], O_RDONLY | O_CLOEXEC)) < 0)
        return mc_fail(err, errno == ENOENT ? MC_EINPUT : MC_EFAIL, "cannot open '%s': %s",
                       c->paths[i], strerror(errno));
    if (fstat(c->files[i], &st))
        return mc_fail(err, MC_EFAIL, "%s: %s", c->paths[i], strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_size != (off_t)RECORDS * RECORD)
        return mc_fail(err, MC_EINPUT, "%s: has %lld bytes, not %d records of %d", c->paths[i],
                       (long long)st.st_size, RECORDS, RECORD);
    c->n_files++;
    return 0;
}

/* One name a line, blank lines apart; a set without the file has no names. */
static int read_names(struct cifar *c, const char *dir, struct mc_error *err)
{
    struct mc_dataset_info *info = &c->import.info;
    char *path = NULL, *line = NULL;
    struct stat st;
    size_t size = 0;
    int n = 0, rc = 0;
    FILE *f = NULL;

    if (asprintf(&path, "%s/batches.meta.txt", dir) < 0)
        return mc_fail(err, MC_ENOMEM, "out of memory");
    if (!(f = fopen(path, "r"))) {
        if (errno != ENOENT)
            rc = mc_fail(err, MC_EFAIL, "cannot open '%s': %s", path, strerror(errno));
        goto out;
    }
    if (fstat(fileno(f), &st) || !S_ISREG(st.st_mode) || st.st_size > MAX_NAMES) {
        rc = mc_fail(err, MC_EINPUT, "%s: is no list of %d names", path, CLASSES);
        goto out;
    }
    if (!(info->class_names = calloc(CLASSES, sizeof *info->class_names))) {
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
        goto out;
    }
    for (ssize_t len; !rc && (len = getline(&line, &size, f)) >= 0;) {
        while (len > 0 && line[len - 1] && strchr(" \t\r\n", line[len - 1]))
            line[--len] = 0;
        if (!len)
            continue;
        if (n == CLASSES || len > 64 || strlen(line) != (size_t)len)
            rc = mc_fail(err, MC_EINPUT, "%s: is no list of %d names", path, CLASSES);
        else if (!(info->class_names[n++] = strdup(line)))
            rc = mc_fail(err, MC_ENOMEM, "out of memory");
    }
    if (!rc && n != CLASSES)
        rc = mc_fail(err, MC_EINPUT, "%s: has %d names for %d classes", path, n, CLASSES);
out:
    if (f)
        fclose(f);
    free(line);
    free(path);
    return rc;
}

/* The folder itself, or the one that the publisher's archive unpacks into it. */
static int find_dir(const char *dir, char **out, struct mc_error *err)
{
    struct stat st;

    if (stat(dir, &st))
        return mc_fail(err, MC_EFAIL, "cannot open '%s': %s", dir, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return mc_fail(err, MC_EINPUT, "%s: is not a folder", dir);
    if (asprintf(out, "%s/cifar-10-batches-bin", dir) < 0) {
        *out = NULL;
        return mc_fail(err, MC_ENOMEM, "out of memory");
    }
    if (!stat(*out, &st) && S_ISDIR(st.st_mode))
        return 0;
    free(*out);
    return (*out = strdup(dir)) ? 0 : mc_fail(err, MC_ENOMEM, "out of memory");
}

int mc_cifar10_open(struct mc_import **out, const struct mc_import_opts *o, struct mc_error *err)
{
    static const char *const train[] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                        "data_batch_4.bin", "data_batch_5.bin"};
    struct cifar *c = calloc(1, sizeof *c);
    char *dir = NULL;
    int rc = 0, test = !strcmp(o->split, "test");

    if (!c)
        return mc_fail(err, MC_ENOMEM, "out of memory");
    for (int i = 0; i < MAX_FILES; i++)
        c->files[i] = -1;
    struct mc_dataset_info *info = &c->import.info;
    snprintf(info->name, sizeof info->name, "cifar10");
    snprintf(info->split, sizeof info->split, "%s", o->split);
    snprintf(info->order, sizeof info->order, "publisher");
    info->pixels = MC_U8;
    info->spec = (struct mc_net_spec){
        3, SIDE, SIDE, CLASSES, {.4914f, .4822f, .4465f}, {.247f, .243f, .261f}};
    info->augment = (struct mc_augment){.rotate = 15, .flip = 1, .pad = 4};
    c->import.get = cifar_get;
    c->import.close = cifar_close;
    rc = find_dir(o->dir, &dir, err);
    for (int i = 0; i < (test ? 1 : MAX_FILES) && !rc; i++)
        rc = open_file(c, dir, test ? "test_batch.bin" : train[i], err);
    if (!rc)
        rc = read_names(c, dir, err);
    info->n = (uint64_t)c->n_files * RECORDS;
    free(dir);
    if (rc)
        cifar_close(&c->import);
    else
        *out = &c->import;
    return rc;
}
