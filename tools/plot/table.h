/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables that the programs print for users, awk, R, pandas and mc-plot: tab-separated text, or the
 * JSON lines of a training's log.
 *
 *     t<TAB>test.loss<TAB>...        unique names of the columns
 *     0<TAB>0.512<TAB>...            rows with one cell per column
 *
 * Lines may end in CR LF. A byte order mark and empty lines at the end are skipped. A table is read
 * completely or refused; the message names the faulty line. */
#ifndef MC_TABLE_H
#define MC_TABLE_H

#include "libcommon/base/error.h"

#include <stddef.h>

#define MC_TABLE_MAX_BYTES ((size_t)64 << 20)
#define MC_TABLE_MAX_COLUMNS 4096

/* All strings are in `text` or `log` and live as long as the table. */
struct mc_table {
    char *text;
    struct json_t *log; /* (rows) of JSON lines, as objects of strings; else NULL */
    char *name;         /* path, or "stdin" */
    size_t rows, cols;  /* rows > 0, cols > 0 */
    const char **names; /* (cols) */
    const char **cells; /* (rows, cols); NULL if a log line has no such field or null */
    size_t *lines;      /* (rows) line numbers in the file, from 1 */
};

/* Read a table from a file, or stdin for "-". MC_EINPUT: empty, damaged, or no newline at the end.
 * MC_EFAIL: cannot be opened or read. */
MC_USE_RESULT int mc_table_read(struct mc_table *out, const char *path, struct mc_error *err);
/* Read the lines of a JSON log with the given "event" as a table. Its columns are the fields of all
 * these lines, in order of first appearance. Lines of other events are checked and skipped. An
 * incomplete last line is ignored, so that a running training can be plotted. MC_EINPUT: no such
 * line. */
MC_USE_RESULT int mc_table_read_log(struct mc_table *out, const char *path, const char *event,
                                    struct mc_error *err);
/* Free all memory and zero the table, which may be zeroed already. */
void mc_table_release(struct mc_table *t);

/* Index of the named column, or -1. */
long mc_table_find(const struct mc_table *t, const char *name);
/* Index of the named column; MC_EINPUT lists the columns. */
MC_USE_RESULT int mc_table_column(const struct mc_table *t, const char *name, size_t *col,
                                  struct mc_error *err);
/* Larger values are refused: their differences would not be finite. */
#define MC_TABLE_LARGEST 1e100
/* Read a column's cells as numbers to out (rows): decimal digits, sign, point, exponent, nothing
 * else. MC_EINPUT names line and column of the first other cell. */
MC_USE_RESULT int mc_table_numbers(const struct mc_table *t, const char *name, double *out,
                                   struct mc_error *err);
/* The same, with NaN for empty cells. */
MC_USE_RESULT int mc_table_numbers_or_nan(const struct mc_table *t, const char *name, double *out,
                                          struct mc_error *err);

/* ---- shared by both readers ---- */

/* Start a table with the whole text of a file, or of stdin for "-". Sets t->text (NUL-terminated)
 * and t->name, zeroes the rest. torn: omit an incomplete last line, unless it is the only one,
 * and add a missing newline to a complete one. MC_EINPUT: empty, contains a NUL, has no newline at
 * the end, or exceeds MC_TABLE_MAX_BYTES; t is then released. */
MC_USE_RESULT int mc_table_load_text(struct mc_table *t, const char *path, int torn,
                                     struct mc_error *err);

/* Make room for a row of `width` NULL cells in t->cells and t->lines, whose capacity is *cap
 * rows. */
MC_USE_RESULT int mc_table_grow(struct mc_table *t, size_t width, size_t *cap,
                                struct mc_error *err);

#endif
