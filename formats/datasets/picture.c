/* SPDX-License-Identifier: Apache-2.0
 *
 * JPEG by libjpeg-turbo, PNG by libpng. */
#include "formats/datasets/picture.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"

#include <errno.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>
#include <unistd.h>

void mc_picture_release(struct mc_picture *p)
{
    if (p->jpeg)
        tjDestroy(p->jpeg);
    free(p->file);
    free(p->rgb);
    free(p->quads);
    free(p->rows);
    memset(p, 0, sizeof *p);
}

/* Check a size before decoding: a tiny file can announce any size. can_hold: pixels that this file
 * can contain. */
static int set_size(struct mc_picture *p, const char *name, uint64_t width, uint64_t height,
                    uint64_t can_hold, struct mc_error *err)
{
    const size_t max = p->max_pixels ? p->max_pixels : MC_PICTURE_MAX_PIXELS;

    if (!width || !height || width > MC_PICTURE_MAX_SIDE || height > MC_PICTURE_MAX_SIDE ||
        width * height > max)
        return mc_fail(err, MC_EINPUT,
                       "%s: a picture of %llu x %llu is too large (at most %d pixels per side, "
                       "%zu in all)",
                       name, (unsigned long long)width, (unsigned long long)height,
                       MC_PICTURE_MAX_SIDE, max);
    if (width * height > can_hold)
        return mc_fail(err, MC_EINPUT, "%s: the file is too small for a picture of %llu x %llu",
                       name, (unsigned long long)width, (unsigned long long)height);
    p->width = (int)width;
    p->height = (int)height;
    return mc_buffer_room(&p->rgb, &p->rgb_size, (size_t)(width * height) * 3, err);
}

/* Report a decoder's message. Both decoders describe a lack of memory in many ways; errno does
 * not. */
static int damaged(const char *name, const char *why, struct mc_error *err)
{
    if (errno == ENOMEM)
        return mc_fail_in(mc_no_memory(err), err, "%s", name);
    return mc_fail(err, MC_EINPUT, "%s: damaged: %s", name, why);
}

/* ---- JPEG ---- */

#define JPEG_FLAGS (TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS | TJFLAG_ACCURATEDCT)

/* Adobe's programs store the complement, and readers expect it: 255 means without ink. */
static void from_cmyk(const uint8_t *cmyk, size_t pixels, uint8_t *rgb)
{
    for (size_t i = 0; i < pixels; i++)
        for (int c = 0; c < 3; c++) {
            const unsigned black = cmyk[4 * i + 3], ink = 255u - cmyk[4 * i + (size_t)c];
            const unsigned t = ink * black + 128;
            rgb[3 * i + (size_t)c] = (uint8_t)(black - (((t >> 8) + t) >> 8));
        }
}

static int jpeg_failed(struct mc_picture *p, const char *name, struct mc_error *err)
{
    const int rc = damaged(name, tjGetErrorStr2(p->jpeg), err);

    /* a failed decoder keeps state that would break the next file */
    tjDestroy(p->jpeg);
    p->jpeg = NULL;
    return rc;
}

static int decode_jpeg(struct mc_picture *p, const char *name, const uint8_t *file, size_t bytes,
                       struct mc_error *err)
{
    int width = 0, height = 0, subsampling = 0, space = 0, rc = 0;

    if (!p->jpeg && !(p->jpeg = tjInitDecompress()))
        return mc_no_memory(err);
    if (tjDecompressHeader3(p->jpeg, file, (unsigned long)bytes, &width, &height, &subsampling,
                            &space))
        return jpeg_failed(p, name, err);
    /* 64 pixels take at least one bit, except in rare files with an arithmetic coder */
    if ((rc = set_size(p, name, (uint64_t)width, (uint64_t)height, bytes * 512 + (1 << 20), err)))
        return rc;
    const size_t pixels = (size_t)width * (size_t)height;
    const int inks = space == TJCS_CMYK || space == TJCS_YCCK;
    if (inks && (rc = mc_buffer_room(&p->quads, &p->quads_size, pixels * 4, err)))
        return rc;
    if (tjDecompress2(p->jpeg, file, (unsigned long)bytes, inks ? p->quads : p->rgb, width, 0,
                      height, inks ? TJPF_CMYK : TJPF_RGB, JPEG_FLAGS))
        return jpeg_failed(p, name, err);
    if (inks)
        from_cmyk(p->quads, pixels, p->rgb);
    return 0;
}

/* ---- PNG ---- */

static const uint8_t png_signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

/* Keep only critical chunks. The others could change colours (gamma, profiles), which common
 * readers ignore, or decompress to any size. */
static int critical_chunks(const char *name, uint8_t *file, size_t *bytes, struct mc_error *err)
{
    size_t from = sizeof png_signature, to = from;

    for (int end = 0; !end;) {
        if (*bytes - from < 12)
            return mc_fail(err, MC_EINPUT, "%s: damaged: the PNG is truncated", name);
        const uint8_t *c = file + from;
        size_t len = (size_t)c[0] << 24 | (size_t)c[1] << 16 | (size_t)c[2] << 8 | c[3];
        if (len > *bytes - from - 12)
            return mc_fail(err, MC_EINPUT, "%s: damaged: the PNG is truncated", name);
        end = !memcmp(c + 4, "IEND", 4);
        if (!(c[4] & 0x20)) {
            memmove(file + to, c, len + 12);
            to += len + 12;
        }
        from += len + 12;
    }
    *bytes = to;
    return 0;
}

/* Maximum pixels of the file, given that DEFLATE expands a byte to at most 1,032: by the bits of a
 * pixel, and by its RGB bytes, except for a small picture. */
static uint64_t png_pixels(const uint8_t *file, size_t bytes)
{
    static const unsigned samples[7] = {[0] = 1, [2] = 3, [3] = 1, [4] = 2, [6] = 4};
    const size_t depth = sizeof png_signature + 16, unpacked = bytes * 1032; /* in IHDR */
    const unsigned bits = file[depth] * samples[file[depth + 1] < 7 ? file[depth + 1] : 0];
    const uint64_t raw = (uint64_t)unpacked * 8 / (bits ? bits : 1);
    const uint64_t rgb = ((uint64_t)unpacked + MC_PICTURE_ANY_PNG) / 3;

    return raw < rgb ? raw : rgb;
}

static int decode_png(struct mc_picture *p, const char *name, uint8_t *file, size_t bytes,
                      struct mc_error *err)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    int rc = critical_chunks(name, file, &bytes, err);

    if (rc)
        return rc;
    if (!png_image_begin_read_from_memory(&png, file, bytes))
        return damaged(name, png.message, err);
    const int alpha = (png.format & PNG_FORMAT_FLAG_ALPHA) != 0;
    png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB; /* 16 bits are not linear light */
    if ((rc = set_size(p, name, png.width, png.height, png_pixels(file, bytes), err)))
        goto out;
    const size_t pixels = (size_t)p->width * (size_t)p->height;
    if (alpha && (rc = mc_buffer_room(&p->quads, &p->quads_size, pixels * 4, err)))
        goto out;
    png.format = alpha ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
    if (!png_image_finish_read(&png, NULL, alpha ? p->quads : p->rgb, 0, NULL) ||
        PNG_IMAGE_FAILED(png) || png.warning_or_error)
        rc = damaged(name, png.message, err);
    for (size_t i = 0; alpha && !rc && i < pixels; i++)
        memcpy(p->rgb + 3 * i, p->quads + 4 * i, 3);
out:
    png_image_free(&png);
    return rc;
}

/* ---- both ---- */

int mc_picture_decode(struct mc_picture *p, const char *name, uint8_t *file, size_t bytes,
                      struct mc_error *err)
{
    errno = 0; /* for damaged() */
    if (bytes > 2 && file[0] == 0xff && file[1] == 0xd8)
        return decode_jpeg(p, name, file, bytes, err);
    if (bytes > sizeof png_signature && !memcmp(file, png_signature, sizeof png_signature))
        return decode_png(p, name, file, bytes, err);
    return mc_fail(err, MC_EINPUT, "%s: neither a JPEG nor a PNG file", name);
}

int mc_picture_read(struct mc_picture *p, const char *path, struct mc_error *err)
{
    uint64_t bytes = 0;
    int fd = -1, rc = mc_file_open(&fd, &bytes, path, MC_EINPUT, err);

    if (rc)
        return rc;
    if (bytes > MC_PICTURE_MAX_FILE) {
        rc = mc_fail(err, MC_EINPUT, "%s: the file must be at most %u MiB", path,
                     MC_PICTURE_MAX_FILE >> 20);
        goto out;
    }
    if ((rc = mc_buffer_room(&p->file, &p->file_size, (size_t)bytes, err)))
        goto out;
    ssize_t have = mc_file_read_all(fd, p->file, (size_t)bytes);
    rc = have < 0 ? mc_fail(err, MC_EFAIL, "%s: cannot read: %s", path, strerror(errno))
                  : mc_picture_decode(p, path, p->file, (size_t)have, err);
out:
    close(fd);
    return rc;
}
