/* SPDX-License-Identifier: Apache-2.0
 *
 * Printing to memory. glibc's open_memstream is unusable: it loses text silently when an allocation
 * fails. */
#ifndef MC_TEXT_H
#define MC_TEXT_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdio.h>

/* Do not move it while it is open: f points to it. */
struct mc_text {
    FILE *f;    /* print to this; mc_text_end reports errors */
    char *text; /* complete after mc_text_end; free it; NULL if nothing was printed */
    size_t bytes, room;
};

MC_USE_RESULT int mc_text_open(struct mc_text *t, struct mc_error *err);
/* Print a tab and a value with the given number of digits. MC_EINPUT if it is not finite. */
MC_USE_RESULT int mc_put_result(FILE *f, int digits, double value, struct mc_error *err);
/* Close the text. Returns rc (the caller's status so far), or MC_ENOMEM if text was lost. Does
 * nothing if the text is not open. */
MC_USE_RESULT int mc_text_end(struct mc_text *t, int rc, struct mc_error *err);

#endif
