/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that a run will need, judged before it is taken: the system promises more than it has, and
 * ends who uses it. */
#ifndef MC_MEMORY_H
#define MC_MEMORY_H

#include "libcommon/base/error.h"

/* MC_ENOMEM where this machine has no such memory and swap, or the process or its control groups
 * may not have so much. */
MC_USE_RESULT int mc_memory_fits(double bytes, struct mc_error *err);

#endif
