/* SPDX-License-Identifier: Apache-2.0
 *
 * mc-plot: pictures of the other programs' results. All tables are checked before gnuplot starts;
 * tools/plot/lines.gp and tools/plot/plane.gp define the look of the pictures. */
#include "tools/cli/cli.h"
#include "tools/plot/figure.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MIN_RANGE 1e-6 /* minimum range of an axis, relative to its values */
#define MAX_TABLES 16
#define MAX_FITTED 32 /* by --fit */

/* in the order of enum mc_picture */
static const char *const modes[] = {"path", "signature", "log", "dots", "plane", NULL};

struct options {
    struct mc_cli cli;
    struct mc_figure figure;
    int format;          /* enum mc_image */
    char names[600];     /* figure.names point into it */
    char data[200];      /* "" without --data, until the first table is read */
    const char *columns; /* drawn as dots */
    double width, height;
    int in_cm;
    struct {
        const char *tables[MAX_FITTED]; /* like operands, but not drawn */
        size_t n;
        char data[200];
    } fit;
    enum mc_picture mode;
};

static void parse_fit(const char *option, const char *arg, void *value)
{
    struct options *o = value;

    if (o->fit.n == MAX_FITTED)
        mc_cli_usage("%s: at most %d times", option, MAX_FITTED);
    o->fit.tables[o->fit.n++] = arg;
}

/* Parse FROM:TO[,FROM:TO]; the first range may be empty. */
static void parse_y_range(const char *option, const char *arg, void *value)
{
    double(*range)[2] = value;
    char part[64];

    for (size_t k = 0; arg; k++) {
        const size_t n = strcspn(arg, ",");
        if (k == 2 || n >= sizeof part)
            mc_cli_usage("%s: FROM:TO or FROM:TO,FROM:TO expected, got '%s'", option, arg);
        memcpy(part, arg, n);
        part[n] = 0;
        if (*part || k || arg[n] != ',')
            mc_parse_range(option, part, -1e30, 1e30, range[k]);
        arg = arg[n] ? arg + n + 1 : NULL;
    }
}

static void parse_size(const char *option, const char *arg, void *value)
{
    struct options *o = value;
    char width[16] = "", height[16] = "";
    const char *x = strchr(arg, 'x');
    size_t n = strlen(arg);

    o->in_cm = n > 2 && !strcmp(arg + n - 2, "cm");
    n -= o->in_cm ? 2 : 0;
    if (!x || (size_t)(x - arg) >= sizeof width || arg + n - x > (long)sizeof height)
        mc_cli_usage("%s: WIDTHxHEIGHT or WIDTHxHEIGHTcm expected, got '%s'", option, arg);
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
        mc_cli_usage("%s: names of at most %zu characters expected", option, sizeof o->names - 1);
    strcpy(o->names, arg);
    while (rest && n < 3)
        o->figure.names[n++] = strsep(&rest, ",");
    if (n < 3 || rest)
        mc_cli_usage("%s: three names separated by commas expected, got '%s'", option, arg);
}

static void parse_data(const char *option, const char *arg, void *value)
{
    if (!*arg || strlen(arg) >= sizeof((struct options *)0)->data)
        mc_cli_usage("%s: name of a data set expected, got '%s'", option, arg);
    strcpy(value, arg);
}

static const char *const formats[] = {"svg", "png", "pdf", NULL}; /* in the order of mc_image */

/* clang-format off */
static const struct mc_option options[] = {
    {"data", 'd', MC_OPT_OTHER, MC_AT(data), .arg = "NAME", .parse = parse_data, .group = 10,
     .only = 1 << MC_PICTURE_PATH | 1 << MC_PICTURE_PLANE,
     .help = "path, plane: draw this data set's columns (default: test, or the first); NAME.robust: the columns of "
     "mc-eval --attack"},
    {"log-loss", 0, MC_OPT_FLAG, MC_AT(figure.log_loss), .group = 15, .only = 1 << MC_PICTURE_PATH | 1 << MC_PICTURE_LOG,
     .help = "path, log: draw losses on a logarithmic axis; losses of 0 are on a dotted line below it"},
    {"y-range", 0, MC_OPT_OTHER, MC_AT(figure.range), .arg = "FROM:TO[,FROM:TO]", .parse = parse_y_range, .group = 15,
     .only = 1 << MC_PICTURE_PATH | 1 << MC_PICTURE_LOG | 1 << MC_PICTURE_SIGNATURE | 1 << MC_PICTURE_DOTS,
     .help = "path, log: ranges of the loss and the accuracy axis (,80:100 sets only the latter); signature, dots: range "
     "of the axis (default: chosen, see below)"},
    {"columns", 0, MC_OPT_TEXT, MC_AT(columns), .arg = "NAME[,NAME...]", .group = 15, .only = 1 << MC_PICTURE_DOTS,
     .help = "dots: draw these columns; a column NAME_sd has the deviations"},
    {"label", 0, MC_OPT_TEXT, MC_AT(figure.rows), .arg = "NAME[,NAME...]", .group = 15, .only = 1 << MC_PICTURE_DOTS,
     .help = "dots: columns that name a row (default: the first)"},
    {"y-name", 0, MC_OPT_TEXT, MC_AT(figure.y_name), .arg = "TEXT", .group = 15, .only = 1 << MC_PICTURE_DOTS,
     .help = "dots: name of the axis (default: the column, if there is one)"},
    {"names", 0, MC_OPT_OTHER, 0, .arg = "A,B,C", .parse = parse_names, .group = 15, .only = 1 << MC_PICTURE_PLANE,
     .help = "plane: names of the three networks"},
    {"loss-range", 0, MC_OPT_RANGE, MC_AT(figure.range[0]), .arg = "FROM:TO", .max = 1e30L, .group = 15,
     .only = 1 << MC_PICTURE_PLANE, .help = "plane: range of the loss colours (default: all values)"},
    {"accuracy-range", 0, MC_OPT_RANGE, MC_AT(figure.range[1]), .arg = "FROM:TO", .max = 100, .group = 15,
     .only = 1 << MC_PICTURE_PLANE, .help = "plane: range of the accuracy colours, in percent"},
    {"fit", 0, MC_OPT_OTHER, 0, .arg = "TABLE.tsv[,TABLE.tsv...]", .parse = parse_fit, .group = 16,
     .only = 1 << MC_PICTURE_PATH | 1 << MC_PICTURE_LOG | 1 << MC_PICTURE_SIGNATURE | 1 << MC_PICTURE_PLANE,
     .help = "include this line or plane in the ranges without drawing it, to give several pictures the same scale; "
     "repeatable"},
    {"fit-data", 0, MC_OPT_OTHER, MC_AT(fit.data), .arg = "NAME", .parse = parse_data, .group = 16,
     .only = 1 << MC_PICTURE_PATH | 1 << MC_PICTURE_PLANE, .help = "path, plane: include this data set's columns in the ranges"},
    {"title", 0, MC_OPT_TEXT, MC_AT(figure.title), .arg = "TEXT", .group = 20, .help = "title above the picture"},
    {"size", 0, MC_OPT_OTHER, 0, .arg = "WxH", .parse = parse_size, .group = 20,
     .help = "width and height in pixels (default 960x480; plane: 960x430), or with the unit cm, as 14x7cm: fonts for "
     "print, PNG with 300 dpi"},
    {"format", 0, MC_OPT_CHOICE, MC_AT(format), .names = formats, .group = 20,
     .help = "picture format (default: from the output's name)"},
    MC_OPTION_OUTPUT, {0}};
/* clang-format on */

static const char operands[] =
    "path [LABEL=]TABLE.tsv[,TABLE.tsv...]...\nsignature [LABEL=]TABLE.tsv[,TABLE.tsv...]...\n"
    "log [LABEL=]LOG[,LOG...]...\ndots --columns NAME[,NAME...] TABLE.tsv\nplane TABLE.tsv "
    "[MARKS.tsv]";
static const char doc[] =
    "Draw curves, planes, correlation signatures, logs and columns of tables."
    "\vpath draws the loss and accuracy that mc-eval measured along curves. signature draws the "
    "correlation by layer from mc-corr --signature. log draws the loss and accuracy by epoch from "
    "--log-json. path and log draw the loss alone if no table has an accuracy. dots draws columns "
    "of any table, such as OUT/methods.tsv of methods.mk: one place "
    "per row, one colour per column. Empty cells have no dot. plane draws the table of mc-eval "
    "--plane with the networks and the path from its "
    "--marks. Pictures are SVG, PNG or PDF.\n\n"
    "Several tables of the same kind, separated by commas, are drawn as one line: their mean, in a "
    "band of their standard deviation (n - 1). An isolated point has a bar instead. An empty or "
    "incomplete table is an error. A log's torn last line, from a killed run, is skipped. Missing "
    "epochs break the line of a log, and branches of a block break that of a signature.\n\n"
    "path chooses ranges that keep the lines distinct. If a line with a much larger range would "
    "flatten the others, it leaves the frame: arrows mark where, and the legend shows its "
    "highest or lowest value.\n\n"
    "Examples:\n"
    "  mc-plot path before=straight.tsv after=curve.tsv -o paths.svg\n"
    "  mc-corr --signature --perm p.mcz m.mcz | mc-plot signature -o sig.svg\n"
    "  mc-plot dots --label order --columns repaired methods.tsv -o m.svg\n"
    "  mc-plot plane --names 'a,b,aligned b' plane.tsv marks.tsv -o plane.png";

/* Read the tables of one line; data: for a path, the name of its data set. */
static int read_one(struct options *o, struct mc_series *s, const struct mc_series *first,
                    const char *operand, char *data, struct mc_error *err)
{
    if (o->mode == MC_PICTURE_PATH)
        return mc_series_curve(s, operand, first, data, sizeof o->data, err);
    if (o->mode == MC_PICTURE_SIGNATURE)
        return mc_series_signature(s, operand, first, err);
    return mc_series_log(s, operand, first, err);
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
    mc_cli_usage("--output: name ending in .svg, .png or .pdf expected, got '%s' (or use --format)",
                 path);
}

/* An operand is one file, without a label. */
static int is_table(const struct options *o)
{
    return o->mode == MC_PICTURE_PLANE || o->mode == MC_PICTURE_DOTS;
}

/* Register the files of an operand. */
static void add_inputs(struct options *o, const char *operand)
{
    char label[sizeof((struct mc_series *)0)->label];
    const char *files = is_table(o) ? operand : mc_series_label(operand, label, sizeof label);
    char *list = strdup(files), *rest = list;

    o->cli.files.alloc_failed |= !list;
    while (rest) {
        const char *file = strsep(&rest, is_table(o) ? "" : ",");
        if (!strcmp(file, "-") && isatty(STDIN_FILENO))
            mc_cli_usage("a table is required: a file or a pipe, not a terminal (see --help)");
        mc_files_add(&o->cli.files, MC_FILE_INPUT, NULL, file);
    }
    free(list);
}

/* Input i: first the operands that are drawn, then those of --fit. */
static const char *operand(const struct options *o, size_t i)
{
    const size_t drawn = o->mode == MC_PICTURE_PLANE ? 1 : o->cli.n_operands - 1;

    return i < drawn ? o->cli.operands[i + 1] : o->fit.tables[i - drawn];
}

/* Refuse negative losses on a logarithmic axis; report losses of 0 in lines that are drawn. */
static int check_log_loss(const struct options *o, const struct mc_series *s, size_t n,
                          size_t fitted, struct mc_error *err)
{
    size_t positive = 0;

    for (size_t i = 0; i < fitted; i++) {
        size_t zeros = 0;
        for (size_t r = 0; r < s[i].rows; r++) {
            const double loss = s[i].mean[s[i].rows + r];
            zeros += loss == 0;
            positive += loss > 0;
            if (loss < 0)
                return mc_fail(err, MC_EINPUT, "%s: --log-loss requires losses above 0 (got %g)",
                               s[i].table.name, loss);
        }
        if (zeros && zeros < s[i].rows && i < n)
            mc_message_at(&o->cli, MC_LEVEL_WARN,
                          "%s: %zu of %zu losses are 0: drawn below the logarithmic axis, at '0'",
                          s[i].label, zeros, s[i].rows);
    }
    return positive ? 0
                    : mc_fail(err, MC_EINPUT, "%s: --log-loss requires losses above 0 (all are 0)",
                              s[0].table.name);
}

static int draw_lines(struct options *o, struct mc_gnuplot *g, struct mc_error *err)
{
    const size_t n = o->cli.n_operands - 1, each = n + o->fit.n;
    const size_t fitted = *o->fit.data ? 2 * each : each;
    struct mc_series *s = calloc(fitted, sizeof *s);
    int rc = s ? 0 : mc_no_memory(err);

    for (size_t i = 0; !rc && i < fitted; i++)
        rc = read_one(o, &s[i], s, operand(o, i % each), i < each ? o->data : o->fit.data, err);
    if (!rc && s->cols == 2 && o->figure.range[1][0] != o->figure.range[1][1])
        rc = mc_fail(err, MC_EUSAGE, "--y-range: one range expected for losses alone, got two");
    if (!rc && o->figure.log_loss)
        rc = check_log_loss(o, s, n, fitted, err);
    if (!rc)
        rc = mc_figure_lines(g, &o->figure, s, n, fitted, err);
    if (!rc)
        rc = mc_gnuplot_draw(g, "lines.gp", o->cli.output, err);
    for (size_t i = 0; s && i < fitted; i++)
        mc_series_release(&s[i]);
    free(s);
    return rc;
}

static int draw_dots(struct options *o, struct mc_gnuplot *g, struct mc_error *err)
{
    struct mc_series s[MC_SERIES_COLUMNS] = {0};
    size_t n = 0;
    int rc = mc_series_columns(s, &n, o->cli.operands[1], o->columns, err);

    if (!rc)
        rc = mc_figure_lines(g, &o->figure, s, n, n, err);
    if (!rc)
        rc = mc_gnuplot_draw(g, "lines.gp", o->cli.output, err);
    for (size_t i = 0; i < MC_SERIES_COLUMNS; i++)
        mc_series_release(&s[i]);
    return rc;
}

static int draw_plane(struct options *o, struct mc_gnuplot *g, struct mc_error *err)
{
    const size_t each = 1 + o->fit.n, fitted = *o->fit.data ? 2 * each : each;
    struct mc_grid *grids = calloc(fitted, sizeof *grids);
    struct mc_mark *marks = NULL;
    size_t n = 0;
    int rc = grids ? 0 : mc_no_memory(err);

    for (size_t i = 0; !rc && i < fitted; i++)
        rc = mc_grid_read(&grids[i], operand(o, i % each), i < each ? o->data : o->fit.data,
                          sizeof o->data, err);
    if (!rc && o->cli.n_operands > 2)
        rc = mc_marks_read(&marks, &n, o->cli.operands[2], err);
    if (!rc)
        rc = mc_figure_plane(g, &o->figure, grids, fitted, marks, n, err);
    if (!rc)
        rc = mc_gnuplot_draw(g, "plane.gp", o->cli.output, err);
    free(marks);
    for (size_t i = 0; grids && i < fitted; i++)
        mc_grid_release(&grids[i]);
    free(grids);
    return rc;
}

static int run(struct options *o, struct mc_error *err)
{
    struct mc_gnuplot g = {0};
    int rc = mc_gnuplot_open(&g, (enum mc_image)o->format, o->width, o->height, o->in_cm, err);

    if (!rc)
        rc = o->mode == MC_PICTURE_PLANE  ? draw_plane(o, &g, err)
             : o->mode == MC_PICTURE_DOTS ? draw_dots(o, &g, err)
                                          : draw_lines(o, &g, err);
    mc_gnuplot_release(&g);
    return rc;
}

static void check_options(struct options *o)
{
    o->figure.data = o->data;
    if (!o->cli.n_operands)
        mc_cli_usage(
            "missing: operand path, signature, log, dots or plane, and tables (see --help)");
    o->mode = (enum mc_picture)mc_parse_choice("figure", o->cli.operands[0], modes);
    o->figure.kind = o->mode;
    const char *idle = mc_option_idle(&o->cli, 1u << o->mode);
    if (idle)
        mc_cli_usage("--%s has no effect on %s", idle, modes[o->mode]);
    if (o->width == 0) {
        o->width = 960;
        o->height = o->mode == MC_PICTURE_PLANE ? 430 : 480;
    }
    if (o->cli.n_operands == 1)
        o->cli.operands[o->cli.n_operands++] = "-";
    const size_t max = o->mode == MC_PICTURE_PLANE  ? 2
                       : o->mode == MC_PICTURE_DOTS ? 1
                                                    : MAX_TABLES;
    if (o->cli.n_operands > max + 1)
        mc_cli_usage("%s: at most %zu table%s expected, got %zu", modes[o->mode], max,
                     max == 1 ? "" : "s", o->cli.n_operands - 1);
    if (o->mode == MC_PICTURE_DOTS && !o->columns)
        mc_cli_usage("dots: --columns NAME[,NAME...] is required");
    const char *option = o->mode == MC_PICTURE_PLANE ? "loss-range, --accuracy-range" : "y-range";
    for (int k = 0; k < 2; k++) {
        const double *r = o->figure.range[k], size = fmax(fabs(r[0]), fabs(r[1]));
        if (r[0] != r[1] && r[1] - r[0] < MIN_RANGE * size)
            mc_cli_usage("--%s: the range must be at least %g of its values (got %.9g:%.9g)",
                         option, MIN_RANGE, r[0], r[1]);
    }
    const double *range = o->figure.range[0];
    if (o->figure.log_loss && range[0] != range[1] && range[0] <= 0)
        mc_cli_usage("--y-range: with --log-loss it must start above 0 (got %g)", range[0]);
    if ((o->mode == MC_PICTURE_SIGNATURE || o->mode == MC_PICTURE_DOTS) &&
        o->figure.range[1][0] != o->figure.range[1][1])
        mc_cli_usage("--y-range: one range expected for %s, got two", modes[o->mode]);
    o->format = pick_format(o);
    o->cli.text = o->format == MC_SVG;
    o->cli.own_operands = 1;
    for (size_t i = 1; i < o->cli.n_operands; i++)
        add_inputs(o, o->cli.operands[i]);
    for (size_t i = 0; i < o->fit.n; i++)
        add_inputs(o, o->fit.tables[i]);
}

MC_PROGRAM(operands, doc, options, .check = check_options, .run = run)
