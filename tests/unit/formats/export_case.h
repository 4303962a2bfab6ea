/* SPDX-License-Identifier: Apache-2.0
 *
 * Export a test's cases for readers in other languages. If MC_EXPORT_CASES names a folder, each case is
 * written there, and the message that refuses it to a line of list.tsv. */
#ifndef MC_TEST_EXPORT_CASE_H
#define MC_TEST_EXPORT_CASE_H

#include "tests/unit/must.h"

/* says NULL: accepted. */
static inline void export_case(const char *kind, size_t number, const void *bytes, size_t n,
                               const char *says)
{
    const char *to = getenv("MC_EXPORT_CASES");
    char path[4096];
    FILE *f = NULL;

    if (!to)
        return;
    snprintf(path, sizeof path, "%.3000s/%s-%zu", to, kind, number);
    assert_non_null(f = fopen(path, "wb"));
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    snprintf(path, sizeof path, "%.4000s/list.tsv", to);
    assert_non_null(f = fopen(path, "a"));
    fprintf(f, "%s-%zu\t%s\n", kind, number, says ? says : "");
    assert_int_equal(fclose(f), 0);
}

#endif
