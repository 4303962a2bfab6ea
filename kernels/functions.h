/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of struct mc_backend (see backend.h) by name. A backend's functions have these
 * names with its prefix. All backends share those of kernels/executor.h. */
#ifndef MC_FUNCTIONS_H
#define MC_FUNCTIONS_H

#include "kernels/backend.h"

/* X(prefix, name) for each function. */
/* clang-format off */
#define MC_EACH_FUNCTION(X, prefix)                                                                \
    X(prefix, close)                                                                               \
    X(prefix, buf_new) X(prefix, buf_free) X(prefix, buf_grow)                                     \
    X(prefix, put) X(prefix, get) X(prefix, zero) X(prefix, copy) X(prefix, ctl_next)              \
    X(prefix, repeat) X(prefix, capture_free)                                                      \
    X(prefix, plan_new) X(prefix, plan_free) X(prefix, plan_bytes) X(prefix, plan_state)           \
    X(prefix, load) X(prefix, pixels) X(prefix, set_pixels)                                        \
    X(prefix, input_grad)                                                                          \
    X(prefix, attack_start) X(prefix, attack_step) X(prefix, attack_keep)                          \
    X(prefix, metrics) X(prefix, output)                                                           \
    X(prefix, moments_of) X(prefix, reestimate)                                                    \
    X(prefix, lincomb) X(prefix, sgd) X(prefix, sumsq) X(prefix, gather) X(prefix, proximal)       \
    X(prefix, soft_perm_new) X(prefix, soft_perm_free)                                             \
    X(prefix, soft_permute) X(prefix, soft_permute_grad) X(prefix, project)
/* clang-format on */

#define MC_DECLARE_FUNCTION(prefix, name)                                                          \
    __typeof__(*((struct mc_backend *)0)->name) prefix##_##name;
#define MC_FUNCTION_ENTRY(prefix, name) .name = prefix##_##name,

/* Declares all functions. */
#define MC_DECLARE_FUNCTIONS(prefix) MC_EACH_FUNCTION(MC_DECLARE_FUNCTION, prefix)
/* Initializers for all entries of the table. */
#define MC_FUNCTION_ENTRIES(prefix)                                                                \
    MC_EACH_FUNCTION(MC_FUNCTION_ENTRY, prefix).forward = mc_run_forward,                          \
                                        .backward = mc_run_backward, .moments = mc_run_moments

#endif
