/* SPDX-License-Identifier: Apache-2.0
 *
 * Networks observed on data, in evaluation mode, in one pass and constant memory: joint moments of
 * two, or the activations of one. */
#ifndef MC_COLLECT_H
#define MC_COLLECT_H

#include "formats/codecs/activations.h"
#include "formats/codecs/moments.h"
#include "formats/codecs/weights.h"
#include "tools/attack/batches.h"

struct mc_collect_opts {
    /* samples: not 0; batch: mc_collect_batch() unless there is a reason */
    struct mc_loader_options pass;
    /* resolved, or NULL: none; each network sees its own adversarial examples, made under its own
     * statistics */
    const struct mc_attack_options *attack;
    int at_pre;             /* observe the ReLUs' inputs */
    uint32_t shard, shards; /* a shard of struct mc_cut, so that all shards added in order add the
                               batches as one run does */
    enum mc_precision precision; /* the backend's, for the moments to tell */
};

/* A batch size for one or two networks of this graph: a power of two, at most 128, that keeps what
 * their plans and taps can need under 192 MiB. It depends on the graph alone. */
size_t mc_collect_batch(const struct mc_graph *g, int attacked);
/* Images that a shard sees. */
uint64_t mc_collect_images(const struct mc_collect_opts *o);

/* Joint moments of a and b (of the same graph: MC_EINPUT if not) at every tap. The data is read to
 * its end whatever the shard needs, so that a truncated stream never passes. Release out with
 * mc_moments_release, also after an error. MC_EINPUT also where activations are not finite. */
MC_USE_RESULT int mc_collect_moments(struct mc_moments *out, const struct mc_weights *a,
                                     const struct mc_weights *b, const struct mc_collect_opts *o,
                                     struct mc_error *err);

/* The activations of one network, as a stream at `path`; shard and shards are not looked at. */
MC_USE_RESULT int mc_collect_activations(const char *path, const struct mc_weights *w,
                                         const struct mc_collect_opts *o,
                                         const struct mc_history *h, struct mc_error *err);

#endif
