/* SPDX-License-Identifier: Apache-2.0
 *
 * Small graphs in a few calls, and the checks of each: its groups, its taps, and that a permuted
 * network computes the same with its observed units moved. Header only. */
#ifndef MC_TEST_GROUPS_H
#define MC_TEST_GROUPS_H

#include "libcommon/base/rng.h"
#include "libcommon/graph/group_rows.h"
#include "libcommon/permutation/permutation.h"
#include "libcommon/nets/nets.h"
#include "tests/unit/kernels/naive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- construction of graphs ------------------------------------------------------------------ */

#define IN(...) ((int[]){__VA_ARGS__}), (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int))

static inline struct mc_graph *begin(int height, int width)
{
    return mc_graph_new("test", 3, height, width, 4, (float[]){.5f, .4f, .3f},
                        (float[]){.2f, .3f, .25f});
}

static inline int conv(struct mc_graph *g, const char *name, int in, int out)
{
    return mc_graph_conv(g, name, in, out, (struct mc_conv_opts){.kernel = 3, .pad = 1, .bias = 1});
}

static inline int linear(struct mc_graph *g, const char *name, int in, int out)
{
    return mc_graph_linear(g, name, in, out, 1, MC_INIT_ZERO, MC_INIT_ZERO);
}

static inline int relu(struct mc_graph *g, const char *layer, int in)
{
    char name[32];

    snprintf(name, sizeof name, "%s.r", layer);
    return mc_graph_relu(g, name, in);
}

static inline int bn(struct mc_graph *g, const char *layer, int in)
{
    char name[32];

    snprintf(name, sizeof name, "%s.n", layer);
    return mc_graph_batchnorm(g, name, in, 1e-5f);
}

/* Convolution, batch norm and ReLU: NAME, NAME.n, NAME.r. */
static inline int unit(struct mc_graph *g, const char *name, int in, int out)
{
    return relu(g, name, bn(g, name, conv(g, name, in, out)));
}

static inline int head(struct mc_graph *g, const char *name, int in, int train_only)
{
    char loss[32];
    int x = linear(g, name, mc_graph_globalpool(g, NULL, in), 4);

    snprintf(loss, sizeof loss, "%s.loss", name);
    return mc_graph_loss(g, loss, x, 1, train_only);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static inline double random_unit(uint32_t purpose, uint32_t i)
{
    return (double)mc_rng_unit(mc_rng(99, 1000, purpose, i, 0).v[0]);
}

/* Writes groups as "name:size ..." (with "(outer.unit)" for groups within another's unit) and taps
 * as "group@post+offset ..." (with "!" if pre is post). */
static inline void describe(const struct mc_graph *g, const struct mc_symmetry *s, char *groups,
                            char *taps, size_t size)
{
    *groups = *taps = 0;
    for (size_t i = 0; i < s->n_groups; i++) {
        size_t n = strlen(groups);
        snprintf(groups + n, size - n, "%s%s:%zu", n ? " " : "", s->groups[i].name,
                 s->groups[i].size);
        n = strlen(groups);
        if (mc_group_is_nested(&s->groups[i]))
            snprintf(groups + n, size - n, "(%zu.%zu)", s->groups[i].outer, s->groups[i].unit);
    }
    for (size_t i = 0; i < s->n_taps; i++) {
        const struct mc_tap *t = &s->taps[i];
        size_t n = strlen(taps);
        const struct mc_group *layer = &s->groups[t->group];
        assert_int_equal(layer->unit, 0);
        assert_int_equal(
            t->count, layer->size * (mc_group_is_nested(layer) ? s->groups[layer->outer].size : 1));
        if (t->pre != t->post)
            assert_int_equal(t->pre, g->nodes[t->post].in[0]);
        n += (size_t)snprintf(taps + n, size - n, "%s%d@%s", n ? " " : "", t->group,
                              g->nodes[t->post].name);
        if (t->offset)
            n += (size_t)snprintf(taps + n, size - n, "+%zu", t->offset);
        if (t->pre == t->post)
            snprintf(taps + n, size - n, "!");
    }
}

static inline void axes_cover_their_nodes(const struct mc_graph *g, const struct mc_symmetry *s)
{
    assert_int_equal(s->n_nodes, g->n_nodes);
    for (int i = 0; i < g->n_nodes; i++) {
        size_t places = 0;
        for (size_t k = 0; k < s->axes[i].n; k++)
            places += s->axes[i].seg[k].count * s->axes[i].seg[k].repeat;
        assert_int_equal(places, g->nodes[i].c);
    }
}

static inline double relative(double a, double b)
{
    return fabs(a - b) / fmax(1, fabs(a));
}

static inline void random_weights(const struct mc_graph *g, float *params, float *stats)
{
    for (size_t i = 0; i < g->n_params; i++) {
        double shift = g->params[i].tensor.ndim > 1 ? .5 : .3;
        for (size_t k = 0; k < g->params[i].count; k++)
            params[g->params[i].offset + k] =
                (float)(random_unit((uint32_t)i, (uint32_t)k) - shift);
    }
    for (size_t i = 0; i < g->n_stats; i++)
        for (size_t k = 0; k < g->stats[i].count; k++)
            stats[g->stats[i].offset + k] =
                (float)(.1 + random_unit((uint32_t)i + 5000, (uint32_t)k));
}

static inline void equal_logits(const struct mc_graph *g, const struct naive v[2])
{
    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *n = &g->nodes[i];
        for (int c = 0; n->op == MC_OP_LOSS && c < n->c; c++) {
            double x = v[0].out[n->in[0]][c], y = v[1].out[n->in[0]][c];
            if (!(relative(x, y) < 1e-12))
                fail_msg("%s: logit %d is %.17g, permuted %.17g", n->name, c, x, y);
        }
    }
}

/* The units at a tap moved as the permutation says, and not all of them are 0. */
static inline void moved_units(const struct mc_graph *g, const struct mc_tap *tap,
                               const struct mc_perm *p, const struct naive v[2])
{
    int nodes[2] = {tap->post, tap->pre};
    struct mc_nesting nesting;
    int32_t *to = calloc(tap->count, sizeof *to);

    assert_int_equal(mc_nesting_find(&nesting, p->groups, p->n_groups, NULL), 0);
    mc_nesting_of_taps(&nesting, p->perm, (size_t)tap->group, to);

    for (int which = 0; which < 2; which++) {
        const struct mc_node *n = &g->nodes[nodes[which]];
        const double *x = v[0].out[nodes[which]], *y = v[1].out[nodes[which]];
        size_t hw = (size_t)(n->h * n->w);
        double most = 0;
        for (size_t c = 0; c < tap->count; c++)
            for (size_t k = 0; k < hw; k++) {
                size_t from = tap->offset + (size_t)to[c];
                if (!(relative(x[from * hw + k], y[(tap->offset + c) * hw + k]) < 1e-12))
                    fail_msg("%s: unit %zu did not move to %zu", n->name, from, c);
                most = fmax(most, fabs(x[from * hw + k]));
            }
        assert_true(most > 0);
    }
    mc_nesting_release(&nesting);
    free(to);
}

/* A random network and its permuted twin agree on a random image: equal outputs, moved units, moved
 * gradients. */
static inline void permuted_network_agrees(const struct mc_graph *g, const struct mc_symmetry *s)
{
    size_t pixels = (size_t)(g->input[0] * g->input[1] * g->input[2]);
    float *w[2] = {calloc(g->P + 1, sizeof(float)), calloc(g->P + 1, sizeof(float))};
    float *m[2] = {calloc(g->S + 1, sizeof(float)), calloc(g->S + 1, sizeof(float))};
    uint32_t *params = calloc(g->P + 1, sizeof *params), *stats = calloc(g->S + 1, sizeof *stats);
    double *image = calloc(pixels, sizeof *image);
    const int32_t label = 1;
    struct naive v[2];
    struct mc_perm p;
    struct mc_error err = {0};

    random_weights(g, w[0], m[0]);
    for (size_t i = 0; i < pixels; i++)
        image[i] = random_unit(9999, (uint32_t)i);

    assert_int_equal(mc_perm_init(&p, s, &err), 0);
    for (size_t k = 0; k < p.n_groups; k++)
        assert_int_equal(mc_perm_moved(&p, k), 0);
    mc_perm_random(&p, 7);
    assert_int_equal(mc_perm_check(&p, &err), 0);
    for (size_t k = 0; k < p.n_groups; k++) {
        assert_true(p.groups[k].size < 6 || mc_perm_moved(&p, k) > 0);
        if (!mc_perm_moved(&p, k)) {
            p.perm[k][0] = 1;
            p.perm[k][1] = 0;
        }
    }
    assert_int_equal(mc_perm_gather(&p, s, g, params, stats, &err), 0);
    assert_int_equal(mc_perm_apply(&p, s, g, w[0], m[0], w[1], m[1], &err), 0);
    assert_true(!s->n_groups || memcmp(w[0], w[1], g->P * sizeof(float)));
    for (int k = 0; k < 2; k++) {
        naive_init(&v[k], g, 1);
        v[k].valid = 1;
        v[k].mode = MC_MODE_EVAL;
        v[k].samples = v[k].labels = &label;
        v[k].params = w[k];
        v[k].stats = m[k];
        v[k].train_only = 1;
        naive_run(&v[k], image);
    }
    equal_logits(g, v);
    for (size_t t = 0; t < s->n_taps; t++)
        moved_units(g, &s->taps[t], &p, v);
    for (size_t i = 0; i < g->P; i++)
        if (!(relative(v[0].dparams[params[i]], v[1].dparams[i]) < 1e-12))
            fail_msg("gradient %zu did not move to %zu", (size_t)params[i], i);
    for (int k = 0; k < 2; k++) {
        naive_release(&v[k]);
        free(w[k]);
        free(m[k]);
    }
    free(params);
    free(stats);
    free(image);
    mc_perm_release(&p);
}

/* Writes the uses of parameters as rows (formats/exchange/groups.md). A network that declares them
 * has the same groups, with the same nesting, and moves the same values. */
static inline void rows_declare_the_groups(const struct mc_graph *g, const struct mc_symmetry *s)
{
    struct mc_tensor *tensors = calloc(g->n_params, sizeof *tensors);
    uint32_t *expected = calloc(g->P, 4), *found = calloc(g->P, 4);
    struct mc_graph *declared = NULL;
    struct mc_symmetry of_rows;
    struct mc_error err = {0};
    struct mc_perm p;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    assert_true(f && tensors && expected && found);
    fprintf(f, "tensor\taxis\toffset\tcount\tblock\tgroup\twithin\tunit\n");
    for (size_t k = 0; k < s->n_groups; k++)
        for (size_t i = 0; i < s->uses[k].n; i++) {
            const struct mc_use *u = &s->uses[k].use[i];
            const struct mc_group *group = &s->groups[k];
            char axis[32] = "0", unit[32] = "-";
            if (mc_group_is_nested(group))
                snprintf(unit, sizeof unit, "%zu", group->unit);
            if (u->dim)
                snprintf(axis, sizeof axis, u->parts > 1 ? "1/%zu" : "1", u->parts);
            if (!u->is_stat)
                fprintf(f, "%s\t%s\t%zu\t%zu\t%zu\t%s\t%s\t%s\n", g->params[u->index].tensor.name,
                        axis, u->offset, u->count, u->repeat, group->name,
                        mc_group_is_nested(group) ? s->groups[group->outer].name : "-", unit);
        }
    assert_int_equal(fclose(f), 0);
    for (size_t i = 0; i < g->n_params; i++)
        tensors[i] = g->params[i].tensor;
    if (mc_graph_declare(&declared, "rows", tensors, g->n_params, text, size, &err) ||
        mc_symmetry_derive(&of_rows, declared, &err) || mc_perm_init(&p, s, &err))
        fail_msg("%s\n%s", err.text, text);
    mc_perm_random(&p, 7);
    if (mc_perm_gather(&p, s, g, expected, NULL, &err) ||
        mc_perm_gather(&p, &of_rows, declared, found, NULL, &err))
        fail_msg("%s\n%s", err.text, text);
    assert_int_equal(declared->P, g->P);
    assert_memory_equal(found, expected, 4 * g->P);
    mc_perm_release(&p);
    mc_symmetry_release(&of_rows);
    mc_graph_free(declared);
    free(tensors);
    free(expected);
    free(found);
    free(text);
}

/* Finishes the graph, derives groups and taps, compares them with the expected ones, permutes the
 * network, and declares its groups as rows. Frees g. */
static inline void check(struct mc_graph *g, const char *groups, const char *taps)
{
    struct mc_symmetry s;
    struct mc_error err = {0};
    char found_groups[4096], found_taps[4096];

    if (mc_graph_finish(g, &err) || mc_symmetry_derive(&s, g, &err))
        fail_msg("%s", err.text);
    describe(g, &s, found_groups, found_taps, sizeof found_groups);
    assert_string_equal(found_groups, groups);
    assert_string_equal(found_taps, taps);
    axes_cover_their_nodes(g, &s);
    permuted_network_agrees(g, &s);
    if (s.n_groups)
        rows_declare_the_groups(g, &s);
    mc_symmetry_release(&s);
    mc_graph_free(g);
}

#endif
