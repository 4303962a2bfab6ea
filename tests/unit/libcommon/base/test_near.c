/* SPDX-License-Identifier: Apache-2.0
 *
 * Suggestions for misspelled names. */
#include "libcommon/base/near.h"
#include "tests/unit/must.h"

#include <string.h>

static const char *nearest(const char *word)
{
    static const char *const names[] = {"tinyten", "resnet",  "resnet20", "googlenet",
                                        "vgg",     "mlp",     "output",   "svg",
                                        "pdf",     "cifar10", "cifar100"};
    struct mc_near near = mc_near(word, strlen(word));

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        mc_near_try(&near, names[i]);
    return near.best ? near.best : "";
}

TEST(nearest_name_is_suggested)
{
    static const char *const pairs[][2] = {
        {"ouput", "output"},
        {"outptu", "output"},
        {"Output", "output"},
        {"tinyte", "tinyten"},
        {"tiny-ten", "tinyten"},
        {"reset", "resnet"},
        {"resnet2", "resnet"},
        {"renset20", "resnet20"},
        {"googelnet", "googlenet"},
        {"goo", "googlenet"},
        {"vvg", "vgg"},
        {"vg", "vgg"},
        {"pfd", "pdf"},
        {"cifar", "cifar10"},
        {"cifar1000", "cifar100"},
        {"alexnet", ""},
        {"x", ""},
        {"", ""},
        {"resnetresnetresnetresnetresnetresnetresnetresnetresnet", ""}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(nearest(pairs[i][0]), pairs[i][1]))
            fail_msg("'%s' is near '%s' (expected '%s')", pairs[i][0], nearest(pairs[i][0]),
                     pairs[i][1]);
}

TEST(first_of_equally_near_names_is_suggested)
{
    char text[MC_NEAR_TEXT];
    struct mc_near near = mc_near("pamm and more", 4);

    assert_string_equal(mc_near_text(&near, text), "");
    mc_near_try(&near, "pam");
    assert_string_equal(mc_near_text(&near, text), ", did you mean 'pam'?");
    mc_near_try(&near, "pamx");
    assert_string_equal(near.best, "pam"); /* the first of two equally near names */
    mc_near_try(&near, "pamm");
    assert_string_equal(near.best, "pamm");
}

int main(void)
{
    return run_entered(NULL, NULL);
}
