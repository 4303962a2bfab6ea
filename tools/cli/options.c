/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of options: parsing them, and recording them in histories and checkpoints. */
#include "formats/codecs/checkpoint.h"
#include "formats/stream/history.h"
#include "libcommon/base/near.h"
#include "tools/cli/cli.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values from text ---- */

uint64_t mc_parse_u64(const char *option, const char *arg, uint64_t min, uint64_t max)
{
    char *end = NULL;

    errno = 0;
    unsigned long long v = strtoull(arg, &end, 10);
    if (*arg < '0' || *arg > '9' || *end || errno || v < min || v > max)
        mc_cli_usage("%s: '%s' is not a whole number from %llu to %llu", option, arg,
                     (unsigned long long)min, (unsigned long long)max);
    return v;
}

/* Parse a number. Unlike strtod, reject hexadecimal numbers, "inf" and leading blanks. */
static int plain_real(const char *s, const char **end, double *out)
{
    size_t n = strspn(s, "0123456789+-.eE");
    char buf[64], *stop = NULL;

    if (!n || n >= sizeof buf)
        return 0;
    memcpy(buf, s, n);
    buf[n] = 0;
    errno = 0;
    *out = strtod(buf, &stop);
    *end = s + n;
    return *stop == 0 && isfinite(*out) && !(errno == ERANGE && *out != 0);
}

double mc_parse_real(const char *option, const char *arg, double min, double max)
{
    const char *end = arg;
    double v = 0, d = 1;
    int ok = plain_real(arg, &end, &v);

    if (ok && *end == '/')
        ok = plain_real(end + 1, &end, &d) && d != 0;
    v /= d;
    if (!ok || *end || !(v >= min && v <= max))
        mc_cli_usage("%s: '%s' is not a number from %g to %g", option, arg, min, max);
    return v;
}

static void parse_range(const char *option, const char *arg, double min, double max,
                        double range[2])
{
    char from[64];
    size_t n = strcspn(arg, ":");

    if (!arg[n] || n >= sizeof from)
        mc_cli_usage("%s: FROM:TO expected, got '%s'", option, arg);
    memcpy(from, arg, n);
    from[n] = 0;
    range[0] = mc_parse_real(option, from, min, max);
    range[1] = mc_parse_real(option, arg + n + 1, min, max);
    if (!(range[0] < range[1]))
        mc_cli_usage("%s: FROM must be less than TO (got '%s')", option, arg);
}

int mc_parse_choice(const char *option, const char *arg, const char *const *choices)
{
    char list[512] = "", suggestion[MC_NEAR_TEXT];
    struct mc_near near = mc_near(arg, strlen(arg));

    for (int i = 0; choices[i]; i++) {
        mc_near_try(&near, choices[i]);
        if (!strcmp(choices[i], arg))
            return i;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", choices[i]);
    }
    mc_cli_usage("%s: unknown value '%s'%s (one of: %s)", option, arg,
                 mc_near_text(&near, suggestion), list);
}

void mc_option_set(const struct mc_option *row, const char *option, const char *arg, void *value)
{
    switch (row->type) {
    case MC_OPT_FLAG:
        *(int *)value = !(row->flags & MC_OPT_CLEARS);
        break;
    case MC_OPT_U64:
        *(uint64_t *)value = mc_parse_u64(option, arg, (uint64_t)row->min, (uint64_t)row->max);
        break;
    case MC_OPT_INT:
        *(int *)value = (int)mc_parse_u64(option, arg, (uint64_t)row->min, (uint64_t)row->max);
        break;
    case MC_OPT_REAL:
        *(double *)value = mc_parse_real(option, arg, (double)row->min, (double)row->max);
        break;
    case MC_OPT_RANGE:
        parse_range(option, arg, (double)row->min, (double)row->max, value);
        break;
    case MC_OPT_CHOICE:
        *(int *)value = mc_parse_choice(option, arg, row->names);
        break;
    case MC_OPT_OTHER:
        row->parse(option, arg, value);
        break;
    default:
        *(const char **)value = arg;
    }
}

void mc_option_set_default(const struct mc_option *row, const char *def, void *value)
{
    if (def)
        mc_option_set(row, row->name, def, value);
    else if (row->flags & MC_OPT_CLEARS)
        *(int *)value = 1;
}

/* ---- rows, and which of them were given ---- */

void mc_options_add(struct mc_cli *cli, const struct mc_option *rows, void *base)
{
    struct mc_options *all = &cli->options;

    for (; rows->name; rows++) {
        assert(all->n < MC_MAX_OPTIONS);
        all->use[all->n++] = (struct mc_option_use){
            .row = rows, .base = base, .value = (char *)base + rows->offset, .def = rows->def};
    }
}

/* Return the row that sets this value, or NULL. */
static const struct mc_option_use *find(const struct mc_cli *cli, const void *value)
{
    const struct mc_options *all = &cli->options;

    for (const struct mc_option_use *u = all->use; u < all->use + all->n; u++)
        if (u->value == value)
            return u;
    return NULL;
}

void mc_option_default(struct mc_cli *cli, const void *value, const char *def)
{
    cli->options.use[find(cli, value) - cli->options.use].def = def;
}

const char *mc_option_given(const struct mc_cli *cli, const void *value)
{
    const struct mc_option_use *u = find(cli, value);

    return u->given ? u->row->name : NULL;
}

const char *mc_option_idle(const struct mc_cli *cli, unsigned uses)
{
    const struct mc_options *all = &cli->options;

    for (const struct mc_option_use *u = all->use; u < all->use + all->n; u++)
        if (u->given && u->row->only && !(u->row->only & uses))
            return u->row->name;
    return NULL;
}

/* ---- histories and checkpoints ---- */

/* Record a value; in a history, only if it has a default or was given. */
static void record(const struct mc_option_use *u, struct mc_history *h, struct mc_checkpoint *s)
{
    static const char *const off_on[] = {"off", "on", NULL};
    const struct mc_option *o = u->row;
    const char *name = s && o->saved ? o->saved : o->name;
    const double *real = u->value;

    if (!u->given && !u->def && (h || o->type == MC_OPT_OTHER))
        return;
    switch (o->type) {
    case MC_OPT_FLAG:
        h ? mc_history_int(h, name, 1)
          : mc_checkpoint_set_choice(s, name, *(int *)u->value, off_on);
        break;
    case MC_OPT_U64:
        h ? mc_history_int(h, name, *(int64_t *)u->value)
          : mc_checkpoint_set(s, name, "%llu", (unsigned long long)*(uint64_t *)u->value);
        break;
    case MC_OPT_REAL:
        h ? mc_history_num(h, name, *real) : mc_checkpoint_set(s, name, "%.17g", *real);
        break;
    case MC_OPT_CHOICE:
        h ? mc_history_str(h, name, o->names[*(int *)u->value])
          : mc_checkpoint_set_choice(s, name, *(int *)u->value, o->names);
        break;
    case MC_OPT_RANGE:
        mc_checkpoint_set(s, name, "%.17g:%.17g", real[0], real[1]);
        break;
    case MC_OPT_OTHER:
        o->record(u->value, h, s);
        break;
    default: /* a file: its content id is recorded by its reader */
        break;
    }
}

void mc_options_note(const struct mc_cli *cli, const void *base, struct mc_history *h)
{
    for (size_t i = 0; i < cli->options.n; i++)
        if (cli->options.use[i].base == base && cli->options.use[i].row->flags & MC_OPT_HISTORY)
            record(&cli->options.use[i], h, NULL);
}

void mc_options_save(const struct mc_cli *cli, const void *base, struct mc_checkpoint *s)
{
    for (size_t i = 0; i < cli->options.n; i++)
        if (cli->options.use[i].base == base && cli->options.use[i].row->flags & MC_OPT_IDENTITY)
            record(&cli->options.use[i], NULL, s);
}

void mc_option_note(const struct mc_cli *cli, const void *value, struct mc_history *h)
{
    record(find(cli, value), h, NULL);
}

void mc_option_save(const struct mc_cli *cli, const void *value, struct mc_checkpoint *s)
{
    record(find(cli, value), NULL, s);
}
