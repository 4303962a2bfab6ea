/* SPDX-License-Identifier: Apache-2.0
 *
 * Command-line options of attacks: --attack pgd:eps=8/255,step=2/255,steps=5, and mc-pgd's options
 * with the same names. */
#ifndef MC_ATTACK_CLI_H
#define MC_ATTACK_CLI_H

#include "tools/attack/attack.h"
#include "tools/cli/cli.h"

/* clang-format off */
/* The row of --attack; its value is a struct mc_attack_options. */
#define MC_OPTION_ATTACK(at_, group_, help_, ...) \
    {"attack", 0, MC_OPT_OTHER, at_, .arg = "pgd[:KEY=VALUE,...]", .parse = mc_attack_parse, .record = mc_attack_record, \
     .help = help_ " (keys: eps, step, steps, restarts, norm linf or l2, start random or clean, target CLASS or +N; " \
     "eps and step as 8/255 or .03, for pixels in [0,1]; see mc-pgd --help)", \
     .group = group_, __VA_ARGS__}
/* clang-format on */

/* Parses "pgd" or "pgd:KEY=VALUE,..." into a struct mc_attack_options. */
void mc_attack_parse(const char *option, const char *arg, void *value);
/* Records the attack as text under "attack". */
void mc_attack_record(const void *value, struct mc_history *h, struct mc_checkpoint *s);
/* Adds the attack's keys as options, for mc-pgd. */
void mc_attack_cli_options(struct mc_attack_options *o, struct mc_cli *cli);

#endif
