/* SPDX-License-Identifier: Apache-2.0
 *
 * Logs of JSON lines. */
#include "tools/cli/log.h"

#include "libcommon/base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct mc_log {
    int fd;
    int regular; /* can be cut and locked */
    char *path;
    char *old;         /* of a resumed run, what the file held, until the lines are new */
    size_t held, kept; /* its bytes, and those that stay */
    char *text;        /* the line being made */
    size_t bytes;
    FILE *line;
    int failed;
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
    size_t done = 0;

    if (!(l->old = calloc(size + 1, 1)))
        return ENOMEM;
    while (done < size) {
        ssize_t n = pread(l->fd, l->old + done, size - done, (off_t)done);
        if (n < 0 && errno != EINTR)
            return errno;
        if (!n)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    l->held = done;
    return 0;
}

int mc_log_open(struct mc_log **out, const char *path, int resumed, struct mc_error *err)
{
    struct mc_log *l = calloc(1, sizeof *l);
    struct stat st;
    int rc = 0;

    *out = NULL;
    if (!l || !(l->path = strdup(path))) {
        free(l);
        return mc_fail(err, MC_ENOMEM, "out of memory");
    }
    /* a pipe's or a device's other end may not be read */
    l->regular = stat(path, &st) ? errno == ENOENT : S_ISREG(st.st_mode);
    l->fd = open(path, (l->regular ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY,
                 0666);
    if (l->fd < 0 || fstat(l->fd, &st)) {
        rc = mc_fail(err, MC_EFAIL, "cannot open '%s': %s", path, strerror(errno));
    } else if (l->regular && flock(l->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        rc = mc_fail(err, MC_EFAIL,
                     "another program is writing the log '%s': name another file, or wait", path);
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
    if (l->kept < l->held)
        cut(l, (off_t)l->kept);
    free(l->old);
    l->old = NULL;
}

void mc_log_begin(struct mc_log *l, const char *event)
{
    if (!l)
        return;
    if (!(l->line = open_memstream(&l->text, &l->bytes))) {
        fail(l, ENOMEM);
        return;
    }
    fputs("{\"event\":", l->line);
    mc_json_str(l->line, event);
}

static void key_of(struct mc_log *l, const char *key)
{
    putc(',', l->line);
    mc_json_str(l->line, key);
    putc(':', l->line);
}

void mc_log_int(struct mc_log *l, const char *key, int64_t value)
{
    if (!l || !l->line)
        return;
    key_of(l, key);
    fprintf(l->line, "%lld", (long long)value);
}

void mc_log_num(struct mc_log *l, const char *key, double value)
{
    if (!l || !l->line)
        return;
    key_of(l, key);
    if (isfinite(value))
        fprintf(l->line, "%.7g", value);
    else
        fputs("null", l->line); /* JSON has no NaN */
}

/* Is the line the next old one, whole, but for fields that the old one has more? */
static int is_old(const struct mc_log *l)
{
    const char *at = l->old + l->kept, *end = strchr(at, '\n');
    const size_t shared = l->bytes - strlen("}\n");

    return end && (size_t)(end - at) > shared && end[-1] == '}' && !memcmp(at, l->text, shared) &&
           (at[shared] == ',' || at + shared + 1 == end);
}

/* In one piece, unless the disk is full: what that leaves of it is taken back. */
static void append(struct mc_log *l)
{
    struct stat st = {0};
    size_t done = 0;

    if (l->regular && fstat(l->fd, &st))
        fail(l, errno);
    while (!l->failed && done < l->bytes) {
        ssize_t n = write(l->fd, l->text + done, l->bytes - done);
        if (n > 0)
            done += (size_t)n;
        else if (!n || errno != EINTR)
            fail(l, n ? errno : EIO);
    }
    if (done && done < l->bytes)
        cut(l, st.st_size);
}

void mc_log_end(struct mc_log *l)
{
    if (!l || !l->line)
        return;
    fputs("}\n", l->line);
    if (fclose(l->line)) {
        fail(l, ENOMEM);
    } else if (l->old && is_old(l)) {
        l->kept = (size_t)(strchr(l->old + l->kept, '\n') + 1 - l->old);
    } else {
        mc_log_live(l);
        if (!l->failed) /* a log with a gap would look whole */
            append(l);
    }
    l->line = NULL;
    free(l->text);
    l->text = NULL;
}

int mc_log_close(struct mc_log *l, struct mc_error *err)
{
    int rc = 0;

    if (!l)
        return 0;
    mc_log_live(l);
    if (close(l->fd) && errno != EINTR)
        fail(l, errno);
    if (l->failed)
        rc = mc_fail(err, MC_EFAIL, "cannot write '%s': %s", l->path, strerror(l->failed));
    free(l->path);
    free(l);
    return rc;
}
