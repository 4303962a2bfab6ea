/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparison of data with the data that a network was trained on. */
#include "tools/cli/data_warnings.h"

#include "kernels/augment.h"
#include "libcommon/base/file.h"

#include <math.h>
#include <string.h>

/* Return the length of the name without the suffix of adversarial examples. */
static size_t set_length(const char *name)
{
    const size_t n = strlen(name), end = strlen(MC_DATASET_EXAMPLES);

    return n > end && !strcmp(name + n - end, MC_DATASET_EXAMPLES) ? n - end : n;
}

static int is_other_set(const char *a, const char *b)
{
    const size_t n = set_length(a), m = set_length(b);

    return mc_dataset_is_named(a, n) && mc_dataset_is_named(b, m) &&
           (n != m || memcmp(a, b, n) != 0);
}

/* Mean 0 and deviation 1: unchanged pixels, which do not identify a data set. */
static int is_identity(const float *mean, const float *std, int channels)
{
    int identity = 1;

    for (int c = 0; c < channels; c++)
        identity &= mean[c] == 0 && std[c] == 1;
    return identity;
}

/* Return the first channel whose normalisation differs, or -1. mc-data npz measures the
 * normalisation on each split, so splits of one data set differ by chance, like means of n
 * images. */
static int other_channel(const struct mc_node *n, const struct mc_dataset_info *info)
{
    const struct mc_net_spec *s = &info->spec;
    const double tolerance = .02 + 2 / sqrt((double)info->n);

    if (is_identity(n->mean, n->std, s->channels) || is_identity(s->mean, s->std, s->channels))
        return -1;
    for (int c = 0; c < s->channels; c++) {
        const double std = (double)n->std[c];
        if (fabs((double)(n->mean[c] - s->mean[c])) > tolerance * std ||
            fabs((double)(n->std[c] - s->std[c])) > tolerance * std)
            return c;
    }
    return -1;
}

void mc_data_warn(const struct mc_cli *cli, const struct mc_graph *g, const char *dataset,
                  const struct mc_dataset_info *info, const char *path, enum mc_data_use use)
{
    const char *file = mc_file_called(path);
    const struct mc_node *n = g->n_nodes ? &g->nodes[0] : NULL;
    const int c = n && n->op == MC_OP_NORMALISE ? other_channel(n, info) : -1;

    if (is_other_set(dataset, info->name))
        mc_warn(cli, "%s: images of %s, but the network was trained on %s", file, info->name,
                dataset);
    if (c >= 0)
        mc_warn(cli,
                "%s: channel %d has mean %.4g and deviation %.4g, but the network normalises with "
                "%.4g and %.4g",
                file, c, (double)info->spec.mean[c], (double)info->spec.std[c], (double)n->mean[c],
                (double)n->std[c]);
    if (use == MC_DATA_TRAIN && !strcmp(info->split, "test"))
        mc_warn(cli, "%s: images of the test split (training images expected)", file);
}

void mc_data_warn_pair(const struct mc_cli *cli, const char *path_a, const char *dataset_a,
                       const char *path_b, const char *dataset_b)
{
    if (is_other_set(dataset_a, dataset_b))
        mc_warn(cli, "%s was trained on %s, %s on %s", mc_file_called(path_a), dataset_a,
                mc_file_called(path_b), dataset_b);
}

void mc_data_warn_plain(const struct mc_cli *cli, const char *option, int augmented,
                        const struct mc_dataset_info *info)
{
    if (augmented && mc_augment_any(&info->augment))
        mc_warn(cli,
                "%s: the network was trained on augmented images; statistics from plain images "
                "may cost several points of accuracy",
                option);
}
