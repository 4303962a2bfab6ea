/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening files without blocking; reading and writing that wait. */
#include "libcommon/base/file.h"

#include "libcommon/base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *mc_file_called(const char *path)
{
    return strcmp(path, "-") ? path : "stdin";
}

int mc_file_open(int *fd, uint64_t *bytes, const char *path, enum mc_err absent,
                 struct mc_error *err)
{
    struct stat st;
    int rc = 0;

    /* O_NONBLOCK opens a FIFO at once. With the flag cleared, read() waits for writers and returns
     * the end of file if there are none. */
    if ((*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) < 0)
        return mc_fail(err, errno == ENOENT || errno == ENOTDIR ? absent : MC_EFAIL,
                       "cannot open '%s': %s", path, strerror(errno));
    if (fstat(*fd, &st))
        rc = mc_fail(err, MC_EFAIL, "%s: %s", path, strerror(errno));
    else if (S_ISFIFO(st.st_mode) && !bytes && !fcntl(*fd, F_SETFL, O_RDONLY))
        return 0;
    else if (!S_ISREG(st.st_mode))
        rc = mc_fail(err, MC_EINPUT, "%s: not a regular file", path);
    else if (bytes)
        *bytes = (uint64_t)st.st_size;
    if (!rc)
        return 0;
    close(*fd);
    *fd = -1;
    return rc;
}

int mc_file_fopen(FILE **out, uint64_t *bytes, const char *path, enum mc_err absent,
                  struct mc_error *err)
{
    int fd = -1, rc = 0;

    *out = NULL;
    if ((rc = mc_file_open(&fd, bytes, path, absent, err)))
        return rc;
    if ((*out = fdopen(fd, "r")))
        return 0;
    close(fd);
    return mc_no_memory(err);
}

int mc_file_text(char **out, size_t *n, size_t limit, const char *path, struct mc_error *err)
{
    FILE *f = NULL;
    int rc = mc_file_fopen(&f, NULL, path, MC_EFAIL, err);

    *out = NULL;
    *n = 0;
    if (rc)
        return rc;
    if (!(rc = mc_new(out, limit + 1, err)))
        *n = fread(*out, 1, limit + 1, f);
    if (!rc && ferror(f)) {
        rc = mc_fail(err, MC_EFAIL, "cannot read '%s': %s", path, strerror(errno));
        free(*out);
        *out = NULL;
    }
    fclose(f);
    return rc;
}

ssize_t mc_file_read(int fd, void *dst, size_t n)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    for (;;) {
        ssize_t got = read(fd, dst, n);
        if (got >= 0 || (errno != EAGAIN && errno != EINTR))
            return got;
        if (errno == EAGAIN)
            poll(&p, 1, -1);
    }
}

ssize_t mc_file_read_all(int fd, void *dst, size_t n)
{
    size_t have = 0;
    ssize_t got = 1;

    while (have < n && (got = mc_file_read(fd, (char *)dst + have, n - have)) > 0)
        have += (size_t)got;
    return got < 0 ? -1 : (ssize_t)have;
}

/* After a failed getline(): a failed allocation sets neither feof nor ferror. */
int mc_file_check_end(FILE *f, const char *path, struct mc_error *err)
{
    if (ferror(f))
        return mc_fail(err, MC_EFAIL, "%s: cannot read", path);
    return feof(f) ? 0 : mc_fail_in(mc_no_memory(err), err, "%s", path);
}

size_t mc_file_write_all(int fd, const void *src, size_t n)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    size_t total = 0;

    while (total < n) {
        ssize_t k = write(fd, (const char *)src + total, n - total);
        if (k > 0) {
            total += (size_t)k;
        } else if (k < 0 && errno == EAGAIN) {
            poll(&p, 1, -1);
        } else if (!k || errno != EINTR) {
            errno = k ? errno : EIO;
            break;
        }
    }
    return total;
}

int mc_file_empty(int fd, const char *text, struct mc_error *err)
{
    struct stat st;

    if (err)
        err->empty_pipe = fd == STDIN_FILENO && !fstat(fd, &st) && S_ISFIFO(st.st_mode);
    return mc_fail(err, MC_EINPUT, "%s", text);
}
