/* SPDX-License-Identifier: Apache-2.0
 *
 * Floats of 16 bits. Without arguments: every one of them returns from float32 with its bits. With
 * the name of a type, for narrow-rounds-as-pytorch.sh: converts the float32 numbers of standard
 * input to it. */
#include "libcommon/base/narrow.h"
#include "tests/unit/must.h"

enum { ALL = 1 << 16 };

static const enum mc_dtype types[] = {MC_F16, MC_BF16};

TEST(every_narrow_float_returns_from_float32)
{
    static uint16_t all[ALL], back[ALL];
    static float wide[ALL];

    for (size_t i = 0; i < ALL; i++)
        all[i] = (uint16_t)i;
    for (size_t t = 0; t < 2; t++) {
        mc_widen(types[t], all, wide, ALL);
        mc_narrow(types[t], wide, back, ALL);
        assert_memory_equal(back, all, sizeof all);
        /* in place */
        memcpy(wide, all, sizeof all);
        mc_widen(types[t], wide, wide, ALL);
        mc_narrow(types[t], wide, wide, ALL);
        assert_memory_equal(wide, all, sizeof all);
    }
}

TEST(halfway_values_are_rounded_to_even)
{
    static const struct {
        enum mc_dtype type;
        float from;
        uint16_t to;
    } cases[] = {
        {MC_BF16, 1.00390625f, 0x3f80},
        {MC_BF16, 1.01171875f, 0x3f82},
        {MC_BF16, 0x1.fffffep127f, 0x7f80},
        {MC_BF16, 0x1p-134f, 0},
        {MC_BF16, 0x1.8p-133f, 2},
        {MC_BF16, -INFINITY, 0xff80},
        {MC_F16, 0x1.002p0f, 0x3c00},
        {MC_F16, 0x1.006p0f, 0x3c02},
        {MC_F16, 65519.996f, 0x7bff},
        {MC_F16, 65520, 0x7c00},
        {MC_F16, 0x1p-25f, 0},
        {MC_F16, 0x1.000002p-25f, 1},
        {MC_F16, 0x1.8p-24f, 2},
        {MC_F16, 0x1.ffep-15f, 0x0400},
        {MC_F16, -0.0f, 0x8000},
        {MC_F16, 1e30f, 0x7c00},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        uint16_t to = 0;
        mc_narrow(cases[i].type, &cases[i].from, &to, 1);
        if (to != cases[i].to)
            fail_msg("%a: 0x%04x expected, got 0x%04x", (double)cases[i].from, cases[i].to, to);
    }
}

/* The double is just above or below a halfway value, so that float32 rounds it to that value. */
TEST(doubles_are_rounded_once)
{
    static const struct {
        enum mc_dtype type;
        double from;
        uint16_t to;
    } cases[] = {
        {MC_BF16, 0x1.0100000001p0, 0x3f81},
        {MC_BF16, 0x1.02ffffffffp0, 0x3f81},
        {MC_BF16, -0x1.0100000001p0, 0xbf81},
        {MC_BF16, 0x1.fefffffffffp127, 0x7f7f},
        {MC_BF16, 0x1.ffp127, 0x7f80},
        {MC_BF16, 1e300, 0x7f80},
        {MC_BF16, -INFINITY, 0xff80},
        {MC_BF16, 0x1.0000000001p-134, 1},
        {MC_BF16, 0x1p-134, 0},
        {MC_BF16, 0x1.7fffffffffp-133, 1},
        {MC_BF16, 1e-300, 0},
        {MC_BF16, -0.0, 0x8000},
        {MC_F16, 0x1.0020000001p0, 0x3c01},
        {MC_F16, -0x1.005fffffffp0, 0xbc01},
        {MC_F16, 65519.99999999, 0x7bff},
        {MC_F16, 65520, 0x7c00},
        {MC_F16, 0x1.0000000001p-25, 1},
        {MC_F16, 0x1.7fffffffffp-24, 1},
        {MC_F16, 0x1.ffbffffffffp-15, 0x03ff},
        {MC_F16, 1e-300, 0},
        {MC_F16, -0.0, 0x8000},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        double from[40];
        uint16_t to[COUNT(from)] = {0};
        for (size_t k = 0; k < COUNT(from); k++)
            from[k] = k == 35 ? cases[i].from : 1;
        mc_narrow_doubles(cases[i].type, from, to, COUNT(from));
        if (to[35] != cases[i].to || to[34] != to[0])
            fail_msg("%a: 0x%04x expected, got 0x%04x", cases[i].from, cases[i].to, to[35]);
    }
}

static int convert(const char *name)
{
    const int type = mc_dtype_from_name(name, strlen(name));
    uint16_t to = 0;
    float from = 0;

    if (type != MC_F16 && type != MC_BF16)
        return 2;
    while (fread(&from, sizeof from, 1, stdin) == 1) {
        mc_narrow((enum mc_dtype)type, &from, &to, 1);
        fwrite(&to, sizeof to, 1, stdout);
    }
    return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
    return argc == 2 ? convert(argv[1]) : run_entered(NULL, NULL);
}
