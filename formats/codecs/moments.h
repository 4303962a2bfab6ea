/* SPDX-License-Identifier: Apache-2.0
 *
 * Moments streams: the sums that correlation needs, of two networks' joint activations at every
 * tap. They add: shards of the data counted apart merge to what one run would have counted.
 * formats/codecs/moments.md is the specification.
 *
 * meta: version (2), at ("post" or "pre"), images, shards, counted: [shard, ...], total, batch (of
 * shards only), groups: [{name, size}], taps: [{name, group, start, count, samples}], attack and
 * seed (of attacked images only), precision (where it is not f32). Version 1 has no version, total
 * and batch. Tensors, float64, for tap i (named as the tap): "i/NAME/sum_a"
 * (K), "sum_b", "sumsq_a", "sumsq_b", "cross" (K,K); rows of cross are a's units. A tap sees
 * channels [start, start + count) of its group; samples = images * H * W. Of groups that lie alike
 * in the units of another, taps are of the one in unit 0, and see the channels of all, unit by
 * unit. */
#ifndef MC_MOMENTS_H
#define MC_MOMENTS_H

#include "formats/codecs/groups.h"
#include "formats/stream/history.h"
#include "formats/stream/reader.h"
#include "libcommon/base/joint_moments.h"
#include "libcommon/base/precision.h"

#define MC_MAX_SHARDS 65536

/* How the images are cut into shards, at whole batches: shard s has batches [s*n/shards,
 * (s+1)*n/shards) of n. */
struct mc_cut {
    uint64_t total, batch;
    uint32_t shards; /* 1 .. MC_MAX_SHARDS */
};
/* Images before a shard, counted from 0; before shard `shards`: all. */
uint64_t mc_cut_before(const struct mc_cut *c, uint32_t shard);

struct mc_moments {
    struct mc_taps taps;
    uint64_t images;
    struct mc_cut cut; /* version 1: by the history, 0 where it does not say */
    uint32_t shard;    /* 0 of 1: everything */
    uint32_t *merged;  /* (n_merged) shards added beside that one, or NULL */
    size_t n_merged;
    char attack[MC_NAME_MAX];    /* as --attack takes it; "": clean images */
    uint64_t seed;               /* of its random starts */
    enum mc_precision precision; /* what the networks were computed in */
    double **sums; /* a tap: MC_MOMENTS_SIZE(count) doubles, as libcommon/base/joint_moments.h lays
                      them out */
    char id[MC_ID_LEN];
    char inputs[3][MC_ID_LEN]; /* content ids of a, b, data; "" where the stream does not say */
};

/* Units of a tap at most: their products take 32 GiB. */
#define MC_MAX_MATCHED 65536
/* Copies taps, zero sums. A tap of more units than MC_MAX_MATCHED is MC_EINPUT. */
MC_USE_RESULT int mc_moments_init(struct mc_moments *out, const struct mc_taps *taps,
                                  struct mc_error *err);
/* The same without room for sums, which mc_moments_room makes for a tap that has none: for what
 * only a header announces. */
MC_USE_RESULT int mc_moments_begin(struct mc_moments *out, const struct mc_taps *taps,
                                   struct mc_error *err);
MC_USE_RESULT int mc_moments_room(struct mc_moments *m, size_t tap, struct mc_error *err);
/* Finite, counted as the meta says, or MC_EINPUT. r, which may be of any kind, stays the caller's.
 * The stream's own inputs are a, b and the data, in this order. After an error there is nothing to
 * release. */
MC_USE_RESULT int mc_moments_read(struct mc_moments *out, struct mc_reader *r, struct mc_history *h,
                                  struct mc_error *err);
MC_USE_RESULT int mc_moments_write(const struct mc_moments *m, const char *path,
                                   const struct mc_history *h, struct mc_error *err);
/* into += m. MC_EINPUT when they are about different networks, taps, attacks, precisions or cuts,
 * or the same shard twice (which the message counts from 1, as users do). */
MC_USE_RESULT int mc_moments_add(struct mc_moments *into, const struct mc_moments *m,
                                 struct mc_error *err);
/* All shards have been added, or MC_EINPUT names those that are missing. */
MC_USE_RESULT int mc_moments_expect_whole(const struct mc_moments *m, struct mc_error *err);
void mc_moments_release(struct mc_moments *m);

#endif
