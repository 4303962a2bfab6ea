/* SPDX-License-Identifier: Apache-2.0
 *
 * How a backend is to compute: what the programs' common options say and mc_backend_open takes. */
#ifndef MC_BACKEND_OPTS_H
#define MC_BACKEND_OPTS_H

#include "libcommon/base/precision.h"

/* All zero is the default. */
struct mc_backend_opts {
    const char *device;          /* "auto" (as NULL), "cpu", "cuda", "cuda:1" */
    int threads;                 /* 0: all cores */
    enum mc_precision precision; /* the CPU has MC_PRECISION_F32 only */
    int any_order; /* sums may be taken in any order where that is faster: a rerun then gives other
                      bytes. The CPU's order is always the same */
};

#endif
