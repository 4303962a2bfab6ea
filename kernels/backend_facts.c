/* SPDX-License-Identifier: Apache-2.0
 *
 * A backend's facts for histories and checkpoints: its libraries and settings, as names and
 * values. */
#include "kernels/backend.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

void mc_backend_fact(struct mc_backend *be, const char *name, const char *fmt, ...)
{
    struct mc_fact *f = &be->facts[be->n_facts++];
    va_list ap;

    assert(be->n_facts <= MC_MAX_FACTS);
    f->name = name;
    va_start(ap, fmt);
    const int length = vsnprintf(f->value, sizeof f->value, fmt, ap);
    va_end(ap);
    assert(length < (int)sizeof f->value);
    (void)length;
}
