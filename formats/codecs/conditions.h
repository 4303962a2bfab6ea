/* SPDX-License-Identifier: Apache-2.0
 *
 * The conditions of measured activations or moments, as keys of a stream's meta. A stream has
 * attack and seed only for attacked images, and precision only if it is not f32. */
#ifndef MC_CONDITIONS_H
#define MC_CONDITIONS_H

#include "formats/stream/objects.h"
#include "formats/stream/pack.h"
#include "libcommon/base/precision.h"
#include "libcommon/base/tensor.h"

struct mc_conditions {
    char attack[MC_NAME_MAX];    /* argument of --attack; "": clean images */
    uint64_t seed;               /* seed of the attack's random starts */
    enum mc_precision precision; /* precision of the network's computation */
};

/* Number of keys, for the map that contains them. */
size_t mc_conditions_count(const struct mc_conditions *c);
void mc_conditions_pack(const struct mc_conditions *c, struct mc_pack *meta);
MC_USE_RESULT int mc_conditions_unpack(struct mc_conditions *c, const msgpack_object *meta,
                                       struct mc_error *err);
/* MC_EINPUT if the conditions differ: "SUBJECT of different attacks (pgd and none)". */
MC_USE_RESULT int mc_conditions_same(const struct mc_conditions *a, const struct mc_conditions *b,
                                     const char *subject, struct mc_error *err);

#endif
