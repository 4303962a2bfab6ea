/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps: what another code base calls the modules of a network (formats/exchange/convert.md). A rule
 * a line, their name and ours; rules apply one after the other, each to what the one before has
 * left. */
#ifndef MC_RENAME_H
#define MC_RENAME_H

#include "libcommon/base/error.h"

#include <stddef.h>

#define MC_RENAME_NAME 256 /* bytes of a name with its final 0 */

struct mc_rename; /* NULL is the map that changes nothing */

/* MC_EFAIL when it cannot be read; MC_EINPUT names the line. */
MC_USE_RESULT int mc_rename_read(struct mc_rename **out, const char *path, struct mc_error *err);
void mc_rename_free(struct mc_rename *r);

/* Our name of their tensor: 1, 0 where the map leaves it out, or MC_EINPUT, too long. */
MC_USE_RESULT int mc_rename_ours(const struct mc_rename *r, const char *theirs,
                                 char out[MC_RENAME_NAME], struct mc_error *err);
/* Their name of ours. MC_EINPUT also when mc_rename_ours would not lead back. */
MC_USE_RESULT int mc_rename_theirs(const struct mc_rename *r, const char *ours,
                                   char out[MC_RENAME_NAME], struct mc_error *err);

#endif
