/* SPDX-License-Identifier: Apache-2.0
 *
 * Networks observed on data in evaluation mode, in one pass and constant memory: joint moments of
 * two networks, or the activations of one. */
#ifndef MC_COLLECT_H
#define MC_COLLECT_H

#include "formats/codecs/activations.h"
#include "formats/codecs/moments.h"
#include "formats/codecs/weights.h"
#include "tools/attack/batches.h"

struct mc_collect_opts {
    /* samples must not be 0; batch is normally mc_collect_batch() */
    struct mc_loader_options pass;
    /* resolved attack, or NULL. Each network sees its own adversarial examples, made with its own
     * statistics. */
    const struct mc_attack_options *attack;
    int at_pre;                  /* observe the ReLUs' inputs */
    uint32_t shard, shards;      /* as in struct mc_cut: shards added in order equal a single run */
    enum mc_precision precision; /* the backend's, recorded in the stream */
};

/* Batch size for networks of this graph: the largest power of two, at most 128, whose plans need an
 * estimated 96 MiB on the CPU (if that is under 32: at most 32 in 512 MiB). It depends on the graph
 * alone. */
size_t mc_collect_batch(const struct mc_graph *g, int attacked);
/* Number of images in this run's shard. */
uint64_t mc_collect_images(const struct mc_collect_opts *o);

/* Joint moments of a and b, whose graphs are the same (mc_graph_same), at every tap. The data is
 * read to its end even if the shard needs less, so a truncated stream always fails. Release out
 * with mc_moments_release, also after an error. Returns 0, MC_EINPUT (activations not finite) or
 * another error. */
MC_USE_RESULT int mc_collect_moments(struct mc_moments *out, const struct mc_weights *a,
                                     const struct mc_weights *b, const struct mc_collect_opts *o,
                                     struct mc_error *err);

/* Write the activations of one network as a stream at path. shard and shards are ignored. */
MC_USE_RESULT int mc_collect_activations(const char *path, const struct mc_weights *w,
                                         const struct mc_collect_opts *o,
                                         const struct mc_history *h, struct mc_error *err);

#endif
