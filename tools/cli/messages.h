/* SPDX-License-Identifier: Apache-2.0
 *
 * Of what tools/cli/cli.h says on stderr, what this folder's own files take; cli.h has the rest. */
#ifndef MC_CLI_MESSAGES_H
#define MC_CLI_MESSAGES_H

/* The name in front of all that is said, "mc" at first; kept by pointer. */
void mc_tell_as(const char *program);
const char *mc_tells_as(void);
/* "mc-x: text", in place of a progress line. */
void mc_tell(const char *text);
/* The line that stays of a progress, if any (mc_progress_end). */
void mc_tell_ending(void);

#endif
