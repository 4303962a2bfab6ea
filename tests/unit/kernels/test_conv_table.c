/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookup of an algorithm by its whole key, pass and shape, never by a part of a name. */
#include "kernels/conv_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char table[] = "# a remark\n"
                            "device\tpass\tshape\talgorithm\tms\n"
                            "sm_90\t9\tdata\t3x8x8-4x4x4 k3x3 s2x2 p1x1 g1\tfft-tiling\t1.0\n"
                            "sm_90\t9\tforward\t3x8x8-4x4x4 k3x3 s2x2 p1x1 g1\tfft\t2.0\n"
                            "sm_90\t9\tweights\t3x8x8-4x4x4 k3x3 s2x2 p1x1 g1\tunheard-of\t2.0\n";
static const char *const names[] = {"fft", "fft-tiling"};

static int choice(const char *key, enum mc_pass pass, int groups)
{
    char shape[MC_SHAPE_TEXT];
    mc_shape_text(shape, (const int[]){3, 8, 8}, (const int[]){4, 4, 4}, (const int[]){3, 3},
                  (const int[]){2, 2}, (const int[]){1, 1}, groups);
    return mc_conv_table_choice(table, key, pass, shape, names, 2);
}

static void table_finds_its_entries(void **state)
{
    (void)state;
    assert_int_equal(choice("sm_90\t9", MC_PASS_FORWARD, 1), 0);
    assert_int_equal(choice("sm_90\t9", MC_PASS_DATA, 1), 1);
}

static void table_finds_only_its_entries(void **state)
{
    char long_key[3 * MC_SHAPE_TEXT];

    (void)state;
    memset(long_key, 'x', sizeof long_key - 1);
    long_key[sizeof long_key - 1] = 0;
    assert_int_equal(choice("sm_90\t9", MC_PASS_WEIGHTS, 1),
                     -1); /* a name that is not in the list */
    assert_int_equal(choice("sm_90\t9", MC_PASS_FORWARD, 2), -1);
    assert_int_equal(choice("sm_90", MC_PASS_FORWARD, 1), -1);
    assert_int_equal(choice("90\t9", MC_PASS_FORWARD, 1), -1);
    assert_int_equal(choice(long_key, MC_PASS_FORWARD, 1), -1);
}

/* Another algorithm, or one letter of a remark, changes the hash. */
static void table_hash_covers_every_letter(void **state)
{
    char other[sizeof table];
    const uint32_t hash = mc_conv_table_hash(table);

    (void)state;
    for (size_t i = 0; i < sizeof table - 1; i++) {
        memcpy(other, table, sizeof table);
        assert_int_equal(mc_conv_table_hash(other), hash);
        other[i]++;
        assert_int_not_equal(mc_conv_table_hash(other), hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_finds_its_entries),
        cmocka_unit_test(table_finds_only_its_entries),
        cmocka_unit_test(table_hash_covers_every_letter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
