/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MC_FACT_H
#define MC_FACT_H

/* One thing besides the build that decides the bytes of a result: "threads", "2". */
struct mc_fact {
    const char *name;
    char value[32];
};

#endif
