/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: shapes, layout, initial weights, and the way through a stream and back, also from a
 * stranger's hand. */
#include "mc_graph.h"
#include "mc_nets.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct mc_net_spec CIFAR = {
    3, 32, 32, 10, {.4914f, .4822f, .4465f}, {.247f, .243f, .261f}};

static struct mc_graph *build(const char *name, const struct mc_net_spec *spec)
{
    struct mc_graph *g = NULL;
    struct mc_error err = {0};

    if (mc_net_build(&g, name, spec, &err))
        fail_msg("%s", err.text);
    return g;
}

static const struct mc_param *param(const struct mc_graph *g, const char *name)
{
    for (size_t i = 0; i < g->n_params; i++)
        if (!strcmp(g->params[i].tensor.name, name))
            return &g->params[i];
    for (size_t i = 0; i < g->n_stats; i++)
        if (!strcmp(g->stats[i].tensor.name, name))
            return &g->stats[i];
    fail_msg("no tensor %s", name);
    return NULL;
}

static void tinyten_is_the_papers(void **state)
{
    struct mc_graph *g = build("tinyten", &CIFAR);
    const struct mc_param *p = NULL;
    struct mc_net_spec wide = CIFAR;

    (void)state;
    assert_int_equal(mc_graph_count(g), 86778);
    assert_int_equal(g->n_params, 8 * 4 + 2);
    assert_int_equal(g->n_stats, 8 * 2);
    assert_string_equal(g->params[0].tensor.name, "layers.0.conv.weight");
    assert_string_equal(g->params[3].tensor.name, "layers.0.bn.bias");
    assert_string_equal(g->params[33].tensor.name, "dense.bias");
    assert_string_equal(g->stats[15].tensor.name, "layers.7.bn.running_var");
    p = param(g, "layers.2.conv.weight");
    assert_int_equal(p->tensor.ndim, 4);
    assert_int_equal(p->tensor.shape[0], 32);
    assert_int_equal(p->tensor.shape[1], 16);
    assert_int_equal(p->fan_in, 16 * 9);
    assert_int_equal(p->fan_out, 32 * 9);
    assert_int_equal(g->nodes[mc_graph_find(g, "layers.5.relu")].h, 8);
    assert_int_equal(g->nodes[mc_graph_find(g, "layers.7.relu")].w, 6);
    assert_string_equal(g->nodes[g->logits].name, "dense");
    assert_true(g->nodes[mc_graph_find(g, "layers.5.bn")].eps == 1e-5f);
    /* by hand: the convolutions' multiply-adds, and the dense layer's */
    assert_true(mc_graph_flops(g) ==
                2. * (1024 * (27. * 16 + 144 * 16) + 256 * (144. * 32 + 2 * 288 * 32) +
                      64 * 288. * 64 + 36 * (576. * 64 + 64 * 64) + 640));
    mc_graph_free(g);
    wide.height = wide.width = 64;
    wide.classes = 200;
    g = build("tinyten", &wide);
    assert_int_equal(mc_graph_count(g), 86778 + 190 * 65);
    assert_int_equal(g->nodes[mc_graph_find(g, "layers.7.relu")].w, 14);
    mc_graph_free(g);
}

static void mlp_has_its_widths(void **state)
{
    struct mc_graph *g = build("mlp", &CIFAR);

    (void)state;
    assert_int_equal(mc_graph_count(g), 3072 * 512 + 512 + 512 * 512 + 512 + 5120 + 10);
    assert_int_equal(g->n_stats, 0);
    mc_graph_free(g);
    g = build("mlp:bn,20,7", &CIFAR);
    assert_int_equal(mc_graph_count(g), 3072 * 20 + 60 + 140 + 21 + 70 + 10);
    assert_int_equal(param(g, "layers.1.bn.running_mean")->count, 7);
    mc_graph_free(g);
    g = build("mlp:bn", &CIFAR);
    assert_int_equal(g->n_params, 2 * 4 + 2);
    mc_graph_free(g);
}

static void unknown_networks_are_usage_errors(void **state)
{
    static const char *const bad[] = {"no-such-net",
                                      "",
                                      "tiny",
                                      "tinyten:3",
                                      "mlp:",
                                      "mlp:0",
                                      "mlp:5,",
                                      "mlp:bn,",
                                      "mlp:5x",
                                      "mlp:-5",
                                      "mlp: 5",
                                      "mlp:70000",
                                      "mlp:99999999999999999999"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mc_graph *g = NULL;
        struct mc_error err = {0};
        assert_int_equal(mc_net_build(&g, bad[i], &CIFAR, &err), MC_EUSAGE);
        assert_null(g);
        assert_true(strlen(err.text) > 0);
    }
}

static void layout_is_aligned_and_disjoint(void **state)
{
    struct mc_graph *g = build("mlp:bn,33,5", &CIFAR);
    size_t end = 0;

    (void)state;
    for (size_t i = 0; i < g->n_params; i++) {
        const struct mc_param *p = &g->params[i];
        assert_int_equal(p->offset % 16, 0);
        assert_true(p->offset >= end && p->offset < end + 16);
        assert_int_equal(p->count, mc_tensor_bytes(&p->tensor) / 4);
        end = p->offset + p->count;
    }
    assert_int_equal(g->P, (end + 15) / 16 * 16);
    assert_int_equal(g->nodes[mc_graph_find(g, "layers.1.bn")].running_var.offset,
                     param(g, "layers.1.bn.running_var")->offset);
    mc_graph_free(g);
}

/* Windows as PyTorch counts them: the last column is MaxPool2d's. */
static void pooling_shapes_are_pytorchs(void **state)
{
    static const struct {
        int in, kernel, stride, pad, ceil, out;
    } cases[] = {{32, 3, 2, 0, 1, 16}, {32, 3, 2, 0, 0, 15}, {16, 3, 2, 0, 1, 8},
                 {8, 3, 1, 1, 0, 8},   {5, 2, 2, 1, 1, 3},   {5, 2, 2, 0, 1, 3},
                 {5, 2, 2, 0, 0, 2},   {4, 2, 3, 1, 1, 2},   {7, 1, 3, 0, 1, 3}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mc_graph *g = mc_graph_new("t", 3, cases[i].in, cases[i].in, 2, NULL, NULL);
        int p = mc_graph_pool(g, NULL, MC_OP_MAXPOOL, 0, cases[i].kernel, cases[i].stride,
                              cases[i].pad, cases[i].ceil);
        assert_true(p > 0);
        assert_int_equal(g->nodes[p].h, cases[i].out);
        mc_graph_free(g);
    }
}

/* One of everything. */
static struct mc_graph *zoo(void)
{
    static const float mean[] = {.1f, .2f, 1 / 3.f}, std[] = {.25f, 1, 1e-3f};
    struct mc_graph *g = mc_graph_new("zoo", 3, 16, 12, 5, mean, std);
    int a = mc_graph_conv(g, "a", 0, 8, (struct mc_conv_opts){.kernel = 3, .pad = 1, .bias = 1});
    int r = mc_graph_relu(g, "a.relu", mc_graph_batchnorm(g, "a.bn", a, 1e-3f));
    int b = mc_graph_conv(g, "b", r, 8,
                          (struct mc_conv_opts){.groups = 2, .init = MC_INIT_KAIMING_NORMAL_OUT});
    int s = mc_graph_add(g, "sum", (int[]){r, b}, 2);
    int m = mc_graph_pool(g, "m", MC_OP_MAXPOOL, s, 3, 2, 1, 1);
    int v = mc_graph_pool(g, "v", MC_OP_AVGPOOL, s, 3, 2, 1, 1);
    int c = mc_graph_concat(g, "c", (int[]){m, v, m}, 3);
    int f = mc_graph_flatten(g, "f", mc_graph_adaptpool(g, "ap", c, 2, 3));
    int d = mc_graph_dropout(g, "d", mc_graph_globalpool(g, "gp", c), .2f);
    int aux =
        mc_graph_linear(g, "auxl", f, 5, 1, MC_INIT_TRUNCATED_NORMAL_01, MC_INIT_UNIFORM_FAN_IN);
    int head = mc_graph_linear(g, "head", d, 5, 0, MC_INIT_UNIFORM_FAN_IN, MC_INIT_ZERO);

    mc_graph_loss(g, "aux", aux, .3f, 1);
    mc_graph_loss(g, "loss", head, 1, 0);
    return g;
}

static void finish(struct mc_graph *g)
{
    struct mc_error err = {0};

    if (mc_graph_finish(g, &err))
        fail_msg("%s", err.text);
}

static void heads_for_training_only_are_left_out(void **state)
{
    struct mc_graph *g = zoo();
    unsigned char needed[64];

    (void)state;
    finish(g);
    assert_true(g->n_nodes < 64);
    mc_graph_needed(g, 1, needed);
    for (int i = 0; i < g->n_nodes; i++)
        assert_int_equal(needed[i], 1);
    mc_graph_needed(g, 0, needed);
    for (int i = 0; i < g->n_nodes; i++) {
        const char *n = g->nodes[i].name;
        assert_int_equal(needed[i], strcmp(n, "aux") && strcmp(n, "auxl") && strcmp(n, "f") &&
                                        strcmp(n, "ap"));
    }
    /* at 16x12: a with 27 by 8, b with 2 groups of 4 by 4; then the head */
    assert_true(mc_graph_flops(g) == 2. * (192 * (27 * 8 + 32) + 120));
    mc_graph_free(g);
}

static struct mc_graph *unpack_bytes(const char *data, size_t size, struct mc_error *err, int *rc)
{
    msgpack_unpacked u;
    struct mc_graph *g = NULL;

    msgpack_unpacked_init(&u);
    assert_int_equal(msgpack_unpack_next(&u, data, size, NULL), MSGPACK_UNPACK_SUCCESS);
    *rc = mc_graph_unpack(&g, &u.data, err);
    msgpack_unpacked_destroy(&u);
    return g;
}

static void packed_and_unpacked_is_the_same(void **state)
{
    struct mc_graph *g[3] = {build("tinyten", &CIFAR), build("mlp:bn,20", &CIFAR), zoo()};

    (void)state;
    finish(g[2]);
    for (int i = 0; i < 3; i++) {
        struct mc_pack a, b;
        struct mc_error err = {0};
        struct mc_graph *back = NULL, *copy = NULL;
        int rc = 0;
        mc_graph_huber(g[i], .125f);
        mc_pack_init(&a);
        mc_pack_init(&b);
        mc_graph_pack(g[i], &a);
        back = unpack_bytes(a.buf.data, a.buf.size, &err, &rc);
        if (rc)
            fail_msg("%s", err.text);
        mc_graph_pack(back, &b);
        assert_int_equal(a.buf.size, b.buf.size);
        assert_memory_equal(a.buf.data, b.buf.data, a.buf.size);
        assert_true(mc_graph_same(g[i], back));
        assert_string_equal(g[i]->net, back->net);
        assert_int_equal(g[i]->P, back->P);
        for (size_t k = 0; k < g[i]->n_params; k++)
            assert_int_equal(g[i]->params[k].init, back->params[k].init);
        copy = mc_graph_copy(back);
        assert_non_null(copy);
        mc_graph_huber(copy, 0);
        assert_false(mc_graph_same(copy, back));
        mc_graph_huber(copy, .125f);
        assert_true(mc_graph_same(copy, back));
        copy->nodes[0].std[1] += 1;
        assert_false(mc_graph_same(copy, back));
        mc_graph_free(copy);
        mc_graph_free(back);
        mc_graph_free(g[i]);
        mc_pack_release(&a);
        mc_pack_release(&b);
    }
}

static void expect_difference(const struct mc_graph *a, struct mc_graph *b, const char *said)
{
    struct mc_error err = {0};

    assert_int_equal(mc_graph_expect_same(a, b, "a", "b", &err), MC_EINPUT);
    if (!strstr(err.text, said))
        fail_msg("no '%s' in: %s", said, err.text);
    mc_graph_free(b);
}

static void says_where_graphs_differ(void **state)
{
    struct mc_net_spec wide = CIFAR, many = CIFAR;
    struct mc_graph *a = build("mlp:bn,20", &CIFAR), *b = build("mlp:bn,20", &CIFAR);
    struct mc_error err = {0};

    (void)state;
    assert_int_equal(mc_graph_expect_same(a, b, "a", "b", &err), 0);
    b->nodes[0].std[1] += 1;
    expect_difference(a, b,
                      "a and b: are different networks (mlp:bn,20, mlp:bn,20): node "
                      "\"normalise\" has another \"std\"");
    wide.width = 40;
    expect_difference(a, build("mlp:bn,20", &wide), ": images of 3x32x32 and 3x32x40");
    many.classes = 11;
    expect_difference(a, build("mlp:bn,20", &many), "\" has another \"out\"");
    expect_difference(a, build("mlp:bn,20,20", &CIFAR), ": node ");
    expect_difference(a, build("mlp:20", &CIFAR), " is batchnorm \"");
    mc_graph_free(a);
}

/* What a reader in another language sees is the number that was meant. */
static void floats_travel_as_short_decimals(void **state)
{
    struct mc_graph *g = build("tinyten", &CIFAR);
    struct mc_pack p;
    msgpack_unpacked u;
    double eps = 0, momentum = 0;
    struct mc_error err = {0};
    const msgpack_object *nodes = NULL;

    (void)state;
    mc_pack_init(&p);
    mc_graph_pack(g, &p);
    msgpack_unpacked_init(&u);
    assert_int_equal(msgpack_unpack_next(&u, p.buf.data, p.buf.size, NULL), MSGPACK_UNPACK_SUCCESS);
    assert_int_equal(mc_get_array(&u.data, "nodes", &nodes, &err), 0);
    assert_int_equal(mc_get_f64(&nodes->via.array.ptr[2], "eps", &eps, &err), 0);
    assert_int_equal(mc_get_f64(&nodes->via.array.ptr[2], "momentum", &momentum, &err), 0);
    assert_true(eps == 1e-5 && momentum == .1);
    msgpack_unpacked_destroy(&u);
    mc_pack_release(&p);
    mc_graph_free(g);
}

/* ---- a stranger's hand ---------------------------------------------------------------------- */

/* Bytes of the packed zoo, what replaces their first occurrence, and a word of the refusal. */
#define S(text) text, sizeof text - 1
#define NODE_B                                                                                     \
    "\xa4name\xa1"                                                                                 \
    "b\xa2in"
#define ADD_IN                                                                                     \
    "\xa2in\x92\xa6"                                                                               \
    "a.relu\xa1"                                                                                   \
    "b"
/* clang-format off */
static const struct {
    const char *from;
    size_t from_len;
    const char *to;
    size_t to_len;
    const char *says;
} HOSTILE[] = {
    /* a forward reference, a node that is its own input, a name used twice, bad names */
    {S(NODE_B "\x91\xa6" "a.relu"), S(NODE_B "\x91\xa3" "sum"), "no earlier node"},
    {S(NODE_B "\x91\xa6" "a.relu"), S(NODE_B "\x91\xa1" "b"), "no earlier node"},
    {S(NODE_B "\x91\xa6" "a.relu"), S(NODE_B "\x91\xa8" "a.relu\0x"), "no node's name"},
    {S(NODE_B "\x91\xa6" "a.relu"), S(NODE_B "\x91\x01"), "no node's name"},
    {S("\xa4name\xa4loss"), S("\xa4name\xa4" "auxl"), "two nodes are called"},
    {S("\xa4name\xa1v\xa2in"), S("\xa4name\xa1 \xa2in"), ""},
    {S("\xa4name\xa4loss"), S("\xa4name\xa4lo s"), "no spaces"},
    {S("\xa4name\xa4loss"), S("\xa4name\xa0"), "a name has"},
    /* sizes of nothing and of everything */
    {S("\xa3out\x08"), S("\xa3out\x00"), "0 channels"},
    {S("\xa3out\x08"), S("\xa3out\xff"), "out"},
    {S("\xa3out\x08"), S("\xa3out\xcf\x80\0\0\0\0\0\0\0"), "out"},
    {S("\xa3out\x08"), S("\xa3out\xce\x01\0\0\0"), "too large"},
    {S("\xa6kernel\x92\x03\x03"), S("\xa6kernel\x92\x00\x03"), "kernel"},
    {S("\xa6kernel\x92\x03\x03"), S("\xa6kernel\x92\x03\x7f"), "kernel"},
    {S("\xa6kernel\x92\x03\x03"), S("\xa6kernel\x92\x03\xce\x7f\xff\xff\xff"), "kernel"},
    {S("\xa6kernel\x92\x03\x03"), S("\xa6kernel\x91\x03"), "2 numbers"},
    {S("\xa6kernel\x92\x03\x03"), S("\xa6kernel\x03"), "kernel"},
    {S("\xa6stride\x92\x01\x01"), S("\xa6stride\x92\x00\x01"), "stride"},
    {S("\xa6stride\x92\x01\x01"), S("\xa6stride\x92\xff\x01"), "stride"},
    {S("\xa3pad\x92\x01\x01"), S("\xa3pad\x92\x01\xcd\xff\xff"), "pad"},
    {S("\xa6groups\x02"), S("\xa6groups\x03"), "groups"},
    {S("\xa6groups\x02"), S("\xa6groups\x00"), "groups"},
    {S("\xa5input\x93\x03\x10\x0c"), S("\xa5input\x93\x03\x00\x0c"), "empty"},
    {S("\xa5input\x93\x03\x10\x0c"), S("\xa5input\x93\x05\x10\x0c"), "colour"},
    {S("\xa5input\x93\x03\x10\x0c"), S("\xa5input\x93\x03\xcd\x1f\xff\xcd\x1f\xff"), "too large"},
    {S("\xa5input\x93\x03\x10\x0c"), S("\xa5input\x92\x03\x10"), "3 numbers"},
    {S("\xa7" "classes\x05"), S("\xa7" "classes\x06"), "logits"},
    {S("\xa7" "classes\x05"), S("\xa7" "classes\x01"), "classes"},
    /* ops, inputs and settings that do not fit together */
    {S("\xa6groups"), S("\xa8" "dilation"), "not known"},
    {S("\xa2op\xa3" "add"), S("\xa2op\xa3" "mul"), "not known"},
    {S("\xa2op\xa3" "add"), S("\xa2op\xa4" "conv"), ""},
    {S("\xa2op\xa9normalise"), S("\xa2op\xa4relu"), ""},
    {S("\xa2in\x90"), S("\xa2in\x91\xa9normalise"), "no earlier node"},
    {S(ADD_IN), S("\xa2in\x91\xa6" "a.relu"), "two inputs"},
    {S(ADD_IN), S("\xa2in\x92\xa6" "a.relu\xa9normalise"), "do not match"},
    {S("\xaatrain_only\xc2"), S("\xaatrain_only\xc3"), "one must be"},
    {S("\xaatrain_only\xc3"), S("\xaatrain_only\xc2"), "one must be"},
    {S("\xaatrain_only\xc3"), S("\xaatrain_only\x01"), "train_only"},
    {S("\xaatrain_only\xc3"), S("\xa6weight\x01"), "twice"},
    {S("\xabweight_init\xa4zero"), S("\xabweight_init\xa4nine"), "no initialisation"},
    {S("\xabweight_init\xa3one"), S("\xabweight_init\xadxavier_normal"), "zero or one"},
    {S("\xa1p\xcb\x3f"), S("\xa1p\xcb\x7f"), "p"},
    {S("\xa1p\xcb\x3f"), S("\xa1p\xcb\x40"), "dropout"},
};
/* clang-format on */

static void hostile_graphs_are_refused(void **state)
{
    struct mc_graph *g = zoo();
    struct mc_pack p;
    char *bytes = NULL;

    (void)state;
    finish(g);
    mc_pack_init(&p);
    mc_graph_pack(g, &p);
    bytes = malloc(p.buf.size + 64);
    assert_non_null(bytes);
    for (size_t i = 0; i < sizeof HOSTILE / sizeof *HOSTILE; i++) {
        size_t cut = HOSTILE[i].from_len, put = HOSTILE[i].to_len, head = 0;
        char *at = memmem(p.buf.data, p.buf.size, HOSTILE[i].from, cut);
        struct mc_error err = {0};
        struct mc_graph *bad = NULL;
        int rc = 0;
        if (!at)
            fail_msg("case %zu is not in the graph", i);
        head = (size_t)(at - p.buf.data);
        memcpy(bytes, p.buf.data, head);
        memcpy(bytes + head, HOSTILE[i].to, put);
        memcpy(bytes + head + put, at + cut, p.buf.size - head - cut);
        bad = unpack_bytes(bytes, p.buf.size - cut + put, &err, &rc);
        if (rc != MC_EINPUT || bad)
            fail_msg("case %zu was accepted", i);
        assert_true(!strncmp(err.text, "graph: ", 7));
        if (!strstr(err.text, HOSTILE[i].says))
            fail_msg("case %zu: '%s' does not say '%s'", i, err.text, HOSTILE[i].says);
    }
    free(bytes);
    mc_pack_release(&p);
    mc_graph_free(g);
}

/* Any single bit of a packed graph changed: refused, or a graph that holds together. */
static void every_changed_bit_is_survived(void **state)
{
    struct mc_graph *g = zoo();
    struct mc_pack p;
    size_t refused = 0, accepted = 0;

    (void)state;
    finish(g);
    mc_pack_init(&p);
    mc_graph_pack(g, &p);
    for (size_t i = 0; i < 8 * p.buf.size; i++) {
        char *byte = &p.buf.data[i / 8], flip = (char)(1 << i % 8);
        msgpack_unpacked u;
        struct mc_graph *bad = NULL;
        struct mc_error err = {0};
        int rc = 1;
        *byte ^= flip;
        msgpack_unpacked_init(&u);
        /* 32-bit counts ask msgpack-c for gigabytes: the stream's own scan refuses them before */
        if ((unsigned char)*byte != 0xdd && (unsigned char)*byte != 0xdf &&
            msgpack_unpack_next(&u, p.buf.data, p.buf.size, NULL) == MSGPACK_UNPACK_SUCCESS) {
            rc = mc_graph_unpack(&bad, &u.data, &err);
            *(rc ? &refused : &accepted) += 1;
        }
        if (!rc) {
            assert_int_equal(bad->nodes[bad->logits].c, bad->classes);
            assert_true(bad->P <= MC_MAX_VECTOR);
        }
        mc_graph_free(bad);
        msgpack_unpacked_destroy(&u);
        *byte ^= flip;
    }
    assert_true(refused > 1000 && accepted > 100); /* a changed mean or letter is a good graph */
    mc_pack_release(&p);
    mc_graph_free(g);
}

static void builder_errors_are_kept(void **state)
{
    struct mc_graph *g = mc_graph_new("t", 3, 8, 8, 10, NULL, NULL);
    struct mc_error err = {0};
    int a = mc_graph_conv(g, "wide", 0, 8, (struct mc_conv_opts){.kernel = 9});

    (void)state;
    assert_int_equal(a, -1);
    assert_int_equal(mc_graph_relu(g, NULL, a), -1);
    mc_graph_loss(g, NULL, 0, 1, 0);
    assert_int_equal(mc_graph_finish(g, &err), MC_EINPUT);
    assert_non_null(strstr(err.text, "\"wide\""));
    mc_graph_free(g);

    g = mc_graph_new("t", 3, 1, 1, 10, NULL, NULL);
    a = mc_graph_linear(g, "l", 0, 10, 0, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_linear(g, "idle", 0, 10, 0, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, "loss", a, 1, 0);
    assert_int_equal(mc_graph_finish(g, &err), MC_EINPUT);
    assert_non_null(strstr(err.text, "\"idle\": leads to no loss"));
    mc_graph_free(g);

    g = mc_graph_new("t", 3, 1, 1, 10, NULL, NULL);
    a = mc_graph_linear(g, "l", 0, 1 << 24, 0, MC_INIT_ZERO, MC_INIT_ZERO);
    a = mc_graph_linear(g, "m", a, 1 << 24, 0, MC_INIT_ZERO, MC_INIT_ZERO);
    a = mc_graph_linear(g, "n", a, 10, 0, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, "loss", a, 1, 0);
    assert_int_equal(mc_graph_finish(g, &err), MC_EINPUT);
    assert_non_null(strstr(err.text, "\"m\": its weight is too large"));
    mc_graph_free(g);

    g = mc_graph_new("t", 3, 1, 1, 10, NULL, NULL);
    a = mc_graph_linear(g, "l", 0, 10, 0, MC_INIT_ZERO, MC_INIT_ZERO);
    a = mc_graph_batchnorm(g, "bn", a, 0);
    mc_graph_loss(g, "loss", a, 1, 0);
    assert_int_equal(mc_graph_finish(g, &err), MC_EINPUT);
    assert_non_null(strstr(err.text, "\"bn\""));
    mc_graph_free(g);

    /* as many values as its random numbers' counter holds, and one more */
    g = mc_graph_new("t", 1, 2048, 2048, 10, NULL, NULL);
    assert_true(mc_graph_dropout(g, "d", 0, .5f) > 0);
    mc_graph_free(g);
    g = mc_graph_new("t", 1, 2048, 2049, 10, NULL, NULL);
    assert_int_equal(mc_graph_dropout(g, "d", 0, .5f), -1);
    assert_int_equal(mc_graph_finish(g, &err), MC_EINPUT);
    assert_non_null(strstr(err.text, "\"d\": dropout of more than 4194304 values an image"));
    mc_graph_free(g);
}

/* ---- initial weights ------------------------------------------------------------------------ */

struct spread {
    double mean, sigma, max;
};

static struct spread spread(const struct mc_param *p, const float *v)
{
    struct spread s = {0};
    double squares = 0;

    for (size_t i = 0; i < p->count; i++) {
        double x = (double)v[p->offset + i];
        s.mean += x / (double)p->count;
        squares += x * x / (double)p->count;
        s.max = fmax(s.max, fabs(x));
    }
    s.sigma = sqrt(squares - s.mean * s.mean);
    return s;
}

static void initial_weights_have_their_distributions(void **state)
{
    struct mc_graph *g = mc_graph_new("t", 3, 8, 8, 10, NULL, NULL);
    struct mc_conv_opts o = {.kernel = 3, .pad = 1, .bias = 1, .bias_init = MC_INIT_UNIFORM_FAN_IN};
    const enum mc_init inits[4] = {MC_INIT_XAVIER_NORMAL, MC_INIT_KAIMING_NORMAL_OUT,
                                   MC_INIT_UNIFORM_FAN_IN, MC_INIT_TRUNCATED_NORMAL_01};
    /* 64 to 128 channels; a normal cut at 2 sigma keeps .8796 of its deviation */
    const double sigma[4] = {sqrt(2 / (576. + 1152)), sqrt(2 / 1152.), 1 / sqrt(3 * 576.), .008796};
    const double bound[4] = {1, 1, 1 / sqrt(576.), .02};
    float *a = NULL, *b = NULL, *stats = NULL;
    int x = mc_graph_conv(g, "in", 0, 64, o);
    struct spread bias;

    (void)state;
    for (int i = 0; i < 4; i++) {
        char name[8] = {(char)('a' + i), 0};
        o.init = inits[i];
        mc_graph_conv(g, name, x, 128, o);
    }
    x = mc_graph_concat(g, NULL, (int[]){2, 3, 4, 5}, 4);
    x = mc_graph_globalpool(g, NULL, mc_graph_batchnorm(g, "bn", x, 1));
    x = mc_graph_linear(g, "head", x, 10, 1, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, NULL, x, 1, 0);
    finish(g);
    a = malloc(g->P * sizeof *a);
    b = malloc(g->P * sizeof *b);
    stats = malloc(g->S * sizeof *stats);
    assert_true(a && b && stats);
    memset(a, 0xff, g->P * sizeof *a);
    mc_graph_init(g, 5, a, stats);
    mc_graph_init(g, 5, b, stats);
    assert_memory_equal(a, b, g->P * sizeof *a); /* gaps too */
    for (int i = 0; i < 4; i++) {
        char name[] = {(char)('a' + i), '.', 'w', 'e', 'i', 'g', 'h', 't', 0};
        struct spread s = spread(param(g, name), a);
        assert_true(fabs(s.mean) < 5 * sigma[i] / sqrt(73728));
        assert_true(fabs(s.sigma / sigma[i] - 1) < .012);
        assert_true(s.max <= bound[i] && s.max > 1.7 * s.sigma); /* uniform's is 1.73 */
    }
    bias = spread(param(g, "b.bias"), a);
    assert_true(bias.max <= 1 / sqrt(576.) && bias.max > .9 / sqrt(576.));
    for (size_t i = 0; i < 512; i++) {
        assert_true(a[param(g, "bn.weight")->offset + i] == 1);
        assert_true(a[param(g, "bn.bias")->offset + i] == 0);
        assert_true(stats[param(g, "bn.running_mean")->offset + i] == 0);
        assert_true(stats[param(g, "bn.running_var")->offset + i] == 1);
    }
    mc_graph_init(g, 6, b, stats);
    assert_memory_not_equal(a, b, g->P * sizeof *a);
    free(a);
    free(b);
    free(stats);
    mc_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tinyten_is_the_papers),
        cmocka_unit_test(mlp_has_its_widths),
        cmocka_unit_test(unknown_networks_are_usage_errors),
        cmocka_unit_test(layout_is_aligned_and_disjoint),
        cmocka_unit_test(pooling_shapes_are_pytorchs),
        cmocka_unit_test(heads_for_training_only_are_left_out),
        cmocka_unit_test(packed_and_unpacked_is_the_same),
        cmocka_unit_test(says_where_graphs_differ),
        cmocka_unit_test(floats_travel_as_short_decimals),
        cmocka_unit_test(hostile_graphs_are_refused),
        cmocka_unit_test(every_changed_bit_is_survived),
        cmocka_unit_test(builder_errors_are_kept),
        cmocka_unit_test(initial_weights_have_their_distributions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
