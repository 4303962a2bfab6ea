/* SPDX-License-Identifier: Apache-2.0
 *
 * The writer refuses wrong use. Files appear whole or not at all, even if their writer is killed. A
 * failing system call is an error that names the file. */
#include "formats/stream/output.h"
#include "formats/stream/writer.h"
#include "tests/unit/formats/stream/small.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

TEST(wrong_use_of_the_writer_is_refused)
{
    struct mc_tensor t = mc_tensor_make("x", MC_F32, 1, (uint64_t[]){4});
    struct mc_tensor wide = mc_tensor_make("x", MC_F32, 2, (uint64_t[]){1, 9 << 20});
    struct mc_tensor twins[2] = {t, t};
    float data[4] = {0};
    struct mc_writer *w = NULL;
    const char *path = "no.mcz";

    must(mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why));
    must(mc_writer_rows(w, 0, 3, data, &why));
    must_fail(mc_writer_close(w, 0, NULL, &why), MC_EUSAGE, ""); /* incomplete */
    must(mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why));
    must(mc_writer_rows(w, 0, 3, data, &why));
    must_fail(mc_writer_rows(w, 0, 2, data, &why), MC_EUSAGE, "");
    must_fail(mc_writer_rows(w, 0, 1, data, &why), MC_EUSAGE, ""); /* errors are sticky */
    assert_int_equal(mc_writer_rows(w, 0, 1, data, NULL), MC_EUSAGE);
    must_fail(mc_writer_close(w, 0, NULL, &why), MC_EUSAGE, "");
    must(mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why));
    must_fail(mc_writer_tensor(w, 1, data, &why), MC_EUSAGE, "more rows than announced");
    assert_int_equal(mc_writer_close(w, 0, NULL, NULL), MC_EUSAGE);
    must(mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why));
    assert_int_equal(mc_writer_rows(w, 1, 1, data, NULL), MC_EUSAGE);
    assert_int_equal(mc_writer_close(w, MC_EUSAGE, NULL, NULL), MC_EUSAGE);
    must_fail(mc_writer_open(&w, path, &(struct mc_header){"Bad kind", NULL, &t, 1}, NULL, &why),
              MC_EUSAGE, "");
    must_fail(mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &wide, 1}, NULL, &why),
              MC_EINPUT, "");
    must_fail(mc_writer_open(&w, path, &(struct mc_header){"test", NULL, twins, 2}, NULL, &why),
              MC_EINPUT, "");
    assert_int_equal(access(path, F_OK), -1);
}

/* Number of temporary files of NAME in the folder. */
static int temporaries(const char *name)
{
    char command[512];

    snprintf(command, sizeof command, "test -z \"$(ls -A | grep -F '.%s.')\"", name);
    return system(command) != 0;
}

TEST(files_are_replaced_whole)
{
    unsigned char a[4096], b[4096];
    struct mc_writer *w = NULL;
    struct mc_tensor t = mc_tensor_make("x", MC_F32, 1, (uint64_t[]){4});
    char dead[256];
    struct stat st;
    size_t n = 0;
    int status = 0;
    const char *path = "keep.mcz";

    write_small(path, NULL, 1, NULL);
    assert_int_equal(chmod(path, 0640), 0);
    n = slurp(path, a, sizeof a);
    /* after an error of the caller, which stays in the record: the old file is unchanged, the
     * temporary file is removed */
    must(mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why));
    assert_true(temporaries("keep.mcz"));
    must_fail(mc_writer_close(w, mc_fail(&why, MC_EINPUT, "bad input"), NULL, &why), MC_EINPUT,
              "bad input");
    assert_false(temporaries("keep.mcz"));
    assert_int_equal(slurp(path, b, sizeof b), n);
    assert_memory_equal(a, b, n);
    /* killed by SIGTERM: likewise */
    pid_t child = fork();
    if (!child) {
        mc_stream_catch_signals();
        if (!mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why))
            raise(SIGTERM);
        _exit(9);
    }
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_false(temporaries("keep.mcz"));
    assert_int_equal(slurp(path, b, sizeof b), n);
    assert_memory_equal(a, b, n);
    /* killed by SIGKILL: its temporary file remains until the next run */
    child = fork();
    if (!child) {
        if (!mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why))
            raise(SIGKILL);
        _exit(9);
    }
    waitpid(child, &status, 0);
    assert_true(temporaries("keep.mcz"));
    /* a live process's file stays, because it is locked; a number alone, such as our parent's, may
     * be reused */
    snprintf(dead, sizeof dead, ".keep.mcz.%ld.mcz-tmp", (long)getppid());
    int fd = open(dead, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0 && !flock(fd, LOCK_EX));
    write_small(path, NULL, 2, NULL);
    assert_int_equal(access(dead, F_OK), 0);
    close(fd);
    write_small(path, NULL, 2, NULL);
    assert_false(temporaries("keep.mcz"));
    /* a zombie is dead too, although its number is in use */
    child = fork();
    if (!child) {
        if (!mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why))
            raise(SIGKILL);
        _exit(9);
    }
    assert_int_equal(waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
    assert_true(temporaries("keep.mcz"));
    write_small(path, NULL, 2, NULL);
    assert_false(temporaries("keep.mcz"));
    waitpid(child, &status, 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    /* a link is followed */
    assert_int_equal(symlink("keep.mcz", "link.mcz"), 0);
    write_small("link.mcz", NULL, 3, NULL);
    assert_int_equal(lstat("link.mcz", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    /* two outputs for the same file would lose one */
    must(mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why));
    struct mc_writer *second = NULL;
    must_fail(mc_writer_open(&second, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why),
              MC_EUSAGE, "");
    assert_int_equal(mc_writer_close(w, MC_EUSAGE, NULL, &why), MC_EUSAGE);
    assert_false(temporaries("keep.mcz"));
}

TEST(missing_descriptors_have_their_own_error)
{
    struct mc_writer *w = NULL;
    struct mc_tensor t = mc_tensor_make("x", MC_F32, 1, (uint64_t[]){4});
    struct rlimit before, none;
    int fd = dup(0);

    assert_true(fd >= 0 && !close(fd) && !getrlimit(RLIMIT_NOFILE, &before));
    none = (struct rlimit){(rlim_t)fd, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int rc = mc_writer_open(&w, "many.mcz", &(struct mc_header){"test", NULL, &t, 1}, NULL, &why);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(rc, MC_EFAIL);
    must_say("create*'many.mcz': Too many open files");
}

TEST(full_disk_is_an_error)
{
    struct mc_writer *w = NULL;
    struct mc_tensor t = mc_tensor_make("x", MC_F32, 1, (uint64_t[]){4});
    float data[4] = {0};
    int rc = 0;

    must(mc_writer_open(&w, "/dev/full", &(struct mc_header){"test", NULL, &t, 1}, NULL, &why));
    forget();
    rc = mc_writer_tensor(w, 0, data, &why);
    rc = mc_writer_close(w, rc, NULL, &why);
    assert_int_equal(rc, MC_EFAIL);
    must_say("write*'/dev/full': No space left");
    must_fail(mc_writer_open(&w, "no/such/x", &(struct mc_header){"test", NULL, &t, 1}, NULL, &why),
              MC_EFAIL, "");
    must_fail(mc_writer_open(&w, ".", &(struct mc_header){"test", NULL, &t, 1}, NULL, &why),
              MC_EFAIL, "");
}

int main(void)
{
    return run_entered(enter_folder, remove_all);
}
