/* SPDX-License-Identifier: Apache-2.0
 *
 * Attacks at the command line: --attack pgd:eps=8/255,step=2/255,steps=5, and mc-pgd's options of
 * the same names. */
#ifndef MC_ATTACK_CLI_H
#define MC_ATTACK_CLI_H

#include "tools/attack/attack.h"
#include "tools/cli/cli.h"

/* clang-format off */
/* --attack, a struct mc_attack_options */
#define MC_OPTION_ATTACK(at_, group_, help_, ...) \
    {"attack", 0, MC_OPT_OTHER, at_, .arg = "pgd[:KEY=VALUE,...]", .parse = mc_attack_parse, .keep = mc_attack_keep, \
     .help = help_ " (keys: eps, step, steps, restarts, norm linf or l2, start random or clean, target CLASS or +N; " \
     "eps and step as 8/255 or .03, in pixels of [0,1]; the options of mc-pgd say what they mean)", \
     .group = group_, __VA_ARGS__}
/* clang-format on */

/* Of a struct mc_attack_options: "pgd", or "pgd:" and what to set, one after another, commas
 * between. */
void mc_attack_parse(const char *option, const char *arg, void *value);
/* mc_attack_text as "attack". */
void mc_attack_keep(const void *value, struct mc_history *h, struct mc_checkpoint *s);
/* mc-pgd's options: the attack's keys. */
void mc_attack_cli_options(struct mc_attack_options *o, struct mc_cli *cli);

#endif
