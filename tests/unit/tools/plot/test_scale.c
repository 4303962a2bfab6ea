/* SPDX-License-Identifier: Apache-2.0
 *
 * Scales: ranges, numbers, and widths of texts. */
#include "tools/plot/scale.h"
#include "tests/unit/must.h"
#include "tools/plot/width.h"

static void has_numbers(const struct mc_scale *s, const char *const *texts, size_t n)
{
    assert_int_equal(s->n, n);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(s->text[i], texts[i]);
        assert_true(fabs(s->at[i] - strtod(texts[i], NULL)) <= 1e-9 * fabs(s->at[i]));
    }
}

TEST(round_scale_ends_at_whole_steps)
{
    static const char *const texts[] = {"0.3", "0.4", "0.5", "0.6", "0.7"};
    struct mc_scale s;

    mc_scale_round(&s, .34, .67, 0, INFINITY);
    assert_true(fabs(s.from - .3) < 1e-12 && fabs(s.to - .7) < 1e-12);
    mc_scale_number(&s, 8);
    has_numbers(&s, texts, 5);
}

TEST(exact_scale_keeps_its_ends)
{
    static const char *const texts[] = {"0.4", "0.5", "0.6"};
    struct mc_scale s;

    mc_scale_exact(&s, .34, .67);
    assert_true(s.from == .34 && s.to == .67);
    mc_scale_number(&s, 3);
    has_numbers(&s, texts, 3);
}

/* A single number would not show the scale. */
TEST(less_space_gives_fewer_numbers_but_two)
{
    static const double ends[][2] = {{-1, 1}, {1, 8},   {.3, .7}, {-.2, 1},
                                     {3, 97}, {60, 90}, {0, 1.4}};
    struct mc_scale s;

    for (size_t i = 0; i < COUNT(ends); i++)
        for (size_t max = 2; max < 20; max++) {
            mc_scale_exact(&s, ends[i][0], ends[i][1]);
            mc_scale_number(&s, max);
            assert_true(s.n <= max && s.n >= 1 + (max > 2));
        }
    mc_scale_exact(&s, -1, 1);
    mc_scale_number(&s, 3);
    assert_string_equal(s.text[0], "-1");
    mc_scale_number(&s, 9);
    assert_string_equal(s.text[0], "-1.0");
}

TEST(flat_values_have_a_range_within_limits)
{
    static const double values[] = {0, 1e-9, .3, 50, 100};
    struct mc_scale s;

    for (size_t i = 0; i < COUNT(values); i++) {
        mc_scale_round(&s, values[i], values[i], 0, 100);
        assert_true(s.from <= values[i] && values[i] <= s.to && s.from < s.to);
        assert_true(s.from >= 0 && s.to <= 100 + 1e-9);
    }
}

TEST(logarithmic_scale_has_digits_of_decades)
{
    static const char *const many[] = {"0.005", "0.01", "0.02", "0.05", "0.1",
                                       "0.2",   "0.5",  "1",    "2"},
                             *const few[] = {"0.01", "0.1", "1"};
    struct mc_scale s;

    mc_scale_log(&s, .004, 2.1, 0);
    assert_true(s.from < .004 && s.to > 2.1);
    mc_scale_number(&s, 11);
    has_numbers(&s, many, COUNT(many));
    mc_scale_number(&s, 4);
    has_numbers(&s, few, COUNT(few));
}

TEST(logarithmic_scale_has_zero_below_its_numbers)
{
    struct mc_scale s;

    mc_scale_log(&s, .004, 2.1, 1);
    assert_true(s.from < s.zero && s.zero < .004 && s.from > 0);
    for (size_t max = 2; max < 12; max++) {
        mc_scale_number(&s, max);
        assert_string_equal(s.text[0], "0");
        assert_true(s.at[0] == s.zero);
        const double spacing = log(s.to / s.from) / (double)max;
        for (size_t i = 1; i < s.n; i++)
            assert_true(log(s.at[i] / s.at[i - 1]) >= .99 * spacing);
    }
}

TEST(text_is_shortened_to_fit)
{
    char out[40];

    assert_true(fabs(mc_text_width("mil") - (.97 + .28 + .28)) < 1e-9);
    assert_true(mc_text_fit("mil", 2, out, sizeof out) < 1.6);
    assert_string_equal(out, "mil");
    assert_true(mc_text_fit("mmmmmmmm θ", 4, out, sizeof out) <= 4);
    assert_string_equal(out, "mmm…");
    mc_text_fit("θθθθθθθθθθ", 100, out, 10); /* limited by bytes */
    assert_string_equal(out, "θθθ…");
}

int main(void)
{
    return run_entered(NULL, NULL);
}
