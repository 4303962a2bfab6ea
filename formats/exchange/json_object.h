/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole JSON values: parse untrusted text, checked before memory is allocated; convert JSON to
 * MessagePack and back. */
#ifndef MC_JSON_OBJECT_H
#define MC_JSON_OBJECT_H

#include "formats/stream/pack.h"

#include <jansson.h>
#include <stdio.h>

struct mc_json_limits {
    size_t values; /* values and keys, containers counted */
    int depth;     /* nesting of containers */
};

/* Parse the one JSON value in n bytes of UTF-8. Objects must not repeat a key, strings must not
 * contain NUL, and only white space may follow. Free with json_decref(*out). MC_EINPUT or
 * MC_ENOMEM. */
MC_USE_RESULT int mc_json_parse(json_t **out, const char *text, size_t n,
                                const struct mc_json_limits *limits, struct mc_error *err);

/* Pack a value. Objects become maps with keys in order of first appearance; whole numbers become
 * integers, others float64. */
void mc_json_pack(struct mc_pack *p, const json_t *value);

/* Print one: keys in order, numbers as mc_json_num prints them, null for what JSON lacks. */
void mc_json_object(FILE *f, const msgpack_object *o);

#endif
