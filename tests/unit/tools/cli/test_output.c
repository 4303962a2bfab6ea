/* SPDX-License-Identifier: Apache-2.0
 *
 * What programs print to a file: whole or not at all, through symbolic links, with the mode the
 * file had, and nothing left where a signal comes at the last moment. And the table of options:
 * defaults, what was given, what a checkpoint compares, what is refused. */
#include "tools/cli/cli.h"
#include "tools/cli/text.h"

#include "formats/codecs/checkpoint.h"
#include "formats/stream/output.h"
#include "tests/unit/must.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int interrupted, folder_fails;

/* Stands before the C library's: the moment when the text is written and not yet renamed, and the
 * one when its folder is to be flushed. */
int fsync(int fd)
{
    struct stat st;

    if (interrupted)
        raise(SIGINT);
    if (folder_fails && !fstat(fd, &st) && S_ISDIR(st.st_mode)) {
        errno = EIO;
        return -1;
    }
    return fdatasync(fd);
}

static int leave(void **state)
{
    remove("link");
    remove("text");
    return leave_folder(state);
}

static void put(const char *path, const char *text)
{
    must(mc_cli_write(path, text, strlen(text), &why));
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

TEST(a_text_keeps_links_and_modes)
{
    struct stat st;

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

TEST(an_interrupt_at_the_end_leaves_the_old_text)
{
    int status = 0;

    put("text", "old\n");
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        signal(SIGINT, SIG_DFL); /* what a shell may have had ignored */
        mc_stream_catch_signals();
        interrupted = 1;
        _exit(mc_cli_write("text", "new\n", 4, &why) ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    holds("text", "old\n");
    assert_int_equal(files(), 1);
}

TEST(a_folder_that_cannot_be_flushed_is_told_beside_the_new_text)
{
    put("text", "old\n");
    folder_fails = 1;
    int rc = mc_cli_write("text", "new\n", 4, &why);
    folder_fails = 0;
    assert_int_equal(rc, MC_EFAIL);
    assert_string_equal(why.text,
                        "'text' is written, but a loss of power may undo it: Input/output error");
    holds("text", "new\n");
    assert_int_equal(files(), 1);
}

TEST(what_cannot_be_written_is_told)
{
    must_fail(mc_cli_write("none/text", "x", 1, &why), MC_EFAIL, "none/text");
    must_fail(mc_cli_write(".", "x", 1, &why), MC_EFAIL, "");
    must_fail(mc_cli_write("/dev/full", "x", 1, &why), MC_EFAIL, "");
    put("/dev/null", "x");
}

/* ---- the table of options ---- */

struct group {
    double rate;
    int smooth;
};
struct options {
    struct mc_cli cli;
    struct group group;
    uint64_t n, most;
    int kind;
    double range[2];
    const char *text;
};

static const char *const kinds[] = {"one", "other", NULL};
static const struct mc_option rows[] = {
    {"n", 'n', MC_OPT_U64, MC_AT(n), .arg = "N", .min = 1, .max = 9, .def = "3", .only = 2},
    {"most", 0, MC_OPT_U64, MC_AT(most), .arg = "N", .max = UINT64_MAX, .flags = MC_OPT_IDENTITY},
    {"kind", 0, MC_OPT_CHOICE, MC_AT(kind), .names = kinds, .flags = MC_OPT_IDENTITY},
    {"range", 0, MC_OPT_RANGE, MC_AT(range), .arg = "R", .max = 1, .def = "0:.5",
     .needs = {"text"}},
    {"text", 0, MC_OPT_TEXT, MC_AT(text), .arg = "TEXT"},
    {0}};
static const struct mc_option shared[] = {
    {"rate", 0, MC_OPT_REAL, offsetof(struct group, rate), .arg = "X", .max = 1, .def = "1/4",
     .flags = MC_OPT_IDENTITY},
    {"rough", 0, MC_OPT_FLAG, offsetof(struct group, smooth), .saved = "smooth",
     .flags = MC_OPT_IDENTITY | MC_OPT_CLEARS},
    {0}};

/* A command line of so many words behind the program's name. */
static void parsed(struct options *o, int n, const char *const words[])
{
    char *argv[8] = {(char *)"mc-test"};

    for (int i = 0; i < n; i++)
        argv[i + 1] = (char *)words[i];
    *o = (struct options){0};
    mc_options_add(&o->cli, rows, o);
    mc_options_add(&o->cli, shared, &o->group);
    mc_option_default(&o->cli, &o->group.rate, "1/8");
    mc_cli_parse(&o->cli, "", "Purpose.\vExamples:\n", n + 1, argv);
    free(o->cli.operands);
}

TEST(a_row_is_all_of_an_option)
{
    struct mc_checkpoint s = {0};
    struct options o;
    const volatile uint64_t greatest = UINT64_MAX;
    const volatile long double limit = UINT64_MAX;

    if ((long double)greatest != limit)
        skip(); /* valgrind's long double, which a row's limits are, has 53 bits */
    parsed(&o, 0, NULL);
    assert_int_equal(o.n, 3);
    assert_int_equal(o.group.smooth, 1);
    assert_true(o.group.rate == .125 && o.range[1] == .5);
    assert_null(o.text);
    assert_null(mc_option_given(&o.cli, &o.n));
    assert_null(mc_option_idle(&o.cli, 1));

    parsed(
        &o, 5,
        (const char *const[]){"-n4", "--kind=other", "--rough", "--most", "18446744073709551615"});
    assert_int_equal(o.n, 4);
    assert_true(o.most == UINT64_MAX);
    assert_string_equal(mc_option_given(&o.cli, &o.n), "n");
    assert_string_equal(mc_option_idle(&o.cli, 1), "n");
    assert_null(mc_option_idle(&o.cli, 1 | 2));
    mc_options_save(&o.cli, &o, &s);
    mc_options_save(&o.cli, &o.group, &s);
    const char *const want[][2] = {
        {"most", "18446744073709551615"}, {"kind", "1"}, {"rate", "0.125"}, {"smooth", "0"}};
    assert_int_equal(s.n_settings, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(s.settings[i].name, want[i][0]);
        assert_string_equal(s.settings[i].value, want[i][1]);
    }
}

TEST(what_a_row_refuses_is_told)
{
    static const char *const cases[][2] = {
        {"--n=10", "--n: '10' is not a whole number from 1 to 9"},
        {"--rate=2", "--rate: '2' is not a number from 0 to 1"},
        {"--kind=neither", "--kind: there is no 'neither' (there are: one, other)"},
        {"--range=.5:.5", "--range: '.5:.5' does not grow"},
        {"--range=0:1", "--range has no effect without --text"},
        {"--none", "there is no option '--none'"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256] = "";
        int fd[2], status = 0;
        assert_int_equal(pipe(fd), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            struct options o;
            dup2(fd[1], STDERR_FILENO);
            parsed(&o, 1, cases[i]);
            _exit(0);
        }
        close(fd[1]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(read(fd[0], text, sizeof text - 1) >= 0);
        close(fd[0]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
        if (!strstr(text, cases[i][1]))
            fail_msg("%s: %s", cases[i][0], text);
    }
}

int main(void)
{
    return run_entered(enter_folder, leave);
}
