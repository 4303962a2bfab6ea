/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs written to streams and read back, and hostile graphs. */
#include "formats/codecs/graph.h"
#include "libcommon/graph/fields.h"
#include "tests/unit/formats/export_case.h"
#include "tests/unit/libcommon/graph/graphs.h"

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

TEST(packed_and_unpacked_is_the_same)
{
    struct mc_graph *g[3] = {build("tinyten", &CIFAR), build("mlp:bn,20", &CIFAR), zoo()};

    finish(g[2]);
    for (int i = 0; i < 3; i++) {
        struct mc_pack a, b;
        struct mc_graph *back = NULL, *copy = NULL;
        int rc = 0;
        mc_graph_huber(g[i], .125f);
        mc_pack_init(&a);
        mc_pack_init(&b);
        mc_graph_pack(g[i], &a);
        back = unpack_bytes(a.buf.data, a.buf.size, &why, &rc);
        must(rc);
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

static void expect_difference(const struct mc_graph *a, struct mc_graph *b, const char *message)
{
    must_fail(mc_graph_expect_same(a, b, "a", "b", &why), MC_EINPUT, message);
    mc_graph_free(b);
}

TEST(graph_differences_are_named)
{
    struct mc_net_spec wide = CIFAR, many = CIFAR;
    struct mc_graph *a = build("mlp:bn,20", &CIFAR), *b = build("mlp:bn,20", &CIFAR);

    must(mc_graph_expect_same(a, b, "a", "b", &why));
    b->nodes[0].std[1] += 1;
    expect_difference(a, b,
                      "a and b: different networks (mlp:bn,20, mlp:bn,20): node "
                      "\"normalise\" has a different \"std\"");
    wide.width = 40;
    expect_difference(a, build("mlp:bn,20", &wide), ": images of 3x32x32 and 3x32x40");
    many.classes = 11;
    expect_difference(a, build("mlp:bn,20", &many), "\" has a different \"out\"");
    expect_difference(a, build("mlp:bn,20,20", &CIFAR), ": node ");
    expect_difference(a, build("mlp:20", &CIFAR), " is batchnorm \"");
    mc_graph_free(a);
}

static void expect_other_training(const struct mc_graph *a, struct mc_graph *b,
                                  const struct mc_field *f, const struct mc_node *x)
{
    char message[256], expected[256];

    must(mc_graph_expect_same(a, b, "a", "b", &why));
    assert_int_equal(mc_graph_training_differs(a, b, message, sizeof message), 1);
    snprintf(expected, sizeof expected, "\"%s\" of node \"%s\" is %g and %g", f->key, x->name,
             mc_field_get(f, x, 0), mc_field_get(f, &b->nodes[x - a->nodes], 0));
    assert_string_equal(message, expected);
    assert_int_equal(mc_graph_training_differs(a, a, message, sizeof message), 0);
    assert_string_equal(message, "");
    mc_graph_free(b);
}

/* Change each setting of each kind of node: the message names it. Initialisations may differ, and
 * so may settings that only training uses; these are reported with both values. */
TEST(every_setting_is_compared)
{
    struct mc_graph *a = zoo();
    char message[MC_MAX_NODE_NAME + 64];

    finish(a);
    for (int i = 0; i < a->n_nodes; i++)
        for (const struct mc_field *f = NULL; (f = mc_node_field(a->nodes[i].op, f));)
            for (int k = 0; k < mc_field_count(f, a->input[0]); k++) {
                struct mc_graph *b = mc_graph_copy(a);
                assert_non_null(b);
                const double v = mc_field_get(f, &b->nodes[i], k),
                             more = v + (f->type == MC_FIELD_FLOAT ? 1 / 64. : 1);
                must(mc_field_set(f, &b->nodes[i], k, more <= f->max ? more : f->min, &why));
                if (f->type == MC_FIELD_INIT) {
                    assert_true(mc_graph_same(a, b));
                    mc_graph_free(b);
                    continue;
                }
                if (!strcmp(f->key, "momentum") || !strcmp(f->key, "p")) {
                    expect_other_training(a, b, f, &a->nodes[i]);
                    continue;
                }
                snprintf(message, sizeof message, "node \"%s\" has a different \"%s\"",
                         a->nodes[i].name, f->key);
                expect_difference(a, b, message);
            }
    mc_graph_free(a);
}

/* Readers in other languages get the number that was meant. */
TEST(floats_travel_as_short_decimals)
{
    struct mc_graph *g = build("tinyten", &CIFAR);
    struct mc_pack p;
    msgpack_unpacked u;
    double eps = 0, momentum = 0;
    const msgpack_object *nodes = NULL;

    mc_pack_init(&p);
    mc_graph_pack(g, &p);
    msgpack_unpacked_init(&u);
    assert_int_equal(msgpack_unpack_next(&u, p.buf.data, p.buf.size, NULL), MSGPACK_UNPACK_SUCCESS);
    must(mc_get_array(&u.data, "nodes", &nodes, &why));
    must(mc_get_f64(&nodes->via.array.ptr[2], "eps", &eps, &why));
    must(mc_get_f64(&nodes->via.array.ptr[2], "momentum", &momentum, &why));
    assert_true(eps == 1e-5 && momentum == .1);
    msgpack_unpacked_destroy(&u);
    mc_pack_release(&p);
    mc_graph_free(g);
}

/* ---- hostile graphs ---- */

/* Bytes of the packed zoo, the replacement of their first occurrence, and a word of the message. */
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
    /* forward reference, self reference, repeated name, bad names */
    {S(NODE_B "\x91\xa6" "a.relu"), S(NODE_B "\x91\xa3" "sum"), "not an earlier node"},
    {S(NODE_B "\x91\xa6" "a.relu"), S(NODE_B "\x91\xa1" "b"), "not an earlier node"},
    {S(NODE_B "\x91\xa6" "a.relu"), S(NODE_B "\x91\xa8" "a.relu\0x"), "not a node's name"},
    {S(NODE_B "\x91\xa6" "a.relu"), S(NODE_B "\x91\x01"), "not a node's name"},
    {S("\xa4name\xa4loss"), S("\xa4name\xa4" "auxl"), "two nodes*named"},
    {S("\xa4name\xa1v\xa2in"), S("\xa4name\xa1 \xa2in"), ""},
    {S("\xa4name\xa4loss"), S("\xa4name\xa4lo s"), "not contain spaces"},
    {S("\xa4name\xa4loss"), S("\xa4name\xa0"), "name must have"},
    /* zero and excessive sizes */
    {S("\xa3out\x08"), S("\xa3out\x00"), "\"out\"*integer*1"},
    {S("\xa3out\x08"), S("\xa3out\xff"), "out"},
    {S("\xa3out\x08"), S("\xa3out\xcf\x80\0\0\0\0\0\0\0"), "out"},
    {S("\xa3out\x08"), S("\xa3out\xce\x01\0\0\0"), "too large"},
    {S("\xa6kernel\x92\x03\x03"), S("\xa6kernel\x92\x00\x03"), "kernel"},
    {S("\xa6kernel\x92\x03\x03"), S("\xa6kernel\x92\x03\x7f"), "kernel"},
    {S("\xa6kernel\x92\x03\x03"), S("\xa6kernel\x92\x03\xce\x7f\xff\xff\xff"), "kernel"},
    {S("\xa6kernel\x92\x03\x03"), S("\xa6kernel\x91\x03"), "[height, width], each*integer*1"},
    {S("\xa6kernel\x92\x03\x03"), S("\xa6kernel\x03"), "kernel"},
    {S("\xa6stride\x92\x01\x01"), S("\xa6stride\x92\x00\x01"), "stride"},
    {S("\xa6stride\x92\x01\x01"), S("\xa6stride\x92\xff\x01"), "stride"},
    {S("\xa3pad\x92\x01\x01"), S("\xa3pad\x92\x01\xcd\xff\xff"), "pad"},
    {S("\xa6groups\x02"), S("\xa6groups\x03"), "8 output channels, 3 groups"},
    {S("\xa6groups\x02"), S("\xa6groups\x00"), "groups"},
    {S("\xa5input\x93\x03\x10\x0c"), S("\xa5input\x93\x03\x00\x0c"), "\"input\" must be "},
    {S("\xa5input\x93\x03\x10\x0c"), S("\xa5input\x93\x05\x10\x0c"), "channels"},
    {S("\xa5input\x93\x03\x10\x0c"), S("\xa5input\x93\x03\xcd\x1f\xff\xcd\x1f\xff"), "too large"},
    {S("\xa5input\x93\x03\x10\x0c"), S("\xa5input\x92\x03\x10"), "[channels, height, width]"},
    {S("\xa7" "classes\x05"), S("\xa7" "classes\x06"), "logits"},
    {S("\xa7" "classes\x05"), S("\xa7" "classes\x01"), "classes"},
    /* ops, inputs and settings that do not match */
    {S("\xa6groups"), S("\xa8" "dilation"), "unknown key"},
    {S("\xa2op\xa3" "add"), S("\xa2op\xa3" "mud"), "unknown op"},
    {S("\xa2op\xa3" "add"), S("\xa2op\xa4" "conv"), ""},
    {S("\xa2op\xa9normalise"), S("\xa2op\xa4relu"), ""},
    {S("\xa2in\x90"), S("\xa2in\x91\xa9normalise"), "not an earlier node"},
    {S(ADD_IN), S("\xa2in\x91\xa6" "a.relu"), "got 1 inputs (add requires 2"},
    {S(ADD_IN), S("\xa2in\x92\xa6" "a.relu\xa9normalise"), "do not match"},
    {S("\xa2op\xa3mul\xa4name\xa2mu\xa2in\x92\xa2sc"), S("\xa2op\xa3mul\xa4name\xa2mu\xa2in\x91\xa2sc"), ""},
    {S("\xa4name\xa2mu\xa2in\x92\xa2sc"), S("\xa4name\xa2mu\xa2in\x92\xa1" "b"), "do not match"},
    {S("\xaatrain_only\xc2"), S("\xaatrain_only\xc3"), "exactly one loss head"},
    {S("\xaatrain_only\xc3"), S("\xaatrain_only\xc2"), "exactly one loss head"},
    {S("\xaatrain_only\xc3"), S("\xaatrain_only\x01"), "train_only"},
    {S("\xaatrain_only\xc3"), S("\xa6weight\x01"), "twice"},
    {S("\xabweight_init\xa4zero"), S("\xabweight_init\xa4nine"), "zero, one, xavier_normal, "},
    {S("\xabweight_init\xa3one"), S("\xabweight_init\xadxavier_normal"), "zero or one"},
    {S("\xa6" "before\x93\x01"), S("\xa6" "before\x93\xff"), "\"before\"*[channels, height, width], each*integer*0"},
    {S("\xa6" "before\x93\x01\x00\x02"), S("\xa6" "before\x92\x01\x00"), "[channels, height, width]"},
    {S("\xa5" "after"), S("\xa5" "value"), "unknown key"},
    {S("\xa5slope\xcb\x3f\xc9"), S("\xa5slope\xcb\x7f\xf9"), "\"slope\"*finite number"},
    {S("\xa1p\xcb\x3f"), S("\xa1p\xcb\x7f"), "p"},
    {S("\xa1p\xcb\x3f"), S("\xa1p\xcb\x40"), "number*0*below 1"},
};
/* clang-format on */

TEST(hostile_graphs_are_refused)
{
    struct mc_graph *g = zoo();
    struct mc_pack p;
    char *bytes = NULL;

    finish(g);
    mc_pack_init(&p);
    mc_graph_pack(g, &p);
    bytes = malloc(p.buf.size + 64);
    assert_non_null(bytes);
    for (size_t i = 0; i < sizeof HOSTILE / sizeof *HOSTILE; i++) {
        size_t cut = HOSTILE[i].from_len, put = HOSTILE[i].to_len, head = 0;
        char *at = memmem(p.buf.data, p.buf.size, HOSTILE[i].from, cut);
        struct mc_graph *bad = NULL;
        int rc = 0;
        if (!at)
            fail_msg("case %zu is not in the graph", i);
        head = (size_t)(at - p.buf.data);
        memcpy(bytes, p.buf.data, head);
        memcpy(bytes + head, HOSTILE[i].to, put);
        memcpy(bytes + head + put, at + cut, p.buf.size - head - cut);
        export_case("graph", i, bytes, p.buf.size - cut + put, HOSTILE[i].says);
        forget();
        bad = unpack_bytes(bytes, p.buf.size - cut + put, &why, &rc);
        if (rc != MC_EINPUT || bad)
            fail_msg("case %zu was accepted", i);
        assert_true(!strncmp(why.text, "graph: ", 7));
        if (!has_words(why.text, HOSTILE[i].says))
            fail_msg("case %zu: '%s' does not say '%s'", i, why.text, HOSTILE[i].says);
    }
    free(bytes);
    mc_pack_release(&p);
    mc_graph_free(g);
}

/* Any flipped bit of a packed graph: it is refused or still consistent. */
TEST(every_changed_bit_is_survived)
{
    struct mc_graph *g = zoo();
    struct mc_pack p;
    size_t refused = 0, accepted = 0;

    finish(g);
    mc_pack_init(&p);
    mc_graph_pack(g, &p);
    for (size_t i = 0; i < 8 * p.buf.size; i++) {
        char *byte = &p.buf.data[i / 8], flip = (char)(1 << i % 8);
        msgpack_unpacked u;
        struct mc_graph *bad = NULL;
        int rc = 1;
        *byte ^= flip;
        msgpack_unpacked_init(&u);
        /* msgpack-c would allocate gigabytes for 32-bit counts: the stream's own check refuses them
         * first */
        if ((unsigned char)*byte != 0xdd && (unsigned char)*byte != 0xdf &&
            msgpack_unpack_next(&u, p.buf.data, p.buf.size, NULL) == MSGPACK_UNPACK_SUCCESS) {
            rc = mc_graph_unpack(&bad, &u.data, &why);
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
    assert_true(refused > 1000 && accepted > 100); /* a changed mean or letter is still valid */
    mc_pack_release(&p);
    mc_graph_free(g);
}

int main(void)
{
    return run_entered(NULL, NULL);
}
