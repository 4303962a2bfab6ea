/* SPDX-License-Identifier: Apache-2.0
 *
 * The cases of a test for readers in other languages: with MC_HAND_ON, a folder, in the
 * environment, each case is kept there, and what a refusal of it says is a line of its list.tsv. */
#ifndef MC_TEST_HAND_ON_H
#define MC_TEST_HAND_ON_H

#include "tests/unit/must.h"

/* says NULL: it is read. */
static inline void hand_on(const char *what, size_t number, const void *bytes, size_t n,
                           const char *says)
{
    const char *to = getenv("MC_HAND_ON");
    char path[4096];
    FILE *f = NULL;

    if (!to)
        return;
    snprintf(path, sizeof path, "%.3000s/%s-%zu", to, what, number);
    assert_non_null(f = fopen(path, "wb"));
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    snprintf(path, sizeof path, "%.4000s/list.tsv", to);
    assert_non_null(f = fopen(path, "a"));
    fprintf(f, "%s-%zu\t%s\n", what, number, says ? says : "");
    assert_int_equal(fclose(f), 0);
}

#endif
