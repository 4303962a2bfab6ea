/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls to libzstd do not depend on the output, so neither do the bytes. */
#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_c_literalCompressionMode */
#include "formats/stream/encoder.h"

#include "formats/stream/frame.h"
#include "formats/stream/output.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/planes.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define ALONE 1024 /* bytes of a large plane */

/* The blocks that are filled: one of objects, one of a record's data. */
struct blocks {
    size_t n_objects, n_data;
    size_t width, room; /* data: bytes in a value, and in a block */
    unsigned char objects[64 << 10], data[MC_BLOCK_MAX], planes[MC_BLOCK_MAX];
};

struct mc_encoder {
    struct mc_output *out;
    ZSTD_CCtx *coder;
    struct blocks *blocks; /* NULL: the objects are in the frame without blocks */
    size_t pending;        /* bytes of buffer not yet written */
    unsigned char buffer[256 << 10];
};

/* Compress n bytes. If op is ZSTD_e_flush, end zstd's block; if it is ZSTD_e_end, end the frame. */
static int emit(struct mc_encoder *e, const void *data, size_t n, ZSTD_EndDirective op,
                struct mc_error *err)
{
    ZSTD_inBuffer in = {.src = data, .size = n};
    size_t left = 1;

    while (in.pos < in.size || (op != ZSTD_e_continue && left)) {
        ZSTD_outBuffer out = {.dst = e->buffer, .size = sizeof e->buffer, .pos = e->pending};
        left = ZSTD_compressStream2(e->coder, &out, &in, op);
        if (ZSTD_isError(left)) /* the only possible failure */
            return mc_no_memory(err);
        e->pending = out.pos;
        if (e->pending == sizeof e->buffer || (op == ZSTD_e_end && !left)) {
            int rc = mc_output_write(e->out, e->buffer, e->pending, err);
            e->pending = 0;
            if (rc)
                return rc;
        }
    }
    return 0;
}

static int emit_block(struct mc_encoder *e, size_t width, const void *data, size_t n,
                      struct mc_error *err)
{
    const unsigned char head[MC_BLOCK_HEAD] = {(unsigned char)width, n & 255, n >> 8 & 255,
                                               n >> 16 & 255, n >> 24 & 255};
    /* large planes have their own blocks of zstd, and so their own frequencies */
    const int alone = width > 1 && n >= ALONE * width;
    const size_t step = alone ? n / width : n;
    int rc = n ? emit(e, head, sizeof head, alone ? ZSTD_e_flush : ZSTD_e_continue, err) : 0;

    if (width > 1) {
        mc_planes_split(width, n / width, data, e->blocks->planes);
        data = e->blocks->planes;
    }
    for (size_t offset = 0; offset < n && !rc; offset += step)
        rc =
            emit(e, (const char *)data + offset, step, alone ? ZSTD_e_flush : ZSTD_e_continue, err);
    return rc;
}

/* End the block of objects. */
static int flush_objects(struct mc_encoder *e, struct mc_error *err)
{
    const size_t n = e->blocks->n_objects;

    e->blocks->n_objects = 0;
    return emit_block(e, 1, e->blocks->objects, n, err);
}

int mc_encoder_objects(struct mc_encoder *e, const void *data, size_t n, struct mc_error *err)
{
    struct blocks *b = e->blocks;
    const char *p = data;
    int rc = 0;

    if (!b)
        return emit(e, data, n, ZSTD_e_continue, err);
    while (n && !rc) {
        const size_t room = sizeof b->objects - b->n_objects, part = n < room ? n : room;
        memcpy(b->objects + b->n_objects, p, part);
        b->n_objects += part;
        p += part;
        n -= part;
        if (b->n_objects == sizeof b->objects)
            rc = flush_objects(e, err);
    }
    return rc;
}

int mc_encoder_values(struct mc_encoder *e, const void *data, size_t n, int last,
                      struct mc_error *err)
{
    struct blocks *b = e->blocks;
    const char *p = data;
    int rc = 0;

    if (!b)
        return emit(e, data, n, ZSTD_e_continue, err);
    while (n && !rc) {
        const size_t room = b->room - b->n_data, part = n < room ? n : room;
        const int whole = part == b->room; /* not copied first */
        if (!whole)
            memcpy(b->data + b->n_data, p, part);
        b->n_data += part;
        p += part;
        n -= part;
        if (b->n_data == b->room || (last && !n)) {
            rc = emit_block(e, b->width, whole ? (const unsigned char *)p - part : b->data,
                            b->n_data, err);
            b->n_data = 0;
        }
    }
    return rc;
}

int mc_encoder_width(struct mc_encoder *e, size_t width, struct mc_error *err)
{
    if (!e->blocks)
        return 0;
    e->blocks->width = width;
    e->blocks->room = MC_BLOCK_VALUES * width;
    return flush_objects(e, err);
}

/* Set the coder up. Streams of networks have blocks: only the planes of exponents are compressible, by
 * the frequencies of their bytes. So the coder looks for few repetitions, which makes it faster. */
static int set_coder(struct mc_encoder *e, const char *kind, struct mc_error *err)
{
    const int blocks = !strcmp(kind, "weights") || !strcmp(kind, "curve");
    ZSTD_CCtx *c = e->coder;

    if (!c || ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel,
                                            blocks ? MC_ZSTD_BLOCKS_LEVEL : MC_ZSTD_LEVEL)))
        return mc_no_memory(err);
    if (!blocks)
        return 0;
    if (ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, MC_ZSTD_BLOCKS_WINDOW)))
        return mc_no_memory(err);
    /* low levels leave out the frequencies. A libzstd without this parameter only writes larger files */
    (void)!ZSTD_CCtx_setParameter(c, ZSTD_c_literalCompressionMode, ZSTD_ps_enable);
    return mc_new(&e->blocks, 1, err);
}

int mc_encoder_open(struct mc_encoder **out, const char *path, const char *kind,
                    struct mc_error *err)
{
    struct mc_encoder *e = NULL;
    int rc = mc_new(&e, 1, err);

    *out = NULL;
    if (rc)
        return rc;
    e->coder = ZSTD_createCCtx();
    if (!(rc = set_coder(e, kind, err)) &&
        !(rc = mc_output_open(&e->out, path, MC_OUTPUT_BINARY, err)) && e->blocks)
        rc = emit(e, MC_BLOCKS, MC_BLOCKS_LEN, ZSTD_e_continue, err);
    if (rc)
        return mc_encoder_close(e, rc, err);
    *out = e;
    return 0;
}

int mc_encoder_close(struct mc_encoder *e, int rc, struct mc_error *err)
{
    if (!e)
        return rc;
    if (!rc && e->blocks)
        rc = flush_objects(e, err);
    /* end the frame with a separate call without input: with input, ZSTD_e_end takes a shortcut in
     * libzstd that makes the bytes depend on earlier calls */
    if (!rc)
        rc = emit(e, NULL, 0, ZSTD_e_end, err);
    rc = mc_output_close(e->out, rc, err);
    ZSTD_freeCCtx(e->coder);
    free(e->blocks);
    free(e);
    return rc;
}
