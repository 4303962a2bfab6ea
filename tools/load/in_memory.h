/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole data set in a device's memory, which training shuffles. Pixels are copied block by block,
 * so the host never has a second copy. */
#ifndef MC_IN_MEMORY_H
#define MC_IN_MEMORY_H

#include "tools/load/loader.h"

struct mc_in_memory {
    struct mc_dataset_info info; /* n: images in memory, or to read */
    struct mc_buf *images, *labels;
    char id[MC_ID_LEN];               /* the stream's content id */
    struct mc_dataset_reader *reader; /* while open */
};

/* Open a stream whose first `samples` images (0: all) will be read, and set info. No images are in
 * memory yet. The stream's history is added to h (may be NULL) as a parent. MC_EINPUT: fewer images
 * than samples. Release out also after an error. */
MC_USE_RESULT int mc_in_memory_open(struct mc_in_memory *out, const char *path, uint64_t samples,
                                    struct mc_history *h, struct mc_error *err);
/* Read the images. The stream is always read to its end. */
MC_USE_RESULT int mc_in_memory_read(struct mc_in_memory *r, struct mc_backend *be,
                                    struct mc_error *err);
void mc_in_memory_release(struct mc_in_memory *r, struct mc_backend *be);

#endif
