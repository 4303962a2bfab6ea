/* SPDX-License-Identifier: Apache-2.0
 *
 * What programs print to a file: whole or not at all, through symbolic links, with the mode the
 * file had, and nothing left where a signal comes at the last moment. */
#include "tools/cli/cli.h"

#include "formats/stream/output.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static int interrupted;

/* Stands before the C library's: the moment when the text is written and not yet renamed. */
int fsync(int fd)
{
    if (interrupted)
        raise(SIGINT);
    return fdatasync(fd);
}

static char dir[] = "/tmp/mc-test-cli.XXXXXX";

static int enter(void **state)
{
    (void)state;
    return !mkdtemp(dir) || chdir(dir);
}

static int leave(void **state)
{
    (void)state;
    remove("link");
    remove("text");
    return chdir("/") || rmdir(dir); /* fails where anything else is left */
}

static void put(const char *path, const char *text)
{
    struct mc_error err = {0};

    if (mc_cli_write(path, text, strlen(text), &err))
        fail_msg("%s", err.text);
}

static void holds(const char *path, const char *want)
{
    char got[64] = "";
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0 && read(fd, got, sizeof got - 1) >= 0);
    close(fd);
    assert_string_equal(got, want);
}

static size_t files(void)
{
    DIR *d = opendir(".");
    size_t n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

static void a_text_keeps_links_and_modes(void **state)
{
    struct stat st;

    (void)state;
    put("text", "one\n");
    holds("text", "one\n");
    assert_int_equal(chmod("text", 0600), 0);
    assert_int_equal(symlink("text", "link"), 0);
    put("link", "two\n");
    holds("text", "two\n");
    assert_int_equal(lstat("link", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat("text", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(files(), 2);
    remove("link");
}

static void an_interrupt_at_the_end_leaves_the_old_text(void **state)
{
    int status = 0;

    (void)state;
    put("text", "old\n");
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct mc_error err = {0};
        signal(SIGINT, SIG_DFL); /* what a shell may have had ignored */
        mc_stream_catch_signals();
        interrupted = 1;
        _exit(mc_cli_write("text", "new\n", 4, &err) ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    holds("text", "old\n");
    assert_int_equal(files(), 1);
}

static void what_cannot_be_written_is_told(void **state)
{
    struct mc_error err = {0};

    (void)state;
    assert_int_equal(mc_cli_write("none/text", "x", 1, &err), MC_EFAIL);
    assert_non_null(strstr(err.text, "none/text"));
    assert_int_equal(mc_cli_write(".", "x", 1, &err), MC_EFAIL);
    assert_int_equal(mc_cli_write("/dev/full", "x", 1, &err), MC_EFAIL);
    put("/dev/null", "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_keeps_links_and_modes),
        cmocka_unit_test(an_interrupt_at_the_end_leaves_the_old_text),
        cmocka_unit_test(what_cannot_be_written_is_told),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
