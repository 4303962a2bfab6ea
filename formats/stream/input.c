/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/stream/frame.h"
#include "formats/stream/input.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"
#include "libcommon/base/planes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#define CHUNK ((size_t)128 << 10)
#define HEAD 6 /* magic, descriptor, one more byte: the shortest frame */

struct mc_input {
    int fd, owned; /* owned: close fd, whatever its number */
    ZSTD_DCtx *decoder;
    ZSTD_inBuffer in; /* raw */
    size_t staged_at, staged;
    uint64_t bytes_read;
    int frame_ended, begun;
    unsigned char *block, *planes; /* NULL: the frame holds no blocks */
    size_t block_at, block_left;   /* bytes of the block already read; bytes that remain */
    unsigned char raw[CHUNK], stage[CHUNK];
};

/* Append bytes to raw. *got is 0 at the end of the input. */
static int fill(struct mc_input *in, size_t *got, struct mc_error *err)
{
    size_t kept = in->in.size - in->in.pos;

    memmove(in->raw, in->raw + in->in.pos, kept);
    in->in.pos = 0;
    in->in.size = kept;
    ssize_t n = mc_file_read(in->fd, in->raw + kept, CHUNK - kept);
    if (n < 0 && errno == EISDIR)
        return mc_fail(err, MC_EINPUT, "a stream expected, got a folder (mc-data makes data sets)");
    if (n < 0)
        return mc_fail(err, MC_EFAIL, "cannot read: %s", strerror(errno));
    in->in.size += (size_t)n;
    in->bytes_read += (uint64_t)n;
    *got = (size_t)n;
    return 0;
}

/* Advice for files that are not streams but that mc-convert reads or PyTorch writes. */
static const char *hint(const unsigned char *raw, size_t n)
{
    static const unsigned char zip[4] = {'P', 'K', 3, 4}, none[5] = {0};

    if (n >= 4 && !memcmp(raw, zip, 4)) {
        const size_t name = n < 30 ? 0 : (size_t)raw[26] + 256 * (size_t)raw[27]; /* first file's */
        return name >= 4 && n >= 30 + name && !memcmp(raw + 26 + name, ".npy", 4)
                   ? " but npz: convert weights with mc-convert, images with mc-data npz"
                   : " but a PyTorch pickle: " MC_INPUT_FROM_TORCH;
    }
    if (n >= 2 && raw[0] == 0x80 && raw[1] >= 2 && raw[1] <= 5)
        return " but a PyTorch pickle: " MC_INPUT_FROM_TORCH;
    if (n && raw[0] == '{' && memmem(raw, n, "\"weight_map\"", 12))
        return " but the index of safetensors shards: convert it with mc-convert";
    if (n >= 9 && raw[8] == '{' && !memcmp(raw + 3, none, 5))
        return " but safetensors: convert it with mc-convert";
    return "";
}

/* Check what the format requires and zstd does not. The frame's descriptor is its fifth byte (RFC
 * 8878, 3.1.1.1.1). */
static int check_head(struct mc_input *in, struct mc_error *err)
{
    static const unsigned char magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
    size_t got = 1, n = 0;
    int rc = 0;

    while (in->in.size < HEAD && got)
        if ((rc = fill(in, &got, err)))
            return rc;
    n = in->in.size;
    if (!n)
        return mc_file_empty(in->fd, "is empty, not an mcz stream", err);
    if (memcmp(in->raw, magic, n < 4 ? n : 4))
        return mc_fail(err, MC_EINPUT, "is not an mcz stream%s", hint(in->raw, n));
    if (n < HEAD)
        return mc_fail(err, MC_EINPUT, "is truncated");
    if (!(in->raw[4] & 0x04))
        return mc_fail(err, MC_EINPUT, "its zstd frame has no checksum");
    if (in->raw[4] & 0x1b)
        return mc_fail(err, MC_EINPUT, "its zstd frame has a dictionary or reserved bits");
    return 0;
}

int mc_input_open(struct mc_input **out, const char *path, struct mc_error *err)
{
    struct mc_input *in = NULL;
    int is_stdin = !strcmp(path, "-"), rc = mc_new(&in, 1, err);

    *out = NULL;
    if (rc)
        return rc;
    in->in.src = in->raw;
    in->owned = !is_stdin;
    in->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (in->fd < 0)
        rc = mc_fail(err, MC_EFAIL, "cannot open '%s': %s", path, strerror(errno));
    else if (isatty(in->fd))
        rc = mc_fail(err, MC_EUSAGE,
                     "an input is required: a file or a pipe, not a terminal (see --help)");
    else if (!(in->decoder = ZSTD_createDCtx()) ||
             ZSTD_isError(
                 ZSTD_DCtx_setParameter(in->decoder, ZSTD_d_windowLogMax, MC_WINDOW_LOG_MAX)))
        rc = mc_no_memory(err);
    else
        rc = mc_fail_in(check_head(in, err), err, "%s", mc_file_called(path));
    if (rc)
        mc_input_close(in);
    else
        *out = in;
    return rc;
}

void mc_input_close(struct mc_input *in)
{
    if (!in)
        return;
    if (in->owned && in->fd >= 0)
        close(in->fd);
    ZSTD_freeDCtx(in->decoder);
    free(in->block);
    free(in->planes);
    free(in);
}

/* Decode at least one byte and at most n. *got is 0 at the frame's end. */
static int decode(struct mc_input *in, void *dst, size_t n, size_t *got, struct mc_error *err)
{
    *got = 0;
    while (!in->frame_ended) {
        ZSTD_outBuffer out = {.dst = dst, .size = n};
        size_t rc = ZSTD_decompressStream(in->decoder, &out, &in->in), more = 0;
        if (ZSTD_isError(rc)) {
            switch (ZSTD_getErrorCode(rc)) {
            case ZSTD_error_frameParameter_windowTooLarge:
                return mc_fail(err, MC_EINPUT, "its zstd window is over 8 MiB");
            case ZSTD_error_checksum_wrong:
                return mc_fail(err, MC_EINPUT, "the frame's checksum is wrong");
            case ZSTD_error_memory_allocation:
                return mc_no_memory(err);
            default:
                return mc_fail(err, MC_EINPUT, "damaged: %s", ZSTD_getErrorName(rc));
            }
        }
        in->frame_ended = rc == 0;
        if (out.pos) {
            *got = out.pos;
            return 0;
        }
        if (in->frame_ended || in->in.pos < in->in.size)
            continue;
        int failed = fill(in, &more, err);
        if (failed)
            return failed;
        if (!more)
            return mc_fail(err, MC_EINPUT, "truncated");
    }
    return 0;
}

/* Read exactly n bytes of the frame. */
static int read_frame(struct mc_input *in, void *dst, size_t n, struct mc_error *err)
{
    unsigned char *to = dst;
    int rc = 0;

    while (n) {
        size_t got = 0;
        if (in->staged) {
            got = n < in->staged ? n : in->staged;
            memcpy(to, in->stage + in->staged_at, got);
            in->staged_at += got;
            in->staged -= got;
        } else if (n >= CHUNK) {
            if ((rc = decode(in, to, n, &got, err)))
                return rc;
            if (!got)
                return mc_fail(err, MC_EINPUT, "ends before its end record");
        } else {
            in->staged_at = 0;
            if ((rc = decode(in, in->stage, CHUNK, &in->staged, err)))
                return rc;
            if (!in->staged)
                return mc_fail(err, MC_EINPUT, "ends before its end record");
        }
        to += got;
        n -= got;
    }
    return 0;
}

/* Find out whether the frame holds blocks. */
static int begin(struct mc_input *in, struct mc_error *err)
{
    size_t got = 1;
    int rc = 0;

    in->begun = 1;
    while (in->staged < MC_BLOCKS_LEN && got) {
        if ((rc = decode(in, in->stage + in->staged, CHUNK - in->staged, &got, err)))
            return rc;
        in->staged += got;
    }
    if (in->staged < MC_BLOCKS_LEN || memcmp(in->stage, MC_BLOCKS, MC_BLOCKS_LEN) != 0)
        return 0;
    in->staged_at = MC_BLOCKS_LEN;
    in->staged -= MC_BLOCKS_LEN;
    rc = mc_new(&in->block, MC_BLOCK_MAX, err);
    return rc ? rc : mc_new(&in->planes, MC_BLOCK_MAX, err);
}

/* Read the next block, to dst if that has room for it, else to in->block. *direct is the number of
 * bytes at dst. */
static int read_block(struct mc_input *in, unsigned char *dst, size_t room, size_t *direct,
                      struct mc_error *err)
{
    unsigned char head[MC_BLOCK_HEAD];
    int rc = read_frame(in, head, sizeof head, err);

    if (rc)
        return rc;
    const size_t width = head[0];
    const size_t n = head[1] | (size_t)head[2] << 8 | (size_t)head[3] << 16 | (size_t)head[4] << 24;
    if ((width != 1 && width != 2 && width != 4 && width != 8) || !n || n > MC_BLOCK_MAX ||
        n % width)
        return mc_fail(err, MC_EINPUT, "a block of %zu bytes of width %zu is not valid", n, width);
    unsigned char *to = n <= room ? dst : in->block;
    rc = read_frame(in, width > 1 ? in->planes : to, n, err);
    if (!rc && width > 1)
        mc_planes_join(width, n / width, in->planes, to);
    *direct = to == dst ? n : 0;
    in->block_at = 0;
    in->block_left = to == dst ? 0 : n;
    return rc;
}

int mc_input_read(struct mc_input *in, void *dst, size_t n, struct mc_error *err)
{
    unsigned char *to = dst;
    int rc = in->begun ? 0 : begin(in, err);

    if (rc || !in->block)
        return rc ? rc : read_frame(in, dst, n, err);
    while (n && !rc) {
        size_t got = n < in->block_left ? n : in->block_left;
        if (got) {
            memcpy(to, in->block + in->block_at, got);
            in->block_at += got;
            in->block_left -= got;
        } else {
            rc = read_block(in, to, n, &got, err);
        }
        to += got;
        n -= got;
    }
    return rc;
}

int mc_input_finish(struct mc_input *in, struct mc_error *err)
{
    size_t got = 1;
    int rc = 0;

    if (in->staged || in->block_left)
        return mc_fail(err, MC_EINPUT, "bytes after the end record");
    while (!in->frame_ended) {
        if ((rc = decode(in, in->stage, CHUNK, &got, err)))
            return rc;
        if (got)
            return mc_fail(err, MC_EINPUT, "bytes after the end record");
    }
    if (in->in.pos == in->in.size && (rc = fill(in, &got, err)))
        return rc;
    if (in->in.pos != in->in.size)
        return mc_fail(err, MC_EINPUT, "bytes after the end of the stream");
    return 0;
}

uint64_t mc_input_bytes(const struct mc_input *in)
{
    return in->bytes_read - (in->in.size - in->in.pos);
}
