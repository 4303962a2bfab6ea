/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages and the progress line, on stderr. */
#include "tools/cli/cli.h"

#include "formats/codecs/matrices.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/file.h"
#include "libcommon/base/json.h"
#include "libcommon/permutation/permutation.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <xxhash.h>

#define MAX_DEAD_LINES 8 /* groups with dead units that get one line each */

static const char *program = "mc";

static int in_progress;                      /* the terminal shows a progress line */
static char ending[sizeof(struct mc_error)]; /* the final line, or "" */
static char missing[512];                    /* required options and operands that are missing */

void mc_set_program_name(const char *name)
{
    program = name;
}

void mc_message(const char *text)
{
    fprintf(stderr, "%s%s: ", in_progress ? "\r\033[K" : "", program);
    mc_plain(stderr, text);
    putc('\n', stderr);
    in_progress = 0;
}

void mc_cli_usage(const char *fmt, ...)
{
    char text[sizeof(struct mc_error)];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    mc_message(text);
    exit(2);
}

void mc_cli_require(int present, const char *text)
{
    const size_t used = strlen(missing);

    if (!present)
        snprintf(missing + used, sizeof missing - used, "%s%s", used ? ", " : "", text);
}

void mc_cli_operands(const struct mc_cli *cli, const char *words)
{
    size_t n = 0;

    for (const char *word = words, *end; *word; word = end + (*end == ' '), n++) {
        char operand[64];
        end = word + strcspn(word, " ");
        snprintf(operand, sizeof operand, "operand %.*s", (int)(end - word), word);
        if (n >= cli->n_operands && *word != '[')
            mc_cli_require(0, operand);
    }
    if (cli->n_operands > n)
        mc_cli_usage("unexpected argument '%s' (%s%s%s%s)", cli->operands[n],
                     *words ? "expected: " : "only options are expected", words,
                     cli->not_operands ? "; " : "", cli->not_operands ? cli->not_operands : "");
}

void mc_cli_check_required(void)
{
    if (*missing)
        mc_cli_usage("missing: %s (see --help)", missing);
}

/* Return 1 for the first warning with this text: several networks can cause the same one. */
static int is_new(const char *text)
{
    static uint64_t printed[64];
    static size_t n;
    const uint64_t hash = XXH3_64bits(text, strlen(text));

    for (size_t i = 0; i < n; i++)
        if (printed[i] == hash)
            return 0;
    if (n < sizeof printed / sizeof *printed)
        printed[n++] = hash;
    return 1;
}

void mc_message_at(const struct mc_cli *cli, enum mc_level level, const char *fmt, ...)
{
    const char *const prefix = level == MC_LEVEL_WARN ? "warning: " : "";
    const size_t n = strlen(prefix);
    char text[sizeof(struct mc_error)];
    va_list ap;

    if ((level == MC_LEVEL_NOTE && cli->quiet) || (level == MC_LEVEL_DETAIL && !cli->verbose))
        return;
    memcpy(text, prefix, n);
    va_start(ap, fmt);
    vsnprintf(text + n, sizeof text - n, fmt, ap);
    va_end(ap);
    if (level != MC_LEVEL_WARN || is_new(text))
        mc_message(text);
}

void mc_warn_found_elsewhere(const struct mc_cli *cli, const struct mc_perm *p, const char *path,
                             const char *a, const char *b)
{
    if (mc_perm_found_elsewhere(p, a, b))
        mc_warn(cli, "%s was computed for other networks than %s and %s, and is applied anyway",
                mc_file_called(path), mc_file_called(cli->operands[0]),
                mc_file_called(cli->operands[1]));
}

int mc_note_dead_units(const struct mc_cli *cli, const struct mc_matrices *m, const char *result)
{
    size_t dead_a = 0, dead_b = 0, groups = 0;

    for (size_t k = 0; k < m->n_groups; k++) {
        dead_a += m->matrices[k].n_dead_a;
        dead_b += m->matrices[k].n_dead_b;
        groups += m->matrices[k].n_dead_a || m->matrices[k].n_dead_b;
    }
    if (groups <= MAX_DEAD_LINES || cli->verbose)
        return 0;
    mc_note(cli, "%zu units of a and %zu of b, in %zu groups, %s", dead_a, dead_b, groups, result);
    return 1;
}

/* ---- progress -------------------------------------------------------------------------------- */

void mc_progress_begin(struct mc_progress *p, const struct mc_cli *cli, const char *action,
                       const char *unit, uint64_t total)
{
    memset(p, 0, sizeof *p);
    p->cli = cli;
    p->action = action;
    p->unit = unit;
    p->total = total;
    p->start = mc_now();
    p->shown = !cli->no_progress && !cli->quiet && isatty(STDERR_FILENO);
}

int mc_progress_due(const struct mc_progress *p)
{
    return p->shown && mc_now() - p->last >= .1;
}

/* "1:02:03", "2:03" */
static const char *span(double seconds, char out[32])
{
    const double s = floor(seconds);

    if (s < 3600)
        snprintf(out, 32, "%.0f:%02.0f", floor(s / 60), fmod(s, 60));
    else
        snprintf(out, 32, "%.0f:%02.0f:%02.0f", floor(s / 3600), floor(fmod(s, 3600) / 60),
                 fmod(s, 60));
    return out;
}

/* Return the length of a line that leaves the terminal's last column free. A longer line would
 * wrap, and "\r" returns only to the start of the wrapped part. */
static size_t line_width(void)
{
    struct winsize w;

    return !ioctl(STDERR_FILENO, TIOCGWINSZ, &w) && w.ws_col > 1 ? w.ws_col - 1u : 79;
}

void mc_progress_update(struct mc_progress *p, uint64_t count, const char *extra)
{
    const size_t max = line_width();
    double now = mc_now(), elapsed = now - p->start;
    double rate = elapsed > 0 ? (double)count / elapsed : 0;
    char line[400], left[32], speed[64];
    int used = 0;

    p->count = count;
    if (!p->shown || now - p->last < .1)
        return;
    p->last = now;
    /* without words, then without the rate, if that is too long; the rest is cut at the end */
    for (int words = 1; words >= 0 && (words || (size_t)used > max); words--) {
        used = snprintf(line, sizeof line, "%s: %s", program, words ? p->action : "");
        used -= !words; /* the space */
        if (p->total)
            used += snprintf(line + used, sizeof line - (size_t)used, " %3.0f%%  %s left",
                             100. * (double)count / (double)p->total,
                             span(rate > 0 ? (double)(p->total - count) / rate : 0, left));
        else
            used += snprintf(line + used, sizeof line - (size_t)used, " %llu %s",
                             (unsigned long long)count, p->unit);
        if (extra)
            used += snprintf(line + used, sizeof line - (size_t)used, "  %s", extra);
        const int n = snprintf(speed, sizeof speed, "  %.0f%s%s/s", rate, words ? " " : "",
                               words ? p->unit : "");
        if (words || (size_t)(used + n) <= max)
            used += snprintf(line + used, sizeof line - (size_t)used, "%s", speed);
    }
    line[max < sizeof line ? max : sizeof line - 1] = 0;
    fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
    in_progress = 1;
}

void mc_progress_end(struct mc_progress *p)
{
    const char *const output = p->cli->output, *file = output && strcmp(output, "-") ? output : "";
    const double seconds = mc_now() - p->start, rate = (double)p->count / seconds;
    char units[64], elapsed[32], speed[64] = "";

    if (in_progress)
        fputs("\r\033[K", stderr);
    fflush(stderr);
    in_progress = 0;
    snprintf(units, sizeof units, "%llu %s", (unsigned long long)p->count, p->unit);
    if (seconds > 0 && rate >= 1)
        snprintf(speed, sizeof speed, ", %.0f %s/s", rate, p->unit);
    if (*p->result ? !p->cli->quiet : p->shown && seconds >= 1 && *file)
        snprintf(ending, sizeof ending, "%s in %s%s%s%s", *p->result ? p->result : units,
                 span(seconds, elapsed), speed, *file ? ": " : "", file);
    p->shown = 0;
}

void mc_print_ending(void)
{
    if (*ending)
        mc_message(ending);
}

void mc_progress_count(void *arg, uint64_t count)
{
    mc_progress_update(arg, count, NULL);
}

void mc_progress_count_of(void *arg, uint64_t count, uint64_t total)
{
    struct mc_progress *p = arg;

    if (!p->total)
        p->total = total;
    mc_progress_update(p, count, NULL);
}
