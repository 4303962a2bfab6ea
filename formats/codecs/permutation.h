/* SPDX-License-Identifier: Apache-2.0
 *
 * Permutation streams. formats/codecs/permutation.md is the specification.
 *
 * meta: groups: [{name, size, value, bound, gap, ties}, ...] (all but name and size only where an
 * assignment found it), within and unit of a group in a unit of another. Tensors: one a group,
 * under the group's name, int32 (K): entry i is the unit of the second network that goes to place
 * i. */
#ifndef MC_PERMUTATION_H
#define MC_PERMUTATION_H

#include "formats/stream/history.h"
#include "formats/codecs/tensors.h"
#include "libcommon/assign/assign.h"
#include "libcommon/graph/symmetry.h"

/* info: (n_groups), or NULL. */
MC_USE_RESULT int mc_perm_write(const struct mc_perm *p, const struct mc_assignment *info,
                                const char *path, const struct mc_history *h, struct mc_error *err);
/* From an open reader, which stays the caller's; mc_perm_read (formats/codecs/curve.h) also takes
 * what a curve holds. Checked to be permutations. After an error there is nothing to release. */
MC_USE_RESULT int mc_perm_read_stream(struct mc_perm *out, struct mc_reader *r,
                                      struct mc_history *h, struct mc_error *err);

/* An entry of the key "groups", as moments have it too: the first two keys, or all. */
struct mc_group_entry {
    char name[MC_NAME_MAX];
    size_t size;
    struct mc_assignment found;
};
#define MC_GROUP_KEYS 6
#define MC_MAX_GROUPS 65536
#define MC_MAX_UNITS (1u << 24)
extern const struct mc_key mc_group_keys[MC_GROUP_KEYS];

/* The keys "within" and "unit" of a group that has them, as struct mc_group has them. */
void mc_nesting_pack(struct mc_pack *p, size_t within, size_t unit);
MC_USE_RESULT int mc_nesting_unpack(size_t *within, size_t *unit, size_t n_groups,
                                    const msgpack_object *map, struct mc_error *err);
/* For kinds that hold a permutation: the key "groups" of an open map and back (perm[k] are left
 * NULL), and the tensors, named behind `prefix`. p may be NULL in mc_perm_tensors: none. */
void mc_perm_pack_groups(const struct mc_perm *p, const struct mc_assignment *info,
                         struct mc_pack *out);
MC_USE_RESULT int mc_perm_unpack_groups(struct mc_perm *out, const msgpack_object *meta,
                                        struct mc_error *err);
void mc_perm_tensors(const struct mc_perm *p, const char *prefix, struct mc_layout *out);

#endif
