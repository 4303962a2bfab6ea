/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/graph/row_nesting.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>

static size_t end_of(const struct mc_use *u)
{
    return u->offset + u->count * u->repeat;
}

/* Order by tensor, axis and first entry; outer rows before rows inside them. */
static int by_position(const void *x, const void *y)
{
    const struct mc_row *a = *(const struct mc_row *const *)x,
                        *b = *(const struct mc_row *const *)y;

    if (a->use.index != b->use.index)
        return a->use.index < b->use.index ? -1 : 1;
    if (a->use.dim != b->use.dim)
        return a->use.dim - b->use.dim;
    if (a->use.offset != b->use.offset)
        return a->use.offset < b->use.offset ? -1 : 1;
    if (end_of(&a->use) != end_of(&b->use))
        return end_of(&a->use) > end_of(&b->use) ? -1 : 1;
    if (a->use.repeat != b->use.repeat)
        return a->use.repeat > b->use.repeat ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* A row's position: inside `unit` of the enclosing row, if any, `offset` entries after the start of
 * that unit. */
struct position {
    const struct mc_row *row, *enclosing;
    size_t unit, offset;
};

/* Return 1 if two rows have the same position in their units. rank: for each row, the number of
 * earlier rows of its group. The enclosing rows must have the same rank, because their groups are
 * equal. */
static int is_alike(const struct mc_rows *r, const size_t *rank, const struct position *x,
                    const struct position *y)
{
    const struct mc_use *u = &x->row->use, *v = &y->row->use;

    return x->enclosing && y->enclosing &&
           rank[x->enclosing - r->rows] == rank[y->enclosing - r->rows] && u->count == v->count &&
           u->repeat == v->repeat && x->offset == y->offset;
}

/* positions: (n) in the order of by_position. */
static int find_positions(const struct mc_rows *r, struct position *positions, struct mc_error *err)
{
    const struct mc_row **sorted = NULL, **enclosing = NULL; /* enclosing: a stack */
    size_t depth = 0;
    int rc = 0;

    if ((rc = mc_new(&sorted, r->n, err)) || (rc = mc_new(&enclosing, r->n, err)))
        goto out;
    for (size_t i = 0; i < r->n; i++)
        sorted[i] = &r->rows[i];
    qsort(sorted, r->n, sizeof *sorted, by_position);
    for (size_t i = 0; i < r->n && !rc; i++) {
        const struct mc_use *u = &sorted[i]->use, *o = NULL;
        for (; depth; depth--) {
            o = &enclosing[depth - 1]->use;
            if (o->index == u->index && o->dim == u->dim && end_of(o) > u->offset)
                break;
        }
        positions[i] = (struct position){.row = sorted[i]};
        if (depth) {
            positions[i].enclosing = enclosing[depth - 1];
            positions[i].unit = (u->offset - o->offset) / o->repeat;
            positions[i].offset = (u->offset - o->offset) % o->repeat;
            if (positions[i].offset + u->count * u->repeat > o->repeat ||
                sorted[i]->group == enclosing[depth - 1]->group)
                rc = mc_fail(err, MC_EINPUT,
                             "line %zu: overlaps line %zu, but is not inside one of its blocks",
                             sorted[i]->line, enclosing[depth - 1]->line);
        }
        enclosing[depth++] = sorted[i];
    }
out:
    free(sorted);
    free(enclosing);
    return rc;
}

static int by_group_of_row(const void *x, const void *y)
{
    const struct position *a = x, *b = y;

    if (a->row->group != b->row->group)
        return a->row->group < b->row->group ? -1 : 1;
    return by_position(&a->row, &b->row);
}

/* Return the group that must be equal to group g: the one in the same slot of the first unit of its
 * outer group. If g is in a first unit, use the outer group's twin. Return n if there is none. */
static size_t twin_of(const struct mc_group *groups, size_t n, size_t g)
{
    const struct mc_group *group = &groups[g];
    size_t enclosing = group->within, slot = 0, twin = 0;

    if (!enclosing)
        return g;
    if (!group->unit && (enclosing = 1 + twin_of(groups, n, enclosing - 1)) == group->within)
        return g;
    for (size_t k = 0; k < g; k++)
        slot += groups[k].within == group->within && groups[k].unit == group->unit;
    for (; twin < n; twin++)
        if (groups[twin].within == enclosing && !groups[twin].unit && !slot--)
            break;
    return twin;
}

int mc_rows_nest(const struct mc_rows *r, struct mc_group *groups, struct mc_error *err)
{
    struct position *positions = NULL;
    size_t *first = NULL; /* (n_groups + 1) index of a group's first row among the positions */
    size_t *rank = NULL;  /* (n) number of earlier rows of the row's group */
    int rc = 0;

    if ((rc = mc_new(&positions, r->n, err)) || (rc = mc_new(&rank, r->n, err)) ||
        (rc = mc_new(&first, r->n_groups + 1, err)) || (rc = find_positions(r, positions, err)))
        goto out;
    if (r->n)
        qsort(positions, r->n, sizeof *positions, by_group_of_row);
    for (size_t i = 0; i < r->n && !rc; i++) {
        const struct position *p = &positions[i];
        struct mc_group *g = &groups[p->row->group];
        const size_t within = p->enclosing ? 1 + p->enclosing->group : 0;
        if (!i || p->row->group != positions[i - 1].row->group) {
            first[p->row->group] = i;
            g->within = within;
            g->unit = p->unit;
        } else if (g->within != within || g->unit != p->unit) {
            rc = mc_fail(err, MC_EINPUT,
                         "line %zu: group \"%s\" is in another unit than in line %zu", p->row->line,
                         p->row->name, positions[i - 1].row->line);
        }
        rank[p->row - r->rows] = i - first[p->row->group];
    }
    first[r->n_groups] = r->n;
    for (size_t g = 0; g < r->n_groups && !rc; g++) {
        const struct mc_group *group = &groups[g];
        const size_t twin = twin_of(groups, r->n_groups, g);
        if (twin == g)
            continue;
        int alike = twin < r->n_groups && first[twin + 1] - first[twin] == first[g + 1] - first[g];
        for (size_t i = first[g]; alike && i < first[g + 1]; i++)
            alike = is_alike(r, rank, &positions[i], &positions[first[twin] + i - first[g]]);
        if (!alike)
            rc = mc_fail(err, MC_EINPUT,
                         "line %zu: group \"%s\" does not match its counterpart in the first unit "
                         "of \"%s\"",
                         positions[first[g]].row->line, positions[first[g]].row->name,
                         groups[group->within - 1].name);
    }
out:
    free(positions);
    free(first);
    free(rank);
    return rc;
}
