/* SPDX-License-Identifier: Apache-2.0
 *
 * What a user's hands expect of every program: the same option names, messages, exit statuses,
 * progress and logs. Used by tools/ only; this is the one place beside them that prints and exits.
 *
 *     static const struct argp_option options[] = {
 *         MC_OPTION_OUTPUT, MC_OPTION_THREADS, {"samples", 'n', "N", 0, "first N images", 0},
 *         MC_OPTIONS_END};
 *
 *     static error_t parse(int key, char *arg, struct argp_state *state)
 *     {
 *         struct options *o = state->input;
 *         switch (key) {
 *         case 'n':
 *             o->samples = mc_parse_u64("--samples", arg, 1, UINT32_MAX);
 *             return 0;
 *         default:
 *             return mc_cli_option(&o->cli, key, arg, state);
 *         }
 *     }
 *
 *     int main(int argc, char **argv)
 *     {
 *         struct options o = {0};
 *         struct mc_error err = {0};
 *         mc_cli_parse(&o.cli, &argp, argc, argv, &o);
 *         return mc_cli_exit(&o.cli, run(&o, &err), &err);
 *     }
 *
 * Operands arrive at the parser's ARGP_KEY_ARG, or are taken from cli.operands. */
#ifndef MC_CLI_H
#define MC_CLI_H

#include "kernels/backend_opts.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/error.h"
#include "tools/cli/files.h"

#include <argp.h>
#include <stdint.h>
#include <stdio.h>

#define MC_MAX_OPERANDS 4096

struct mc_cli {
    const char *tool;               /* program name without path */
    const char *output;             /* -o, NULL: stdout */
    struct mc_backend_opts backend; /* --device, --threads, --precision, --deterministic */
    uint64_t seed;                  /* 1 */
    int quiet, verbose, no_progress, no_history;
    const char *log_path; /* --log-json */
    const char **operands;
    size_t n_operands;
    int own_operands; /* the program registers the files among them itself */
    struct mc_files files;
};

/* Keys of the options without a letter. */
enum {
    MC_KEY_DEVICE = 0x4000,
    MC_KEY_PRECISION,
    MC_KEY_DETERMINISTIC,
    MC_KEY_SEED,
    MC_KEY_LOG_JSON,
    MC_KEY_NO_PROGRESS,
    MC_KEY_NO_HISTORY,
    MC_KEY_VERSION,
    MC_KEY_TOOL = 0x5000 /* a tool's own start here */
};

/* clang-format off */
#define MC_OPTION_OUTPUT      {"output", 'o', "FILE", 0, "write there instead of to standard output", 90}
#define MC_OPTION_THREADS     {"threads", 't', "N", 0, "threads (default: all cores)", 91}
#define MC_OPTION_DEVICE      {"device", MC_KEY_DEVICE, "DEV", 0, "auto, cpu or cuda[:N] (default auto)", 91}
#define MC_OPTION_PRECISION \
    {"precision", MC_KEY_PRECISION, "f32|tf32|bf16|f16", 0, \
     "what a CUDA device computes a network in (default f32, the only one of a CPU)", 91}
#define MC_OPTION_DETERMINISTIC \
    {"deterministic", MC_KEY_DETERMINISTIC, "yes|no", 0, \
     "no: a CUDA device may add in any order, so that reruns differ (default yes)", 91}
#define MC_OPTION_SEED        {"seed", MC_KEY_SEED, "N", 0, "seed of every random choice (default 1)", 91}
#define MC_OPTION_LOG_JSON    {"log-json", MC_KEY_LOG_JSON, "FILE", 0, "log one JSON object a line", 92}
#define MC_OPTION_NO_PROGRESS {"no-progress", MC_KEY_NO_PROGRESS, 0, 0, "no progress line on a terminal", 93}
#define MC_OPTION_NO_HISTORY  {"no-history", MC_KEY_NO_HISTORY, 0, 0, "leave the output's history out", 93}
#define MC_OPTIONS_END \
    {"quiet", 'q', 0, 0, "errors only", 94}, \
    {"verbose", 'v', 0, 0, "say more", 94}, \
    {"help", 'h', 0, 0, "print this and exit", 99}, \
    {"version", MC_KEY_VERSION, 0, 0, "print the version and exit", 99}, \
    {0}
/* clang-format on */

/* Defaults, signal handlers (mc_stream_catch_signals), argp; usage errors exit 2. argp->doc is
 * "Purpose in one line.\vMore, if need be.\n\nExamples:\n  two that work as pasted"; --help begins
 * with purpose and examples, and ends with the exit statuses. */
void mc_cli_parse(struct mc_cli *cli, const struct argp *argp, int argc, char **argv, void *input);
/* The common options and operands; ARGP_ERR_UNKNOWN for anything else. */
error_t mc_cli_option(struct mc_cli *cli, int key, char *arg, struct argp_state *state);
/* "mc-x: sentence" on stderr, exit 2. */
void mc_cli_usage(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* End of the program: prints err if code is not 0, checks that stdout could be written; the status.
 */
int mc_cli_exit(struct mc_cli *cli, int code, const struct mc_error *err);

/* What an option or an operand names is read or written, as mc_files_add has it. Call before
 * mc_cli_ready. */
void mc_cli_file(struct mc_cli *cli, enum mc_file_role role, const char *option, const char *path);
/* Fail now rather than after hours of work, and before anything is lost: registers the operands
 * (unless own_operands), -o and --log-json, and checks all files as mc_files_check does; MC_EUSAGE
 * too where the output is binary and stdout a terminal. Call once, before anything is opened. */
MC_USE_RESULT int mc_cli_ready(struct mc_cli *cli, int binary, struct mc_error *err);
/* Write a text in one piece: to stdout for NULL or "-", else to a file as mc_output does. */
MC_USE_RESULT int mc_cli_write(const char *path, const char *text, size_t bytes,
                               struct mc_error *err);

/* "mc-x: sentence" on stderr: note unless -q, detail with -v only, warn always. */
void mc_note(const struct mc_cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void mc_detail(const struct mc_cli *cli, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void mc_warn(const struct mc_cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Strict numbers; what is not one within [min, max] is a usage error naming the option. Reals take
 * 1e-2 and 8/255. */
uint64_t mc_parse_u64(const char *option, const char *arg, uint64_t min, uint64_t max);
double mc_parse_f64(const char *option, const char *arg, double min, double max);
/* FROM:TO, two reals within [min, max] of which the second is greater. */
void mc_parse_range(const char *option, const char *arg, double min, double max, double range[2]);
/* Index of arg in the NULL-ended list; a usage error lists what there is. */
int mc_parse_choice(const char *option, const char *arg, const char *const *choices);

/* Progress on stderr when that is a terminal, at most ten times a second. total 0: not known. */
struct mc_progress {
    const struct mc_cli *cli;
    const char *what; /* "training" */
    const char *unit; /* "images" */
    uint64_t total;
    double start, last;
    int shown;
};
void mc_progress_begin(struct mc_progress *p, const struct mc_cli *cli, const char *what,
                       const char *unit, uint64_t total);
/* Is a terminal watching? Asks for device numbers only then. */
int mc_progress_due(const struct mc_progress *p);
void mc_progress_update(struct mc_progress *p, uint64_t done, const char *extra);
void mc_progress_end(struct mc_progress *p);

#endif
