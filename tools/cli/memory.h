/* SPDX-License-Identifier: Apache-2.0
 *
 * A check of the memory that a run needs, before the run allocates it. The kernel grants more
 * memory than the machine has, and later kills the process that uses it. */
#ifndef MC_MEMORY_H
#define MC_MEMORY_H

#include "libcommon/base/error.h"

/* Returns MC_ENOMEM if the machine's memory and swap, the process's limit or its control groups
 * allow fewer bytes. */
MC_USE_RESULT int mc_memory_check(double bytes, struct mc_error *err);

#endif
