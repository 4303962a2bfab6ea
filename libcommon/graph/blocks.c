/* SPDX-License-Identifier: Apache-2.0
 *
 * A row is the list of blocks on an axis of a grouped convolution or a group norm: one group per
 * block, all of equal shape. The rows of a convolution's two axes move together. So do the rows of
 * all convolutions that share a row. */
#include "libcommon/graph/blocks.h"

#include "libcommon/base/alloc.h"
#include "libcommon/graph/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    size_t n_units;
    size_t up;    /* a row that it moves with; the first row of such a set points to itself */
    int tied;     /* an axis that is not a row shares its groups: its blocks cannot move */
    size_t outer; /* index of the new group; only in first rows that are not tied */
};

struct blocks {
    const struct mc_graph *g;
    struct mc_symmetry *s;
    struct row *rows; /* (n) */
    size_t n;
    struct {
        size_t row, unit; /* row: 1 + its index, or 0 if there is none */
        int tied;
    } * member; /* (n_groups) by group */
};

static size_t first_row(const struct blocks *b, size_t row)
{
    while (b->rows[row].up != row)
        row = b->rows[row].up;
    return row;
}

/* Return 1 if units 0, 1, ... of a row are side by side from segment k on. */
static int is_row_at(const struct blocks *b, const struct mc_axis *a, size_t k, size_t row)
{
    const size_t n = b->rows[row].n_units;

    int found = k + n <= a->n;

    for (size_t i = 0; i < n && found; i++) {
        const struct mc_segment *s = &a->seg[k + i];
        found = s->group >= 0 && b->member[s->group].row == 1 + row &&
                b->member[s->group].unit == i && s->repeat == a->seg[k].repeat;
    }
    return found;
}

/* Find or add the row of an axis with n blocks. *row: 1 + its index, or 0 if it is not a row. */
static int find_row(struct blocks *b, const struct mc_axis *a, size_t n, size_t *row,
                    struct mc_error *err)
{
    int rc = 0, alike = a->n == n, is_new = 1;

    *row = 0;
    for (size_t i = 0; i < n && alike; i++) {
        const struct mc_segment *s = &a->seg[i];
        alike = s->group >= 0 && s->count == a->seg[0].count && s->repeat == a->seg[0].repeat;
        is_new &= alike && !b->member[s->group].row;
    }
    if (!alike)
        return 0;
    if (is_new) {
        if ((rc = mc_list_room(&b->rows, b->n, err)))
            return rc;
        b->rows[b->n] = (struct row){.n_units = n, .up = b->n};
        b->n++;
        for (size_t i = 0; i < n; i++) {
            b->member[a->seg[i].group].row = b->n;
            b->member[a->seg[i].group].unit = i;
        }
    }
    const size_t found = b->member[a->seg[0].group].row;
    if (found && b->rows[found - 1].n_units == n && is_row_at(b, a, 0, found - 1))
        *row = found;
    return 0;
}

static void tie(struct blocks *b, const struct mc_axis *a)
{
    for (size_t k = 0; k < a->n; k++)
        if (a->seg[k].group >= 0)
            b->member[a->seg[k].group].tied = 1;
}

static int find_rows(struct blocks *b, struct mc_error *err)
{
    int rc = 0;

    for (int i = 0; i < b->g->n_nodes && !rc; i++) {
        const struct mc_node *n = &b->g->nodes[i];
        size_t in = 0, out = 0;
        if (!mc_is_blocked(b->g, n))
            continue;
        const struct mc_axis *from = &b->s->axes[n->in[0]], *to = &b->s->axes[i];
        if ((rc = find_row(b, from, (size_t)n->groups, &in, err)) ||
            (rc = find_row(b, to, (size_t)n->groups, &out, err)))
            break;
        if (in && out) { /* the same row for a group norm */
            b->rows[first_row(b, out - 1)].up = first_row(b, in - 1);
        } else {
            tie(b, from);
            tie(b, to);
        }
    }
    return rc;
}

/* A row moves if every axis contains it whole and nothing ties its groups. */
static void find_ties(struct blocks *b)
{
    for (size_t k = 0; k < b->s->n_groups; k++)
        if (b->member[k].tied && b->member[k].row)
            b->rows[b->member[k].row - 1].tied = 1;
    for (int i = 0; i < b->s->n_nodes; i++) {
        const struct mc_axis *a = &b->s->axes[i];
        for (size_t k = 0; k < a->n;) {
            const size_t row = a->seg[k].group < 0 ? 0 : b->member[a->seg[k].group].row;
            const int whole = row && is_row_at(b, a, k, row - 1);
            if (row && !whole)
                b->rows[row - 1].tied = 1;
            k += whole ? b->rows[row - 1].n_units : 1;
        }
    }
    for (size_t r = 0; r < b->n; r++)
        b->rows[first_row(b, r)].tied |= b->rows[r].tied;
}

/* Return the first row of the set that the group's row moves with. Return b->n if the group has no
 * row, or its row cannot move. */
static size_t moving_row(const struct blocks *b, size_t group)
{
    const size_t row = b->member[group].row ? first_row(b, b->member[group].row - 1) : b->n;

    return row < b->n && !b->rows[row].tied ? row : b->n;
}

/* ---- new groups and taps --------------------------------------------------------------------- */

/* Name a group of blocks after the first layer whose outputs it permutes. */
static void name_outer(const struct blocks *b, struct mc_group *to, size_t inner)
{
    for (int i = 0; i < b->g->n_nodes; i++) {
        const struct mc_node *n = &b->g->nodes[i];
        const struct mc_axis *a = &b->s->axes[i];
        size_t from = 0, k = 0;
        if (!mc_op_has(n, MC_OP_LAYER))
            continue;
        for (; k < a->n && a->seg[k].group != (int)inner; k++)
            from += a->seg[k].count * a->seg[k].repeat;
        if (k == a->n)
            continue;
        const size_t channels = to->size * a->seg[k].count * a->seg[k].repeat;
        if (channels == (size_t)n->c)
            snprintf(to->name, sizeof to->name, "%s/blocks", n->name);
        else
            snprintf(to->name, sizeof to->name, "%s[%u:%u]/blocks", n->name, (unsigned)from,
                     (unsigned)(from + channels));
        return;
    }
}

/* Convert the uses of the groups in a row's first block to uses of whole blocks. The inputs of a
 * grouped convolution are left out: they are in the rows of its weight and move with them. Only
 * counts if to->use is NULL. */
static void use_as_blocks(struct mc_uses *to, size_t units, const struct mc_uses *inner)
{
    for (size_t i = 0; i < inner->n; i++) {
        struct mc_use u = inner->use[i];
        if (u.parts > 1)
            continue;
        u.repeat *= u.count;
        u.count = units;
        if (to->use)
            to->use[to->n] = u;
        to->n++;
    }
}

static int use_outer(const struct blocks *b, struct mc_uses *to, size_t row, struct mc_error *err)
{
    int rc = 0;

    for (int write = 0; write < 2 && !rc; write++) {
        to->n = 0;
        for (size_t k = 0; k < b->s->n_groups; k++)
            if (moving_row(b, k) == row && b->member[k].unit == 0)
                use_as_blocks(to, b->rows[row].n_units, &b->s->uses[k]);
        if (!write)
            rc = mc_new(&to->use, to->n, err);
    }
    return rc;
}

/* Replace the taps of a row's blocks by one tap. */
static void merge_taps(const struct blocks *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->s->n_taps; i++) {
        struct mc_tap t = b->s->taps[i];
        const size_t row = moving_row(b, (size_t)t.group);
        if (row < b->n && b->member[t.group].unit)
            continue;
        if (row < b->n)
            t.count *= b->rows[row].n_units;
        b->s->taps[n++] = t;
    }
    b->s->n_taps = n;
}

/* Insert each new group before the group of its first block. to (n_groups): new index per group. */
static int insert(struct blocks *b, size_t n_outer, int *to, struct mc_error *err)
{
    const size_t none = b->s->n_groups + n_outer;
    struct mc_symmetry all = {0};
    size_t index = 0;
    int rc = mc_symmetry_alloc(&all, none, err);

    for (size_t r = 0; r < b->n; r++)
        b->rows[r].outer = none;
    for (size_t k = 0; k < b->s->n_groups && !rc; k++) {
        const size_t row = moving_row(b, k);
        if (row < b->n && b->rows[row].outer == none) {
            b->rows[row].outer = index;
            all.groups[index].size = b->rows[row].n_units;
            name_outer(b, &all.groups[index], k);
            if ((rc = use_outer(b, &all.uses[index++], row, err)))
                break;
        }
        to[k] = (int)index;
        all.groups[index] = b->s->groups[k];
        if (row < b->n) {
            all.groups[index].outer = b->rows[row].outer;
            all.groups[index].unit = b->member[k].unit;
        }
        index++;
    }
    for (size_t k = 0; k < b->s->n_groups && !rc; k++) {
        all.uses[to[k]] = b->s->uses[k];
        b->s->uses[k] = (struct mc_uses){0};
    }
    if (!rc) { /* `all` releases the old arrays */
        const struct mc_symmetry old = *b->s;
        b->s->groups = all.groups;
        b->s->uses = all.uses;
        b->s->n_groups = all.n_groups;
        all =
            (struct mc_symmetry){.groups = old.groups, .uses = old.uses, .n_groups = old.n_groups};
    }
    mc_symmetry_release(&all);
    return rc;
}

int mc_symmetry_add_blocks(struct mc_symmetry *s, const struct mc_graph *g, struct mc_error *err)
{
    struct blocks b = {.g = g, .s = s};
    size_t n_outer = 0;
    int *to = NULL;
    int rc = 0;

    if ((rc = mc_new(&b.member, s->n_groups, err)) || (rc = mc_new(&to, s->n_groups, err)) ||
        (rc = find_rows(&b, err)))
        goto out;
    find_ties(&b);
    for (size_t r = 0; r < b.n; r++)
        n_outer += b.rows[r].up == r && !b.rows[r].tied;
    if (!n_outer)
        goto out;
    merge_taps(&b);
    if ((rc = insert(&b, n_outer, to, err)))
        goto out;
    for (size_t i = 0; i < s->n_taps; i++)
        s->taps[i].group = to[s->taps[i].group];
    for (int i = 0; i < s->n_nodes; i++)
        for (size_t k = 0; k < s->axes[i].n; k++)
            if (s->axes[i].seg[k].group >= 0)
                s->axes[i].seg[k].group = to[s->axes[i].seg[k].group];
out:
    free(b.rows);
    free(b.member);
    free(to);
    return rc;
}
