/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables and logs: what is complete is read exactly, everything else is refused with its line. */
#include "tools/plot/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_NAME "table"

static const char good[] = "t\ttest.loss\ttest.accuracy\n"
                           "0\t0.5\t83.5\n"
                           "0.5\t-1e-3\t+12.\n"
                           "1\t.75\t83\n";

static void put(const char *text, size_t n)
{
    FILE *f = fopen(FILE_NAME, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static int read_text(struct mc_table *t, const char *text, struct mc_error *err)
{
    put(text, strlen(text));
    return mc_table_read(t, FILE_NAME, err);
}

static int read_log(struct mc_table *t, const char *text, struct mc_error *err)
{
    put(text, strlen(text));
    return mc_table_read_log(t, FILE_NAME, "epoch", err);
}

static void table_is_read_exactly(void **state)
{
    struct mc_table t = {0};
    struct mc_error err = {0};
    double v[3];
    size_t col = 9;

    (void)state;
    assert_int_equal(read_text(&t, good, &err), 0);
    assert_int_equal(t.rows, 3);
    assert_int_equal(t.cols, 3);
    assert_int_equal(mc_table_find(&t, "test.accuracy"), 2);
    assert_int_equal(mc_table_find(&t, "test"), -1);
    assert_int_equal(mc_table_column(&t, "test.loss", &col, &err), 0);
    assert_int_equal(col, 1);
    assert_int_equal(mc_table_numbers(&t, col, v, &err), 0);
    assert_true(v[0] == .5 && v[1] == -1e-3 && v[2] == .75);
    assert_int_equal(t.lines[2], 4);
    assert_int_equal(mc_table_column(&t, "train.loss", &col, &err), MC_EINPUT);
    assert_string_equal(err.text, FILE_NAME ": there is no column 'train.loss' "
                                            "(there are: t, test.loss, test.accuracy)");
    mc_table_release(&t);
    assert_null(t.text);
    mc_table_release(&t);
}

static void every_truncation_within_a_row_is_refused(void **state)
{
    size_t header = strlen("t\ttest.loss\ttest.accuracy\n");

    (void)state;
    for (size_t n = 0; n < sizeof good - 1; n++) {
        struct mc_table t = {0};
        struct mc_error err = {0};
        if (n > header && good[n - 1] == '\n')
            continue; /* whole rows: what reads the table knows how many it wants */
        put(good, n);
        assert_int_equal(mc_table_read(&t, FILE_NAME, &err), MC_EINPUT);
        assert_int_equal(err.code, MC_EINPUT);
        assert_null(t.text);
    }
}

static void damage_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "is empty"},
        {"\n", "column 1 has no name"},
        {"t\n", "holds no rows"},
        {"t\n0", "last line does not end"},
        {"t\tx\n0\t1\n1\n", "line 3: 1 cells for 2 columns"},
        {"t\tx\n0\t1\t2\n", "line 2: 3 cells for 2 columns"},
        {"t\tx\n\n", "line 2: 1 cells for 2 columns"},
        {"t\tt\n0\t1\n", "column 't' is there twice"},
        {"t\t\n0\t1\n", "column 2 has no name"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mc_table t = {0};
        struct mc_error err = {0};
        assert_int_equal(read_text(&t, bad[i].text, &err), MC_EINPUT);
        if (!strstr(err.text, bad[i].says))
            fail_msg("'%s' does not say '%s'", err.text, bad[i].says);
    }
    struct mc_table t = {0};
    struct mc_error err = {0};
    put("t\n0\0\n", 5);
    assert_int_equal(mc_table_read(&t, FILE_NAME, &err), MC_EINPUT);
    assert_non_null(strstr(err.text, "binary"));
    assert_int_equal(mc_table_read(&t, "no/such/file", &err), MC_EFAIL);
    assert_int_equal(mc_table_read(&t, ".", &err), MC_EFAIL);
}

static void only_plain_finite_numbers_pass(void **state)
{
    static const char *const bad[] = {"nan", "inf",   "-inf", "",   "-", "1x",  "0x10", " 1",
                                      "1 ",  "1e999", "1,5",  "1e", ".", "--1", "1.2.3"};
    static const char *const fine[] = {"0",  "-0", "1e-300", "1e-400",
                                       "+5", "5.", ".5",     "123456789"};
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mc_table t = {0};
        struct mc_error err = {0};
        double v[1];
        snprintf(text, sizeof text, "t\tx\n%s\t1\n", bad[i]);
        assert_int_equal(read_text(&t, text, &err), 0);
        assert_int_equal(mc_table_numbers(&t, 0, v, &err), MC_EINPUT);
        assert_non_null(strstr(err.text, "line 2, column 't'"));
        mc_table_release(&t);
    }
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        struct mc_table t = {0};
        struct mc_error err = {0};
        double v[1];
        snprintf(text, sizeof text, "t\n%s\n", fine[i]);
        assert_int_equal(read_text(&t, text, &err), 0);
        assert_int_equal(mc_table_numbers(&t, 0, v, &err), 0);
        assert_true(v[0] == strtod(fine[i], NULL));
        mc_table_release(&t);
    }
}

static void many_rows_are_kept(void **state)
{
    enum { ROWS = 1000 };
    static char text[32 * ROWS];
    static double v[ROWS];
    struct mc_table t = {0};
    struct mc_error err = {0};
    size_t n = (size_t)sprintf(text, "a\tb\tc\n");

    (void)state;
    for (int i = 0; i < ROWS; i++)
        n += (size_t)sprintf(text + n, "%d\t%d\t%d\n", i, 2 * i, 3 * i);
    assert_int_equal(read_text(&t, text, &err), 0);
    assert_int_equal(t.rows, ROWS);
    assert_int_equal(mc_table_numbers(&t, 2, v, &err), 0);
    for (int i = 0; i < ROWS; i++)
        assert_true(v[i] == 3 * i);
    mc_table_release(&t);
}

static void log_is_read_by_field(void **state)
{
    struct mc_table t = {0};
    struct mc_error err = {0};
    double v[2];

    (void)state;
    assert_int_equal(
        read_log(
            &t,
            "{\"event\":\"start\",\"net\":\"a \\\"b\\\" \\u00e9}\",\"list\":[1,{\"x\":[]},\"]\"]}\n"
            "{\"event\":\"epoch\",\"epoch\":1,\"loss\":2.5e0,\"accuracy\":null}\n"
            " { \"event\" : \"epoch\" , \"loss\" : -1 , \"more\" : [ 1 ] , \"epoch\" : 2 , "
            "\"says\":\"a\\tb\\u00e9\", \"accuracy\":50 } \n"
            "{\"event\":\"end\",\"ok\":true}\n",
            &err),
        0);
    assert_int_equal(t.rows, 2);
    assert_int_equal(t.cols, 6);
    assert_int_equal(mc_table_numbers(&t, (size_t)mc_table_find(&t, "epoch"), v, &err), 0);
    assert_true(v[0] == 1 && v[1] == 2);
    assert_int_equal(mc_table_numbers(&t, (size_t)mc_table_find(&t, "loss"), v, &err), 0);
    assert_true(v[0] == 2.5 && v[1] == -1);
    assert_null(t.cells[mc_table_find(&t, "accuracy")]);
    assert_null(t.cells[t.cols + (size_t)mc_table_find(&t, "more")]);
    assert_string_equal(t.cells[t.cols + (size_t)mc_table_find(&t, "says")], "a\tb\xc3\xa9");
    assert_int_equal(mc_table_numbers(&t, (size_t)mc_table_find(&t, "accuracy"), v, &err),
                     MC_EINPUT);
    assert_string_equal(err.text, FILE_NAME ": line 2, column 'accuracy': '' is not a number");
    mc_table_release(&t);
}

static void damaged_log_is_refused(void **state)
{
    static const char *const bad[] = {
        "\n",
        "{}\n",
        "{\"event\":1}\n",
        "{\"event\":\"start\"}\n",
        "{\"event\":\"epoch\",\"epoch\":1}",
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

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mc_table t = {0};
        struct mc_error err = {0};
        if (read_log(&t, bad[i], &err) != MC_EINPUT)
            fail_msg("taken: %s", bad[i]);
        assert_null(t.text);
    }
}

static int enter(void **state)
{
    static char folder[] = "/tmp/test_table.XXXXXX";

    *state = folder;
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int leave(void **state)
{
    unlink(FILE_NAME);
    return chdir("/") || rmdir(*state) ? -1 : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_read_exactly),
        cmocka_unit_test(every_truncation_within_a_row_is_refused),
        cmocka_unit_test(damage_is_refused_with_its_line),
        cmocka_unit_test(only_plain_finite_numbers_pass),
        cmocka_unit_test(many_rows_are_kept),
        cmocka_unit_test(log_is_read_by_field),
        cmocka_unit_test(damaged_log_is_refused),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
