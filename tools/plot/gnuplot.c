/* SPDX-License-Identifier: Apache-2.0
 *
 * Run gnuplot on a script in memory. The picture is kept in memory too: gnuplot exits with 0 when a
 * write fails, so the picture's first and last bytes are checked before it is written. */
#include "tools/plot/gnuplot.h"

#include "formats/stream/output.h"
#include "libcommon/base/json.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define WORD_JOINER "\xe2\x81\xa0" /* U+2060, zero width */

/* Open an unlinked file in memory, independent of disk space. */
static FILE *in_memory(void)
{
    int fd = memfd_create("gnuplot", MFD_CLOEXEC);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w+");

    if (fd >= 0 && !f)
        close(fd);
    return f;
}

static int cannot_start(struct mc_error *err, int e)
{
    return mc_fail(err, MC_EFAIL, "cannot start gnuplot: %s", strerror(e));
}

int mc_gnuplot_open(struct mc_gnuplot *g, enum mc_image format, double width, double height,
                    int in_cm, struct mc_error *err)
{
    /* dots per point: paper has 72 points per inch, an SVG 96 pixels */
    const double dots = !in_cm || format == MC_PDF ? 1 : (format == MC_SVG ? 96 : 300) / 72.;
    const double points = in_cm ? 72 / 2.54 : 1;   /* per unit of the size */
    const double min_font = in_cm ? 7 : 9;         /* minimum readable font */
    const double unit = format == MC_PDF ? 72 : 1; /* inches; a pixel counts as a point */

    g->format = format;
    if (!(g->script = in_memory()))
        return mc_no_memory(err);
    width *= points;
    height *= points;
    const double scale = width / 960 < height / 480 ? width / 960 : height / 480;
    const double font = (14 * scale < min_font ? min_font : 14 * scale) * dots;
    width *= dots;
    height *= dots;
    if (dots != 1) { /* whole pixels */
        width = floor(width + .5);
        height = floor(height + .5);
    }
    g->wide = width / font;
    g->high = height / font;
    g->em = font / dots / points;
    g->in_cm = in_cm;
    const double size = format == MC_SVG ? font : font * .75; /* cairo uses 96 dots per inch */
    fprintf(g->script,
            "set encoding utf8\n"
            "set terminal %s noenhanced size %.6g,%.6g font '%s,%.3g' linewidth %.3g"
            " background rgb '#ffffff'%s\n"
            "SCALE = %.4g\nFONT = %.4g\nEM_X = %.6g\nEM_Y = %.6g\n",
            format == MC_SVG   ? "svg"
            : format == MC_PNG ? "pngcairo"
                               : "pdfcairo",
            width / unit, height / unit, format == MC_SVG ? "sans-serif" : "DejaVu Sans", size,
            font / 14, format == MC_PDF ? " fontscale 1" : "", font / 14, size, 1 / g->wide,
            1 / g->high);
    return 0;
}

void mc_gnuplot_release(struct mc_gnuplot *g)
{
    if (g->script)
        fclose(g->script);
    *g = (struct mc_gnuplot){0};
}

/* Write text inside double quotes, where gnuplot supports escapes. Every byte that could be special
 * is escaped; in single quotes, a quote at the start would always end the string. Digits are
 * escaped too, because an octal escape consumes the octal digits after it. */
static void put_bytes(FILE *f, const char *s, size_t n)
{
    for (; n; n--, s++)
        if (isalpha((unsigned char)*s) || *s == ' ' || (unsigned char)*s >= 0x80)
            putc(*s, f);
        else
            fprintf(f, "\\%03o", (unsigned char)*s);
}

void mc_gnuplot_quote(struct mc_gnuplot *g, const char *text, enum mc_gnuplot_text kind)
{
    uint32_t c;

    putc('"', g->script);
    for (size_t left = strlen(text), n = 0; left; text += n, left -= n) {
        n = mc_character(text, left, &c);
        if (c == MC_NO_CHARACTER || c == 0xfffe || c == 0xffff) { /* not allowed in XML */
            fputs("\xef\xbf\xbd", g->script);
        } else if (mc_is_control(c)) {
            putc(' ', g->script);
        } else {
            if (kind == MC_GNUPLOT_TIC && *text == '%')
                put_bytes(g->script, text, n);
            if (!strncmp(
                    text, "]>",
                    2)) { /* "]]>" is not allowed in XML text, and gnuplot does not escape it */
                put_bytes(g->script, "]" WORD_JOINER, 1 + strlen(WORD_JOINER));
                continue;
            }
            put_bytes(g->script, text, n);
        }
    }
    putc('"', g->script);
}

/* Find the path of a script, relative to the running program. */
static int find(const char *script, char *path, size_t size, struct mc_error *err)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    char *slash = NULL;

    if (n > 0) {
        path[n] = 0;
        slash = strrchr(path, '/');
    }
    if (!slash)
        return mc_fail(err, MC_EFAIL, "cannot find the folder of this program: %s",
                       strerror(errno));
    size_t used = (size_t)(slash - path);
    int more = snprintf(slash, size - used, "/../share/mc/%s", script);
    if (more < 0 || (size_t)more >= size - used || access(path, R_OK))
        return mc_fail(err, MC_EFAIL, "cannot read '%s': %s", path, strerror(errno));
    return 0;
}

static int missing(struct mc_error *err)
{
    return mc_fail(err, MC_EFAIL, "cannot find gnuplot on PATH (Debian package: gnuplot-nox)");
}

/* fd: standard input, output and error. */
static int spawn(pid_t *pid, const int fd[3], struct mc_error *err)
{
    /* -d: ignore the user's gnuplot settings, so that the picture is reproducible */
    char *argv[] = {"gnuplot", "-d", NULL};
    posix_spawn_file_actions_t actions;

    unsetenv("GNUTERM"); /* it would select another terminal */
    posix_spawn_file_actions_init(&actions);
    int e = 0;
    for (int i = 0; !e && i < 3; i++)
        e = posix_spawn_file_actions_adddup2(&actions, fd[i], i);
    if (!e)
        e = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (e == ENOENT)
        return missing(err);
    return e ? cannot_start(err, e) : 0;
}

/* Fail with "gnuplot PROBLEM" and the most helpful line of its standard error. */
static int fail(FILE *errors, const char *problem, struct mc_error *err)
{
    char text[256] = "no error message";

    rewind(errors);
    for (char line[256]; !strstr(text, "line ") && fgets(line, sizeof line, errors);) {
        size_t lead = strspn(line, " \t\n^");
        line[strcspn(line, "\n")] = 0;
        if (lead < strlen(line))
            snprintf(text, sizeof text, "%s", line + lead);
    }
    return mc_fail(err, MC_EFAIL, "gnuplot %s: %s", problem, text);
}

static int run(const struct mc_gnuplot *g, FILE *image, FILE *errors, struct mc_error *err)
{
    int status = 0;
    pid_t pid = 0;

    const int fd[3] = {fileno(g->script), fileno(image), fileno(errors)};
    int rc = spawn(&pid, fd, err);
    while (!rc && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    /* if a child cannot report why it failed to start (valgrind), POSIX specifies status 127 */
    if (!rc && WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return missing(err);
    return !rc && status ? fail(errors, "failed", err) : rc;
}

/* Replace the time that cairo writes into a PDF: the same picture must be the same bytes. */
static void reset_date(char *data, size_t n)
{
    static const char key[] = "/CreationDate (D:", fixed[] = "20000101000000";
    char *date = memmem(data, n, key, strlen(key));

    if (date && (size_t)(data + n - date) >= strlen(key) + strlen(fixed))
        memcpy(date + strlen(key), fixed, strlen(fixed));
}

/* Check the first and last bytes of a picture; newlines may follow. */
static int is_whole(enum mc_image format, const char *data, size_t n)
{
    static const char *const ends[][2] = {[MC_SVG] = {"<?xml ", "</svg>"},
                                          [MC_PNG] = {"\x89PNG\r\n\x1a\n", "IEND\xae\x42\x60\x82"},
                                          [MC_PDF] = {"%PDF-", "%%EOF"}};
    const char *first = ends[format][0], *last = ends[format][1];

    while (n && data[n - 1] == '\n')
        n--;
    return n >= strlen(first) + strlen(last) && !memcmp(data, first, strlen(first)) &&
           !memcmp(data + n - strlen(last), last, strlen(last));
}

/* Draw the picture into *data; the caller frees it. */
static int draw(const struct mc_gnuplot *g, char **data, size_t *n, struct mc_error *err)
{
    FILE *image = in_memory(), *errors = in_memory();
    struct stat st;
    int rc = image && errors ? run(g, image, errors, err) : cannot_start(err, errno);

    if (!rc && (fstat(fileno(image), &st) || !(*data = malloc((size_t)st.st_size + 1))))
        rc = mc_no_memory(err);
    if (!rc) {
        rewind(image);
        *n = fread(*data, 1, (size_t)st.st_size, image);
        if (g->format == MC_PDF)
            reset_date(*data, *n);
        if (!is_whole(g->format, *data, *n))
            rc = fail(errors, "drew an incomplete picture", err);
    }
    if (image)
        fclose(image);
    if (errors)
        fclose(errors);
    return rc;
}

int mc_gnuplot_draw(struct mc_gnuplot *g, const char *script, const char *path,
                    struct mc_error *err)
{
    enum mc_output_kind kind = g->format == MC_SVG ? MC_OUTPUT_TEXT : MC_OUTPUT_BINARY;
    struct mc_output *o = NULL;
    char file[PATH_MAX], *data = NULL;
    size_t n = 0;
    int rc = find(script, file, sizeof file, err);

    if (rc)
        return rc;
    fputs("SHARE = \"", g->script);
    put_bytes(g->script, file, (size_t)(strrchr(file, '/') - file));
    fprintf(g->script, "\"\nload SHARE.'/%s'\n", script);
    if (fflush(g->script) || ferror(g->script))
        return mc_no_memory(err);
    rewind(g->script); /* gnuplot reads it from the start */
    /* first, so that an unwritable output fails before the work */
    if ((rc = mc_output_open(&o, path, kind, err)))
        return rc;
    if (!(rc = draw(g, &data, &n, err)))
        rc = mc_output_write(o, data, n, err);
    free(data);
    if (rc) {
        mc_output_abandon(o);
        return rc;
    }
    return mc_output_close(o, err);
}
