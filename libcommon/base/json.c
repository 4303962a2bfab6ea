/* SPDX-License-Identifier: Apache-2.0
 *
 * Printing of JSON strings and numbers, and of untrusted text. */
#include "libcommon/base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t mc_character(const char *s, size_t n, uint32_t *number)
{
    const unsigned char *c = (const unsigned char *)s;
    const size_t tail = c[0] >= 0xf0 ? 3 : c[0] >= 0xe0 ? 2 : 1;
    /* the second byte reveals overlong forms, surrogates and numbers above U+10FFFF */
    const unsigned low = c[0] == 0xe0 ? 0xa0 : c[0] == 0xf0 ? 0x90 : 0x80;
    const unsigned high = c[0] == 0xed ? 0x9f : c[0] == 0xf4 ? 0x8f : 0xbf;

    *number = c[0];
    if (c[0] < 0x80)
        return 1;
    *number = MC_NO_CHARACTER;
    if (c[0] < 0xc2 || c[0] > 0xf4 || n <= tail || c[1] < low || c[1] > high)
        return 1;
    uint32_t code = c[0] & (0x3fu >> tail);
    for (size_t i = 1; i <= tail; i++) {
        if ((c[i] & 0xc0) != 0x80)
            return 1;
        code = code << 6 | (c[i] & 0x3fu);
    }
    *number = code;
    return 1 + tail;
}

/* ASCII control characters, DEL, C1 (U+0080 to U+009F, which some terminals obey), line separators
 * (U+2028, U+2029) and direction marks. */
static int is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void mc_plain_text(FILE *f, const char *s, size_t n)
{
    uint32_t c;

    for (size_t bytes; n > 0; s += bytes, n -= bytes) {
        bytes = mc_character(s, n, &c);
        if (c == MC_NO_CHARACTER || is_control(c))
            putc(' ', f);
        else
            fwrite(s, 1, bytes, f);
    }
}

void mc_plain(FILE *f, const char *s)
{
    mc_plain_text(f, s, strlen(s));
}

void mc_json_text(FILE *f, const char *s, size_t n)
{
    uint32_t c;

    putc('"', f);
    for (size_t bytes; n > 0; s += bytes, n -= bytes) {
        bytes = mc_character(s, n, &c);
        if (c == MC_NO_CHARACTER || is_control(c)) {
            fprintf(f, "\\u%04x", c == MC_NO_CHARACTER ? 0xfffd : (unsigned)c);
            continue;
        }
        if (c == '"' || c == '\\')
            putc('\\', f);
        fwrite(s, 1, bytes, f);
    }
    putc('"', f);
}

void mc_json_str(FILE *f, const char *s)
{
    mc_json_text(f, s, strlen(s));
}

const char *mc_shortest(char text[MC_SHORTEST], double value)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, MC_SHORTEST, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (!isfinite(value) || !(back < value || back > value))
            break;
    }
    return text;
}

void mc_json_num(FILE *f, double value)
{
    char text[MC_SHORTEST];

    fputs(isfinite(value) ? mc_shortest(text, value) : "null", f);
}
