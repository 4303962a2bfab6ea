/* SPDX-License-Identifier: Apache-2.0
 *
 * Valid and invalid places of an output, the temporary files that are removed, and their maximum
 * number. */
#include "formats/stream/output.h"
#include "tests/unit/must.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

static int there(const char *name)
{
    return access(name, F_OK) == 0;
}

static void touch(const char *name)
{
    FILE *f = fopen(name, "w");

    assert_non_null(f);
    fclose(f);
}

TEST(invalid_places_are_refused)
{
    static char longest[PATH_MAX + 1], far[PATH_MAX - 100], way[300];
    struct mc_output *o = NULL;

    memset(longest, 'x', sizeof longest - 1);
    must_fail(mc_output_open(&o, "", MC_OUTPUT_TEXT, &why), MC_EFAIL, "cannot create ''");
    must_fail(mc_output_open(&o, "none/", MC_OUTPUT_TEXT, &why), MC_EFAIL, "cannot create 'none/'");
    must_fail(mc_output_open(&o, "none/x", MC_OUTPUT_TEXT, &why), MC_EFAIL, strerror(ENOENT));
    must_fail(mc_output_open(&o, "/none/x", MC_OUTPUT_TEXT, &why), MC_EFAIL, strerror(ENOENT));
    must_fail(mc_output_open(&o, "/", MC_OUTPUT_TEXT, &why), MC_EFAIL, strerror(EISDIR));
    must_fail(mc_output_open(&o, longest, MC_OUTPUT_TEXT, &why), MC_EFAIL, "cannot create 'xxx");
    longest[300] = 0; /* a name too long for any file system */
    must_fail(mc_output_open(&o, longest, MC_OUTPUT_TEXT, &why), MC_EFAIL, strerror(ENAMETOOLONG));
    must_fail(mc_output_open(&o, "/proc/self/fd/999", MC_OUTPUT_TEXT, &why), MC_EFAIL,
              "cannot open '/proc/self/fd/999'");
    must_fail(mc_output_open(&o, "/proc/self/fd/99999999999", MC_OUTPUT_TEXT, &why), MC_EFAIL, "");
    must_fail(mc_output_open(&o, "/proc/self/fd/1x", MC_OUTPUT_TEXT, &why), MC_EFAIL, "");
    /* a link to a path that is too long */
    assert_int_equal(mkdir("d", 0700), 0);
    memset(far, 'x', sizeof far - 1);
    assert_int_equal(symlink(far, "d/link"), 0);
    for (int i = 0; i < 40; i++)
        strcat(way, "d/../");
    strcat(way, "d/link");
    must_fail(mc_output_open(&o, way, MC_OUTPUT_TEXT, &why), MC_EFAIL, strerror(ENAMETOOLONG));
    assert_true(!unlink("d/link") && !rmdir("d"));
    assert_int_equal(symlink("loop", "loop"), 0);
    must_fail(mc_output_open(&o, "loop", MC_OUTPUT_TEXT, &why), MC_EFAIL, strerror(ELOOP));
}

TEST(terminal_gets_only_text)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    struct mc_output *o = NULL;

    if (master < 0 || grantpt(master) || unlockpt(master))
        skip(); /* not available here */
    must_fail(mc_output_open(&o, ptsname(master), MC_OUTPUT_BINARY, &why), MC_EUSAGE,
              "binary stream*terminal");
    must(mc_output_open(&o, ptsname(master), MC_OUTPUT_TEXT, &why));
    must(mc_output_write(o, "x", 1, &why));
    must(mc_output_close(o, 0, &why));
    close(master);
}

TEST(only_temporaries_of_this_output_go)
{
    static const char *const stay[] = {".t.1234567890.mcz-tmp.old", ".t.12x.mcz-tmp",
                                       ".t.x.mcz-tmp", ".other.2147483646.mcz-tmp", "t.1.mcz-tmp"};
    static const char *const go[] = {".t.2147483646.mcz-tmp", ".t.0.mcz-tmp",
                                     ".t.99999999999.mcz-tmp"};
    struct mc_output *o = NULL;

    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        touch(stay[i]);
    for (size_t i = 0; i < sizeof go / sizeof *go; i++)
        touch(go[i]);
    /* one with a writer, and one that is not a file */
    touch(".t.1.mcz-tmp");
    const int writer = open(".t.1.mcz-tmp", O_RDWR | O_CLOEXEC);
    assert_true(writer >= 0 && !flock(writer, LOCK_EX));
    assert_int_equal(symlink("t", ".t.2.mcz-tmp"), 0);
    must(mc_output_open(&o, "t", MC_OUTPUT_TEXT, &why));
    must(mc_output_close(o, 0, &why));
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        assert_true(there(stay[i]));
    for (size_t i = 0; i < sizeof go / sizeof *go; i++)
        assert_false(there(go[i]));
    assert_true(there(".t.1.mcz-tmp") && there(".t.2.mcz-tmp"));
    close(writer);
}

TEST(sixteen_outputs_may_be_open_and_each_once)
{
    struct mc_output *o[17] = {NULL};
    char name[32];

    for (int i = 0; i < 16; i++) {
        snprintf(name, sizeof name, "o%d", i);
        must(mc_output_open(&o[i], name, MC_OUTPUT_TEXT, &why));
    }
    must_fail(mc_output_open(&o[16], "o16", MC_OUTPUT_TEXT, &why), MC_EFAIL,
              "more*16 outputs*once");
    assert_int_equal(mc_output_close(o[3], MC_EUSAGE, &why), MC_EUSAGE);
    must_fail(mc_output_open(&o[3], "o5", MC_OUTPUT_TEXT, &why), MC_EUSAGE,
              "'o5'*already being written");
    must(mc_output_open(&o[3], "o3", MC_OUTPUT_TEXT, &why));
    mc_stream_remove_temporaries(); /* as at a signal: all open outputs are removed */
    for (int i = 0; i < 16; i++) {
        must_fail(mc_output_close(o[i], 0, &why), MC_EFAIL, "cannot write 'o");
        snprintf(name, sizeof name, "o%d", i);
        assert_false(there(name));
    }
}

static int leave_all(void **state)
{
    return system("rm -f ./* ./.??*") || leave_folder(state);
}

int main(void)
{
    return run_entered(enter_folder, leave_all);
}
