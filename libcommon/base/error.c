/* SPDX-License-Identifier: Apache-2.0
 *
 * The error record. */
#include "libcommon/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void one_line(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            *s = ' ';
}

int mc_fail(struct mc_error *err, enum mc_err code, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(err->text, sizeof err->text, fmt, ap);
        va_end(ap);
        one_line(err->text);
        err->code = code;
    }
    return code;
}

int mc_no_memory(struct mc_error *err)
{
    return mc_fail(err, MC_ENOMEM, "out of memory");
}

int mc_fail_in(int rc, struct mc_error *err, const char *fmt, ...)
{
    if (rc && err) {
        char prefix[sizeof err->text], old[sizeof err->text];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(prefix, sizeof prefix, fmt, ap);
        va_end(ap);
        memcpy(old, err->text, sizeof old);
        mc_fail(err, err->code, "%s: %s", prefix, old);
    }
    return rc;
}

void mc_error_first(size_t i, size_t *failed, struct mc_error *err, const struct mc_error *now)
{
    if (i < *failed) {
        *failed = i;
        *err = *now;
    }
}

int mc_exit_status(int code)
{
    switch (code) {
    case MC_OK:
        return 0;
    case MC_EUSAGE:
        return 2;
    case MC_EINPUT:
        return 3;
    default:
        return 1;
    }
}
