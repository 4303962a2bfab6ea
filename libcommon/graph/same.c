/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether two graphs compute the same, and where they differ first. */
#include "libcommon/graph/fields.h"
#include "libcommon/graph/graph.h"

#include <stdio.h>
#include <string.h>

/* The first setting in which nodes of one op differ, as streams call it, or NULL. */
static const char *setting(const struct mc_node *x, const struct mc_node *y)
{
    if (x->n_in != y->n_in || memcmp(x->in, y->in, (size_t)x->n_in * sizeof *x->in) != 0)
        return "in";
    for (const struct mc_field *f = NULL; (f = mc_node_field(x->op, f));)
        for (int i = 0; f->type != MC_FIELD_INIT && i < mc_field_count(f, x->c); i++)
            if (mc_field_get(f, x, i) != mc_field_get(f, y, i))
                return f->key;
    return NULL;
}

/* text: the first difference, or "". */
static void find(const struct mc_graph *a, const struct mc_graph *b, char *text, size_t size)
{
    const int n = a->n_nodes < b->n_nodes ? a->n_nodes : b->n_nodes;

    *text = 0;
    if (memcmp(a->input, b->input, sizeof a->input) != 0) {
        snprintf(text, size, "images of %dx%dx%d and %dx%dx%d", a->input[0], a->input[1],
                 a->input[2], b->input[0], b->input[1], b->input[2]);
        return;
    }
    for (int i = 0; i < n; i++) {
        const struct mc_node *x = &a->nodes[i], *y = &b->nodes[i];
        const char *key;
        if (x->op != y->op || strcmp(x->name, y->name) != 0) {
            snprintf(text, size, "node %d is %s \"%s\" and %s \"%s\"", i, mc_op_name(x->op),
                     x->name, mc_op_name(y->op), y->name);
            return;
        }
        if ((key = setting(x, y))) {
            snprintf(text, size, "node \"%s\" has another \"%s\"", x->name, key);
            return;
        }
    }
    if (a->n_nodes != b->n_nodes)
        snprintf(text, size, "%d and %d nodes", a->n_nodes, b->n_nodes);
    else if (a->classes != b->classes)
        snprintf(text, size, "%d and %d classes", a->classes, b->classes);
}

int mc_graph_same(const struct mc_graph *a, const struct mc_graph *b)
{
    char text[512];

    find(a, b, text, sizeof text);
    return !*text;
}

int mc_graph_expect_same(const struct mc_graph *a, const struct mc_graph *b, const char *name_a,
                         const char *name_b, struct mc_error *err)
{
    char text[512];

    find(a, b, text, sizeof text);
    if (!*text)
        return 0;
    return mc_fail(err, MC_EINPUT, "%s and %s: are different networks (%s, %s): %s", name_a, name_b,
                   a->net, b->net, text);
}
