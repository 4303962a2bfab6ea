/* SPDX-License-Identifier: Apache-2.0
 *
 * Running gnuplot on a script held in memory. Its picture is held there too, and checked: gnuplot
 * may fail half-way without a word, and where it says one that belongs in one line. */
#include "tools/plot/gnuplot.h"

#include "formats/stream/bounds.h"
#include "formats/stream/output.h"
#include "libcommon/base/json.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define WORD_JOINER "\xe2\x81\xa0" /* U+2060, which has no width */

struct mc_gnuplot {
    enum mc_image format;
    char *text;
    size_t bytes;
    FILE *script;
};

int mc_gnuplot_new(struct mc_gnuplot **out, enum mc_image format, int width, int height,
                   struct mc_error *err)
{
    struct mc_gnuplot *g = calloc(1, sizeof *g);
    double scale = width / 960. < height / 480. ? width / 960. : height / 480.;

    *out = NULL;
    if (!g || !(g->script = open_memstream(&g->text, &g->bytes))) {
        free(g);
        return mc_no_memory(err);
    }
    g->format = format;
    /* below 9 points nobody reads it */
    double font = 14 * scale < 9 ? 9 : 14 * scale;
    double unit = format == MC_PDF ? 72 : 1; /* inches, a pixel taken for a point */
    fprintf(g->script,
            "set encoding utf8\n"
            "set terminal %s noenhanced size %.6g,%.6g font '%s,%.3g' linewidth %.3g"
            " background rgb '#ffffff'%s\n"
            "SCALE = %.4g\nASPECT = %.6g\n",
            format == MC_SVG   ? "svg"
            : format == MC_PNG ? "pngcairo"
                               : "pdfcairo",
            width / unit, height / unit, format == MC_SVG ? "sans-serif" : "DejaVu Sans", font,
            font / 14, format == MC_PDF ? " fontscale 1" : "", font / 14, (double)width / height);
    *out = g;
    return 0;
}

void mc_gnuplot_free(struct mc_gnuplot *g)
{
    if (!g)
        return;
    if (g->script)
        fclose(g->script);
    free(g->text);
    free(g);
}

FILE *mc_gnuplot_script(struct mc_gnuplot *g)
{
    return g->script;
}

/* In double quotes, where gnuplot knows escapes, and what it might take for more than itself is
 * one: in single quotes a quote at the beginning ends the string, however often it is written.
 * Digits too: an escape takes all octal ones that follow it. */
static void put_bytes(FILE *f, const char *s, size_t n)
{
    for (; n; n--, s++)
        if (isalpha((unsigned char)*s) || *s == ' ' || (unsigned char)*s >= 0x80)
            putc(*s, f);
        else
            fprintf(f, "\\%03o", (unsigned char)*s);
}

/* Bytes of the character at s; 0: what is there is none that XML allows. */
static size_t character(const char *s, size_t left)
{
    for (size_t n = 1; n <= 4 && n <= left; n++)
        if (mc_is_text((const unsigned char *)s, n))
            return n == 3 && !memcmp(s, "\xef\xbf", 2) && (unsigned char)s[2] >= 0xbe ? 0 : n;
    return 0;
}

static void quote(struct mc_gnuplot *g, const char *text, int tic)
{
    putc('"', g->script);
    for (size_t left = strlen(text), n = 0; left; text += n, left -= n) {
        if ((n = mc_control(text, left))) {
            putc(' ', g->script);
        } else if ((n = character(text, left))) {
            if (tic && *text == '%')
                put_bytes(g->script, text, n);
            if (!strncmp(text, "]>", 2)) { /* "]]>" is not for XML's texts, and gnuplot leaves it */
                put_bytes(g->script, "]" WORD_JOINER, 1 + strlen(WORD_JOINER));
                continue;
            }
            put_bytes(g->script, text, n);
        } else {
            fputs("\xef\xbf\xbd", g->script);
            n = 1;
        }
    }
    putc('"', g->script);
}

void mc_gnuplot_quote(struct mc_gnuplot *g, const char *text)
{
    quote(g, text, 0);
}

void mc_gnuplot_quote_tic(struct mc_gnuplot *g, const char *text)
{
    quote(g, text, 1);
}

static void quote_path(struct mc_gnuplot *g, const char *path)
{
    putc('"', g->script);
    put_bytes(g->script, path, strlen(path));
    putc('"', g->script);
}

/* Path of a script beside the program that runs. */
static int find(const char *script, char *path, size_t size, struct mc_error *err)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    char *slash = NULL;

    if (n > 0) {
        path[n] = 0;
        slash = strrchr(path, '/');
    }
    if (!slash)
        return mc_fail(err, MC_EFAIL, "cannot tell where this program is: %s", strerror(errno));
    size_t used = (size_t)(slash - path);
    int more = snprintf(slash, size - used, "/../share/mc/%s", script);
    if (more < 0 || (size_t)more >= size - used || access(path, R_OK))
        return mc_fail(err, MC_EFAIL, "cannot read '%s': %s", path, strerror(errno));
    return 0;
}

static int missing(struct mc_error *err)
{
    return mc_fail(err, MC_EFAIL, "there is no gnuplot on PATH (Debian: gnuplot-nox)");
}

/* Ours but for what chooses another terminal before the script does; to be freed. NULL: no memory.
 */
static char **environment(void)
{
    size_t n = 0, kept = 0;

    while (environ[n])
        n++;
    char **e = calloc(n + 1, sizeof *e);
    for (size_t i = 0; e && i < n; i++)
        if (strncmp(environ[i], "GNUTERM=", 8))
            e[kept++] = environ[i];
    return e;
}

static int spawn(pid_t *pid, int in, int out, int errors, struct mc_error *err)
{
    /* -d: whatever the user's own gnuplot settings are, the picture is the same */
    char *argv[] = {"gnuplot", "-d", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t pipe_signal;
    char **env = environment();

    if (!env)
        return mc_no_memory(err);
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attr);
    int e = posix_spawn_file_actions_adddup2(&actions, in, 0);
    if (!e)
        e = posix_spawn_file_actions_adddup2(&actions, out, 1);
    if (!e)
        e = posix_spawn_file_actions_adddup2(&actions, errors, 2);
    if (!e)
        e = posix_spawnattr_setsigdefault(&attr, &pipe_signal);
    if (!e)
        e = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
    if (!e)
        e = posix_spawnp(pid, argv[0], &actions, &attr, argv, env);
    free(env);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    if (e == ENOENT)
        return missing(err);
    return e ? mc_fail(err, MC_EFAIL, "cannot start gnuplot: %s", strerror(e)) : 0;
}

/* All of it, or as much as a gnuplot that died would take: its exit status tells. */
static void loader(int fd, const char *text, size_t n)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction old;

    sigaction(SIGPIPE, &ignore, &old);
    while (n) {
        ssize_t k = write(fd, text, n);
        if (k < 0 && errno != EINTR)
            break;
        if (k > 0) {
            text += k;
            n -= (size_t)k;
        }
    }
    sigaction(SIGPIPE, &old, NULL);
}

/* The first words that gnuplot complained with. */
static void complaint(FILE *errors, char *text, size_t size)
{
    snprintf(text, size, "it did not say why");
    rewind(errors);
    for (char line[256]; fgets(line, sizeof line, errors);) {
        size_t lead = strspn(line, " \t\n^");
        line[strcspn(line, "\n")] = 0;
        if (lead < strlen(line)) {
            snprintf(text, size, "%s", line + lead);
            if (strstr(line, "line "))
                return;
        }
    }
}

/* A file of no folder, so that none has to have room for it. */
static FILE *in_memory(void)
{
    int fd = memfd_create("gnuplot", MFD_CLOEXEC);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w+");

    if (fd >= 0 && !f)
        close(fd);
    return f;
}

static int run(const struct mc_gnuplot *g, FILE *image, struct mc_error *err)
{
    FILE *errors = in_memory();
    int ends[2] = {-1, -1}, status = 0, rc = 0;
    char said[256];
    pid_t pid = 0;

    if (!errors || pipe2(ends, O_CLOEXEC)) {
        rc = mc_fail(err, MC_EFAIL, "cannot start gnuplot: %s", strerror(errno));
        goto out;
    }
    if ((rc = spawn(&pid, ends[0], fileno(image), fileno(errors), err)))
        goto out;
    close(ends[0]);
    ends[0] = -1;
    loader(ends[1], g->text, g->bytes);
    close(ends[1]);
    ends[1] = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    /* where a child cannot tell its parent why (valgrind), 127 is what POSIX lets it say */
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
        rc = missing(err);
    } else if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        complaint(errors, said, sizeof said);
        rc = mc_fail(err, MC_EFAIL, "gnuplot failed: %s", said);
    }
out:
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    if (errors)
        fclose(errors);
    return rc;
}

/* cairo writes the time of day into a PDF; the same picture should be the same bytes. */
static void forget_date(char *data, size_t n)
{
    static const char key[] = "/CreationDate (D:", none[] = "20000101000000";
    char *found = memmem(data, n, key, strlen(key));

    if (found && (size_t)(data + n - found) >= strlen(key) + strlen(none))
        memcpy(found + strlen(key), none, strlen(none));
}

/* What gnuplot drew, to be freed. */
static int draw(const struct mc_gnuplot *g, char **data, size_t *n, struct mc_error *err)
{
    FILE *image = in_memory();
    struct stat st;
    int rc = image ? run(g, image, err)
                   : mc_fail(err, MC_EFAIL, "cannot start gnuplot: %s", strerror(errno));

    if (!rc && (fstat(fileno(image), &st) || !(*data = malloc((size_t)st.st_size + 1))))
        rc = mc_no_memory(err);
    if (!rc) {
        rewind(image);
        *n = fread(*data, 1, (size_t)st.st_size, image);
        if (g->format == MC_PDF)
            forget_date(*data, *n);
        rc = mc_fail_in(mc_image_check(g->format, *data, *n, err), err, "gnuplot drew");
    }
    if (image)
        fclose(image);
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
    fputs("SHARE = ", g->script);
    char *slash = strrchr(file, '/');
    *slash = 0;
    quote_path(g, file);
    *slash = '/';
    fputs("\nload ", g->script);
    quote_path(g, file);
    fputs("\n", g->script);
    int bad = ferror(g->script);
    bad |= fclose(g->script);
    g->script = NULL;
    if (bad)
        return mc_no_memory(err);
    /* first, so that what cannot be written is told before the work */
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
