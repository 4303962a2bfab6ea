/* SPDX-License-Identifier: Apache-2.0
 *
 * What a test runs under: valgrind takes some fifty times as long, and so do an emulated device
 * with large networks and a device's memory checker; there a test does less of the same. Header
 * only. */
#ifndef MC_TEST_UNDER_H
#define MC_TEST_UNDER_H

#include <stdlib.h>
#include <string.h>

/* Only there can a device be told to fail. */
static inline int on_emulation(void)
{
    const char *under = getenv("MC_UNDER");

    return under && !strcmp(under, "emulation");
}

static inline int does_less(void)
{
    const char *under = getenv("MC_UNDER");

    return under && (!strcmp(under, "valgrind") || !strcmp(under, "emulation") ||
                     !strcmp(under, "memcheck"));
}

#endif
