/* SPDX-License-Identifier: Apache-2.0
 *
 * Command-line options of planes: from the operands to the table, or JSON, and the marks. */
#ifndef MC_PLANE_CLI_H
#define MC_PLANE_CLI_H

#include "tools/options/eval.h"
#include "tools/eval/plane.h"

struct mc_plane_cli {
    struct mc_plane_grid grid; /* y of a curve's plane: -.1 to 1.5 by default, as in the paper */
    const char *marks;         /* a file, or NULL */
    struct mc_eval_cli *eval;
    uint64_t points; /* number of a curve's points among the marks */
};

/* Measures the plane through the three networks that are the operands; the first is open. Prints
 * the table, or JSON, to f. */
MC_USE_RESULT int mc_plane_cli_networks(struct mc_plane_cli *p, struct mc_reader *first, FILE *f,
                                        struct mc_error *err);
/* Likewise, the plane through the ends and the middle of an open curve. */
MC_USE_RESULT int mc_plane_cli_curve(struct mc_plane_cli *p, struct mc_reader *r, FILE *f,
                                     struct mc_error *err);

#endif
