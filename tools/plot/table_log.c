/* SPDX-License-Identifier: Apache-2.0
 *
 * Read the JSON lines of a training log as a table. */
#include "tools/plot/table.h"

#include "libcommon/base/json.h"
#include "formats/exchange/json_object.h"

#include <stdlib.h>
#include <string.h>

static const struct mc_json_limits LIMITS = {.values = 65536, .depth = 32};

/* Number of columns that rows are allocated for until all lines are read. */
#define MAX_FIELDS 64

/* Add a row with a line's fields, and a column for each new field. Numbers become strings. */
static int add_row(struct mc_table *t, json_t *line, size_t number, size_t *cap,
                   struct mc_error *err)
{
    int rc = mc_table_grow(t, MAX_FIELDS, cap, err);
    char text[MC_SHORTEST];
    const char *key;
    json_t *value;

    if (rc)
        return rc;
    json_object_foreach(line, key, value)
    {
        long col = mc_table_find(t, key);
        if (col < 0) {
            if (t->cols == MAX_FIELDS)
                return mc_fail(err, MC_EINPUT, "%s: line %zu: more than %d fields", t->name, number,
                               MAX_FIELDS);
            t->names[t->cols] = key;
            col = (long)t->cols++;
        }
        if (json_is_number(value)) {
            value = json_string(mc_shortest(text, json_number_value(value)));
            if (json_object_iter_set_new(line, json_object_key_to_iter(key), value))
                return mc_no_memory(err);
        }
        t->cells[t->rows * MAX_FIELDS + (size_t)col] = json_string_value(value);
    }
    t->lines[t->rows++] = number;
    return 0;
}

/* Add the line as a row if it has this event. */
static int read_line(struct mc_table *t, const char *text, size_t n, const char *event,
                     size_t number, size_t *cap, struct mc_error *err)
{
    json_t *line;
    int rc = mc_json_parse(&line, text, n, &LIMITS, err);
    const char *line_event = json_string_value(json_object_get(line, "event"));

    if (rc == MC_ENOMEM)
        return rc;
    if (!line_event)
        rc = mc_fail(err, MC_EINPUT, "%s: line %zu: not a line of a training log (of --log-json)",
                     t->name, number);
    else if (!strcmp(line_event, event))
        rc = json_array_append(t->log, line) ? mc_no_memory(err)
                                             : add_row(t, line, number, cap, err);
    json_decref(line);
    return rc;
}

int mc_table_read_log(struct mc_table *t, const char *path, const char *event, struct mc_error *err)
{
    size_t cap = 0;
    int rc = mc_table_load_text(t, path, 1, err);

    if (rc)
        return rc;
    t->log = json_array();
    t->names = calloc(MAX_FIELDS, sizeof *t->names);
    if (!t->log || !t->names)
        rc = mc_no_memory(err);
    const char *line = t->text;
    for (size_t number = 1; !rc && *line; number++) {
        const size_t n = strcspn(line, "\n");
        rc = read_line(t, line, n, event, number, &cap, err);
        line += n + 1;
    }
    if (!rc && !t->rows)
        rc = mc_fail(err, MC_EINPUT, "%s: has no event '%s'", t->name, event);
    for (size_t r = 0; r < t->rows; r++)
        memmove(t->cells + r * t->cols, t->cells + r * MAX_FIELDS, t->cols * sizeof *t->cells);
    if (rc)
        mc_table_release(t);
    return rc;
}
