/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON's strings and numbers. */
#include "libcommon/base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t mc_control(const char *s, size_t n)
{
    unsigned char c = (unsigned char)s[0], next = n > 1 ? (unsigned char)s[1] : 0;

    if (c < 0x20 || c == 0x7f)
        return 1;
    return c == 0xc2 && next >= 0x80 && next < 0xa0 ? 2 : 0;
}

void mc_json_text(FILE *f, const char *s, size_t n)
{
    putc('"', f);
    for (size_t i = 0; i < n; i++) {
        size_t control = mc_control(s + i, n - i);
        if (control) {
            i += control - 1; /* C1 is numbered as its second byte */
            fprintf(f, "\\u%04x", (unsigned char)s[i]);
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
