/* SPDX-License-Identifier: Apache-2.0
 *
 * The nodes that REPAIR rescales, in chains, skips, branches, gates and several heads. */
#include "tools/repair/rescale.h"
#include "tests/unit/kernels/groups.h"
#include "tests/unit/must.h"

/* Finish and free g; expect the listed nodes as "name:level ...". */
static void expect(struct mc_graph *g, const char *nodes, int levels, size_t no_bias)
{
    struct mc_rescale r;
    struct mc_error err;
    char text[512] = "";

    must(mc_graph_finish(g, &err));
    must(mc_rescale_find(&r, g, &err));
    for (size_t i = 0; i < r.n; i++) {
        const size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%s:%d", n ? " " : "", g->nodes[r.nodes[i].node].name,
                 r.nodes[i].level);
    }
    assert_string_equal(text, nodes);
    assert_int_equal(r.levels, levels);
    assert_int_equal(r.no_bias, no_bias);
    mc_rescale_release(&r);
    mc_graph_free(g);
}

TEST(norms_or_layers_before_activations)
{
    struct mc_graph *g = begin(6, 5);
    int x = unit(g, "b", unit(g, "a", 0, 8), 6);

    x = relu(g, "c", conv(g, "c", x, 5));
    head(g, "d", x, 0);
    expect(g, "a.n:0 b.n:1 c:2", 3, 0);
}

TEST(layers_before_layers_are_not_listed)
{
    struct mc_graph *g = begin(6, 5);
    int x = conv(g, "b", conv(g, "a", 0, 8), 6);

    x = mc_graph_pool(g, NULL, MC_OP_MAXPOOL, x, 2, 2, 0, 0);
    head(g, "d", relu(g, "c", x), 0);
    expect(g, "b:0", 1, 0);
}

TEST(terms_of_a_skip)
{
    struct mc_graph *g = begin(6, 5);
    int x = unit(g, "a", 0, 8);
    int y = bn(g, "c", conv(g, "c", unit(g, "b", x, 8), 8));

    y = relu(g, "s", mc_graph_add(g, NULL, IN(x, y)));
    head(g, "d", unit(g, "e", y, 4), 0);
    expect(g, "a.n:0 b.n:1 c.n:2 e.n:3", 4, 0);
}

TEST(branches_share_levels)
{
    struct mc_graph *g = begin(6, 5);
    int x = unit(g, "a", 0, 8);
    int y = unit(g, "c", unit(g, "b", x, 4), 4);

    y = mc_graph_concat(g, NULL, IN(unit(g, "e", x, 3), y));
    head(g, "d", unit(g, "f", y, 4), 0);
    expect(g, "a.n:0 b.n:1 c.n:2 e.n:1 f.n:3", 4, 0);
}

TEST(gates_are_nonlinear)
{
    struct mc_graph *g = begin(6, 5);
    int x = conv(g, "a", 0, 8), y = mc_graph_plain(g, "s", MC_OP_SIGMOID, conv(g, "b", x, 8));

    head(g, "d", mc_graph_mul(g, NULL, x, y), 0);
    expect(g, "a:0 b:1", 2, 0);
}

TEST(logits_and_heads_of_training_are_not_listed)
{
    struct mc_graph *g = begin(6, 5);
    int x = unit(g, "a", 0, 8);

    head(g, "aux", unit(g, "b", x, 6), 1);
    x = linear(g, "c", mc_graph_globalpool(g, NULL, x), 4);
    mc_graph_loss(g, "loss", bn(g, "c", x), 1, 0);
    expect(g, "a.n:0", 1, 0);
}

TEST(layers_without_bias_are_counted)
{
    struct mc_graph *g = begin(6, 5);
    const struct mc_conv_opts plain = {.kernel = 1};
    int x = relu(g, "a", mc_graph_conv(g, "a", 0, 8, plain));

    x = relu(g, "b", bn(g, "b", mc_graph_conv(g, "b", x, 8, plain)));
    head(g, "d", x, 0);
    expect(g, "b.n:0", 1, 1);
}

TEST(channels_are_scaled_and_shifted)
{
    struct mc_graph *g = begin(6, 5);
    struct mc_error err;

    head(g, "d", relu(g, "a", conv(g, "a", 0, 2)), 0);
    must(mc_graph_finish(g, &err));
    const int node = mc_graph_find(g, "a");
    const struct mc_node *a = &g->nodes[node];
    float *params = calloc(g->P, sizeof *params);
    assert_non_null(params);
    for (size_t i = 0; i < g->P; i++)
        params[i] = 1;
    mc_rescale_channel(g, node, 1, 3, -5, params);
    for (size_t i = 0; i < g->P; i++) {
        const int row = i >= a->weight.offset + 27 && i < a->weight.offset + 54;
        assert_true(params[i] == (row ? 3.f : i == a->bias.offset + 1 ? -2.f : 1.f));
    }
    free(params);
    mc_graph_free(g);
}

int main(void)
{
    return run_entered(NULL, NULL);
}
