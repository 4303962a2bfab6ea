/* SPDX-License-Identifier: Apache-2.0
 *
 * Declared groups: parse each line, number the groups, then check their nesting. */
#include "libcommon/graph/group_rows.h"
#include "libcommon/graph/row_nesting.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define HEADER "tensor, axis, offset, count, block, group (within, unit, allows), separated by tabs"
enum { TENSOR, AXIS, OFFSET, COUNT, BLOCK, GROUP, WITHIN, UNIT, ALLOWS, N_COLUMNS };
static const char *const columns[N_COLUMNS] = {"tensor", "axis",   "offset", "count", "block",
                                               "group",  "within", "unit",   "allows"};
/* The columns from WITHIN on may be absent. */
static const char *const absent[N_COLUMNS] = {
    [WITHIN] = "-", [UNIT] = "-", [ALLOWS] = "permutation"};

struct text {
    struct mc_row *rows; /* (n) */
    size_t n, n_groups, n_columns;
    const struct mc_graph *g;
    char *text;                      /* split at line ends and tabs; contains the rows' names */
    const struct mc_param **by_name; /* (n_params) */
    struct mc_row **by_group;        /* (n) by the groups' names */
};

static void release(struct text *r)
{
    free(r->text);
    free(r->rows);
    free(r->by_name);
    free(r->by_group);
}

/* ---- one line -------------------------------------------------------------------------------- */

/* Split off the next line, or return NULL. Skips comments and empty lines. */
static char *next_line(char **text, size_t *line)
{
    for (char *start = *text; *start; start = *text) {
        const size_t n = strcspn(start, "\n");
        *text = start + n + (start[n] != 0);
        start[n] = 0;
        if (n && start[n - 1] == '\r')
            start[n - 1] = 0;
        ++*line;
        if (*start && *start != '#')
            return start;
    }
    return NULL;
}

/* Split a line at its tabs. Return the number of fields, at most N_COLUMNS + 1. */
static size_t cut(char *line, const char *field[N_COLUMNS])
{
    size_t n = 0;

    while (line && n < N_COLUMNS)
        field[n++] = strsep(&line, "\t");
    return n + (line != NULL);
}

/* n digits only, without leading zeros, up to 2^31. */
static int number(const char *text, size_t n, size_t *out)
{
    *out = 0;
    if (!n || (n > 1 && *text == '0'))
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        *out = 10 * *out + (size_t)(text[i] - '0');
        if (*out > MC_MAX_VECTOR)
            return -1;
    }
    return 0;
}

static int by_param_name(const void *name, const void *param)
{
    return strcmp(name, (*(const struct mc_param *const *)param)->tensor.name);
}

static int is_group_name(const char *name)
{
    const size_t n = strlen(name);
    int fine = n > 0 && n < MC_NAME_MAX;

    for (size_t i = 0; i < n; i++)
        fine &= name[i] > ' ' && name[i] < 0x7f;
    return fine;
}

/* AXIS, or AXIS/PARTS. */
static int parse_axis(const char *field, size_t *axis, size_t *parts, struct mc_error *err)
{
    const char *slash = strchr(field, '/');

    *parts = 1;
    if (number(field, slash ? (size_t)(slash - field) : strlen(field), axis))
        return mc_fail(err, MC_EINPUT, "axis must be a whole number of at least 0 (got \"%.40s\")",
                       field);
    if (slash && (!*axis || number(slash + 1, strlen(slash + 1), parts) || *parts < 2))
        return mc_fail(err, MC_EINPUT,
                       "axis must be AXIS/PARTS, with AXIS at least 1 and at least 2 parts, if it "
                       "is counted over parts of axis 0 (got \"%.40s\")",
                       field);
    return 0;
}

static const struct mc_param *const *find_tensor(const struct text *r, const char *name)
{
    return bsearch(name, r->by_name, r->g->n_params, sizeof *r->by_name, by_param_name);
}

/* A module that wraps the saved one adds a prefix to its names. */
static int unknown_tensor(const struct text *r, const char *name, struct mc_error *err)
{
    const char *rest = strchr(name, '.');

    while (rest && !find_tensor(r, rest + 1))
        rest = strchr(rest + 1, '.');
    if (rest && rest - name < 60)
        return mc_fail(err, MC_EINPUT,
                       "unknown tensor \"%.100s\" (if a wrapper added \"%.*s\", remove it from the "
                       "rows; if it is tied to another tensor, remove its rows; or use "
                       "mcz.torch.save)",
                       name, (int)(rest + 1 - name), name);
    return mc_fail(err, MC_EINPUT,
                   "unknown tensor \"%.100s\" (if it is tied to another tensor, remove its rows; "
                   "if the file has other names than the state_dict, use mcz.torch.save)",
                   name);
}

/* Set the tensor of a use, which must fit its axis. */
static int find_use(const struct text *r, const char *name, struct mc_use *u, struct mc_error *err)
{
    const struct mc_param *const *param = find_tensor(r, name);

    if (!param)
        return unknown_tensor(r, name, err);
    const struct mc_tensor *t = &(*param)->tensor;
    if ((unsigned)u->dim >= (unsigned)t->ndim) /* 2^31 is INT_MIN */
        return mc_fail(err, MC_EINPUT, "axis of tensor \"%s\" must be less than %d (got %u)",
                       t->name, t->ndim, (unsigned)u->dim);
    if (u->parts > 1 && (t->shape[0] < u->parts || t->shape[0] % u->parts))
        return mc_fail(err, MC_EINPUT,
                       "axis 0 of tensor \"%s\", of %zu entries, does not have %zu equal parts",
                       t->name, (size_t)t->shape[0], u->parts);
    const size_t length = (*param)->count ? (size_t)t->shape[u->dim] * u->parts : 0;
    if (u->offset > length || u->count > (length - u->offset) / u->repeat)
        return mc_fail(err, MC_EINPUT,
                       "offset %zu + count %zu * block %zu exceeds the %zu entries of the axis in "
                       "tensor \"%s\"",
                       u->offset, u->count, u->repeat, length, t->name);
    u->index = (size_t)(*param - r->g->params);
    return 0;
}

static int parse_row(const struct text *r, char *line, struct mc_row *row, struct mc_error *err)
{
    static const size_t least[N_COLUMNS] = {[COUNT] = 2, [BLOCK] = 1};
    size_t value[N_COLUMNS] = {[UNIT] = MC_NO_GROUP}, parts = 1;
    const char *field[N_COLUMNS];

    if (cut(line, field) != r->n_columns)
        return mc_fail(err, MC_EINPUT, "a row must have %zu tab-separated columns", r->n_columns);
    for (size_t c = r->n_columns; c < N_COLUMNS; c++)
        field[c] = absent[c];
    int rc = parse_axis(field[AXIS], &value[AXIS], &parts, err);
    if (rc)
        return rc;
    const int is_nested = strcmp(field[WITHIN], "-") || strcmp(field[UNIT], "-");
    for (int c = OFFSET; c <= UNIT; c++)
        if ((c <= BLOCK || (c == UNIT && is_nested)) &&
            (number(field[c], strlen(field[c]), &value[c]) || value[c] < least[c]))
            return mc_fail(err, MC_EINPUT,
                           "%s must be a whole number of at least %zu (got \"%.40s\")", columns[c],
                           least[c], field[c]);
    if (!is_group_name(field[GROUP]))
        return mc_fail(err, MC_EINPUT,
                       "group name must be 1 to %d printable ASCII characters without spaces "
                       "(got \"%.40s\")",
                       MC_NAME_MAX - 1, field[GROUP]);
    const enum mc_allows allows = mc_allows_find(field[ALLOWS], strlen(field[ALLOWS]));
    if (allows == MC_N_ALLOWS)
        return mc_fail(err, MC_EINPUT,
                       "allows must be permutation, " MC_ALLOWS_LIST " (got \"%.40s\")",
                       field[ALLOWS]);
    *row = (struct mc_row){.line = row->line,
                           .use = {.no_signs = allows == MC_ALLOWS_PERMUTATION,
                                   .dim = (int)value[AXIS],
                                   .parts = parts,
                                   .offset = value[OFFSET],
                                   .count = value[COUNT],
                                   .repeat = value[BLOCK]},
                           .name = field[GROUP],
                           .outer = field[WITHIN],
                           .unit = value[UNIT],
                           .allows = allows};
    return find_use(r, field[TENSOR], &row->use, err);
}

/* The first line has the names of the columns, up to GROUP, UNIT or ALLOWS. */
static int parse_header(struct text *r, char *line, struct mc_error *err)
{
    const char *field[N_COLUMNS];
    const size_t n = r->n_columns = cut(line, field);
    int fine = n == WITHIN || n == ALLOWS || n == N_COLUMNS;

    for (size_t c = 0; fine && c < n; c++)
        fine = !strcmp(field[c], columns[c]);
    return fine ? 0 : mc_fail(err, MC_EINPUT, "the first line must be the column names " HEADER);
}

/* ---- all lines ------------------------------------------------------------------------------- */

static int by_group(const void *x, const void *y)
{
    const struct mc_row *a = *(const struct mc_row *const *)x,
                        *b = *(const struct mc_row *const *)y;
    const int names = strcmp(a->name, b->name);

    return names ? names : (a->line > b->line) - (a->line < b->line);
}

static int by_group_name(const void *name, const void *row)
{
    return strcmp(name, (*(const struct mc_row *const *)row)->name);
}

/* Return 1 if two rows of a group fit in `allows`: both have the same, or one has signed and the
 * other permutation. */
static int fits_allows(const struct mc_row *x, const struct mc_row *y)
{
    return x->allows == y->allows || (x->unit == MC_NO_GROUP && x->allows <= MC_ALLOWS_SIGNED &&
                                      y->allows <= MC_ALLOWS_SIGNED);
}

/* Check that a row of a group fits the first one: count, outer unit and `allows`. */
static int check_alike(const struct mc_row *row, const struct mc_row *first, struct mc_error *err)
{
    if (row->use.count != first->use.count)
        return mc_fail(err, MC_EINPUT,
                       "line %zu: group \"%s\" has %zu units here and %zu in line %zu", row->line,
                       row->name, row->use.count, first->use.count, first->line);
    if (strcmp(row->outer, first->outer) || row->unit != first->unit)
        return mc_fail(err, MC_EINPUT, "line %zu: group \"%s\" is in another unit than in line %zu",
                       row->line, row->name, first->line);
    if (!fits_allows(row, first))
        return mc_fail(err, MC_EINPUT, "line %zu: group \"%s\" allows %s here and %s in line %zu",
                       row->line, row->name, mc_allows_names[row->allows],
                       mc_allows_names[first->allows], first->line);
    return 0;
}

/* Number the groups in the order of their first rows. */
static int number_groups(struct text *r, struct mc_error *err)
{
    int rc = mc_new(&r->by_group, r->n, err);
    struct mc_row **sorted = r->by_group;

    if (rc)
        return rc;
    for (size_t i = 0; i < r->n; i++)
        sorted[i] = &r->rows[i];
    qsort(sorted, r->n, sizeof *sorted, by_group);
    for (size_t i = 0; i < r->n; i++) /* at first, the index of its group's first row */
        sorted[i]->group = i && !strcmp(sorted[i]->name, sorted[i - 1]->name)
                               ? sorted[i - 1]->group
                               : (size_t)(sorted[i] - r->rows);
    for (size_t i = 0; i < r->n && !rc; i++) {
        const struct mc_row *first = &r->rows[r->rows[i].group];
        r->rows[i].group = first == &r->rows[i] ? r->n_groups++ : first->group;
        rc = check_alike(&r->rows[i], first, err);
    }
    if (!rc && r->n_groups > MC_MAX_DECLARED)
        rc = mc_fail(err, MC_EINPUT, "more than %d groups", MC_MAX_DECLARED);
    return rc;
}

static int by_tensor_name(const void *x, const void *y)
{
    return by_param_name((*(const struct mc_param *const *)x)->tensor.name, y);
}

static int read_rows(struct text *r, const struct mc_graph *g, struct mc_error *err)
{
    char *cursor = NULL, *line = NULL;
    size_t number_of = 0;
    int rc = 0;

    *r = (struct text){.g = g};
    if ((rc = mc_new(&r->by_name, g->n_params, err)))
        return rc;
    for (size_t i = 0; i < g->n_params; i++)
        r->by_name[i] = &g->params[i];
    qsort(r->by_name, g->n_params, sizeof *r->by_name, by_tensor_name);
    if (!(cursor = r->text = strdup(g->rows)))
        return mc_no_memory(err);
    if (!(line = next_line(&cursor, &number_of)))
        return mc_fail(err, MC_EINPUT, "no header (" HEADER " expected)");
    rc = mc_fail_in(parse_header(r, line, err), err, "line %zu", number_of);
    while (!rc && (line = next_line(&cursor, &number_of))) {
        if ((rc = mc_list_room(&r->rows, r->n, err)))
            return rc;
        r->rows[r->n].line = number_of;
        rc = mc_fail_in(parse_row(r, line, &r->rows[r->n++], err), err, "line %zu", number_of);
    }
    return rc ? rc : number_groups(r, err);
}

static int set_group(struct mc_group *g, const struct text *r, const struct mc_row *row,
                     struct mc_error *err)
{
    const enum mc_allows allows = row->allows > g->allows ? row->allows : g->allows;

    *g = (struct mc_group){.size = row->use.count, .outer = MC_NO_GROUP, .allows = allows};
    memcpy(g->name, row->name, strlen(row->name) + 1);
    if (row->unit == MC_NO_GROUP)
        return 0;
    const struct mc_row *const *outer =
        bsearch(row->outer, r->by_group, r->n, sizeof *r->by_group, by_group_name);
    if (!outer)
        return mc_fail(err, MC_EINPUT,
                       "line %zu: within must be a group of this file (got \"%.40s\")", row->line,
                       row->outer);
    g->outer = (*outer)->group;
    g->unit = row->unit;
    return 0;
}

int mc_symmetry_of_rows(struct mc_symmetry *out, const struct mc_graph *g, struct mc_error *err)
{
    struct text r;
    int rc = read_rows(&r, g, err);

    *out = (struct mc_symmetry){0};
    if (rc || (rc = mc_symmetry_alloc(out, r.n_groups, err)))
        goto out;
    for (size_t i = 0; i < r.n; i++) {
        const struct mc_row *row = &r.rows[i];
        struct mc_uses *uses = &out->uses[row->group];
        if ((rc = set_group(&out->groups[row->group], &r, row, err)) ||
            (rc = mc_list_room(&uses->use, uses->n, err)))
            goto out;
        uses->use[uses->n++] = row->use;
    }
    rc = mc_rows_check(r.rows, r.n, out, g, err);
out:
    release(&r);
    if (rc)
        mc_symmetry_release(out);
    return rc;
}

/* ---- the network ----------------------------------------------------------------------------- */

static int lay_out(struct mc_graph *g, const struct mc_tensor *tensors, size_t n,
                   struct mc_error *err)
{
    int rc = mc_new(&g->params, n, err);

    for (size_t i = 0; i < n && !rc; i++) {
        const uint64_t count = mc_tensor_bytes(&tensors[i]) / mc_dtype_size(tensors[i].dtype);
        if (count > MC_MAX_VECTOR - g->P)
            return mc_fail(err, MC_EINPUT, "more than %zu parameters", MC_MAX_VECTOR);
        g->params[i] = (struct mc_param){
            .tensor = tensors[i], .offset = g->P, .count = (size_t)count, .node = -1};
        g->P = (g->P + (size_t)count + 15) / 16 * 16;
        g->n_params++;
    }
    return rc;
}

int mc_graph_declare(struct mc_graph **out, const char *net, const struct mc_tensor *tensors,
                     size_t n, const char *text, size_t bytes, struct mc_error *err)
{
    struct mc_graph *g = NULL;
    struct mc_symmetry checked;
    int rc = mc_new(&g, 1, err);

    *out = NULL;
    if (rc)
        return rc;
    g->logits = -1;
    strncpy(g->net, net, sizeof g->net - 1);
    if (memchr(text, 0, bytes) || bytes > MC_MAX_ROWS_TEXT)
        rc = mc_fail(err, MC_EINPUT, "not a text of at most %zu bytes", MC_MAX_ROWS_TEXT);
    if (!rc)
        rc = mc_new(&g->rows, bytes + 2, err);
    if (!rc && bytes) { /* terminate the last line */
        memcpy(g->rows, text, bytes);
        g->rows[bytes] = text[bytes - 1] == '\n' ? 0 : '\n';
    }
    if (rc || (rc = lay_out(g, tensors, n, err)))
        goto out;
    rc = mc_symmetry_of_rows(&checked, g, err);
    mc_symmetry_release(&checked);
    if (rc)
        goto out;
    /* keep only the lines that declare something */
    char *from = g->rows, *to = g->rows, *line;
    for (size_t ignored = 0; (line = next_line(&from, &ignored));) {
        const size_t length = strlen(line);
        memmove(to, line, length);
        to += length;
        *to++ = '\n';
    }
    *to = 0;
out:
    if (rc)
        mc_graph_free(g);
    else
        *out = g;
    return rc;
}
