/* SPDX-License-Identifier: Apache-2.0
 *
 * Compare graphs: whether they compute the same in evaluation, and what differs first. */
#include "libcommon/graph/fields.h"
#include "libcommon/graph/graph.h"

#include <stdio.h>
#include <string.h>

/* The setting after `f` (NULL: the first) in which two nodes of one op differ, or NULL. Compares
 * training settings if `training`, else all others. */
static const struct mc_field *setting(const struct mc_field *f, const struct mc_node *x,
                                      const struct mc_node *y, int training)
{
    while ((f = mc_node_field(x->op, f)))
        for (int i = 0;
             f->type != MC_FIELD_INIT && f->training == training && i < mc_field_count(f, x->c);
             i++)
            if (mc_field_get(f, x, i) != mc_field_get(f, y, i))
                return f;
    return NULL;
}

static int same_inputs(const struct mc_node *x, const struct mc_node *y)
{
    return x->n_in == y->n_in && !memcmp(x->in, y->in, (size_t)x->n_in * sizeof *x->in);
}

/* Compare networks of which at least one has no graph. */
static void find_declared(const struct mc_graph *a, const struct mc_graph *b, char *text,
                          size_t size)
{
    if (!a->rows || !b->rows) {
        snprintf(text, size, "one has no graph");
        return;
    }
    for (size_t i = 0; i < a->n_params && i < b->n_params; i++) {
        const struct mc_tensor *x = &a->params[i].tensor, *y = &b->params[i].tensor;
        if (strcmp(x->name, y->name) != 0) {
            snprintf(text, size, "tensor %zu is \"%s\" and \"%s\"", i, x->name, y->name);
            return;
        }
        if (x->ndim != y->ndim ||
            memcmp(x->shape, y->shape, (size_t)x->ndim * sizeof *x->shape) != 0) {
            char shape_x[MC_DIMS_TEXT], shape_y[MC_DIMS_TEXT];
            mc_dims_text(shape_x, x->ndim, x->shape);
            mc_dims_text(shape_y, y->ndim, y->shape);
            snprintf(text, size, "tensor \"%s\" has shapes %s and %s", x->name, shape_x, shape_y);
            return;
        }
    }
    if (a->n_params != b->n_params)
        snprintf(text, size, "%zu and %zu tensors", a->n_params, b->n_params);
    else if (strcmp(a->rows, b->rows) != 0)
        snprintf(text, size, "their groups are declared differently");
}

/* Set text to the first difference, or "". */
static void find(const struct mc_graph *a, const struct mc_graph *b, char *text, size_t size)
{
    const int n = a->n_nodes < b->n_nodes ? a->n_nodes : b->n_nodes;

    *text = 0;
    if (a->rows || b->rows) {
        find_declared(a, b, text, size);
        return;
    }
    if (memcmp(a->input, b->input, sizeof a->input) != 0) {
        snprintf(text, size, "images of %dx%dx%d and %dx%dx%d", a->input[0], a->input[1],
                 a->input[2], b->input[0], b->input[1], b->input[2]);
        return;
    }
    for (int i = 0; i < n; i++) {
        const struct mc_node *x = &a->nodes[i], *y = &b->nodes[i];
        const struct mc_field *f;
        if (x->op != y->op || strcmp(x->name, y->name) != 0) {
            snprintf(text, size, "node %d is %s \"%s\" and %s \"%s\"", i, mc_op_name(x->op),
                     x->name, mc_op_name(y->op), y->name);
            return;
        }
        f = setting(NULL, x, y, 0);
        if (!same_inputs(x, y) || f) {
            snprintf(text, size, "node \"%s\" has a different \"%s\"", x->name,
                     same_inputs(x, y) ? f->key : "in");
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
    return mc_fail(err, MC_EINPUT, "%s and %s: different networks (%s, %s): %s", name_a, name_b,
                   a->net, b->net, text);
}

int mc_graph_training_differs(const struct mc_graph *a, const struct mc_graph *b, char *text,
                              size_t size)
{
    int n = 0;

    *text = 0;
    for (int i = 0; i < a->n_nodes; i++) {
        const struct mc_node *x = &a->nodes[i], *y = &b->nodes[i];
        for (const struct mc_field *f = NULL; (f = setting(f, x, y, 1));)
            if (!n++)
                snprintf(text, size, "\"%s\" of node \"%s\" is %g and %g", f->key, x->name,
                         mc_field_get(f, x, 0), mc_field_get(f, y, 0));
    }
    if (n > 1)
        snprintf(text + strlen(text), size - strlen(text), ", and %d more", n - 1);
    return n;
}
