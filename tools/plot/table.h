/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables that the programs print for people, awk, R, pandas and mc-plot: tab-separated text, and
 * the JSON lines that training logs.
 *
 *     t<TAB>test.loss<TAB>...        the names of the columns, each once
 *     0<TAB>0.512<TAB>...            rows, as many cells each as there are names
 *
 * A line may end in CR LF. A byte order mark and empty last lines are skipped.
 *
 * Nothing is guessed: a table is taken whole or refused with the line that is wrong. */
#ifndef MC_TABLE_H
#define MC_TABLE_H

#include "libcommon/base/error.h"

#include <stddef.h>

#define MC_TABLE_MAX_BYTES ((size_t)64 << 20)
#define MC_TABLE_MAX_COLUMNS 4096

/* All strings lie in `text` or `log` and live as long as the table. */
struct mc_table {
    char *text;
    struct json_t *log; /* (rows) of JSON lines, objects of texts; else NULL */
    char *name;         /* path, or "stdin" */
    size_t rows, cols;  /* rows > 0, cols > 0 */
    const char **names; /* (cols) */
    const char **cells; /* (rows, cols); NULL where a log line lacks the field or holds null */
    size_t *lines;      /* (rows) where each row stands in the file, from 1 */
};

/* Read a table from a file, or stdin for "-". MC_EINPUT for an empty or damaged one, or one whose
 * last line does not end; MC_EFAIL where it cannot be opened or read. */
MC_USE_RESULT int mc_table_read(struct mc_table *out, const char *path, struct mc_error *err);
/* Read the lines of a JSON log whose "event" is this one as a table; columns are the fields that
 * any of them has, in the order they first come. Lines of other events are checked and passed over.
 * A log has no last line: a training can be watched while it runs. MC_EINPUT when no line is
 * left. */
MC_USE_RESULT int mc_table_read_log(struct mc_table *out, const char *path, const char *event,
                                    struct mc_error *err);
/* Frees all and zeroes the table; a zeroed table is fine. */
void mc_table_release(struct mc_table *t);

/* Index of the column called so, or -1. */
long mc_table_find(const struct mc_table *t, const char *name);
/* Index of the column; MC_EINPUT lists the columns that there are. */
MC_USE_RESULT int mc_table_column(const struct mc_table *t, const char *name, size_t *col,
                                  struct mc_error *err);
/* Larger values are not drawn: their differences would not be finite. */
#define MC_TABLE_LARGEST 1e100
/* Every cell of the column called so as a number that can be drawn: decimal digits, sign, point,
 * exponent, nothing else. out: (rows). MC_EINPUT names line and column of the first other cell. */
MC_USE_RESULT int mc_table_numbers(const struct mc_table *t, const char *name, double *out,
                                   struct mc_error *err);

/* ---- for the two readers ---- */

/* Start a table with the whole text of a file, or of stdin for "-": t->text, NUL-ended, and t->name
 * are set, the rest is zeroed. torn: a last line without a newline, behind others, is left out.
 * MC_EINPUT for what is empty, holds a NUL, does not end with a newline or is larger than
 * MC_TABLE_MAX_BYTES; then t is released. */
MC_USE_RESULT int mc_table_load_text(struct mc_table *t, const char *path, int torn,
                                     struct mc_error *err);

/* Room for one more row of `width` cells in t->cells and t->lines, which hold *cap rows; the new
 * row's cells are NULL. */
MC_USE_RESULT int mc_table_grow(struct mc_table *t, size_t width, size_t *cap,
                                struct mc_error *err);

#endif
