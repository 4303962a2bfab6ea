/* SPDX-License-Identifier: Apache-2.0
 *
 * What is written is read again bit for bit; the same calls write the same bytes; ids, histories
 * and inputs are what streams.md promises; files appear whole or not at all. */
#include "formats/stream/history.h"
#include "formats/stream/pack.h"
#include "formats/stream/reader.h"
#include "formats/stream/output.h"
#include "formats/stream/writer.h"
#include "tests/unit/must.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
static size_t slurp(const char *path, unsigned char *buf, size_t size)
{
    FILE *f = fopen(path, "rb");
    size_t n = 0;

    assert_non_null(f);
    n = fread(buf, 1, size, f);
    assert_true(n < size);
    fclose(f);
    return n;
}

/* A stream of one float tensor, {k: v} as meta. */
static void write_small(const char *path, const struct mc_history *h, float value, char *id)
{
    struct mc_writer *w = NULL;
    struct mc_tensor t = mc_tensor_make("x", MC_F32, 2, (uint64_t[]){2, 3});
    float data[6] = {value, 1, 2, 3, 4, 5};
    struct mc_pack meta;

    mc_pack_init(&meta);
    mc_pack_map(&meta, 1);
    mc_pack_str(&meta, "k");
    mc_pack_str(&meta, "v");
    must(mc_writer_open(&w, path, &(struct mc_header){"test", &meta, &t, 1}, h, &why));
    must(mc_writer_tensor(w, 0, data, &why));
    must(mc_writer_close(w, id, &why));
    mc_pack_release(&meta);
}

TEST(every_dtype_and_shape_survives)
{
    /* payload of NaN, -0, denormal, infinity: as bits */
    static const uint32_t f32[] = {0x7fc12345, 0xffa00001, 0x80000000, 1, 0x7f800000, 0x3f800000};
    static const uint64_t f64[] = {0x7ff8000000abcdef, 0xfff0000000000001, 1ull << 63};
    static const uint16_t half[] = {0x7e01, 0xfc00, 0x8000, 0x0001};
    static const int64_t i64[] = {INT64_MIN, -1, INT64_MAX};
    static const int32_t i32[] = {INT32_MIN, INT32_MAX};
    static const uint8_t u8[] = {0, 255, 7};
    struct mc_tensor t[9];
    const void *data[9] = {f32, f64, half, half, i64, i32, u8, NULL, NULL};
    struct mc_writer *w = NULL;
    struct mc_reader *r = NULL;
    struct mc_pack meta;
    char id[MC_ID_LEN];
    void *back[9];

    t[0] = mc_tensor_make("float32", MC_F32, 3, (uint64_t[]){3, 1, 2});
    t[1] = mc_tensor_make("float64", MC_F64, 1, (uint64_t[]){3});
    t[2] = mc_tensor_make("float16", MC_F16, 2, (uint64_t[]){1, 4});
    t[3] = mc_tensor_make("bfloat16", MC_BF16, 2, (uint64_t[]){4, 1});
    t[4] = mc_tensor_make("int64", MC_I64, 1, (uint64_t[]){3});
    t[5] = mc_tensor_make("int32", MC_I32, 1, (uint64_t[]){2});
    t[6] = mc_tensor_make("scalar \xc3\xa9", MC_U8, 0, NULL);
    t[7] = mc_tensor_make("none", MC_F32, 2, (uint64_t[]){0, 5});
    t[8] = mc_tensor_make("thin", MC_F32, 3, (uint64_t[]){3, 0, (uint64_t)1 << 40});
    mc_pack_init(&meta);
    mc_pack_map(&meta, 2);
    mc_pack_str(&meta, "pi");
    mc_pack_f64(&meta, 3.25);
    mc_pack_str(&meta, "minus");
    mc_pack_i64(&meta, -5);
    must(mc_writer_open(&w, "all.mcz", &(struct mc_header){"test", &meta, t, 9}, NULL, &why));
    mc_pack_release(&meta);
    for (size_t i = 9; i-- > 0;)
        must(mc_writer_tensor(w, i, data[i], &why));
    must(mc_writer_close(w, id, &why));

    must(mc_reader_open(&r, "all.mcz", &why));
    assert_string_equal(mc_reader_kind(r), "test");
    must(mc_reader_expect(r, "test", &why));
    must_fail(mc_reader_expect(r, "weights", &why), MC_EINPUT,
              "all.mcz: is a test stream, not weights");
    double pi = 0;
    must(mc_get_f64(mc_reader_meta(r), "pi", &pi, &why));
    assert_true(pi == 3.25);
    must(mc_get_f64(mc_reader_meta(r), "minus", &pi, &why));
    assert_true(pi == -5);
    assert_int_equal(mc_reader_n_tensors(r), 9);
    assert_int_equal(mc_reader_find(r, "none"), 7);
    assert_int_equal(mc_reader_find(r, "nothing"), -1);
    for (size_t i = 0; i < 9; i++) {
        assert_memory_equal(mc_reader_tensor(r, i), &t[i], sizeof t[i]);
        back[i] = malloc(mc_tensor_bytes(&t[i]) + 1);
        assert_non_null(back[i]);
    }
    assert_string_equal(mc_reader_id(r), "");
    must(mc_reader_rest(r, back, &why));
    assert_string_equal(mc_reader_id(r), id);
    assert_int_equal(mc_reader_records(r), 7);
    for (size_t i = 0; i < 9; i++) {
        if (mc_tensor_bytes(&t[i]))
            assert_memory_equal(back[i], data[i], mc_tensor_bytes(&t[i]));
        free(back[i]);
    }
    mc_reader_close(r);
}

TEST(rows_may_interleave_and_large_tensors_are_cut)
{
    enum { ROW = 3 << 20, ROWS = 23 }; /* 69 MiB in rows that do not divide 32 MiB */
    struct mc_tensor t[2] = {mc_tensor_make("big", MC_U8, 2, (uint64_t[]){ROWS, ROW}),
                             mc_tensor_make("small", MC_I32, 1, (uint64_t[]){ROWS})};
    unsigned char *data = malloc(ROW);
    struct mc_writer *w = NULL;
    struct mc_reader *r = NULL;
    struct mc_record rec;
    uint64_t seen[2] = {0, 0};
    int rc = 0;

    assert_non_null(data);
    must(mc_writer_open(&w, "big.mcz", &(struct mc_header){"test", NULL, t, 2}, NULL, &why));
    for (int32_t i = 0; i < ROWS; i++) {
        memset(data, i, ROW);
        must(mc_writer_rows(w, 0, 1, data, &why));
        must(mc_writer_rows(w, 1, 1, &i, &why));
    }
    must(mc_writer_close(w, NULL, &why));
    must(mc_reader_open(&r, "big.mcz", &why));
    while ((rc = mc_reader_next(r, &rec, &why)) > 0) {
        assert_int_equal(rec.row, seen[rec.index]);
        assert_int_equal((uintptr_t)rec.data % 64, 0);
        if (rec.index == 0)
            assert_int_equal(((const unsigned char *)rec.data)[rec.bytes - 1], rec.row);
        else
            assert_int_equal(*(const int32_t *)rec.data, rec.row);
        seen[rec.index] += rec.rows;
    }
    must(rc);
    assert_true(seen[0] == ROWS && seen[1] == ROWS);
    mc_reader_close(r);

    /* one call: the writer cuts at 32 MiB */
    unsigned char *all = calloc(ROWS, ROW), *back = malloc((size_t)ROWS * ROW);
    assert_non_null(all);
    assert_non_null(back);
    for (size_t i = 0; i < (size_t)ROWS * ROW; i += 4093)
        all[i] = (unsigned char)(i * 2654435761u >> 13);
    must(mc_writer_open(&w, "big.mcz", &(struct mc_header){"test", NULL, t, 1}, NULL, &why));
    must(mc_writer_tensor(w, 0, all, &why));
    must(mc_writer_close(w, NULL, &why));
    must(mc_reader_open(&r, "big.mcz", &why));
    void *dst[1] = {back};
    must(mc_reader_rest(r, dst, &why));
    assert_int_equal(mc_reader_records(r), 3); /* 10 rows, 10 rows, 3 rows */
    assert_memory_equal(all, back, (size_t)ROWS * ROW);
    mc_reader_close(r);
    free(all);
    free(back);
    free(data);
}

TEST(pipe_and_file_get_the_same_bytes)
{
    unsigned char a[4096], b[4096];
    char id[MC_ID_LEN], again[MC_ID_LEN];
    size_t na = 0, nb = 0;
    int p[2];

    write_small("file.mcz", NULL, 7, id);
    na = slurp("file.mcz", a, sizeof a);
    assert_int_equal(pipe(p), 0);
    char fd[64];
    snprintf(fd, sizeof fd, "/proc/self/fd/%d", p[1]);
    write_small(fd, NULL, 7, again);
    close(p[1]);
    for (ssize_t k; (k = read(p[0], b + nb, sizeof b - nb)) > 0;)
        nb += (size_t)k;
    close(p[0]);
    assert_int_equal(na, nb);
    assert_memory_equal(a, b, na);
    assert_string_equal(id, again);
}

TEST(short_reads_from_a_pipe_make_no_difference)
{
    unsigned char a[4096];
    struct mc_reader *r = NULL;
    char fd[64], id[MC_ID_LEN];
    size_t n = 0;
    int p[2], status = 0;

    write_small("file.mcz", NULL, 7, id);
    n = slurp("file.mcz", a, sizeof a);
    assert_int_equal(pipe(p), 0);
    pid_t child = fork();
    if (!child) {
        close(p[0]);
        for (size_t i = 0; i < n; i++)
            if (write(p[1], a + i, 1) != 1)
                _exit(1);
        _exit(0);
    }
    close(p[1]);
    snprintf(fd, sizeof fd, "/proc/self/fd/%d", p[0]);
    must(mc_reader_open(&r, fd, &why));
    must(mc_reader_rest(r, NULL, &why));
    assert_string_equal(mc_reader_id(r), id);
    mc_reader_close(r);
    close(p[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static struct mc_history *history_of(const char *tool, int64_t seed, size_t n,
                                     const char *const *inputs)
{
    struct mc_history *h = mc_history_new(tool);

    assert_non_null(h);
    mc_history_int(h, "seed", seed);
    for (size_t i = 0; i < n; i++) {
        struct mc_reader *r = NULL;
        must(mc_reader_open(&r, inputs[i], &why));
        mc_history_input(h, r);
        must(mc_reader_rest(r, NULL, &why));
        mc_reader_close(r);
    }
    return h;
}

TEST(a_merge_keeps_every_parent_once)
{
    char paths[4][256], id[4][MC_ID_LEN];
    const char *p[4];
    struct mc_history *h = NULL;
    struct mc_reader *r = NULL;

    for (int i = 0; i < 4; i++) {
        snprintf(paths[i], sizeof paths[i], "h%d.mcz", i);
        p[i] = paths[i];
    }
    /* data -> a, data -> b, (a, b) -> c: a diamond */
    h = history_of("mc-data", 0, 0, NULL);
    write_small(p[0], h, 0, id[0]);
    mc_history_free(h);
    for (int i = 1; i < 3; i++) {
        h = history_of("mc-train", i, 1, p);
        write_small(p[i], h, (float)i, id[i]);
        mc_history_free(h);
    }
    h = history_of("mc-acts", 9, 2, p + 1);
    mc_history_num(h, "x", 0.5);
    mc_history_str(h, "at", "post");
    write_small(p[3], h, 3, id[3]);
    must(mc_reader_open(&r, p[3], &why));
    const msgpack_object *list = mc_reader_history(r), *parents = NULL, *args = NULL;
    char tool[32];
    assert_int_equal(list->via.array.size, 4);
    must(mc_get_str(&list->via.array.ptr[3], "tool", tool, sizeof tool, &why));
    assert_string_equal(tool, "mc-acts");
    must(mc_get_array(&list->via.array.ptr[3], "parents", &parents, &why));
    assert_int_equal(parents->via.array.size, 2);
    assert_int_equal(parents->via.array.ptr[0].via.u64, 1);
    assert_int_equal(parents->via.array.ptr[1].via.u64, 2);
    must(mc_get_array(&list->via.array.ptr[3], "args", &args, &why));
    assert_int_equal(args->via.array.size, 3);
    must(mc_reader_rest(r, NULL, &why));
    assert_int_equal(mc_reader_n_inputs(r), 2);
    assert_string_equal(mc_reader_input(r, 0), id[1]);
    assert_string_equal(mc_reader_input(r, 1), id[2]);
    mc_reader_close(r);

    /* hidden, it changes neither the id nor the inputs */
    char hidden_id[MC_ID_LEN];
    mc_history_hide(h);
    write_small(p[3], h, 3, hidden_id);
    mc_history_free(h);
    assert_string_equal(hidden_id, id[3]);
    must(mc_reader_open(&r, p[3], &why));
    assert_int_equal(mc_reader_history(r)->via.array.size, 0);
    must(mc_reader_rest(r, NULL, &why));
    assert_int_equal(mc_reader_n_inputs(r), 2);
    mc_reader_close(r);
}

/* One entry more, of `tool`, at the end of the history of x.mcz, with these arguments. */
static void and_then(const char *tool, const char *a, const char *b)
{
    struct mc_history *h = history_of(tool, 1, 1, (const char *[]){"x.mcz"});

    if (a)
        mc_history_str(h, "a", a);
    if (b)
        mc_history_str(h, "b", b);
    write_small("x.mcz", h, 1, NULL);
    mc_history_free(h);
}

static int pair_of(char pair[2][MC_ID_LEN])
{
    struct mc_reader *r = NULL;

    must(mc_reader_open(&r, "x.mcz", &why));
    const int found = mc_history_pair(mc_reader_history(r), pair);
    mc_reader_close(r);
    return found;
}

TEST(a_pair_is_found_behind_what_was_made_of_its_moments)
{
    static const char a[] = "0123456789abcdef0123456789abcdef",
                      b[] = "fedcba9876543210fedcba9876543210";
    char pair[2][MC_ID_LEN];
    struct mc_history *h = history_of("mc-acts", 1, 0, NULL);

    mc_history_set_pair(h, a, b);
    write_small("x.mcz", h, 0, NULL);
    mc_history_free(h);
    assert_true(pair_of(pair));
    and_then("mc-corr", NULL, NULL);
    and_then("mc-hungarian", a, "too short"); /* which no id is, so they are none */
    assert_true(pair_of(pair));
    assert_string_equal(pair[0], a);
    assert_string_equal(pair[1], b);
    and_then("mc-hungarian", b, a); /* the nearest counts */
    assert_true(pair_of(pair));
    assert_string_equal(pair[0], b);
    and_then("mc-permute", NULL, NULL); /* which makes another of it */
    assert_false(pair_of(pair));
    assert_string_equal(pair[0], "");
    assert_string_equal(pair[1], "");
    h = history_of("mc-corr", 1, 0, NULL); /* of nothing */
    write_small("x.mcz", h, 0, NULL);
    mc_history_free(h);
    assert_false(pair_of(pair));
    h = mc_history_new("mc-acts");
    mc_history_hide(h);
    write_small("x.mcz", h, 0, NULL);
    mc_history_free(h);
    assert_false(pair_of(pair));
}

TEST(an_input_that_was_not_read_through_fails_the_output)
{
    struct mc_reader *r = NULL;
    struct mc_writer *w = NULL;
    struct mc_history *h = mc_history_new("mc-x");

    write_small("in.mcz", NULL, 1, NULL);
    must(mc_reader_open(&r, "in.mcz", &why));
    mc_history_input(h, r);
    must(mc_writer_open(&w, "out.mcz", &(struct mc_header){"test", NULL, NULL, 0}, h, &why));
    must_fail(mc_writer_close(w, NULL, &why), MC_EUSAGE, "");
    assert_int_equal(access("out.mcz", F_OK), -1);
    /* its end may come while the output is open already, the reader may be closed before it */
    must(mc_writer_open(&w, "out.mcz", &(struct mc_header){"test", NULL, NULL, 0}, h, &why));
    must(mc_reader_rest(r, NULL, &why));
    mc_reader_close(r);
    must(mc_writer_close(w, NULL, &why));
    assert_int_equal(access("out.mcz", F_OK), 0);
    mc_history_free(h);
}

TEST(another_value_is_another_id)
{
    char a[MC_ID_LEN], b[MC_ID_LEN];

    write_small("x.mcz", NULL, 0.0f, a);
    write_small("x.mcz", NULL, -0.0f, b);
    assert_string_not_equal(a, b);
}

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
    must_fail(mc_writer_close(w, NULL, &why), MC_EUSAGE, ""); /* incomplete */
    must(mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why));
    must(mc_writer_rows(w, 0, 3, data, &why));
    must_fail(mc_writer_rows(w, 0, 2, data, &why), MC_EUSAGE, "");
    must_fail(mc_writer_rows(w, 0, 1, data, &why), MC_EUSAGE, ""); /* errors are sticky */
    assert_int_equal(mc_writer_rows(w, 0, 1, data, NULL), MC_EUSAGE);
    must_fail(mc_writer_close(w, NULL, &why), MC_EUSAGE, "");
    must(mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why));
    must_fail(mc_writer_tensor(w, 1, data, &why), MC_EUSAGE, "more rows than announced");
    assert_int_equal(mc_writer_close(w, NULL, NULL), MC_EUSAGE);
    must(mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why));
    assert_int_equal(mc_writer_rows(w, 1, 1, data, NULL), MC_EUSAGE);
    mc_writer_abandon(w);
    must_fail(mc_writer_open(&w, path, &(struct mc_header){"Bad kind", NULL, &t, 1}, NULL, &why),
              MC_EUSAGE, "");
    must_fail(mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &wide, 1}, NULL, &why),
              MC_EUSAGE, "");
    must_fail(mc_writer_open(&w, path, &(struct mc_header){"test", NULL, twins, 2}, NULL, &why),
              MC_EUSAGE, "");
    assert_int_equal(access(path, F_OK), -1);
}

/* Names in the folder that are temporaries of NAME. */
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
    /* abandoned: the old file stays, no temporary does */
    must(mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why));
    assert_true(temporaries("keep.mcz"));
    mc_writer_abandon(w);
    assert_false(temporaries("keep.mcz"));
    assert_int_equal(slurp(path, b, sizeof b), n);
    assert_memory_equal(a, b, n);
    /* killed by SIGTERM in the middle: likewise */
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
    /* killed by SIGKILL: its temporary stays until the next run */
    child = fork();
    if (!child) {
        if (!mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why))
            raise(SIGKILL);
        _exit(9);
    }
    waitpid(child, &status, 0);
    assert_true(temporaries("keep.mcz"));
    /* that of a live process does not go, which its lock says; a number alone, as our parent's,
     * may have been another's */
    snprintf(dead, sizeof dead, ".keep.mcz.%ld.mcz-tmp", (long)getppid());
    int fd = open(dead, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0 && !flock(fd, LOCK_EX));
    write_small(path, NULL, 2, NULL);
    assert_int_equal(access(dead, F_OK), 0);
    close(fd);
    write_small(path, NULL, 2, NULL);
    assert_false(temporaries("keep.mcz"));
    /* one that nobody waits for is as dead, while its number is taken */
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
    /* two at once for the same file would lose one */
    must(mc_writer_open(&w, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why));
    struct mc_writer *second = NULL;
    must_fail(mc_writer_open(&second, path, &(struct mc_header){"test", NULL, &t, 1}, NULL, &why),
              MC_EUSAGE, "");
    mc_writer_abandon(w);
    assert_false(temporaries("keep.mcz"));
}

TEST(no_more_descriptors_is_an_error_of_its_own)
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
    assert_string_equal(why.text, "cannot create 'many.mcz': Too many open files");
}

TEST(a_full_disk_is_an_error)
{
    struct mc_writer *w = NULL;
    struct mc_tensor t = mc_tensor_make("x", MC_F32, 1, (uint64_t[]){4});
    float data[4] = {0};
    int rc = 0;

    must(mc_writer_open(&w, "/dev/full", &(struct mc_header){"test", NULL, &t, 1}, NULL, &why));
    forget();
    rc = mc_writer_tensor(w, 0, data, &why);
    if (!rc)
        rc = mc_writer_close(w, NULL, &why);
    else
        mc_writer_abandon(w);
    assert_int_equal(rc, MC_EFAIL);
    assert_string_equal(why.text, "cannot write '/dev/full': No space left on device");
    must_fail(mc_writer_open(&w, "no/such/x", &(struct mc_header){"test", NULL, &t, 1}, NULL, &why),
              MC_EFAIL, "");
    must_fail(mc_writer_open(&w, ".", &(struct mc_header){"test", NULL, &t, 1}, NULL, &why),
              MC_EFAIL, "");
}

static int remove_all(void **state)
{
    return system("rm -f *.mcz") || leave_folder(state);
}

int main(void)
{
    return run_entered(enter_folder, remove_all);
}
