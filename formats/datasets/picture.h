/* SPDX-License-Identifier: Apache-2.0
 *
 * Decode JPEG and PNG files to 8-bit RGB, and fit pictures to a square. The file type is detected
 * by its first bytes, not by its name.
 *
 * Pixels equal PIL's convert("RGB"): grey is repeated, CMYK follows Adobe's inversion, 16 bits
 * become 8. Alpha, colour profiles and Exif orientation are ignored. Any warning of libjpeg-turbo
 * or libpng is an error: damaged pictures are refused. */
#ifndef MC_PICTURE_H
#define MC_PICTURE_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

#define MC_PICTURE_MAX_FILE (64u << 20)   /* bytes */
#define MC_PICTURE_MAX_SIDE 8192          /* pixels */
#define MC_PICTURE_MAX_PIXELS (32u << 20) /* 96 MiB decoded */
#define MC_PICTURE_MAX_SIZE 2048          /* side of the square in mc_picture_square */

/* RGB bytes that even a tiny PNG may decode to: an empty page of 3,300 x 3,300 is one kilobyte. */
#define MC_PICTURE_ANY_PNG (32u << 20)

/* A decoder and its memory, which grows to the largest picture. */
struct mc_picture {
    int height, width;
    uint8_t *rgb;      /* valid until the next decoding */
    size_t max_pixels; /* the caller's limit; 0: MC_PICTURE_MAX_PIXELS */

    void *jpeg; /* private from here on; zero before the first decoding */
    size_t rgb_size, file_size, quads_size, rows_size;
    uint8_t *file, *quads, *rows;
};

void mc_picture_release(struct mc_picture *p);

/* Decode a file, modifying a PNG's bytes; `name` is for messages. Memory is allocated after the
 * header is checked. MC_EINPUT if it is neither JPEG nor PNG, damaged, over the limits above, or
 * announces more pixels than its bytes can hold. */
MC_USE_RESULT int mc_picture_decode(struct mc_picture *p, const char *name, uint8_t *file,
                                    size_t bytes, struct mc_error *err);
/* The same for a path. A missing file is MC_EINPUT, an unreadable one MC_EFAIL. */
MC_USE_RESULT int mc_picture_read(struct mc_picture *p, const char *path, struct mc_error *err);

/* Resize the decoded picture's shorter side to `size` (1 to MC_PICTURE_MAX_SIZE), bit for bit as
 * PIL's antialiased bilinear filter, and crop the middle square: torchvision's Resize(size) and
 * CenterCrop(size). out: (3, size, size). MC_ENOMEM. */
MC_USE_RESULT int mc_picture_square(struct mc_picture *p, int size, uint8_t *out,
                                    struct mc_error *err);
/* Copy the picture unchanged. out: (3, H, W). */
void mc_picture_planes(const struct mc_picture *p, uint8_t *out);

#endif
