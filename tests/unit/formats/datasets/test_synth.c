/* SPDX-License-Identifier: Apache-2.0
 *
 * Synthetic images have the same bytes on every machine and with every library, and vary as
 * intended. */
#include "formats/datasets/synth.h"
#include "tests/unit/under.h"
#include "tests/unit/must.h"

#include <xxhash.h>

#define SIDE 32
#define BYTES (3 * SIDE * SIDE)

TEST(bytes_are_the_same_on_every_machine)
{
    static const struct {
        uint64_t seed;
        int split, size;
        uint64_t hash;
    } kept[] = {{1, 0, 32, 0x35e84ca191d97b2f},
                {1, 1, 32, 0xd470a871ec35ec6d},
                {UINT64_MAX, 0, 8, 0xd27633db41482cf},
                {7, 0, 100, 0x62dce0368bd60e78}};
    static uint8_t image[3 * 100 * 100 + 1];

    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++) {
        uint64_t hash = 0;
        size_t bytes = 3 * (size_t)kept[k].size * (size_t)kept[k].size;
        for (uint32_t i = 0; i < 200; i++) {
            image[bytes] = 0xa5;
            int32_t label = mc_synth_image(kept[k].seed, kept[k].split, i, kept[k].size, image);
            assert_int_equal(image[bytes], 0xa5);
            assert_in_range(label, 0, MC_SYNTH_CLASSES - 1);
            hash = XXH3_64bits_withSeed(image, bytes, hash + (uint64_t)label);
        }
        if (hash != kept[k].hash)
            fail_msg("set %zu: %#llx", k, (unsigned long long)hash);
    }
}

TEST(image_depends_only_on_its_number)
{
    static uint8_t one[BYTES], other[BYTES];

    int32_t label = mc_synth_image(3, 0, 1000, SIDE, one);
    mc_synth_image(4, 1, 7, SIDE, other);
    assert_int_equal(mc_synth_image(3, 0, 1000, SIDE, other), label);
    assert_memory_equal(one, other, BYTES);
    mc_synth_image(3, 1, 1000, SIDE, other);
    assert_memory_not_equal(one, other, BYTES);
    mc_synth_image(4, 0, 1000, SIDE, other);
    assert_memory_not_equal(one, other, BYTES);
    mc_synth_image(3 + (1ull << 32), 0, 1000, SIDE, other);
    assert_memory_not_equal(one, other, BYTES);
}

/* Counts of 2,000 draws of ten classes: 200 with a standard deviation of 13. */
TEST(classes_are_equally_frequent)
{
    static uint8_t image[3 * 8 * 8];

    if (is_slow())
        skip(); /* too slow here: it needs thousands of images */
    for (int split = 0; split < 2; split++) {
        int counts[MC_SYNTH_CLASSES] = {0};
        for (uint32_t i = 0; i < 2000; i++)
            counts[mc_synth_image(9, split, i, 8, image)]++;
        for (int c = 0; c < MC_SYNTH_CLASSES; c++)
            assert_in_range(counts[c], 135, 265);
    }
}

/* The constants in the code are the means and deviations of seed 1's training images. */
TEST(normalisation_agrees_with_pixels)
{
    static uint8_t image[BYTES];
    double sum[3] = {0}, squares[3] = {0}, n = 0;

    if (is_slow())
        skip();
    for (uint32_t i = 0; i < 4000; i++, n += SIDE * SIDE) {
        mc_synth_image(1, 0, i, SIDE, image);
        for (size_t k = 0; k < BYTES; k++) {
            double x = image[k] / 255.0;
            sum[k / (SIDE * SIDE)] += x;
            squares[k / (SIDE * SIDE)] += x * x;
        }
    }
    for (int c = 0; c < 3; c++) {
        double mean = sum[c] / n, variance = squares[c] / n - mean * mean,
               std = (double)mc_synth_std[c];
        assert_true(mean - (double)mc_synth_mean[c] < .005 &&
                    (double)mc_synth_mean[c] - mean < .005);
        assert_true(variance > (std - .005) * (std - .005) &&
                    variance < (std + .005) * (std + .005));
    }
}

int main(void)
{
    return run_entered(NULL, NULL);
}
