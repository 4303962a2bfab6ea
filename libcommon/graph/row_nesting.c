/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/graph/row_nesting.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>

static int order(size_t x, size_t y)
{
    return (x > y) - (x < y);
}

/* Order by tensor and first entry; rows after the rows around them. */
static int by_place(const void *x, const void *y)
{
    const struct mc_row *a = *(const struct mc_row *const *)x,
                        *b = *(const struct mc_row *const *)y;
    int cmp = order(a->use.index, b->use.index);

    cmp = cmp ? cmp : order(a->begin, b->begin);
    cmp = cmp ? cmp : order(b->end, a->end);
    cmp = cmp ? cmp : b->use.dim - a->use.dim;
    cmp = cmp ? cmp : order(a->low, b->low);
    cmp = cmp ? cmp : order(b->high, a->high);
    cmp = cmp ? cmp : order(b->use.repeat, a->use.repeat);
    return cmp ? cmp : order(a->group, b->group);
}

/* By place, then by line. */
static int by_position(const void *x, const void *y)
{
    const struct mc_row *a = *(const struct mc_row *const *)x,
                        *b = *(const struct mc_row *const *)y;
    const int cmp = by_place(x, y);

    return cmp ? cmp : order(a->line, b->line);
}

struct sorted {
    struct mc_row **row; /* (n) by position */
    size_t n;
};

static int exists(const struct sorted *s, const struct mc_row *row)
{
    return bsearch(&row, s->row, s->n, sizeof *s->row, by_place) != NULL;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Set the entries of a row, which must be within one part. */
static int place(struct mc_row *row, const struct mc_param *p, struct mc_error *err)
{
    const struct mc_use *u = &row->use;
    const size_t length = (size_t)p->tensor.shape[u->dim], last = u->count * u->repeat - 1,
                 part = (size_t)p->tensor.shape[0] / u->parts;

    if (u->offset / length != (u->offset + last) / length)
        return mc_fail(err, MC_EINPUT,
                       "line %zu: a row must be within one of the %zu parts, of %zu entries each",
                       row->line, u->parts, length);
    row->low = u->offset % length;
    row->high = row->low + last + 1;
    row->begin = u->dim ? u->offset / length * part : row->low;
    row->end = u->dim ? row->begin + part : row->high;
    return 0;
}

/* Check the n rows of one tensor: each axis is counted over the same parts in all rows, and no row
 * on axis 0 moves entries between these parts. */
static int check_parts(struct mc_row *const *row, size_t n, struct mc_error *err)
{
    const struct mc_row *on_axis[MC_MAX_DIMS] = {NULL};

    for (size_t i = 0; i < n; i++) {
        const struct mc_row *r = row[i], **other = &on_axis[r->use.dim];
        if (*other && (*other)->use.parts != r->use.parts)
            return mc_fail(err, MC_EINPUT,
                           "line %zu: axis %d must be counted over the same parts as in line %zu",
                           r->line, r->use.dim, (*other)->line);
        *other = r;
    }
    for (size_t i = 0; i < n; i++)
        for (int dim = 1; dim < MC_MAX_DIMS && !row[i]->use.dim; dim++) {
            const struct mc_row *r = row[i], *other = on_axis[dim];
            const size_t part = other ? other->end - other->begin : SIZE_MAX;
            if (r->begin / part != (r->end - 1) / part && (r->begin % part || r->use.repeat % part))
                return mc_fail(err, MC_EINPUT,
                               "line %zu: moves entries between the parts of line %zu (a block "
                               "must be one or more of these parts)",
                               r->line, other->line);
        }
    return 0;
}

/* Sort the rows and check their parts. */
static int sort(struct sorted *s, struct mc_row *rows, const struct mc_graph *g,
                struct mc_error *err)
{
    int rc = mc_new(&s->row, s->n, err);

    for (size_t i = 0; i < s->n && !rc; i++) {
        s->row[i] = &rows[i];
        rc = place(&rows[i], &g->params[rows[i].use.index], err);
    }
    if (!rc)
        qsort(s->row, s->n, sizeof *s->row, by_position);
    for (size_t i = 0, k = 0; i < s->n && !rc; i = k) {
        while (k < s->n && s->row[k]->use.index == s->row[i]->use.index)
            k++;
        rc = check_parts(s->row + i, k - i, err);
    }
    return rc;
}

/* ---- the rows around a row ------------------------------------------------------------------- */

/* 1 if the first entry of `row` is among those of o, which is before it. A row on axis 0 contains the
 * rows on other axes of its parts. */
static int is_around(const struct mc_row *o, const struct mc_row *row)
{
    return o->use.index == row->use.index &&
           (o->use.dim ? o->use.dim == row->use.dim && o->begin == row->begin && o->high > row->low
                       : o->end > row->begin);
}

static int find_around(const struct sorted *s, struct mc_error *err)
{
    for (size_t i = 0; i < s->n; i++) {
        struct mc_row *row = s->row[i];
        const struct mc_row *o = i ? s->row[i - 1] : NULL;
        while (o && !is_around(o, row))
            o = o->around;
        row->around = o;
        if (o && o->use.dim == row->use.dim &&
            ((row->low - o->low) % o->use.repeat + (row->high - row->low) > o->use.repeat ||
             row->group == o->group))
            return mc_fail(err, MC_EINPUT,
                           "line %zu: overlaps line %zu, but is not inside one of its blocks",
                           row->line, o->line);
    }
    return 0;
}

/* The unit of a row `around` that contains `row`. */
static size_t unit_in(const struct mc_row *row, const struct mc_row *around)
{
    return ((around->use.dim ? row->low : row->begin) - around->low) / around->use.repeat;
}

/* The row of the group's outer group that contains `row` in the group's unit, or NULL. */
static const struct mc_row *outer_row(const struct mc_row *row, const struct mc_group *groups)
{
    const struct mc_group *g = &groups[row->group];
    const struct mc_row *o = row->around;

    while (o && (o->group != g->outer || unit_in(row, o) != g->unit))
        o = o->around;
    return o;
}

/* ---- units ----------------------------------------------------------------------------------- */

/* Return `row`, moved by a number of units of a row around it. */
static struct mc_row moved(struct mc_row row, const struct mc_row *around, ptrdiff_t units)
{
    const size_t entries = (size_t)units * around->use.repeat; /* modulo 2^64 */

    if (!around->use.dim) {
        row.begin += entries;
        row.end += entries;
    }
    if (around->use.dim == row.use.dim) {
        row.low += entries;
        row.high += entries;
    }
    return row;
}

/* Return 1 if the row's group has rows at the same place in the units before and after. */
static int is_in_next_units(const struct sorted *s, const struct mc_row *row,
                            const struct mc_row *around)
{
    const size_t unit = unit_in(row, around);
    const struct mc_row before = moved(*row, around, -1), after = moved(*row, around, 1);

    return (!unit || exists(s, &before)) && (unit + 1 == around->use.count || exists(s, &after));
}

static int check_unit(const struct sorted *s, const struct mc_row *row,
                      const struct mc_group *groups, struct mc_error *err)
{
    const struct mc_group *g = &groups[row->group];
    const struct mc_row *outer = outer_row(row, groups);

    if (!outer && mc_group_is_nested(g))
        return mc_fail(err, MC_EINPUT, "line %zu: group \"%s\" is not in unit %zu of \"%s\" here",
                       row->line, g->name, g->unit, groups[g->outer].name);
    for (const struct mc_row *o = row->around; o != outer; o = o->around)
        if (!is_in_next_units(s, row, o))
            return mc_fail(err, MC_EINPUT,
                           "line %zu: group \"%s\" is in unit %zu of \"%s\", which the columns "
                           "within and unit must say unless it is in all units (mcz.groups.rows "
                           "finds both)",
                           row->line, g->name, unit_in(row, o), groups[o->group].name);
    return 0;
}

/* Check that the row's counterpart in the first units exists. equal: (n_groups) the group there. */
static int check_counterpart(const struct sorted *s, const struct mc_row *row,
                             const struct mc_symmetry *of, const size_t *equal,
                             struct mc_error *err)
{
    const struct mc_group *g = &of->groups[row->group];
    const struct mc_row *inner = row, *outer;
    struct mc_row first = *row;

    for (; (outer = outer_row(inner, of->groups)); inner = outer)
        first = moved(first, outer, -(ptrdiff_t)of->groups[inner->group].unit);
    first.group = equal[row->group];
    if (exists(s, &first) && of->uses[row->group].n == of->uses[first.group].n)
        return 0;
    return mc_fail(err, MC_EINPUT,
                   "line %zu: group \"%s\" does not match its counterpart in the first unit of "
                   "\"%s\"",
                   row->line, g->name, of->groups[g->outer].name);
}

int mc_rows_check(struct mc_row *rows, size_t n, const struct mc_symmetry *of,
                  const struct mc_graph *g, struct mc_error *err)
{
    struct sorted s = {.n = n};
    size_t *equal = NULL;
    int rc = 0;

    if ((rc = sort(&s, rows, g, err)) || (rc = find_around(&s, err)))
        goto out;
    for (size_t i = 0; i < n && !rc; i++)
        rc = check_unit(&s, &rows[i], of->groups, err);
    if (!rc)
        rc = mc_nesting_sources(of->groups, of->n_groups, NULL, &equal, err);
    for (size_t i = 0; i < n && !rc; i++)
        rc = check_counterpart(&s, &rows[i], of, equal, err);
out:
    free(s.row);
    free(equal);
    return rc;
}
