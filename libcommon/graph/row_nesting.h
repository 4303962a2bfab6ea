/* SPDX-License-Identifier: Apache-2.0
 *
 * How declared groups (libcommon/graph/group_rows.h) lie within one another: places of one axis are
 * of one group, or of one within a unit of another. For group_rows.c alone. */
#ifndef MC_ROW_NESTING_H
#define MC_ROW_NESTING_H

#include "libcommon/graph/graph.h"
#include "libcommon/graph/groups.h"

/* A line of the text that declares groups, and all of them. */
struct mc_row {
    size_t line, group; /* its number in the text, its group's */
    struct mc_use use;
    const char *name; /* the group's */
};

struct mc_rows {
    struct mc_row *rows;
    size_t n, n_groups;
};

/* Says of each group (r->n_groups) in which unit of which other it lies; all units of one hold the
 * same. MC_EINPUT: "line 7: ..." where rows overlap otherwise, or units differ; MC_ENOMEM. */
MC_USE_RESULT int mc_rows_nest(const struct mc_rows *r, struct mc_group *groups,
                               struct mc_error *err);

#endif
