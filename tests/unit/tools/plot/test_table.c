/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables and logs: complete ones are read exactly, all others are refused with the line. */
#include "tools/plot/table.h"
#include "tests/unit/must.h"

static const char good[] = "t\ttest.loss\ttest.accuracy\n"
                           "0\t0.5\t83.5\n"
                           "0.5\t-1e-3\t+12.\n"
                           "1\t.75\t83\n";

static void put(const char *text, size_t n)
{
    FILE *f = fopen(file, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static int read_text(struct mc_table *t, const char *text, struct mc_error *err)
{
    put(text, strlen(text));
    return mc_table_read(t, file, err);
}

static int read_log(struct mc_table *t, const char *text, struct mc_error *err)
{
    put(text, strlen(text));
    return mc_table_read_log(t, file, "epoch", err);
}

TEST(table_is_read_exactly)
{
    struct mc_table t = {0};
    double v[3];
    size_t col = 9;

    must(read_text(&t, good, &why));
    assert_int_equal(t.rows, 3);
    assert_int_equal(t.cols, 3);
    assert_int_equal(mc_table_find(&t, "test.accuracy"), 2);
    assert_int_equal(mc_table_find(&t, "test"), -1);
    must(mc_table_column(&t, "test.loss", &col, &why));
    assert_int_equal(col, 1);
    must(mc_table_numbers(&t, "test.loss", v, &why));
    assert_true(v[0] == .5 && v[1] == -1e-3 && v[2] == .75);
    assert_int_equal(t.lines[2], 4);
    must_fail(mc_table_column(&t, "train.loss", &col, &why), MC_EINPUT, "");
    assert_string_equal(why.text, "x.mcz: unknown column 'train.loss' "
                                  "(one of: t, test.loss, test.accuracy)");
    mc_table_release(&t);
    assert_null(t.text);
    mc_table_release(&t);
}

TEST(lines_may_end_in_carriage_returns)
{
    struct mc_table t = {0};
    double v[2];

    must(read_text(&t, "t\tx\r\n0\t1\r\n1\t2.5\r\n", &why));
    assert_int_equal(mc_table_find(&t, "x"), 1);
    must(mc_table_numbers(&t, "x", v, &why));
    assert_true(v[0] == 1 && v[1] == 2.5);
    mc_table_release(&t);
}

/* Editors add the mark and the empty lines. */
TEST(byte_order_mark_and_empty_last_lines_are_skipped)
{
    static const char *const texts[] = {
        "\xef\xbb\xbft\tx\n0\t1\n1\t2.5\n", "t\tx\n0\t1\n1\t2.5\n\n\n",
        "\xef\xbb\xbft\tx\r\n0\t1\r\n1\t2.5\r\n\r\n", "t\tx\n0\t1\n1\t2.5\n\r\n\n"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct mc_table t = {0};
        double v[2];
        must(read_text(&t, texts[i], &why));
        assert_int_equal(t.rows, 2);
        must(mc_table_numbers(&t, "t", v, &why));
        assert_true(v[0] == 0 && v[1] == 1);
        must(mc_table_numbers(&t, "x", v, &why));
        assert_true(v[0] == 1 && v[1] == 2.5);
        mc_table_release(&t);
    }
}

TEST(log_with_mark_and_empty_last_line_is_read)
{
    struct mc_table t = {0};

    must(read_log(&t, "\xef\xbb\xbf{\"event\":\"epoch\",\"epoch\":1}\n\n", &why));
    assert_int_equal(t.rows, 1);
    mc_table_release(&t);
}

TEST(every_truncation_within_a_row_is_refused)
{
    size_t header = strlen("t\ttest.loss\ttest.accuracy\n");

    for (size_t n = 0; n < sizeof good - 1; n++) {
        struct mc_table t = {0};
        if (n > header && good[n - 1] == '\n')
            continue; /* complete rows: the caller checks their number */
        put(good, n);
        must_fail(mc_table_read(&t, file, &why), MC_EINPUT, "");
        assert_null(t.text);
    }
}

TEST(damage_is_refused_with_its_line)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "is empty"},
        {"\n", "column 1 has no name"},
        {"t\n", "has no rows"},
        {"t\n0", "the last line has no newline"},
        {"t\tx\n0\t1\n1\n", "line 3: 2 cells expected, got 1"},
        {"t\tx\n0\t1\t2\n", "line 2: 2 cells expected, got 3"},
        {"t\tx\n\n", "has no rows"},
        {"t\tx\n\n0\t1\n", "line 2: 2 cells expected, got 1"},
        {"\xef\xbb\xbf", "is empty"},
        {"t\tt\n0\t1\n", "duplicate column 't'"},
        {"t\t\n0\t1\n", "column 2 has no name"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mc_table t = {0};
        must_fail(read_text(&t, bad[i].text, &why), MC_EINPUT, bad[i].message);
    }
    struct mc_table t = {0};
    put("t\n0\0\n", 5);
    must_fail(mc_table_read(&t, file, &why), MC_EINPUT, "binary");
    must_fail(mc_table_read(&t, "no/such/file", &why), MC_EFAIL, "");
    must_fail(mc_table_read(&t, ".", &why), MC_EFAIL, "");
}

TEST(only_plain_finite_numbers_pass)
{
    static const char *const bad[] = {"nan", "inf",   "-inf", "",   "-", "1x",  "0x10", " 1",
                                      "1 ",  "1e999", "1,5",  "1e", ".", "--1", "1.2.3"};
    static const char *const fine[] = {"0",  "-0", "1e-300", "1e-400",
                                       "+5", "5.", ".5",     "123456789"};
    char text[128];

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mc_table t = {0};
        double v[1];
        snprintf(text, sizeof text, "t\tx\n%s\t1\n", bad[i]);
        must(read_text(&t, text, &why));
        must_fail(mc_table_numbers(&t, "t", v, &why), MC_EINPUT, "line 2, column 't'");
        mc_table_release(&t);
    }
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        struct mc_table t = {0};
        double v[1];
        snprintf(text, sizeof text, "t\n%s\n", fine[i]);
        must(read_text(&t, text, &why));
        must(mc_table_numbers(&t, "t", v, &why));
        assert_true(v[0] == strtod(fine[i], NULL));
        mc_table_release(&t);
    }
}

TEST(many_rows_are_read)
{
    enum { ROWS = 1000 };
    static char text[32 * ROWS];
    static double v[ROWS];
    struct mc_table t = {0};
    size_t n = (size_t)sprintf(text, "a\tb\tc\n");

    for (int i = 0; i < ROWS; i++)
        n += (size_t)sprintf(text + n, "%d\t%d\t%d\n", i, 2 * i, 3 * i);
    must(read_text(&t, text, &why));
    assert_int_equal(t.rows, ROWS);
    must(mc_table_numbers(&t, "c", v, &why));
    for (int i = 0; i < ROWS; i++)
        assert_true(v[i] == 3 * i);
    mc_table_release(&t);
}

TEST(log_is_read_by_field)
{
    struct mc_table t = {0};
    double v[2];

    must(read_log(
        &t,
        "{\"event\":\"start\",\"net\":\"a \\\"b\\\" \\u00e9}\",\"list\":[1,{\"x\":[]},\"]\"]}\n"
        "{\"event\":\"epoch\",\"epoch\":1,\"loss\":2.5e0,\"accuracy\":null}\n"
        " { \"event\" : \"epoch\" , \"loss\" : -1 , \"more\" : [ 1 ] , \"epoch\" : 2 , "
        "\"says\":\"a\\tb\\u00e9\", \"accuracy\":50 } \n"
        "{\"event\":\"end\",\"ok\":true}\n",
        &why));
    assert_int_equal(t.rows, 2);
    assert_int_equal(t.cols, 6);
    must(mc_table_numbers(&t, "epoch", v, &why));
    assert_true(v[0] == 1 && v[1] == 2);
    must(mc_table_numbers(&t, "loss", v, &why));
    assert_true(v[0] == 2.5 && v[1] == -1);
    assert_null(t.cells[mc_table_find(&t, "accuracy")]);
    assert_null(t.cells[t.cols + (size_t)mc_table_find(&t, "more")]);
    assert_string_equal(t.cells[t.cols + (size_t)mc_table_find(&t, "says")], "a\tb\xc3\xa9");
    must_fail(mc_table_numbers(&t, "accuracy", v, &why), MC_EINPUT, "");
    assert_string_equal(why.text, "x.mcz: line 2, column 'accuracy': '' is not a number");
    mc_table_release(&t);
}

TEST(damaged_log_is_refused)
{
    static const char *const bad[] = {
        "\n",
        "{}\n",
        "{\"event\":1}\n",
        "{\"event\":\"start\"}\n",
        "{\"event\":\"epoch\",\"epoch\":1\n",
        "{\"event\":\"epoch\",\"epoch\":}\n",
        "{\"event\":\"epoch\" \"epoch\":1}\n",
        "{\"event\":\"epoch\",}\n",
        "{\"event\":\"epoch\"}}\n",
        "{\"event\":\"epoch\",\"x\":nul}\n",
        "{\"event\":\"epoch\",\"x\":[1,2}\n",
        "{\"event\":\"epoch\",\"x\":\"\\u12\"}\n",
        "{\"event\":\"epoch\",\"x\":\"\\u0000\"}\n",
        "{\"event\":\"epoch\",\"x\":\"\\q\"}\n",
        "{\"event\":\"epoch\",\"x\":\"open}\n",
        "{\"event\":\"epoch\",\"x\":\"open\\\n",
        "[\"event\"]\n",
        ("{\"event\":\"epoch\",\"x\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]"
         "]"
         "]]]]]]]]]]]]}\n"),
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mc_table t = {0};
        if (read_log(&t, bad[i], &why) != MC_EINPUT)
            fail_msg("accepted: %s", bad[i]);
        assert_null(t.text);
    }
}

int main(void)
{
    return run_entered(enter_folder, leave_folder);
}
