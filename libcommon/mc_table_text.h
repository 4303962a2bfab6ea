/* SPDX-License-Identifier: Apache-2.0
 *
 * What the two readers of mc_table.h share. */
#ifndef MC_TABLE_TEXT_H
#define MC_TABLE_TEXT_H

#include "mc_table.h"

/* Start a table with the whole text of a file, or of stdin for "-": t->text, NUL-ended, and t->name
 * are set, the rest is zeroed. torn: a last line without a newline, behind others, is left out.
 * MC_EINPUT for what is empty, holds a NUL, does not end with a newline or is larger than
 * MC_TABLE_MAX_BYTES; then t is released. */
MC_USE_RESULT int mc_table_slurp(struct mc_table *t, const char *path, int torn,
                                 struct mc_error *err);

/* Room for one more row of `width` cells in t->cells and t->lines, which hold *cap rows; the new
 * row's cells are NULL. */
MC_USE_RESULT int mc_table_grow(struct mc_table *t, size_t width, size_t *cap,
                                struct mc_error *err);

#endif
