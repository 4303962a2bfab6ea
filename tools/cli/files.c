/* SPDX-License-Identifier: Apache-2.0
 *
 * Identification and comparison of files. */
#include "tools/cli/files.h"

#include "formats/stream/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct mc_file_use {
    enum mc_file_role role;
    char option[32]; /* "" for an operand */
    char *path;
    char *target; /* an output's path with its links resolved; NULL: an open descriptor */
    int known;    /* the members below identify the file; else it needs no protection */
    int pipe;
    dev_t dev;
    ino_t ino;
    char *name; /* if the file does not exist yet: dev and ino are its folder's; else NULL */
};

static int is_output(const struct mc_file_use *u)
{
    return u->role >= MC_FILE_MAIN;
}

static int is_standard(const struct mc_file_use *u)
{
    return !strcmp(u->path, "-") && u->role != MC_FILE_LOG && u->role != MC_FILE_FOLDER;
}

static const char *label(const struct mc_file_use *u)
{
    if (is_standard(u))
        return is_output(u) ? "standard output" : "standard input";
    return *u->option ? u->option : "an input";
}

void mc_files_add(struct mc_files *f, enum mc_file_role role, const char *option, const char *path)
{
    if (!path)
        return;
    if (f->n == f->room) {
        size_t room = 2 * f->room + 16;
        struct mc_file_use *more = realloc(f->use, room * sizeof *more);
        if (!more) {
            f->alloc_failed = 1;
            return;
        }
        f->use = more;
        f->room = room;
    }
    f->use[f->n] = (struct mc_file_use){.role = role, .path = strdup(path)};
    if (option)
        snprintf(f->use[f->n].option, sizeof f->use[f->n].option, "--%s", option);
    if (f->use[f->n].path)
        f->n++;
    else
        f->alloc_failed = 1;
}

void mc_files_release(struct mc_files *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->use[i].path);
        free(f->use[i].target);
        free(f->use[i].name);
    }
    free(f->use);
    *f = (struct mc_files){0};
}

static int cannot_write(const struct mc_file_use *u, int code, struct mc_error *err)
{
    return mc_fail(err, MC_EFAIL, "cannot write '%s': %s", u->path, strerror(code));
}

/* Identify a file that does not exist yet by its folder and name. */
static int identify_new(struct mc_file_use *u, struct mc_error *err)
{
    char copy[PATH_MAX];
    struct stat st;

    strcpy(copy, u->target);
    if (stat(dirname(copy), &st))
        return cannot_write(u, errno, err);
    u->known = 1;
    u->dev = st.st_dev;
    u->ino = st.st_ino;
    strcpy(copy, u->target);
    u->name = strdup(basename(copy));
    return u->name ? 0 : mc_no_memory(err);
}

/* Resolve an output's path. Standard output under another name becomes "-". */
static int resolve(struct mc_file_use *u, struct mc_error *err)
{
    char target[PATH_MAX];
    int fd = -1;

    if (mc_output_resolve(u->path, target, &fd))
        return cannot_write(u, errno, err);
    if (fd >= 0) { /* check now: a file opened later could get this number */
        const int flags = fcntl(fd, F_GETFL);
        if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
            return cannot_write(u, EBADF, err);
    }
    if (fd == STDOUT_FILENO && u->role != MC_FILE_LOG)
        strcpy(u->path, "-");
    else if (fd < 0 && !(u->target = strdup(target)))
        return mc_no_memory(err);
    return 0;
}

static int identify(struct mc_file_use *u, struct mc_error *err)
{
    struct stat st;
    int rc = 0;

    free(u->target);
    free(u->name);
    u->target = u->name = NULL;
    u->known = u->pipe = 0;
    if (is_output(u) && !is_standard(u) && (rc = resolve(u, err)))
        return rc;
    if (is_standard(u) ? fstat(is_output(u), &st) : stat(u->path, &st))
        return u->target && errno == ENOENT ? identify_new(u, err) : 0;
    if (S_ISDIR(st.st_mode) && is_output(u))
        return cannot_write(u, EISDIR, err);
    u->pipe = S_ISFIFO(st.st_mode); /* two outputs to one pipe would mix */
    u->known = S_ISREG(st.st_mode) || u->pipe;
    u->dev = st.st_dev;
    u->ino = st.st_ino;
    return 0;
}

static int same(const struct mc_file_use *a, const struct mc_file_use *b)
{
    return a->known && b->known && a->dev == b->dev && a->ino == b->ino && !a->name == !b->name &&
           (!a->name || !strcmp(a->name, b->name));
}

/* Return 1 if a file starts with all bytes of a text, or ends within it. */
static int starts_like(const char *path, const char *text, int may_end)
{
    char head[16] = "";
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(head, 1, strlen(text), f) : 0;

    if (f)
        fclose(f);
    return (may_end || n == strlen(text)) && !memcmp(head, text, n);
}

/* Return 1 if the file is in the folder, at any depth, and is not an mcz stream. */
static int is_in_folder(const struct mc_file_use *u, const struct mc_file_use *folder)
{
    char in[PATH_MAX], file[PATH_MAX];

    if (!u->known || u->name || is_standard(u) || !realpath(folder->path, in) ||
        !realpath(u->path, file))
        return 0;
    size_t n = strlen(in);
    if (strncmp(file, in, n) || (file[n] != '/' && strcmp(in, "/")))
        return 0;
    return !starts_like(file, "\x28\xb5\x2f\xfd", 0); /* zstd */
}

/* Compare one output with another file. */
static int check_pair(const struct mc_file_use *out, const struct mc_file_use *other,
                      struct mc_error *err)
{
    if (other->role == MC_FILE_FOLDER && is_in_folder(out, other))
        return mc_fail(err, MC_EUSAGE, "%s: '%s' is a file of the input folder '%s'", label(out),
                       out->path, other->path);
    if (is_standard(out) && is_standard(other) && is_output(other))
        return mc_fail(err, MC_EUSAGE, "only one output can be standard output");
    if (!same(out, other) ||
        (out->role == MC_FILE_MAIN && !is_standard(out) && other->role == MC_FILE_REPLACED))
        return 0;
    return mc_fail(err, MC_EUSAGE, "%s and %s are the same file '%s'", label(out), label(other),
                   is_standard(out) ? other->path : out->path);
}

/* Return 1 if u is the regular file that this descriptor writes to. */
static int is_open_as(const struct mc_file_use *u, int fd)
{
    struct stat st;

    return !u->name && !fstat(fd, &st) && st.st_dev == u->dev && st.st_ino == u->ino;
}

/* Check that an output can be created, or written in place, and does not receive the messages. */
static int check_output(const struct mc_file_use *u, struct mc_error *err)
{
    const int in_place = u->role == MC_FILE_LOG && !u->name;
    char copy[PATH_MAX];

    if (!is_output(u) || is_standard(u) || !u->known || u->pipe)
        return 0;
    if (is_open_as(u, STDERR_FILENO))
        return mc_fail(err, MC_EUSAGE, "%s and standard error are the same file '%s'", label(u),
                       u->path);
    if (u->role != MC_FILE_MAIN && is_open_as(u, STDOUT_FILENO))
        return mc_fail(err, MC_EUSAGE, "%s and standard output are the same file '%s'", label(u),
                       u->path);
    if (in_place && !starts_like(u->path, "{\"event\":", 1)) /* a log, complete or torn */
        return mc_fail(err, MC_EUSAGE, "%s: '%s' exists and is not a log: choose another name",
                       label(u), u->path);
    if (!u->target)
        return 0;
    strcpy(copy, u->target);
    if ((!u->name && access(u->target, W_OK)) || (!in_place && access(dirname(copy), W_OK | X_OK)))
        return cannot_write(u, errno, err);
    return 0;
}

int mc_files_check(struct mc_files *f, struct mc_error *err)
{
    size_t stdins = 0;
    int rc = f->alloc_failed ? mc_no_memory(err) : 0;

    for (size_t i = 0; i < f->n; i++)
        stdins += is_standard(&f->use[i]) && !is_output(&f->use[i]);
    if (!rc && stdins > 1)
        rc = mc_fail(err, MC_EUSAGE, "only one input can be standard input");
    for (size_t i = 0; !rc && i < f->n; i++)
        rc = identify(&f->use[i], err);
    for (size_t i = 0; !rc && i < f->n; i++)
        for (size_t j = 0; !rc && is_output(&f->use[i]) && j < f->n; j++)
            if (j < i || !is_output(&f->use[j]))
                rc = check_pair(&f->use[i], &f->use[j], err);
    for (size_t i = 0; !rc && i < f->n; i++)
        rc = check_output(&f->use[i], err);
    return rc;
}
