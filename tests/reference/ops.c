/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the table of operations as formats/python/mcz/ops.json has it: `make reference` writes that
 * file, and formats/codecs/graph.md's tables from it. */
#include "libcommon/graph/fields.h"
#include "libcommon/graph/op.h"

#include <float.h>
#include <jansson.h>
#include <stdio.h>

static const char *const TYPES[] = {[MC_FIELD_INT] = "int",
                                    [MC_FIELD_FLAG] = "flag",
                                    [MC_FIELD_FLOAT] = "float",
                                    [MC_FIELD_INIT] = "init"};
static const char *const LISTS[] = {
    [MC_FIELD_CHANNELS] = "channels", [MC_FIELD_SIDES] = "sides", [MC_FIELD_IMAGE] = "image"};

static json_t *value(const struct mc_field *f, double v)
{
    return f->type == MC_FIELD_INIT    ? json_string(mc_init_name((enum mc_init)v))
           : f->type == MC_FIELD_FLOAT ? json_real(v)
                                       : json_integer((json_int_t)v);
}

static json_t *setting(const struct mc_field *f)
{
    char values[160];
    json_t *s = json_object();

    mc_field_values(f, values, sizeof values);
    json_object_set_new(s, "key", json_string(f->key));
    json_object_set_new(s, "type", json_string(TYPES[f->type]));
    if (f->list != MC_FIELD_ONE)
        json_object_set_new(s, "list", json_string(LISTS[f->list]));
    if (f->type != MC_FIELD_FLAG && f->min > -FLT_MAX)
        json_object_set_new(s, f->over_min ? "over" : "min", value(f, f->min));
    if (f->type != MC_FIELD_FLAG && f->max < FLT_MAX)
        json_object_set_new(s, f->below_max ? "below" : "max", value(f, f->max));
    if (f->optional)
        json_object_set_new(s, "absent", value(f, f->absent));
    if (f->with_bias)
        json_object_set_new(s, "with_bias", json_true());
    if (f->training)
        json_object_set_new(s, "training", json_true());
    json_object_set_new(s, "values", json_string(values));
    json_object_set_new(s, "meaning", json_string(f->meaning));
    return s;
}

static json_t *row(enum mc_op index)
{
    const struct mc_op_info *op = mc_ops[index];
    json_t *o = json_object(), *settings = json_array();

    for (const struct mc_field *f = op->fields; f && f->key; f++)
        json_array_append_new(settings, setting(f));
    json_object_set_new(o, "name", json_string(mc_op_name(index)));
    json_object_set_new(o, "activation", json_boolean(op->flags & MC_OP_ACTIVATION));
    json_object_set_new(o, "inputs", json_pack("[ii]", op->min_in, op->max_in));
    json_object_set_new(o, "in", json_string(op->in));
    json_object_set_new(o, "out", json_string(op->out));
    json_object_set_new(o, "settings", settings);
    return o;
}

int main(void)
{
    json_t *all = json_object(), *inits = json_array(), *ops = json_array();
    const size_t style = JSON_INDENT(1) | JSON_REAL_PRECISION(9);

    for (int i = 0; i < MC_N_INITS; i++)
        json_array_append_new(inits, json_string(mc_init_name((enum mc_init)i)));
    for (int i = 0; i < MC_N_OPS; i++)
        json_array_append_new(ops, row((enum mc_op)i));
    json_object_set_new(all, "inits", inits);
    json_object_set_new(all, "ops", ops);
    const int failed = json_dumpf(all, stdout, style) || putchar('\n') == EOF || fflush(stdout);
    json_decref(all);
    return failed;
}
