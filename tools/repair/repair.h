/* SPDX-License-Identifier: Apache-2.0
 *
 * REPAIR (Jordan, Sedghi, Saukh, Entezari and Neyshabur 2023, "REPAIR: REnormalizing Permuted
 * Activations for Interpolation Repair"). Each channel before a nonlinearity gets the weighted means
 * of the ends' means and standard deviations on the same images. The change is folded into the
 * parameters of the layer or norm that computes the channel (tools/repair/rescale.h).
 *
 * All networks run in evaluation mode. The ends need one pass over the images each. The network
 * needs one pass per level of layers, because a layer is measured after those before it have been
 * repaired; layers of one level do not depend on each other and share a pass. Means and deviations
 * are over images and pixels, summed in float64 in the order of the images, so the number of
 * threads does not change them. A network that is repaired with itself as all ends of a
 * positive weight is unchanged, bit for bit. */
#ifndef MC_REPAIR_H
#define MC_REPAIR_H

#include "formats/codecs/weights.h"
#include "kernels/model.h"
#include "tools/repair/rescale.h"
#include "tools/load/in_memory.h"

struct mc_repair_options {
    struct mc_backend *be;
    struct mc_in_memory *images; /* read into memory, of the network's shape */
    size_t batch;
    int augment;   /* by the data set's settings, with random numbers of MC_RNG_BN */
    uint64_t seed; /* for the augmentation */
    /* called after every batch with the images of all passes so far */
    void (*progress)(void *arg, uint64_t images_read);
    void *arg;
};

struct mc_channel_moments {
    double mean, deviation;
    int dead; /* the variance is 0, up to rounding: the deviation is 0 */
};

struct mc_repair {
    const struct mc_repair_options *o;
    const struct mc_graph *graph;
    struct mc_rescale rescale;
    size_t channels;                   /* their number in all listed nodes */
    size_t *first;                     /* (rescale.n) first channel of each node */
    struct mc_channel_moments *target; /* (channels) */
    double weight;                     /* sum of the ends' weights so far */
    size_t kept;                       /* channels left unchanged: no variance in the network */

    struct mc_channel_moments *measured; /* (channels) */
    double *sums;                        /* (2,channels): sums and sums of squares, shifted */
    double *shifts;                      /* (channels) */
    float *host;                         /* one tap */
    struct mc_model model;
    struct mc_bufs bufs;
    struct mc_buf *tap, *order, *ctl;
    int32_t *host_order; /* (batch) */
    uint64_t images_read;
};

/* Start a repair of networks with graph g. MC_EINPUT if no channel can be repaired. Release r also
 * after an error. */
MC_USE_RESULT int mc_repair_open(struct mc_repair *r, const struct mc_graph *g,
                                 const struct mc_repair_options *o, struct mc_error *err);
/* Measure an end of this weight, at least 0. The sum of weights must not be 0 when the network is
 * repaired. MC_EINPUT if an activation is not finite. */
MC_USE_RESULT int mc_repair_add_end(struct mc_repair *r, const struct mc_weights *end,
                                    double weight, struct mc_error *err);
/* Repair w in place, and set r->kept. */
MC_USE_RESULT int mc_repair_run(struct mc_repair *r, struct mc_weights *w, struct mc_error *err);
void mc_repair_release(struct mc_repair *r);

#endif
