/* SPDX-License-Identifier: Apache-2.0
 *
 * What every program of the suite does alike. */
#include "tools/cli/cli.h"

#include "formats/stream/output.h"
#include "formats/stream/reader.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program = "mc";

static void message(const char *fmt, va_list ap)
{
    char text[1024];

    vsnprintf(text, sizeof text, fmt, ap);
    fprintf(stderr, "%s: %s\n", program, text);
}

void mc_cli_usage(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    message(fmt, ap);
    va_end(ap);
    exit(2);
}

void mc_note(const struct mc_cli *cli, const char *fmt, ...)
{
    va_list ap;

    if (cli->quiet)
        return;
    va_start(ap, fmt);
    message(fmt, ap);
    va_end(ap);
}

void mc_detail(const struct mc_cli *cli, const char *fmt, ...)
{
    va_list ap;

    if (!cli->verbose)
        return;
    va_start(ap, fmt);
    message(fmt, ap);
    va_end(ap);
}

void mc_warn(const struct mc_cli *cli, const char *fmt, ...)
{
    va_list ap;

    (void)cli;
    va_start(ap, fmt);
    message(fmt, ap);
    va_end(ap);
}

static const char exit_statuses[] =
    "Exit status: 0 done, 1 failed, 2 usage, 3 input damaged or not what it should be.";

/* What --help begins with, cut out of argp's doc, since argp would begin with the usage. */
static char *purpose, *examples;

/* doc: "Purpose.\vExplanation.\n\nExamples:\n  ...". Returns argp's share of it, or NULL. */
static char *split_doc(const char *doc)
{
    const char *post = strchr(doc, '\v'), *shown = strstr(doc, "Examples:\n");
    char *rest = NULL;

    if (!post || !shown)
        return NULL;
    purpose = strndup(doc, (size_t)(post - doc));
    examples = strdup(shown);
    if (!purpose || !examples ||
        asprintf(&rest, "\nOptions:%.*s%s", (int)(shown - post), post, exit_statuses) < 0)
        return NULL;
    return rest;
}

/* The option with this long name (n bytes) or letter, or NULL. */
static const struct argp_option *find(const struct argp_option *o, const char *name, size_t n,
                                      int key)
{
    for (; o->name || o->key; o++)
        if (name ? o->name && strlen(o->name) == n && !strncmp(name, o->name, n) : o->key == key)
            return o;
    return NULL;
}

/* The one line about an option that argp refused; argp's own are two, and name --usage. */
static void __attribute__((noreturn)) refuse(const struct argp_option *options, const char *arg)
{
    size_t n = strcspn(arg, "=");
    const struct argp_option *o = NULL;

    if (!strncmp(arg, "--", 2)) {
        o = find(options, arg + 2, n - 2, 0);
        if (o)
            mc_cli_usage("option '%.*s' %s (see --help)", (int)n, arg,
                         o->arg ? "needs a value" : "takes no value");
        mc_cli_usage("there is no option '%.*s', or there are several (see --help)", (int)n, arg);
    }
    /* letters: the first that is none, or that wants a value */
    do
        o = find(options, NULL, 0, *++arg);
    while (o && !o->arg && arg[1]);
    mc_cli_usage(o && o->arg ? "option '-%c' needs a value (see --help)"
                             : "there is no option '-%c' (see --help)",
                 *arg);
}

void mc_cli_parse(struct mc_cli *cli, const struct argp *argp, int argc, char **argv, void *input)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    struct argp whole = *argp;
    char *doc = NULL;

    program = slash ? slash + 1 : argc > 0 ? argv[0] : "mc";
    cli->tool = program;
    cli->seed = 1;
    mc_stream_catch_signals();
    if (!(doc = split_doc(argp->doc)) ||
        !(cli->operands = calloc(MC_MAX_OPERANDS, sizeof *cli->operands))) {
        fprintf(stderr, "%s: out of memory\n", program);
        exit(1);
    }
    whole.doc = doc;
    error_t e = argp_parse(&whole, argc, argv, ARGP_NO_HELP | ARGP_NO_ERRS, NULL, input);
    free(doc);
    if (e)
        mc_cli_usage("%s", strerror(e));
}

/* Whether all of stdout could be written, told unless something worse was. */
static int close_stdout(int tell)
{
    int bad = ferror(stdout);

    if (!fclose(stdout) && !bad)
        return 0;
    if (tell)
        fprintf(stderr, "%s: cannot write stdout: %s\n", program, strerror(errno));
    return -1;
}

static const char *const yes_no[] = {"yes", "no", NULL};

error_t mc_cli_option(struct mc_cli *cli, int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case 'o':
        cli->output = arg;
        return 0;
    case 't':
        cli->backend.threads = (int)mc_parse_u64("--threads", arg, 1, 1024);
        return 0;
    case 'q':
        cli->quiet = 1;
        cli->no_progress = 1;
        return 0;
    case 'v':
        cli->verbose = 1;
        return 0;
    case 'h':
        printf("%s\n\n%s\n\n", purpose, examples);
        argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP, state->name);
        exit(close_stdout(1) ? 1 : 0);
    case MC_KEY_VERSION:
        printf("%s (mc) %s\nstream format %d; backends: cpu (oneDNN)\n", cli->tool, MC_VERSION,
               MC_FORMAT_VERSION);
        exit(close_stdout(1) ? 1 : 0);
    case MC_KEY_DEVICE:
        cli->backend.device = arg;
        return 0;
    case MC_KEY_PRECISION:
        cli->backend.precision =
            (enum mc_precision)mc_parse_choice("--precision", arg, mc_precision_names);
        return 0;
    case MC_KEY_DETERMINISTIC:
        cli->backend.any_order = mc_parse_choice("--deterministic", arg, yes_no);
        return 0;
    case MC_KEY_SEED:
        cli->seed = mc_parse_u64("--seed", arg, 0, INT64_MAX);
        return 0;
    case MC_KEY_LOG_JSON:
        cli->log_path = arg;
        return 0;
    case MC_KEY_NO_PROGRESS:
        cli->no_progress = 1;
        return 0;
    case MC_KEY_NO_HISTORY:
        cli->no_history = 1;
        return 0;
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
        return ARGP_ERR_UNKNOWN;
    }
}

int mc_cli_exit(struct mc_cli *cli, int code, const struct mc_error *err)
{
    free(cli->operands);
    cli->operands = NULL;
    mc_files_release(&cli->files);
    if (code)
        fprintf(stderr, "%s: %s\n", program, err->text);
    if (close_stdout(!code))
        code = code ? code : MC_EFAIL;
    return mc_exit_status(code);
}

void mc_cli_file(struct mc_cli *cli, enum mc_file_role role, const char *option, const char *path)
{
    mc_files_add(&cli->files, role, option, path);
}

int mc_cli_ready(struct mc_cli *cli, int binary, struct mc_error *err)
{
    const char *output = cli->output ? cli->output : "-";

    for (size_t i = 0; !cli->own_operands && i < cli->n_operands; i++)
        mc_cli_file(cli, MC_FILE_INPUT, NULL, cli->operands[i]);
    mc_cli_file(cli, MC_FILE_MAIN, "--output", output);
    mc_cli_file(cli, MC_FILE_LOG, "--log-json", cli->log_path);
    if (binary && !strcmp(output, "-") && isatty(STDOUT_FILENO))
        return mc_fail(err, MC_EUSAGE, "will not write a binary stream to a terminal (use -o)");
    return mc_files_check(&cli->files, err);
}

int mc_cli_write(const char *path, const char *text, size_t bytes, struct mc_error *err)
{
    struct mc_output *o = NULL;
    int rc = mc_output_open(&o, path, MC_OUTPUT_TEXT, err);

    if (rc)
        return rc;
    if ((rc = mc_output_write(o, text, bytes, err))) {
        mc_output_abandon(o);
        return rc;
    }
    return mc_output_close(o, err);
}

uint64_t mc_parse_u64(const char *option, const char *arg, uint64_t min, uint64_t max)
{
    char *end = NULL;

    errno = 0;
    unsigned long long v = strtoull(arg, &end, 10);
    if (*arg < '0' || *arg > '9' || *end || errno || v < min || v > max) {
        if (max == UINT64_MAX)
            mc_cli_usage("%s: '%s' is not a whole number of at least %llu", option, arg,
                         (unsigned long long)min);
        mc_cli_usage("%s: '%s' is not a whole number from %llu to %llu", option, arg,
                     (unsigned long long)min, (unsigned long long)max);
    }
    return v;
}

/* strtod takes hexadecimal, "inf" and leading blanks; users' numbers have none of these. */
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

double mc_parse_f64(const char *option, const char *arg, double min, double max)
{
    const char *end = arg;
    double v = 0, d = 1;
    int ok = plain_real(arg, &end, &v);

    if (ok && *end == '/')
        ok = plain_real(end + 1, &end, &d) && d != 0;
    v /= d;
    if (!ok || *end || !(v >= min && v <= max)) {
        if (isfinite(max))
            mc_cli_usage("%s: '%s' is not a number from %g to %g", option, arg, min, max);
        mc_cli_usage("%s: '%s' is not a number of at least %g", option, arg, min);
    }
    return v;
}

void mc_parse_range(const char *option, const char *arg, double min, double max, double range[2])
{
    char from[64];
    size_t n = strcspn(arg, ":");

    if (!arg[n] || n >= sizeof from)
        mc_cli_usage("%s: '%s' is not FROM:TO", option, arg);
    memcpy(from, arg, n);
    from[n] = 0;
    range[0] = mc_parse_f64(option, from, min, max);
    range[1] = mc_parse_f64(option, arg + n + 1, min, max);
    if (!(range[0] < range[1]))
        mc_cli_usage("%s: '%s' does not grow", option, arg);
}

int mc_parse_choice(const char *option, const char *arg, const char *const *choices)
{
    char list[512] = "";

    for (int i = 0; choices[i]; i++) {
        if (!strcmp(choices[i], arg))
            return i;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", choices[i]);
    }
    mc_cli_usage("%s: there is no '%s' (there are: %s)", option, arg, list);
}

/* ---- progress ---------------------------------------------------------------------------------
 */

void mc_progress_begin(struct mc_progress *p, const struct mc_cli *cli, const char *what,
                       const char *unit, uint64_t total)
{
    memset(p, 0, sizeof *p);
    p->cli = cli;
    p->what = what;
    p->unit = unit;
    p->total = total;
    p->start = mc_now();
    p->shown = !cli->no_progress && isatty(STDERR_FILENO);
}

int mc_progress_due(const struct mc_progress *p)
{
    return p->shown && mc_now() - p->last >= .1;
}

void mc_progress_update(struct mc_progress *p, uint64_t done, const char *extra)
{
    double now = mc_now(), took = now - p->start;

    if (!p->shown || now - p->last < .1)
        return;
    p->last = now;
    double rate = took > 0 ? (double)done / took : 0;
    fprintf(stderr, "\r%s: %s ", program, p->what);
    if (p->total) {
        double left = rate > 0 ? (double)(p->total - done) / rate : 0;
        fprintf(stderr, "%3.0f%%  %.0f %s/s  %.0f:%02.0f left",
                100. * (double)done / (double)p->total, rate, p->unit, floor(left / 60),
                floor(fmod(left, 60)));
    } else {
        fprintf(stderr, "%llu %s  %.0f/s", (unsigned long long)done, p->unit, rate);
    }
    fprintf(stderr, "  %s\033[K", extra ? extra : "");
}

void mc_progress_end(struct mc_progress *p)
{
    if (p->shown && p->last > 0)
        fputs("\r\033[K", stderr);
    p->shown = 0;
}
