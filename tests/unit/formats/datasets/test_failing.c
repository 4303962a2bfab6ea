/* SPDX-License-Identifier: Apache-2.0
 *
 * Failing allocations and failing input and output calls while sets of images are opened and their
 * images are written. */
#include "formats/datasets/source.h"
#include "tests/unit/failing.h"

#include <fcntl.h>
#include <sys/stat.h>

/* Folders and files in order of creation; a picture is a link to a file of tests/pictures. */
static const struct {
    const char *path, *text; /* NULL text: a folder; "@NAME": that picture */
    size_t bytes, zeros;     /* bytes of the text, 0: all; zeros appended */
} laid_out[] = {
    {"folder", NULL, 0, 0},
    {"folder/train", NULL, 0, 0},
    {"folder/train/cat", NULL, 0, 0},
    {"folder/train/cat/1.png", "@rgb.png", 0, 0},
    {"folder/train/cat/2.jpg", "@cmyk.jpg", 0, 0},
    {"folder/train/dog", NULL, 0, 0},
    {"folder/train/dog/1.png", "@palette.PNG", 0, 0},
    {"folder/train/dog/2.jpg", "@progressive.JPG", 0, 0},
    {"tiny", NULL, 0, 0},
    {"tiny/wnids.txt", "n1\n", 0, 0},
    {"tiny/words.txt", "n1\tcat\nn2\tdog\n", 0, 0},
    {"tiny/train", NULL, 0, 0},
    {"tiny/train/n1", NULL, 0, 0},
    {"tiny/train/n1/images", NULL, 0, 0},
    {"tiny/train/n1/images/n1_0.JPEG", "@rgb.jpg", 0, 0},
    {"tiny/val", NULL, 0, 0},
    {"tiny/val/val_annotations.txt", "val_0.JPEG\tn1\t0\t0\t1\t1\n", 0, 0},
    {"tiny/val/images", NULL, 0, 0},
    {"tiny/val/images/val_0.JPEG", "@rgb.jpg", 0, 0},
    {"cifar", NULL, 0, 0},
    {"cifar/batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", 0, 0},
    {"cifar/test_batch.bin", "", 0, 10000 * 3073},
    {"images-idx3-ubyte", "\0\0\10\3\0\0\0\2\0\0\0\3\0\0\0\3", 16, 18},
    {"labels-idx1-ubyte", "\0\0\10\1\0\0\0\2\0\1", 10, 0},
};

static int lay_out(void **state)
{
    char picture[4096];

    if (enter_folder(state))
        return 1;
    for (size_t i = 0; i < COUNT(laid_out); i++) {
        const char *path = laid_out[i].path, *text = laid_out[i].text;
        if (!text) {
            assert_int_equal(mkdir(path, 0700), 0);
        } else if (*text == '@') {
            snprintf(picture, sizeof picture, "%s/tests/pictures/%s", getenv("MC_ROOT"), text + 1);
            assert_int_equal(symlink(picture, path), 0);
        } else {
            const size_t n = laid_out[i].bytes ? laid_out[i].bytes : strlen(text);
            const int fd = open(path, O_WRONLY | O_CREAT, 0600);
            assert_int_equal(write(fd, text, n), n);
            assert_int_equal(ftruncate(fd, (off_t)(n + laid_out[i].zeros)), 0);
            close(fd);
        }
    }
    return 0;
}

static int clear_up(void **state)
{
    for (size_t i = COUNT(laid_out); i-- > 0;)
        if (laid_out[i].text ? unlink(laid_out[i].path) : rmdir(laid_out[i].path))
            return 1;
    return leave_folder(state);
}

struct set {
    const char *name;
    struct mc_image_source_opts o;
    uint64_t samples;
};

static int write_set(const void *arg)
{
    static const uint64_t seed = 1;
    const struct set *set = arg;
    struct mc_image_source *s = NULL;
    struct mc_history *h = mc_history_new("mc-data");
    int rc = h ? mc_image_source_open(&s, set->name, &set->o, &why) : mc_no_memory(&why);

    if (!rc)
        rc = mc_image_source_write(
            s, file,
            &(struct mc_image_choice){.samples = set->samples, .shuffle = &seed, .threads = 1}, h,
            &why);
    mc_image_source_close(s);
    mc_history_free(h);
    return rc;
}

TEST(failures_are_reported)
{
    static const struct set sets[] = {
        {"folder", {.dir = "folder", .split = "train", .size = 4}, 0},
        {"tiny-imagenet", {.dir = "tiny", .split = "train"}, 0},
        {"tiny-imagenet", {.dir = "tiny", .split = "test"}, 0},
        {"cifar10", {.dir = "cifar", .split = "test"}, 3},
        {"idx", {.dir = "images-idx3-ubyte", .labels = "labels-idx1-ubyte", .split = "train"}, 0},
        {"synth", {.split = "train", .samples = 4, .size = 8}, 0},
    };

    for (size_t i = 0; i < COUNT(sets); i++) {
        must(write_set(&sets[i]));
        fail_all(sets[i].name, write_set, &sets[i], 1);
    }
}

int main(int argc, char **argv)
{
    return run_failing(argc, argv, lay_out, clear_up);
}
