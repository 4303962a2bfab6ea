/* SPDX-License-Identifier: Apache-2.0
 *
 * Attacks on the batches of a loader, once per model.
 *
 *     while (!rc && !(rc = mc_loader_next(&f, models, n_models, &n, err)) && n)
 *         if (!(rc = mc_batch_attack_load(&a, &f, n, err)))
 *             mc_batch_attack_run(&a, &f, &models[0], MC_MODE_EVAL); */
#ifndef MC_ATTACK_BATCHES_H
#define MC_ATTACK_BATCHES_H

#include "tools/attack/attack.h"
#include "tools/load/loader.h"

struct mc_batch_attack {
    struct mc_plan *plan; /* has backward, so that other plans compute the same bits as without an
                             attack; NULL: no attack */
    struct mc_attack attack;
    struct mc_backend *be;
    int classes;
    int32_t *host_targets; /* (B) */
};

/* o: resolved; NULL: no attack, and the other functions do nothing. purpose: enum mc_rng_purpose of
 * the random starts, which depend only on the loader's seed and the image's index. Release a also
 * after an error. */
MC_USE_RESULT int mc_batch_attack_open(struct mc_batch_attack *a, const struct mc_attack_options *o,
                                       uint32_t purpose, const struct mc_loader *f,
                                       const struct mc_graph *g, struct mc_error *err);
/* Load the n images that the loader has just delivered. Call it before mc_batch_attack_run. */
MC_USE_RESULT int mc_batch_attack_load(struct mc_batch_attack *a, const struct mc_loader *f,
                                       size_t n, struct mc_error *err);
/* Replace the pixels in the model's plan by adversarial examples against the model, until the plan
 * is loaded again (mc_loader_reload). mode: as in mc_attack_run. */
void mc_batch_attack_run(struct mc_batch_attack *a, const struct mc_loader *f,
                         const struct mc_model *m, enum mc_mode mode);
void mc_batch_attack_release(struct mc_batch_attack *a);

/* Device memory of an attack; 0 for NULL. */
MC_USE_RESULT int mc_batch_attack_bytes(struct mc_backend *be, const struct mc_attack_options *o,
                                        const struct mc_graph *g, size_t batch, size_t *bytes,
                                        struct mc_error *err);

#endif
