/* SPDX-License-Identifier: Apache-2.0
 *
 * The limits of formats/codecs/dataset.md: data at a limit is read back, data above is refused
 * before memory is allocated. */
#include "formats/codecs/dataset.h"
#include "formats/stream/writer.h"
#include "tests/unit/must.h"

#define CLASSES 65536
#define NAME 24 /* bytes per class name, 1.5 MiB together */

/* n images of one pixel in this number of classes. */
static void dataset_of(struct mc_dataset_info *info, uint64_t n, int classes)
{
    *info = (struct mc_dataset_info){
        .name = "set",
        .split = "train",
        .order = "publisher",
        .n = n,
        .pixels = MC_U8,
        .spec = {
            .channels = 1, .height = 1, .width = 1, .classes = classes, .mean = {0}, .std = {1}}};
}

TEST(class_names_fit_in_a_header_or_are_refused)
{
    static char text[CLASSES][NAME + 1], *names[CLASSES], longer[NAME + 2], endless[258];
    struct mc_dataset_reader *r = NULL;
    struct mc_dataset_writer *w = NULL;
    struct mc_dataset_info info;
    uint8_t pixel = 3;
    int32_t label = 65535;

    for (int i = 0; i < CLASSES; i++) {
        snprintf(text[i], sizeof text[i], "%0*d", NAME, i);
        names[i] = text[i];
    }
    dataset_of(&info, 1, CLASSES);
    info.class_names = names;
    must(mc_dataset_create(&w, file, &info, NULL, &why));
    must(mc_dataset_write(w, 1, &pixel, &label, &why));
    must(mc_dataset_commit(w, 0, NULL, &why));
    must(mc_dataset_open(&r, file, &why));
    assert_string_equal(mc_dataset_get_info(r)->class_names[65535], "000000000000000000065535");
    mc_dataset_close(r);

    snprintf(longer, sizeof longer, "%0*d", NAME + 1, 0);
    names[0] = longer;
    must_fail(mc_dataset_create(&w, file, &info, NULL, &why), MC_EINPUT,
              "class names*1572865 bytes*1572864");
    info.spec.classes = 1;
    memset(endless, 'x', 257);
    names[0] = endless;
    must_fail(mc_dataset_create(&w, file, &info, NULL, &why), MC_EINPUT,
              "class name 0*257 bytes*256");
    endless[256] = 0;
    must(mc_dataset_create(&w, file, &info, NULL, &why));
    assert_int_equal(mc_dataset_commit(w, MC_EUSAGE, NULL, &why), MC_EUSAGE);
}

/* Expect this message for a small data set after `change`. */
#define REFUSED(change, says)                                                                      \
    do {                                                                                           \
        dataset_of(&info, 1, 2);                                                                   \
        change;                                                                                    \
        must_fail(mc_dataset_create(&w, file, &info, NULL, &why), MC_EINPUT, "");                  \
        must_say(says);                                                                            \
    } while (0)
#define ACCEPTED(change)                                                                           \
    do {                                                                                           \
        dataset_of(&info, 1, 2);                                                                   \
        change;                                                                                    \
        must(mc_dataset_create(&w, file, &info, NULL, &why));                                      \
        assert_int_equal(mc_dataset_commit(w, MC_EUSAGE, NULL, &why), MC_EUSAGE);                  \
    } while (0)

TEST(sizes_and_augmentation_are_within_limits)
{
    struct mc_dataset_writer *w = NULL;
    struct mc_dataset_info info;

    REFUSED(info.name[0] = 0, "data set*no name*no split");
    REFUSED(info.split[0] = 0, "data set*no name*no split");
    REFUSED(info.pixels = MC_F64, "pixels*uint8 or float32 (got float64)");
    REFUSED(info.n = 0, "data set*1 to 2147483647 images (got 0)");
    ACCEPTED(info.n = 2147483647);
    REFUSED(info.n = 2147483648, "data set*1 to 2147483647 images (got 2147483648)");
    REFUSED(info.spec.channels = 0, "image*1 to 4 channels (got 0)");
    REFUSED(info.spec.channels = 5, "image*1 to 4 channels (got 5)");
    REFUSED(info.spec.height = 0, "image size 0 x 1*out of range");
    REFUSED(info.spec.width = 0, "image size 1 x 0*out of range");
    ACCEPTED(info.spec.width = 8192);
    REFUSED(info.spec.height = 8193, "image size 8193 x 1*out of range");
    REFUSED(info.spec.width = 8193, "image size 1 x 8193*out of range");
    ACCEPTED((info.spec.height = 2048, info.spec.width = 8192));
    REFUSED((info.spec.height = 2049, info.spec.width = 8192),
            "image size 2049 x 8192*out of range");
    REFUSED((info.spec.height = 2048, info.spec.width = 8192, info.pixels = MC_F32),
            "image size 2048 x 8192*out of range");
    REFUSED(info.spec.classes = 0, "data set*1 to 65536 classes (got 0)");
    REFUSED(info.spec.classes = 65537, "data set*1 to 65536 classes (got 65537)");
    REFUSED(info.spec.mean[0] = 1001, "mean 1001*std 1*not a valid normalisation");
    REFUSED(info.spec.mean[0] = -1001, "mean -1001*std 1*not a valid normalisation");
    REFUSED(info.spec.std[0] = 0, "mean 0*std 0*not a valid normalisation");
    REFUSED(info.spec.std[0] = 2e6f, "mean 0*std 2e+06*not a valid normalisation");
    REFUSED(info.augment.rotate = -1, "rotate -1*pad 0*out of range");
    REFUSED(info.augment.rotate = 181, "rotate 181*pad 0*out of range");
    REFUSED(info.augment.pad = -1, "rotate 0*pad -1*out of range");
    REFUSED(info.augment.pad = 8193, "rotate 0*pad 8193*out of range");
    REFUSED(info.augment.turn = -1, "turn -1*scale 0*out of range");
    REFUSED(info.augment.turn = 181, "turn 181*scale 0*out of range");
    REFUSED(info.augment.scale = -1, "turn 0*scale -1*out of range");
    REFUSED(info.augment.scale = 1, "turn 0*scale 1*out of range");
    REFUSED(info.augment.contrast = -1, "contrast -1*saturation 0*out of range");
    REFUSED(info.augment.contrast = 2, "contrast 2*saturation 0*out of range");
    REFUSED(info.augment.saturation = -1, "contrast 0*saturation -1*out of range");
    REFUSED(info.augment.saturation = 2, "contrast 0*saturation 2*out of range");
    ACCEPTED(info.augment.saturation = 1);
    REFUSED((info.spec.channels = 2, info.spec.std[1] = 1, info.augment.contrast = 1),
            "contrast*saturation require 1 or 3 channels (got 2)");
}

/* Each augmentation is read back unchanged; a set with only the first three writes no other
 * keys. */
TEST(augmentation_is_kept)
{
    struct mc_dataset_reader *r = NULL;
    struct mc_dataset_writer *w = NULL;
    struct mc_dataset_info info;
    uint8_t pixel = 3;
    int32_t label = 1;

    for (int i = 0; i < 5; i++) {
        dataset_of(&info, 1, 2);
        info.augment = (struct mc_augment){.rotate = 15, .flip = 1, .pad = 4};
        *(float *[]){&info.augment.turn, &info.augment.scale, &info.augment.contrast,
                     &info.augment.saturation, &info.augment.rotate}[i] = .5f;
        must(mc_dataset_create(&w, file, &info, NULL, &why));
        must(mc_dataset_write(w, 1, &pixel, &label, &why));
        must(mc_dataset_commit(w, 0, NULL, &why));
        must(mc_dataset_open(&r, file, &why));
        assert_memory_equal(&mc_dataset_get_info(r)->augment, &info.augment, sizeof info.augment);
        const msgpack_object *kept = mc_get_opt(mc_reader_meta(mc_dataset_stream(r)), "augment");
        assert_int_equal(mc_get_opt(kept, "turn") != NULL, i < 4);
        mc_dataset_close(r);
    }
}

/* Write a data set of n one-pixel images, all labels first. */
static void write_labels_first(size_t n)
{
    struct mc_tensor t[2] = {
        mc_tensor_make("images", MC_U8, 4, (const uint64_t[]){n, 1, 1, 1}),
        mc_tensor_make("labels", MC_I32, 1, (const uint64_t[]){n}),
    };
    void *zeros = calloc(n, sizeof(int32_t));
    struct mc_dataset_reader *r = NULL;
    struct mc_dataset_writer *d = NULL;
    struct mc_writer *w = NULL;
    struct mc_dataset_info info;
    struct mc_pack meta;
    uint8_t pixel = 0;
    int32_t label = 0;

    assert_non_null(zeros);
    /* a small set's meta */
    dataset_of(&info, 1, 2);
    must(mc_dataset_create(&d, file, &info, NULL, &why));
    must(mc_dataset_write(d, 1, &pixel, &label, &why));
    must(mc_dataset_commit(d, 0, NULL, &why));
    must(mc_dataset_open(&r, file, &why));
    mc_pack_init(&meta);
    mc_pack_object(&meta, mc_reader_meta(mc_dataset_stream(r)));
    mc_dataset_close(r);

    must(mc_writer_open(&w, file, &(struct mc_header){"dataset", &meta, t, 2}, NULL, &why));
    must(mc_writer_rows(w, 1, n, zeros, &why));
    must(mc_writer_rows(w, 0, n, zeros, &why));
    must(mc_writer_close(w, 0, NULL, &why));
    mc_pack_release(&meta);
    free(zeros);
}

TEST(labels_far_before_their_images_are_refused)
{
    struct mc_dataset_reader *r = NULL;
    const void *pixels;
    const int32_t *labels;
    size_t n = 0;

    for (int over = 0; over < 2; over++) {
        write_labels_first(MC_DATASET_MAX_LABELS_KEPT + (size_t)over);
        must(mc_dataset_open(&r, file, &why));
        assert_int_equal(mc_dataset_lend(r, 3, &pixels, &labels, &n, &why), over ? MC_EINPUT : 0);
        assert_int_equal(n, over ? 0 : 3);
        if (over)
            must_say("more*16777216 labels precede*images");
        mc_dataset_close(r);
    }
}

int main(void)
{
    return run_entered(enter_folder, leave_folder);
}
