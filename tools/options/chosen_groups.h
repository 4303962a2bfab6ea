/* SPDX-License-Identifier: Apache-2.0
 *
 * Alignment of chosen groups only: --groups of mc-match and mc-hungarian. */
#ifndef MC_CHOSEN_GROUPS_H
#define MC_CHOSEN_GROUPS_H

#include "libcommon/graph/nesting.h"

/* The help of --groups. */
#define MC_HELP_CHOSEN_GROUPS                                                                      \
    "align only the groups whose names match one of these shell patterns; the others stay"

/* Set *keep (n; the caller frees it) to 1 for the groups that no pattern matches, and to 0 for
 * others. patterns: as for fnmatch, separated by commas; NULL matches all. MC_EUSAGE if a pattern
 * matches no group of the file; the message has near names. */
MC_USE_RESULT int mc_groups_keep(unsigned char **keep, const struct mc_group *groups, size_t n,
                                 const char *patterns, const char *file, struct mc_error *err);

#endif
