/* SPDX-License-Identifier: Apache-2.0
 *
 * Shapes of arrays that are images, and the order of their axes. */
#include "formats/datasets/arrays.h"
#include "tests/unit/must.h"

enum { AUTO = MC_LAYOUT_AUTO, NCHW = MC_LAYOUT_NCHW, NHWC = MC_LAYOUT_NHWC };

/* says NULL: accepted as channels x height x width. */
static const struct {
    int layout, ndim;
    uint64_t shape[4];
    enum mc_dtype pixels;
    const char *says;
    int last, channels, height, width;
} cases[] = {
    {AUTO, 3, {5, 6, 7, 0}, MC_U8, NULL, 0, 1, 6, 7},
    {AUTO, 4, {5, 3, 6, 7}, MC_U8, NULL, 0, 3, 6, 7},
    {AUTO, 4, {5, 6, 7, 3}, MC_U8, NULL, 1, 3, 6, 7},
    {AUTO, 4, {5, 1, 7, 9}, MC_U8, NULL, 0, 1, 7, 9},
    {AUTO, 4, {5, 6, 7, 4}, MC_U8, NULL, 1, 4, 6, 7},
    {NCHW, 4, {5, 3, 7, 4}, MC_U8, NULL, 0, 3, 7, 4},
    {NHWC, 4, {5, 3, 7, 4}, MC_U8, NULL, 1, 4, 3, 7},
    {AUTO, 3, {2147483647, 1, 1, 0}, MC_U8, NULL, 0, 1, 1, 1},
    {AUTO, 3, {1, 8192, 2048, 0}, MC_U8, NULL, 0, 1, 8192, 2048},
    {AUTO, 2, {5, 6, 0, 0}, MC_U8, "(got 2 dimensions)", 0, 0, 0, 0},
    {AUTO, 1, {5, 0, 0, 0}, MC_U8, "(got 1 dimensions)", 0, 0, 0, 0},
    {NCHW, 3, {5, 6, 7, 0}, MC_U8, "requires images with channels (4 dimensions)", 0, 0, 0, 0},
    {AUTO, 4, {5, 3, 7, 4}, MC_U8, "images of 3 x 7 x 4 may be C,H,W or H,W,C", 0, 0, 0, 0},
    {AUTO, 4, {5, 6, 7, 5}, MC_U8, "images of 6 x 7 x 5 do not have 1 to 4 channels", 0, 0, 0, 0},
    {AUTO, 4, {5, 0, 7, 0}, MC_U8, "images of 0 x 7 x 0 do not have 1 to 4 channels", 0, 0, 0, 0},
    {NCHW, 4, {5, 6, 7, 3}, MC_U8, "do not have 1 to 4 channels in this --layout", 0, 0, 0, 0},
    {NHWC, 4, {5, 3, 7, 6}, MC_U8, "do not have 1 to 4 channels in this --layout", 0, 0, 0, 0},
    {AUTO,
     3,
     {5, 0, 7, 0},
     MC_U8,
     "an image side must be 1 to 8192 pixels (got 0 x 7)",
     0,
     0,
     0,
     0},
    {AUTO,
     3,
     {5, 6, 0, 0},
     MC_U8,
     "an image side must be 1 to 8192 pixels (got 6 x 0)",
     0,
     0,
     0,
     0},
    {AUTO,
     3,
     {5, 8193, 7, 0},
     MC_U8,
     "an image side must be 1 to 8192 pixels (got 8193 x 7)",
     0,
     0,
     0,
     0},
    {AUTO,
     3,
     {5, 6, 8193, 0},
     MC_U8,
     "an image side must be 1 to 8192 pixels (got 6 x 8193)",
     0,
     0,
     0,
     0},
    {AUTO, 3, {5, 6, UINT64_MAX, 0}, MC_U8, "(got 6 x 18446744073709551615)", 0, 0, 0, 0},
    {AUTO, 3, {1, 8192, 2049, 0}, MC_U8, "images of 8192 x 2049 are too large", 0, 0, 0, 0},
    {AUTO, 3, {1, 8192, 2048, 0}, MC_F32, "images of 8192 x 2048 are too large", 0, 0, 0, 0},
    {AUTO, 3, {0, 6, 7, 0}, MC_U8, "must have 1 to 2147483647 images (got 0)", 0, 0, 0, 0},
    {AUTO, 3, {2147483648, 6, 7, 0}, MC_U8, "images (got 2147483648)", 0, 0, 0, 0},
};

TEST(images_have_their_axes_where_channels_are_few)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct mc_image_source_opts o = {.layout = cases[i].layout};
        struct mc_arrays a = {.ndim = cases[i].ndim, .pixels = cases[i].pixels};
        struct mc_dataset_info info = {0};
        int last = 0;

        memcpy(a.shape, cases[i].shape, sizeof a.shape);
        if (cases[i].says) {
            must_fail(mc_arrays_shape(&a, &o, &info, &last, &why), MC_EINPUT, cases[i].says);
            continue;
        }
        must(mc_arrays_shape(&a, &o, &info, &last, &why));
        assert_int_equal(info.n, a.shape[0]);
        assert_int_equal(last, cases[i].last);
        assert_int_equal(info.spec.channels, cases[i].channels);
        assert_int_equal(info.spec.height, cases[i].height);
        assert_int_equal(info.spec.width, cases[i].width);
    }
}

int main(void)
{
    return run_entered(NULL, NULL);
}
