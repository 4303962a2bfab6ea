/* SPDX-License-Identifier: Apache-2.0
 *
 * The permutation groups and taps of chains, skips, branches and whole networks. */
#include "tests/unit/kernels/groups.h"
#include "tests/unit/must.h"

TEST(plain_chain)
{
    struct mc_graph *g = begin(6, 5);
    int x = unit(g, "b", unit(g, "a", 0, 8), 6);

    head(g, "d", x, 0);
    check(g, "a:8 b:6", "0@a.r 1@b.r");
}

TEST(chain_without_relu)
{
    struct mc_graph *g = begin(6, 5);
    int x = conv(g, "a", 0, 8);

    x = bn(g, "b", conv(g, "b", x, 6));
    head(g, "d", x, 0);
    check(g, "a:8 b:6", "0@a! 1@b.n!");
}

TEST(norms_after_a_relu_are_passed_through)
{
    struct mc_graph *g = begin(6, 5);
    int x = bn(g, "x", unit(g, "a", 0, 8));

    x = relu(g, "y", x);
    x = mc_graph_dropout(g, NULL, bn(g, "z", x), .5f);
    x = mc_graph_pool(g, NULL, MC_OP_MAXPOOL, x, 2, 2, 0, 0);
    x = mc_graph_pool(g, NULL, MC_OP_AVGPOOL, x, 2, 1, 1, 0);
    head(g, "d", mc_graph_adaptpool(g, NULL, x, 2, 1), 0);
    check(g, "a:8", "0@y.r");
}

TEST(skips)
{
    struct mc_graph *g = begin(6, 6);
    int x = unit(g, "s", 0, 8);

    for (int i = 0; i < 2; i++) {
        const char *const names[2][3] = {{"a", "b", "ab"}, {"c", "d", "cd"}};
        int y = bn(g, names[i][1], conv(g, names[i][1], unit(g, names[i][0], x, 5), 8));
        x = relu(g, names[i][2], mc_graph_add(g, NULL, IN(x, y)));
    }
    head(g, "h", x, 0);
    check(g, "s:8 a:5 c:5", "0@s.r 1@a.r 0@ab.r 2@c.r 0@cd.r");
}

TEST(nested_skips)
{
    struct mc_graph *g = begin(6, 6);
    int x = unit(g, "s", 0, 8), a = unit(g, "a", x, 6), b = conv(g, "b", a, 6);
    int ab = relu(g, "ab", mc_graph_add(g, NULL, IN(a, b)));
    int c = conv(g, "c", ab, 8);

    x = relu(g, "sc", mc_graph_add(g, NULL, IN(x, c)));
    x = relu(g, "sd", mc_graph_add(g, NULL, IN(x, c, conv(g, "e", x, 8))));
    head(g, "h", x, 0);
    check(g, "s:8 a:6", "0@s.r 1@a.r 1@ab.r 0@sc.r 0@sd.r");
}

TEST(projection_skips)
{
    struct mc_graph *g = begin(6, 6);
    int x = unit(g, "s", 0, 6), y = bn(g, "b", conv(g, "b", unit(g, "a", x, 8), 8));
    int p = bn(g, "p", mc_graph_conv(g, "p", x, 8, (struct mc_conv_opts){.kernel = 1}));

    head(g, "h", relu(g, "out", mc_graph_add(g, NULL, IN(y, p))), 0);
    check(g, "s:6 a:8 b:8", "0@s.r 1@a.r 2@out.r");
}

/* The stream is observed at the start of each block's branch and at the last ReLU. */
TEST(preactivation_skips)
{
    struct mc_graph *g = begin(6, 6);
    int x = conv(g, "s", 0, 8);

    for (int i = 0; i < 2; i++) {
        const char *const names[2][2] = {{"a", "b"}, {"c", "d"}};
        int y = conv(g, names[i][0], relu(g, names[i][0], bn(g, names[i][0], x)), 5);
        y = conv(g, names[i][1], relu(g, names[i][1], bn(g, names[i][1], y)), 8);
        x = mc_graph_add(g, NULL, IN(x, y));
    }
    head(g, "h", relu(g, "h", bn(g, "h", x)), 0);
    check(g, "s:8 a:5 c:5", "0@a.r 1@b.r 0@c.r 2@d.r 0@h.r");
}

TEST(additions_without_relu_are_taps)
{
    struct mc_graph *g = begin(6, 6);
    int x = unit(g, "s", 0, 8), y = unit(g, "a", x, 8);

    x = mc_graph_add(g, "sum", IN(x, y));
    x = bn(g, "m", mc_graph_add(g, "more", IN(x, unit(g, "b", x, 8))));
    head(g, "h", x, 0);
    check(g, "s:8", "0@s.r 0@sum! 0@m.n!");
}

TEST(shared_inputs)
{
    struct mc_graph *g = begin(6, 6);
    int x = unit(g, "s", 0, 8), a = unit(g, "a", x, 5), b = unit(g, "b", x, 5);

    head(g, "h", mc_graph_add(g, "ab", IN(a, b)), 0);
    check(g, "s:8 a:5", "0@s.r 1@ab!");
}

TEST(several_heads)
{
    struct mc_graph *g = begin(6, 6);
    int a = unit(g, "a", 0, 6), b = unit(g, "b", a, 5);
    int x = linear(g, "x", mc_graph_flatten(g, NULL, mc_graph_adaptpool(g, NULL, a, 2, 2)), 7);

    x = mc_graph_dropout(g, NULL, relu(g, "x", x), .7f);
    mc_graph_loss(g, "aux", linear(g, "y", x, 4), .3f, 1);
    head(g, "aux2", b, 1);
    head(g, "h", b, 0);
    check(g, "a:6 b:5 x:7", "0@a.r 1@b.r 2@x.r");
}

static int inception(struct mc_graph *g, const char *p, int in)
{
    char n[6][16];
    int x[4];

    for (int i = 0; i < 6; i++)
        snprintf(n[i], sizeof n[i], "%s%d", p, i);
    x[0] = unit(g, n[0], in, 4);
    x[1] = unit(g, n[2], unit(g, n[1], in, 3), 5);
    x[2] = unit(g, n[4], unit(g, n[3], in, 2), 3);
    x[3] = unit(g, n[5], mc_graph_pool(g, NULL, MC_OP_MAXPOOL, in, 3, 1, 1, 0), 2);
    return mc_graph_concat(g, p, x, 4);
}

TEST(inception_blocks)
{
    struct mc_graph *g = begin(6, 6);
    int x = inception(g, "i", unit(g, "s", 0, 6));

    x = mc_graph_pool(g, NULL, MC_OP_MAXPOOL, x, 3, 2, 0, 1);
    head(g, "h", inception(g, "j", x), 0);
    check(g, "s:6 i0:4 i1:3 i2:5 i3:2 i4:3 i5:2 j0:4 j1:3 j2:5 j3:2 j4:3 j5:2",
          "0@s.r 1@i0.r 2@i1.r 3@i2.r 4@i3.r 5@i4.r 6@i5.r "
          "7@j0.r 8@j1.r 9@j2.r 10@j3.r 11@j4.r 12@j5.r");
}

TEST(single_channels_are_fixed)
{
    struct mc_graph *g = begin(6, 6);
    int x = unit(g, "b", unit(g, "a", 0, 1), 6);

    head(g, "d", x, 0);
    check(g, "b:6", "0@b.r");
}

static int grouped(struct mc_graph *g, const char *name, int in, int out, int groups)
{
    return mc_graph_conv(g, name, in, out,
                         (struct mc_conv_opts){.kernel = 3, .pad = 1, .groups = groups, .bias = 1});
}

/* Inputs and outputs of each group move among themselves; the blocks of a and g also move as
 * wholes. A boundary splits everything tied to it. The blocks of k stay, because one of them has
 * two groups. */
TEST(grouped_convolution_splits_its_axes)
{
    struct mc_graph *g = begin(6, 6);
    int x = unit(g, "a", 0, 12), y = relu(g, "g", bn(g, "g", grouped(g, "g", x, 8, 2)));

    x = unit(g, "b", y, 12);
    x = mc_graph_concat(g, "c", IN(x, unit(g, "d", y, 6)));
    head(g, "h", relu(g, "k", grouped(g, "k", x, 6, 2)), 0);
    check(g,
          "a/blocks:2 a[0:6]:6(0.0) a[6:12]:6(0.1) g[0:4]:4(0.0) g[4:8]:4(0.1) b[0:9]:9 b[9:12]:3 "
          "d:6 k[0:3]:3 k[3:6]:3",
          "1@a.r 3@g.r 5@b.r 6@b.r+9 7@d.r 8@k.r 9@k.r+3");
}

/* The channels of a group norm's group move, and so do whole groups, but not those of b, which c
 * cuts. One group of all channels and groups of one tie nothing. */
TEST(groups_of_a_norm_move)
{
    struct mc_graph *g = begin(4, 3);
    int x = relu(g, "a", mc_graph_groupnorm(g, NULL, conv(g, "a", 0, 12), 3, 1e-5f));

    x = relu(g, "b", mc_graph_groupnorm(g, NULL, conv(g, "b", x, 8), 2, 1e-5f));
    x = conv(g, "d", relu(g, "c", grouped(g, "c", x, 8, 4)), 5);
    x = mc_graph_groupnorm(g, NULL, mc_graph_groupnorm(g, NULL, x, 5, 1e-5f), 1, 1e-5f);
    head(g, "h", relu(g, "d", x), 0);
    check(
        g,
        "a/blocks:3 a[0:4]:4(0.0) a[4:8]:4(0.1) a[8:12]:4(0.2) b[0:2]:2 b[2:4]:2 b[4:6]:2 b[6:8]:2 "
        "c[0:2]:2 c[2:4]:2 c[4:6]:2 c[6:8]:2 d:5",
        "1@a.r 4@b.r 5@b.r+2 6@b.r+4 7@b.r+6 8@c.r 9@c.r+2 10@c.r+4 11@c.r+6 12@d.r");
}

/* Two bottlenecks on one stream, as in ResNeXt. Blocks have fewer outputs than inputs. */
TEST(blocks_of_bottlenecks_move)
{
    struct mc_graph *g = begin(6, 6);
    int s = unit(g, "s", 0, 7);

    for (int i = 0; i < 2; i++) {
        const char *const names[2][4] = {{"a", "b", "c", "m"}, {"d", "e", "f", "n"}};
        int x = unit(g, names[i][0], s, i ? 6 : 12);
        x = relu(g, names[i][1], bn(g, names[i][1], grouped(g, names[i][1], x, 6, 3)));
        x = bn(g, names[i][2], conv(g, names[i][2], x, 7));
        s = relu(g, names[i][3], mc_graph_add(g, NULL, IN(s, x)));
    }
    head(g, "h", s, 0);
    check(g,
          "s:7 a/blocks:3 a[0:4]:4(1.0) a[4:8]:4(1.1) a[8:12]:4(1.2) "
          "b[0:2]:2(1.0) b[2:4]:2(1.1) b[4:6]:2(1.2) "
          "d/blocks:3 d[0:2]:2(8.0) d[2:4]:2(8.1) d[4:6]:2(8.2) "
          "e[0:2]:2(8.0) e[2:4]:2(8.1) e[4:6]:2(8.2)",
          "0@s.r 2@a.r 5@b.r 0@m.r 9@d.r 12@e.r 0@n.r");
}

/* Squeeze and excitation as in RegNet. Two convolutions in a row share their blocks; a flatten
 * repeats them; a sum and a concat contain them whole. */
TEST(blocks_in_a_row_move_together)
{
    struct mc_graph *g = begin(4, 3);
    int x = unit(g, "a", 0, 8), y = relu(g, "b", grouped(g, "b", x, 12, 4));

    y = mc_graph_mul(g, "m", y,
                     conv(g, "up", conv(g, "down", mc_graph_globalpool(g, NULL, y), 5), 12));
    x = mc_graph_add(g, "sum", IN(x, grouped(g, "c", y, 8, 4)));
    x = relu(g, "k", unit(g, "last", mc_graph_concat(g, "two", IN(x, conv(g, "d", x, 3), x)), 6));
    x = linear(g, "e", mc_graph_flatten(g, NULL, mc_graph_concat(g, "all", IN(y, x))), 4);
    mc_graph_loss(g, "loss", x, 1, 0);
    check(g,
          "a/blocks:4 a[0:2]:2(0.0) a[2:4]:2(0.1) a[4:6]:2(0.2) a[6:8]:2(0.3) "
          "b[0:3]:3(0.0) b[3:6]:3(0.1) b[6:9]:3(0.2) b[9:12]:3(0.3) down:5 d:3 last:6",
          "1@a.r 5@b.r 9@down! 5@m! 1@sum! 10@d! 11@k.r");
}

/* A place on the inputs' axis is wider than a row of blocks. Blocks still move after their
 * contents. */
TEST(repeated_blocks_move)
{
    struct mc_graph *g = begin(4, 3);
    int x = relu(g, "deep", grouped(g, "deep", unit(g, "a", 0, 6), 24, 6));

    x = relu(g, "b", grouped(g, "b", x, 6, 3));
    x = relu(g, "twice", grouped(g, "twice", x, 12, 6));
    head(g, "h", unit(g, "c", grouped(g, "d", x, 9, 3), 5), 0);
    check(g,
          "a/blocks:3 a[0:2]:2(0.0) a[2:4]:2(0.1) a[4:6]:2(0.2) "
          "b[0:2]:2(0.0) b[2:4]:2(0.1) b[4:6]:2(0.2) "
          "d[0:3]:3(0.0) d[3:6]:3(0.1) d[6:9]:3(0.2) c:5",
          "1@a.r 4@b.r 7@d! 10@c.r");
}

/* Blocks that are halves of other blocks, tied to separate layers, or in another order. */
TEST(tied_blocks_stay)
{
    struct mc_graph *g = begin(6, 6);
    int x = grouped(g, "c", grouped(g, "b", unit(g, "a", 0, 8), 8, 2), 8, 4);

    head(g, "h", relu(g, "r", x), 0);
    check(
        g,
        "a[0:4]:4 a[4:8]:4 b[0:2]:2 b[2:4]:2 b[4:6]:2 b[6:8]:2 c[0:2]:2 c[2:4]:2 c[4:6]:2 c[6:8]:2",
        "0@a.r 1@a.r+4 2@b! 3@b+2! 4@b+4! 5@b+6! 6@r.r 7@r.r+2 8@r.r+4 9@r.r+6");

    g = begin(6, 6);
    x = unit(g, "a", 0, 8);
    x = mc_graph_add(g, "sum",
                     IN(x, mc_graph_concat(g, "both", IN(conv(g, "l", x, 4), conv(g, "k", x, 4)))));
    head(g, "h", relu(g, "b", grouped(g, "b", x, 6, 2)), 0);
    check(g, "a[0:4]:4 a[4:8]:4 b[0:3]:3 b[3:6]:3", "0@a.r 1@a.r+4 0@sum! 1@sum+4! 2@b.r 3@b.r+3");

    g = begin(6, 6);
    x = mc_graph_concat(g, "cc", IN(unit(g, "a", 0, 4), unit(g, "b", 0, 4)));
    x = grouped(g, "c", x, 6, 2);
    x = mc_graph_concat(g, "dd", IN(unit(g, "b2", x, 4), unit(g, "a2", x, 4)));
    head(g, "h", relu(g, "e", grouped(g, "e", x, 2, 2)), 0);
    check(g, "a:4 b:4 c[0:3]:3 c[3:6]:3 b2:4 a2:4", "0@a.r 1@b.r 2@c! 3@c+3! 4@b2.r 5@a2.r");
}

TEST(fixed_inputs_fix_their_group)
{
    struct mc_graph *g = begin(6, 6);
    int x = mc_graph_concat(g, "c", IN(0, unit(g, "a", 0, 9)));

    head(g, "h", relu(g, "g", grouped(g, "g", x, 8, 2)), 0);
    check(g, "a[0:3]:3 a[3:9]:6 g[0:4]:4 g[4:8]:4", "0@a.r 1@a.r+3 2@g.r 3@g.r+4");
}

TEST(depthwise_convolution_passes_its_axis_through)
{
    struct mc_graph *g = begin(6, 6);
    int s = conv(g, "s", 0, 8),
        x = mc_graph_plain(g, "e.a", MC_OP_RELU6, bn(g, "e", conv(g, "e", s, 9)));

    x = mc_graph_plain(g, "dw.a", MC_OP_HARDSWISH, bn(g, "dw", grouped(g, "dw", x, 9, 9)));
    s = mc_graph_add(g, "sum", IN(s, bn(g, "p", conv(g, "p", x, 8))));
    x = relu(g, "twice", grouped(g, "twice", s, 16, 8)); /* two outputs per input */
    head(g, "h", unit(g, "last", x, 6), 0);
    check(g, "s:8 e:9 last:6", "0@s! 1@e.a 1@dw.a 0@sum! 2@last.r");
}

TEST(squeeze_and_excitation)
{
    struct mc_graph *g = begin(6, 6);
    int x = unit(g, "a", 0, 9), y = relu(g, "f", conv(g, "f", mc_graph_globalpool(g, NULL, x), 6));

    y = mc_graph_plain(g, "gate", MC_OP_SIGMOID, conv(g, "e", y, 9));
    x = mc_graph_mul(g, "m", x, y);
    x = mc_graph_plain(g, "b.a", MC_OP_SILU, conv(g, "b", x, 7));
    x = mc_graph_mul(g, "square", x, x);
    head(g, "h", mc_graph_plain(g, "z", MC_OP_HARDSIGMOID, x), 0);
    check(g, "a:9 f:6 b:7", "0@a.r 1@f.r 0@m! 2@z");
}

/* A ConvNeXt block. */
TEST(layer_norms_and_scales_are_passed_through)
{
    struct mc_graph *g = begin(6, 6);
    int s = mc_graph_layernorm(g, "n", conv(g, "s", 0, 8), 1e-6f);
    int x = mc_graph_layernorm(g, "ln", grouped(g, "dw", s, 8, 8), 1e-6f);

    x = mc_graph_plain(g, "act", MC_OP_GELU,
                       mc_graph_conv(g, "p", x, 12, (struct mc_conv_opts){0}));
    x = mc_graph_plain(g, "gamma", MC_OP_SCALE,
                       mc_graph_conv(g, "q", x, 8, (struct mc_conv_opts){0}));
    head(g, "h", mc_graph_add(g, "sum", IN(s, x)), 0);
    check(g, "s:8 p:12", "0@n! 0@ln! 1@act 0@sum!");
}

/* ResNets with option A: the middle of the wider stage is the narrower stage's group, and the zero
 * channels on each side move with the block's last layer. Two stages, whose middles nest. */
TEST(zero_padded_shortcuts)
{
    struct mc_graph *g = begin(6, 6);
    int x = unit(g, "s", 0, 6);

    for (int i = 0; i < 2; i++) {
        const char *const names[2][3] = {{"a", "b", "ab"}, {"c", "d", "cd"}};
        const int p[] = {g->nodes[x].c / 2, i, 0}, q[] = {g->nodes[x].c / 2, 0, i}, none[3] = {0};
        int z = mc_graph_pad(g, NULL, mc_graph_pool(g, NULL, MC_OP_AVGPOOL, x, 1, 2, 0, 0), p, q);
        int y = mc_graph_pad(g, NULL, unit(g, names[i][0], x, 5), none, i ? q : none);
        y = mc_graph_adaptpool(g, NULL, y, g->nodes[z].h, g->nodes[z].w);
        y = bn(g, names[i][1], conv(g, names[i][1], y, g->nodes[z].c));
        x = relu(g, names[i][2], mc_graph_add(g, NULL, IN(y, z)));
    }
    head(g, "h", conv(g, "e", x, 5), 0);
    check(g, "s:6 a:5 b[0:3]:3 b[9:12]:3 c:5 d[0:6]:6 d[18:24]:6 e:5",
          "0@s.r 1@a.r 2@ab.r 0@ab.r+3 3@ab.r+9 4@c.r 5@cd.r 2@cd.r+6 0@cd.r+9 3@cd.r+15 "
          "6@cd.r+18 7@e!");
}

/* Zero channels that no layer computes stay. So does a single one. */
TEST(zero_channels_alone_stay)
{
    struct mc_graph *g = begin(6, 6);
    const int p[] = {4, 1, 2}, q[] = {1, 0, 1};
    int x = mc_graph_pad(g, NULL, unit(g, "a", 0, 6), p, q);
    int y = mc_graph_pad(g, NULL, x, (int[3]){0}, (const int[]){2, 0, 0});

    x = mc_graph_plain(g, "t", MC_OP_TANH, bn(g, "x", conv(g, "b", x, 7)));
    x = mc_graph_pad(g, NULL, x, (const int[]){1, 0, 0}, (const int[]){5, 0, 0});
    x = mc_graph_activation(g, "l", MC_OP_LEAKYRELU, mc_graph_add(g, NULL, IN(x, y)), .3f);
    head(g, "h", conv(g, "c", x, 5), 0);
    check(g, "a[0:4]:4 a[4:6]:2 b[0:3]:3 c:5", "0@a.r 1@a.r+4 2@l+1 0@l+4 1@l+8 3@c!");
}

TEST(networks)
{
    const struct mc_net_spec spec = {3, 10, 10, 4, {.5f, .5f, .5f}, {.2f, .2f, .2f}};
    struct mc_graph *g = NULL;
    struct mc_symmetry s;
    char groups[1024], taps[1024];

    must(mc_net_build(&g, "tinyten", &spec, &why));
    must(mc_symmetry_derive(&s, g, &why));
    describe(g, &s, groups, taps, sizeof groups);
    assert_string_equal(groups, "layers.0.conv:16 layers.1.conv:16 layers.2.conv:32 "
                                "layers.3.conv:32 layers.4.conv:32 layers.5.conv:64 "
                                "layers.6.conv:64 layers.7.conv:64");
    assert_string_equal(taps, "0@layers.0.relu 1@layers.1.relu 2@layers.2.relu 3@layers.3.relu "
                              "4@layers.4.relu 5@layers.5.relu 6@layers.6.relu 7@layers.7.relu");
    /* conv's weight and bias, batch norm's four tensors, the next layer's inputs */
    for (size_t i = 0; i < s.n_groups; i++)
        assert_int_equal(s.uses[i].n, 7);
    permuted_network_agrees(g, &s);
    mc_symmetry_release(&s);
    mc_graph_free(g);

    must(mc_net_build(&g, "mlp:bn,12,7", &spec, &why));
    must(mc_symmetry_derive(&s, g, &why));
    describe(g, &s, groups, taps, sizeof groups);
    assert_string_equal(groups, "layers.0.linear:12 layers.1.linear:7");
    assert_string_equal(taps, "0@layers.0.relu 1@layers.1.relu");
    permuted_network_agrees(g, &s);
    mc_symmetry_release(&s);
    mc_graph_free(g);
}

int main(void)
{
    return run_entered(NULL, NULL);
}
