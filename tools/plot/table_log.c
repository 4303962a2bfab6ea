/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading the JSON lines of a training log as a table. The text is cut up in place: a value's end
 * is overwritten with NUL only after the character there was looked at. */
#include "tools/plot/table.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 32

/* One line, in place. Errors are sticky: `at` is NULL from the first on. */
struct json {
    char *at;
};

static void blanks(struct json *j)
{
    if (j->at)
        j->at += strspn(j->at, " \t\r");
}

static int next_is(struct json *j, char c)
{
    blanks(j);
    return j->at && *j->at == c;
}

static void take(struct json *j, char c)
{
    if (next_is(j, c))
        j->at++;
    else
        j->at = NULL;
}

static unsigned hex4(const char *s)
{
    char digits[5] = "";

    memcpy(digits, s, 4);
    return (unsigned)strtoul(digits, NULL, 16);
}

static char *utf8(char *to, unsigned c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* A string, decoded over itself, which is never longer. Surrogate pairs are kept as two: names of
 * events and fields have none. */
static char *string(struct json *j)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    char *start = NULL, *to = NULL;

    take(j, '"');
    if (!j->at)
        return NULL;
    start = to = j->at;
    for (char *s = j->at; *s && (unsigned char)*s >= 0x20; s++) {
        if (*s == '"') {
            *to = 0;
            j->at = s + 1;
            return start;
        }
        if (*s != '\\') {
            *to++ = *s;
            continue;
        }
        const char *code = *++s ? strchr(from, *s) : NULL;
        if (code) {
            *to++ = into[code - from];
        } else if (*s == 'u' && strspn(s + 1, "0123456789abcdefABCDEF") >= 4 && hex4(s + 1)) {
            to = utf8(to, hex4(s + 1));
            s += 4;
        } else {
            break;
        }
    }
    j->at = NULL;
    return NULL;
}

static void skip_value(struct json *j, int depth)
{
    blanks(j);
    if (!j->at || depth == MAX_DEPTH) {
        j->at = NULL;
    } else if (*j->at == '"') {
        string(j);
    } else if (*j->at == '[' || *j->at == '{') {
        char close = *j->at == '[' ? ']' : '}';
        j->at++;
        for (int first = 1; !next_is(j, close) && j->at; first = 0) {
            if (!first)
                take(j, ',');
            if (close == '}') {
                string(j);
                take(j, ':');
            }
            skip_value(j, depth + 1);
        }
        take(j, close);
    } else {
        static const char *const words[] = {"null", "true", "false"};
        size_t n = strspn(j->at, "0123456789+-.eE");
        for (size_t i = 0; !n && i < sizeof words / sizeof *words; i++)
            if (!strncmp(j->at, words[i], strlen(words[i])))
                n = strlen(words[i]);
        j->at = n ? j->at + n : NULL;
    }
}

struct field {
    char *name, *value; /* value NULL: null, or not a plain number or string */
};

/* The fields of a line; returns how many, or -1 when it is no JSON object. */
static long object(char *line, struct field *fields, size_t max)
{
    struct json j = {line};
    size_t n = 0;
    char *open_end = NULL; /* of a number, whose end is still needed as punctuation */

    take(&j, '{');
    for (int first = 1; !next_is(&j, '}') && j.at; first = 0) {
        if (!first)
            take(&j, ',');
        if (n == max)
            return -1;
        fields[n].name = string(&j);
        take(&j, ':');
        blanks(&j);
        if (!j.at)
            return -1;
        char *start = j.at;
        fields[n].value = NULL;
        if (*start == '"') {
            fields[n].value = string(&j);
        } else {
            skip_value(&j, 0);
            if (strchr("0123456789-", *start))
                fields[n].value = start;
        }
        if (open_end)
            *open_end = 0;
        open_end = fields[n].value == start ? j.at : NULL;
        n++;
    }
    take(&j, '}');
    blanks(&j);
    if (!j.at || *j.at)
        return -1;
    if (open_end)
        *open_end = 0;
    return (long)n;
}

static const char *value_of(const struct field *fields, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(fields[i].name, name))
            return fields[i].value;
    return NULL;
}

/* Cells are laid out for this many columns until all lines are read. */
#define MAX_FIELDS 64

/* Put a row's fields into the table, adding columns that are new. */
static int add_row(struct mc_table *t, const struct field *fields, size_t n, size_t number,
                   size_t *cap, struct mc_error *err)
{
    int rc = mc_table_grow(t, MAX_FIELDS, cap, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < n; i++) {
        long col = mc_table_find(t, fields[i].name);
        if (col < 0) {
            if (t->cols == MAX_FIELDS)
                return mc_fail(err, MC_EINPUT, "%s: line %zu: more than %d fields", t->name, number,
                               MAX_FIELDS);
            t->names[t->cols] = fields[i].name;
            col = (long)t->cols++;
        }
        t->cells[t->rows * MAX_FIELDS + (size_t)col] = fields[i].value;
    }
    t->lines[t->rows++] = number;
    return 0;
}

int mc_table_read_log(struct mc_table *t, const char *path, const char *event, struct mc_error *err)
{
    struct field fields[MAX_FIELDS];
    size_t cap = 0;
    int rc = mc_table_slurp(t, path, 1, err);

    if (rc)
        return rc;
    if (!(t->names = calloc(MAX_FIELDS, sizeof *t->names))) {
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
        goto out;
    }
    char *line = t->text;
    for (size_t number = 1; *line; number++) {
        char *end = strchr(line, '\n');
        *end = 0;
        long n = object(line, fields, MAX_FIELDS);
        const char *e = n > 0 ? value_of(fields, (size_t)n, "event") : NULL;
        if (!e) {
            rc = mc_fail(err, MC_EINPUT, "%s: line %zu: is not a line of a log", t->name, number);
            goto out;
        }
        if (!strcmp(e, event) && (rc = add_row(t, fields, (size_t)n, number, &cap, err)))
            goto out;
        line = end + 1;
    }
    if (!t->rows) {
        rc = mc_fail(err, MC_EINPUT, "%s: has no event '%s'", t->name, event);
        goto out;
    }
    for (size_t r = 0; r < t->rows; r++)
        memmove(t->cells + r * t->cols, t->cells + r * MAX_FIELDS, t->cols * sizeof *t->cells);

out:
    if (rc)
        mc_table_release(t);
    return rc;
}
