/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole JSON values: a stranger's text in, bounded before anything is allocated for it, and
 * MessagePack from JSON and as JSON. */
#ifndef MC_JSON_OBJECT_H
#define MC_JSON_OBJECT_H

#include "formats/stream/pack.h"

#include <jansson.h>
#include <stdio.h>

struct mc_json_limits {
    size_t values; /* values and keys, containers counted */
    int depth;     /* of containers within containers */
};

/* The one JSON value in n bytes of UTF-8: no key twice in an object, no NUL in a text, nothing
 * behind it but white space. json_decref(*out). MC_EINPUT, or MC_ENOMEM. */
MC_USE_RESULT int mc_json_parse(json_t **out, const char *text, size_t n,
                                const struct mc_json_limits *limits, struct mc_error *err);

/* Pack a value: objects are maps in the order of their keys' first appearance, whole numbers
 * integers, others float64. */
void mc_json_pack(struct mc_pack *p, const json_t *value);

/* Print one: keys in order, numbers as mc_json_num does, null for what JSON lacks. */
void mc_json_object(FILE *f, const msgpack_object *o);

#endif
