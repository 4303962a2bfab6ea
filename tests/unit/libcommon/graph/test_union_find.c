/* SPDX-License-Identifier: Apache-2.0
 *
 * Ties of axes that are cut, stretched and fixed: concats, sums of them, flattened channels, what
 * is tied to the ends. */
#include "tests/unit/kernels/groups.h"

static void concat(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int a = unit(g, "a", 0, 5), b = unit(g, "b", a, 7), c = mc_graph_concat(g, "ab", IN(a, b));

    (void)state;
    head(g, "h", unit(g, "c", c, 6), 0);
    check(g, "a:5 b:7 c:6", "0@a.r 1@b.r 2@c.r");
}

static void concat_of_concats(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int a = unit(g, "a", 0, 5), b = unit(g, "b", 0, 7), c = unit(g, "c", 0, 4);
    int ab = mc_graph_concat(g, "ab", IN(a, b));
    int x = mc_graph_concat(g, "x", IN(c, mc_graph_concat(g, "y", IN(ab, a)), ab));

    (void)state;
    head(g, "h", unit(g, "d", x, 6), 0);
    check(g, "a:5 b:7 c:4 d:6", "0@a.r 1@b.r 2@c.r 3@d.r");
}

/* A concat's own ReLU shows each group at its place, and one group twice. */
static void relu_on_a_concat(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int a = conv(g, "a", 0, 5), b = conv(g, "b", 0, 7);
    int x = relu(g, "x", bn(g, "x", mc_graph_concat(g, "aba", IN(a, b, a))));

    (void)state;
    head(g, "h", unit(g, "d", x, 6), 0);
    check(g, "a:5 b:7 d:6", "0@x.r 1@x.r+5 0@x.r+12 2@d.r");
}

static void sum_of_unequal_concats(void **state)
{
    struct mc_graph *g = begin(4, 4);
    int a = conv(g, "a", 0, 16), b = conv(g, "b", 0, 32), c = conv(g, "c", 0, 32);
    int d = conv(g, "d", 0, 16);
    int x = mc_graph_add(
        g, NULL, IN(mc_graph_concat(g, NULL, IN(a, b)), mc_graph_concat(g, NULL, IN(c, d))));

    (void)state;
    head(g, "h", relu(g, "x", x), 0);
    check(g, "a:16 b[0:16]:16 b[16:32]:16", "0@x.r 1@x.r+16 2@x.r+32");
}

static void sum_of_crossed_concats(void **state)
{
    struct mc_graph *g = begin(4, 4);
    int a = conv(g, "a", 0, 16), b = conv(g, "b", 0, 16);
    int x = mc_graph_add(
        g, NULL, IN(mc_graph_concat(g, NULL, IN(a, b)), mc_graph_concat(g, NULL, IN(b, a))));

    (void)state;
    head(g, "h", relu(g, "x", x), 0);
    check(g, "a:16", "0@x.r 0@x.r+16");
    /* 16 and 24 cross until only their common divisor is left */
    g = begin(4, 4);
    a = unit(g, "a", 0, 16);
    b = unit(g, "b", 0, 24);
    x = mc_graph_add(g, NULL,
                     IN(mc_graph_concat(g, NULL, IN(a, b)), mc_graph_concat(g, NULL, IN(b, a))));
    head(g, "h", relu(g, "x", x), 0);
    check(g, "a[0:8]:8", "0@x.r 0@x.r+8 0@x.r+16 0@x.r+24 0@x.r+32");
    /* 3 and 5 cross until nothing can move */
    g = begin(4, 4);
    a = unit(g, "a", 0, 3);
    b = unit(g, "b", 0, 5);
    x = mc_graph_add(g, NULL,
                     IN(mc_graph_concat(g, NULL, IN(a, b)), mc_graph_concat(g, NULL, IN(b, a))));
    head(g, "h", relu(g, "x", x), 0);
    check(g, "", "");
}

/* A cut that comes late reaches what was tied early. */
static void splits_travel_back(void **state)
{
    struct mc_graph *g = begin(4, 4);
    int a = unit(g, "a", 0, 12), b = conv(g, "b", a, 12), d = conv(g, "d", 0, 4);
    int e = conv(g, "e", 0, 8);
    int x = relu(g, "x", mc_graph_add(g, NULL, IN(a, b)));
    int y = relu(g, "y", mc_graph_add(g, NULL, IN(b, mc_graph_concat(g, NULL, IN(d, e)))));

    (void)state;
    head(g, "h", mc_graph_add(g, "z", IN(conv(g, "f", x, 6), conv(g, "i", y, 6))), 0);
    check(g, "a[0:4]:4 a[4:12]:8 f:6", "0@a.r 1@a.r+4 0@x.r 1@x.r+4 0@y.r 1@y.r+4 2@z!");
}

static void flatten_before_linear(void **state)
{
    struct mc_graph *g = begin(5, 4);
    int x = mc_graph_pool(g, NULL, MC_OP_MAXPOOL, unit(g, "a", 0, 6), 2, 2, 0, 0);

    (void)state;
    x = relu(g, "l", bn(g, "l", linear(g, "l", mc_graph_flatten(g, NULL, x), 9)));
    mc_graph_loss(g, "loss", linear(g, "d", x, 4), 1, 0);
    check(g, "a:6 l:9", "0@a.r 1@l.r");
}

/* Behind the flatten a channel is many places, so it is seen before. */
static void relu_behind_a_flatten(void **state)
{
    struct mc_graph *g = begin(2, 3);
    int x = relu(g, "f", mc_graph_flatten(g, NULL, bn(g, "a", conv(g, "a", 0, 6))));

    (void)state;
    x = relu(g, "l", linear(g, "l", x, 9));
    mc_graph_loss(g, "loss", linear(g, "d", x, 4), 1, 0);
    check(g, "a:6 l:9", "0@a.n! 1@l.r");
}

/* A linear layer added to a flattened convolution moves in its blocks. */
static void sum_with_a_flatten(void **state)
{
    struct mc_graph *g = begin(2, 3);
    int f = mc_graph_flatten(g, NULL, unit(g, "a", 0, 4));
    int l = linear(g, "l", f, 24), m = linear(g, "m", l, 24);
    int x = relu(g, "x", mc_graph_add(g, NULL, IN(f, m)));

    (void)state;
    mc_graph_loss(g, "loss", linear(g, "d", x, 4), 1, 0);
    check(g, "a:4 l:24", "0@a.r 1@l!");
    /* flattened 2x3 and 1x4 pixels: 2 channels of the one are 3 of the other */
    g = begin(2, 3);
    f = mc_graph_flatten(g, NULL, unit(g, "a", 0, 8));
    l = mc_graph_flatten(g, NULL, mc_graph_adaptpool(g, NULL, unit(g, "b", 0, 12), 1, 4));
    x = relu(g, "x", mc_graph_add(g, NULL, IN(l, f)));
    mc_graph_loss(g, "loss", linear(g, "d", x, 4), 1, 0);
    check(g, "", "");
}

static void what_is_tied_to_the_ends_is_fixed(void **state)
{
    struct mc_graph *g = begin(6, 6);
    int x = relu(g, "x", mc_graph_add(g, NULL, IN(0, conv(g, "a", 0, 3))));
    int l = 0;

    (void)state;
    x = unit(g, "b", x, 6);
    l = linear(g, "l", mc_graph_globalpool(g, NULL, x), 4);
    mc_graph_loss(g, "loss", mc_graph_add(g, NULL, IN(linear(g, "m", relu(g, "l", l), 4), l)), 1,
                  0);
    check(g, "b:6", "0@b.r");
    /* the input's three channels inside a concat: the rest is free */
    g = begin(6, 6);
    x = mc_graph_concat(g, NULL, IN(0, conv(g, "a", 0, 5)));
    x = relu(g, "x", mc_graph_add(g, NULL, IN(x, conv(g, "b", x, 8))));
    head(g, "h", x, 0);
    check(g, "a:5", "0@a! 0@x.r+3");
}

/* A flattened image's places are each their own: half a block is fixed, all of it is. */
static void fixed_blocks(void **state)
{
    struct mc_graph *g = begin(2, 3);
    int c = unit(g, "a", 0, 7), f = mc_graph_flatten(g, NULL, c); /* 42 */
    int x = mc_graph_concat(g, NULL,
                            IN(mc_graph_flatten(g, NULL, 0), /* 18 */
                               linear(g, "l", f, 2), linear(g, "m", f, 22)));

    (void)state;
    x = relu(g, "x", mc_graph_add(g, NULL, IN(x, f)));
    mc_graph_loss(g, "loss", linear(g, "d", x, 4), 1, 0);
    /* of a, three channels are the image, the fourth is l and part of m, the rest are m's blocks;
     * m's first four places stop in the middle of a channel */
    check(g, "a[4:7]:3", "0@a.r+4");
}

/* Ties that would cut channels without end stop at a bound. */
static void endless_cuts_are_refused(void **state)
{
    struct mc_graph *g = mc_graph_new("test", 3, 1, 1, 4, NULL, NULL);
    struct mc_symmetry s;
    struct mc_error err = {0};
    int n = 1 << 17, a = 0, b = 0, x = 0;

    (void)state;
    a = linear(g, "a", 0, n + 1);
    b = linear(g, "b", 0, n);
    x = mc_graph_add(g, NULL,
                     IN(mc_graph_concat(g, NULL, IN(a, b)), mc_graph_concat(g, NULL, IN(b, a))));
    head(g, "h", x, 0);
    assert_int_equal(mc_graph_finish(g, &err), 0);
    assert_int_equal(mc_symmetry_derive(&s, g, &err), MC_EINPUT);
    assert_non_null(strstr(err.text, "sets"));
    mc_graph_free(g);

    g = mc_graph_new("test", 3, 1, 1, 4, NULL, NULL);
    x = linear(g, "a", 0, 2);
    for (int i = 0; i < 5; i++) /* each 16 times as many segments */
        x = mc_graph_concat(g, NULL, IN(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x));
    head(g, "h", x, 0);
    assert_int_equal(mc_graph_finish(g, &err), 0);
    assert_int_equal(mc_symmetry_derive(&s, g, &err), MC_EINPUT);
    assert_non_null(strstr(err.text, "segments"));
    mc_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concat),
        cmocka_unit_test(concat_of_concats),
        cmocka_unit_test(relu_on_a_concat),
        cmocka_unit_test(sum_of_unequal_concats),
        cmocka_unit_test(sum_of_crossed_concats),
        cmocka_unit_test(splits_travel_back),
        cmocka_unit_test(flatten_before_linear),
        cmocka_unit_test(relu_behind_a_flatten),
        cmocka_unit_test(sum_with_a_flatten),
        cmocka_unit_test(what_is_tied_to_the_ends_is_fixed),
        cmocka_unit_test(fixed_blocks),
        cmocka_unit_test(endless_cuts_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
