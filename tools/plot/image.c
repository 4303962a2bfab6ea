/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole pictures. */
#include "tools/plot/image.h"

#include "formats/stream/bounds.h"

#include <ctype.h>
#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* ---- SVG ---- */

#define MAX_DEPTH 64

struct xml {
    const char *at, *end;
    const char *open[MAX_DEPTH]; /* the names of the elements around */
    size_t length[MAX_DEPTH], depth;
    int roots;
};

static int starts(const struct xml *x, const char *with)
{
    size_t n = strlen(with);

    return (size_t)(x->end - x->at) >= n && !memcmp(x->at, with, n);
}

/* Behind the next `what`; 0: there is none. */
static int skip_past(struct xml *x, const char *what)
{
    const char *found = memmem(x->at, (size_t)(x->end - x->at), what, strlen(what));

    if (found)
        x->at = found + strlen(what);
    return found != NULL;
}

static size_t name_length(const struct xml *x)
{
    size_t n = 0;

    while (x->at + n < x->end && !strchr(" \t\r\n/>='\"<&", x->at[n]))
        n++;
    return n;
}

/* One of the five that XML names, or &#number; of a character. */
static int skip_entity(struct xml *x)
{
    static const char *const named[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};
    const char *semicolon = memchr(x->at, ';', (size_t)(x->end - x->at));
    char digits[8] = "", *end;

    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (starts(x, named[i])) {
            x->at += strlen(named[i]);
            return 1;
        }
    if (!semicolon || !starts(x, "&#") || (size_t)(semicolon - x->at - 2) >= sizeof digits)
        return 0;
    memcpy(digits, x->at + 2, (size_t)(semicolon - x->at - 2));
    const int hex = *digits == 'x';
    const unsigned long c = strtoul(digits + hex, &end, hex ? 16 : 10);
    x->at = semicolon + 1;
    return isxdigit((unsigned char)digits[hex]) && !*end &&
           (c >= 0x20 || c == '\t' || c == '\n' || c == '\r') && (c < 0xd800 || c > 0xdfff) &&
           c < 0xfffe;
}

/* Characters up to the quote or tag that ends them. */
static int skip_text(struct xml *x, char until)
{
    while (x->at < x->end && *x->at != until && *x->at != '<') {
        if (until == '<' && (starts(x, "]]>") || (!x->depth && !strchr(" \t\r\n", *x->at))))
            return 0;
        if (*x->at != '&')
            x->at++;
        else if (!skip_entity(x))
            return 0;
    }
    return x->at < x->end ? *x->at == until : until == '<';
}

static void skip_blanks(struct xml *x)
{
    while (x->at < x->end && strchr(" \t\r\n", *x->at))
        x->at++;
}

static int end_tag(struct xml *x)
{
    x->at += 2;
    const size_t n = name_length(x);

    if (!x->depth || n != x->length[x->depth - 1] || memcmp(x->at, x->open[x->depth - 1], n))
        return 0;
    x->depth--;
    x->at += n;
    skip_blanks(x);
    return x->at < x->end && *x->at++ == '>';
}

static int start_tag(struct xml *x)
{
    x->at++;
    const size_t n = name_length(x);

    if (!n || x->depth == MAX_DEPTH ||
        (!x->depth && (x->roots++ || n != 3 || memcmp(x->at, "svg", 3))))
        return 0;
    x->open[x->depth] = x->at;
    x->length[x->depth++] = n;
    for (x->at += n;;) {
        skip_blanks(x);
        if (starts(x, "/>")) {
            x->depth--;
            x->at += 2;
            return 1;
        }
        if (starts(x, ">")) {
            x->at++;
            return 1;
        }
        const size_t attribute = name_length(x);
        x->at += attribute;
        skip_blanks(x);
        if (!attribute || !starts(x, "="))
            return 0;
        x->at++;
        skip_blanks(x);
        const char quote = x->at < x->end ? *x->at : 0;
        if (quote != '\'' && quote != '"')
            return 0;
        x->at++;
        if (!skip_text(x, quote))
            return 0;
        x->at++;
    }
}

/* 0: it is not well-formed. */
static int next(struct xml *x)
{
    if (!skip_text(x, '<') || x->at == x->end)
        return x->at == x->end;
    if (starts(x, "<!--"))
        return skip_past(x, "-->");
    if (starts(x, "<![CDATA["))
        return x->depth && skip_past(x, "]]>");
    if (starts(x, "<?"))
        return skip_past(x, "?>");
    if (starts(x, "<!"))
        return !x->depth && skip_past(x, ">");
    return starts(x, "</") ? end_tag(x) : start_tag(x);
}

static int check_svg(const char *data, size_t n, struct mc_error *err)
{
    struct xml x = {.at = data, .end = data + n};

    if (!mc_is_text((const unsigned char *)data, n))
        return mc_fail(err, MC_EFAIL, "an SVG that is not UTF-8");
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)data[i] < 0x20 && !strchr("\t\r\n", data[i]))
            return mc_fail(err, MC_EFAIL, "an SVG with a control character in it");
    int well = 1;
    while (well && x.at < x.end)
        well = next(&x);
    if (!well || x.depth || x.roots != 1)
        return mc_fail(err, MC_EFAIL, "an SVG that is not whole, or not well-formed");
    return 0;
}

/* ---- PNG ---- */

struct source {
    const char *data;
    size_t n, at;
    jmp_buf failed;
};

static void read_bytes(png_structp png, png_bytep to, size_t n)
{
    struct source *s = png_get_io_ptr(png);

    if (n > s->n - s->at)
        longjmp(s->failed, 1);
    memcpy(to, s->data + s->at, n);
    s->at += n;
}

/* A warning is of damage, too. */
static void fail(png_structp png, png_const_charp why)
{
    struct source *s = png_get_error_ptr(png);

    (void)why;
    longjmp(s->failed, 1);
}

static int check_png(const char *data, size_t n, struct mc_error *err)
{
    struct source s = {.data = data, .n = n};
    png_structp volatile kept = NULL;
    png_infop volatile kept_info = NULL;
    volatile int rc = 0;

    errno = 0;
    if (setjmp(s.failed)) { /* making the first struct fails so too */
        rc = errno == ENOMEM ? mc_no_memory(err)
                             : mc_fail(err, MC_EFAIL, "a PNG that is damaged or not whole");
    } else if (!(kept = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, fail, fail)) ||
               !(kept_info = png_create_info_struct(kept))) {
        rc = mc_no_memory(err);
    } else {
        png_structp png = kept;
        png_infop info = kept_info;
        png_set_read_fn(png, &s, read_bytes);
        png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
        png_read_info(png, info);
        for (int pass = png_set_interlace_handling(png); pass; pass--)
            for (png_uint_32 row = 0; row < png_get_image_height(png, info); row++)
                png_read_row(png, NULL, NULL);
        png_read_end(png, NULL);
        if (s.at != n)
            rc = mc_fail(err, MC_EFAIL, "a PNG with more behind its end");
    }
    png_structp png = kept;
    png_infop info = kept_info;
    png_destroy_read_struct(&png, &info, NULL);
    return rc;
}

/* ---- PDF ---- */

static int check_pdf(const char *data, size_t n, struct mc_error *err)
{
    static const char start[] = "startxref\n", end[] = "%%EOF\n";
    const char *found = NULL;
    char *stop_at = NULL;

    /* the numbers are read where text ends them */
    if (n > 64 && !memcmp(data, "%PDF-", 5) && !memcmp(data + n - strlen(end), end, strlen(end)))
        found = memmem(data + n - 64, 64, start, strlen(start));
    const unsigned long table = found ? strtoul(found + strlen(start), &stop_at, 10) : 0;
    if (!table || table > n - 4 || strncmp(stop_at, "\n%%EOF", 6) ||
        (memcmp(data + table, "xref", 4) && (data[table] < '0' || data[table] > '9')))
        return mc_fail(err, MC_EFAIL, "a PDF that is not whole");
    return 0;
}

int mc_image_check(enum mc_image format, const char *data, size_t n, struct mc_error *err)
{
    if (!n)
        return mc_fail(err, MC_EFAIL, "nothing");
    return format == MC_SVG   ? check_svg(data, n, err)
           : format == MC_PNG ? check_png(data, n, err)
                              : check_pdf(data, n, err);
}
