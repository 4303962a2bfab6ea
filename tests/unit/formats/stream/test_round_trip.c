/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams are read back bit for bit, also in rows and through a pipe. The same calls write the same
 * bytes. Ids are those of formats/README.md: another value has another id. */
#include "formats/stream/pack.h"
#include "formats/stream/reader.h"
#include "formats/stream/writer.h"
#include "tests/unit/formats/stream/small.h"

#include <sys/wait.h>

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
    must(mc_writer_close(w, 0, id, &why));

    must(mc_reader_open(&r, "all.mcz", &why));
    assert_string_equal(mc_reader_kind(r), "test");
    must(mc_reader_expect(r, "test", &why));
    must_fail(mc_reader_expect(r, "weights", &why), MC_EINPUT, "all.mcz: weights expected*test");
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

/* Write a network of three tensors, the data in pieces of at most `step` bytes. */
static void write_pieces(const char *path, const char *kind, const struct mc_tensor *t,
                         const unsigned char *data, size_t step, char id[MC_ID_LEN])
{
    struct mc_writer *w = NULL;

    must(mc_writer_open(&w, path, &(struct mc_header){kind, NULL, t, 3}, NULL, &why));
    for (size_t i = 0; i < 3; i++)
        for (size_t at = 0, bytes = (size_t)mc_tensor_bytes(&t[i]); at < bytes; at += step)
            must(mc_writer_bytes(w, i, data + at, bytes - at < step ? bytes - at : step, &why));
    must(mc_writer_close(w, 0, id, &why));
}

TEST(pieces_of_any_size_write_the_same_bytes)
{
    /* over a block of 131,072 values; over a record of 32 MiB, whose last block is partial */
    static const size_t steps[] = {SIZE_MAX, 1000003, 4097};
    const struct mc_tensor t[3] = {mc_tensor_make("a", MC_F32, 2, (uint64_t[]){7, 50001}),
                                   mc_tensor_make("b", MC_BF16, 2, (uint64_t[]){5, 4 << 20}),
                                   mc_tensor_make("c", MC_F16, 1, (uint64_t[]){3})};
    const size_t most = (size_t)mc_tensor_bytes(&t[1]);
    unsigned char *data = malloc(most), *back = malloc(most);
    void *dst[3] = {NULL, back, NULL};
    char ids[COUNT(steps)][MC_ID_LEN], plain[MC_ID_LEN];
    struct mc_reader *r = NULL;

    assert_true(data && back);
    for (size_t i = 0; i < most; i++)
        data[i] = (unsigned char)(i * 2654435761u >> (i & 1 ? 27 : 9));
    for (size_t i = 0; i < COUNT(steps); i++) {
        write_pieces(i ? "again.mcz" : "all.mcz", "weights", t, data, steps[i], ids[i]);
        assert_string_equal(ids[i], ids[0]);
        assert_int_equal(system("cmp all.mcz again.mcz 2>/dev/null") != 0, !i);
    }
    must(mc_reader_open(&r, "all.mcz", &why));
    must(mc_reader_rest(r, dst, &why));
    assert_string_equal(mc_reader_id(r), ids[0]);
    assert_int_equal(mc_reader_records(r), 4);
    assert_memory_equal(back, data, most);
    mc_reader_close(r);
    /* a stream without blocks has another kind, hence another id, but the same records */
    write_pieces("plain.mcz", "test", t, data, steps[0], plain);
    memset(back, 0, most);
    must(mc_reader_open(&r, "plain.mcz", &why));
    must(mc_reader_rest(r, dst, &why));
    assert_memory_equal(back, data, most);
    mc_reader_close(r);
    unlink("again.mcz");
    unlink("plain.mcz");
    free(data);
    free(back);
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
    must(mc_writer_close(w, 0, NULL, &why));
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
    must(mc_writer_close(w, 0, NULL, &why));
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

TEST(id_changes_with_any_value)
{
    char a[MC_ID_LEN], b[MC_ID_LEN];

    write_small("x.mcz", NULL, 0.0f, a);
    write_small("x.mcz", NULL, -0.0f, b);
    assert_string_not_equal(a, b);
}

int main(void)
{
    return run_entered(enter_folder, remove_all);
}
