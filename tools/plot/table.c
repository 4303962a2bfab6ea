/* SPDX-License-Identifier: Apache-2.0
 *
 * Read tab-separated tables completely or not at all. JSON lines are read in
 * tools/plot/table_log.c. */
#include "tools/plot/table.h"

#include "libcommon/base/file.h"
#include "libcommon/base/near.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Return the length of a text without the empty lines at its end. */
static size_t without_empty_lines(const char *text, size_t n)
{
    for (size_t end; n > 2; n = end) {
        end = text[n - 2] == '\r' ? n - 2 : n - 1;
        if (text[end - 1] != '\n')
            break;
    }
    return n;
}

/* Read all of f. torn: if the last line is incomplete, omit it; its newline may be missing. */
static int read_text(struct mc_table *t, FILE *f, int torn, struct mc_error *err)
{
    size_t n = 0, capacity = 1 << 13;

    do {
        capacity *= 2;
        char *text = realloc(t->text, capacity);
        if (!text)
            return mc_no_memory(err);
        t->text = text;
        n += fread(text + n, 1, capacity - 1 - n, f);
    } while (n == capacity - 1 && n <= MC_TABLE_MAX_BYTES);
    if (ferror(f))
        return mc_fail(err, MC_EFAIL, "%s: cannot read: %s", t->name, strerror(errno));
    if (n > MC_TABLE_MAX_BYTES)
        return mc_fail(err, MC_EINPUT, "%s: must be at most %d MiB", t->name,
                       (int)(MC_TABLE_MAX_BYTES >> 20));
    /* an interrupted log's incomplete last line */
    const char *last = torn && n && t->text[n - 1] != '}' ? memrchr(t->text, '\n', n) : NULL;
    n = last ? (size_t)(last - t->text) + 1 : n;
    if (torn && n && t->text[n - 1] == '}') /* complete without its newline */
        t->text[n++] = '\n';
    t->text[n] = 0;
    const size_t mark = strncmp(t->text, "\xef\xbb\xbf", 3) ? 0 : 3; /* a byte order mark */
    memmove(t->text, t->text + mark, n - mark + 1);
    n -= mark;
    if (!n)
        return mc_fail_in(mc_file_empty(fileno(f), "is empty", err), err, "%s", t->name);
    if (memchr(t->text, 0, n))
        return mc_fail(err, MC_EINPUT, "%s: text expected, got %s", t->name,
                       strncmp(t->text, "\x28\xb5\x2f\xfd", 4)
                           ? "binary data"
                           : "an mcz stream: measure it with mc-eval first");
    if (t->text[n - 1] != '\n')
        return mc_fail(err, MC_EINPUT, "%s: truncated: the last line has no newline", t->name);
    t->text[without_empty_lines(t->text, n)] = 0;
    return 0;
}

int mc_table_load_text(struct mc_table *t, const char *path, int torn, struct mc_error *err)
{
    const int std = !strcmp(path, "-");
    int rc = 0;

    memset(t, 0, sizeof *t);
    if (!(t->name = strdup(mc_file_called(path))))
        return mc_no_memory(err);
    FILE *f = std ? stdin : fopen(path, "r");
    if (f)
        rc = read_text(t, f, torn, err);
    else
        rc = mc_fail(err, MC_EFAIL, "cannot open '%s': %s", path, strerror(errno));
    if (f && !std)
        fclose(f);
    if (rc)
        mc_table_release(t);
    return rc;
}

void mc_table_release(struct mc_table *t)
{
    json_decref(t->log);
    free(t->text);
    free(t->name);
    free(t->names);
    free(t->cells);
    free(t->lines);
    memset(t, 0, sizeof *t);
}

static size_t count_char(const char *s, char c)
{
    size_t n = 0;

    for (; (s = strchr(s, c)); s++)
        n++;
    return n;
}

static int header(struct mc_table *t, char *line, struct mc_error *err)
{
    if (*line == '{')
        return mc_fail(err, MC_EINPUT, "%s: JSON, not a table (draw a log with 'mc-plot log')",
                       t->name);
    t->cols = count_char(line, '\t') + 1;
    if (t->cols > MC_TABLE_MAX_COLUMNS)
        return mc_fail(err, MC_EINPUT, "%s: more than %d columns", t->name, MC_TABLE_MAX_COLUMNS);
    if (!(t->names = calloc(t->cols, sizeof *t->names)))
        return mc_no_memory(err);
    for (size_t i = 0; i < t->cols; i++) {
        const char *name = strsep(&line, "\t");
        if (!*name)
            return mc_fail(err, MC_EINPUT, "%s: column %zu has no name", t->name, i + 1);
        for (size_t j = 0; j < i; j++)
            if (!strcmp(t->names[j], name))
                return mc_fail(err, MC_EINPUT, "%s: duplicate column '%s'", t->name, name);
        t->names[i] = name;
    }
    return 0;
}

int mc_table_grow(struct mc_table *t, size_t width, size_t *cap, struct mc_error *err)
{
    if (t->rows == *cap) {
        size_t n = *cap ? 2 * *cap : 64;
        const char **cells = realloc(t->cells, n * width * sizeof *cells);
        if (cells)
            t->cells = cells;
        size_t *lines = cells ? realloc(t->lines, n * sizeof *lines) : NULL;
        if (!lines)
            return mc_no_memory(err);
        t->lines = lines;
        *cap = n;
    }
    memset(t->cells + t->rows * width, 0, width * sizeof *t->cells);
    return 0;
}

static int row(struct mc_table *t, char *line, size_t number, size_t *cap, struct mc_error *err)
{
    size_t cells = count_char(line, '\t') + 1;
    int rc = mc_table_grow(t, t->cols, cap, err);

    if (rc)
        return rc;
    if (cells != t->cols)
        return mc_fail(err, MC_EINPUT, "%s: line %zu: %zu cells expected, got %zu", t->name, number,
                       t->cols, cells);
    for (size_t i = 0; i < t->cols; i++)
        t->cells[t->rows * t->cols + i] = strsep(&line, "\t");
    t->lines[t->rows++] = number;
    return 0;
}

int mc_table_read(struct mc_table *t, const char *path, struct mc_error *err)
{
    size_t cap = 0;
    int rc = mc_table_load_text(t, path, 0, err);

    if (rc)
        return rc;
    char *rest = t->text;
    for (size_t number = 1; !rc && *rest; number++) {
        char *line = strsep(&rest, "\n");
        size_t n = strlen(line);
        if (n && line[n - 1] == '\r') /* Windows line ending */
            line[n - 1] = 0;
        rc = number == 1 ? header(t, line, err) : row(t, line, number, &cap, err);
    }
    if (!rc && !t->rows)
        rc = mc_fail(err, MC_EINPUT, "%s: has no rows", t->name);
    if (rc)
        mc_table_release(t);
    return rc;
}

long mc_table_find(const struct mc_table *t, const char *name)
{
    for (size_t i = 0; i < t->cols; i++)
        if (!strcmp(t->names[i], name))
            return (long)i;
    return -1;
}

/* The column that a figure reads first, another of its columns, and how to get its table. */
static const struct {
    const char *column, *second, *figure, *source;
} keys[] = {{"t", "t", "path", "measure a curve, or --line between two networks, with mc-eval"},
            {"identity", "permuted", "signature", "mc-corr --signature writes one"},
            {"x", "y", "plane", "mc-eval --plane writes one"}};
enum { N_KEYS = sizeof keys / sizeof *keys };

/* Report a table that lacks a figure's own column. Return 0 if the column is not one of those. */
static int wrong_kind(const struct mc_table *t, const char *name, struct mc_error *err)
{
    size_t key = 0, other = 0;

    while (key < N_KEYS && strcmp(keys[key].column, name))
        key++;
    if (key == N_KEYS)
        return 0;
    while (other < N_KEYS &&
           (mc_table_find(t, keys[other].column) < 0 || mc_table_find(t, keys[other].second) < 0))
        other++;
    if (other < N_KEYS)
        return mc_fail(err, MC_EINPUT, "%s: a table for 'mc-plot %s', not '%s'", t->name,
                       keys[other].figure, keys[key].figure);
    return mc_fail(err, MC_EINPUT, "%s: not a table for 'mc-plot %s' (column '%s' is missing): %s",
                   t->name, keys[key].figure, name, keys[key].source);
}

int mc_table_column(const struct mc_table *t, const char *name, size_t *col, struct mc_error *err)
{
    long index = mc_table_find(t, name);
    char list[256] = "", hint[MC_NEAR_TEXT];
    struct mc_near near = mc_near(name, strlen(name));

    if (index >= 0) {
        *col = (size_t)index;
        return 0;
    }
    int rc = wrong_kind(t, name, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < t->cols; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", t->names[i]);
        mc_near_try(&near, t->names[i]);
    }
    return mc_fail(err, MC_EINPUT, "%s: unknown column '%s'%s (one of: %s)", t->name, name,
                   mc_near_text(&near, hint), list);
}

/* Read the cell of a row as a number. */
static int number(const struct mc_table *t, size_t r, size_t col, double *out, struct mc_error *err)
{
    const char *cell = t->cells[r * t->cols + col], *name = t->names[col];
    size_t n = cell ? strspn(cell, "0123456789+-.eE") : 0;
    char *end = NULL;

    errno = 0;
    *out = n ? strtod(cell, &end) : 0;
    if (!n || cell[n] || *end || !isfinite(*out))
        return mc_fail(err, MC_EINPUT, "%s: line %zu, column '%s': '%.40s' is not a number",
                       t->name, t->lines[r], name, cell ? cell : "");
    if (fabs(*out) > MC_TABLE_LARGEST)
        return mc_fail(err, MC_EINPUT,
                       "%s: line %zu, column '%s': %.3g is too large to draw (at most %g)", t->name,
                       t->lines[r], name, *out, MC_TABLE_LARGEST);
    return 0;
}

int mc_table_numbers(const struct mc_table *t, const char *name, double *out, struct mc_error *err)
{
    size_t col = 0;
    int rc = mc_table_column(t, name, &col, err);

    for (size_t r = 0; !rc && r < t->rows; r++)
        rc = number(t, r, col, &out[r], err);
    return rc;
}

int mc_table_numbers_or_nan(const struct mc_table *t, const char *name, double *out,
                            struct mc_error *err)
{
    size_t col = 0;
    int rc = mc_table_column(t, name, &col, err);

    for (size_t r = 0; !rc && r < t->rows; r++) {
        const char *cell = t->cells[r * t->cols + col];
        out[r] = NAN;
        if (cell && *cell)
            rc = number(t, r, col, &out[r], err);
    }
    return rc;
}
