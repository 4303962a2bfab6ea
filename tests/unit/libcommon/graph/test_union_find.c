/* SPDX-License-Identifier: Apache-2.0
 *
 * Ties of axes that are split, repeated or fixed: concats and their sums, flattened channels, ties
 * to the input and the logits. */
#include "tests/unit/kernels/groups.h"
#include "tests/unit/must.h"

TEST(concat)
{
    struct mc_graph *g = begin(6, 6);
    int a = unit(g, "a", 0, 5), b = unit(g, "b", a, 7), c = mc_graph_concat(g, "ab", IN(a, b));

    head(g, "h", unit(g, "c", c, 6), 0);
    check(g, "a:5 b:7 c:6", "0@a.r 1@b.r 2@c.r");
}

TEST(concat_of_concats)
{
    struct mc_graph *g = begin(6, 6);
    int a = unit(g, "a", 0, 5), b = unit(g, "b", 0, 7), c = unit(g, "c", 0, 4);
    int ab = mc_graph_concat(g, "ab", IN(a, b));
    int x = mc_graph_concat(g, "x", IN(c, mc_graph_concat(g, "y", IN(ab, a)), ab));

    head(g, "h", unit(g, "d", x, 6), 0);
    check(g, "a:5 b:7 c:4 d:6", "0@a.r 1@b.r 2@c.r 3@d.r");
}

/* The ReLU of a concat shows each group at its place, and one group twice. */
TEST(relu_on_a_concat)
{
    struct mc_graph *g = begin(6, 6);
    int a = conv(g, "a", 0, 5), b = conv(g, "b", 0, 7);
    int x = relu(g, "x", bn(g, "x", mc_graph_concat(g, "aba", IN(a, b, a))));

    head(g, "h", unit(g, "d", x, 6), 0);
    check(g, "a:5 b:7 d:6", "0@x.r 1@x.r+5 0@x.r+12 2@d.r");
}

TEST(sum_of_unequal_concats)
{
    struct mc_graph *g = begin(4, 4);
    int a = conv(g, "a", 0, 16), b = conv(g, "b", 0, 32), c = conv(g, "c", 0, 32);
    int d = conv(g, "d", 0, 16);
    int x = mc_graph_add(
        g, NULL, IN(mc_graph_concat(g, NULL, IN(a, b)), mc_graph_concat(g, NULL, IN(c, d))));

    head(g, "h", relu(g, "x", x), 0);
    check(g, "a:16 b[0:16]:16 b[16:32]:16", "0@x.r 1@x.r+16 2@x.r+32");
}

TEST(sum_of_crossed_concats)
{
    struct mc_graph *g = begin(4, 4);
    int a = conv(g, "a", 0, 16), b = conv(g, "b", 0, 16);
    int x = mc_graph_add(
        g, NULL, IN(mc_graph_concat(g, NULL, IN(a, b)), mc_graph_concat(g, NULL, IN(b, a))));

    head(g, "h", relu(g, "x", x), 0);
    check(g, "a:16", "0@x.r 0@x.r+16");
    /* 16 and 24 split each other down to their common divisor */
    g = begin(4, 4);
    a = unit(g, "a", 0, 16);
    b = unit(g, "b", 0, 24);
    x = mc_graph_add(g, NULL,
                     IN(mc_graph_concat(g, NULL, IN(a, b)), mc_graph_concat(g, NULL, IN(b, a))));
    head(g, "h", relu(g, "x", x), 0);
    check(g, "a[0:8]:8", "0@x.r 0@x.r+8 0@x.r+16 0@x.r+24 0@x.r+32");
    /* 3 and 5 split each other until nothing can move */
    g = begin(4, 4);
    a = unit(g, "a", 0, 3);
    b = unit(g, "b", 0, 5);
    x = mc_graph_add(g, NULL,
                     IN(mc_graph_concat(g, NULL, IN(a, b)), mc_graph_concat(g, NULL, IN(b, a))));
    head(g, "h", relu(g, "x", x), 0);
    check(g, "", "");
}

/* A late split also applies to axes tied earlier. */
TEST(splits_reach_earlier_layers)
{
    struct mc_graph *g = begin(4, 4);
    int a = unit(g, "a", 0, 12), b = conv(g, "b", a, 12), d = conv(g, "d", 0, 4);
    int e = conv(g, "e", 0, 8);
    int x = relu(g, "x", mc_graph_add(g, NULL, IN(a, b)));
    int y = relu(g, "y", mc_graph_add(g, NULL, IN(b, mc_graph_concat(g, NULL, IN(d, e)))));

    head(g, "h", mc_graph_add(g, "z", IN(conv(g, "f", x, 6), conv(g, "i", y, 6))), 0);
    check(g, "a[0:4]:4 a[4:12]:8 f:6", "0@a.r 1@a.r+4 0@x.r 1@x.r+4 0@y.r 1@y.r+4 2@z!");
}

TEST(flatten_before_linear)
{
    struct mc_graph *g = begin(5, 4);
    int x = mc_graph_pool(g, NULL, MC_OP_MAXPOOL, unit(g, "a", 0, 6), 2, 2, 0, 0);

    x = relu(g, "l", bn(g, "l", linear(g, "l", mc_graph_flatten(g, NULL, x), 9)));
    mc_graph_loss(g, "loss", linear(g, "d", x, 4), 1, 0);
    check(g, "a:6 l:9", "0@a.r 1@l.r");
}

/* After a flatten a channel has many places, so the tap is before it. */
TEST(relu_after_a_flatten)
{
    struct mc_graph *g = begin(2, 3);
    int x = relu(g, "f", mc_graph_flatten(g, NULL, bn(g, "a", conv(g, "a", 0, 6))));

    x = relu(g, "l", linear(g, "l", x, 9));
    mc_graph_loss(g, "loss", linear(g, "d", x, 4), 1, 0);
    check(g, "a:6 l:9", "0@a.n! 1@l.r");
}

/* A linear layer added to a flattened convolution moves in blocks of a channel. */
TEST(sum_with_a_flatten)
{
    struct mc_graph *g = begin(2, 3);
    int f = mc_graph_flatten(g, NULL, unit(g, "a", 0, 4));
    int l = linear(g, "l", f, 24), m = linear(g, "m", l, 24);
    int x = relu(g, "x", mc_graph_add(g, NULL, IN(f, m)));

    mc_graph_loss(g, "loss", linear(g, "d", x, 4), 1, 0);
    check(g, "a:4 l:24", "0@a.r 1@l!");
    /* flattened 2x3 and 1x4 pixels: 2 channels of one are 3 of the other */
    g = begin(2, 3);
    f = mc_graph_flatten(g, NULL, unit(g, "a", 0, 8));
    l = mc_graph_flatten(g, NULL, mc_graph_adaptpool(g, NULL, unit(g, "b", 0, 12), 1, 4));
    x = relu(g, "x", mc_graph_add(g, NULL, IN(l, f)));
    mc_graph_loss(g, "loss", linear(g, "d", x, 4), 1, 0);
    check(g, "", "");
}

TEST(ties_to_input_and_logits_are_fixed)
{
    struct mc_graph *g = begin(6, 6);
    int x = relu(g, "x", mc_graph_add(g, NULL, IN(0, conv(g, "a", 0, 3))));
    int l = 0;

    x = unit(g, "b", x, 6);
    l = linear(g, "l", mc_graph_globalpool(g, NULL, x), 4);
    mc_graph_loss(g, "loss", mc_graph_add(g, NULL, IN(linear(g, "m", relu(g, "l", l), 4), l)), 1,
                  0);
    check(g, "b:6", "0@b.r");
    /* the input's three channels inside a concat; the others can move */
    g = begin(6, 6);
    x = mc_graph_concat(g, NULL, IN(0, conv(g, "a", 0, 5)));
    x = relu(g, "x", mc_graph_add(g, NULL, IN(x, conv(g, "b", x, 8))));
    head(g, "h", x, 0);
    check(g, "a:5", "0@a! 0@x.r+3");
}

/* The places of a flattened image are separate. Fixing half of a block fixes the whole block. */
TEST(fixed_blocks)
{
    struct mc_graph *g = begin(2, 3);
    int c = unit(g, "a", 0, 7), f = mc_graph_flatten(g, NULL, c); /* 42 */
    int x = mc_graph_concat(g, NULL,
                            IN(mc_graph_flatten(g, NULL, 0), /* 18 */
                               linear(g, "l", f, 2), linear(g, "m", f, 22)));

    x = relu(g, "x", mc_graph_add(g, NULL, IN(x, f)));
    mc_graph_loss(g, "loss", linear(g, "d", x, 4), 1, 0);
    /* Three channels of a are tied to the image, the fourth to l and part of m, the others to
     * blocks of m. The first four places of m end in the middle of a channel. */
    check(g, "a[4:7]:3", "0@a.r+4");
}

/* Ties that would split channels endlessly stop at a limit. */
TEST(endless_splits_are_refused)
{
    struct mc_graph *g = mc_graph_new("test", 3, 1, 1, 4, NULL, NULL);
    struct mc_symmetry s;
    int n = 1 << 17, a = 0, b = 0, x = 0;

    a = linear(g, "a", 0, n + 1);
    b = linear(g, "b", 0, n);
    x = mc_graph_add(g, NULL,
                     IN(mc_graph_concat(g, NULL, IN(a, b)), mc_graph_concat(g, NULL, IN(b, a))));
    head(g, "h", x, 0);
    must(mc_graph_finish(g, &why));
    must_fail(mc_symmetry_derive(&s, g, &why), MC_EINPUT, "sets");
    mc_graph_free(g);

    g = mc_graph_new("test", 3, 1, 1, 4, NULL, NULL);
    x = linear(g, "a", 0, 2);
    for (int i = 0; i < 5; i++) /* each 16 times as many segments */
        x = mc_graph_concat(g, NULL, IN(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x));
    head(g, "h", x, 0);
    must(mc_graph_finish(g, &why));
    must_fail(mc_symmetry_derive(&s, g, &why), MC_EINPUT, "segments");
    mc_graph_free(g);
}

int main(void)
{
    return run_entered(NULL, NULL);
}
