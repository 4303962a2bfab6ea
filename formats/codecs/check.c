/* SPDX-License-Identifier: Apache-2.0
 *
 * Each kind's codec reads, and what it made is thrown away. */
#include "formats/codecs/check.h"

#include "formats/codecs/activations.h"
#include "formats/codecs/checkpoint.h"
#include "formats/codecs/curve.h"
#include "formats/codecs/dataset.h"
#include "formats/codecs/losses.h"
#include "formats/codecs/matrices.h"
#include "formats/codecs/moments.h"
#include "formats/codecs/permutation.h"
#include "formats/codecs/weights.h"

#include <string.h>

/* check_KIND */
#define CHECK(kind, type, read, release)                                                           \
    static int check_##kind(struct mc_reader *r, struct mc_error *err)                             \
    {                                                                                              \
        struct type it;                                                                            \
        int rc = read(&it, r, NULL, err);                                                          \
        if (!rc)                                                                                   \
            release(&it);                                                                          \
        return rc;                                                                                 \
    }
CHECK(weights, mc_weights, mc_weights_read_stream_any, mc_weights_release)
CHECK(curve, mc_curve, mc_curve_read_stream_any, mc_curve_release)
CHECK(permutation, mc_perm, mc_perm_read_stream, mc_perm_release)
CHECK(moments, mc_moments, mc_moments_read, mc_moments_release)
CHECK(matrices, mc_matrices, mc_matrices_read_stream, mc_matrices_release)
CHECK(losses, mc_losses, mc_losses_read_stream, mc_losses_release)

int mc_stream_check(struct mc_reader *r, struct mc_error *err)
{
    static const struct {
        const char *kind;
        int (*check)(struct mc_reader *r, struct mc_error *err);
    } kinds[] = {{"dataset", mc_dataset_check},       {"activations", mc_activations_check},
                 {"weights", check_weights},          {"curve", check_curve},
                 {"permutation", check_permutation},  {"moments", check_moments},
                 {"matrices", check_matrices},        {"losses", check_losses},
                 {"checkpoint", mc_checkpoint_check}, {"state", mc_checkpoint_check}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(mc_reader_kind(r), kinds[i].kind))
            return kinds[i].check(r, err);
    return mc_reader_rest(r, NULL, err);
}
