/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-plot: pictures of what the other programs measured. Tables are checked whole before gnuplot
 * starts; how the pictures look is in pipelines/panels.gp and pipelines/signature.gp. */
#include "tools/cli/cli.h"
#include "tools/plot/figure.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_TABLES 16

enum mode { PATH, SIGNATURE, LOG, PLANE };
static const char *const modes[] = {"path", "signature", "log", "plane", NULL};

struct options {
    struct mc_cli cli;
    struct mc_figure figure;
    int format;      /* enum mc_image */
    char names[600]; /* what figure.names point into */
    char data[200];  /* "": not said, until the first table is read */
    double width, height;
    int in_cm;
    enum mode mode;
};

static void parse_size(const char *option, const char *arg, void *value)
{
    struct options *o = value;
    char width[16] = "", height[16] = "";
    const char *x = strchr(arg, 'x');
    size_t n = strlen(arg);

    o->in_cm = n > 2 && !strcmp(arg + n - 2, "cm");
    n -= o->in_cm ? 2 : 0;
    if (!x || (size_t)(x - arg) >= sizeof width || arg + n - x > (long)sizeof height)
        mc_cli_usage("%s: '%s' is neither WIDTHxHEIGHT nor WIDTHxHEIGHTcm", option, arg);
    memcpy(width, arg, (size_t)(x - arg));
    memcpy(height, x + 1, (size_t)(arg + n - x - 1));
    if (o->in_cm) {
        o->width = mc_parse_real(option, width, 5, 60);
        o->height = mc_parse_real(option, height, 4, 60);
    } else {
        o->width = (double)mc_parse_u64(option, width, 200, 8192);
        o->height = (double)mc_parse_u64(option, height, 150, 8192);
    }
}

static void parse_names(const char *option, const char *arg, void *value)
{
    struct options *o = value;
    char *rest = o->names;
    size_t n = 0;

    if (strlen(arg) >= sizeof o->names)
        mc_cli_usage("%s: is too long", option);
    strcpy(o->names, arg);
    while (rest && n < 3)
        o->figure.names[n++] = strsep(&rest, ",");
    if (n < 3 || rest)
        mc_cli_usage("%s: '%s' is not three names with commas between them", option, arg);
}

static void parse_data(const char *option, const char *arg, void *value)
{
    if (!*arg || strlen(arg) >= sizeof((struct options *)0)->data)
        mc_cli_usage("%s: '%s' is no data set's name", option, arg);
    strcpy(value, arg);
}

static const char *const formats[] = {"svg", "png", "pdf", NULL}; /* as enum mc_image */

/* clang-format off */
static const struct mc_option options[] = {
    {"data", 'd', MC_OPT_OTHER, MC_AT(data), .arg = "NAME", .parse = parse_data, .group = 10,
     .only = 1 << PATH | 1 << PLANE,
     .help = "path, plane: draw this data set's columns (default: test, or the first); NAME.robust: those of "
     "mc-eval --attack"},
    {"log-loss", 0, MC_OPT_FLAG, MC_AT(figure.log_loss), .group = 15, .only = 1 << PATH | 1 << LOG,
     .help = "path, log: losses on a logarithmic axis"},
    {"names", 0, MC_OPT_OTHER, 0, .arg = "A,B,C", .parse = parse_names, .group = 15, .only = 1 << PLANE,
     .help = "plane: call the three networks so"},
    {"loss-range", 0, MC_OPT_RANGE, MC_AT(figure.colours[0]), .arg = "FROM:TO", .max = 1e30L, .group = 15,
     .only = 1 << PLANE, .help = "plane: what the colours of losses span (default: all)"},
    {"accuracy-range", 0, MC_OPT_RANGE, MC_AT(figure.colours[1]), .arg = "FROM:TO", .max = 100, .group = 15,
     .only = 1 << PLANE, .help = "plane: and those of accuracies, in percent"},
    {"title", 0, MC_OPT_TEXT, MC_AT(figure.title), .arg = "TEXT", .group = 20, .help = "write this above the picture"},
    {"size", 0, MC_OPT_OTHER, 0, .arg = "WxH", .parse = parse_size, .group = 20,
     .help = "width and height in pixels (default 960x480; of a plane 960x430), or WxHcm: in centimetres, 14x7cm, "
     "fonts as on paper, a PNG of 300 dots an inch"},
    {"format", 0, MC_OPT_CHOICE, MC_AT(format), .names = formats, .group = 20,
     .help = "instead of what the output's name says"},
    MC_OPTION_OUTPUT, {0}};
/* clang-format on */

static const char operands[] =
    "path [LABEL=]TABLE[,TABLE...]...\nsignature [LABEL=]TABLE[,TABLE...]...\n"
    "log [LABEL=]LOG[,LOG...]...\nplane TABLE [MARKS]";
static const char doc[] =
    "Draw curves, planes, correlation signatures and training logs."
    "\vpath draws the loss and accuracy that mc-eval measured along curves, signature the "
    "correlation by layer that mc-corr --signature printed, log the loss and accuracy by epoch "
    "that --log-json wrote, plane the table of mc-eval --plane with the networks and the path of "
    "its "
    "--marks in it. Pictures are SVG, PNG or PDF. Several tables of the same thing, with commas "
    "between them, are drawn as one line, their mean, in a band of their standard deviation (n - "
    "1). An empty or incomplete table "
    "is refused; a log's torn last line, as of a run that was killed, is passed over.\n\n"
    "Examples:\n"
    "  mc-plot path before=straight.tsv after=curve.tsv -o paths.svg\n"
    "  mc-corr --signature --perm p.mcz m.mcz | mc-plot signature -o sig.svg\n"
    "  mc-plot plane --names 'a,b,aligned b' plane.tsv marks.tsv -o plane.png";

static int read_one(struct options *o, struct mc_series *s, const struct mc_series *first,
                    const char *operand, struct mc_error *err)
{
    if (o->mode == PATH)
        return mc_series_curve(s, operand, o->data, sizeof o->data, err);
    if (o->mode == SIGNATURE)
        return mc_series_signature(s, operand, first, err);
    return mc_series_log(s, operand, err);
}

static int pick_format(const struct options *o)
{
    const char *path = o->cli.output, *dot = path ? strrchr(path, '.') : NULL;

    if (mc_option_given(&o->cli, &o->format))
        return o->format;
    if (!path || !strcmp(path, "-"))
        return MC_SVG;
    for (int i = 0; dot && formats[i]; i++)
        if (!strcasecmp(dot + 1, formats[i]))
            return i;
    mc_cli_usage("--output: '%s' ends in none of .svg, .png and .pdf (or use --format)", path);
}

/* The files of [LABEL=]FILE[,FILE...]; a plane's operand is one file. */
static void add_inputs(struct options *o, const char *operand)
{
    char label[sizeof((struct mc_series *)0)->label];
    const char *files = o->mode == PLANE ? operand : mc_series_label(operand, label, sizeof label);
    char *list = strdup(files), *rest = list;

    o->cli.files.failed |= !list;
    while (rest) {
        const char *file = strsep(&rest, o->mode == PLANE ? "" : ",");
        if (!strcmp(file, "-") && isatty(STDIN_FILENO))
            mc_cli_usage("will not read a table from a terminal (see --help)");
        mc_files_add(&o->cli.files, MC_FILE_INPUT, NULL, file);
    }
    free(list);
}

static int draw_lines(struct options *o, struct mc_gnuplot *g, struct mc_error *err)
{
    const enum mode mode = o->mode;
    static const char *const xlabel[] = {[PATH] = "t", [LOG] = "epoch"};
    size_t n = o->cli.n_operands - 1;
    struct mc_series *s = calloc(n, sizeof *s);
    int rc = s ? 0 : mc_no_memory(err);

    for (size_t i = 0; !rc && i < n; i++)
        rc = read_one(o, &s[i], s, o->cli.operands[i + 1], err);
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

static int run(struct options *o, struct mc_error *err)
{
    struct mc_gnuplot g = {0};
    int rc = mc_gnuplot_open(&g, (enum mc_image)o->format, o->width, o->height, o->in_cm, err);

    if (!rc)
        rc = o->mode == PLANE ? draw_plane(o, &g, err) : draw_lines(o, &g, err);
    mc_gnuplot_release(&g);
    return rc;
}

static void check_options(struct options *o)
{
    o->figure.data = o->data;
    if (!o->cli.n_operands)
        mc_cli_usage("needs one of path, signature, log, plane, then tables (see --help)");
    o->mode = (enum mode)mc_parse_choice("picture", o->cli.operands[0], modes);
    const char *idle = mc_option_idle(&o->cli, 1u << o->mode);
    if (idle)
        mc_cli_usage("--%s has no effect in a picture of kind %s", idle, modes[o->mode]);
    if (o->width == 0) {
        o->width = 960;
        o->height = o->mode == PLANE ? 430 : 480;
    }
    if (o->cli.n_operands == 1)
        o->cli.operands[o->cli.n_operands++] = "-";
    size_t most = o->mode == PLANE ? 2 : MAX_TABLES;
    if (o->cli.n_operands > most + 1)
        mc_cli_usage("at most %zu tables in a picture", most);
    o->format = pick_format(o);
    o->cli.text = o->format == MC_SVG;
    o->cli.own_operands = 1;
    for (size_t i = 1; i < o->cli.n_operands; i++)
        add_inputs(o, o->cli.operands[i]);
}

MC_PROGRAM(operands, doc, options, .check = check_options, .run = run)
