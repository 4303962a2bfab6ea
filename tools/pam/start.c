/* SPDX-License-Identifier: Apache-2.0
 *
 * Read the start of a minimisation from files, and write its result. */
#include "tools/pam/start.h"

#include "formats/network/permutations.h"
#include "libcommon/base/alloc.h"
#include "libcommon/graph/uses.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void mc_pam_start_release(struct mc_pam_start *s)
{
    mc_weights_release(&s->a);
    mc_weights_release(&s->b);
    mc_symmetry_release(&s->symmetry);
    mc_perm_release(&s->blocks);
    mc_perm_release(&s->perm);
    free(s->offset);
}

/* Start from the permutation and control point of a curve between these networks. */
static int start_from_curve(struct mc_pam_start *s, const char *const path[2], const char *init,
                            struct mc_history *h, struct mc_error *err)
{
    struct mc_curve c = {0};
    const size_t P = s->a.graph->P;
    float *end = malloc(P * sizeof *end);
    int rc = end ? mc_curve_read(&c, (struct mc_stream){.path = init}, h, err) : mc_no_memory(err);

    if (!rc &&
        (!mc_graph_same(c.graph, s->a.graph) || c.kind != MC_CURVE_BEZIER || c.n_points != 3))
        rc = mc_fail(err, MC_EINPUT, "%s: is not a quadratic Bezier curve between these networks",
                     init);
    if (!rc && c.perm) {
        mc_perm_release(&s->perm);
        s->perm = *c.perm;
        *c.perm = (struct mc_perm){0};
        rc = mc_fail_in(mc_perm_set_nesting(&s->perm, &s->symmetry, err), err, "%s", init);
    }
    if (!rc &&
        (rc = mc_perm_apply(&s->perm, &s->symmetry, s->a.graph, s->b.params, NULL, end, NULL, err)))
        mc_fail_in(rc, err, "%s", init);
    if (!rc && (memcmp(c.points[0], s->a.params, P * sizeof *end) ||
                memcmp(c.points[2], end, P * sizeof *end)))
        rc = mc_fail(err, MC_EINPUT, "%s: is not a curve from %s to %s (permuted)", init, path[0],
                     path[1]);
    for (size_t i = 0; !rc && i < P; i++)
        s->offset[i] = c.points[1][i] - .5f * (c.points[0][i] + c.points[2][i]);
    mc_curve_release(&c);
    free(end);
    return rc;
}

/* Apply the block part of the permutation to b. s->perm becomes the rest, which permutes within
 * blocks: the inverse of s->blocks followed by the permutation. */
static int place_blocks(struct mc_pam_start *s, struct mc_error *err)
{
    struct mc_perm rest = {0};
    float *b = s->b.params;
    int rc = mc_perm_init(&s->blocks, &s->symmetry, err);

    if (rc)
        return rc;
    for (size_t g = 0; g < s->perm.n_groups; g++)
        if (mc_group_contains_groups(s->symmetry.groups, s->symmetry.n_groups, g))
            memcpy(s->blocks.perm[g], s->perm.perm[g],
                   s->perm.groups[g].size * sizeof *s->perm.perm[g]);
    if (!(rc = mc_perm_clone(&rest, &s->blocks, err)) && !(rc = mc_perm_inverse(&rest, err)) &&
        !(rc = mc_perm_compose(&rest, &s->perm, err)) &&
        !(rc = mc_perm_apply(&s->blocks, &s->symmetry, s->a.graph, b, NULL, b, NULL, err)))
        mc_perm_copy(&s->perm, &rest);
    mc_perm_release(&rest);
    return rc;
}

int mc_pam_start_read(struct mc_pam_start *s, const char *const path[2], const char *perm,
                      const char *init, struct mc_history *h, struct mc_error *err)
{
    const struct mc_stream from = {.path = perm};
    int rc = mc_symmetry_derive(&s->symmetry, s->a.graph, err);

    if (!rc && !(rc = mc_new(&s->offset, s->a.graph->P, err)))
        rc = perm ? mc_perm_read(&s->perm, from, &s->symmetry, h, err)
                  : mc_perm_init(&s->perm, &s->symmetry, err);
    if (!rc && init)
        rc = start_from_curve(s, path, init, h, err);
    if (!rc)
        s->sum = XXH3_64bits(s->offset, s->a.graph->P * sizeof *s->offset);
    for (size_t g = 0; !rc && g < s->perm.n_groups; g++)
        s->sum = XXH3_64bits_withSeed(s->perm.perm[g],
                                      s->perm.groups[g].size * sizeof *s->perm.perm[g], s->sum);
    return rc ? rc : place_blocks(s, err);
}

int mc_pam_curve_write(struct mc_pam_start *s, const char *path, const struct mc_history *h,
                       struct mc_error *err)
{
    struct mc_curve c = {0};
    const struct mc_graph *g = s->a.graph;
    int rc = mc_curve_init(&c, g, MC_CURVE_BEZIER, 3, s->a.dataset, err);

    if (!rc)
        rc = mc_perm_apply(&s->perm, &s->symmetry, g, s->b.params, NULL, c.points[2], NULL, err);
    if (!rc && !(rc = mc_perm_compose(&s->blocks, &s->perm, err))) {
        memcpy(c.points[0], s->a.params, g->P * sizeof(float));
        for (size_t i = 0; i < g->P; i++)
            c.points[1][i] = .5f * (c.points[0][i] + c.points[2][i]) + s->offset[i];
        c.perm = &s->blocks; /* borrowed */
        rc = mc_curve_write(&c, path, h, err);
        c.perm = NULL;
    }
    mc_curve_release(&c);
    return rc;
}
