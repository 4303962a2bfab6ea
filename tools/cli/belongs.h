/* SPDX-License-Identifier: Apache-2.0
 *
 * Warnings about data that fit a network's shape but are not the network's: another data set, other
 * normalisation, or the test split where training images belong. */
#ifndef MC_BELONGS_H
#define MC_BELONGS_H

#include "formats/codecs/dataset.h"
#include "tools/cli/cli.h"

/* What the data are for. */
enum mc_data_use {
    MC_DATA_MEASURE, /* loss, activations, attacks: any split */
    MC_DATA_TRAIN    /* steps of a training, or statistics of batch norm: training images */
};

/* Warns on stderr, a line per fact. dataset: the name of the network's data set, or "". Names are
 * compared if both name a set (mc_dataset_is_named); adversarial examples count as their set.
 * Normalisations differ if a channel's mean or deviation differs by more than a share of the
 * deviation: 2%, and 2 / sqrt(N) for the chance of N images. A network or a data set without
 * normalisation, mean 0 and deviation 1, is not compared. */
void mc_data_warn(const struct mc_cli *cli, const struct mc_graph *g, const char *dataset,
                  const struct mc_dataset_info *info, const char *path, enum mc_data_use use);
/* Warns about statistics of batch norm from plain images if the network was trained on augmented
 * ones and the data set has an augmentation. */
void mc_data_warn_plain(const struct mc_cli *cli, int augmented,
                        const struct mc_dataset_info *info);
#define MC_HELP_BN_PLAIN                                                                           \
    "re-estimate on images without augmentation: a network that was trained on augmented images "  \
    "may "                                                                                         \
    "lose several points of accuracy"

#endif
