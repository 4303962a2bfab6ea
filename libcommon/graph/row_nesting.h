/* SPDX-License-Identifier: Apache-2.0
 *
 * The nesting of declared groups (libcommon/graph/group_rows.h). An entry of an axis belongs to one
 * group, or to an outer group and to groups nested in its unit. Used only by group_rows.c. */
#ifndef MC_ROW_NESTING_H
#define MC_ROW_NESTING_H

#include "libcommon/graph/graph.h"
#include "libcommon/graph/groups.h"

/* A row is one line of the text; several rows may declare one group. */
struct mc_row {
    size_t line, group; /* numbers of the line and the group */
    struct mc_use use;
    const char *name; /* the group's name */
};

struct mc_rows {
    struct mc_row *rows;
    size_t n, n_groups;
};

/* Set the nesting of each group (r->n_groups). All units of a group must contain equal groups.
 * MC_EINPUT: "line 7: ..." if rows overlap without nesting, or units differ; MC_ENOMEM. */
MC_USE_RESULT int mc_rows_nest(const struct mc_rows *r, struct mc_group *groups,
                               struct mc_error *err);

#endif
