/* SPDX-License-Identifier: Apache-2.0
 *
 * The settings of a graph's nodes. Each operation's row (op.h) lists its own. Streams, graph
 * files, range checks, comparisons and the specification (formats/codecs/graph.md) are derived from
 * these lists. */
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
    const char *key; /* in streams; NULL: the end of a list */
    enum mc_field_type type;
    enum mc_field_list list; /* one value; a list of one per channel, of 2, or of 3 */
    size_t offset;           /* to the (first) value in the struct */
    double min, max;         /* FLT_MAX: any finite number */
    int over_min, below_max; /* the bound itself is out of range */
    int with_bias;           /* written only if the node has a bias */
    int training;            /* used only in training: graphs that differ only in it are the same */
    int optional;            /* readers assume `absent` if it is missing */
    double absent;
    const char *meaning; /* for the specification */
};

/* The setting after `f` (NULL: the first) for nodes of that op, or NULL. */
const struct mc_field *mc_node_field(enum mc_op op, const struct mc_field *f);
/* Number of values, in a graph with `channels` colour channels. */
int mc_field_count(const struct mc_field *f, int channels);
/* Value i in the struct (a node) at `base`. A flag is 0 or 1. */
double mc_field_get(const struct mc_field *f, const void *base, int i);
/* Set value i. MC_EINPUT if v is out of range; pass NAN if the value has another type. */
MC_USE_RESULT int mc_field_set(const struct mc_field *f, void *base, int i, double v,
                               struct mc_error *err);
/* Describe the valid values: "a number from 0 to 1". */
void mc_field_values(const struct mc_field *f, char *text, size_t size);
/* MC_EINPUT names the node's first setting that is out of range. */
MC_USE_RESULT int mc_node_check(const struct mc_node *n, struct mc_error *err);

#endif
