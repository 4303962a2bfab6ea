/* SPDX-License-Identifier: Apache-2.0
 *
 * Output of evaluation. */
#include "tools/eval/report.h"

#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"
#include "libcommon/base/json.h"
#include "libcommon/base/text.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SUMMARY (1 << 20) /* bytes */

size_t mc_report_n(const struct mc_report *r)
{
    return r->sweep->n_data * (r->sweep->attack ? 2 : 1);
}

struct mc_report_columns mc_report_column(const struct mc_report *r, size_t i)
{
    const size_t n = r->sweep->n_data;
    const struct mc_batched_data *d = &r->sweep->data[i % n];
    struct mc_report_columns c = {.total = d->total, .out = i < n ? &d->out : &d->robust};

    snprintf(c.name, sizeof c.name, "%s%s", d->name, i < n ? "" : ".robust");
    return c;
}

int mc_report_check(const struct mc_report *r, struct mc_error *err)
{
    for (size_t i = 0; i < mc_report_n(r); i++) {
        const struct mc_report_columns c = mc_report_column(r, i);
        for (size_t p = 0; p < r->sweep->span->T; p++) {
            const struct mc_eval_result *m = &c.out->result[p];
            const double *coords = r->coords + p * r->n_coords;
            if (isfinite(m->loss) && isfinite(m->loss_se) && isfinite(m->accuracy) &&
                isfinite(m->accuracy_se))
                continue;
            if (r->n_coords == 2)
                return mc_fail(err, MC_EFAIL, "the loss on %s is not finite at x = %.9g, y = %.9g",
                               c.name, coords[0], coords[1]);
            if (r->n_coords == 1)
                return mc_fail(err, MC_EFAIL, "the loss on %s is not finite at t = %.9g", c.name,
                               coords[0]);
            return mc_fail(err, MC_EFAIL, "%s: the loss on %s is not finite",
                           r->network ? r->network : "a network", c.name);
        }
    }
    return 0;
}

const char *const mc_report_quantities[] = {"loss", "accuracy", NULL};

/* ---- the table, or its JSON ------------------------------------------------------------------ */

/* networks, a path or a plane, indexed by r->n_coords */
static const struct {
    const char *kind, *list, *columns[2];
} forms[] = {{"weights", "networks", {"network", NULL}},
             {"curve", "points", {"t", NULL}},
             {"plane", "points", {"x", "y"}}};

void mc_report_begin(const struct mc_report *r, FILE *f)
{
    char attack[MC_ATTACK_TEXT];

    if (r->json) {
        fprintf(f, "{\"kind\":\"%s\",", forms[r->n_coords].kind);
        if (r->sweep->attack) {
            mc_attack_text(r->sweep->attack, attack);
            fputs("\"attack\":", f);
            mc_json_str(f, attack);
            fprintf(f, ",\"bn_attack\":%s,", r->sweep->bn_attack ? "true" : "false");
        }
        fprintf(f, "\"%s\":[", forms[r->n_coords].list);
        return;
    }
    fputs(forms[r->n_coords].columns[0], f);
    if (r->n_coords == 2)
        fprintf(f, "\t%s", forms[r->n_coords].columns[1]);
    for (size_t i = 0; i < mc_report_n(r); i++) {
        const struct mc_report_columns c = mc_report_column(r, i);
        for (int q = 0; q < 2; q++) {
            putc('\t', f);
            mc_plain(f, c.name);
            fprintf(f, ".%s", mc_report_quantities[q]);
        }
    }
    putc('\n', f);
}

static void print_result(const struct mc_report *r, FILE *f, size_t column, size_t point)
{
    const struct mc_report_columns c = mc_report_column(r, column);
    const struct mc_eval_result *m = &c.out->result[point];

    if (!r->json) {
        fprintf(f, "\t%.7g\t%.4f", m->loss, 100 * m->accuracy);
        return;
    }
    putc(',', f);
    mc_json_str(f, c.name);
    fprintf(f,
            ":{\"loss\":%.9g,\"loss_se\":%.3g,\"accuracy\":%.9g,\"accuracy_se\":%.3g,"
            "\"images\":%.0f}",
            m->loss, m->loss_se, 100 * m->accuracy, 100 * m->accuracy_se, m->images);
}

void mc_report_rows(const struct mc_report *r, FILE *f, int first)
{
    for (size_t p = 0; p < r->sweep->span->T; p++) {
        if (r->json)
            fputs(p || !first ? ",{" : "{", f);
        if (!r->n_coords && r->json)
            fputs("\"network\":", f);
        if (!r->n_coords)
            (r->json ? mc_json_str : mc_plain)(f, r->network);
        for (size_t c = 0; c < r->n_coords; c++) {
            if (r->json)
                fprintf(f, "%s\"%s\":", c ? "," : "", forms[r->n_coords].columns[c]);
            fprintf(f, c && !r->json ? "\t%.9g" : "%.9g", r->coords[p * r->n_coords + c]);
        }
        for (size_t i = 0; i < mc_report_n(r); i++)
            print_result(r, f, i, p);
        putc(r->json ? '}' : '\n', f);
    }
}

/* ---- summary, marks and end ------------------------------------------------------------------ */

/* The fields of struct mc_curve_summary, in their order, except the last two. */
static const char *const figures[] = {"first", "last", "mean",  "arc_mean", "min",
                                      "min_t", "max",  "max_t", "barrier",  "barrier_t"};
enum { N_FIGURES = sizeof figures / sizeof *figures };
_Static_assert(offsetof(struct mc_curve_summary, dip) == N_FIGURES * sizeof(double),
               "figures[] has a name for each field before dip");

/* Summarise quantity q of a data set along the path. value: (T), scratch. */
static void summarise(const struct mc_report *r, const struct mc_eval_result *out, int q,
                      double *value, double figure[N_FIGURES])
{
    const size_t T = r->sweep->span->T;
    struct mc_curve_summary s;

    for (size_t i = 0; i < T; i++)
        value[i] = q ? 100 * out[i].accuracy : out[i].loss;
    mc_curve_summarise(T, r->coords, value, r->chord, &s);
    if (q) {
        s.barrier = s.dip;
        s.barrier_t = s.dip_t;
    }
    memcpy(figure, &s, N_FIGURES * sizeof *figure);
}

static int print_summary(const struct mc_report *r, FILE *f, int json, struct mc_error *err)
{
    double figure[N_FIGURES], *value = malloc(r->sweep->span->T * sizeof *value);

    if (!value)
        return mc_no_memory(err);
    for (size_t i = 0; i < mc_report_n(r); i++) {
        const struct mc_report_columns c = mc_report_column(r, i);
        if (json) {
            fputs(i ? "," : "", f);
            mc_json_str(f, c.name);
        }
        for (int q = 0; q < 2; q++) {
            summarise(r, c.out->result, q, value, figure);
            if (json)
                fprintf(f, "%s\"%s\":{", q ? "," : ":{", mc_report_quantities[q]);
            else {
                mc_plain(f, c.name);
                fprintf(f, "\t%s", mc_report_quantities[q]);
            }
            for (size_t k = 0; k < N_FIGURES; k++)
                if (json)
                    fprintf(f, "%s\"%s\":%.9g", k ? "," : "", figures[k], figure[k]);
                else
                    fprintf(f, strstr(figures[k], "_t") ? "\t%.4g" : "\t%.6g", figure[k]);
            fputs(json ? "}" : "\n", f);
        }
        fputs(json ? "}" : "", f);
    }
    free(value);
    return 0;
}

int mc_report_summary(const struct mc_report *r, FILE *f, struct mc_error *err)
{
    fputs("data\tquantity", f);
    for (size_t k = 0; k < N_FIGURES; k++)
        fprintf(f, "\t%s", figures[k]);
    putc('\n', f);
    return print_summary(r, f, 0, err);
}

/* Read a summary, also from standard input. */
static int read_summary(char **text, const char *path, struct mc_error *err)
{
    const char *const name = mc_file_called(path);
    size_t bytes = 0;
    int rc = 0;

    if (strcmp(path, "-") != 0) {
        rc = mc_file_text(text, &bytes, MAX_SUMMARY, path, err);
    } else if (!(rc = mc_new(text, MAX_SUMMARY + 1, err))) {
        const ssize_t n = mc_file_read_all(STDIN_FILENO, *text, MAX_SUMMARY + 1);
        rc = n < 0 ? mc_fail(err, MC_EFAIL, "%s: cannot read: %s", name, strerror(errno)) : 0;
        bytes = n < 0 ? 0 : (size_t)n;
    }
    if (!rc && !bytes)
        rc = mc_fail(err, MC_EINPUT, "%s: is empty, not a summary", name);
    if (!rc && bytes > MAX_SUMMARY) /* it may lack a final 0 */
        rc = mc_fail(err, MC_EINPUT, "%s: not a summary: over %d bytes", name, MAX_SUMMARY);
    return rc;
}

/* Print the rows of a quantity with the summary's name, and the header if it is the first one. */
static int copy_rows(FILE *f, const char *path, int is_first, const char *quantity,
                     struct mc_error *err)
{
    const char *end, *const name = mc_file_called(path);
    const size_t length = strlen(quantity);
    char *text = NULL;
    int rc = read_summary(&text, path, err);

    for (const char *line = text; !rc && (line == text || *line); line = end + 1) {
        size_t cells = 1;
        for (end = line; *end && *end != '\n'; end++)
            cells += *end == '\t';
        if (!*end || cells != 2 + N_FIGURES || strncmp(text, "data\tquantity\t", 14) != 0) {
            rc = mc_fail(err, MC_EINPUT, "%s: not a summary (mc-eval --summary writes one)", name);
            break;
        }
        const char *const of = strchr(line, '\t') + 1;
        if (line == text ? !is_first : strncmp(of, quantity, length) || of[length] != '\t')
            continue;
        mc_plain(f, line == text ? "path" : name);
        for (const char *cell = line; cell < end; cell += strcspn(cell, "\t\n") + 1) {
            putc('\t', f);
            mc_plain_text(f, cell, strcspn(cell, "\t\n"));
        }
        putc('\n', f);
    }
    free(text);
    return rc;
}

/* Print a table with spaces instead of tabs. */
static void print_aligned(const char *table, FILE *f)
{
    size_t widths[3 + N_FIGURES] = {0}, column = 0, n;

    for (int measured = 0; measured < 2; measured++)
        for (const char *cell = table; *cell; cell += n + 1) {
            size_t width = 0;
            n = strcspn(cell, "\t\n");
            for (size_t i = 0; i < n; i++)
                width += (cell[i] & 0xc0) != 0x80; /* characters of UTF-8 */
            if (!measured && width > widths[column])
                widths[column] = width;
            if (measured)
                fprintf(f, "%.*s", (int)n, cell);
            if (measured && cell[n] == '\t')
                fprintf(f, "%*s", (int)(widths[column] - width + 2), "");
            else if (measured)
                putc('\n', f);
            column = cell[n] == '\t' ? column + 1 : 0;
        }
}

int mc_report_compare(const char *const *paths, size_t n, int quantity, FILE *f,
                      struct mc_error *err)
{
    struct mc_text joined = {0};
    int rc = mc_text_open(&joined, err);

    for (size_t i = 0; !rc && i < n; i++)
        rc = copy_rows(joined.f, paths[i], i == 0, mc_report_quantities[quantity], err);
    rc = mc_text_end(&joined, rc, err);
    if (!rc)
        print_aligned(joined.text, f);
    free(joined.text);
    return rc;
}

void mc_report_marks(const struct mc_report *r, FILE *f)
{
    fputs("mark\tname\tx\ty\toff\n", f);
    for (const struct mc_mark *m = r->marks; m < r->marks + r->n_marks; m++) {
        fprintf(f, "%s\t", m->kind);
        mc_plain(f, m->name);
        fprintf(f, "\t%.9g\t%.9g\t%.3g\n", m->x, m->y, m->off);
    }
}

int mc_report_end(const struct mc_report *r, FILE *f, struct mc_error *err)
{
    int rc = 0;

    if (!r->json)
        return 0;
    fputs("]", f);
    if (r->chord) {
        fputs(",\"summary\":{", f);
        rc = print_summary(r, f, 1, err);
        putc('}', f);
    }
    if (r->marks)
        fputs(",\"marks\":[", f);
    for (const struct mc_mark *m = r->marks; m < r->marks + r->n_marks; m++) {
        fprintf(f, "%s{\"mark\":\"%s\",\"name\":", m > r->marks ? "," : "", m->kind);
        mc_json_str(f, m->name);
        fprintf(f, ",\"x\":%.9g,\"y\":%.9g,\"off\":%.3g}", m->x, m->y, m->off);
    }
    fputs(r->marks ? "]}\n" : "}\n", f);
    return rc;
}

int mc_report_print(const struct mc_report *r, FILE *f, struct mc_error *err)
{
    mc_report_begin(r, f);
    mc_report_rows(r, f, 1);
    return mc_report_end(r, f, err);
}
