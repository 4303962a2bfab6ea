/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole data set in a device's memory: what training shuffles. Pixels go there block by block, so
 * that the host never holds a second copy. */
#ifndef MC_RESIDENT_H
#define MC_RESIDENT_H

#include "mc_feed.h" /* mc_data_fits */

struct mc_resident {
    struct mc_dataset_info info; /* n: the images held */
    struct mc_buf *images, *labels;
    char id[MC_ID_LEN]; /* of the stream they come from */
};

/* The first `samples` images (0: all) of a stream, which is read to its end all the same. Its
 * history becomes a parent in h (may be NULL). Fewer images than samples is MC_EINPUT. */
MC_USE_RESULT int mc_resident_load(struct mc_resident *out, struct mc_backend *be, const char *path,
                                   uint64_t samples, struct mc_history *h, struct mc_error *err);
void mc_resident_release(struct mc_resident *r, struct mc_backend *be);

#endif
