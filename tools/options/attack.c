/* SPDX-License-Identifier: Apache-2.0
 *
 * Command-line options of attacks. */
#include "tools/options/attack.h"

#include "formats/codecs/checkpoint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void parse_target(const char *option, const char *arg, void *value)
{
    struct mc_attack_options *o = value;

    o->targeted = 1;
    o->shift = *arg == '+';
    o->target = (int)mc_parse_u64(option, arg + o->shift, (uint64_t)o->shift, 1000000);
}

static const char *const norms[] = {"linf", "l2", NULL}, *const starts[] = {"random", "clean",
                                                                            NULL};

/* clang-format off */
#define AT(member) offsetof(struct mc_attack_options, member)
static const struct mc_option rows[] = {
    {"eps", 0, MC_OPT_REAL, AT(eps), .arg = "R", .max = 1e6, .group = 2,
     .help = "radius of the ball around each image, as 8/255 or .03; pixels are in [0,1] "
     "(default 8/255, for Tiny ImageNet 4/255; with l2 0.5)"},
    {"step", 0, MC_OPT_REAL, AT(step), .arg = "R", .max = 1e6, .group = 2,
     .help = "length of a step in the same norm: along the sign of the gradient for linf, along "
     "the gradient for l2 (default eps/4)"},
    {"steps", 0, MC_OPT_U64, AT(steps), .arg = "N", .min = 1, .max = 100000, .def = "5", .group = 2,
     .help = "steps per restart"},
    {"restarts", 0, MC_OPT_U64, AT(restarts), .arg = "N", .min = 1, .max = MC_ATTACK_MAX_RESTARTS, .def = "1",
     .group = 2, .help = "attack N times from different starts; keep, for each image, the example "
     "with the highest loss (with --target, the lowest)"},
    {"norm", 0, MC_OPT_CHOICE, AT(norm), .names = norms, .def = "linf", .group = 2,
     .help = "norm of the radius: linf limits the change of every value, l2 the Euclidean length "
     "of the whole change"},
    {"start", 0, MC_OPT_CHOICE, AT(clean_start), .names = starts, .def = "random", .group = 2,
     .help = "start at a random point of the ball, or at the clean image"},
    {"target", 0, MC_OPT_OTHER, 0, .arg = "CLASS|+N", .parse = parse_target, .group = 2,
     .help = "targeted attack: descend the loss of CLASS (from 0), or of the image's class plus "
     "N, instead of ascending the loss of the image's class"},
    {0}};
/* clang-format on */
enum { KEYS = sizeof rows / sizeof *rows - 1 };

void mc_attack_cli_options(struct mc_attack_options *o, struct mc_cli *cli)
{
    *o = (struct mc_attack_options){.eps = NAN, .step = NAN};
    mc_options_add(cli, rows, o);
}

void mc_attack_parse(const char *option, const char *arg, void *value)
{
    const char *names[KEYS + 1] = {0};
    char copy[256], key_option[64], *save = NULL;

    *(struct mc_attack_options *)value = (struct mc_attack_options){.eps = NAN, .step = NAN};
    for (size_t i = 0; i < KEYS; i++) {
        names[i] = rows[i].name;
        mc_option_set_default(&rows[i], rows[i].def, (char *)value + rows[i].offset);
    }
    if (strncmp(arg, "pgd", 3) || (arg[3] && arg[3] != ':'))
        mc_cli_usage("%s: unknown attack '%.*s' (pgd is the only one)", option,
                     (int)strcspn(arg, ":"), arg);
    if (!arg[3])
        return;
    if (strlen(arg) >= sizeof copy)
        mc_cli_usage("%s: '%.40s...' is too long", option, arg);
    memcpy(copy, arg + 4, strlen(arg + 4) + 1);
    for (char *key = strtok_r(copy, ",", &save); key; key = strtok_r(NULL, ",", &save)) {
        char *set = strchr(key, '=');
        if (!set)
            mc_cli_usage("%s: KEY=VALUE expected, got '%s'", option, key);
        *set++ = 0;
        const struct mc_option *row = &rows[mc_parse_choice(option, key, names)];
        snprintf(key_option, sizeof key_option, "%s %s", option, row->name);
        mc_option_set(row, key_option, set, (char *)value + row->offset);
    }
}

void mc_attack_record(const void *value, struct mc_history *h, struct mc_checkpoint *s)
{
    char text[MC_ATTACK_TEXT];

    mc_attack_text(value, text);
    h ? mc_history_str(h, "attack", text) : mc_checkpoint_set(s, "attack", "%s", text);
}
