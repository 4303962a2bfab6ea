/* SPDX-License-Identifier: Apache-2.0
 *
 * A backend's facts (device, threads, instruction set, libraries, algorithms) in the history of a
 * stream whose numbers it computed, and in the settings that a checkpoint must share. */
#ifndef MC_COMPUTED_WITH_H
#define MC_COMPUTED_WITH_H

#include "formats/codecs/checkpoint.h"
#include "formats/stream/history.h"
#include "kernels/backend.h"

/* As they are when the history is written; `be` must be open then. */
void mc_computed_with_history(const struct mc_backend *be, struct mc_history *h);
/* As they are now; call it when the run's plans are made, which choose algorithms. */
void mc_computed_with_checkpoint(const struct mc_backend *be, struct mc_checkpoint *s);

#endif
