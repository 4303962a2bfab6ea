/* SPDX-License-Identifier: Apache-2.0
 *
 * Equivalent tables, as mean and standard deviation. */
#include "tools/plot/series.h"

#include "libcommon/base/near.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *mc_series_label(const char *operand, char *label, size_t size)
{
    size_t n = strcspn(operand, "=/");

    if (n && operand[n] == '=' && n < size) {
        memcpy(label, operand, n);
        label[n] = 0;
        return operand + n + 1;
    }
    int first = (int)strcspn(operand, ",");
    const char *name = operand;
    for (const char *c = operand; c < operand + first; c++)
        if (*c == '/')
            name = c + 1;
    snprintf(label, size, "%.*s", first - (int)(name - operand), name);
    char *dot = strrchr(label, '.');
    if (dot && dot != label)
        *dot = 0;
    return operand;
}

/* How a kind of picture reads a table, and what all tables of a series must share. */
struct kind {
    int (*read)(struct mc_table *t, const char *file, struct mc_error *err);
    int (*check)(const struct mc_table *t, const double *v, struct mc_error *err); /* or NULL */
    const char *const *names;                                                      /* (n_names) */
    size_t n_names;
    const struct mc_series *first; /* or NULL; if set, loss and perhaps accuracy follow */
    char *data;                    /* or NULL: the columns have no prefix; (size) */
    size_t size;
    const char *key;  /* column that names a row */
    const char *keys; /* plural of key, for the message */
};

/* Check that both tables name the same rows. */
static int same_rows(const struct kind *k, const struct mc_table *t, const struct mc_table *first,
                     struct mc_error *err)
{
    size_t col = 0, col_first = 0;
    int rc = mc_table_column(t, k->key, &col, err);

    if (!rc)
        rc = mc_table_column(first, k->key, &col_first, err);
    if (rc)
        return rc;
    for (size_t r = 0; r < t->rows || r < first->rows; r++)
        if (r >= t->rows || r >= first->rows ||
            strcmp(t->cells[r * t->cols + col], first->cells[r * first->cols + col_first]))
            return mc_fail(err, MC_EINPUT, "%s: %s differ from those in %s", t->name, k->keys,
                           first->name);
    return 0;
}

/* Default data set: test, or the table's first. */
static void choose_data(const struct mc_table *t, char *data, size_t size)
{
    snprintf(data, size, "test");
    for (size_t i = 0; i < t->cols && mc_table_find(t, "test.loss") < 0; i++) {
        const char *dot = strrchr(t->names[i], '.');
        if (dot && !strcmp(dot, ".loss")) {
            snprintf(data, size, "%.*s", (int)(dot - t->names[i]), t->names[i]);
            return;
        }
    }
}

#define NAME_SIZE 256
static const char *measure_name(const char *data, int accuracy, char out[NAME_SIZE])
{
    snprintf(out, NAME_SIZE, "%s%s%s", data ? data : "", data ? "." : "",
             accuracy ? "accuracy" : "loss");
    return out;
}

int mc_series_measures(const struct mc_table *t, char *data, size_t size, double *out,
                       struct mc_error *err)
{
    char name[NAME_SIZE];
    int rc = 0;

    if (!*data)
        choose_data(t, data, size);
    for (int q = 0; !rc && q < 2; q++)
        rc = mc_table_numbers(t, measure_name(data, q, name), out + (size_t)q * t->rows, err);
    return rc;
}

/* Number of columns to read. Networks without labels have no accuracy; a name that is near to it is
 * a spelling error, which reading reports. */
static size_t count_columns(const struct kind *k, const struct mc_table *t)
{
    char name[NAME_SIZE];

    if (!k->first)
        return k->n_names;
    if (k->data && !*k->data)
        choose_data(t, k->data, k->size);
    measure_name(k->data, 1, name);
    struct mc_near near = mc_near(name, strlen(name));
    for (size_t i = 0; i < t->cols; i++)
        if (!k->data || !strncmp(t->names[i], name, strlen(k->data) + 1))
            mc_near_try(&near, t->names[i]);
    return k->n_names + (near.best || mc_table_find(t, name) >= 0 ? 2 : 1);
}

/* Check that all tables of a picture have an accuracy, or none. */
static int same_columns(const struct kind *k, const struct mc_series *s, const struct mc_table *t,
                        size_t cols, struct mc_error *err)
{
    const struct mc_series *first = s->tables ? s : k->first;
    char name[NAME_SIZE];

    if (!first || !first->tables || first->cols == cols)
        return 0;
    const struct mc_table *with = cols < first->cols ? &first->table : t,
                          *without = cols < first->cols ? t : &first->table;
    return mc_fail(err, MC_EINPUT, "%s: column '%s' is missing, but %s has it", without->name,
                   measure_name(k->data, 1, name), with->name);
}

/* Add a table by Welford's recurrence; sd holds the sum of squares until the end. */
static int add(struct mc_series *s, const struct kind *k, const struct mc_table *t,
               struct mc_error *err)
{
    const size_t cols = count_columns(k, t), n = cols * t->rows;
    double *v = calloc(n, sizeof *v);
    int rc = v ? 0 : mc_no_memory(err);

    for (size_t i = 0; !rc && i < cols; i++) {
        char name[NAME_SIZE];
        if (i >= k->n_names)
            measure_name(k->data, i > k->n_names, name);
        rc = mc_table_numbers(t, i < k->n_names ? k->names[i] : name, v + i * t->rows, err);
    }
    if (!rc)
        rc = same_columns(k, s, t, cols, err);
    if (!rc && k->check)
        rc = k->check(t, v, err);
    if (!rc)
        rc = same_rows(k, t, &s->table, err);
    if (!rc && !s->tables) {
        s->rows = t->rows;
        s->cols = cols;
        if ((s->mean = calloc(2 * n, sizeof *s->mean)))
            s->sd = s->mean + n;
        else
            rc = mc_no_memory(err);
    }
    if (!rc) {
        s->tables++;
        for (size_t i = 0; i < n; i++) {
            const double diff = v[i] - s->mean[i];
            s->mean[i] += diff / (double)s->tables;
            s->sd[i] += diff * (v[i] - s->mean[i]);
        }
    }
    free(v);
    return rc;
}

static int add_file(struct mc_series *s, const struct kind *k, const char *file,
                    struct mc_error *err)
{
    struct mc_table more = {0}, *t = s->tables ? &more : &s->table;
    int rc = k->read(t, file, err);

    if (!rc)
        rc = add(s, k, t, err);
    mc_table_release(&more);
    return rc;
}

/* Read the files of an operand. */
static int read_all(struct mc_series *s, const struct kind *k, const char *operand,
                    struct mc_error *err)
{
    const char *files = mc_series_label(operand, s->label, sizeof s->label);
    char *list = strdup(files), *rest = list;
    int rc = list ? 0 : mc_no_memory(err);

    for (char *file; !rc && (file = strsep(&rest, ","));)
        if (*file)
            rc = add_file(s, k, file, err);
        else if (s->tables)
            rc = mc_fail(err, MC_EUSAGE, "'%s': empty name in a list of tables", files);
        else
            rc = mc_fail(err, MC_EUSAGE, "'%s': table is missing", operand);
    for (size_t i = 0; !rc && s->tables > 1 && i < s->cols * s->rows; i++)
        s->sd[i] = sqrt(s->sd[i] / (double)(s->tables - 1));
    s->spread = s->tables > 1;
    free(list);
    return rc;
}

/* Check that the column's values v (rows) ascend. */
static int check_ascending(const struct mc_table *t, const char *name, const double *v,
                           struct mc_error *err)
{
    for (size_t r = 1; r < t->rows; r++)
        if (!(v[r] > v[r - 1]))
            return mc_fail(err, MC_EINPUT, "%s: line %zu: %s must increase", t->name, t->lines[r],
                           name);
    return 0;
}

static int check_log(const struct mc_table *t, const double *v, struct mc_error *err)
{
    return check_ascending(t, "epoch", v, err);
}

static int check_path(const struct mc_table *t, const double *v, struct mc_error *err)
{
    int rc = check_ascending(t, "t", v, err);

    if (rc)
        return rc;
    if (v[0] > 0 || v[t->rows - 1] < 1)
        return mc_fail(err, MC_EINPUT, "%s: t must run from 0 to 1 (got %g to %g)", t->name, v[0],
                       v[t->rows - 1]);
    return 0;
}

int mc_series_curve(struct mc_series *s, const char *operand, const struct mc_series *first,
                    char *data, size_t size, struct mc_error *err)
{
    static const char *const names[] = {"t"};
    const struct kind k = {mc_table_read, check_path, names,        1, first, data,
                           size,          "t",        "values of t"};

    return read_all(s, &k, operand, err);
}

static int by_text(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    int order = strcmp(*x, *y);

    return order ? order : (*x > *y) - (*x < *y); /* equal ones in table order */
}

static int check_signature(const struct mc_table *t, const double *v, struct mc_error *err)
{
    const char **layers = calloc(t->rows, sizeof *layers);
    size_t col = 0, r = 0;
    int rc = layers ? mc_table_column(t, "layer", &col, err) : mc_no_memory(err);

    (void)v;
    for (size_t i = 0; !rc && i < t->rows; i++)
        layers[i] = t->cells[i * t->cols + col];
    if (!rc)
        qsort(layers, t->rows, sizeof *layers, by_text);
    for (size_t i = 1; !rc && i < t->rows; i++)
        if (!strcmp(layers[i], layers[i - 1])) {
            while (t->cells[r * t->cols + col] != layers[i])
                r++;
            rc = mc_fail(err, MC_EINPUT,
                         "%s: line %zu: duplicate layer '%s' (one pair per table expected)",
                         t->name, t->lines[r], layers[i]);
        }
    free(layers);
    return rc;
}

static int read_signature(struct mc_table *t, const char *file, struct mc_error *err)
{
    int rc = mc_table_read(t, file, err);

    if (!rc && mc_table_find(t, "identity") >= 0 && mc_table_find(t, "permuted") < 0)
        return mc_fail(err, MC_EINPUT,
                       "%s: column 'permuted' is missing: run mc-corr --signature with --perm",
                       t->name);
    return rc;
}

int mc_series_signature(struct mc_series *s, const char *operand, const struct mc_series *first,
                        struct mc_error *err)
{
    static const char *const names[] = {"identity", "permuted"};
    const struct kind k = {read_signature, check_signature, names, 2, NULL, NULL, 0,
                           "layer",        "layers"};
    int rc = read_all(s, &k, operand, err);

    return rc ? rc : same_rows(&k, &s->table, &first->table, err);
}

static int read_log(struct mc_table *t, const char *file, struct mc_error *err)
{
    return mc_table_read_log(t, file, "epoch", err);
}

int mc_series_log(struct mc_series *s, const char *operand, const struct mc_series *first,
                  struct mc_error *err)
{
    static const char *const names[] = {"epoch"};
    const struct kind k = {read_log, check_log, names, 1, first, NULL, 0, "epoch", "epochs"};

    return read_all(s, &k, operand, err);
}

/* Read one column, and its deviations if the table has them. */
static int read_column(struct mc_series *s, const struct mc_table *t, struct mc_error *err)
{
    char sd[sizeof s->label + 4];

    s->rows = t->rows;
    s->cols = s->tables = 1;
    if (!(s->mean = calloc(2 * t->rows, sizeof *s->mean)))
        return mc_no_memory(err);
    s->sd = s->mean + t->rows;
    snprintf(sd, sizeof sd, "%s_sd", s->label);
    s->spread = mc_table_find(t, sd) >= 0;
    int rc = mc_table_numbers_or_nan(t, s->label, s->mean, err);
    if (!rc && s->spread)
        rc = mc_table_numbers_or_nan(t, sd, s->sd, err);
    for (size_t r = 0; r < t->rows; r++)
        s->sd[r] = isnan(s->sd[r]) ? 0 : s->sd[r];
    return rc;
}

int mc_series_columns(struct mc_series *s, size_t *n, const char *path, const char *columns,
                      struct mc_error *err)
{
    char *list = strdup(columns), *rest = list;
    int rc = list ? mc_table_read(&s->table, path, err) : mc_no_memory(err);

    *n = 0;
    for (char *name; !rc && (name = strsep(&rest, ","));) {
        for (size_t i = 0; i < *n; i++)
            if (!strcmp(s[i].label, name))
                rc = mc_fail(err, MC_EUSAGE, "--columns: '%s' occurs twice", name);
        if (!rc && *n == MC_SERIES_COLUMNS)
            rc = mc_fail(err, MC_EUSAGE, "--columns: at most %d columns", MC_SERIES_COLUMNS);
        if (rc)
            break;
        snprintf(s[*n].label, sizeof s->label, "%s", name);
        rc = read_column(&s[(*n)++], &s->table, err);
    }
    free(list);
    for (size_t i = 0; !rc && i < *n; i++)
        for (size_t r = 0; r < s->table.rows; r++)
            if (!isnan(s[i].mean[r]))
                return 0;
    return rc ? rc
              : mc_fail(err, MC_EINPUT, "%s: no numbers in the columns %s", s->table.name, columns);
}

void mc_series_release(struct mc_series *s)
{
    mc_table_release(&s->table);
    free(s->mean);
    *s = (struct mc_series){0};
}
