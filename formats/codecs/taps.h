/* SPDX-License-Identifier: Apache-2.0
 *
 * The groups and taps that moments and activations are about, in their headers. */
#ifndef MC_TAPS_H
#define MC_TAPS_H

#include "formats/stream/pack.h"
#include "libcommon/graph/symmetry.h"

struct mc_tap_info {
    char name[MC_NAME_MAX]; /* of the node observed */
    size_t group, start, count;
    uint64_t samples;
};

/* The groups and taps that moments and activation streams are about. */
struct mc_taps {
    char at[8]; /* "post" or "pre" */
    size_t n_groups, n_taps;
    char (*group_names)[MC_NAME_MAX];
    size_t *group_sizes;
    size_t *group_within, *group_unit; /* as in struct mc_perm; group_within NULL: none */
    struct mc_tap_info *taps;
};

/* taps of a network's symmetry; samples 0. at_pre: observe the ReLUs' inputs. */
MC_USE_RESULT int mc_taps_init(struct mc_taps *out, const struct mc_symmetry *s,
                               const struct mc_graph *g, int at_pre, struct mc_error *err);
int mc_taps_same(const struct mc_taps *a, const struct mc_taps *b); /* samples aside */
/* Samples too. After an error there is nothing to release. */
MC_USE_RESULT int mc_taps_copy(struct mc_taps *out, const struct mc_taps *t, struct mc_error *err);
void mc_taps_release(struct mc_taps *t);
void mc_taps_pack(const struct mc_taps *t, struct mc_pack *p); /* three keys of an open map */
/* The groups, without their permutations; lent. */
struct mc_perm mc_taps_groups(const struct mc_taps *t);
/* Every tap lies within its group, every unit is seen at one, and no group lies in one that lies in
 * another; MC_EINPUT names what is not so. */
MC_USE_RESULT int mc_taps_check(const struct mc_taps *t, struct mc_error *err);
/* Checked: names there, and mc_taps_check. After an error there is nothing to release. */
MC_USE_RESULT int mc_taps_unpack(struct mc_taps *out, const msgpack_object *meta,
                                 struct mc_error *err);

#endif
