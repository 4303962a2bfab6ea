/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cli/streams.h"

#include "libcommon/base/file.h"
#include "tools/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int stdout_failed; /* the errno of stdout's first failed write, or 0 */
static int text_fd = STDOUT_FILENO;

/* cookie: &stdout_failed for stdout, NULL for stderr */
static ssize_t write_waiting(void *cookie, const char *text, size_t n)
{
    const int is_stdout = cookie == &stdout_failed;
    const size_t bytes = mc_file_write_all(is_stdout ? text_fd : STDERR_FILENO, text, n);

    if (bytes < n && is_stdout && !stdout_failed)
        stdout_failed = errno;
    return (ssize_t)bytes;
}

void mc_cli_streams(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    static char line[BUFSIZ];
    const cookie_io_functions_t results = {.write = write_waiting},
                                messages = {.write = write_waiting};
    FILE *out = NULL, *msg = NULL;

    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            exit(1);
    if (!(out = fopencookie(&stdout_failed, "w", results)) ||
        !(msg = fopencookie(NULL, "w", messages)))
        return; /* out of memory: keep the C library's streams */
    setvbuf(out, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
    /* one write per message: other programs of a pipe print to the same terminal */
    setvbuf(msg, line, _IOLBF, sizeof line);
    stdout = out;
    stderr = msg;
}

void mc_cli_text_to_stderr(void)
{
    text_fd = STDERR_FILENO;
}

int mc_cli_close_stdout(int report)
{
    int failed = fflush(stdout) ? errno : ferror(stdout) ? EIO : 0;

    /* not fclose: cuBLASLt keeps `stdout` and flushes it at exit */
    if (close(STDOUT_FILENO) && errno != EINTR && !failed)
        failed = errno;
    text_fd = -1;
    if (failed && report) {
        char text[128];
        snprintf(text, sizeof text, "cannot write stdout: %s",
                 strerror(stdout_failed ? stdout_failed : failed));
        mc_message(text);
    }
    return failed ? -1 : 0;
}
