/* SPDX-License-Identifier: Apache-2.0
 *
 * Write safetensors files; formats/exchange/safetensors.c describes them. */
#include "formats/exchange/foreign.h"
#include "formats/stream/output.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/json.h"
#include "libcommon/base/text.h"

#include <stdlib.h>
#include <string.h>

/* Print the header after 8 bytes for its length. transformers requires "format". */
static void print_header(FILE *f, const struct mc_foreign_out *tensors, size_t count)
{
    uint64_t offset = 0;

    fwrite("\0\0\0\0\0\0\0", 1, 8, f);
    fputs("{\"__metadata__\":{\"format\":\"pt\"}", f);
    for (size_t i = 0; i < count; i++) {
        const struct mc_tensor *t = &tensors[i].tensor;
        putc(',', f);
        mc_json_str(f, tensors[i].name);
        fprintf(f, ":{\"dtype\":\"%s\",\"shape\":[", mc_safetensors_dtype(t->dtype));
        for (int k = 0; k < t->ndim; k++)
            fprintf(f, "%s%llu", k ? "," : "", (unsigned long long)t->shape[k]);
        fprintf(f, "],\"data_offsets\":[%llu,", (unsigned long long)offset);
        offset += mc_tensor_bytes(t);
        fprintf(f, "%llu]}", (unsigned long long)offset);
    }
    putc('}', f);
}

struct mc_safetensors_writer {
    struct mc_output *out;
    uint64_t *place,
        *count;        /* (n) first byte in the file, and bytes written or kept, of each tensor */
    size_t *bytes;     /* (n) */
    char **kept;       /* (n) tensors that cannot be written yet, or NULL */
    size_t n, next;    /* next: the first tensor that is not complete in the file */
    uint64_t position; /* place in the file */
};

int mc_safetensors_create(struct mc_safetensors_writer **out, const char *path,
                          const struct mc_foreign_out *tensors, size_t n, struct mc_error *err)
{
    struct mc_safetensors_writer *w = NULL;
    struct mc_text head = {0};
    int rc = mc_new(&w, 1, err);

    *out = NULL;
    if (rc || (rc = mc_text_open(&head, err)))
        goto out;
    print_header(head.f, tensors, n);
    if ((rc = mc_text_end(&head, rc, err)) || (rc = mc_new(&w->place, n, err)) ||
        (rc = mc_new(&w->count, n, err)) || (rc = mc_new(&w->bytes, n, err)) ||
        (rc = mc_new(&w->kept, n, err)))
        goto out;
    /* the data start at a multiple of 8, as in the reference implementation */
    const size_t blanks = -head.bytes % 8;
    for (int i = 0; i < 8; i++)
        head.text[i] = (char)((head.bytes + blanks - 8) >> 8 * i & 0xff);
    w->position = head.bytes + blanks;
    for (w->n = 0; w->n < n; w->n++) {
        w->bytes[w->n] = (size_t)mc_tensor_bytes(&tensors[w->n].tensor);
        w->place[w->n] = w->n ? w->place[w->n - 1] + w->bytes[w->n - 1] : w->position;
    }
    if ((rc = mc_output_open(&w->out, path, MC_OUTPUT_BINARY, err)) ||
        (rc = mc_output_write(w->out, head.text, head.bytes, err)))
        goto out;
    rc = mc_output_write(w->out, "       ", blanks, err);
out:
    free(head.text);
    if (rc)
        return mc_safetensors_close(w, rc, err);
    *out = w;
    return 0;
}

static int put(struct mc_safetensors_writer *w, const void *data, size_t bytes,
               struct mc_error *err)
{
    w->position += bytes;
    return mc_output_write(w->out, data, bytes, err);
}

int mc_safetensors_write(struct mc_safetensors_writer *w, size_t i, const void *data, size_t bytes,
                         struct mc_error *err)
{
    const uint64_t to = w->place[i] + w->count[i];
    int rc = 0;

    if (to != w->position && mc_output_seekable(w->out)) {
        rc = mc_output_seek(w->out, to, err);
        w->position = to;
    }
    if (rc)
        return rc;
    if (to == w->position) {
        rc = put(w, data, bytes, err);
    } else {
        if (!w->kept[i] && (rc = mc_new(&w->kept[i], w->bytes[i], err)))
            return rc;
        memcpy(w->kept[i] + w->count[i], data, bytes);
    }
    w->count[i] += bytes;
    for (; w->next < w->n && w->count[w->next] == w->bytes[w->next] && !rc; w->next++) {
        if (w->kept[w->next])
            rc = put(w, w->kept[w->next], w->bytes[w->next], err);
        free(w->kept[w->next]);
        w->kept[w->next] = NULL;
    }
    return rc;
}

int mc_safetensors_close(struct mc_safetensors_writer *w, int rc, struct mc_error *err)
{
    if (!w)
        return rc;
    rc = mc_output_close(w->out, rc, err);
    for (size_t i = 0; w->kept && i < w->n; i++)
        free(w->kept[i]);
    free(w->place);
    free(w->count);
    free(w->bytes);
    free(w->kept);
    free(w);
    return rc;
}
