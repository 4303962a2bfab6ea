/* SPDX-License-Identifier: Apache-2.0
 *
 * Is a picture that another program drew whole? A full disk can end one anywhere, and its writer
 * may not say so. */
#ifndef MC_IMAGE_H
#define MC_IMAGE_H

#include "libcommon/base/error.h"

#include <stddef.h>

enum mc_image { MC_SVG, MC_PNG, MC_PDF };

/* n bytes. SVG: UTF-8 and well-formed XML, one <svg>; PNG: decoded to its end; PDF: its trailer
 * stands at its end and leads to its table of objects. MC_EFAIL with what is wrong; MC_ENOMEM. */
MC_USE_RESULT int mc_image_check(enum mc_image format, const char *data, size_t n,
                                 struct mc_error *err);

#endif
