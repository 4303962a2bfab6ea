/* SPDX-License-Identifier: Apache-2.0 */
#include "libcommon/graph/fields.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#define AT(member) .offset = offsetof(struct mc_node, member)
#define OP(op) (1u << MC_OP_##op)
#define POOLS (OP(MAXPOOL) | OP(AVGPOOL))
#define WEIGHTED (OP(CONV) | OP(LINEAR))

_Static_assert(offsetof(struct mc_node, w) == offsetof(struct mc_node, h) + sizeof(int),
               "\"size\" is h and w");

/* clang-format off */
const struct mc_field mc_node_fields[] = {
    {"mean", MC_FIELD_FLOAT, MC_FIELD_CHANNELS, AT(mean), -FLT_MAX, FLT_MAX,
     .ops = OP(NORMALISE), .meaning = "mean of the channel's pixels"},
    {"std", MC_FIELD_FLOAT, MC_FIELD_CHANNELS, AT(std), 0, FLT_MAX, .over_min = 1,
     .ops = OP(NORMALISE), .meaning = "their standard deviation"},
    {"out", MC_FIELD_INT, MC_FIELD_ONE, AT(c), 1, MC_MAX_CHANNELS,
     .ops = WEIGHTED, .meaning = "channels of the output"},
    {"kernel", MC_FIELD_INT, MC_FIELD_SIDES, AT(kernel), 1, MC_MAX_SIDE,
     .ops = OP(CONV) | POOLS, .meaning = "size of the window"},
    {"stride", MC_FIELD_INT, MC_FIELD_SIDES, AT(stride), 1, MC_MAX_SIDE,
     .ops = OP(CONV) | POOLS, .meaning = "distance of neighbouring windows"},
    {"pad", MC_FIELD_INT, MC_FIELD_SIDES, AT(pad), 0, MC_MAX_SIDE,
     .ops = OP(CONV) | POOLS, .meaning = "padding on each side; at most half a pooling window"},
    {"groups", MC_FIELD_INT, MC_FIELD_ONE, AT(groups), 1, MC_MAX_CHANNELS,
     .ops = OP(CONV), .meaning = "groups of channels; divides those of input and output"},
    {"ceil", MC_FIELD_FLAG, MC_FIELD_ONE, AT(ceil_mode), 0, 1,
     .ops = POOLS, .meaning = "round the output's size up"},
    {"bias", MC_FIELD_FLAG, MC_FIELD_ONE, AT(has_bias), 0, 1,
     .ops = WEIGHTED, .meaning = "the layer has a bias"},
    {"eps", MC_FIELD_FLOAT, MC_FIELD_ONE, AT(eps), 0, FLT_MAX, .over_min = 1,
     .ops = OP(BATCHNORM) | OP(LAYERNORM), .meaning = "added to the variance"},
    {"momentum", MC_FIELD_FLOAT, MC_FIELD_ONE, AT(momentum), 0, 1,
     .ops = OP(BATCHNORM), .training = 1, .meaning = "weight of the new batch in the running statistics"},
    {"delta", MC_FIELD_FLOAT, MC_FIELD_ONE, AT(delta), 0, FLT_MAX, .optional = 1,
     .ops = OP(RELU), .meaning = "Huber's δ; 0 is the plain ReLU"},
    {"slope", MC_FIELD_FLOAT, MC_FIELD_ONE, AT(slope), -FLT_MAX, FLT_MAX,
     .ops = OP(LEAKYRELU), .meaning = "factor of numbers below 0"},
    {"before", MC_FIELD_INT, MC_FIELD_IMAGE, AT(before), 0, MC_MAX_SIDE,
     .ops = OP(PAD), .meaning = "zeros before the first channel, row and column"},
    {"after", MC_FIELD_INT, MC_FIELD_IMAGE, AT(after), 0, MC_MAX_SIDE,
     .ops = OP(PAD), .meaning = "zeros after the last channel, row and column"},
    {"size", MC_FIELD_INT, MC_FIELD_SIDES, AT(h), 1, MC_MAX_SIDE,
     .ops = OP(ADAPTPOOL), .meaning = "size of the output"},
    {"p", MC_FIELD_FLOAT, MC_FIELD_ONE, AT(drop), 0, 1, .below_max = 1,
     .ops = OP(DROPOUT), .training = 1, .meaning = "probability that a value is dropped"},
    {"weight", MC_FIELD_FLOAT, MC_FIELD_ONE, AT(loss_weight), 0, FLT_MAX,
     .ops = OP(LOSS), .meaning = "factor of this loss in the sum"},
    {"train_only", MC_FIELD_FLAG, MC_FIELD_ONE, AT(train_only), 0, 1,
     .ops = OP(LOSS), .meaning = "used only in training"},
    {"weight_init", MC_FIELD_INIT, MC_FIELD_ONE, AT(weight_init), 0, MC_N_INITS - 1,
     .ops = WEIGHTED, .optional = 1, .absent = MC_INIT_UNIFORM_FAN_IN,
     .meaning = "initial weights"},
    {"bias_init", MC_FIELD_INIT, MC_FIELD_ONE, AT(bias_init), 0, MC_N_INITS - 1,
     .ops = WEIGHTED, .with_bias = 1, .optional = 1, .absent = MC_INIT_UNIFORM_FAN_IN,
     .meaning = "initial bias; written if `bias` is true"},
    {"weight_init", MC_FIELD_INIT, MC_FIELD_ONE, AT(weight_init), 0, MC_INIT_ONE,
     .ops = OP(BATCHNORM) | OP(LAYERNORM) | OP(SCALE), .optional = 1, .absent = MC_INIT_ONE,
     .meaning = "initial weights"},
    {"bias_init", MC_FIELD_INIT, MC_FIELD_ONE, AT(bias_init), 0, MC_INIT_ONE,
     .ops = OP(BATCHNORM) | OP(LAYERNORM), .optional = 1, .absent = MC_INIT_ZERO,
     .meaning = "initial bias"},
    {0},
};
/* clang-format on */

const struct mc_field *mc_node_field(enum mc_op op, const struct mc_field *f)
{
    for (f = f ? f + 1 : mc_node_fields; f->key; f++)
        if (f->ops & 1u << op)
            return f;
    return NULL;
}

int mc_field_count(const struct mc_field *f, int channels)
{
    const int counts[] = {1, channels, 2, 3};

    return counts[f->list];
}

double mc_field_get(const struct mc_field *f, const void *base, int i)
{
    const void *at = (const char *)base + f->offset;

    if (f->type == MC_FIELD_FLOAT)
        return (double)((const float *)at)[i];
    if (f->type == MC_FIELD_FLAG)
        return ((const int *)at)[i] != 0;
    return ((const int *)at)[i];
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
        for (int i = 0, last = (int)f->max, at = 0; i <= last; i++)
            at += snprintf(text + at, size - (size_t)at,
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
    void *at = (char *)base + f->offset;
    const float x = (float)v;

    if (check(f, f->type == MC_FIELD_FLOAT ? (double)x : v, err))
        return MC_EINPUT;
    if (f->type == MC_FIELD_FLOAT)
        ((float *)at)[i] = x;
    else
        ((int *)at)[i] = (int)v;
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
