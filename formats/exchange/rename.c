/* SPDX-License-Identifier: Apache-2.0
 *
 * Read maps and apply them. */
#include "formats/exchange/rename.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RULES 4096
#define MAX_STARS 8
#define MAX_WORD 128
#define MAX_LINE 1024

struct rule {
    char foreign[MAX_WORD], local[MAX_WORD]; /* local "-": left out */
    unsigned line;
};

struct mc_rename {
    struct rule *rules;
    size_t n;
};

struct star {
    const char *start;
    int n;
};

/* Match the start of a name up to a '.' or its end; *rest is the remainder. A star matches a
 * number. "." is the root: the rest is the whole name. */
static int matches(const char *pattern, const char *name, struct star *stars, const char **rest)
{
    int n = 0;

    *rest = name;
    if (!strcmp(pattern, "."))
        return 1;
    for (; *pattern; pattern++) {
        if (*pattern != '*') {
            if (*name++ != *pattern)
                return 0;
            continue;
        }
        stars[n].start = name;
        while (isdigit((unsigned char)*name))
            name++;
        stars[n].n = (int)(name - stars[n].start);
        if (!stars[n++].n)
            return 0;
    }
    *rest = name;
    return !*name || *name == '.';
}

/* Apply one rule in one direction. Returns 0 if it does not match, -1 if the result is too long. */
static int change(const char *from, const char *to, char name[MC_RENAME_NAME])
{
    struct star stars[MAX_STARS];
    const char *rest = NULL;
    char out[MC_RENAME_NAME];
    size_t n = 0;
    int k = 0;

    if (!matches(from, name, stars, &rest))
        return 0;
    if (!strcmp(to, ".")) {
        if (*rest == '.' && rest[1])
            rest++;
        else if (strcmp(from, "."))
            return 0; /* nothing would remain */
        to = "";
    }
    for (; *to; to++) {
        if (*to == '*')
            n += (size_t)snprintf(out + n, sizeof out - n, "%.*s", stars[k].n, stars[k].start), k++;
        else
            out[n++] = *to;
        if (n >= sizeof out)
            return -1;
    }
    if (n && !strcmp(from, "."))
        n += (size_t)snprintf(out + n, sizeof out - n, ".");
    if (n >= sizeof out || n + strlen(rest) >= sizeof out)
        return -1;
    snprintf(out + n, sizeof out - n, "%s", rest);
    memcpy(name, out, sizeof out);
    return 1;
}

static int too_long(const char *name, struct mc_error *err)
{
    return mc_fail(err, MC_EINPUT,
                   "\"%.100s\": a name, also after mapping, must have at most %d bytes", name,
                   MC_RENAME_NAME - 1);
}

int mc_rename_to_local(const struct mc_rename *r, const char *foreign, char out[MC_RENAME_NAME],
                       struct mc_error *err)
{
    if (strlen(foreign) >= MC_RENAME_NAME)
        return too_long(foreign, err);
    memset(out, 0, MC_RENAME_NAME);
    memcpy(out, foreign, strlen(foreign));
    for (size_t i = 0; r && i < r->n; i++) {
        const struct rule *rule = &r->rules[i];
        struct star stars[MAX_STARS];
        const char *rest = NULL;
        if (!strcmp(rule->local, "-")) {
            if (matches(rule->foreign, out, stars, &rest))
                return 0;
        } else if (change(rule->foreign, rule->local, out) < 0) {
            return too_long(foreign, err);
        }
    }
    return 1;
}

int mc_rename_to_foreign(const struct mc_rename *r, const char *local, char out[MC_RENAME_NAME],
                         struct mc_error *err)
{
    char back[MC_RENAME_NAME];

    if (strlen(local) >= MC_RENAME_NAME)
        return too_long(local, err);
    memset(out, 0, MC_RENAME_NAME);
    memcpy(out, local, strlen(local));
    for (size_t i = r ? r->n : 0; i-- > 0;)
        if (strcmp(r->rules[i].local, "-") &&
            change(r->rules[i].local, r->rules[i].foreign, out) < 0)
            return too_long(local, err);
    int got = mc_rename_to_local(r, out, back, err);
    if (got < 0)
        return got;
    if (!got || strcmp(back, local))
        return mc_fail(err, MC_EINPUT,
                       "the map does not round-trip: \"%.80s\" to \"%.80s\" to \"%.80s\"", local,
                       out, got ? back : "");
    return 0;
}

/* ---- reading ---- */

static int count_stars(const char *s)
{
    int n = 0;

    for (; *s; s++)
        n += *s == '*';
    return n;
}

static int add_rule(struct mc_rename *r, char *line, unsigned number, struct mc_error *err)
{
    char *save = NULL, *foreign = NULL, *local = NULL;

    line[strcspn(line, "#\n")] = 0;
    foreign = strtok_r(line, " \t\r", &save);
    local = strtok_r(NULL, " \t\r", &save);
    if (!foreign)
        return 0;
    if (!local || strtok_r(NULL, " \t\r", &save))
        return mc_fail(err, MC_EINPUT, "two names expected, the file's and mc's");
    if (strlen(foreign) >= MAX_WORD || strlen(local) >= MAX_WORD)
        return mc_fail(err, MC_EINPUT, "a name must have at most %d bytes", MAX_WORD - 1);
    if (count_stars(foreign) > MAX_STARS)
        return mc_fail(err, MC_EINPUT, "a name must have at most %d stars", MAX_STARS);
    if (strcmp(local, "-") && count_stars(foreign) != count_stars(local))
        return mc_fail(err, MC_EINPUT, "both names must have the same number of stars");
    for (size_t i = 0; i < r->n; i++)
        if (!strcmp(r->rules[i].foreign, foreign))
            return mc_fail(err, MC_EINPUT, "%.100s already has a rule in line %u", foreign,
                           r->rules[i].line);
    if (r->n == MAX_RULES)
        return mc_fail(err, MC_EINPUT, "at most %d rules are supported", MAX_RULES);
    snprintf(r->rules[r->n].foreign, MAX_WORD, "%s", foreign);
    snprintf(r->rules[r->n].local, MAX_WORD, "%s", local);
    r->rules[r->n++].line = number;
    return 0;
}

int mc_rename_read(struct mc_rename **out, const char *path, struct mc_error *err)
{
    struct mc_rename *r = NULL;
    FILE *f = NULL;
    char line[MAX_LINE];
    int rc = mc_file_fopen(&f, NULL, path, MC_EFAIL, err);

    *out = NULL;
    if (rc || (rc = mc_new(&r, 1, err)) || (rc = mc_new(&r->rules, MAX_RULES, err)))
        goto out;
    for (unsigned n = 1; !rc && fgets(line, sizeof line, f); n++) {
        rc = strchr(line, '\n') || feof(f) ? add_rule(r, line, n, err)
                                           : mc_fail(err, MC_EINPUT, "line too long");
        mc_fail_in(rc, err, "%.120s: line %u", path, n);
    }
    if (!rc && ferror(f))
        rc = mc_fail(err, MC_EFAIL, "cannot read '%s': %s", path, strerror(errno));
out:
    if (f)
        fclose(f);
    if (rc)
        mc_rename_free(r);
    else
        *out = r;
    return rc;
}

void mc_rename_free(struct mc_rename *r)
{
    if (r)
        free(r->rules);
    free(r);
}
