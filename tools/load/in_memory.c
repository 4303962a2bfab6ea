/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole data set in a device's memory. */
#include "tools/load/in_memory.h"

#include <string.h>

/* Read the images. Memory grows with the images that arrive, because the header's count is not
 * trusted. */
static int load(struct mc_in_memory *out, struct mc_backend *be, struct mc_error *err)
{
    const size_t bytes = mc_dataset_image_bytes(&out->info), size = sizeof(int32_t);
    uint64_t held = 0, capacity = 0, n = out->info.n;
    int rc = be->buf_new(be, 0, &out->images, err);

    if (!rc)
        rc = be->buf_new(be, 0, &out->labels, err);
    for (size_t got = 1; !rc && got;) {
        const void *images;
        const int32_t *labels;
        rc = mc_dataset_lend(out->reader, SIZE_MAX, &images, &labels, &got, err);
        size_t keep = got < n - held ? got : (size_t)(n - held);
        if (rc || !keep)
            continue; /* read on to the end, which may be damaged */
        if (held + keep > capacity) {
            capacity = 2 * (held + keep) < n ? 2 * (held + keep) : n;
            if ((rc = be->buf_grow(be, out->images, capacity * bytes, err)) ||
                (rc = be->buf_grow(be, out->labels, capacity * size, err)))
                continue;
        }
        rc = be->put(be, out->images, held * bytes, images, keep * bytes, err);
        if (!rc)
            rc = be->put(be, out->labels, held * size, labels, keep * size, err);
        held += keep;
    }
    return rc;
}

int mc_in_memory_open(struct mc_in_memory *out, const char *path, uint64_t samples,
                      struct mc_history *h, struct mc_error *err)
{
    memset(out, 0, sizeof *out);
    int rc = mc_dataset_open(&out->reader, path, err);
    if (rc)
        return rc;
    if (h)
        mc_history_input(h, mc_dataset_stream(out->reader));
    rc = mc_dataset_info_copy(&out->info, mc_dataset_get_info(out->reader), err);
    return rc ? rc
              : mc_data_samples(&out->info, mc_reader_name(mc_dataset_stream(out->reader)), samples,
                                1, &out->info.n, err);
}

int mc_in_memory_read(struct mc_in_memory *r, struct mc_backend *be, struct mc_error *err)
{
    int rc = load(r, be, err);

    if (!rc)
        memcpy(r->id, mc_reader_id(mc_dataset_stream(r->reader)), MC_ID_LEN);
    mc_dataset_close(r->reader);
    r->reader = NULL;
    return rc;
}

void mc_in_memory_release(struct mc_in_memory *r, struct mc_backend *be)
{
    if (be) {
        be->buf_free(be, r->images);
        be->buf_free(be, r->labels);
    }
    mc_dataset_close(r->reader);
    mc_dataset_info_release(&r->info);
    memset(r, 0, sizeof *r);
}
