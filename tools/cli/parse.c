/* SPDX-License-Identifier: Apache-2.0
 *
 * How every program of the suite begins and ends: options, --help, files, exit status. */
#include "tools/cli/cli.h"

#include "formats/stream/output.h"
#include "formats/stream/reader.h"
#include "formats/stream/history.h"
#include "kernels/open/backends.h"
#include "libcommon/base/near.h"
#include "tools/cli/streams.h"
#include "tools/cli/thrown.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- options ---- */

/* Whether all of stdout could be written, told unless something worse was. */
static int close_stdout(int tell)
{
    const int code = mc_cli_close_stdout();

    if (code && tell) {
        char text[128];
        snprintf(text, sizeof text, "cannot write stdout: %s", strerror(code));
        mc_tell(text);
    }
    return code ? -1 : 0;
}

static const char *operands, *doc; /* mc_cli_parse's */

/* Words folded to 79 columns, the lines behind the first indented as it is. */
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
    if (col > 27) { /* help2man wants two blanks before the text */
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
    const struct mc_options *all = &((const struct mc_cli *)value)->options;
    const char *more = strchr(doc, '\v') + 1, *examples = strstr(more, "Examples:\n");
    const char *use = operands, *statuses = "Exit status: 0 done, 1 failed, 2 usage, 3 input "
                                            "damaged or not what it should be.";

    (void)option, (void)arg;
    printf("%.*s\n\n%s\n\nUsage:", (int)(more - 1 - doc), doc, examples);
    for (size_t n; use; use = use[n] ? use + n + 1 : NULL) {
        n = strcspn(use, "\n");
        printf("%s %s [OPTION...] %.*s\n", use == operands ? "" : "  or: ", mc_program_name(),
               (int)n, use);
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
    exit(close_stdout(1) ? 1 : 0);
}

static void version(const char *option, const char *arg, void *value)
{
    char backends[1024];

    (void)option, (void)arg, (void)value;
    mc_backends_describe(backends, sizeof backends);
    printf("%s (mc) %s\nstream format %d\nbackends: %s\n", mc_program_name(), MC_VERSION,
           MC_FORMAT_VERSION, backends);
    exit(close_stdout(1) ? 1 : 0);
}

#define AT(member) offsetof(struct mc_cli, member)
static const struct mc_option common[] = {
    {"quiet", 'q', MC_OPT_FLAG, AT(quiet), .help = "errors only", .group = 94},
    {"verbose", 'v', MC_OPT_FLAG, AT(verbose), .help = "say more", .group = 94},
    {"help", 'h', MC_OPT_OTHER, 0, .parse = help, .help = "print this and exit", .group = 99},
    {"version", 0, MC_OPT_OTHER, 0, .parse = version, .help = "print the version and exit",
     .group = 99},
    {0}};

const char *const mc_yes_no[] = {"yes", "no", NULL};

enum { KEY = 0x4000 }; /* of the first row that has no letter */

static int key(const struct mc_options *all, size_t i)
{
    return all->use[i].row->letter ? all->use[i].row->letter : KEY + (int)i;
}

/* The option with this letter, or NULL. */
static const struct argp_option *find(const struct argp_option *o, int letter)
{
    while (o->name && o->key != letter)
        o++;
    return o->name ? o : NULL;
}

/* argp refused this long option, n bytes behind "--". */
static void __attribute__((noreturn))
refuse_long(const struct argp_option *options, const char *name, size_t n)
{
    const struct argp_option *o = NULL;
    struct mc_near near = mc_near(name, n);
    size_t begin = 0; /* so many begin with it */

    for (const struct argp_option *i = options; i->name; i++) {
        mc_near_try(&near, i->name);
        if (strncmp(i->name, name, n))
            continue;
        begin++;
        o = i;
        if (strlen(i->name) == n) {
            begin = 1;
            break;
        }
    }
    if (begin == 1)
        mc_cli_usage("option '--%.*s' %s (see --help)", (int)n, name,
                     o->arg ? "needs a value" : "takes no value");
    if (begin)
        mc_cli_usage("option '--%.*s' may be one of %zu, '--%s' among them (see --help)", (int)n,
                     name, begin, o->name);
    if (near.best)
        mc_cli_usage("there is no option '--%.*s', did you mean '--%s'? (see --help)", (int)n, name,
                     near.best);
    mc_cli_usage("there is no option '--%.*s' (see --help)", (int)n, name);
}

/* The one line about an option that argp refused; argp's own are two, and name --usage. */
static void __attribute__((noreturn)) refuse(const struct argp_option *options, const char *arg)
{
    const struct argp_option *o = NULL;

    if (!strncmp(arg, "--", 2))
        refuse_long(options, arg + 2, strcspn(arg + 2, "="));
    /* letters: the first that is none, or that wants a value */
    do
        o = find(options, *++arg);
    while (o && !o->arg && arg[1]);
    mc_cli_usage(o && o->arg ? "option '-%c' needs a value (see --help)"
                             : "there is no option '-%c' (see --help)",
                 *arg);
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

    switch (which) {
    case ARGP_KEY_ERROR:
        /* within a cluster of short options getopt has not yet gone on to the next word */
        refuse(state->root_argp->options,
               state->argv[*state->argv[state->next - 1] == '-' ? state->next - 1 : state->next]);
    case ARGP_KEY_ARG:
        if (cli->n_operands == MC_MAX_OPERANDS)
            mc_cli_usage("more than %d operands", MC_MAX_OPERANDS);
        cli->operands[cli->n_operands++] = arg;
        return 0;
    default:
        return set_value(&cli->options, which, arg);
    }
}

static int named(const struct mc_options *all, const char *name)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->use[i].given && !strcmp(all->use[i].row->name, name))
            return 1;
    return 0;
}

/* An option whose others are not there. */
static void check_needs(const struct mc_options *all)
{
    for (const struct mc_option_use *u = all->use; u < all->use + all->n; u++)
        for (size_t k = 0; k < 2 && u->given && u->row->needs[k]; k++)
            if (!named(all, u->row->needs[k]))
                mc_cli_usage("--%s has no effect without --%s", u->row->name, u->row->needs[k]);
}

/* The name it was called by; "mc" where that is not of printable ASCII. */
static const char *called(int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";

    for (const char *c = name; *c; c++)
        if (*c <= ' ' || *c > '~')
            return "mc";
    return *name ? name : "mc";
}

void mc_cli_parse(struct mc_cli *cli, const char *args, const char *text, int argc, char **argv)
{
    struct mc_options *all = &cli->options;
    struct argp_option list[MC_MAX_OPTIONS + 1] = {0};
    const struct argp argp = {.options = list, .parser = parse};
    /* in order: else POSIXLY_CORRECT would end the options at the first operand */
    const unsigned flags = ARGP_NO_HELP | ARGP_NO_ERRS | ARGP_IN_ORDER;

    cli->tool = called(argc, argv);
    mc_set_program_name(cli->tool);
    operands = args;
    doc = text;
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
    mc_catch_thrown(mc_tell);
    mc_stream_catch_signals();
    cli->operands = calloc(MC_MAX_OPERANDS, sizeof *cli->operands);
    error_t e = cli->operands ? argp_parse(&argp, argc, argv, flags, NULL, cli) : ENOMEM;
    if (e == ENOMEM) {
        mc_tell("out of memory");
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

/* In a pipe of which nothing comes, the last program says so: the programs between do not repeat
 * it. */
static int passes_on(const struct mc_cli *cli, const struct mc_error *err)
{
    struct stat st;

    return err->empty_pipe && !cli->text && (!cli->output || !strcmp(cli->output, "-")) &&
           !fstat(STDOUT_FILENO, &st) && S_ISFIFO(st.st_mode);
}

int mc_cli_exit(struct mc_cli *cli, int code, const struct mc_error *err)
{
    mc_history_free(cli->history);
    free(cli->operands);
    mc_files_release(&cli->files);
    if (code && !passes_on(cli, err))
        mc_tell(err->text);
    if (close_stdout(!code))
        code = code ? code : MC_EFAIL;
    if (!code)
        mc_tell_ending();
    return mc_exit_status(code);
}

int mc_cli_ready(struct mc_cli *cli, struct mc_error *err)
{
    const char *output = cli->output ? cli->output : "-";

    for (size_t i = 0; !cli->own_operands && i < cli->n_operands; i++)
        mc_files_add(&cli->files, MC_FILE_INPUT, NULL, cli->operands[i]);
    for (struct mc_option_use *u = cli->options.use; u < cli->options.use + cli->options.n; u++)
        if (u->row->type == MC_OPT_INPUT || u->row->type == MC_OPT_RESULT)
            mc_files_add(&cli->files, u->row->type == MC_OPT_INPUT ? MC_FILE_INPUT : MC_FILE_OUTPUT,
                         u->row->name, *(const char **)u->value);
    mc_files_add(&cli->files, MC_FILE_MAIN, "output", output);
    mc_files_add(&cli->files, MC_FILE_LOG, "log-json", cli->log_path);
    if (!cli->text && !strcmp(output, "-") && isatty(STDOUT_FILENO))
        return mc_fail(err, MC_EUSAGE, "will not write a binary stream to a terminal (use -o)");
    return mc_files_check(&cli->files, err);
}
