/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON strings and numbers: escapes, and decimals that read back as the same bits. */
#include "libcommon/base/json.h"
#include "tests/unit/must.h"

#include <float.h>

static void prints(const char *s, size_t n, const char *want)
{
    char *got = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&got, &bytes);

    assert_non_null(f);
    mc_json_text(f, s, n);
    assert_int_equal(fclose(f), 0);
    assert_string_equal(got, want);
    free(got);
}

TEST(control_characters_are_escaped)
{
    prints("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
    prints("\n\x1b[2J\x7f", 6, "\"\\u000a\\u001b[2J\\u007f\"");
    prints("\xc2\x80\xc2\x9b\xc2\x9f", 6, "\"\\u0080\\u009b\\u009f\"");
    prints("\xc2\xa0\xc3\xa9\xe2\x82\xac", 7, "\"\xc2\xa0\xc3\xa9\xe2\x82\xac\"");
    prints("x\0y", 3, "\"x\\u0000y\"");
    prints("\xc2\x9b", 1, "\"\\ufffd\""); /* reads nothing after the end */
    prints("", 0, "\"\"");
    prints("\xd8\x9c\xe2\x80\x8e\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9", 14,
           "\"\\u061c\\u200e\\u202e\\u2066\\u2069\"");
    prints("\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5\xd8\x9b\xf0\x9f\x99\x82", 15,
           "\"\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5\xd8\x9b\xf0\x9f\x99\x82\"");
    prints("\xe2\x80\xa8\xe2\x80\xa9", 6, "\"\\u2028\\u2029\"");
    /* single bytes, a surrogate, overlong forms, above the last character, truncated */
    prints("\x9b\xff", 2, "\"\\ufffd\\ufffd\"");
    prints("\xed\xa0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\"");
    prints("\xc0\xaf\xe0\x80\x80", 5, "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"");
    prints("\xf4\x90\x80\x80", 4, "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
    prints("\xe2\x82x", 3, "\"\\ufffd\\ufffdx\"");
}

TEST(plain_text_has_spaces_for_control_characters)
{
    char *got = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&got, &bytes);

    assert_non_null(f);
    mc_plain(f, "a\tb\n\x1b[2J\xc2\x9b\xe2\x80\xae\xc3\xa9\x9b|\xe2\x82");
    assert_int_equal(fclose(f), 0);
    assert_string_equal(got, "a b  [2J  \xc3\xa9 |  ");
    free(got);
}

static void number(double value, const char *want)
{
    char *got = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&got, &bytes);

    assert_non_null(f);
    mc_json_num(f, value);
    assert_int_equal(fclose(f), 0);
    assert_string_equal(got, want);
    free(got);
}

TEST(numbers_are_short_and_read_back)
{
    static const double hard[] = {.1,           1. / 3, DBL_MAX,    DBL_MIN,
                                  DBL_TRUE_MIN, 5e-5,   0x1p53 + 2, M_PI};
    char text[MC_SHORTEST];

    number(.1, "0.1");
    number(0, "0");
    number(-2.5, "-2.5");
    number(5e-5, "5e-05");
    number(128, "128");
    number(.1 + .2, "0.30000000000000004");
    number(NAN, "null");
    number(-INFINITY, "null");
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        double back = strtod(mc_shortest(text, hard[i]), NULL);
        assert_memory_equal(&back, &hard[i], sizeof back);
    }
}

int main(void)
{
    return run_entered(NULL, NULL);
}
