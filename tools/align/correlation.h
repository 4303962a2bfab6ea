/* SPDX-License-Identifier: Apache-2.0
 *
 * How alike the units of two networks are, from their joint moments: by correlation or by L2
 * distance; and the signature: how well matched units correlate, layer by layer. Tatro et al.,
 * "Optimizing Mode Connectivity via Neuron Alignment", NeurIPS 2020, sections 2.2 (the matrices)
 * and 3 (the signature), appendix C.3 (the distances).
 *
 * A channel's samples are all its pixels of all images. The correlation of unit i of a and unit j
 * of b at a tap is
 *
 *     (Sxy - Sx Sy / n) / sqrt((Sxx - Sx^2 / n) (Syy - Sy^2 / n))
 *
 * in float64 from sums of exact products, so the subtraction loses at most the squared ratio of
 * mean to standard deviation of float64's sixteen digits.
 *
 * Dead units: a unit whose variance at a tap is not above MC_CORR_DEAD times the greatest variance
 * of its network at that tap, or not above MC_CORR_ROUNDING times its own mean square (a constant,
 * of which only rounding is left), is dead there and correlates 0 with all. 1e-10 is a standard
 * deviation 1e-5 of the liveliest unit's: far under that of any unit that does something (one that
 * fires at one pixel in 10^7 has a relative variance of 1e-7), far over what weight decay leaves of
 * a unit that it has killed.
 *
 * The L2 distance is the mean over the samples of (x - y)^2, neither centred nor scaled,
 *
 *     (Sxx + Syy - 2 Sxy) / n
 *
 * and what is kept of it is the negative, so that greater is better as everywhere. After the ReLU
 * or before it is for the moments to say. A dead unit needs no special case there: its distances
 * are as true as any other's, and an assignment may count on them. */
#ifndef MC_CORR_H
#define MC_CORR_H

#include "formats/codecs/matrices.h"
#include "formats/codecs/moments.h"
#include "libcommon/graph/permutation.h"

#define MC_CORR_DEAD 1e-10
#define MC_CORR_ROUNDING 1e-12

enum mc_measure { MC_MEASURE_CORRELATION, MC_MEASURE_L2, MC_N_MEASURES };

/* Their names in streams and on command lines, by enum mc_measure; then NULL. */
extern const char *const mc_measure_names[MC_N_MEASURES + 1];

/* One matrix a group: every pair of units has the mean of its values over the taps that see both.
 * Seen together at none, units correlate 0; their distance would be unknown, and is MC_EINPUT. A
 * unit is listed as dead when it is dead at every tap that sees it; by L2 none is. Release with
 * mc_matrices_release, also after an error. Returns 0, MC_EINPUT (also where a unit of a group is
 * seen nowhere, fewer than two samples were counted or a sum is not what sums of finite numbers can
 * be), MC_ENOMEM. */
MC_USE_RESULT int mc_corr_matrices(struct mc_matrices *out, const struct mc_moments *m,
                                   enum mc_measure measure, struct mc_error *err);

/* A layer (tap) of the signature: means of the correlation of a's unit i with b's unit i, and with
 * b's unit perm[i]. The headline is the mean over all units, a pair with a dead unit counting as 0,
 * as in the paper's figures; the `live` ones are over the pairs of which both units live (0 where
 * there is none). A pair that lies outside the tap counts as 0. */
struct mc_signature {
    char layer[MC_NAME_MAX];
    size_t units, dead_a, dead_b;
    double identity, permuted;
    double identity_live, permuted_live;
};

/* out: one a tap, in the order of the taps. perm NULL: the identity in both. Returns 0; MC_EINPUT
 * where the permutation is of other groups, or as mc_corr_matrices; MC_ENOMEM. */
MC_USE_RESULT int mc_corr_signature(struct mc_signature *out, const struct mc_moments *m,
                                    const struct mc_perm *perm, struct mc_error *err);

/* Read one more stream of moments into m: the first, or a shard that is added. r is closed. */
MC_USE_RESULT int mc_moments_add_stream(struct mc_moments *m, struct mc_reader *r, int is_first,
                                        struct mc_history *h, struct mc_error *err);

#endif
