/* SPDX-License-Identifier: Apache-2.0
 *
 * Paths of the golden files. Header only. */
#ifndef MC_TEST_GOLDEN_H
#define MC_TEST_GOLDEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* The path of a file in this folder; valid until the next call. */
static inline const char *golden_path(const char *name)
{
    static char path[4096];
    const char *root = getenv("MC_ROOT");

    snprintf(path, sizeof path, "%s/tests/parity/%s", root ? root : ".", name);
    return path;
}

static inline FILE *golden_open(const char *name)
{
    FILE *f = fopen(golden_path(name), "r");

    if (!f)
        fail_msg("cannot open %s", golden_path(name));
    return f;
}

#endif
