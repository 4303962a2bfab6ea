/* SPDX-License-Identifier: Apache-2.0
 *
 * How a backend is to compute: what the programs' common options say and mc_backend_open takes. */
#ifndef MC_BACKEND_OPTS_H
#define MC_BACKEND_OPTS_H

/* All zero is the default. */
struct mc_backend_opts {
    const char *device; /* "auto" (as NULL), "cpu", "cuda", "cuda:1" */
    int threads;        /* 0: all cores */
};

#endif
