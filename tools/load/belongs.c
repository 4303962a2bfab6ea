/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparing data with what a network was trained on. */
#include "tools/load/belongs.h"

#include "formats/stream/history.h"
#include "kernels/augment.h"
#include "libcommon/base/file.h"

#include <math.h>
#include <string.h>

#define TOLERANCE .05f /* of a deviation */

/* Sets of a user's own images are named after their form. */
static int names_a_set(const char *name)
{
    static const char *const forms[] = {"", "folder", "npz", "idx"};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(name, forms[i]))
            return 0;
    return 1;
}

/* Adversarial examples are named after their set: cifar10-pgd. */
static int is_set(const char *name, const char *dataset)
{
    const size_t n = strlen(dataset);

    return !strncmp(name, dataset, n) && (!name[n] || name[n] == '-');
}

/* The first channel whose normalisation differs, or -1. */
static int other_channel(const struct mc_node *n, const struct mc_net_spec *s)
{
    int identity = 1;

    for (int c = 0; c < s->channels; c++)
        identity &= n->mean[c] == 0 && n->std[c] == 1;
    for (int c = 0; c < s->channels && !identity; c++)
        if (fabsf(n->mean[c] - s->mean[c]) > TOLERANCE * n->std[c] ||
            fabsf(n->std[c] - s->std[c]) > TOLERANCE * n->std[c])
            return c;
    return -1;
}

void mc_data_warn(const struct mc_cli *cli, const struct mc_graph *g, const char *dataset,
                  const struct mc_dataset_info *info, const char *path, enum mc_data_use use)
{
    const char *file = mc_file_called(path);
    const struct mc_node *n = g->n_nodes ? &g->nodes[0] : NULL;
    const int c = n && n->op == MC_OP_NORMALISE ? other_channel(n, &info->spec) : -1;

    if (names_a_set(dataset) && names_a_set(info->name) && !is_set(info->name, dataset))
        mc_warn(cli, "%s: images of %s, but the network was trained on %s", file, info->name,
                dataset);
    if (c >= 0)
        mc_warn(cli,
                "%s: channel %d has mean %.4g and deviation %.4g, but the network normalises by "
                "%.4g and %.4g",
                file, c, (double)info->spec.mean[c], (double)info->spec.std[c], (double)n->mean[c],
                (double)n->std[c]);
    if (use == MC_DATA_TRAIN && !strcmp(info->split, "test"))
        mc_warn(cli, "%s: images of the test split (training images expected)", file);
}

void mc_data_warn_plain(const struct mc_cli *cli, const msgpack_object *history,
                        const struct mc_dataset_info *info)
{
    if (mc_augment_any(&info->augment) && mc_history_lacks(history, "mc-train", "no-augment"))
        mc_warn(cli, "--bn-plain: the network was trained on augmented images; statistics of plain "
                     "ones may cost several points of accuracy");
}
