/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-plot: pictures of what the other programs measured. Tables are checked whole before gnuplot
 * starts; how the pictures look is in pipelines/panels.gp and pipelines/signature.gp. */
#include "tools/cli/cli.h"
#include "tools/plot/figure.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_TABLES 16

enum mode { PATH, SIGNATURE, LOG, PLANE };
static const char *const modes[] = {"path", "signature", "log", "plane", NULL};

struct options {
    struct mc_cli cli;
    struct mc_figure figure;
    const char *format, *plane_given; /* plane_given: an option of planes, or NULL */
    char names[600];                  /* what figure.names point into */
    char data[200];                   /* "": not said, until the first table is read */
    int width, height;
};

enum { KEY_SIZE = MC_KEY_TOOL, KEY_TITLE, KEY_FORMAT, KEY_NAMES, KEY_LOSS, KEY_ACCURACY };

/* clang-format off */
static const struct argp_option options[] = {
    {"data", 'd', "NAME", 0, "path, plane: draw this data set's columns (default: test, or the first); "
     "NAME.robust: those of mc-eval --attack", 10},
    {"names", KEY_NAMES, "A,B,C", 0, "plane: call the three networks so", 15},
    {"loss-range", KEY_LOSS, "FROM:TO", 0, "plane: what the colours of losses span (default: all)", 15},
    {"accuracy-range", KEY_ACCURACY, "FROM:TO", 0, "plane: and those of accuracies, in percent", 15},
    {"title", KEY_TITLE, "TEXT", 0, "write this above the picture", 20},
    {"size", KEY_SIZE, "WxH", 0, "width and height in pixels (default 960x480; of a plane 960x430)", 20},
    {"format", KEY_FORMAT, "svg|png|pdf", 0, "instead of what the output's name says", 20},
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

static void parse_names(struct options *o, const char *arg)
{
    char *rest = o->names;
    size_t n = 0;

    if (strlen(arg) >= sizeof o->names)
        mc_cli_usage("--names: is too long");
    strcpy(o->names, arg);
    while (rest && n < 3)
        o->figure.names[n++] = strsep(&rest, ",");
    if (n < 3 || rest)
        mc_cli_usage("--names: '%s' is not three names with commas between them", arg);
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
        o->figure.title = arg;
        return 0;
    case KEY_NAMES:
        o->plane_given = "names";
        parse_names(o, arg);
        return 0;
    case KEY_LOSS:
        o->plane_given = "loss-range";
        mc_parse_range("--loss-range", arg, 0, 1e30, o->figure.colours[0]);
        return 0;
    case KEY_ACCURACY:
        o->plane_given = "accuracy-range";
        mc_parse_range("--accuracy-range", arg, 0, 100, o->figure.colours[1]);
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
    "log [LABEL=]LOG[,LOG...]...\nplane TABLE [MARKS]",
    "Draw curves, planes, correlation signatures and training logs."
    "\vpath draws the loss and accuracy that mc-eval measured along curves, signature the "
    "correlation by layer that mc-corr --signature printed, log the loss and accuracy by epoch "
    "that "
    "--log-json wrote, plane the table of mc-eval --plane with the networks and the path of its "
    "--marks in it. Pictures are SVG, PNG or PDF. Several tables of the same thing, with commas "
    "between them, are drawn as "
    "one "
    "line, their mean, in a band of their standard deviation (n - 1). An empty or incomplete table "
    "is refused; a log's torn last line, as of a run that was killed, is passed over.\n\n"
    "Examples:\n"
    "  mc-plot path before=straight.tsv after=curve.tsv -o paths.svg\n"
    "  mc-corr --signature --perm p.mcz m.mcz | mc-plot signature -o sig.svg\n"
    "  mc-plot plane --names 'a,b,aligned b' plane.tsv marks.tsv -o plane.png",
    NULL,
    NULL,
    NULL};

static int read_one(struct options *o, enum mode mode, struct mc_series *s,
                    const struct mc_series *first, const char *operand, struct mc_error *err)
{
    if (mode == PATH)
        return mc_series_curve(s, operand, o->data, sizeof o->data, err);
    if (mode == SIGNATURE)
        return mc_series_signature(s, operand, first, err);
    return mc_series_log(s, operand, err);
}

static enum mc_image pick_format(const struct options *o)
{
    static const char *const formats[] = {"svg", "png", "pdf", NULL}; /* as enum mc_image */
    const char *path = o->cli.output, *dot = path ? strrchr(path, '.') : NULL;

    if (o->format)
        return (enum mc_image)mc_parse_choice("--format", o->format, formats);
    if (!path || !strcmp(path, "-"))
        return MC_SVG;
    for (int i = 0; dot && formats[i]; i++)
        if (!strcmp(dot + 1, formats[i]))
            return (enum mc_image)i;
    mc_cli_usage("--output: '%s' ends in none of .svg, .png and .pdf (or use --format)", path);
}

/* The files of [LABEL=]FILE[,FILE...]; a plane's operand is one file. */
static int add_inputs(struct options *o, enum mode mode, const char *operand, struct mc_error *err)
{
    char label[sizeof((struct mc_series *)0)->label];
    const char *files = mode == PLANE ? operand : mc_series_label(operand, label, sizeof label);
    char *list = strdup(files), *rest = list;

    if (!list)
        return mc_no_memory(err);
    while (rest) {
        const char *file = strsep(&rest, mode == PLANE ? "" : ",");
        if (!strcmp(file, "-") && isatty(STDIN_FILENO))
            mc_cli_usage("will not read a table from a terminal (see --help)");
        mc_cli_file(&o->cli, MC_FILE_INPUT, NULL, file);
    }
    free(list);
    return 0;
}

static int draw_lines(struct options *o, enum mode mode, struct mc_gnuplot *g, struct mc_error *err)
{
    static const char *const xlabel[] = {[PATH] = "t", [LOG] = "epoch"};
    size_t n = o->cli.n_operands - 1;
    struct mc_series *s = calloc(n, sizeof *s);
    int rc = s ? 0 : mc_no_memory(err);

    for (size_t i = 0; !rc && i < n; i++)
        rc = read_one(o, mode, &s[i], s, o->cli.operands[i + 1], err);
    if (!rc) {
        mc_figure_lines(g, &o->figure, mode == SIGNATURE ? NULL : xlabel[mode], s, n);
        rc = mc_gnuplot_draw(g, mode == SIGNATURE ? "signature.gp" : "panels.gp", o->cli.output,
                             err);
    }
    for (size_t i = 0; s && i < n; i++)
        mc_series_release(&s[i]);
    free(s);
    return rc;
}

static int draw_plane(struct options *o, struct mc_gnuplot *g, struct mc_error *err)
{
    struct mc_grid grid = {0};
    struct mc_mark *marks = NULL;
    size_t n = 0;
    int rc = mc_grid_read(&grid, o->cli.operands[1], o->data, sizeof o->data, err);

    if (!rc && o->cli.n_operands > 2)
        rc = mc_marks_read(&marks, &n, o->cli.operands[2], err);
    if (!rc) {
        mc_figure_plane(g, &o->figure, &grid, marks, n);
        rc = mc_gnuplot_draw(g, "plane.gp", o->cli.output, err);
    }
    free(marks);
    mc_grid_release(&grid);
    return rc;
}

static int run(struct options *o, enum mode mode, struct mc_error *err)
{
    struct mc_gnuplot *g = NULL;
    int rc = 0;

    const enum mc_image format = pick_format(o);
    o->cli.own_operands = 1;
    for (size_t i = 1; !rc && i < o->cli.n_operands; i++)
        rc = add_inputs(o, mode, o->cli.operands[i], err);
    if (!rc)
        rc = mc_cli_ready(&o->cli, format != MC_SVG, err);
    if (!rc)
        rc = mc_gnuplot_new(&g, format, o->width, o->height, err);
    if (!rc)
        rc = mode == PLANE ? draw_plane(o, g, err) : draw_lines(o, mode, g, err);
    mc_gnuplot_free(g);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o = {0};
    struct mc_error err = {0};

    mc_cli_parse(&o.cli, &argp, argc, argv, &o);
    o.figure.data = o.data;
    if (!o.cli.n_operands)
        mc_cli_usage("needs one of path, signature, log, plane, then tables (see --help)");
    enum mode mode = (enum mode)mc_parse_choice("picture", o.cli.operands[0], modes);
    if (*o.data && mode != PATH && mode != PLANE)
        mc_cli_usage("--data is for path and plane");
    if (o.plane_given && mode != PLANE)
        mc_cli_usage("--%s is for plane", o.plane_given);
    if (!o.width) {
        o.width = 960;
        o.height = mode == PLANE ? 430 : 480;
    }
    if (o.cli.n_operands == 1)
        o.cli.operands[o.cli.n_operands++] = "-";
    size_t most = mode == PLANE ? 2 : MAX_TABLES;
    if (o.cli.n_operands > most + 1)
        mc_cli_usage("at most %zu tables in a picture", most);
    return mc_cli_exit(&o.cli, run(&o, mode, &err), &err);
}
