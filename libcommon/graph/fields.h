/* SPDX-License-Identifier: Apache-2.0
 *
 * The settings of a graph's nodes, in one table: streams and graph files, the checks of ranges,
 * equality and the specification (formats/codecs/graph.md) follow it. */
#ifndef MC_GRAPH_FIELDS_H
#define MC_GRAPH_FIELDS_H

#include "libcommon/graph/graph.h"

enum mc_field_type {
    MC_FIELD_INT,
    MC_FIELD_FLAG, /* an int in memory */
    MC_FIELD_FLOAT,
    MC_FIELD_INIT /* enum mc_init; graphs that differ only in these are the same */
};

enum mc_field_list { MC_FIELD_ONE, MC_FIELD_CHANNELS, MC_FIELD_SIDES, MC_FIELD_IMAGE };

struct mc_field {
    const char *key; /* in streams; NULL: the end of a table */
    enum mc_field_type type;
    enum mc_field_list list; /* a value alone; a list of one a channel; of 2; of 3 */
    size_t offset;           /* of the (first) value in its struct */
    double min, max;         /* FLT_MAX: any finite number */
    int over_min, below_max; /* the bound itself is out of range */
    unsigned ops;            /* bit 1 << enum mc_op: nodes of that op have it */
    int with_bias;           /* written only where the node has a bias */
    int training;            /* used in training alone: other values make no other network */
    int optional;            /* a reader takes `absent` where there is none */
    double absent;
    const char *meaning; /* for the specification */
};

/* In the order in which streams hold them. */
extern const struct mc_field mc_node_fields[];

/* The next setting of a node of that op after `f` (NULL: the first), or NULL. */
const struct mc_field *mc_node_field(enum mc_op op, const struct mc_field *f);
/* Values of the setting, in a graph of `channels` colour channels. */
int mc_field_count(const struct mc_field *f, int channels);
/* Its value i in the struct (a node) at `base`. A flag is 0 or 1. */
double mc_field_get(const struct mc_field *f, const void *base, int i);
/* Sets it, or MC_EINPUT where v is out of range; NAN: no value of the field's type. */
MC_USE_RESULT int mc_field_set(const struct mc_field *f, void *base, int i, double v,
                               struct mc_error *err);
/* Which values it takes: "a number from 0 to 1". */
void mc_field_values(const struct mc_field *f, char *text, size_t size);
/* MC_EINPUT that names the first setting of the node that is out of range. */
MC_USE_RESULT int mc_node_check(const struct mc_node *n, struct mc_error *err);

#endif
