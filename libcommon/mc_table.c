/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading tab-separated tables whole, or not at all. The JSON lines are in mc_table_log.c. */
#include "mc_table.h"

#include "mc_table_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mc_table_slurp(struct mc_table *t, const char *path, struct mc_error *err)
{
    int std = !strcmp(path, "-"), rc = 0;
    size_t n = 0, cap = 0;
    FILE *f = NULL;

    memset(t, 0, sizeof *t);
    if (!(t->name = strdup(std ? "stdin" : path)))
        return mc_fail(err, MC_ENOMEM, "out of memory");
    f = std ? stdin : fopen(path, "r");
    if (!f) {
        rc = mc_fail(err, MC_EFAIL, "cannot open '%s': %s", path, strerror(errno));
        goto out;
    }
    do {
        if (n + 1 >= cap) {
            cap = cap ? 2 * cap : 16384;
            char *more = realloc(t->text, cap);
            if (!more) {
                rc = mc_fail(err, MC_ENOMEM, "out of memory");
                goto out;
            }
            t->text = more;
        }
        n += fread(t->text + n, 1, cap - n - 1, f);
        if (n > MC_TABLE_MAX_BYTES) {
            rc = mc_fail(err, MC_EINPUT, "%s: larger than %d MiB", t->name,
                         (int)(MC_TABLE_MAX_BYTES >> 20));
            goto out;
        }
    } while (!feof(f) && !ferror(f));
    if (ferror(f)) {
        rc = mc_fail(err, MC_EFAIL, "%s: cannot read: %s", t->name, strerror(errno));
        goto out;
    }
    t->text[n] = 0;
    if (!n)
        rc = mc_fail(err, MC_EINPUT, "%s: is empty", t->name);
    else if (memchr(t->text, 0, n))
        rc = mc_fail(err, MC_EINPUT, "%s: is binary, not text", t->name);
    else if (t->text[n - 1] != '\n')
        rc = mc_fail(err, MC_EINPUT, "%s: is cut short: its last line does not end", t->name);

out:
    if (f && !std)
        fclose(f);
    if (rc)
        mc_table_release(t);
    return rc;
}

void mc_table_release(struct mc_table *t)
{
    free(t->text);
    free(t->name);
    free(t->names);
    free(t->cells);
    free(t->lines);
    free(t->keys);
    free(t->values);
    memset(t, 0, sizeof *t);
}

/* Cut at every `separator`: the first part is returned, *rest is what follows it or NULL. */
static char *cut(char **rest, char separator)
{
    char *part = *rest, *end = strchr(part, separator);

    if (end)
        *end++ = 0;
    *rest = end;
    return part;
}

static size_t count_char(const char *s, char c)
{
    size_t n = 0;

    for (; (s = strchr(s, c)); s++)
        n++;
    return n;
}

static void notes(struct mc_table *t, char *words)
{
    while (words) {
        char *word = cut(&words, ' '), *value = strchr(word, '=');
        if (!value || value == word)
            continue;
        *value++ = 0;
        t->keys[t->n_notes] = word;
        t->values[t->n_notes++] = value;
    }
}

static int header(struct mc_table *t, char *line, struct mc_error *err)
{
    t->cols = count_char(line, '\t') + 1;
    if (t->cols > MC_TABLE_MAX_COLUMNS)
        return mc_fail(err, MC_EINPUT, "%s: more than %d columns", t->name, MC_TABLE_MAX_COLUMNS);
    if (!(t->names = calloc(t->cols, sizeof *t->names)))
        return mc_fail(err, MC_ENOMEM, "out of memory");
    for (size_t i = 0; i < t->cols; i++) {
        const char *name = cut(&line, '\t');
        if (!*name)
            return mc_fail(err, MC_EINPUT, "%s: column %zu has no name", t->name, i + 1);
        for (size_t j = 0; j < i; j++)
            if (!strcmp(t->names[j], name))
                return mc_fail(err, MC_EINPUT, "%s: column '%s' is there twice", t->name, name);
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
            return mc_fail(err, MC_ENOMEM, "out of memory");
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
        return mc_fail(err, MC_EINPUT, "%s: line %zu: %zu cells for %zu columns", t->name, number,
                       cells, t->cols);
    for (size_t i = 0; i < t->cols; i++)
        t->cells[t->rows * t->cols + i] = cut(&line, '\t');
    t->lines[t->rows++] = number;
    return 0;
}

int mc_table_read(struct mc_table *t, const char *path, const char *kind, struct mc_error *err)
{
    size_t cap = 0, n_words = 0;
    int rc = mc_table_slurp(t, path, err), ended = 0;

    if (rc)
        return rc;
    char *rest = t->text;
    n_words = count_char(rest, '=');
    t->keys = calloc(n_words + 1, sizeof *t->keys);
    t->values = calloc(n_words + 1, sizeof *t->values);
    if (!t->keys || !t->values) {
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
        goto out;
    }
    for (size_t number = 1; *rest; number++) {
        char *line = cut(&rest, '\n');
        if (number == 1) {
            if (strncmp(line, "# ", 2) || strcmp(line + 2, kind)) {
                rc = mc_fail(err, MC_EINPUT, "%s: is not a table '%s': its first line is '%.60s'",
                             t->name, kind, line);
                goto out;
            }
            t->kind = line + 2;
        } else if (ended) {
            rc = mc_fail(err, MC_EINPUT, "%s: line %zu: something follows the table's end", t->name,
                         number);
            goto out;
        } else if (!strcmp(line, "# end")) {
            ended = 1;
        } else if (line[0] == '#') {
            notes(t, line + 1);
        } else if (!t->names) {
            if ((rc = header(t, line, err)))
                goto out;
        } else if ((rc = row(t, line, number, &cap, err))) {
            goto out;
        }
    }
    if (!ended)
        rc = mc_fail(err, MC_EINPUT, "%s: is cut short: its last line is not '# end'", t->name);
    else if (!t->rows)
        rc = mc_fail(err, MC_EINPUT, "%s: holds no rows", t->name);

out:
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

int mc_table_column(const struct mc_table *t, const char *name, size_t *col, struct mc_error *err)
{
    long found = mc_table_find(t, name);
    char list[256] = "";

    if (found >= 0) {
        *col = (size_t)found;
        return 0;
    }
    for (size_t i = 0; i < t->cols; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", t->names[i]);
    }
    return mc_fail(err, MC_EINPUT, "%s: there is no column '%s' (there are: %s)", t->name, name,
                   list);
}

int mc_table_numbers(const struct mc_table *t, size_t col, double *out, struct mc_error *err)
{
    for (size_t r = 0; r < t->rows; r++) {
        const char *cell = t->cells[r * t->cols + col];
        size_t n = cell ? strspn(cell, "0123456789+-.eE") : 0;
        char *end = NULL;
        errno = 0;
        double v = n ? strtod(cell, &end) : 0;
        if (!n || cell[n] || *end || !isfinite(v))
            return mc_fail(err, MC_EINPUT, "%s: line %zu, column '%s': '%.40s' is not a number",
                           t->name, t->lines[r], t->names[col], cell ? cell : "");
        out[r] = v;
    }
    return 0;
}

const char *mc_table_note(const struct mc_table *t, const char *key)
{
    for (size_t i = 0; i < t->n_notes; i++)
        if (!strcmp(t->keys[i], key))
            return t->values[i];
    return NULL;
}
