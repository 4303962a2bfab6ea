/* SPDX-License-Identifier: Apache-2.0
 *
 * Planes at the command line: from the operands to the table, or JSON, and the marks. */
#ifndef MC_PLANE_CLI_H
#define MC_PLANE_CLI_H

#include "tools/options/eval.h"
#include "tools/eval/plane.h"

/* y of a curve's plane: from -.1 to 1.5, as in the paper, unless it is given */
struct mc_plane_cli {
    struct mc_plane_grid grid;
    const char *marks; /* a file, or NULL */
    struct mc_eval_cli *eval;
    uint64_t points; /* of a curve among the marks */
};

/* The plane through the three networks that are the operands, of which the first is open; its
 * table, or JSON, to f. */
MC_USE_RESULT int mc_plane_cli_networks(struct mc_plane_cli *p, struct mc_reader *first, FILE *f,
                                        struct mc_error *err);
/* The plane through an open curve's ends and middle. */
MC_USE_RESULT int mc_plane_cli_curve(struct mc_plane_cli *p, struct mc_reader *r, FILE *f,
                                     struct mc_error *err);

#endif
