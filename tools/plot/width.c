/* SPDX-License-Identifier: Apache-2.0
 *
 * Widths of texts. */
#include "tools/plot/width.h"

#include "libcommon/base/json.h"

#include <string.h>

#define ELLIPSIS "\xe2\x80\xa6"

/* Hundredths of an em, for characters from the space on. */
static const unsigned char ascii[95] = {
    32, 40, 46, 84, 64, 95, 78, 27, 39,  39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79,
    60, 79, 69, 63, 61, 73, 68, 99, 69,  61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63,
    63, 28, 28, 58, 28, 97, 63, 61, 63,  63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84};

/* Width of the first character; *n is its number of bytes, at least 1. */
static double first(const char *text, size_t left, size_t *n)
{
    uint32_t c;

    *n = mc_character(text, left, &c);
    if (c >= ' ' && c - ' ' < sizeof ascii)
        return ascii[c - ' '] / 100.;
    if (c >= 0x2080 && c < 0x20a0) /* subscripts */
        return .41;
    return c >= 0x1100 || c == 0xbd ? 1 : .8;
}

double mc_text_width(const char *text)
{
    double width = 0;

    for (size_t left = strlen(text), n = 0; left; text += n, left -= n)
        width += first(text, left, &n);
    return width;
}

double mc_text_fit(const char *text, double ems, char *out, size_t size)
{
    const int whole = mc_text_width(text) <= ems && strlen(text) < size;
    const double space = whole ? ems : ems - 1;
    const size_t bytes = size - sizeof ELLIPSIS;
    double width = 0;
    size_t used = 0;

    for (size_t left = strlen(text), n = 0; left; left -= n) {
        double more = first(text + used, left, &n);
        if (!whole && (width + more > space || used + n > bytes))
            break;
        memcpy(out + used, text + used, n);
        used += n;
        width += more;
    }
    strcpy(out + used, whole ? "" : ELLIPSIS);
    return whole ? width : width + 1;
}
