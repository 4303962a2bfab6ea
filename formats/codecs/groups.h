/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of units in the meta of streams: of permutations, curves, matrices, moments and
 * activations; and the taps where moments and activations observe them. */
#ifndef MC_GROUP_CODEC_H
#define MC_GROUP_CODEC_H

#include "formats/codecs/tensors.h"
#include "libcommon/assign/assign.h"
#include "libcommon/graph/groups.h"
#include "libcommon/graph/permutation.h"

/* The keys "within" and "unit" of a group that is in another's unit; of others nothing. */
#define MC_NESTING_KEYS(group) ((group)->within ? 2u : 0u)
void mc_nesting_pack(struct mc_pack *p, const struct mc_group *g);
MC_USE_RESULT int mc_nesting_unpack(struct mc_group *g, size_t n_groups, const msgpack_object *map,
                                    struct mc_error *err);
/* For kinds that hold a permutation: the key "groups" of an open map and back (perm[k] are left
 * NULL), and the tensors, named behind `prefix`. p may be NULL in mc_perm_tensors: none. */
void mc_perm_pack_groups(const struct mc_perm *p, const struct mc_assignment *info,
                         struct mc_pack *out);
MC_USE_RESULT int mc_perm_unpack_groups(struct mc_perm *out, const msgpack_object *meta,
                                        struct mc_error *err);
void mc_perm_tensors(const struct mc_perm *p, const char *prefix, struct mc_layout *out);

struct mc_tap_info {
    char name[MC_NAME_MAX]; /* of the node observed */
    size_t group, start, count;
    uint64_t samples;
};

/* The groups and taps that moments and activation streams are about. */
struct mc_taps {
    char at[8]; /* "post" or "pre" */
    size_t n_groups, n_taps;
    struct mc_group *groups;
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
/* Every tap lies within its group, every unit is seen at one, and no group lies in one that lies in
 * another; MC_EINPUT names what is not so. */
MC_USE_RESULT int mc_taps_check(const struct mc_taps *t, struct mc_error *err);
/* Checked: names there, and mc_taps_check. After an error there is nothing to release. */
MC_USE_RESULT int mc_taps_unpack(struct mc_taps *out, const msgpack_object *meta,
                                 struct mc_error *err);

#endif
