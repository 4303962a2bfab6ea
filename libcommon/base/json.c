/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON's strings and numbers. */
#include "libcommon/base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t mc_control(const char *s, size_t n)
{
    const unsigned char a = (unsigned char)s[0], b = n > 1 ? (unsigned char)s[1] : 0;
    const unsigned char c = n > 2 ? (unsigned char)s[2] : 0;

    if (a < 0x20 || a == 0x7f)
        return 1;
    if ((a == 0xc2 && b >= 0x80 && b < 0xa0) || (a == 0xd8 && b == 0x9c))
        return 2;
    if (a != 0xe2)
        return 0;
    return (b == 0x80 && (c == 0x8e || c == 0x8f || (c >= 0xaa && c <= 0xae))) ||
                   (b == 0x81 && c >= 0xa6 && c <= 0xa9)
               ? 3
               : 0;
}

void mc_plain_text(FILE *f, const char *s, size_t n)
{
    while (n > 0) {
        const size_t control = mc_control(s, n), step = control ? control : 1;
        putc(control ? ' ' : *s, f);
        s += step;
        n -= step;
    }
}

void mc_plain(FILE *f, const char *s)
{
    mc_plain_text(f, s, strlen(s));
}

void mc_json_text(FILE *f, const char *s, size_t n)
{
    putc('"', f);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *c = (const unsigned char *)s + i;
        const size_t control = mc_control(s + i, n - i);
        if (control) { /* its number, from UTF-8 */
            const unsigned low = c[control - 1] & (control > 1 ? 0x3fu : 0x7fu);
            const unsigned mid = control > 2 ? c[1] & 0x3fu : 0;
            const unsigned high = control > 1 ? c[0] & (control > 2 ? 0x0fu : 0x1fu) : 0;
            fprintf(f, "\\u%04x", high << (control > 2 ? 12 : 6) | mid << 6 | low);
            i += control - 1;
            continue;
        }
        if (s[i] == '"' || s[i] == '\\')
            putc('\\', f);
        putc(s[i], f);
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
