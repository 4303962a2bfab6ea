/* SPDX-License-Identifier: Apache-2.0
 *
 * Edit distance between names. */
#include "libcommon/base/near.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LONGEST 48 /* maximum length of a name, in bytes */

static int letter(char c)
{
    return tolower((unsigned char)c);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: swapped neighbours count as one edit and are not edited again. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *now = rows[2];

    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            now[j] = least(least(last[j], now[j - 1]) + 1,
                           last[j - 1] + (letter(a[i - 1]) != letter(b[j - 1])));
            if (i > 1 && j > 1 && letter(a[i - 1]) == letter(b[j - 2]) &&
                letter(a[i - 2]) == letter(b[j - 1]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
        size_t *free = before;
        before = last;
        last = now;
        now = free;
    }
    return last[m];
}

struct mc_near mc_near(const char *word, size_t n)
{
    return (struct mc_near){.word = word, .n = n, .distance = LONGEST};
}

void mc_near_try(struct mc_near *near, const char *name)
{
    const size_t m = strlen(name);

    if (!near->n || near->n > LONGEST || m > LONGEST)
        return;
    size_t d = distance(near->word, near->n, name, m), max = (near->n > m ? near->n : m) / 3;
    if (near->n >= 3 && near->n < m && !strncasecmp(near->word, name, near->n))
        d = least(d, 1);
    if (d < near->distance && d <= (max < 3 ? max : 3)) {
        near->best = name;
        near->distance = d;
    }
}

const char *mc_near_text(const struct mc_near *near, char text[MC_NEAR_TEXT])
{
    *text = 0;
    if (near->best)
        snprintf(text, MC_NEAR_TEXT, ", did you mean '%s'?", near->best);
    return text;
}
