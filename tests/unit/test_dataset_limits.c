/* SPDX-License-Identifier: Apache-2.0
 *
 * The limits of formats/dataset.md: what is just within them comes back, what is over is refused
 * before it costs anything. */
#include "mc_dataset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define CLASSES 65536
#define NAME 24 /* bytes of each class's name, so that all have 1.5 MiB */

static char folder[] = "/tmp/mc-test-dataset-XXXXXX";
static char file[64];

static void must(int rc, const struct mc_error *err)
{
    if (rc)
        fail_msg("%d: %s", rc, err->text);
}

/* n images of one pixel in so many classes. */
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

static void class_names_fit_in_a_header_or_are_refused(void **state)
{
    static char text[CLASSES][NAME + 1], *names[CLASSES], longer[NAME + 2], endless[258];
    struct mc_dataset_reader *r = NULL;
    struct mc_dataset_writer *w = NULL;
    struct mc_dataset_info info;
    struct mc_error err = {0};
    uint8_t pixel = 3;
    int32_t label = 65535;

    (void)state;
    for (int i = 0; i < CLASSES; i++) {
        snprintf(text[i], sizeof text[i], "%0*d", NAME, i);
        names[i] = text[i];
    }
    dataset_of(&info, 1, CLASSES);
    info.class_names = names;
    must(mc_dataset_create(&w, file, &info, NULL, &err), &err);
    must(mc_dataset_write(w, 1, &pixel, &label, &err), &err);
    must(mc_dataset_commit(w, NULL, &err), &err);
    must(mc_dataset_open(&r, file, &err), &err);
    assert_string_equal(mc_dataset_get_info(r)->class_names[65535], "000000000000000000065535");
    mc_dataset_close(r);

    snprintf(longer, sizeof longer, "%0*d", NAME + 1, 0);
    names[0] = longer;
    assert_int_equal(mc_dataset_create(&w, file, &info, NULL, &err), MC_EINPUT);
    assert_string_equal(err.text, "the class names have 1572865 bytes (there may be 1572864)");
    info.spec.classes = 1;
    memset(endless, 'x', 257);
    names[0] = endless;
    assert_int_equal(mc_dataset_create(&w, file, &info, NULL, &err), MC_EINPUT);
    assert_string_equal(err.text, "class name 0 has 257 bytes (there may be 256)");
    endless[256] = 0;
    must(mc_dataset_create(&w, file, &info, NULL, &err), &err);
    mc_dataset_abandon(w);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(file, sizeof file, "%s/x.mcz", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(file);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(class_names_fit_in_a_header_or_are_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
