/* SPDX-License-Identifier: Apache-2.0
 *
 * The start of every program: options and --help. */
#include "tools/cli/cli.h"

#include "formats/stream/output.h"
#include "formats/stream/reader.h"
#include "kernels/open/backends.h"
#include "tools/cli/exceptions.h"
#include "tools/cli/streams.h"
#include "tools/cli/unknown_option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *operands, *doc; /* arguments of mc_cli_parse */
static int unfinished;             /* index of the first word that is not completely parsed */

/* Print words, folded to 79 columns; further lines are indented like the first. */
static void fold(const char *text, const char *end, int indent)
{
    int col = indent, first = 1;

    while (text < end) {
        const int n = (int)strcspn(text, " \n");
        if (!first && col + 1 + n > 79) {
            printf("\n%*s", indent, "");
            col = indent;
            first = 1;
        }
        col += printf("%s%.*s", first ? "" : " ", n, text);
        text += n;
        if ((first = *text++ == '\n')) {
            putchar('\n');
            col = 0;
        }
    }
}

static void print_option(const struct mc_option_use *u)
{
    const struct mc_option *o = u->row;
    char text[1024];
    int col = printf(o->letter ? "  -%c, " : "      ", o->letter) + printf("--%s", o->name);

    if (o->arg || o->names)
        col += printf("=%s", o->arg ? o->arg : "");
    for (size_t i = 0; !o->arg && o->names && o->names[i]; i++)
        col += printf("%s%s", i ? "|" : "", o->names[i]);
    if (col > 27) { /* help2man needs two blanks before the text */
        putchar('\n');
        col = 0;
    }
    snprintf(text, sizeof text, u->def ? "%s (default %s)" : "%s", o->help, u->def);
    printf("%*s", 29 - col, "");
    fold(text, text + strlen(text), 29);
    putchar('\n');
}

/* value: the struct mc_cli */
static void help(const char *option, const char *arg, void *value)
{
    const struct mc_cli *cli = value;
    const struct mc_options *all = &cli->options;
    const char *more = strchr(doc, '\v') + 1, *examples = strstr(more, "Examples:\n");
    const char *use = operands, *statuses = "Exit status: 0 success, 1 failure, 2 usage error, 3 "
                                            "input damaged or of the wrong kind.";

    (void)option, (void)arg;
    printf("%.*s\n\n%s\n\nUsage:", (int)(more - 1 - doc), doc, examples);
    for (size_t n; use; use = use[n] ? use + n + 1 : NULL) {
        n = strcspn(use, "\n");
        printf("%s %s [OPTION...] %.*s\n", use == operands ? "" : "  or: ", cli->tool, (int)n, use);
    }
    puts("\nOptions:\n");
    for (int group = 0; group < 100; group++)
        for (size_t i = 0; i < all->n; i++)
            if (all->use[i].row->group == group)
                print_option(&all->use[i]);
    putchar('\n');
    fold(more, examples, 0);
    fold(statuses, statuses + strlen(statuses), 0);
    putchar('\n');
    exit(mc_cli_close_stdout(1) ? 1 : 0);
}

/* value: the struct mc_cli */
static void version(const char *option, const char *arg, void *value)
{
    const struct mc_cli *cli = value;
    char backends[1024];

    (void)option, (void)arg;
    mc_backends_describe(backends, sizeof backends);
    printf("%s (mc) %s\n", cli->tool, MC_VERSION);
#ifdef MC_COMMIT
    printf("commit %s\n", MC_COMMIT);
#endif
    printf("stream format %d\nbackends: %s\n", MC_FORMAT_VERSION, backends);
    exit(mc_cli_close_stdout(1) ? 1 : 0);
}

#define AT(member) offsetof(struct mc_cli, member)
static const struct mc_option common[] = {
    {"quiet", 'q', MC_OPT_FLAG, AT(quiet), .help = "print only errors and warnings", .group = 94},
    {"verbose", 'v', MC_OPT_FLAG, AT(verbose), .help = "print more detail", .group = 94},
    {"help", 'h', MC_OPT_OTHER, 0, .parse = help, .help = "print this help and exit", .group = 99},
    {"version", 0, MC_OPT_OTHER, 0, .parse = version, .help = "print the version and exit",
     .group = 99},
    {0}};

const char *const mc_yes_no[] = {"yes", "no", NULL};

enum { KEY = 0x4000 }; /* argp's key of the first row, if the row has no letter */

static int key(const struct mc_options *all, size_t i)
{
    return all->use[i].row->letter ? all->use[i].row->letter : KEY + (int)i;
}

static error_t set_value(struct mc_options *all, int which, const char *arg)
{
    char option[64];

    for (size_t i = 0; i < all->n; i++) {
        if (which != key(all, i))
            continue;
        snprintf(option, sizeof option, "--%s", all->use[i].row->name);
        mc_option_set(all->use[i].row, option, arg, all->use[i].value);
        all->use[i].given = 1;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static error_t parse(int which, char *arg, struct argp_state *state)
{
    struct mc_cli *cli = state->input;
    const char *word = state->next > 0 ? state->argv[state->next - 1] : NULL;

    switch (which) {
    case ARGP_KEY_ERROR:
        /* getopt moves to the next word after a word's last option: not yet if the refused letter
         * is followed by another */
        mc_cli_refuse_option(state->root_argp->options,
                             state->next == unfinished ? state->argv[state->next] : word);
    case ARGP_KEY_ARG:
        if (cli->n_operands == MC_MAX_OPERANDS)
            mc_cli_usage("more than %d operands", MC_MAX_OPERANDS);
        cli->operands[cli->n_operands++] = arg;
        unfinished = state->next;
        return 0;
    default:
        if (word && arg == word + 2) /* "-net": the value "et" of -n */
            mc_cli_check_single_dash(state->root_argp->options, word);
        if (set_value(&cli->options, which, arg))
            return ARGP_ERR_UNKNOWN;
        unfinished = state->next;
        return 0;
    }
}

static int is_given(const struct mc_options *all, const char *name)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->use[i].given && !strcmp(all->use[i].row->name, name))
            return 1;
    return 0;
}

/* Refuse an option that is given without an option that it needs. */
static void check_needs(const struct mc_options *all)
{
    for (const struct mc_option_use *u = all->use; u < all->use + all->n; u++)
        for (size_t k = 0; k < 2 && u->given && u->row->needs[k]; k++)
            if (!is_given(all, u->row->needs[k]))
                mc_cli_usage("--%s has no effect without --%s", u->row->name, u->row->needs[k]);
}

void mc_cli_parse(struct mc_cli *cli, const char *args, const char *text, int argc, char **argv)
{
    struct mc_options *all = &cli->options;
    struct argp_option list[MC_MAX_OPTIONS + 1] = {0};
    const struct argp argp = {.options = list, .parser = parse};
    /* IN_ORDER: otherwise POSIXLY_CORRECT would end the options at the first operand */
    const unsigned flags = ARGP_NO_HELP | ARGP_NO_ERRS | ARGP_IN_ORDER;

    mc_set_program_name(cli->tool);
    operands = args;
    doc = text;
    unfinished = 1;
    mc_options_add(cli, common, cli);
    for (size_t i = 0; i < all->n; i++) {
        const struct mc_option *o = all->use[i].row;
        mc_option_set_default(o, all->use[i].def, all->use[i].value);
        list[i] = (struct argp_option){.name = o->name,
                                       .key = key(all, i),
                                       .arg = o->arg     ? o->arg
                                              : o->names ? ""
                                                         : NULL};
    }
    mc_catch_exceptions(mc_message);
    mc_stream_catch_signals();
    cli->operands = calloc(MC_MAX_OPERANDS + 1, sizeof *cli->operands);
    error_t e = cli->operands ? argp_parse(&argp, argc, argv, flags, NULL, cli) : ENOMEM;
    if (e == ENOMEM) {
        mc_message("out of memory");
        exit(1);
    }
    if (e)
        mc_cli_usage("%s", strerror(e));
    check_needs(all);
}

void mc_cli_default_stdin(struct mc_cli *cli)
{
    if (!cli->n_operands)
        cli->operands[cli->n_operands++] = "-";
}
