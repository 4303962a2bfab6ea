/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole data set in a device's memory: what training shuffles. Pixels go there block by block, so
 * that the host never holds a second copy. */
#ifndef MC_IN_MEMORY_H
#define MC_IN_MEMORY_H

#include "tools/load/loader.h"

struct mc_in_memory {
    struct mc_dataset_info info; /* n: the images held */
    struct mc_buf *images, *labels;
    char id[MC_ID_LEN];               /* of the stream they come from */
    struct mc_dataset_reader *reader; /* while open */
};

/* A stream of which the first `samples` images (0: all) are wanted: what it announces is in info,
 * and nothing is held yet. Its history becomes a parent in h (may be NULL). Fewer images than
 * samples is MC_EINPUT. Release, also after an error. */
MC_USE_RESULT int mc_in_memory_open(struct mc_in_memory *out, const char *path, uint64_t samples,
                                    struct mc_history *h, struct mc_error *err);
/* Read them; the stream is read to its end all the same. */
MC_USE_RESULT int mc_in_memory_read(struct mc_in_memory *r, struct mc_backend *be,
                                    struct mc_error *err);
void mc_in_memory_release(struct mc_in_memory *r, struct mc_backend *be);

#endif
