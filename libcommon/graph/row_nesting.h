/* SPDX-License-Identifier: Apache-2.0
 *
 * A check of declared groups (libcommon/graph/group_rows.h): their rows must be where the nesting says.
 * An entry of an axis belongs to one group, or to an outer group and to groups nested in its unit. A
 * row on an axis of one of several parts (struct mc_use) is within the unit whose entries on axis 0
 * contain the part. A group may also have rows at the same offsets in all units of a row without being
 * nested in them, because both permutations commute. Used only by group_rows.c. */
#ifndef MC_ROW_NESTING_H
#define MC_ROW_NESTING_H

#include "libcommon/graph/graph.h"
#include "libcommon/graph/groups.h"

/* A row is one line of the text; several rows may declare one group. */
struct mc_row {
    size_t line, group; /* numbers of the line and the group */
    struct mc_use use;
    const char *name;  /* the group's name */
    const char *outer; /* the name of the group in whose unit the group is */
    size_t unit;       /* that unit, or MC_NO_GROUP */
    enum mc_allows allows;
    /* Set by mc_rows_check: entries [low, high) of its axis, or of its part's, in entries [begin, end)
     * of axis 0. Those of a row on axis 0 are equal. */
    size_t low, high, begin, end;
    const struct mc_row *around; /* the innermost row that contains it, or NULL */
};

/* Check n rows of the groups of s, whose nesting and uses are set. MC_EINPUT: "line 7:
 * ..." if a row moves entries between parts, overlaps another one, or is not in the unit of its group;
 * or if the units of a group contain different rows. MC_ENOMEM. */
MC_USE_RESULT int mc_rows_check(struct mc_row *rows, size_t n, const struct mc_symmetry *s,
                                const struct mc_graph *g, struct mc_error *err);

#endif
