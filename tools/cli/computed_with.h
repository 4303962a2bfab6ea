/* SPDX-License-Identifier: Apache-2.0
 *
 * What a backend computes with (its facts: device, threads, instruction set, libraries, table of
 * algorithms) where it is kept: in the history of a stream whose numbers it computed, and in the
 * settings that a checkpoint must share. */
#ifndef MC_COMPUTED_WITH_H
#define MC_COMPUTED_WITH_H

#include "formats/codecs/checkpoint.h"
#include "formats/stream/history.h"
#include "kernels/backend.h"

void mc_computed_with_history(const struct mc_backend *be, struct mc_history *h);
void mc_computed_with_checkpoint(const struct mc_backend *be, struct mc_checkpoint *s);

#endif
