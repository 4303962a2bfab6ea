/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-plot: pictures of what the other programs measured. Tables are checked whole before gnuplot
 * starts; how the pictures look is in pipelines/panels.gp and pipelines/signature.gp. */
#include "mc_cli.h"
#include "mc_gnuplot.h"
#include "mc_series.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_TABLES 16

enum mode { PATH, SIGNATURE, LOG };
static const char *const modes[] = {"path", "signature", "log", NULL};

struct options {
    struct mc_cli cli;
    const char *title, *format;
    char data[200]; /* "": not said, until the first table is read */
    int width, height;
};

enum { KEY_SIZE = MC_KEY_TOOL, KEY_TITLE, KEY_FORMAT };

/* clang-format off */
static const struct argp_option options[] = {
    {"data", 'd', "NAME", 0, "path: draw this data set's columns (default: test, or the first)", 10},
    {"title", KEY_TITLE, "TEXT", 0, "write this above the picture", 20},
    {"size", KEY_SIZE, "WxH", 0, "width and height in pixels (default 960x480)", 20},
    {"format", KEY_FORMAT, "svg|png", 0, "instead of what the output's name says", 20},
    MC_OPTION_OUTPUT,
    MC_OPTIONS_END};
/* clang-format on */

static void parse_size(struct options *o, const char *arg)
{
    char width[16] = "";
    const char *x = strchr(arg, 'x');

    if (!x || (size_t)(x - arg) >= sizeof width)
        mc_cli_usage("--size: '%s' is not WIDTHxHEIGHT", arg);
    memcpy(width, arg, (size_t)(x - arg));
    o->width = (int)mc_parse_u64("--size", width, 200, 8192);
    o->height = (int)mc_parse_u64("--size", x + 1, 150, 8192);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;

    switch (key) {
    case 'd':
        if (!*arg || strlen(arg) >= sizeof o->data)
            mc_cli_usage("--data: '%s' is no data set's name", arg);
        strcpy(o->data, arg);
        return 0;
    case KEY_TITLE:
        o->title = arg;
        return 0;
    case KEY_SIZE:
        parse_size(o, arg);
        return 0;
    case KEY_FORMAT:
        o->format = arg;
        return 0;
    default:
        return mc_cli_option(&o->cli, key, arg, state);
    }
}

static const struct argp argp = {
    options,
    parse,
    "path [LABEL=]TABLE[,TABLE...]...\nsignature [LABEL=]TABLE[,TABLE...]...\n"
    "log [LABEL=]LOG[,LOG...]...",
    "Draw curves, correlation signatures and training logs as SVG or PNG."
    "\vpath draws the loss and accuracy that mc-eval measured along curves, signature the "
    "correlation by layer that mc-corr --signature printed, log the loss and accuracy by epoch "
    "that "
    "--log-json wrote. Several tables of the same thing, with commas between them, are drawn as "
    "one "
    "line, their mean, in a band of their standard deviation (n - 1). An empty or incomplete table "
    "is refused.\n\nExamples:\n"
    "  mc-plot path before=straight.tsv after=curve.tsv -o paths.svg\n"
    "  mc-corr --signature --perm p.mcz m.mcz | mc-plot signature -o sig.svg",
    NULL,
    NULL,
    NULL};

static int read_one(struct options *o, enum mode mode, struct mc_series *s,
                    const struct mc_series *first, const char *operand, struct mc_error *err)
{
    if (mode == PATH)
        return mc_series_path(s, operand, o->data, sizeof o->data, err);
    if (mode == SIGNATURE)
        return mc_series_signature(s, operand, first, err);
    return mc_series_log(s, operand, err);
}

/* What the scripts read: see the head of pipelines/panels.gp and of pipelines/signature.gp. */
static void write_script(const struct options *o, enum mode mode, struct mc_gnuplot *g,
                         const struct mc_series *s, size_t n)
{
    FILE *f = mc_gnuplot_script(g);
    char name[260];

    fputs("TITLE = ", f);
    mc_gnuplot_quote(g, o->title ? o->title : "");
    fputs("\nDATA_NAME = ", f);
    snprintf(name, sizeof name, "%s%s", o->data, *o->data ? " " : "");
    mc_gnuplot_quote(g, name);
    fprintf(f, "\nXLABEL = '%s'\nN = %zu\narray LABEL[N]\narray TABLES[N]\n",
            mode == LOG ? "epoch" : "t", n);
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "TABLES[%zu] = %zu\nLABEL[%zu] = ", i + 1, s[i].tables, i + 1);
        mc_gnuplot_quote(g, s[i].label);
        putc('\n', f);
    }
    if (mode == SIGNATURE) {
        const struct mc_table *t = &s[0].table;
        size_t col = (size_t)mc_table_find(t, "layer");
        fprintf(f, "ROWS = %zu\narray LAYER[ROWS]\n", t->rows);
        for (size_t r = 0; r < t->rows; r++) {
            fprintf(f, "LAYER[%zu] = ", r + 1);
            mc_gnuplot_quote(g, t->cells[r * t->cols + col]);
            putc('\n', f);
        }
    }
    fputs("$DATA << END_OF_DATA\n", f);
    for (size_t i = 0; i < n; i++) {
        for (size_t r = 0; r < s[i].rows; r++) {
            for (size_t c = 0; c < s[i].cols; c++)
                fprintf(f, "%.9g ", s[i].mean[c * s[i].rows + r]);
            for (size_t c = 0; c < s[i].cols; c++)
                fprintf(f, "%.9g ", s[i].sd[c * s[i].rows + r]);
            putc('\n', f);
        }
        fputs("\n\n", f);
    }
    fputs("END_OF_DATA\n", f);
}

static enum mc_picture pick_format(const struct options *o)
{
    static const char *const formats[] = {"svg", "png", NULL};
    const char *path = o->cli.output, *dot = path ? strrchr(path, '.') : NULL;

    if (o->format)
        return mc_parse_choice("--format", o->format, formats) ? MC_PNG : MC_SVG;
    if (!path || !strcmp(path, "-"))
        return MC_SVG;
    if (!dot || (strcmp(dot, ".svg") && strcmp(dot, ".png")))
        mc_cli_usage("--output: '%s' ends neither in .svg nor in .png (or use --format)", path);
    return strcmp(dot, ".png") ? MC_SVG : MC_PNG;
}

/* [LABEL=]-, or a list that holds it */
static int is_stdin(const char *operand)
{
    char label[8];

    for (const char *at = mc_series_label(operand, label, sizeof label); *at;) {
        size_t n = strcspn(at, ",");
        if (n == 1 && *at == '-')
            return 1;
        at += n + (at[n] == ',');
    }
    return 0;
}

static int run(struct options *o, enum mode mode, struct mc_error *err)
{
    enum mc_picture format = pick_format(o);
    size_t n = o->cli.n_operands - 1;
    struct mc_series *s = calloc(n, sizeof *s);
    struct mc_gnuplot *g = NULL;
    int rc = s ? 0 : mc_fail(err, MC_ENOMEM, "out of memory");

    for (size_t i = 0; !rc && i < n; i++) {
        if (is_stdin(o->cli.operands[i + 1]) && isatty(STDIN_FILENO))
            rc = mc_fail(err, MC_EUSAGE, "will not read a table from a terminal (see --help)");
        else
            rc = read_one(o, mode, &s[i], s, o->cli.operands[i + 1], err);
    }
    if (!rc)
        rc = mc_gnuplot_new(&g, format, o->width, o->height, err);
    if (!rc) {
        write_script(o, mode, g, s, n);
        rc = mc_gnuplot_draw(g, mode == SIGNATURE ? "signature.gp" : "panels.gp", o->cli.output,
                             err);
    }
    mc_gnuplot_free(g);
    for (size_t i = 0; s && i < n; i++)
        mc_series_release(&s[i]);
    free(s);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o = {.width = 960, .height = 480};
    struct mc_error err = {0};

    mc_cli_parse(&o.cli, &argp, argc, argv, &o);
    if (!o.cli.n_operands)
        mc_cli_usage("needs one of path, signature, log, then tables (see --help)");
    enum mode mode = (enum mode)mc_parse_choice("picture", o.cli.operands[0], modes);
    if (*o.data && mode != PATH)
        mc_cli_usage("--data is for path");
    if (o.cli.n_operands == 1)
        o.cli.operands[o.cli.n_operands++] = "-";
    if (o.cli.n_operands > MAX_TABLES + 1)
        mc_cli_usage("at most %d tables in a picture", MAX_TABLES);
    return mc_cli_exit(&o.cli, run(&o, mode, &err), &err);
}
