/* SPDX-License-Identifier: Apache-2.0
 *
 * Layers are named by module paths, with components separated by dots. */
#include "tools/plot/layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of layers above which stages are named, and maximum number of stages. */
#define MANY_LAYERS 24
#define MAX_STAGES 20

/* Prefixes of the components of parallel branches, in torchvision's networks and ours. */
static const char *const branches[] = {"branch", "expand", "downsample", "shortcut", "aux"};

static int is_branch(const char *component)
{
    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++)
        if (!strncmp(component, branches[i], strlen(branches[i])))
            return 1;
    return 0;
}

int mc_layers_joined(const char *before, const char *layer)
{
    size_t same = 0, at = 0;

    while (before[same] && before[same] == layer[same])
        if (before[same++] == '.')
            at = same;
    if (!is_branch(before + at) && !is_branch(layer + at))
        return 1;
    /* branch5x5_1 and branch5x5_2 are consecutive */
    return same > at && before[same - 1] == '_';
}

/* Length of the first `depth` components of a name. */
static size_t prefix(const char *name, size_t depth)
{
    size_t n = strcspn(name, ".");

    while (--depth && name[n])
        n += 1 + strcspn(name + n + 1, ".");
    return n;
}

static int same_prefix(const char *a, const char *b, size_t depth)
{
    const size_t n = prefix(a, depth);

    return n == prefix(b, depth) && !memcmp(a, b, n);
}

/* Depth at which the prefixes form a suitable number of stages, or 0. *shared: number of components
 * that all names share. */
static size_t find_depth(const struct mc_table *t, const char *const *name, size_t *shared)
{
    size_t best = 0;

    *shared = 0;
    for (size_t depth = 1, runs = 0; t->rows > MANY_LAYERS && depth <= 6; depth++, runs = 0) {
        for (size_t r = 0; r < t->rows; r++)
            runs += !r || !same_prefix(name[r * t->cols], name[(r - 1) * t->cols], depth);
        if (runs == 1)
            *shared = depth;
        if (runs > 2 && runs <= MAX_STAGES)
            best = depth;
    }
    return best;
}

int mc_layers_name(struct mc_stage **out, size_t *n, const struct mc_table *t, struct mc_error *err)
{
    const char *const *name = t->cells + mc_table_find(t, "layer");
    size_t shared;
    const size_t depth = find_depth(t, name, &shared);

    *n = 0;
    if (!(*out = calloc(t->rows, sizeof **out)))
        return mc_no_memory(err);
    for (size_t r = 0; r < t->rows; r++) {
        const char *layer = name[r * t->cols];
        struct mc_stage *s = *out + *n;
        if (depth && r && same_prefix(layer, name[(r - 1) * t->cols], depth)) {
            s[-1].end = r + 1;
            continue;
        }
        const size_t from = depth && shared ? prefix(layer, shared) + 1 : 0;
        const size_t to = depth ? prefix(layer, depth) : strlen(layer);
        snprintf(s->name, sizeof s->name, "%.*s", (int)(to > from ? to - from : to),
                 layer + (to > from ? from : 0));
        s->first = r;
        s->end = r + 1;
        ++*n;
    }
    return 0;
}

/* Append the texts of a column to the rows' names. */
static int append_column(struct mc_stage *rows, const struct mc_table *t, const char *name,
                         struct mc_error *err)
{
    size_t col = 0;
    int rc = mc_table_column(t, name, &col, err);

    for (size_t r = 0; !rc && r < t->rows; r++) {
        const size_t used = strlen(rows[r].name);
        const char *cell = t->cells[r * t->cols + col];
        snprintf(rows[r].name + used, sizeof rows[r].name - used, "%s%s", used && *cell ? " " : "",
                 cell);
    }
    return rc;
}

int mc_rows_name(struct mc_stage **out, size_t *n, const struct mc_table *t, const char *columns,
                 struct mc_error *err)
{
    char *list = columns ? strdup(columns) : NULL, *rest = list;
    int rc = columns && !list ? mc_no_memory(err) : 0;

    *n = t->rows;
    if (!rc && !(*out = calloc(t->rows, sizeof **out)))
        rc = mc_no_memory(err);
    for (size_t r = 0; !rc && r < t->rows; r++)
        (*out)[r] = (struct mc_stage){.first = r, .end = r + 1};
    if (!rc && !columns)
        rc = append_column(*out, t, t->names[0], err);
    while (!rc && rest)
        rc = append_column(*out, t, strsep(&rest, ","), err);
    free(list);
    return rc;
}
