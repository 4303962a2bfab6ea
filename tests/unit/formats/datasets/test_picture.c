/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures: a truncated file is refused, flipped bits change only pixels, sizes are refused before
 * memory is allocated, and the square equals results computed by hand.
 * tests/cli/mc-data/folder-decodes-pictures-like-pillow.sh compares pixels with Pillow's. */
#include "formats/datasets/picture.h"
#include "tests/unit/must.h"

static const char *const files[] = {
    "rgb.jpg",  "tall.jpeg",     "progressive.JPG", "grey.jpg",  "cmyk.jpg",
    "rgb.png",  "palette.PNG",   "bits.png",        "alpha.png", "grey-alpha.png",
    "wide.png", "wide-grey.png", "interlaced.png",  "gamma.png"};
enum { FILES = sizeof files / sizeof *files, MAX = 8192 };

static uint8_t sample[MAX], changed[MAX];

static size_t read_sample(const char *name)
{
    const char *root = getenv("MC_ROOT");
    char path[512];

    snprintf(path, sizeof path, "%s/tests/pictures/%s", root ? root : ".", name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(sample, 1, MAX, f);
    assert_true(n > 0 && n < MAX);
    fclose(f);
    return n;
}

/* Decode from memory of exactly this size, so that memory checkers detect an overrun. */
static int decode(struct mc_picture *p, const uint8_t *bytes, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);

    assert_non_null(copy);
    memcpy(copy, bytes, n);
    forget();
    int rc = mc_picture_decode(p, "x", copy, n, &why);
    assert_true(!rc || (rc == MC_EINPUT && why.code == MC_EINPUT && !strncmp(why.text, "x: ", 3)));
    free(copy);
    return rc;
}

TEST(file_truncated_anywhere_is_refused)
{
    struct mc_picture p = {0};

    for (int i = 0; i < FILES; i++) {
        const size_t n = read_sample(files[i]);
        if (decode(&p, sample, n))
            fail_msg("%s: %s", files[i], why.text);
        assert_true(p.width + p.height == 60 && (p.width == 37 || p.width == 23));
        for (size_t cut = 0; cut < n; cut++)
            if (!decode(&p, sample, cut))
                fail_msg("%s: %zu of %zu bytes do", files[i], cut, n);
    }
    mc_picture_release(&p);
}

TEST(changed_bits_change_pixels_at_most)
{
    struct mc_picture p = {0};
    int refused[2] = {0};

    for (int i = 0; i < FILES; i++) {
        const size_t n = read_sample(files[i]);
        const int png = sample[0] == 0x89;
        for (size_t bit = 0; bit < 8 * n; bit += png ? 3 : 5) {
            memcpy(changed, sample, n);
            changed[bit / 8] ^= (uint8_t)(1 << bit % 8);
            if (decode(&p, changed, n))
                refused[png]++;
            else
                assert_true((int64_t)p.width * p.height <= MC_PICTURE_MAX_PIXELS);
        }
    }
    assert_true(refused[0] > 100 && refused[1] > 1000);
    mc_picture_release(&p);
}

/* A JPEG header with two sizes above the limits, and one that its data cannot fill. */
TEST(sizes_are_refused_before_memory_is_taken)
{
    struct mc_picture p = {0};
    const size_t n = read_sample("grey.jpg");
    size_t at = 2;

    while (sample[at + 1] != 0xc0)
        at += 2 + (size_t)sample[at + 2] * 256 + sample[at + 3];
    memcpy(changed, sample, n);
    memcpy(changed + at + 5, "\xff\xdc\xff\xdc", 4);
    must_fail(decode(&p, changed, n), MC_EINPUT, "65500 x 65500*too large");
    memcpy(changed + at + 5, "\x20\x00\x20\x00", 4);
    must_fail(decode(&p, changed, n), MC_EINPUT, "8192 x 8192*too large");
    assert_true(p.rgb_size == 0);
    memcpy(changed + at + 5, "\x00\x80\x00\x80", 4);
    must_fail(decode(&p, changed, n), MC_EINPUT, "damaged");
    mc_picture_release(&p);
}

static void set_rgb(struct mc_picture *p, int height, int width, const uint8_t *grey)
{
    const size_t n = (size_t)height * (size_t)width;

    *p = (struct mc_picture){.height = height, .width = width, .rgb = malloc(3 * n)};
    assert_non_null(p->rgb);
    for (size_t i = 0; i < n; i++)
        memset(p->rgb + 3 * i, grey[i], 3);
}

/* By hand: halving weighs four pixels 1 3 3 1, and three at the edges. */
TEST(square_pictures_agree_with_hand_computation)
{
    static const uint8_t row[8] = {0, 80, 160, 240, 0, 80, 160, 240};
    static uint8_t grey[64];
    struct mc_picture p;
    uint8_t out[3 * 64];

    for (int i = 0; i < 64; i++)
        grey[i] = row[i % 8];
    set_rgb(&p, 8, 8, grey);
    must(mc_picture_square(&p, 4, out, &why));
    assert_int_equal(out[0], 57);  /* (3*0 + 3*80 + 160) / 7 */
    assert_int_equal(out[1], 160); /* (80 + 3*160 + 3*240 + 0) / 8 */
    assert_int_equal(out[2], 80);  /* (240 + 3*0 + 3*80 + 160) / 8 */
    assert_int_equal(out[3], 183); /* (80 + 3*160 + 3*240) / 7 */
    for (int i = 4; i < 48; i++)
        assert_int_equal(out[i], out[i % 4]);
    mc_picture_release(&p);
    /* the middle of wide pictures; half a pixel rounds to even */
    for (int i = 0; i < 64; i++)
        grey[i] = (uint8_t)(i % 11);
    set_rgb(&p, 4, 11, grey);
    must(mc_picture_square(&p, 4, out, &why));
    for (int i = 0; i < 48; i++)
        assert_int_equal(out[i], i % 4 + 4); /* (11 - 4) / 2 = 3.5 to 4 */
    mc_picture_release(&p);
    set_rgb(&p, 4, 9, grey);
    for (size_t i = 0; i < 36; i++)
        memset(p.rgb + 3 * i, (int)(i % 9), 3);
    must(mc_picture_square(&p, 4, out, &why));
    for (int i = 0; i < 48; i++)
        assert_int_equal(out[i], i % 4 + 2); /* 2.5 to 2 */
    mc_picture_release(&p);
}

/* The longest side with the shortest, to one pixel and to the largest square. */
TEST(narrowest_pictures_are_resized)
{
    static uint8_t grey[MC_PICTURE_MAX_SIDE];
    struct mc_picture p;
    uint8_t *out = malloc((size_t)3 * MC_PICTURE_MAX_SIZE * MC_PICTURE_MAX_SIZE);

    assert_non_null(out);
    memset(grey, 77, sizeof grey);
    for (int turned = 0; turned < 2; turned++)
        for (int large = 0; large < 2; large++) {
            const int size = large ? MC_PICTURE_MAX_SIZE : 1;
            set_rgb(&p, turned ? 1 : MC_PICTURE_MAX_SIDE, turned ? MC_PICTURE_MAX_SIDE : 1, grey);
            must(mc_picture_square(&p, size, out, &why));
            for (size_t i = 0; i < (size_t)3 * (size_t)size * (size_t)size; i++)
                assert_int_equal(out[i], 77);
            mc_picture_release(&p);
        }
    free(out);
}

int main(void)
{
    return run_entered(NULL, NULL);
}
