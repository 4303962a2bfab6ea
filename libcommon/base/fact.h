/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MC_FACT_H
#define MC_FACT_H

/* A setting outside the build that changes the bytes of a result, such as "threads", "2". */
struct mc_fact {
    const char *name;
    char value[32];
};

#endif
