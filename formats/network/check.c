/* SPDX-License-Identifier: Apache-2.0
 *
 * Check a stream: its codec reads it, and the result is discarded. */
#include "formats/network/check.h"

#include "formats/codecs/activations.h"
#include "formats/codecs/checkpoint.h"
#include "formats/codecs/dataset.h"
#include "formats/codecs/losses.h"
#include "formats/codecs/matrices.h"
#include "formats/codecs/moments.h"
#include "formats/network/permutations.h"
#include "formats/network/values.h"

#include <string.h>

/* A stream from an open reader; networks without a graph are accepted. */
static struct mc_stream stream_of(struct mc_reader *r)
{
    return (struct mc_stream){.reader = r, .declared = 1};
}

/* Read a network or a curve to its end. Close v after success. */
static int check_values(struct mc_values *v, const char *kind, struct mc_reader *r,
                        struct mc_error *err)
{
    int rc = mc_values_open(v, kind, stream_of(r), NULL, err);

    if (!rc)
        rc = mc_values_end(v, err);
    if (rc)
        mc_values_close(v);
    return rc;
}

/* Define check_KIND. */
#define CHECK(kind, type, read, release)                                                           \
    static int check_##kind(struct mc_reader *r, struct mc_error *err)                             \
    {                                                                                              \
        struct type it;                                                                            \
        int rc = read;                                                                             \
        if (!rc)                                                                                   \
            release(&it);                                                                          \
        return rc;                                                                                 \
    }
CHECK(weights, mc_values, check_values(&it, "weights", r, err), mc_values_close)
CHECK(permutation, mc_joint_perm, mc_joint_perm_read(&it, stream_of(r), NULL, err),
      mc_joint_perm_release)
CHECK(matrices, mc_matrices, mc_matrices_read(&it, stream_of(r), NULL, err), mc_matrices_release)
CHECK(moments, mc_moments, mc_moments_read(&it, stream_of(r), NULL, err), mc_moments_release)
CHECK(losses, mc_losses, mc_losses_read_stream(&it, r, NULL, err), mc_losses_release)

/* Check a curve, and that its permutation fits its network. */
static int check_curve(struct mc_reader *r, struct mc_error *err)
{
    struct mc_symmetry symmetry = {0};
    struct mc_values v;
    int rc = check_values(&v, "curve", r, err);

    if (rc)
        return rc;
    if (v.curve.perm && !(rc = mc_symmetry_derive(&symmetry, v.curve.graph, err)))
        rc = mc_perm_set_nesting(v.curve.perm, &symmetry, err);
    mc_symmetry_release(&symmetry);
    mc_values_close(&v);
    return mc_fail_in(rc, err, "%s", mc_reader_name(r));
}

int mc_stream_check(struct mc_reader *r, struct mc_error *err)
{
    static const struct {
        const char *kind;
        int (*check)(struct mc_reader *r, struct mc_error *err);
    } kinds[] = {{"dataset", mc_dataset_check},      {"activations", mc_activations_check},
                 {"weights", check_weights},         {"curve", check_curve},
                 {"permutation", check_permutation}, {"moments", check_moments},
                 {"matrices", check_matrices},       {"losses", check_losses},
                 {"checkpoint", mc_checkpoint_check}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(mc_reader_kind(r), kinds[i].kind))
            return kinds[i].check(r, err);
    return mc_reader_rest(r, NULL, err);
}
