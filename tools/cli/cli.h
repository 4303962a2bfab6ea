/* SPDX-License-Identifier: Apache-2.0
 *
 * The common interface of all programs: option names, messages, exit statuses, progress and logs.
 * Only the programs and tools/options include it (LAYERS); the libraries below print and parse
 * nothing.
 *
 * Options and all files of the command line are checked before run() starts, so a mistake costs no
 * hours of work and no file. run() only returns: mc_cli_main prints its error, closes the backend
 * and checks that stdout could be written. So one place decides the exit status.
 *
 * Keep the values of options in `struct options`, whose member `cli` is a struct mc_cli. Give files
 * the types MC_OPT_INPUT and MC_OPT_RESULT, or add them in check() with mc_files_add: only files
 * that are registered are protected from being overwritten. Free in run() all that it allocated,
 * except the contents of cli.
 *
 * Do not call exit() or print an error in run(). Do not print to stderr except with mc_note,
 * mc_detail and mc_warn, which respect -q and -v and erase a progress line first.
 *
 * A program that writes a table:
 *
 *     struct options {
 *         struct mc_cli cli;
 *         uint64_t samples;
 *     };
 *     static const struct mc_option options[] = {
 *         {"samples", 'n', MC_OPT_U64, MC_AT(samples), .arg = "N", .min = 1, .max = UINT32_MAX,
 *          .help = "first N images"},
 *         MC_OPTION_OUTPUT, MC_OPTION_THREADS, {0}};
 *
 *     static void check_options(struct options *o)
 *     {
 *         mc_cli_operands(&o->cli, "FILE.mcz");
 *         o->cli.text = 1; // -o may be a terminal
 *     }
 *     static int run(struct options *o, struct mc_error *err)
 *     {
 *         mc_note(&o->cli, "reading %s", o->cli.operands[0]);
 *         return write_table(o->cli.operands[0], o->samples, o->cli.output, err);
 *     }
 *     MC_PROGRAM("mc-name", "FILE.mcz", doc, options, .check = check_options, .run = run) */
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
struct options; /* each program has its own */

struct mc_cli {
    const char *tool;               /* the program's name */
    const char *output;             /* -o, NULL: stdout */
    struct mc_backend_opts backend; /* --device, --threads, --precision, --deterministic */
    int quiet, verbose, no_progress, no_history;
    const char *log_path;  /* --log-json */
    const char **operands; /* room for MC_MAX_OPERANDS and one that check() adds */
    size_t n_operands;
    const char *not_operands;   /* advice if too many operands are given, or NULL */
    int registers_operands;     /* the program itself registers the files among the operands */
    int text;                   /* the output is not a binary stream */
    int foreign;                /* the output is a file of another project's format */
    struct mc_history *history; /* this run's; hidden with --no-history */
    struct mc_backend *be;      /* opened by the program when needed (mc_cli_open_backend) */
    /* Files of the command line. check() adds those named by options whose type is neither
     * MC_OPT_INPUT nor MC_OPT_RESULT, and with registers_operands those of operands (mc_files_add). */
    struct mc_files files;
    struct mc_options options;
};

/* Rows that programs share. The values are in member cli of `struct options`; the seed's may be
 * anywhere. */
/* clang-format off */
#define MC_OPTION_OUTPUT \
    {"output", 'o', MC_OPT_TEXT, MC_AT(cli.output), .arg = "FILE", \
     .help = "write to FILE instead of standard output", .group = 90}
#define MC_OPTION_SEED(at_, ...) \
    {"seed", 0, MC_OPT_U64, at_, .arg = "N", .max = INT64_MAX, .def = "1", \
     .help = "seed of all random choices", .group = 91, __VA_ARGS__}
#define MC_OPTION_THREADS \
    {"threads", 't', MC_OPT_INT, MC_AT(cli.backend.threads), .arg = "N", .min = 1, .max = 1024, \
     .help = "threads (default: all cores; OMP_NUM_THREADS is ignored)", .group = 91}
#define MC_OPTION_DEVICE \
    {"device", 0, MC_OPT_TEXT, MC_AT(cli.backend.device), .arg = "auto|cpu|cuda[:N]", .def = "auto", \
     .help = "device to compute on", .group = 91}
/* the options of a backend: --threads, --device, --precision, --deterministic */
#define MC_OPTIONS_BACKEND \
    MC_OPTION_THREADS, MC_OPTION_DEVICE, \
    {"precision", 0, MC_OPT_CHOICE, MC_AT(cli.backend.precision), .def = "f32", \
     .names = mc_precision_names, \
     .help = "precision in which a CUDA device computes a network; a CPU has only f32", .group = 91}, \
    {"deterministic", 0, MC_OPT_CHOICE, MC_AT(cli.backend.any_order), .def = "yes", \
     .names = mc_yes_no, \
     .help = "no: let a CUDA device add in any order; reruns then differ", .group = 91}
#define MC_OPTION_LOG_JSON \
    {"log-json", 0, MC_OPT_TEXT, MC_AT(cli.log_path), .arg = "FILE", \
     .help = "write a log of JSON lines", .group = 92}
#define MC_OPTION_NO_PROGRESS \
    {"no-progress", 0, MC_OPT_FLAG, MC_AT(cli.no_progress), \
     .help = "show no progress line on a terminal", .group = 93}
#define MC_OPTION_NO_HISTORY \
    {"no-history", 0, MC_OPT_FLAG, MC_AT(cli.no_history), \
     .help = "write the output without its history", .group = 93}
/* all rows of a program that computes a stream */
#define MC_OPTIONS_RUN \
    MC_OPTION_OUTPUT, MC_OPTIONS_BACKEND, MC_OPTION_LOG_JSON, MC_OPTION_NO_PROGRESS, MC_OPTION_NO_HISTORY
/* clang-format on */
extern const char *const mc_yes_no[]; /* "yes", "no" */

/* A program except for the values of its options. */
struct mc_program {
    const char *name;     /* as histories and checkpoints have it, whatever the file's name */
    const char *operands; /* one line per form of use, as --help shows them */
    const char *doc; /* "Purpose in one line.\vMore.\n\nExamples:\n  two that work if pasted" */
    const struct mc_option *options;
    void (*add)(struct options *o);   /* NULL, or adds the tables of options that it shares */
    void (*check)(struct options *o); /* NULL, or finds usage errors and adds files */
    int (*run)(struct options *o, struct mc_error *err);
    int prints; /* it writes only to standard output: files are not compared */
};
/* Runs a program: parses, checks options and files, runs, prints the error, frees the contents of
 * struct mc_cli, and checks that stdout could be written. cli: the member of o. Returns the exit
 * status. */
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
/* Sets the tables' defaults, installs cleanup (mc_stream_catch_signals, mc_catch_exceptions) and
 * runs argp. The caller has set cli->tool. Usage errors exit with status 2. --help starts with
 * purpose and examples, and ends with the exit statuses. Every program has --quiet, --verbose,
 * --help and --version. */
void mc_cli_parse(struct mc_cli *cli, const char *operands, const char *doc, int argc, char **argv);
/* Without operands, the only operand becomes standard input. */
void mc_cli_default_stdin(struct mc_cli *cli);
/* 1 if the path (may be NULL) has an ending of PyTorch's pickles. */
int mc_cli_is_pickle(const char *path);

/* Requirements on a command line, for check(). Everything that is missing is reported together, as
 * soon as check() returns.
 *
 * mc_cli_require: if !present, `text` is missing, such as "--data FILE.mcz".
 * mc_cli_operands: the operands are these words, "A.mcz B.mcz [PERM.mcz]"; those in brackets may be
 * left out. One more operand is a usage error. */
void mc_cli_require(int present, const char *text);
void mc_cli_operands(const struct mc_cli *cli, const char *words);
/* Part of mc_cli_main: a usage error that names everything that is missing, if anything is. */
void mc_cli_check_required(void);

/* ---- messages on stderr (tools/cli/messages.c) ---- */

/* The name before every message, "mc" at first; kept by pointer. */
void mc_set_program_name(const char *name);

/* Prints "mc-x: text"; erases a progress line first. */
void mc_message(const char *text);
/* Prints "mc-x: text" and exits with status 2. */
void mc_cli_usage(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* Prints "mc-x: text": a note unless -q, a detail only with -v. Prints "mc-x: warning: text" always,
 * but each text only once. */
enum mc_level { MC_LEVEL_WARN, MC_LEVEL_NOTE, MC_LEVEL_DETAIL };
void mc_message_at(const struct mc_cli *cli, enum mc_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define mc_note(cli, ...) mc_message_at(cli, MC_LEVEL_NOTE, __VA_ARGS__)
#define mc_detail(cli, ...) mc_message_at(cli, MC_LEVEL_DETAIL, __VA_ARGS__)
#define mc_warn(cli, ...) mc_message_at(cli, MC_LEVEL_WARN, __VA_ARGS__)

/* Opens cli->be as cli->backend describes. Warns if `auto` had to use the CPU although a GPU was expected. */
int mc_cli_open_backend(struct mc_cli *cli, struct mc_error *err);

/* Warns if p, read from `path`, was computed for other networks than the first two operands, whose
 * content ids are a and b. */
void mc_warn_found_elsewhere(const struct mc_cli *cli, const struct mc_perm *p, const char *path,
                             const char *a, const char *b);

/* Prints one line that counts the units with almost no variance and ends in `result`, if many
 * groups have such units and -v is not given. Returns 0 if it printed nothing; the caller then
 * prints one line per group. */
int mc_note_dead_units(const struct mc_cli *cli, const struct mc_matrices *m, const char *result);

/* Progress on stderr if that is a terminal: at most ten times per second, in a line that fits the
 * terminal's width. total 0: unknown. */
struct mc_progress {
    const struct mc_cli *cli;
    const char *action; /* "training" */
    const char *unit;   /* "images" */
    uint64_t total, count;
    double start, last;
    char result[256]; /* printed at the end instead of the number of units, unless "" */
    int shown;
};
void mc_progress_begin(struct mc_progress *p, const struct mc_cli *cli, const char *action,
                       const char *unit, uint64_t total);
/* True if a terminal shows the progress and an update is due: ask a device for numbers only then. */
int mc_progress_due(const struct mc_progress *p);
void mc_progress_update(struct mc_progress *p, uint64_t count, const char *extra);
/* Erases the line. A successful program then ends with a line that remains: the result, the time,
 * the rate, the file. If there is a result, only -q suppresses it, so logs show what ran. Otherwise
 * it requires a progress line that was visible for a second, and a file. */
void mc_progress_end(struct mc_progress *p);
/* Callbacks that update the struct mc_progress at arg; `total` replaces its total if that is 0. */
void mc_progress_count(void *arg, uint64_t count);
void mc_progress_count_of(void *arg, uint64_t count, uint64_t total);
/* Prints the final line that mc_progress_end prepared, if any. */
void mc_print_ending(void);

/* ---- options (tools/cli/options.c) ---- */

/* Adds rows, up to one without a name; their values are in the struct at base. Call before
 * mc_cli_parse. */
void mc_options_add(struct mc_cli *cli, const struct mc_option *rows, void *base);
/* Sets this program's default for one row of a shared table, found by the address of its value. */
void mc_option_default(struct mc_cli *cli, const void *value, const char *def);
/* The name of the option that sets this value, if it was given; else NULL. */
const char *mc_option_given(const struct mc_cli *cli, const void *value);
/* The name of an option that was given but has no effect in any of these uses, or NULL. */
const char *mc_option_idle(const struct mc_cli *cli, unsigned uses);
/* Records options in a history (note) or a checkpoint (save): all rows with the corresponding flag
 * in the table at base, in their order, or one row. */
void mc_options_note(const struct mc_cli *cli, const void *base, struct mc_history *h);
void mc_options_save(const struct mc_cli *cli, const void *base, struct mc_checkpoint *s);
void mc_option_note(const struct mc_cli *cli, const void *value, struct mc_history *h);
void mc_option_save(const struct mc_cli *cli, const void *value, struct mc_checkpoint *s);

/* Parses a value from text. A usage error names the option as given here. */
void mc_option_set(const struct mc_option *row, const char *option, const char *arg, void *value);
void mc_option_set_default(const struct mc_option *row, const char *def, void *value);
uint64_t mc_parse_u64(const char *option, const char *arg, uint64_t min, uint64_t max);
/* A decimal number, or a fraction: 8/255. */
double mc_parse_real(const char *option, const char *arg, double min, double max);
/* The index of arg in the NULL-terminated list; a usage error prints the list. */
int mc_parse_choice(const char *option, const char *arg, const char *const *choices);

#endif
