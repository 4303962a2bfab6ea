/* SPDX-License-Identifier: Apache-2.0
 *
 * Moments streams: the sums that correlations need, of two networks' joint activations at every
 * tap. They are additive: the sum of all shards equals a single run's moments.
 * formats/codecs/moments.md is the specification.
 *
 * meta: version (2), at ("post" or "pre"), images, shards, counted: [shard, ...], total, batch
 * (only if sharded), groups: [{name, size}], taps: [{name, group, start, count, samples}], attack
 * and seed (only for attacked images), precision (only if not f32). Tensors, float64, for tap i: "i/NAME/sum_a" (K), "sum_b", "sumsq_a", "sumsq_b",
 * "cross" (K,K) with a's units as rows. A tap observes channels [start, start + count) of its
 * group; samples = images * H * W. If groups repeat in every unit of another group, the taps belong
 * to the group in unit 0 and observe the channels of all units, unit by unit. */
#ifndef MC_MOMENTS_H
#define MC_MOMENTS_H

#include "formats/codecs/conditions.h"
#include "formats/codecs/groups.h"
#include "formats/stream/history.h"
#include "formats/stream/reader.h"
#include "libcommon/base/joint_moments.h"

#define MC_MAX_SHARDS 65536

/* How the images are cut into shards, at whole batches: of n batches, shard s has [s*n/shards,
 * (s+1)*n/shards). */
struct mc_cut {
    uint64_t total, batch;
    uint32_t shards; /* 1 .. MC_MAX_SHARDS */
};
/* Number of images before a shard, counted from 0. Before shard `shards`: all. */
uint64_t mc_cut_before(const struct mc_cut *c, uint32_t shard);

struct mc_moments {
    struct mc_taps taps;
    uint64_t images;
    struct mc_cut cut;
    uint32_t shard;   /* 0 of 1: all images */
    uint32_t *merged; /* (n_merged) other shards that were added, or NULL */
    size_t n_merged;
    struct mc_conditions conditions;
    double **sums; /* per tap: MC_MOMENTS_SIZE(count) doubles (libcommon/base/joint_moments.h) */
    char inputs[3][MC_ID_LEN]; /* content ids of a, b, data; "" if unknown */
};

/* Maximum units of a tap: their products take 32 GiB. */
#define MC_MAX_MATCHED 65536
/* Copy the taps and zero the sums. MC_EINPUT if a tap has more than MC_MAX_MATCHED units. */
MC_USE_RESULT int mc_moments_init(struct mc_moments *out, const struct mc_taps *taps,
                                  struct mc_error *err);
/* The same without memory for sums. mc_moments_room allocates it for one tap when data arrives, so
 * that a header alone cannot cause allocations. */
MC_USE_RESULT int mc_moments_begin(struct mc_moments *out, const struct mc_taps *taps,
                                   struct mc_error *err);
MC_USE_RESULT int mc_moments_room(struct mc_moments *m, size_t tap, struct mc_error *err);
/* Read and check moments: finite values, counts that agree with the meta, or MC_EINPUT. The inputs
 * of the stream are a, b and the data, in this order. After an error nothing needs release. */
MC_USE_RESULT int mc_moments_read(struct mc_moments *out, struct mc_stream from,
                                  struct mc_history *h, struct mc_error *err);
MC_USE_RESULT int mc_moments_write(const struct mc_moments *m, const char *path,
                                   const struct mc_history *h, struct mc_error *err);
/* into += m. MC_EINPUT if the networks, taps, attacks, precisions or cuts differ, or a shard occurs
 * twice (messages count shards from 1). */
MC_USE_RESULT int mc_moments_add(struct mc_moments *into, const struct mc_moments *m,
                                 struct mc_error *err);
/* Check that all shards were added. MC_EINPUT lists the missing ones. */
MC_USE_RESULT int mc_moments_expect_whole(const struct mc_moments *m, struct mc_error *err);
void mc_moments_release(struct mc_moments *m);

#endif
