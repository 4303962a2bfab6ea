/* SPDX-License-Identifier: Apache-2.0
 *
 * A stdio stream that writes to memory. */
#include "libcommon/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A short count puts the stream into its error state, which lasts. */
static ssize_t append(void *cookie, const char *from, size_t n)
{
    struct mc_text *t = cookie;

    if (n > t->room - t->bytes) {
        const size_t room = 2 * (t->bytes + n);
        char *text = realloc(t->text, room);
        if (!text)
            return 0;
        t->text = text;
        t->room = room;
    }
    memcpy(t->text + t->bytes, from, n);
    t->bytes += n;
    return (ssize_t)n;
}

int mc_text_open(struct mc_text *t, struct mc_error *err)
{
    *t = (struct mc_text){0};
    t->f = fopencookie(t, "w", (cookie_io_functions_t){.write = append});
    return t->f ? 0 : mc_no_memory(err);
}

int mc_put_result(FILE *f, int digits, double value, struct mc_error *err)
{
    if (!isfinite(value))
        return mc_fail(err, MC_EINPUT, "is not finite (the inputs' numbers are too large)");
    fprintf(f, "\t%.*g", digits, value);
    return 0;
}

int mc_text_end(struct mc_text *t, int rc, struct mc_error *err)
{
    int lost = 0;

    if (t->f) {
        lost = ferror(t->f);
        lost |= fclose(t->f);
        t->f = NULL;
    }
    return lost && !rc ? mc_no_memory(err) : rc;
}
