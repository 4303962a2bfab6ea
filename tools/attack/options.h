/* SPDX-License-Identifier: Apache-2.0
 *
 * Attacks at the command line: --attack pgd:eps=8/255,step=2/255,steps=5, and mc-pgd's options of
 * the same names. */
#ifndef MC_ATTACK_CLI_H
#define MC_ATTACK_CLI_H

#include "tools/attack/attack.h"
#include "tools/cli/cli.h"

enum { MC_KEY_ATTACK = 0x4c00 };

/* clang-format off */
#define MC_OPTION_ATTACK(help, group) \
    {"attack", MC_KEY_ATTACK, "pgd[:KEY=VALUE,...]", 0, help " (keys: eps, step, steps, restarts, norm " \
     "linf or l2, start random or clean, target CLASS or +N; eps and step as 8/255 or .03, in pixels of [0,1]; " \
     "the options of mc-pgd say what they mean)", \
     group}
/* clang-format on */

/* "pgd", or "pgd:" and what to set, one after another, commas between. Usage errors end the
 * program. */
void mc_attack_parse(struct mc_attack_options *o, const char *arg);
/* One of them: name "eps", "step", "steps", "restarts", "norm", "start" or "target"; option is how
 * messages call it. */
void mc_attack_parse_one(struct mc_attack_options *o, const char *name, const char *option,
                         const char *value);

#endif
