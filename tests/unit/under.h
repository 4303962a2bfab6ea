/* SPDX-License-Identifier: Apache-2.0
 *
 * The environment of a test. Valgrind is about fifty times as slow; emulated devices with large
 * networks and a device's memory checker are slow too. There a test runs fewer or smaller cases.
 * Header only. */
#ifndef MC_TEST_UNDER_H
#define MC_TEST_UNDER_H

#include <stdlib.h>
#include <string.h>

/* 1 on an emulated device, the only one that can simulate failures. */
static inline int on_emulation(void)
{
    const char *under = getenv("MC_UNDER");

    return under && !strcmp(under, "emulation");
}

static inline int is_slow(void)
{
    const char *under = getenv("MC_UNDER");

    return under && (!strcmp(under, "valgrind") || !strcmp(under, "emulation") ||
                     !strcmp(under, "memcheck"));
}

#endif
