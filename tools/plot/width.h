/* SPDX-License-Identifier: Apache-2.0
 *
 * Widths of texts in a picture. */
#ifndef MC_WIDTH_H
#define MC_WIDTH_H

#include <stddef.h>

/* Width in ems of a wide sans-serif font (DejaVu Sans); most others are narrower. */
double mc_text_width(const char *text);
/* Copy text to out (size > 4), shortened with "…" if it is wider than `ems`. Returns the width. */
double mc_text_fit(const char *text, double ems, char *out, size_t size);

#endif
