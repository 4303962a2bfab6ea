/* SPDX-License-Identifier: Apache-2.0
 *
 * The nesting of declared groups (libcommon/graph/group_rows.h). An entry of an axis belongs to one
 * group, or to an outer group and to groups nested in its unit. A row on an axis of one of several
 * parts (struct mc_use) is within the unit whose entries on axis 0 contain the part. A group with
 * rows at the same offsets in all units of a row is not nested in these units: both permutations
 * commute. The row is skipped, and the group is nested in what contains that row. Used only by
 * group_rows.c. */
#ifndef MC_ROW_NESTING_H
#define MC_ROW_NESTING_H

#include "libcommon/graph/graph.h"
#include "libcommon/graph/groups.h"

/* A row is one line of the text; several rows may declare one group. */
struct mc_row {
    size_t line, group; /* numbers of the line and the group */
    struct mc_use use;
    size_t begin, end; /* its entries; if use.parts > 1, those of its part on axis 0 */
    size_t width;      /* entries per part; 1 if use.parts is 1 */
    const char *name;  /* the group's name */
};

struct mc_rows {
    struct mc_row *rows;
    size_t n, n_groups;
};

/* Set the nesting of each group (r->n_groups). All units of a group must contain equal groups.
 * MC_EINPUT: "line 7: ..." if rows overlap without nesting, a row moves entries between parts, or
 * units differ; MC_ENOMEM. */
MC_USE_RESULT int mc_rows_nest(const struct mc_rows *r, const struct mc_graph *g,
                               struct mc_group *groups, struct mc_error *err);

#endif
