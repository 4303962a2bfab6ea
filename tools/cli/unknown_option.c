/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/cli/unknown_option.h"

#include "libcommon/base/near.h"
#include "tools/cli/cli.h"

#include <string.h>

/* Names that PyTorch's scripts and other programs use for options of these programs. */
static const struct {
    const char *name, *replacement;
} others[] = {
    {"amp", "precision"},         {"arch", "net"},
    {"batch-size", "batch"},      {"bs", "batch"},
    {"cuda", "device"},           {"data-dir", "data"},
    {"dataset", "data"},          {"dtype", "precision"},
    {"fp16", "precision"},        {"gpu", "device"},
    {"jobs", "threads"},          {"l2", "weight-decay"},
    {"learning-rate", "lr"},      {"lr-schedule", "schedule"},
    {"lr-scheduler", "schedule"}, {"output-file", "output"},
    {"max-epochs", "epochs"},     {"model", "net"},
    {"network", "net"},           {"num-epochs", "epochs"},
    {"num-workers", "threads"},   {"outfile", "output"},
    {"permutation", "perm"},      {"pretrained", "init"},
    {"random-seed", "seed"},      {"save", "output"},
    {"scheduler", "schedule"},    {"train-data", "data"},
    {"wd", "weight-decay"},       {"weights", "init"},
    {"workers", "threads"},
};
#define N_OTHERS (sizeof others / sizeof *others)

/* Return the option with this letter, or NULL. */
static const struct argp_option *find_letter(const struct argp_option *o, int letter)
{
    while (o->name && o->key != letter)
        o++;
    return o->name ? o : NULL;
}

/* Return the option with this name of n bytes, or NULL. */
static const struct argp_option *find_name(const struct argp_option *o, const char *name, size_t n)
{
    while (o->name && (strlen(o->name) != n || strncmp(o->name, name, n) != 0))
        o++;
    return o->name ? o : NULL;
}

/* Return 1 if the names are the same, up to '_' for '-'. */
static int is_named(const char *name, const char *word, size_t n)
{
    size_t i = 0;

    while (i < n && name[i] && (name[i] == word[i] || (name[i] == '-' && word[i] == '_')))
        i++;
    return i == n && !name[i];
}

/* Return the option that the word of n bytes may stand for, or NULL. */
static const char *suggestion(const struct argp_option *options, const char *word, size_t n)
{
    struct mc_near near = mc_near(word, n);

    for (size_t i = 0; i < N_OTHERS; i++)
        if (is_named(others[i].name, word, n) &&
            find_name(options, others[i].replacement, strlen(others[i].replacement)))
            return others[i].replacement;
    for (const struct argp_option *o = options; o->name; o++)
        mc_near_try(&near, o->name);
    return near.best;
}

/* name: n bytes after "--". */
static void __attribute__((noreturn))
refuse_long(const struct argp_option *options, const char *name, size_t n)
{
    const struct argp_option *o = find_name(options, name, n), *first = NULL;
    char list[512] = "";
    size_t matches = 0;

    for (const struct argp_option *i = options; !o && i->name; i++)
        if (!strncmp(i->name, name, n)) {
            const size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, "%s--%s", matches++ ? ", " : "", i->name);
            first = first ? first : i;
        }
    if (matches > 1)
        mc_cli_usage("ambiguous option '--%.*s' (one of: %s)", (int)n, name, list);
    if (o || matches)
        mc_cli_usage("option '--%.*s' %s (see --help)", (int)n, name,
                     (o ? o : first)->arg ? "requires a value" : "does not accept a value");
    if (!strncmp(name, "optim", 5) && find_name(options, "momentum", 8))
        mc_cli_usage("unknown option '--%.*s' (SGD only: --lr, --momentum, --no-nesterov, "
                     "--weight-decay)",
                     (int)n, name);
    const char *replacement = suggestion(options, name, n);
    if (replacement)
        mc_cli_usage("unknown option '--%.*s', did you mean '--%s'? (see --help)", (int)n, name,
                     replacement);
    mc_cli_usage("unknown option '--%.*s' (see --help)", (int)n, name);
}

void mc_cli_check_single_dash(const struct argp_option *options, const char *word)
{
    const size_t n = strcspn(word, "=");

    if (n > 2 && word[0] == '-' && word[1] != '-' && find_name(options, word + 1, n - 1))
        mc_cli_usage("unknown option '%.*s', did you mean '-%.*s'? (see --help)", (int)n, word,
                     (int)n, word);
}

void mc_cli_refuse_option(const struct argp_option *options, const char *word)
{
    const struct argp_option *o = NULL;

    if (!strncmp(word, "--", 2))
        refuse_long(options, word + 2, strcspn(word + 2, "="));
    mc_cli_check_single_dash(options, word);
    do /* the first letter that is unknown or lacks its value */
        o = find_letter(options, *++word);
    while (o && !o->arg && word[1]);
    mc_cli_usage(o && o->arg ? "option '-%c' requires a value (see --help)"
                             : "unknown option '-%c' (see --help)",
                 *word);
}
