/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of units in the meta of permutation, curve, matrices, moments and activations streams; and
 * the taps where moments and activations observe them. */
#ifndef MC_GROUP_CODEC_H
#define MC_GROUP_CODEC_H

#include "formats/codecs/tensors.h"
#include "libcommon/assign/assign.h"
#include "libcommon/graph/groups.h"
#include "libcommon/permutation/permutation.h"

/* The keys "within" and "unit" of a group that is nested in another's unit, and `allows_key` (a name)
 * of a group that allows more than permutations; other groups have none. */
#define MC_GROUP_OPTIONS(group)                                                                    \
    ((mc_group_is_nested(group) ? 2u : 0u) + ((group)->allows ? 1u : 0u))
void mc_group_options_pack(struct mc_pack *p, const struct mc_group *g, const char *allows_key);
MC_USE_RESULT int mc_group_options_unpack(struct mc_group *g, size_t n_groups,
                                          const msgpack_object *map, const char *allows_key,
                                          struct mc_error *err);
/* For kinds that hold a permutation: pack the key "groups" of an open map, unpack it (perm[k] and
 * map[k] remain NULL), and add the tensors, named with the prefix. p may be NULL in
 * mc_perm_tensors: none. allows_key: as above; NULL if no group has it. */
void mc_perm_pack_groups(const struct mc_perm *p, const struct mc_assignment *info,
                         const char *allows_key, struct mc_pack *out);
MC_USE_RESULT int mc_perm_unpack_groups(struct mc_perm *out, const msgpack_object *meta,
                                        const char *allows_key, struct mc_error *err);
void mc_perm_tensors(const struct mc_perm *p, const char *prefix, struct mc_layout *out);

struct mc_tap_info {
    char name[MC_NAME_MAX]; /* the observed node's */
    size_t group, start, count;
    uint64_t samples;
};

/* The groups and taps of moments and activations streams. */
struct mc_taps {
    char place[8]; /* "post" or "pre" */
    size_t n_groups, n_taps;
    struct mc_group *groups;
    struct mc_tap_info *taps;
};

/* The taps of a network's symmetry, with samples 0. at_pre: observe the inputs of the ReLUs. */
MC_USE_RESULT int mc_taps_init(struct mc_taps *out, const struct mc_symmetry *s,
                               const struct mc_graph *g, int at_pre, struct mc_error *err);
int mc_taps_same(const struct mc_taps *a, const struct mc_taps *b); /* samples may differ */
/* Copy, samples included. After an error nothing needs release. */
MC_USE_RESULT int mc_taps_copy(struct mc_taps *out, const struct mc_taps *t, struct mc_error *err);
void mc_taps_release(struct mc_taps *t);
void mc_taps_pack(const struct mc_taps *t, struct mc_pack *p); /* three keys of an open map */
/* Check that every tap is within its group, every unit is observed by a tap, and groups are nested
 * at most once. MC_EINPUT names the group or tap. */
MC_USE_RESULT int mc_taps_check(const struct mc_taps *t, struct mc_error *err);
/* Unpack and check with mc_taps_check. After an error nothing needs release. */
MC_USE_RESULT int mc_taps_unpack(struct mc_taps *out, const msgpack_object *meta,
                                 struct mc_error *err);

#endif
