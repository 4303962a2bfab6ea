/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of precisions. */
#include "libcommon/base/precision.h"

#include <stddef.h>

const char *const mc_precision_names[] = {"f32", "tf32", "bf16", "f16", NULL};
