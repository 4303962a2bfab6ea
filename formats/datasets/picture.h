/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures from JPEG and PNG files, as 8-bit RGB, and their fitting to a square: what a data set of
 * image files is made of. Files are told apart by their first bytes, not by their names.
 *
 * The pixels are those that PIL's convert("RGB") gives: grey is repeated, CMYK is taken with
 * Adobe's inversion, alpha and colour profiles and the orientation of Exif are passed over, 16 bits
 * become 8. Damage is never read around: whatever libjpeg-turbo or libpng warns of is an error. */
#ifndef MC_PICTURE_H
#define MC_PICTURE_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdint.h>

#define MC_PICTURE_MAX_FILE (64u << 20)   /* bytes */
#define MC_PICTURE_MAX_SIDE 8192          /* pixels */
#define MC_PICTURE_MAX_PIXELS (32u << 20) /* 96 MiB decoded */
#define MC_PICTURE_MAX_SIZE 2048          /* of a square that it is fitted to */

/* What a file of few bytes may decode to: an empty page of 3,300 x 3,300 is a kilobyte of PNG. */
#define MC_PICTURE_ANY_PNG (32u << 20) /* bytes of RGB */

/* A decoder and the memory that it works in, which grows to its largest picture. */
struct mc_picture {
    int height, width;
    uint8_t *rgb; /* (H, W, 3); valid until the next decoding */
    size_t most;  /* pixels that the user has room for; 0: MC_PICTURE_MAX_PIXELS */

    void *jpeg; /* the rest is the decoder's own; all zero before the first decoding */
    size_t rgb_size, file_size, quads_size, rows_size;
    uint8_t *file, *quads, *rows;
};

void mc_picture_release(struct mc_picture *p);

/* Decode a file; `name` is for messages. The bytes of a PNG are moved about. MC_EINPUT: neither
 * JPEG nor PNG, damaged, over the limits above, or said to be larger than so few bytes can be:
 * memory is taken when the header has been judged. */
MC_USE_RESULT int mc_picture_decode(struct mc_picture *p, const char *name, uint8_t *file,
                                    size_t bytes, struct mc_error *err);
/* The same from a path. MC_EINPUT when it is not there, too; MC_EFAIL when it cannot be read. */
MC_USE_RESULT int mc_picture_read(struct mc_picture *p, const char *path, struct mc_error *err);

/* For these files' own use: room for so many bytes, whose contents are lost. MC_ENOMEM. */
MC_USE_RESULT int mc_picture_room(uint8_t **b, size_t *size, size_t bytes, struct mc_error *err);

/* The decoded picture, its shorter side resized to `size` (1 to MC_PICTURE_MAX_SIZE) by PIL's
 * antialiased bilinear filter to the bit, and the middle square of that: torchvision's Resize(size)
 * and CenterCrop(size). out: (3, size, size). MC_ENOMEM. */
MC_USE_RESULT int mc_picture_square(struct mc_picture *p, int size, uint8_t *out,
                                    struct mc_error *err);
/* As it is. out: (3, H, W). */
void mc_picture_planes(const struct mc_picture *p, uint8_t *out);

#endif
