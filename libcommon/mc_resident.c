/* SPDX-License-Identifier: Apache-2.0
 *
 * A whole data set in a device's memory. */
#include "mc_resident.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 1024 /* images read at a time */

/* Memory is taken as images come: what a header announces proves nothing. */
static int load(struct mc_resident *out, struct mc_backend *be, struct mc_dataset_reader *d,
                void *images, int32_t *labels, struct mc_error *err)
{
    const size_t bytes = mc_dataset_image_bytes(&out->info), size = sizeof *labels;
    uint64_t have = 0, room = 0, n = out->info.n;
    int rc = be->buf_new(be, 0, &out->images, err);

    if (!rc)
        rc = be->buf_new(be, 0, &out->labels, err);
    for (size_t got = BLOCK; !rc && got == BLOCK;) {
        rc = mc_dataset_read(d, BLOCK, images, labels, &got, err);
        size_t keep = got < n - have ? got : (size_t)(n - have);
        if (rc || !keep)
            continue; /* the stream is read to its end, which may be damaged */
        if (have + keep > room) {
            room = 2 * (have + keep) < n ? 2 * (have + keep) : n;
            if ((rc = be->buf_grow(be, out->images, room * bytes, err)) ||
                (rc = be->buf_grow(be, out->labels, room * size, err)))
                continue;
        }
        rc = be->put(be, out->images, have * bytes, images, keep * bytes, err);
        if (!rc)
            rc = be->put(be, out->labels, have * size, labels, keep * size, err);
        have += keep;
    }
    return rc;
}

int mc_resident_load(struct mc_resident *out, struct mc_backend *be, const char *path,
                     uint64_t samples, struct mc_history *h, struct mc_error *err)
{
    struct mc_dataset_reader *d = NULL;
    void *images = NULL;
    int32_t *labels = NULL;

    memset(out, 0, sizeof *out);
    int rc = mc_dataset_open(&d, path, err);
    if (rc)
        goto out;
    if (h)
        mc_history_input(h, mc_dataset_stream(d));
    rc = mc_dataset_info_copy(&out->info, mc_dataset_get_info(d), err);
    if (rc)
        goto out;
    rc = mc_data_samples(&out->info, mc_reader_name(mc_dataset_stream(d)), samples, 1, &out->info.n,
                         err);
    if (rc)
        goto out;
    images = malloc(BLOCK * mc_dataset_image_bytes(&out->info));
    labels = malloc(BLOCK * sizeof *labels);
    if (!images || !labels) {
        rc = mc_fail(err, MC_ENOMEM, "out of memory");
        goto out;
    }
    rc = load(out, be, d, images, labels, err);
    if (!rc)
        memcpy(out->id, mc_reader_id(mc_dataset_stream(d)), MC_ID_LEN);
out:
    free(images);
    free(labels);
    mc_dataset_close(d);
    return rc;
}

void mc_resident_release(struct mc_resident *r, struct mc_backend *be)
{
    if (be) {
        be->buf_free(be, r->images);
        be->buf_free(be, r->labels);
    }
    mc_dataset_info_release(&r->info);
    memset(r, 0, sizeof *r);
}
