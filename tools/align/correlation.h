/* SPDX-License-Identifier: Apache-2.0
 *
 * Similarity of the units of two networks from their joint moments, by correlation or L2 distance,
 * and the correlation signature (mean correlation of matched units per layer). Source: Tatro et
 * al., "Optimizing Mode Connectivity via Neuron Alignment", NeurIPS 2020, sections 2.2 (matrices)
 * and 3 (signature), appendix C.3 (distances).
 *
 * A channel's samples are all its pixels in all images. The correlation of unit i of a and unit j
 * of b at a tap is
 *
 *     (Sxy - Sx Sy / n) / sqrt((Sxx - Sx^2 / n) (Syy - Sy^2 / n))
 *
 * computed in float64 from float64 sums, whose products are exact or float32 (kernels/backend.h).
 * The subtraction multiplies float64's relative error by at most the squared ratio of mean to
 * standard deviation.
 *
 * Dead units: a unit is dead at a tap if its variance there is at most MC_CORR_DEAD times the
 * largest variance of its network at that tap. It is also dead if the variance is at most
 * MC_CORR_ROUNDING times its own mean square (a constant with rounding noise). A dead unit
 * correlates 0 with all units. MC_CORR_DEAD, 1e-10, corresponds to a standard deviation of 1e-5 of
 * the most active unit's. Useful units are far above: a unit that is active at one pixel in 10^7
 * has a relative variance of 1e-7. Units killed by weight decay are far below.
 *
 * The L2 distance is the mean of (x - y)^2 over the samples, neither centred nor scaled:
 *
 *     (Sxx + Syy - 2 Sxy) / n
 *
 * Matrices contain its negative, so that larger is always better. The moments determine whether it is
 * measured before or after the ReLU. Dead units need no special case: their distances are valid,
 * and an assignment may use them.
 *
 * The second moment about 0 of a tap is divided by the Frobenius norms of both networks' activations,
 * over all units of the tap:
 *
 *     Sxy / sqrt(sum of Sxx * sum of Syy)
 *
 * A map M that maximises trace(M^T C) for the matrix C of these moments minimises |X - Y M^T|_F.
 * The mean is not subtracted, because a rotation about 0 carries no translation. */
#ifndef MC_CORRELATION_H
#define MC_CORRELATION_H

#include "formats/codecs/matrices.h"
#include "formats/codecs/moments.h"
#include "libcommon/permutation/permutation.h"

#define MC_CORR_DEAD 1e-10
#define MC_CORR_ROUNDING 1e-12

enum mc_measure { MC_MEASURE_CORRELATION, MC_MEASURE_L2, MC_MEASURE_MOMENT, MC_N_MEASURES };

/* Names in streams and on command lines, indexed by enum mc_measure; ends with NULL. */
extern const char *const mc_measure_names[MC_N_MEASURES + 1];

/* Compute one matrix per group. Each pair of units gets the mean of its values over the taps that
 * contain both; of moments the sum. A pair that shares no tap has correlation 0; its distance is unknown, so L2 fails
 * with MC_EINPUT. A unit is listed as dead if it is dead at every tap that contains it; only correlations
 * list any. Release with mc_matrices_release, also after an error. Returns 0, MC_EINPUT (also if a unit
 * has no tap, there are fewer than two samples, or a sum is impossible for finite numbers),
 * MC_ENOMEM. */
MC_USE_RESULT int mc_corr_matrices(struct mc_matrices *out, const struct mc_moments *m,
                                   enum mc_measure measure, struct mc_error *err);

/* One layer (tap) of the signature: mean correlations of a's unit i with b's unit i, and with b's
 * unit perm[i]. The main means are over all units and count a pair with a dead unit as 0, as the
 * paper's plots do. The `live` means are over pairs without dead units (0 if none exist). A pair
 * whose second unit is not in the tap counts as 0. */
struct mc_signature {
    char layer[MC_NAME_MAX];
    size_t units, dead_a, dead_b;
    double identity, permuted;
    double identity_live, permuted_live;
};

/* out: one entry per tap, in the taps' order. perm NULL: both columns are the identity's. Returns
 * 0, MC_EINPUT (as mc_perm_check_groups with the taps' groups, or as mc_corr_matrices), or
 * MC_ENOMEM. */
MC_USE_RESULT int mc_corr_signature(struct mc_signature *out, const struct mc_moments *m,
                                    const struct mc_perm *perm, struct mc_error *err);

/* Read a stream of moments into m: replace m if is_first, else add a shard to it. Closes r. */
MC_USE_RESULT int mc_moments_add_stream(struct mc_moments *m, struct mc_reader *r, int is_first,
                                        struct mc_history *h, struct mc_error *err);

#endif
