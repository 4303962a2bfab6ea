/* SPDX-License-Identifier: Apache-2.0
 *
 * Logs of JSON lines. */
#include "tools/cli/log.h"

#include "formats/exchange/json_object.h"
#include "libcommon/base/file.h"
#include "libcommon/base/json.h"
#include "libcommon/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct mc_log {
    int fd;
    int regular; /* can be truncated and locked */
    char *path;
    char *old;             /* a resumed run's old lines, until the lines are new; else NULL */
    size_t old_size, kept; /* its bytes, and how many of them are kept */
    struct mc_text line;   /* under construction, with its newline */
    int failed;            /* the errno of the first failure, or 0 */
};

static void fail(struct mc_log *l, int e)
{
    if (!l->failed)
        l->failed = e ? e : EIO;
}

static void cut(struct mc_log *l, off_t bytes)
{
    if (l->regular && ftruncate(l->fd, bytes))
        fail(l, errno);
}

static int read_old(struct mc_log *l, size_t size)
{
    if (!(l->old = calloc(size + 1, 1)))
        return ENOMEM;
    const ssize_t n = mc_file_read_all(l->fd, l->old, size);
    l->old_size = n < 0 ? 0 : (size_t)n;
    return n < 0 ? errno : 0;
}

int mc_log_open(struct mc_log **out, const char *path, int resumed, struct mc_error *err)
{
    struct mc_log *l = NULL;
    struct stat st;
    int rc = 0;

    *out = NULL;
    if (!path)
        return 0;
    if (!(l = calloc(1, sizeof *l)) || !(l->path = strdup(path))) {
        free(l);
        return mc_no_memory(err);
    }
    /* do not open a pipe or device for reading: that would steal its data */
    l->regular = stat(path, &st) ? errno == ENOENT : S_ISREG(st.st_mode);
    l->fd = open(path, (l->regular ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY,
                 0666);
    if (l->fd < 0 || fstat(l->fd, &st)) {
        rc = mc_fail(err, MC_EFAIL, "cannot open '%s': %s", path, strerror(errno));
    } else if (l->regular && flock(l->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        rc = mc_fail(err, MC_EFAIL,
                     "another program is writing the log '%s': choose another file or wait", path);
    } else if (l->regular && resumed) {
        int e = read_old(l, (size_t)st.st_size);
        if (e)
            rc = mc_fail(err, MC_EFAIL, "cannot read '%s': %s", path, strerror(e));
    } else {
        cut(l, 0);
    }
    if (!rc) {
        *out = l;
        return 0;
    }
    if (l->fd >= 0)
        close(l->fd);
    free(l->old);
    free(l->path);
    free(l);
    return rc;
}

void mc_log_live(struct mc_log *l)
{
    if (!l || !l->old)
        return;
    if (!l->failed && l->kept < l->old_size)
        cut(l, (off_t)l->kept);
    free(l->old);
    l->old = NULL;
}

void mc_log_begin(struct mc_log *l, const char *event)
{
    if (!l)
        return;
    if (mc_text_open(&l->line, NULL)) {
        fail(l, ENOMEM);
        return;
    }
    fputs("{\"event\":", l->line.f);
    mc_json_str(l->line.f, event);
}

void mc_log_int(struct mc_log *l, const char *key, int64_t value)
{
    if (l && l->line.f)
        fprintf(l->line.f, ",\"%s\":%" PRId64, key, value);
}

void mc_log_num(struct mc_log *l, const char *key, double value)
{
    if (!l || !l->line.f)
        return;
    fprintf(l->line.f, ",\"%s\":", key);
    if (isfinite(value))
        fprintf(l->line.f, "%.7g", value);
    else
        fputs("null", l->line.f); /* JSON has no NaN */
}

/* Return the line as an object, or NULL if it is not JSON. */
static json_t *parse(struct mc_log *l, const char *line, size_t n)
{
    static const struct mc_json_limits limits = {.values = 4096, .depth = 8};
    json_t *out = NULL;

    if (mc_json_parse(&out, line, n, &limits, NULL) == MC_ENOMEM)
        fail(l, ENOMEM);
    return out;
}

/* Return 1 if the new line repeats the next old one, which may have more fields. */
static int is_repeated(struct mc_log *l)
{
    const char *line = l->old + l->kept, *end = strchr(line, '\n'), *key;
    json_t *before = end ? parse(l, line, (size_t)(end - line)) : NULL;
    json_t *now = parse(l, l->line.text, l->line.bytes), *value; /* its numbers are rounded too */
    int same = before && now;

    json_object_foreach(now, key, value)
    {
        const json_t *other = json_object_get(before, key);
        if (json_is_number(value) && json_is_number(other))
            same &= !(json_number_value(value) < json_number_value(other) ||
                      json_number_value(value) > json_number_value(other));
        else
            same &= json_equal(value, other);
    }
    json_decref(before);
    json_decref(now);
    return same;
}

/* Append the line in one piece. If the disk is full, remove the part that was written. */
static void append(struct mc_log *l)
{
    struct stat st = {0};
    size_t bytes = 0;

    if (l->regular && fstat(l->fd, &st))
        fail(l, errno);
    if (!l->failed &&
        (bytes = mc_file_write_all(l->fd, l->line.text, l->line.bytes)) < l->line.bytes)
        fail(l, errno);
    if (bytes && bytes < l->line.bytes)
        cut(l, st.st_size);
}

void mc_log_end(struct mc_log *l)
{
    if (!l || !l->line.f)
        return;
    fputs("}\n", l->line.f);
    if (mc_text_end(&l->line, 0, NULL)) {
        fail(l, ENOMEM);
    } else if (l->old && is_repeated(l)) {
        l->kept = (size_t)(strchr(l->old + l->kept, '\n') + 1 - l->old);
    } else {
        mc_log_live(l);
        if (!l->failed) /* a log with a gap would look complete */
            append(l);
    }
    free(l->line.text);
}

int mc_log_close(struct mc_log *l, int rc, struct mc_error *err)
{
    if (!l)
        return rc;
    mc_log_live(l);
    if (close(l->fd) && errno != EINTR)
        fail(l, errno);
    if (l->failed && !rc)
        rc = mc_fail(err, MC_EFAIL, "cannot write '%s': %s", l->path, strerror(l->failed));
    free(l->path);
    free(l);
    return rc;
}
