/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of mc_backend_open, as set by the programs' common options. */
#ifndef MC_BACKEND_OPTS_H
#define MC_BACKEND_OPTS_H

#include "libcommon/base/precision.h"

/* All zero is the default. */
struct mc_backend_opts {
    const char *device;          /* "auto" (also NULL), "cpu", "cuda", "cuda:1" */
    int threads;                 /* 0: all cores */
    enum mc_precision precision; /* the CPU supports only MC_PRECISION_F32 */
    int any_order; /* sums may be added in any order if that is faster, so that a rerun may write
                      other bytes. The CPU's order is always the same */
};

#endif
