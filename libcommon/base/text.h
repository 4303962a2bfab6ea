/* SPDX-License-Identifier: Apache-2.0
 *
 * Printing into memory. open_memstream would do, but that glibc's loses in silence what finds no
 * memory on the way. */
#ifndef MC_TEXT_H
#define MC_TEXT_H

#include "libcommon/base/error.h"

#include <stddef.h>
#include <stdio.h>

/* It stays where it was opened, which f knows. */
struct mc_text {
    FILE *f;    /* to print to; what fails shows at mc_text_end */
    char *text; /* complete after mc_text_end; NULL where nothing was printed; to be freed */
    size_t bytes, room;
};

MC_USE_RESULT int mc_text_open(struct mc_text *t, struct mc_error *err);
/* Prints a tab and a result with the given number of digits. MC_EINPUT if it is not finite. */
MC_USE_RESULT int mc_put_result(FILE *f, int digits, double value, struct mc_error *err);
/* No more is printed. Returns rc, the caller's so far, or MC_ENOMEM where some of the text is lost.
 * A text that is not open is left alone. */
MC_USE_RESULT int mc_text_end(struct mc_text *t, int rc, struct mc_error *err);

#endif
