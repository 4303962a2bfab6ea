/* SPDX-License-Identifier: Apache-2.0
 *
 * Zeroed memory, growing lists, duplicate names. */
#include "libcommon/base/alloc.h"
#include "libcommon/base/tensor.h"
#include "tests/unit/must.h"

TEST(memory_is_zeroed_and_bounded)
{
    double *items = NULL, *none = NULL, *huge = (double *)&why;

    must(mc_new(&items, 1000, &why));
    for (int i = 0; i < 1000; i++)
        assert_true(items[i] == 0);
    must(mc_new(&none, 0, &why));
    assert_non_null(none);
    const char *under = getenv("MC_UNDER");
    if (!under || !*under) { /* sanitizers and valgrind report such a call as an error */
        assert_int_equal(mc_new(&huge, SIZE_MAX / 4, &why), MC_ENOMEM);
        assert_null(huge);
    }
    free(items);
    free(none);
}

TEST(list_keeps_its_items)
{
    int *list = NULL;

    for (size_t n = 0; n < 1025; n++) {
        must(mc_list_room(&list, n, &why));
        list[n] = (int)n;
    }
    for (int i = 0; i < 1025; i++)
        assert_int_equal(list[i], i);
    free(list);
}

TEST(duplicate_names_are_found)
{
    struct {
        int before;
        char name[8];
    } items[] = {{1, "d"}, {2, "b"}, {3, "a"}, {4, "b"}, {5, "a"}, {6, "c"}};
    const char *twice = "";

    must(mc_duplicate_name(items[0].name, 3, sizeof *items, &twice, &why));
    assert_null(twice);
    must(mc_duplicate_name(items[0].name, 6, sizeof *items, &twice, &why));
    assert_string_equal(twice, "a");
    must(mc_duplicate_name(items[0].name, 0, sizeof *items, &twice, &why));
    assert_null(twice);
}

int main(void)
{
    return run_entered(NULL, NULL);
}
