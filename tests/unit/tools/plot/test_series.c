/* SPDX-License-Identifier: Apache-2.0
 *
 * Series of a picture: labels, and mean and standard deviation of several tables. */
#include "tools/plot/series.h"
#include "tests/unit/must.h"

static void write_table(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static int start(void **state)
{
    if (enter_folder(state))
        return -1;
    write_table("a", "t\ttrain.loss\ttrain.accuracy\n0\t1\t50\n1\t2\t60\n");
    write_table("b", "t\ttrain.accuracy\ttrain.loss\n0\t53\t4\n1\t60\t2\n");
    write_table("c", "t\ttrain.loss\ttrain.accuracy\n0\t10\t59\n1\t2\t60\n");
    return 0;
}

static int stop(void **state)
{
    unlink("a");
    unlink("b");
    unlink("c");
    return leave_folder(state);
}

static void expect(const double *v, double first, double second)
{
    assert_true(fabs(v[0] - first) < 1e-12);
    assert_true(fabs(v[1] - second) < 1e-12);
}

/* 1, 4, 10: mean 5, deviations -4 -1 5, so sd = sqrt(42 / 2). 50, 53, 59 have the same sd. */
TEST(three_tables_give_mean_and_deviation)
{
    struct mc_series s = {0};
    char data[32] = "";

    must(mc_series_curve(&s, "x, y=a,b,c", &s, data, sizeof data, &why));
    assert_string_equal(s.label, "x, y");
    assert_string_equal(data, "train");
    assert_int_equal(s.tables, 3);
    assert_int_equal(s.rows, 2);
    assert_int_equal(s.cols, 3);
    expect(s.mean, 0, 1);
    expect(s.mean + 2, 5, 2);
    expect(s.mean + 4, 54, 60);
    expect(s.sd, 0, 0);
    expect(s.sd + 2, sqrt(21), 0);
    expect(s.sd + 4, sqrt(21), 0);
    mc_series_release(&s);
}

TEST(one_table_has_deviation_0)
{
    struct mc_series s = {0};
    char data[32] = "train";

    must(mc_series_curve(&s, "b", &s, data, sizeof data, &why));
    assert_int_equal(s.tables, 1);
    expect(s.mean + 2, 4, 2);
    expect(s.sd + 2, 0, 0);
    mc_series_release(&s);
}

TEST(labels_are_parsed_from_operands)
{
    static const struct {
        const char *operand, *label, *rest;
    } cases[] = {
        {"a.tsv", "a", "a.tsv"},
        {"dir.d/a.b.tsv", "a.b", "dir.d/a.b.tsv"},
        {"x/a.tsv,y/b.tsv", "a", "x/a.tsv,y/b.tsv"},
        {"one, two=x/a.tsv,y/b.tsv", "one, two", "x/a.tsv,y/b.tsv"},
        {"./x=y.tsv", "x=y", "./x=y.tsv"},
        {".tsv", ".tsv", ".tsv"},
    };
    char label[32];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(mc_series_label(cases[i].operand, label, sizeof label), cases[i].rest);
        assert_string_equal(label, cases[i].label);
    }
}

int main(void)
{
    return run_entered(start, stop);
}
