/* SPDX-License-Identifier: Apache-2.0
 *
 * What a user's hands expect of every program: the same option names, messages, exit statuses,
 * progress and logs. The programs and tools/options include it; the libraries below, which
 * LAYERS keeps from it, print and parse nothing.
 *
 *     static const struct mc_option options[] = {
 *         {"samples", 'n', MC_OPT_U64, MC_AT(samples), .arg = "N", .min = 1, .max = UINT32_MAX,
 *          .help = "first N images"},
 *         MC_OPTION_OUTPUT, MC_OPTION_THREADS, {0}};
 *
 *     MC_PROGRAM("FILE...", doc, options, .run = run)
 *
 * Operands are taken from cli.operands. */
#ifndef MC_CLI_H
#define MC_CLI_H

#include "kernels/backend_opts.h"
#include "libcommon/base/error.h"
#include "tools/cli/files.h"
#include "tools/cli/option_table.h"

#include <stdint.h>
#include <stdio.h>

#define MC_MAX_OPERANDS 4096

struct mc_backend;
struct mc_graph;
struct mc_history;
struct mc_matrices;
struct mc_perm;
struct options; /* each program's own */

struct mc_cli {
    const char *tool;               /* program name without path */
    const char *output;             /* -o, NULL: stdout */
    struct mc_backend_opts backend; /* --device, --threads, --precision, --deterministic */
    int quiet, verbose, no_progress, no_history;
    const char *log_path; /* --log-json */
    const char **operands;
    size_t n_operands;
    int own_operands;           /* the program registers the files among them itself */
    int text;                   /* the output is no binary stream */
    struct mc_history *history; /* this run's, hidden with --no-history */
    struct mc_backend *be;      /* the program opens it (mc_backend_open) where it needs one */
    /* What an operand, or an option without a row of MC_OPT_INPUT or MC_OPT_RESULT, names is added
     * in check() (mc_files_add). */
    struct mc_files files;
    struct mc_options options;
};

/* Rows that programs share, of their `struct options` with its member cli; the seed's is any. */
/* clang-format off */
#define MC_OPTION_OUTPUT \
    {"output", 'o', MC_OPT_TEXT, MC_AT(cli.output), .arg = "FILE", \
     .help = "write there instead of to standard output", .group = 90}
#define MC_OPTION_SEED(at_, ...) \
    {"seed", 0, MC_OPT_U64, at_, .arg = "N", .max = INT64_MAX, .def = "1", \
     .help = "seed of every random choice", .group = 91, __VA_ARGS__}
#define MC_OPTION_THREADS \
    {"threads", 't', MC_OPT_INT, MC_AT(cli.backend.threads), .arg = "N", .min = 1, .max = 1024, \
     .help = "threads (default: all cores)", .group = 91}
#define MC_OPTION_DEVICE \
    {"device", 0, MC_OPT_TEXT, MC_AT(cli.backend.device), .arg = "DEV", .def = "auto", \
     .help = "auto, cpu or cuda[:N]", .group = 91}
/* what a backend is asked for: --threads, --device, --precision, --deterministic */
#define MC_OPTIONS_BACKEND \
    MC_OPTION_THREADS, MC_OPTION_DEVICE, \
    {"precision", 0, MC_OPT_CHOICE, MC_AT(cli.backend.precision), .def = "f32", \
     .names = mc_precision_names, \
     .help = "what a CUDA device computes a network in; a CPU has f32 only", .group = 91}, \
    {"deterministic", 0, MC_OPT_CHOICE, MC_AT(cli.backend.any_order), .def = "yes", \
     .names = mc_yes_no, \
     .help = "no: a CUDA device may add in any order, so that reruns differ", .group = 91}
#define MC_OPTION_LOG_JSON \
    {"log-json", 0, MC_OPT_TEXT, MC_AT(cli.log_path), .arg = "FILE", \
     .help = "log one JSON object a line", .group = 92}
#define MC_OPTION_NO_PROGRESS \
    {"no-progress", 0, MC_OPT_FLAG, MC_AT(cli.no_progress), \
     .help = "no progress line on a terminal", .group = 93}
#define MC_OPTION_NO_HISTORY \
    {"no-history", 0, MC_OPT_FLAG, MC_AT(cli.no_history), \
     .help = "leave the output's history out", .group = 93}
/* all of these of a program that computes a stream */
#define MC_OPTIONS_RUN \
    MC_OPTION_OUTPUT, MC_OPTIONS_BACKEND, MC_OPTION_LOG_JSON, MC_OPTION_NO_PROGRESS, MC_OPTION_NO_HISTORY
/* clang-format on */
extern const char *const mc_yes_no[]; /* "yes", "no" */

/* What a program is beside its options' values. */
struct mc_program {
    const char *operands; /* a line for each use, as --help shows them */
    const char *doc; /* "Purpose in one line.\vMore.\n\nExamples:\n  two that work as pasted" */
    const struct mc_option *options;
    void (*add)(struct options *o);   /* NULL, or adds tables that it shares */
    void (*check)(struct options *o); /* NULL, or: usage errors, files that no option's row names */
    int (*run)(struct options *o, struct mc_error *err);
    int prints; /* it has no output but standard output: files are not compared */
};
/* All of a program: parses, checks, checks the files (mc_cli_ready), runs, prints the error, frees
 * what struct mc_cli holds, and checks that stdout could be written; the exit status. cli: o's. */
int mc_cli_main(const struct mc_program *p, struct options *o, struct mc_cli *cli, int argc,
                char **argv);
/* clang-format off */
/* The program's main; the arguments are those of struct mc_program. */
#define MC_PROGRAM(...) \
    int main(int argc, char **argv) \
    { \
        static const struct mc_program program = {__VA_ARGS__}; \
        struct options o = {0}; \
        return mc_cli_main(&program, &o, &o.cli, argc, argv); \
    }
/* clang-format on */
/* The tables' defaults, what clears up (mc_stream_catch_signals, mc_catch_thrown), argp; usage
 * errors exit 2. --help begins with purpose and examples, and ends with the exit statuses. --quiet,
 * --verbose,
 * --help and --version are every program's. */
void mc_cli_parse(struct mc_cli *cli, const char *operands, const char *doc, int argc, char **argv);
/* Part of mc_cli_main: frees what cli holds but the backend, prints err if code is not 0 (but
 * within a pipe of which nothing comes), checks that stdout could be written; the exit status. */
int mc_cli_exit(struct mc_cli *cli, int code, const struct mc_error *err);
/* Where no operand is given, it is standard input. */
void mc_cli_default_stdin(struct mc_cli *cli);
/* Part of mc_cli_main. Fail now rather than after hours of work, and before anything is lost:
 * registers the operands (unless own_operands), the rows' files, -o and --log-json, and checks all
 * files as mc_files_check does; MC_EUSAGE too where the output is binary and stdout a terminal. */
MC_USE_RESULT int mc_cli_ready(struct mc_cli *cli, struct mc_error *err);

/* ---- what is said on stderr (tools/cli/messages.c) ---- */

/* The name in front of all that is said, "mc" at first; kept by pointer. */
void mc_set_program_name(const char *name);
const char *mc_program_name(void);

/* "mc-x: text", in place of a progress line. */
void mc_tell(const char *text);
/* "mc-x: sentence" on stderr, exit 2. */
void mc_cli_usage(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* "mc-x: sentence" on stderr: note unless -q, detail with -v only, warn always but each sentence
 * once. */
enum mc_level { MC_LEVEL_WARN, MC_LEVEL_NOTE, MC_LEVEL_DETAIL };
void mc_say(const struct mc_cli *cli, enum mc_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define mc_note(cli, ...) mc_say(cli, MC_LEVEL_NOTE, __VA_ARGS__)
#define mc_detail(cli, ...) mc_say(cli, MC_LEVEL_DETAIL, __VA_ARGS__)
#define mc_warn(cli, ...) mc_say(cli, MC_LEVEL_WARN, __VA_ARGS__)

/* Warns where p, of the file `path`, is known to be of other networks than the first two operands,
 * which have the content ids a and b. */
void mc_warn_found_elsewhere(const struct mc_cli *cli, const struct mc_perm *p, const char *path,
                             const char *a, const char *b);

/* Notes in one line how many units hardly vary if many groups have some and -v is not given; the
 * line ends in `what`. 0: it printed nothing, and the caller prints one line per group. */
int mc_note_dead_units(const struct mc_cli *cli, const struct mc_matrices *m, const char *what);

/* Progress on stderr when that is a terminal, at most ten times a second, in a line no wider than
 * it. total 0: not known. */
struct mc_progress {
    const struct mc_cli *cli;
    const char *what; /* "training" */
    const char *unit; /* "images" */
    uint64_t total, done;
    double start, last;
    char result[120]; /* "" or what is said at the end instead of how many units were done */
    int shown;
};
void mc_progress_begin(struct mc_progress *p, const struct mc_cli *cli, const char *what,
                       const char *unit, uint64_t total);
/* Is a terminal watching? Asks for device numbers only then. */
int mc_progress_due(const struct mc_progress *p);
void mc_progress_update(struct mc_progress *p, uint64_t done, const char *extra);
/* The line goes. Where it was to be seen for a second, or there is a result, and the output is a
 * file, the program will end with a line that stays, once all has gone well: the result, the time,
 * the file. */
void mc_progress_end(struct mc_progress *p);
/* Callbacks that update the struct mc_progress at arg; in_all becomes its total where that is 0. */
void mc_progress_count(void *arg, uint64_t done);
void mc_progress_count_of(void *arg, uint64_t done, uint64_t in_all);
/* The last line that mc_progress_end left to be said, if any. */
void mc_tell_ending(void);

/* ---- options (tools/cli/options.c) ---- */

/* rows, behind them one without a name, of values in the struct at base. Before mc_cli_parse. */
void mc_options_add(struct mc_cli *cli, const struct mc_option *rows, void *base);
/* For one row of a shared table, whose value is there, this program's default. */
void mc_option_default(struct mc_cli *cli, const void *value, const char *def);
/* The name of the option whose value is there if it was given, or NULL. */
const char *mc_option_given(const struct mc_cli *cli, const void *value);
/* The name of one that was given and has no effect in any of these uses, or NULL. */
const char *mc_option_idle(const struct mc_cli *cli, unsigned uses);
/* All rows with that flag of the table at base, in their order; or one row. */
void mc_options_note(const struct mc_cli *cli, const void *base, struct mc_history *h);
void mc_options_save(const struct mc_cli *cli, const void *base, struct mc_checkpoint *s);
void mc_option_note(const struct mc_cli *cli, const void *value, struct mc_history *h);
void mc_option_save(const struct mc_cli *cli, const void *value, struct mc_checkpoint *s);

/* Values from text; what is none is a usage error that names the option as it is given here. */
void mc_option_set(const struct mc_option *row, const char *option, const char *arg, void *value);
void mc_option_set_default(const struct mc_option *row, const char *def, void *value);
uint64_t mc_parse_u64(const char *option, const char *arg, uint64_t min, uint64_t max);
/* A decimal, or a fraction: 8/255. */
double mc_parse_real(const char *option, const char *arg, double min, double max);
/* Index of arg in the NULL-ended list; a usage error lists what there is. */
/* FROM:TO, likewise, the second greater than the first. */
void mc_parse_range(const char *option, const char *arg, double min, double max, double range[2]);
int mc_parse_choice(const char *option, const char *arg, const char *const *choices);

#endif
