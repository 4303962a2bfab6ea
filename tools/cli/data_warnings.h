/* SPDX-License-Identifier: Apache-2.0
 *
 * Warnings about data that have the shape a network accepts but do not match the network: another
 * data set, another normalisation, or the test split where training images are expected. */
#ifndef MC_DATA_WARNINGS_H
#define MC_DATA_WARNINGS_H

#include "formats/codecs/dataset.h"
#include "tools/cli/cli.h"

enum mc_data_use {
    MC_DATA_MEASURE, /* loss, activations, attacks: any split */
    MC_DATA_TRAIN    /* training steps or batch-norm statistics: training images */
};

/* Warns on stderr, one line per finding. dataset: the name of the network's data set, or "". Names
 * are compared if both identify a set (mc_dataset_is_named); adversarial examples count as their
 * set. Normalisations differ if a channel's mean or deviation differs by more than 2% of the
 * deviation plus 2 / sqrt(N), which allows for the chance of N images. A network or data set
 * without normalisation (mean 0, deviation 1) is not compared. */
void mc_data_warn(const struct mc_cli *cli, const struct mc_graph *g, const char *dataset,
                  const struct mc_dataset_info *info, const char *path, enum mc_data_use use);
/* Warns if the networks of two files name different data sets, as mc_data_warn compares them. */
void mc_data_warn_pair(const struct mc_cli *cli, const char *path_a, const char *dataset_a,
                       const char *path_b, const char *dataset_b);
/* Warns that batch-norm statistics come from plain images by this option, if the network was trained
 * on augmented ones and the data set has an augmentation. */
void mc_data_warn_plain(const struct mc_cli *cli, const char *option, int augmented,
                        const struct mc_dataset_info *info);
#define MC_HELP_BN_PLAIN                                                                           \
    "re-estimate on images without augmentation; a network trained on augmented images may lose "  \
    "several points of accuracy"

#endif
