/* SPDX-License-Identifier: Apache-2.0
 *
 * Attacks on the batches of a feed: the examples are made in a plan of their own, which alone has
 * what backward needs, so that every other plan computes what it does without an attack, to the
 * bit. */
#ifndef MC_BATCH_ATTACK_H
#define MC_BATCH_ATTACK_H

#include "tools/attack/attack.h"
#include "tools/load/loader.h"

struct mc_batch_attack {
    struct mc_plan *plan; /* to be loaded by mc_loader_next like the others */
    struct mc_attack attack;
    struct mc_loader *loader;
    int classes;
    struct mc_buf *targets; /* (B), or NULL: no target */
    int32_t *host_targets;
};

/* o: resolved. purpose: enum mc_rng_purpose of the random starts. f: open, for networks of graph g.
 * Release, also after an error. */
MC_USE_RESULT int mc_batch_attack_open(struct mc_batch_attack *a, const struct mc_attack_options *o,
                                       uint32_t purpose, struct mc_loader *f,
                                       const struct mc_graph *g, struct mc_error *err);
/* After mc_loader_next gave n images. */
MC_USE_RESULT int mc_batch_attack_next(struct mc_batch_attack *a, size_t n, struct mc_error *err);
/* The batch's adversarial examples for params take the place of its pixels in `plan`, which loaded
 * it too, and stay there until it is loaded again (mc_batch_attack_undo). mode and stats as in
 * mc_attack_run. Random starts come from the feed's seed and an image's place in the data alone. */
void mc_batch_attack_run(struct mc_batch_attack *a, struct mc_plan *plan, enum mc_mode mode,
                         const struct mc_buf *params, struct mc_buf *stats);
void mc_batch_attack_undo(struct mc_batch_attack *a, struct mc_plan *plan);
void mc_batch_attack_release(struct mc_batch_attack *a);

/* Device memory that it takes. */
MC_USE_RESULT int mc_batch_attack_bytes(struct mc_backend *be, const struct mc_attack_options *o,
                                        const struct mc_graph *g, size_t batch, size_t *bytes,
                                        struct mc_error *err);

#endif
