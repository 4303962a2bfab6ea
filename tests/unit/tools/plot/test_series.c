/* SPDX-License-Identifier: Apache-2.0
 *
 * Series of a picture: labels, and the mean and standard deviation of several tables. */
#include "tools/plot/series.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/mc-test-series-XXXXXX";

static void write_table(const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static int start(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    write_table("a", "t\ttrain.loss\ttrain.accuracy\n0\t1\t50\n1\t2\t60\n");
    write_table("b", "t\ttrain.accuracy\ttrain.loss\n0\t53\t4\n1\t60\t2\n");
    write_table("c", "t\ttrain.loss\ttrain.accuracy\n0\t10\t59\n1\t2\t60\n");
    return chdir(folder);
}

static int stop(void **state)
{
    (void)state;
    unlink("a");
    unlink("b");
    unlink("c");
    return rmdir(folder);
}

static void is(const double *v, double first, double second)
{
    assert_true(fabs(v[0] - first) < 1e-12);
    assert_true(fabs(v[1] - second) < 1e-12);
}

/* 1, 4, 10: mean 5, deviations -4 -1 5, so sd = sqrt(42 / 2); 50, 53, 59 have the same. */
static void mean_and_deviation_of_three(void **state)
{
    struct mc_series s = {0};
    struct mc_error err = {0};
    char data[32] = "";

    (void)state;
    assert_int_equal(mc_series_curve(&s, "x, y=a,b,c", data, sizeof data, &err), 0);
    assert_string_equal(s.label, "x, y");
    assert_string_equal(data, "train");
    assert_int_equal(s.tables, 3);
    assert_int_equal(s.rows, 2);
    assert_int_equal(s.cols, 3);
    is(s.mean, 0, 1);
    is(s.mean + 2, 5, 2);
    is(s.mean + 4, 54, 60);
    is(s.sd, 0, 0);
    is(s.sd + 2, sqrt(21), 0);
    is(s.sd + 4, sqrt(21), 0);
    mc_series_release(&s);
}

static void one_table_is_itself(void **state)
{
    struct mc_series s = {0};
    struct mc_error err = {0};
    char data[32] = "train";

    (void)state;
    assert_int_equal(mc_series_curve(&s, "b", data, sizeof data, &err), 0);
    assert_int_equal(s.tables, 1);
    is(s.mean + 2, 4, 2);
    is(s.sd + 2, 0, 0);
    mc_series_release(&s);
}

static void labels(void **state)
{
    static const struct {
        const char *operand, *label, *rest;
    } want[] = {
        {"a.tsv", "a", "a.tsv"},
        {"dir.d/a.b.tsv", "a.b", "dir.d/a.b.tsv"},
        {"x/a.tsv,y/b.tsv", "a", "x/a.tsv,y/b.tsv"},
        {"one, two=x/a.tsv,y/b.tsv", "one, two", "x/a.tsv,y/b.tsv"},
        {"./x=y.tsv", "x=y", "./x=y.tsv"},
        {".tsv", ".tsv", ".tsv"},
    };
    char label[32];

    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        assert_string_equal(mc_series_label(want[i].operand, label, sizeof label), want[i].rest);
        assert_string_equal(label, want[i].label);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_and_deviation_of_three),
        cmocka_unit_test(one_table_is_itself),
        cmocka_unit_test(labels),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
