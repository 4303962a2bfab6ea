/* SPDX-License-Identifier: Apache-2.0
 *
 * Outputs that appear whole or not at all, and signal handlers that leave no temporary files. */
#include "formats/stream/output.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
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
#define MAX_LINKS 40 /* Linux's limit */
#define MAX_STEM 200 /* bytes of NAME in a temporary name; the rest must fit in NAME_MAX */

/* Temporary files of this process. The memory is static because the signal handler reads it. */
static struct {
    atomic_int state; /* 0 free, 1 being filled or emptied, 2 holds a path */
    char path[PATH_MAX + 64];
} temps[MAX_OPEN];

struct mc_output {
    int fd;
    int slot;   /* index into temps, -1 if written directly */
    char *name; /* for messages */
    char *path; /* final path of the temporary file */
};

static int reserve_slot(void)
{
    for (int i = 0; i < MAX_OPEN; i++) {
        int expected = 0;
        if (atomic_compare_exchange_strong(&temps[i].state, &expected, 1))
            return i;
    }
    return -1;
}

static int is_open_here(const char *path)
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
    raise(sig); /* SA_RESETHAND reset the handler */
}

/* 1 if the default action ends the program. SIGKILL and SIGSTOP cannot be caught. */
static int is_deadly(int sig)
{
    static const int harmless[] = {SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH};

    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (sig == harmless[i])
            return 0;
    return 1;
}

void mc_stream_catch_signals(void)
{
    struct sigaction now, old;

    memset(&now, 0, sizeof now);
    now.sa_handler = on_signal;
    now.sa_flags = (int)SA_RESETHAND | SA_NODEFER;
    sigemptyset(&now.sa_mask);
    /* a file size limit must be a write error, not a signal that leaves temporary files */
    signal(SIGXFSZ, SIG_IGN);
    for (int sig = 1; sig <= SIGRTMAX; sig++)
        if (is_deadly(sig) && !sigaction(sig, NULL, &old) && old.sa_handler == SIG_DFL)
            (void)sigaction(sig, &now, NULL);
    /* libgomp calls exit() if it is out of memory; if atexit fails, only that case leaves a file */
    (void)!atexit(mc_stream_remove_temporaries);
}

/* "cannot write 'x.mcz': No space left on device" */
static int cannot(const struct mc_output *o, const char *verb, int code, struct mc_error *err)
{
    return mc_fail(err, MC_EFAIL, "cannot %s '%s': %s", verb, o->name, strerror(code));
}

/* Remove the temporary file at `path` unless its writer holds a lock on it. The process number in
 * its name proves nothing: machines or containers may share the directory, numbers are reused, and
 * zombies keep theirs. `dead`, 1 if the process does not run, counts only on file systems without
 * locks. Returns 0 if it has no writer, 1 if it has one, -1 and errno if unknown. */
static int remove_unlocked(const char *path, int dead)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rc = 0;
    struct stat locked, current;

    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    if (flock(fd, LOCK_EX | LOCK_NB))
        rc = errno == EWOULDBLOCK ? 1 : dead ? 0 : -1;
    /* another program may have replaced it before the lock */
    if (!rc && !fstat(fd, &locked) && !lstat(path, &current) && locked.st_dev == current.st_dev &&
        locked.st_ino == current.st_ino)
        unlink(path);
    close(fd);
    return rc;
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
        if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < sizeof path)
            (void)!remove_unlocked(path, is_dead(pid));
    }
    closedir(d);
}

/* Split a path into its directory and ".NAME." */
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
    struct stat st = {0};
    int n = 0;

    if (split(o->path, dir, sizeof dir, stem, sizeof stem))
        return cannot(o, "create", ENOENT, err);
    if (old && access(o->path, W_OK))
        return cannot(o, "replace", errno, err);
    remove_stale(dir, stem);
    if ((o->slot = reserve_slot()) < 0)
        return mc_fail(err, MC_EFAIL, "cannot create '%s': more than %d outputs at once", o->name,
                       MAX_OPEN);
    n = snprintf(temps[o->slot].path, sizeof temps[o->slot].path, "%s/%s%ld" SUFFIX, dir, stem,
                 (long)getpid());
    if (n < 0 || (size_t)n >= sizeof temps[o->slot].path)
        return cannot(o, "create", ENAMETOOLONG, err);
    /* an earlier process of this number is gone: its file can be removed */
    n = is_open_here(temps[o->slot].path) ? 1 : remove_unlocked(temps[o->slot].path, 1);
    if (n)
        return n < 0 ? cannot(o, "create", errno, err)
                     : mc_fail(err, MC_EUSAGE, "'%s' is already being written", o->name);
    /* visible to the signal handler before the file exists */
    atomic_store(&temps[o->slot].state, 2);
    do { /* repeat if another program's remove_unlocked() came before the lock */
        if (o->fd >= 0)
            close(o->fd);
        o->fd = open(temps[o->slot].path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (o->fd < 0) {
            atomic_store(&temps[o->slot].state, 1); /* the file is another program's */
            return cannot(o, "create", errno, err);
        }
        (void)!flock(o->fd, LOCK_EX);
    } while (!fstat(o->fd, &st) && !st.st_nlink);
    if (old)
        (void)!fchmod(o->fd, old->st_mode & 0777);
    return 0;
}

/* Return N if `path` leads to /proc/self/fd/N, else -1. */
static int descriptor(const char *path)
{
    char copy[PATH_MAX], fd_dir[PATH_MAX], dir[PATH_MAX], *end = NULL;

    strcpy(copy, path);
    const char *name = basename(copy);
    const long n = isdigit((unsigned char)*name) ? strtol(name, &end, 10) : -1;
    if (n < 0 || n > INT_MAX || *end || !realpath("/proc/self/fd", fd_dir))
        return -1;
    strcpy(copy, path);
    return realpath(dirname(copy), dir) && !strcmp(dir, fd_dir) ? (int)n : -1;
}

int mc_output_resolve(const char *path, char target[PATH_MAX], int *fd)
{
    char to[PATH_MAX], copy[PATH_MAX], next[2 * PATH_MAX + 1];
    ssize_t n = 0;

    *fd = -1;
    errno = ENAMETOOLONG;
    if (strlen(path) >= PATH_MAX)
        return -1;
    strcpy(target, path);
    for (int links = 0; links < MAX_LINKS; links++) {
        if ((*fd = descriptor(target)) >= 0 || (n = readlink(target, to, sizeof to - 1)) < 0)
            return 0;
        to[n] = 0;
        strcpy(copy, target);
        snprintf(next, sizeof next, "%s%s%s", *to == '/' ? "" : dirname(copy),
                 *to == '/' ? "" : "/", to);
        if (strlen(next) >= PATH_MAX)
            return -1;
        strcpy(target, next);
    }
    errno = ELOOP;
    return -1;
}

int mc_output_open(struct mc_output **out, const char *path, enum mc_output_kind kind,
                   struct mc_error *err)
{
    struct mc_output *o = NULL;
    int fd = !path || !strcmp(path, "-") ? STDOUT_FILENO : -1, rc = mc_new(&o, 1, err);
    char target[PATH_MAX];
    struct stat st;

    *out = NULL;
    if (rc)
        return rc;
    o->fd = -1;
    o->slot = -1;
    if (!(o->name = strdup(fd >= 0 ? "stdout" : path))) {
        rc = mc_no_memory(err);
    } else if (fd < 0 && mc_output_resolve(path, target, &fd)) {
        rc = cannot(o, "create", errno, err);
    } else if (fd >= 0) {
        o->fd = fd == STDOUT_FILENO ? fd : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (o->fd < 0)
            rc = cannot(o, "open", errno, err);
    } else if (!stat(target, &st)) {
        if (S_ISDIR(st.st_mode))
            rc = cannot(o, "write", EISDIR, err);
        else if (!S_ISREG(st.st_mode))
            rc = (o->fd = open(target, O_WRONLY | O_CLOEXEC | O_NOCTTY)) < 0
                     ? cannot(o, "open", errno, err)
                     : 0;
        else
            rc = (o->path = strdup(target)) ? open_temporary(o, &st, err) : mc_no_memory(err);
    } else if (errno != ENOENT) {
        rc = cannot(o, "create", errno, err);
    } else {
        rc = (o->path = strdup(target)) ? open_temporary(o, NULL, err) : mc_no_memory(err);
    }
    if (!rc && kind == MC_OUTPUT_BINARY && isatty(o->fd))
        rc = mc_fail(err, MC_EUSAGE,
                     "refusing to write a binary stream to a terminal (redirect it or use -o)");
    if (rc)
        return mc_output_close(o, rc, err);
    *out = o;
    return 0;
}

int mc_output_write(struct mc_output *o, const void *data, size_t n, struct mc_error *err)
{
    return mc_file_write_all(o->fd, data, n) < n ? cannot(o, "write", errno, err) : 0;
}

int mc_output_seekable(const struct mc_output *o)
{
    return o->slot >= 0;
}

int mc_output_seek(struct mc_output *o, uint64_t to, struct mc_error *err)
{
    return lseek(o->fd, (off_t)to, SEEK_SET) < 0 ? cannot(o, "write", errno, err) : 0;
}

/* Flush the directory, which makes a rename durable. Some file systems cannot report this. */
static int sync_directory(const char *path)
{
    char dir[PATH_MAX], stem[MAX_STEM + 8];
    int fd = -1, rc = 0;

    if (split(path, dir, sizeof dir, stem, sizeof stem))
        return 0;
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0; /* writable but not readable */
    if (fsync(fd) && (errno == EIO || errno == ENOSPC || errno == EDQUOT))
        rc = -1;
    close(fd);
    return rc;
}

int mc_output_close(struct mc_output *o, int rc, struct mc_error *err)
{
    if (!o)
        return rc;
    /* pipes and most devices cannot be flushed and return EINVAL */
    if (!rc && fsync(o->fd) && errno != EINVAL && errno != ENOTSUP && errno != EROFS)
        rc = cannot(o, "write", errno, err);
    if (o->fd >= 0 && o->fd != STDOUT_FILENO && close(o->fd) && errno != EINTR && !rc)
        rc = cannot(o, "write", errno, err);
    if (!rc && o->slot >= 0 && rename(temps[o->slot].path, o->path))
        rc = cannot(o, "write", errno, err);
    else if (!rc && o->slot >= 0 && sync_directory(o->path))
        rc = mc_fail(err, MC_EFAIL, "'%s' is written, but a loss of power may undo it: %s", o->name,
                     strerror(errno));
    if (o->slot >= 0) {
        if (atomic_load(&temps[o->slot].state) == 2)
            unlink(temps[o->slot].path); /* missing after a rename */
        atomic_store(&temps[o->slot].state, 0);
    }
    free(o->path);
    free(o->name);
    free(o);
    return rc;
}
