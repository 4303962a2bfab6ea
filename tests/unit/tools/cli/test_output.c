/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts written to files: complete or not at all, through symbolic links, with the file's old mode,
 * and without temporary files if a signal arrives at the last moment. The table of options:
 * defaults, given options, settings of a checkpoint, refused values. */
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

/* Replaces the C library's fsync: called when the text is written but not yet renamed, and when its
 * folder is flushed. */
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

static void expect_text(const char *path, const char *expected)
{
    char text[64] = "";
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0 && read(fd, text, sizeof text - 1) >= 0);
    close(fd);
    assert_string_equal(text, expected);
}

static size_t count_files(void)
{
    DIR *d = opendir(".");
    size_t n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

TEST(text_keeps_links_and_modes)
{
    struct stat st;

    put("text", "one\n");
    expect_text("text", "one\n");
    assert_int_equal(chmod("text", 0600), 0);
    assert_int_equal(symlink("text", "link"), 0);
    put("link", "two\n");
    expect_text("text", "two\n");
    assert_int_equal(lstat("link", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat("text", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(count_files(), 2);
    remove("link");
}

TEST(interrupt_before_rename_keeps_the_old_text)
{
    int status = 0;

    put("text", "old\n");
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        signal(SIGINT, SIG_DFL); /* a shell may have ignored it */
        mc_stream_catch_signals();
        interrupted = 1;
        _exit(mc_cli_write("text", "new\n", 4, &why) ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    expect_text("text", "old\n");
    assert_int_equal(count_files(), 1);
}

TEST(failed_flush_of_the_folder_is_reported_after_writing)
{
    put("text", "old\n");
    folder_fails = 1;
    int rc = mc_cli_write("text", "new\n", 4, &why);
    folder_fails = 0;
    assert_int_equal(rc, MC_EFAIL);
    must_say("'text' is written*loss of power*Input/output error");
    expect_text("text", "new\n");
    assert_int_equal(count_files(), 1);
}

TEST(write_errors_are_reported)
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
    uint64_t n, limit;
    int kind;
    double range[2];
    const char *text;
};

static const char *const kinds[] = {"one", "other", NULL};
static const struct mc_option rows[] = {
    {"n", 'n', MC_OPT_U64, MC_AT(n), .arg = "N", .min = 1, .max = 9, .def = "3", .only = 2},
    {"limit", 0, MC_OPT_U64, MC_AT(limit), .arg = "N", .max = UINT64_MAX, .flags = MC_OPT_IDENTITY},
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

/* Parses a command line of n words after the program's name. */
static void parse(struct options *o, int n, const char *const words[])
{
    char *argv[8] = {(char *)"mc-test"};

    for (int i = 0; i < n; i++)
        argv[i + 1] = (char *)words[i];
    *o = (struct options){.cli.tool = "mc-test"};
    mc_options_add(&o->cli, rows, o);
    mc_options_add(&o->cli, shared, &o->group);
    mc_option_default(&o->cli, &o->group.rate, "1/8");
    mc_cli_parse(&o->cli, "", "Purpose.\vExamples:\n", n + 1, argv);
    free(o->cli.operands);
}

TEST(row_defines_an_option_completely)
{
    struct mc_checkpoint s = {0};
    struct options o;
    const volatile uint64_t max = UINT64_MAX;
    const volatile long double row_max = UINT64_MAX;

    if ((long double)max != row_max)
        skip(); /* valgrind's long double, the type of a row's limits, has 53 bits */
    parse(&o, 0, NULL);
    assert_int_equal(o.n, 3);
    assert_int_equal(o.group.smooth, 1);
    assert_true(o.group.rate == .125 && o.range[1] == .5);
    assert_null(o.text);
    assert_null(mc_option_given(&o.cli, &o.n));
    assert_null(mc_option_idle(&o.cli, 1));

    parse(
        &o, 5,
        (const char *const[]){"-n4", "--kind=other", "--rough", "--limit", "18446744073709551615"});
    assert_int_equal(o.n, 4);
    assert_true(o.limit == UINT64_MAX);
    assert_string_equal(mc_option_given(&o.cli, &o.n), "n");
    assert_string_equal(mc_option_idle(&o.cli, 1), "n");
    assert_null(mc_option_idle(&o.cli, 1 | 2));
    mc_options_save(&o.cli, &o, &s);
    mc_options_save(&o.cli, &o.group, &s);
    const char *const expected[][2] = {
        {"limit", "18446744073709551615"}, {"kind", "1"}, {"rate", "0.125"}, {"smooth", "0"}};
    assert_int_equal(s.n_settings, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(s.settings[i].name, expected[i][0]);
        assert_string_equal(s.settings[i].value, expected[i][1]);
    }
}

TEST(refused_values_are_reported)
{
    static const char *const cases[][2] = {
        {"--n=10", "--n: '10' is not a whole number from 1 to 9"},
        {"--rate=2", "--rate: '2' is not a number from 0 to 1"},
        {"--kind=neither", "--kind: unknown value 'neither' (one of: one, other)"},
        {"--range=.5:.5", "--range: FROM must be less than TO (got '.5:.5')"},
        {"--range=0:1", "--range has no effect without --text"},
        {"--none", "unknown option '--none'"},
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
            parse(&o, 1, cases[i]);
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
