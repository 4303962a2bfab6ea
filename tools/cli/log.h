/* SPDX-License-Identifier: Apache-2.0
 *
 * A log of JSON lines that stays readable when its writer is killed: each line is appended by one
 * write, under a lock that keeps a second program out. All functions but mc_log_open do nothing on
 * a NULL log; write errors are sticky and told by mc_log_close. */
#ifndef MC_LOG_H
#define MC_LOG_H

#include "libcommon/base/error.h"

#include <stdint.h>

struct mc_log;

/* Open for appending. resumed: until mc_log_live, what is logged is what an earlier run may have
 * logged already: a line that is there, also with more fields, stays as it is, and from the
 * first that is not on, the old lines are cut off, a torn last one among them. Else all are.
 * MC_EFAIL when another program has the log open. */
MC_USE_RESULT int mc_log_open(struct mc_log **out, const char *path, int resumed,
                              struct mc_error *err);
/* From here on lines are new: cuts off what is left of the old ones. */
void mc_log_live(struct mc_log *l);
void mc_log_begin(struct mc_log *l, const char *event);
void mc_log_int(struct mc_log *l, const char *key, int64_t value);
/* With seven significant digits; null for what is not finite. */
void mc_log_num(struct mc_log *l, const char *key, double value);
void mc_log_end(struct mc_log *l);
/* Returns rc, the caller's so far, or what failed. */
MC_USE_RESULT int mc_log_close(struct mc_log *l, int rc, struct mc_error *err);

#endif
