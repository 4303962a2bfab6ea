/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program says on stderr: messages, and a line of progress. */
#ifndef MC_CLI_MESSAGES_H
#define MC_CLI_MESSAGES_H

#include <stdint.h>

struct mc_cli;
struct mc_perm;

/* The name in front of all that is said, "mc" at first; kept by pointer. */
void mc_set_program_name(const char *name);
const char *mc_program_name(void);

/* "mc-x: text", in place of a progress line. */
void mc_tell(const char *text);
/* "mc-x: sentence" on stderr, exit 2. */
void mc_cli_usage(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* "mc-x: sentence" on stderr: note unless -q, detail with -v only, warn always. */
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

#endif
