/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/graph/fields.h"
#include "libcommon/graph/op.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

const struct mc_field *mc_node_field(enum mc_op op, const struct mc_field *f)
{
    f = f ? f + 1 : mc_ops[op]->fields;
    return f && f->key ? f : NULL;
}

int mc_field_count(const struct mc_field *f, int channels)
{
    const int counts[] = {1, channels, 2, 3};

    return counts[f->list];
}

double mc_field_get(const struct mc_field *f, const void *base, int i)
{
    const void *values = (const char *)base + f->offset;

    if (f->type == MC_FIELD_FLOAT)
        return (double)((const float *)values)[i];
    if (f->type == MC_FIELD_FLAG)
        return ((const int *)values)[i] != 0;
    return ((const int *)values)[i];
}

void mc_field_values(const struct mc_field *f, char *text, size_t size)
{
    static const char *const LISTS[] = {"", "one per channel, each ", "[height, width], each ",
                                        "[channels, height, width], each "};
    const char *kind = f->type == MC_FIELD_INT ? "an integer" : "a number";
    const int n = snprintf(text, size, "%s", LISTS[f->list]);

    text += n;
    size -= (size_t)n;
    if (f->type == MC_FIELD_FLAG)
        snprintf(text, size, "true or false");
    else if (f->type == MC_FIELD_INIT)
        for (int i = 0, last = (int)f->max, length = 0; i <= last; i++)
            length += snprintf(text + length, size - (size_t)length,
                               i == 0     ? "%s"
                               : i < last ? ", %s"
                                          : " or %s",
                               mc_init_name((enum mc_init)i));
    else if (f->max < FLT_MAX)
        snprintf(text, size, "%s from %g to %s%.10g", kind, f->min, f->below_max ? "below " : "",
                 f->max);
    else if (f->min > -FLT_MAX)
        snprintf(text, size, f->over_min ? "%s over %g" : "%s of %g or more", kind, f->min);
    else
        snprintf(text, size, "a finite number");
}

static int check(const struct mc_field *f, double v, struct mc_error *err)
{
    char values[160], got[64] = "";

    if ((f->over_min ? v > f->min : v >= f->min) && (f->below_max ? v < f->max : v <= f->max))
        return 0;
    mc_field_values(f, values, sizeof values);
    if (f->type == MC_FIELD_INIT && v >= 0 && v < MC_N_INITS)
        snprintf(got, sizeof got, " (got %s)", mc_init_name((enum mc_init)v));
    else if (!isnan(v))
        snprintf(got, sizeof got, " (got %.*g)", f->type == MC_FIELD_INT ? 17 : 6, v);
    return mc_fail(err, MC_EINPUT, "\"%s\" must be %s%s", f->key, values, got);
}

int mc_field_set(const struct mc_field *f, void *base, int i, double v, struct mc_error *err)
{
    void *values = (char *)base + f->offset;
    const float x = (float)v;

    if (check(f, f->type == MC_FIELD_FLOAT ? (double)x : v, err))
        return MC_EINPUT;
    if (f->type == MC_FIELD_FLOAT)
        ((float *)values)[i] = x;
    else
        ((int *)values)[i] = (int)v;
    return 0;
}

int mc_node_check(const struct mc_node *n, struct mc_error *err)
{
    int rc = 0;

    for (const struct mc_field *f = NULL; !rc && (f = mc_node_field(n->op, f));)
        for (int i = 0; i < mc_field_count(f, n->c) && !rc; i++)
            rc = check(f, mc_field_get(f, n, i), err);
    return rc;
}
