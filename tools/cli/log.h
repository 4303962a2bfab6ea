/* SPDX-License-Identifier: Apache-2.0
 *
 * A log of JSON lines that stays readable if its writer is killed. Each line is appended by one
 * write; a lock excludes other programs. All functions except mc_log_open do nothing on a NULL log.
 * Write errors are sticky; mc_log_close returns them. */
#ifndef MC_LOG_H
#define MC_LOG_H

#include "libcommon/base/error.h"

#include <stdint.h>

struct mc_log;

/* Opens a log for appending; removes old lines. If path is NULL, the log is NULL. resumed: until
 * mc_log_live, lines may repeat those of an earlier run. A repeated line is kept as the file has it,
 * even if it has more fields there. At the first line that differs, the rest of the file is cut off,
 * including a torn last line. MC_EFAIL if another program has the log open. */
MC_USE_RESULT int mc_log_open(struct mc_log **out, const char *path, int resumed,
                              struct mc_error *err);
/* From now on all lines are new: cuts off the remaining old ones. */
void mc_log_live(struct mc_log *l);
void mc_log_begin(struct mc_log *l, const char *event);
void mc_log_int(struct mc_log *l, const char *key, int64_t value);
/* Seven significant digits; null if the value is not finite. */
void mc_log_num(struct mc_log *l, const char *key, double value);
void mc_log_end(struct mc_log *l);
/* Returns rc, the caller's result so far, or the log's error. */
MC_USE_RESULT int mc_log_close(struct mc_log *l, int rc, struct mc_error *err);

#endif
