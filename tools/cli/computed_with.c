/* SPDX-License-Identifier: Apache-2.0
 *
 * A backend's facts, to a history and to a checkpoint. */
#include "tools/cli/computed_with.h"

void mc_computed_with_history(const struct mc_backend *be, struct mc_history *h)
{
    for (size_t i = 0; i < be->n_facts; i++)
        mc_history_late(h, be->facts[i].name, be->facts[i].value);
}

void mc_computed_with_checkpoint(const struct mc_backend *be, struct mc_checkpoint *s)
{
    for (size_t i = 0; i < be->n_facts; i++)
        mc_checkpoint_set(s, be->facts[i].name, "%s", be->facts[i].value);
}
