/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/graph/row_nesting.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>

/* The axis on which begin and end are counted. */
static int axis_of(const struct mc_row *r)
{
    return r->use.parts > 1 ? 0 : r->use.dim;
}

static int order(size_t x, size_t y)
{
    return (x > y) - (x < y);
}

/* Order by tensor, axis and first entry; outer rows before rows inside them. */
static int by_position(const void *x, const void *y)
{
    const struct mc_row *a = *(const struct mc_row *const *)x,
                        *b = *(const struct mc_row *const *)y;
    int cmp = order(a->use.index, b->use.index);

    cmp = cmp ? cmp : axis_of(a) - axis_of(b);
    cmp = cmp ? cmp : order(a->begin, b->begin);
    cmp = cmp ? cmp : order(b->end, a->end);
    cmp = cmp ? cmp : b->use.dim - a->use.dim;
    cmp = cmp ? cmp : order(a->use.offset, b->use.offset);
    cmp = cmp ? cmp : order(b->use.count * b->use.repeat, a->use.count * a->use.repeat);
    cmp = cmp ? cmp : order(b->use.repeat, a->use.repeat);
    return cmp ? cmp : order(a->line, b->line);
}

/* A row's position: inside `unit` of the enclosing row, if any, `offset` entries after the start of
 * that unit. If only the row's axis is counted over parts, each entry of the enclosing row counts
 * as `width` entries. */
struct position {
    const struct mc_row *row, *enclosing;
    size_t unit, offset;
    size_t rank; /* the number of the enclosing row in its group, from 1; 0 if there is none */
};

/* Order the rows of one group, such that equal groups in other units have the same order. Positions
 * in the tensor do not suffice: rows on axes of parts and rows on axis 0 alternate differently in
 * each unit. */
static int by_rank(const void *x, const void *y)
{
    const struct position *a = x, *b = y;
    int cmp = order(a->rank, b->rank);

    if (cmp || !a->rank)
        return cmp ? cmp : by_position(&a->row, &b->row);
    cmp = a->row->use.dim - b->row->use.dim;
    return cmp ? cmp : order(a->offset, b->offset);
}

/* Return 1 if two rows have the same position in their units. */
static int is_alike(const struct position *x, const struct position *y)
{
    const struct mc_use *u = &x->row->use, *v = &y->row->use;

    return x->rank == y->rank && u->count == v->count && u->repeat == v->repeat &&
           u->dim == v->dim && x->offset == y->offset;
}

/* ---- the enclosing rows ---------------------------------------------------------------------- */

/* Check that each axis of a tensor is counted over the same parts in all rows, and that no row on
 * axis 0 moves entries between these parts. */
static int check_parts(const struct mc_rows *r, const struct mc_graph *g, struct mc_error *err)
{
    const struct mc_row *(*on_axis)[MC_MAX_DIMS] = NULL; /* (n_params) a row on each axis */
    int rc = mc_new(&on_axis, g->n_params, err);

    for (size_t i = 0; i < r->n && !rc; i++) {
        const struct mc_row *row = &r->rows[i], **other = &on_axis[row->use.index][row->use.dim];
        if (*other && (*other)->use.parts != row->use.parts)
            rc = mc_fail(err, MC_EINPUT,
                         "line %zu: axis %d must be counted over the same parts as in line %zu",
                         row->line, row->use.dim, (*other)->line);
        *other = row;
    }
    for (size_t i = 0; i < r->n && !rc; i++)
        for (int dim = 1; dim < MC_MAX_DIMS && !r->rows[i].use.dim && !rc; dim++) {
            const struct mc_row *row = &r->rows[i], *other = on_axis[row->use.index][dim];
            if (!other || other->use.parts == 1)
                continue;
            const size_t part = other->end - other->begin;
            if (row->begin / part != (row->end - 1) / part &&
                (row->begin % part || row->use.repeat % part))
                rc = mc_fail(err, MC_EINPUT,
                             "line %zu: moves entries between the parts of line %zu (a block must "
                             "be one or more of these parts)",
                             row->line, other->line);
        }
    free(on_axis);
    return rc;
}

/* Rows that contain the current row, from the outermost. */
struct stack {
    const struct mc_row **row; /* (n) */
    size_t depth;
};

/* Return the innermost row on axis `dim` of that tensor that contains the first entry of `row`, or
 * of its part, and remove the rows before it. Return NULL if there is none. */
static const struct mc_row *innermost(struct stack *s, const struct mc_row *row, int dim)
{
    const size_t begin = row->use.dim == dim ? row->use.offset : row->begin;

    for (; s->depth; s->depth--) {
        const struct mc_row *o = s->row[s->depth - 1];
        const size_t end = o->use.offset + o->use.count * o->use.repeat;
        if (o->use.index == row->use.index && o->use.dim == dim && end > begin)
            return o;
    }
    return NULL;
}

/* by_row: (n) the position of each row. */
static int find_positions(const struct mc_rows *r, struct position *by_row, struct mc_error *err)
{
    const struct mc_row **sorted = NULL;
    struct stack whole = {0}, part = {0}; /* rows on whole axes; rows on axes of parts */
    int rc = 0;

    if ((rc = mc_new(&sorted, r->n, err)) || (rc = mc_new(&whole.row, r->n, err)) ||
        (rc = mc_new(&part.row, r->n, err)))
        goto out;
    for (size_t i = 0; i < r->n; i++)
        sorted[i] = &r->rows[i];
    qsort(sorted, r->n, sizeof *sorted, by_position);
    for (size_t i = 0; i < r->n && !rc; i++) {
        const struct mc_row *row = sorted[i], *o = NULL;
        const struct mc_use *u = &row->use;
        struct position *p = &by_row[row - r->rows];
        struct stack *stack = u->parts > 1 ? &part : &whole;
        *p = (struct position){.row = row};
        if ((o = innermost(stack, row, u->dim))) {
            const size_t from = u->offset - o->use.offset;
            p->unit = from / o->use.repeat;
            p->offset = from % o->use.repeat;
            if (p->offset + u->count * u->repeat > o->use.repeat || row->group == o->group)
                rc = mc_fail(err, MC_EINPUT,
                             "line %zu: overlaps line %zu, but is not inside one of its blocks",
                             row->line, o->line);
        } else if (u->parts > 1 && (o = innermost(&whole, row, 0))) {
            const size_t from = row->begin - o->use.offset;
            p->unit = from / o->use.repeat;
            p->offset = from % o->use.repeat * row->width + u->offset % row->width;
        }
        p->enclosing = o;
        stack->row[stack->depth++] = row;
    }
out:
    free(sorted);
    free(whole.row);
    free(part.row);
    return rc;
}

/* ---- groups in all units of a row ------------------------------------------------------------ */

static int by_unit(const void *x, const void *y)
{
    const struct position *a = x, *b = y;
    const int is_placed = (a->enclosing != NULL) - (b->enclosing != NULL);
    int cmp =
        is_placed || !a->enclosing ? is_placed : order(a->enclosing->line, b->enclosing->line);

    cmp = cmp ? cmp : order(a->unit, b->unit);
    cmp = cmp ? cmp : a->row->use.dim - b->row->use.dim;
    cmp = cmp ? cmp : order(a->offset, b->offset);
    return cmp ? cmp : order(a->row->line, b->row->line);
}

/* Return 1 if n rows of one group, in the order of by_unit, are at the same offsets in all units of
 * their enclosing row. */
static int is_in_all_units(const struct position *p, size_t n)
{
    const size_t units = p->enclosing ? p->enclosing->use.count : 0,
                 per_unit = units ? n / units : 0;
    int same = per_unit && per_unit * units == n;

    for (size_t i = 0; i < n && same; i++)
        same = p[i].unit == i / per_unit && p[i].row->use.dim == p[i % per_unit].row->use.dim &&
               p[i].offset == p[i % per_unit].offset &&
               p[i].row->use.repeat == p[i % per_unit].row->use.repeat;
    return same;
}

/* Skip the enclosing rows that contain a group in all their units. p: the group's n positions. */
static void skip_rows(const struct mc_rows *r, const struct position *by_row, struct position *p,
                      size_t n)
{
    for (int open = 1; open;) {
        open = 0;
        qsort(p, n, sizeof *p, by_unit);
        for (size_t i = 0, k; i < n; i = k) {
            const struct mc_row *o = p[i].enclosing;
            for (k = i; k < n && p[k].enclosing == o;)
                k++;
            if (!is_in_all_units(p + i, k - i))
                continue;
            const struct position *outer = &by_row[o - r->rows];
            for (size_t j = i; j < k; j++) {
                const size_t scale = o->use.parts == p[j].row->use.parts ? 1 : p[j].row->width;
                p[j].offset += (p[j].unit * o->use.repeat + outer->offset) * scale;
                p[j].unit = outer->unit;
                p[j].enclosing = outer->enclosing;
            }
            open = 1;
        }
    }
}

static int by_group_of_row(const void *x, const void *y)
{
    const struct position *a = x, *b = y;

    if (a->row->group != b->row->group)
        return a->row->group < b->row->group ? -1 : 1;
    return by_position(&a->row, &b->row);
}

/* positions: (n) by group, in the order of by_position. first: (n_groups + 1) index of each group's
 * first row among them. */
static int list_positions(const struct mc_rows *r, struct position *positions, size_t *first,
                          struct mc_error *err)
{
    struct position *by_row = NULL;
    int rc = mc_new(&by_row, r->n, err);

    if (rc || (rc = find_positions(r, by_row, err)))
        goto out;
    for (size_t i = 0; i < r->n; i++) {
        positions[i] = by_row[i];
        first[r->rows[i].group + 1]++;
    }
    for (size_t g = 0; g < r->n_groups; g++)
        first[g + 1] += first[g];
    if (r->n)
        qsort(positions, r->n, sizeof *positions, by_group_of_row);
    for (size_t g = 0; g < r->n_groups; g++) {
        const size_t n = first[g + 1] - first[g];
        skip_rows(r, by_row, positions + first[g], n);
        qsort(positions + first[g], n, sizeof *positions, by_group_of_row);
    }
out:
    free(by_row);
    return rc;
}

/* Number the rows of group g, and before them those of the groups around it. positions: those of
 * all groups; first: as in list_positions; rank: (n) numbers of the rows from 1, or 0. */
static void number_rows(const struct mc_rows *r, const struct mc_group *groups,
                        struct position *positions, const size_t *first, size_t *rank, size_t g)
{
    struct position *p = positions + first[g];
    const size_t n = first[g + 1] - first[g];

    if (rank[p->row - r->rows])
        return;
    if (mc_group_is_nested(&groups[g]))
        number_rows(r, groups, positions, first, rank, groups[g].outer);
    for (size_t i = 0; i < n; i++)
        p[i].rank = p[i].enclosing ? rank[p[i].enclosing - r->rows] : 0;
    qsort(p, n, sizeof *p, by_rank);
    for (size_t i = 0; i < n; i++)
        rank[p[i].row - r->rows] = 1 + i;
}

/* Set the nesting of each group from its rows, which must all be in one unit. */
static int set_nesting(const struct mc_rows *r, const struct position *positions,
                       const size_t *first, struct mc_group *groups, struct mc_error *err)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct position *p = &positions[i];
        struct mc_group *g = &groups[p->row->group];
        const size_t outer = p->enclosing ? p->enclosing->group : MC_NO_GROUP;
        if (i == first[p->row->group]) {
            g->outer = outer;
            g->unit = p->unit;
        } else if (g->outer != outer || g->unit != p->unit) {
            return mc_fail(err, MC_EINPUT,
                           "line %zu: group \"%s\" is in another unit than in line %zu",
                           p->row->line, p->row->name, positions[i - 1].row->line);
        }
    }
    return 0;
}

int mc_rows_nest(const struct mc_rows *r, const struct mc_graph *graph, struct mc_group *groups,
                 struct mc_error *err)
{
    struct position *positions = NULL;
    size_t *first = NULL; /* (n_groups + 1) index of a group's first row among the positions */
    size_t *rank = NULL, *twin = NULL; /* (n); (n_groups) the equal group in the first units */
    int rc = 0;

    if ((rc = mc_new(&positions, r->n, err)) || (rc = mc_new(&rank, r->n, err)) ||
        (rc = mc_new(&first, r->n_groups + 1, err)) || (rc = check_parts(r, graph, err)) ||
        (rc = list_positions(r, positions, first, err)) ||
        (rc = set_nesting(r, positions, first, groups, err)) ||
        (rc = mc_nesting_sources(groups, r->n_groups, NULL, &twin, err)))
        goto out;
    for (size_t g = 0; g < r->n_groups; g++)
        number_rows(r, groups, positions, first, rank, g);
    for (size_t g = 0; g < r->n_groups && !rc; g++) {
        const struct position *p = positions + first[g], *q = positions + first[twin[g]];
        const size_t n = first[g + 1] - first[g];
        int alike = n == first[twin[g] + 1] - first[twin[g]];
        for (size_t i = 0; alike && i < n; i++)
            alike = is_alike(&p[i], &q[i]);
        if (!alike)
            rc = mc_fail(err, MC_EINPUT,
                         "line %zu: group \"%s\" does not match its counterpart in the first unit "
                         "of \"%s\"",
                         p->row->line, p->row->name, groups[groups[g].outer].name);
    }
out:
    free(positions);
    free(first);
    free(rank);
    free(twin);
    return rc;
}
