/* SPDX-License-Identifier: Apache-2.0
 *
 * The meta of a dataset stream: what a data set is, but for its pixels. Used by formats/ only. */
#ifndef MC_DATASET_META_H
#define MC_DATASET_META_H

#include "mc_dataset.h"

#define MC_DATASET_MAX_CLASS_NAME 256        /* bytes of one */
#define MC_DATASET_MAX_CLASS_NAMES (3 << 19) /* of all: a header of 2 MiB holds them */

/* Writer and reader alike: MC_EINPUT for what is not within formats/dataset.md's limits. */
MC_USE_RESULT int mc_dataset_meta_check(const struct mc_dataset_info *info, struct mc_error *err);
void mc_dataset_meta_pack(const struct mc_dataset_info *info, struct mc_pack *p);
/* From a stream's meta and its announced tensors; checked. info is zeroed before and released
 * after, also after an error. */
MC_USE_RESULT int mc_dataset_meta_unpack(struct mc_dataset_info *info, const struct mc_reader *r,
                                         struct mc_error *err);

#endif
