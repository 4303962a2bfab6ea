/* SPDX-License-Identifier: Apache-2.0
 *
 * Attacks at the command line. */
#include "tools/attack/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"eps",  "step",  "steps",  "restarts",
                                    "norm", "start", "target", NULL};

void mc_attack_parse_one(struct mc_attack_options *o, const char *name, const char *option,
                         const char *value)
{
    static const char *const norms[] = {"linf", "l2", NULL}, *const starts[] = {"random", "clean",
                                                                                NULL};

    if (!strcmp(name, "eps"))
        o->eps = mc_parse_f64(option, value, 0, 1e6);
    else if (!strcmp(name, "step"))
        o->step = mc_parse_f64(option, value, 0, 1e6);
    else if (!strcmp(name, "steps"))
        o->steps = mc_parse_u64(option, value, 1, 100000);
    else if (!strcmp(name, "restarts"))
        o->restarts = mc_parse_u64(option, value, 1, MC_ATTACK_MAX_RESTARTS);
    else if (!strcmp(name, "norm"))
        o->norm = (enum mc_ball_norm)mc_parse_choice(option, value, norms);
    else if (!strcmp(name, "start"))
        o->clean_start = mc_parse_choice(option, value, starts);
    else {
        o->targeted = 1;
        o->shift = *value == '+';
        o->target = (int)mc_parse_u64(option, value + o->shift, (uint64_t)o->shift, 1000000);
    }
}

void mc_attack_parse(struct mc_attack_options *o, const char *arg)
{
    char copy[256], option[64], *save = NULL;

    mc_attack_defaults(o);
    if (strncmp(arg, "pgd", 3) || (arg[3] && arg[3] != ':'))
        mc_cli_usage("--attack: there is no '%.*s' (there are: pgd)", (int)strcspn(arg, ":"), arg);
    if (!arg[3])
        return;
    if (strlen(arg) >= sizeof copy)
        mc_cli_usage("--attack: '%.40s...' is too long", arg);
    memcpy(copy, arg + 4, strlen(arg + 4) + 1);
    for (char *key = strtok_r(copy, ",", &save); key; key = strtok_r(NULL, ",", &save)) {
        char *value = strchr(key, '=');
        if (!value)
            mc_cli_usage("--attack: '%s' is not KEY=VALUE", key);
        *value++ = 0;
        mc_parse_choice("--attack", key, names);
        snprintf(option, sizeof option, "--attack %s", key);
        mc_attack_parse_one(o, key, option, value);
    }
}
