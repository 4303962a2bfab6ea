/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-plot: pictures of what the other programs measured. Tables are checked whole before gnuplot
 * starts; how the pictures look is in pipelines/panels.gp and pipelines/signature.gp. */
#include "mc_cli.h"
#include "mc_gnuplot.h"
#include "mc_table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_TABLES 16

enum mode { PATH, SIGNATURE, LOG };
static const char *const modes[] = {"path", "signature", "log", NULL};

struct options {
    struct mc_cli cli;
    const char *title, *data, *format;
    char picked[200]; /* where data points when the user did not say */
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
        o->data = arg;
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
    "path [LABEL=]TABLE...\nsignature [LABEL=]TABLE...\nlog [LABEL=]LOG...",
    "Draw curves, correlation signatures and training logs as SVG or PNG."
    "\vpath draws the loss and accuracy that mc-eval measured along curves, signature the "
    "correlation by layer that mc-corr --signature printed, log the loss and accuracy by epoch "
    "that "
    "--log-json wrote. An empty or incomplete table is refused.\n\nExamples:\n"
    "  mc-plot path before=straight.tsv after=curve.tsv -o paths.svg\n"
    "  mc-corr --signature --perm p.mcz m.mcz | mc-plot signature -o sig.svg",
    NULL,
    NULL,
    NULL};

/* What is drawn: a table, its label, and the columns that count as numbers, row by row. */
struct drawn {
    char label[200];
    struct mc_table table;
    size_t n;  /* columns drawn */
    double *v; /* (n, rows) */
};

/* LABEL=FILE, where LABEL holds no slash; else the label is the file's name without its ending. */
static const char *settle_label(struct drawn *d, const char *operand)
{
    size_t n = strcspn(operand, "=/");

    if (n && operand[n] == '=' && n < sizeof d->label) {
        memcpy(d->label, operand, n);
        return operand + n + 1;
    }
    const char *slash = strrchr(operand, '/');
    snprintf(d->label, sizeof d->label, "%s", slash ? slash + 1 : operand);
    char *dot = strrchr(d->label, '.');
    if (dot && dot != d->label)
        *dot = 0;
    return operand;
}

static int take_columns(struct drawn *d, const char *const *names, size_t n, struct mc_error *err)
{
    int rc = 0;

    d->n = n;
    if (!(d->v = calloc(n * d->table.rows, sizeof *d->v)))
        return mc_fail(err, MC_ENOMEM, "out of memory");
    for (size_t i = 0; !rc && i < n; i++) {
        size_t col = 0;
        rc = mc_table_column(&d->table, names[i], &col, err);
        if (!rc)
            rc = mc_table_numbers(&d->table, col, d->v + i * d->table.rows, err);
    }
    return rc;
}

/* The data set to draw of all tables: the one asked for, or test, or the first table's first. */
static void pick_data(struct options *o, const struct mc_table *t)
{
    const char *suffix = ".loss";

    if (o->data)
        return;
    o->data = "test";
    if (mc_table_find(t, "test.loss") >= 0)
        return;
    for (size_t i = 0; i < t->cols; i++) {
        const char *dot = strrchr(t->names[i], '.');
        if (dot && !strcmp(dot, suffix)) {
            snprintf(o->picked, sizeof o->picked, "%.*s", (int)(dot - t->names[i]), t->names[i]);
            o->data = o->picked;
            return;
        }
    }
}

static int read_path(struct options *o, struct drawn *d, const char *file, struct mc_error *err)
{
    char loss[256], accuracy[256];
    const char *names[] = {"t", loss, accuracy};
    int rc = mc_table_read(&d->table, file, err);

    if (rc)
        return rc;
    pick_data(o, &d->table);
    snprintf(loss, sizeof loss, "%s.loss", o->data);
    snprintf(accuracy, sizeof accuracy, "%s.accuracy", o->data);
    if ((rc = take_columns(d, names, 3, err)))
        return rc;
    for (size_t r = 1; r < d->table.rows; r++)
        if (!(d->v[r] > d->v[r - 1]))
            return mc_fail(err, MC_EINPUT, "%s: line %zu: t does not grow", d->table.name,
                           d->table.lines[r]);
    if (d->v[0] > 0 || d->v[d->table.rows - 1] < 1)
        return mc_fail(err, MC_EINPUT, "%s: is not whole: t runs from %g to %g, not from 0 to 1",
                       d->table.name, d->v[0], d->v[d->table.rows - 1]);
    return 0;
}

static int read_signature(struct drawn *d, const struct drawn *first, const char *file,
                          struct mc_error *err)
{
    static const char *const names[] = {"identity", "permuted"};
    size_t col = 0, col_first = 0;
    int rc = mc_table_read(&d->table, file, err);

    if (!rc && mc_table_find(&d->table, "identity") >= 0 &&
        mc_table_find(&d->table, "permuted") < 0)
        rc =
            mc_fail(err, MC_EINPUT, "%s: has no column 'permuted' (use mc-corr --signature --perm)",
                    d->table.name);
    if (!rc)
        rc = take_columns(d, names, 2, err);
    if (!rc)
        rc = mc_table_column(&d->table, "layer", &col, err);
    if (!rc)
        rc = mc_table_column(&first->table, "layer", &col_first, err);
    if (rc)
        return rc;
    for (size_t r = 0; r < d->table.rows || r < first->table.rows; r++)
        if (r >= d->table.rows || r >= first->table.rows ||
            strcmp(d->table.cells[r * d->table.cols + col],
                   first->table.cells[r * first->table.cols + col_first]))
            return mc_fail(err, MC_EINPUT, "%s: has other layers than %s", d->table.name,
                           first->table.name);
    return 0;
}

static int read_one(struct options *o, enum mode mode, struct drawn *d, const struct drawn *first,
                    const char *file, struct mc_error *err)
{
    static const char *const log_names[] = {"epoch", "loss", "accuracy"};

    if (mode == PATH)
        return read_path(o, d, file, err);
    if (mode == SIGNATURE)
        return read_signature(d, first, file, err);
    int rc = mc_table_read_log(&d->table, file, "epoch", err);
    return rc ? rc : take_columns(d, log_names, 3, err);
}

/* What the scripts read: see the head of pipelines/panels.gp and of pipelines/signature.gp. */
static void write_script(const struct options *o, enum mode mode, struct mc_gnuplot *g,
                         const struct drawn *d, size_t n)
{
    FILE *f = mc_gnuplot_script(g);
    char name[260];

    fputs("TITLE = ", f);
    mc_gnuplot_quote(g, o->title ? o->title : "");
    fputs("\nDATA_NAME = ", f);
    snprintf(name, sizeof name, "%s%s", o->data ? o->data : "", o->data ? " " : "");
    mc_gnuplot_quote(g, name);
    fprintf(f, "\nXLABEL = '%s'\nN = %zu\narray LABEL[N]\n", mode == LOG ? "epoch" : "t", n);
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "LABEL[%zu] = ", i + 1);
        mc_gnuplot_quote(g, d[i].label);
        putc('\n', f);
    }
    if (mode == SIGNATURE) {
        const struct mc_table *t = &d[0].table;
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
        for (size_t r = 0; r < d[i].table.rows; r++) {
            for (size_t c = 0; c < d[i].n; c++)
                fprintf(f, "%s%.9g", c ? " " : "", d[i].v[c * d[i].table.rows + r]);
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

static int run(struct options *o, enum mode mode, struct mc_error *err)
{
    enum mc_picture format = pick_format(o);
    size_t n = o->cli.n_operands - 1;
    struct drawn *d = calloc(n, sizeof *d);
    struct mc_gnuplot *g = NULL;
    int rc = d ? 0 : mc_fail(err, MC_ENOMEM, "out of memory");

    for (size_t i = 0; !rc && i < n; i++) {
        const char *file = settle_label(&d[i], o->cli.operands[i + 1]);
        if (!strcmp(file, "-") && isatty(STDIN_FILENO))
            rc = mc_fail(err, MC_EUSAGE, "will not read a table from a terminal (see --help)");
        else
            rc = read_one(o, mode, &d[i], d, file, err);
    }
    if (!rc)
        rc = mc_gnuplot_new(&g, format, o->width, o->height, err);
    if (!rc) {
        write_script(o, mode, g, d, n);
        rc = mc_gnuplot_draw(g, mode == SIGNATURE ? "signature.gp" : "panels.gp", o->cli.output,
                             err);
    }
    mc_gnuplot_free(g);
    for (size_t i = 0; d && i < n; i++) {
        mc_table_release(&d[i].table);
        free(d[i].v);
    }
    free(d);
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
    if (o.data && mode != PATH)
        mc_cli_usage("--data is for path");
    if (o.cli.n_operands == 1)
        o.cli.operands[o.cli.n_operands++] = "-";
    if (o.cli.n_operands > MAX_TABLES + 1)
        mc_cli_usage("at most %d tables in a picture", MAX_TABLES);
    return mc_cli_exit(&o.cli, run(&o, mode, &err), &err);
}
