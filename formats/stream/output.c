/* SPDX-License-Identifier: Apache-2.0
 *
 * Outputs that appear whole or not at all, and the signals that must not leave temporaries. */
#include "formats/stream/output.h"

#include "libcommon/base/alloc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".mcz-tmp"
#define MAX_OPEN 16
#define MAX_STEM 200 /* bytes of NAME in a temporary's name: room for the rest within NAME_MAX */

/* The temporaries of this process, where the signal handler finds them: in static memory, so that
 * nothing is freed under it. */
static struct {
    atomic_int state; /* 0 free, 1 being filled or emptied, 2 holds a path */
    char path[PATH_MAX + 64];
} temps[MAX_OPEN];

struct mc_output {
    int fd;
    int slot;   /* of temps, -1 when written directly */
    char *name; /* as the user said it */
    char *path; /* where the temporary goes in the end */
};

static int take_slot(void)
{
    for (int i = 0; i < MAX_OPEN; i++) {
        int expected = 0;
        if (atomic_compare_exchange_strong(&temps[i].state, &expected, 1))
            return i;
    }
    return -1;
}

static int in_own_slot(const char *path)
{
    for (int i = 0; i < MAX_OPEN; i++)
        if (atomic_load(&temps[i].state) == 2 && !strcmp(temps[i].path, path))
            return 1;
    return 0;
}

void mc_stream_remove_temporaries(void)
{
    for (int i = 0; i < MAX_OPEN; i++)
        if (atomic_load(&temps[i].state) == 2)
            unlink(temps[i].path);
}

static void on_signal(int sig)
{
    mc_stream_remove_temporaries();
    raise(sig); /* the handler was reset when it was entered */
}

void mc_stream_catch_signals(void)
{
    static const int deadly[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT, SIGPIPE,
                                 SIGXCPU, SIGABRT, SIGBUS, SIGFPE,  SIGILL};
    struct sigaction now, old;

    memset(&now, 0, sizeof now);
    now.sa_handler = on_signal;
    now.sa_flags = (int)SA_RESETHAND | SA_NODEFER;
    sigemptyset(&now.sa_mask);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        if (!sigaction(deadly[i], NULL, &old) && old.sa_handler == SIG_DFL)
            sigaction(deadly[i], &now, NULL);
    /* a file size limit is an error of write(), not a death that leaves temporaries */
    signal(SIGXFSZ, SIG_IGN);
    /* libgomp exits by itself where it has no memory; without room for this, its end alone leaves a
     * temporary */
    (void)!atexit(mc_stream_remove_temporaries);
}

/* "cannot write 'x.mcz': No space left on device" */
static int cannot(const struct mc_output *o, const char *what, int code, struct mc_error *err)
{
    return mc_fail(err, MC_EFAIL, "cannot %s '%s': %s", what, o->name, strerror(code));
}

/* Whether somebody holds the lock that a writer keeps on its temporary: process numbers alone do
 * not say it, where machines or containers share a folder. */
static int is_held(const char *path)
{
    int held = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0)
        return errno != ENOENT;
    held = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    close(fd);
    return held;
}

static int is_dead(long pid)
{
    return pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) && errno == ESRCH;
}

/* Remove dir/.STEM.PID.mcz-tmp of dead runs. */
static void remove_stale(const char *dir, const char *stem)
{
    char path[PATH_MAX + 64];
    size_t prefix = strlen(stem);
    struct dirent *e = NULL;
    DIR *d = opendir(dir);

    if (!d)
        return;
    while ((e = readdir(d))) {
        char *end = NULL;
        if (strncmp(e->d_name, stem, prefix) || !isdigit((unsigned char)e->d_name[prefix]))
            continue;
        long pid = strtol(e->d_name + prefix, &end, 10);
        if (strcmp(end, SUFFIX))
            continue;
        if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < sizeof path &&
            is_dead(pid) && !is_held(path))
            unlink(path);
    }
    closedir(d);
}

/* Split o->path into its directory and ".NAME." */
static int split(const char *path, char *dir, size_t dir_size, char *stem, size_t stem_size)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t len = slash ? (size_t)(slash - path) : 1;

    if (slash == path)
        len = 1; /* the root */
    if (!*base || len >= dir_size)
        return -1;
    memcpy(dir, slash ? path : ".", len);
    dir[len] = 0;
    snprintf(stem, stem_size, ".%.*s.", MAX_STEM, base);
    return 0;
}

static int open_temporary(struct mc_output *o, const struct stat *old, struct mc_error *err)
{
    char dir[PATH_MAX], stem[MAX_STEM + 8];
    int n = 0, mode = 0666;

    if (split(o->path, dir, sizeof dir, stem, sizeof stem))
        return cannot(o, "create", ENOENT, err);
    if (old && access(o->path, W_OK))
        return cannot(o, "replace", errno, err);
    remove_stale(dir, stem);
    if ((o->slot = take_slot()) < 0)
        return mc_fail(err, MC_EFAIL, "cannot create '%s': more than %d outputs at once", o->name,
                       MAX_OPEN);
    n = snprintf(temps[o->slot].path, sizeof temps[o->slot].path, "%s/%s%ld" SUFFIX, dir, stem,
                 (long)getpid());
    if (n < 0 || (size_t)n >= sizeof temps[o->slot].path)
        return cannot(o, "create", ENAMETOOLONG, err);
    if (in_own_slot(temps[o->slot].path) || is_held(temps[o->slot].path))
        return mc_fail(err, MC_EUSAGE, "'%s' is being written already", o->name);
    /* this number's earlier holder is gone: what it left behind is ours to remove */
    unlink(temps[o->slot].path);
    /* known to the signal handler before it exists */
    atomic_store(&temps[o->slot].state, 2);
    o->fd = open(temps[o->slot].path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (o->fd < 0)
        return cannot(o, "create", errno, err);
    if (old)
        (void)!fchmod(o->fd, old->st_mode & 0777);
    (void)!flock(o->fd, LOCK_EX | LOCK_NB);
    return 0;
}

int mc_output_open(struct mc_output **out, const char *path, enum mc_output_kind kind,
                   struct mc_error *err)
{
    struct mc_output *o = NULL;
    int to_stdout = !path || !strcmp(path, "-"), rc = mc_new(&o, 1, err);
    struct stat st;

    *out = NULL;
    if (rc)
        return rc;
    o->fd = -1;
    o->slot = -1;
    if (!(o->name = strdup(to_stdout ? "stdout" : path))) {
        rc = mc_no_memory(err);
    } else if (to_stdout) {
        o->fd = STDOUT_FILENO;
    } else if (!stat(path, &st)) {
        if (S_ISDIR(st.st_mode))
            rc = cannot(o, "write", EISDIR, err);
        else if (!S_ISREG(st.st_mode))
            rc = (o->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)) < 0
                     ? cannot(o, "open", errno, err)
                     : 0;
        else if (!(o->path = realpath(path, NULL)))
            rc = cannot(o, "write", errno, err);
        else
            rc = open_temporary(o, &st, err);
    } else if (errno != ENOENT || !lstat(path, &st)) {
        rc = cannot(o, "create", errno ? errno : ENOENT, err);
    } else {
        o->path = strdup(path);
        rc = o->path ? open_temporary(o, NULL, err) : mc_no_memory(err);
    }
    if (!rc && kind == MC_OUTPUT_BINARY && isatty(o->fd))
        rc = mc_fail(err, MC_EUSAGE, "refused to write a binary stream to a terminal");
    if (rc)
        mc_output_abandon(o);
    else
        *out = o;
    return rc;
}

int mc_output_write(struct mc_output *o, const void *data, size_t n, struct mc_error *err)
{
    const char *p = data;

    while (n) {
        ssize_t k = write(o->fd, p, n);
        if (k > 0) {
            p += k;
            n -= (size_t)k;
        } else if (k < 0 && errno == EAGAIN) {
            struct pollfd pfd = {.fd = o->fd, .events = POLLOUT};
            poll(&pfd, 1, -1);
        } else if (!k || errno != EINTR) {
            return cannot(o, "write", k ? errno : EIO, err);
        }
    }
    return 0;
}

/* A rename is durable when its directory is on disk; not every file system can say so. */
static int sync_directory(const char *path)
{
    char dir[PATH_MAX], stem[MAX_STEM + 8];
    int fd = -1, rc = 0;

    if (split(path, dir, sizeof dir, stem, sizeof stem))
        return 0;
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0; /* may be written but not read */
    if (fsync(fd) && (errno == EIO || errno == ENOSPC || errno == EDQUOT))
        rc = -1;
    close(fd);
    return rc;
}

int mc_output_close(struct mc_output *o, struct mc_error *err)
{
    int rc = 0, fd = o->fd;

    /* pipes and most devices cannot be synced and say EINVAL */
    if (fsync(fd) && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
        rc = cannot(o, "write", errno, err);
    if (fd != STDOUT_FILENO) {
        o->fd = -1;
        if (close(fd) && errno != EINTR && !rc)
            rc = cannot(o, "write", errno, err);
    }
    if (!rc && o->slot >= 0 && (rename(temps[o->slot].path, o->path) || sync_directory(o->path)))
        rc = cannot(o, "write", errno, err);
    mc_output_abandon(o);
    return rc;
}

void mc_output_abandon(struct mc_output *o)
{
    if (!o)
        return;
    if (o->fd >= 0 && o->fd != STDOUT_FILENO)
        close(o->fd);
    if (o->slot >= 0) {
        if (atomic_load(&temps[o->slot].state) == 2)
            unlink(temps[o->slot].path); /* after a rename there is none */
        atomic_store(&temps[o->slot].state, 0);
    }
    free(o->path);
    free(o->name);
    free(o);
}

const char *mc_output_name(const struct mc_output *o)
{
    return o->name;
}
