/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps from another code base's module names to PyTorch's (formats/exchange/convert.md). One rule
 * per line: the foreign name, then the local name. Each rule is applied to the result of the rules
 * before it. */
#ifndef MC_RENAME_H
#define MC_RENAME_H

#include "libcommon/base/error.h"

#include <stddef.h>

#define MC_RENAME_NAME 256 /* bytes of a name with its NUL */

struct mc_rename; /* NULL changes nothing */

/* MC_EFAIL if it cannot be read; MC_EINPUT names the line. */
MC_USE_RESULT int mc_rename_read(struct mc_rename **out, const char *path, struct mc_error *err);
void mc_rename_free(struct mc_rename *r);

/* Get the local name of a foreign tensor. Returns 1, 0 if the map leaves it out, or MC_EINPUT if it
 * is too long. */
MC_USE_RESULT int mc_rename_to_local(const struct mc_rename *r, const char *foreign,
                                     char out[MC_RENAME_NAME], struct mc_error *err);
/* Get the foreign name of a local tensor. MC_EINPUT also if mc_rename_to_local would not restore
 * it. */
MC_USE_RESULT int mc_rename_to_foreign(const struct mc_rename *r, const char *local,
                                       char out[MC_RENAME_NAME], struct mc_error *err);

#endif
