/* SPDX-License-Identifier: Apache-2.0
 *
 * Invalid foreign files: headers of npy and safetensors, maps of names and graph files. Each is
 * refused with its message, and the nearest valid file is read. */
#include "formats/exchange/convert.h"
#include "formats/exchange/graph_json.h"
#include "formats/exchange/npy.h"
#include "tests/unit/must.h"

static void write_file(const void *bytes, size_t n)
{
    FILE *f = fopen(file, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* ---- npy ---- */

#define NO_ARRAY "not*dtype, order*shape"
#define ARRAY(shape) "{'descr': '<f4', 'fortran_order': False, 'shape': " shape "}"

TEST(npy_headers_describe_plain_arrays)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {ARRAY("(2, 3)"), NULL},
        {ARRAY("()"), NULL},
        {ARRAY("(7,)"), NULL},
        {"{\"shape\": (1,),\t\"fortran_order\": True,\n\"descr\": \"|b1\", }  \n", NULL},
        {ARRAY("(1, 1, 1, 1, 1, 1, 1, 1)"), NULL},
        {ARRAY("(1, 1, 1, 1, 1, 1, 1, 1, 1)"), NO_ARRAY},
        {ARRAY("(3)"), NO_ARRAY},
        {ARRAY("(3 4)"), NO_ARRAY},
        {ARRAY("(3, -4)"), NO_ARRAY},
        {ARRAY("(,)"), NO_ARRAY},
        {ARRAY("[3]"), NO_ARRAY},
        {ARRAY("(18446744073709551616,)"), NO_ARRAY},
        {ARRAY("(99999999999999999999999,)"), NO_ARRAY},
        {ARRAY("(18446744073709551615,)"), "shape*too large"},
        {ARRAY("(4294967296, 4294967296)"), "shape*too large"},
        {ARRAY("(2,)") "x", NO_ARRAY},
        {"", NO_ARRAY},
        {"{", NO_ARRAY},
        {"{}", NO_ARRAY},
        {"{'descr': '<f4', 'fortran_order': False}", NO_ARRAY},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': ()}", NO_ARRAY},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': ()}", NO_ARRAY},
        {"{'descr': '<f4', 'fortran_order': None, 'shape': ()}", NO_ARRAY},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", NO_ARRAY},
        {"{'descr': '<f4, 'fortran_order': False, 'shape': ()}", NO_ARRAY},
        {"{'descr': '<f4", NO_ARRAY},
        {"{'descr': '\\x3cf4', 'fortran_order': False, 'shape': ()}", NO_ARRAY},
        {"{'descr': 'a dtype of too many bytes', 'fortran_order': False, 'shape': ()}", NO_ARRAY},
        {"{'descr' '<f4', 'fortran_order': False, 'shape': ()}", NO_ARRAY},
        {"{'order': False}", NO_ARRAY},
        {"{descr: 1}", NO_ARRAY},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct mc_foreign_tensor t = {.type = -1};
        /* in memory of exactly this size */
        const size_t n = strlen(cases[i].text);
        char *text = malloc(n + 1);
        assert_non_null(text);
        memcpy(text, cases[i].text, n);
        print_message("%s\n", cases[i].text);
        if (cases[i].says)
            must_fail(mc_npy_parse(&t, text, n, &why), MC_EINPUT, cases[i].says);
        else
            must(mc_npy_parse(&t, text, n, &why));
        free(text);
    }
}

TEST(npy_files_start_like_numpys)
{
    size_t begin = 0, length = 0;
    unsigned char lead[MC_NPY_LEAD] = "\x93NUMPY\x01\x00\x76\x00\x00\x00";

    must(mc_npy_lead(lead, &begin, &length, &why));
    assert_true(begin == 10 && length == 0x76);
    lead[6] = 3;
    must(mc_npy_lead(lead, &begin, &length, &why));
    assert_true(begin == 12 && length == 0x76);
    lead[11] = 1;
    must_fail(mc_npy_lead(lead, &begin, &length, &why), MC_EINPUT,
              "header*too large (16777334 bytes)");
    lead[6] = 4;
    must_fail(mc_npy_lead(lead, &begin, &length, &why), MC_EINPUT, "version*1 to 3 (got 4.0)");
    lead[6] = 0;
    must_fail(mc_npy_lead(lead, &begin, &length, &why), MC_EINPUT, "version*1 to 3 (got 0.0)");
    lead[0] = 'x';
    must_fail(mc_npy_lead(lead, &begin, &length, &why), MC_EINPUT, "not a NumPy array");
}

/* ---- safetensors ---- */

#define TENSOR(dtype, shape, offsets)                                                              \
    "{\"dtype\": " dtype ", \"shape\": " shape ", \"data_offsets\": " offsets "}"
#define ONE(dtype, shape, offsets) "{\"x\": " TENSOR(dtype, shape, offsets) "}"
#define TWO(first, second)                                                                         \
    "{\"x\": " TENSOR("\"U8\"", "[4]", first) ", \"y\": " TENSOR("\"U8\"", "[4]", second) "}"

TEST(safetensors_headers_follow_the_reference)
{
    static const struct {
        const char *header, *says; /* for 8 bytes of data */
    } cases[] = {
        {ONE("\"F32\"", "[2]", "[0, 8]"), NULL},
        {ONE("\"F6_E2M3\"", "[4, 2]", "[0, 6]"), "need 6 bytes*8 follow"},
        {ONE("\"F4\"", "[4, 4]", "[0, 8]"), NULL},
        {TWO("[4, 8]", "[0, 4]"), NULL},
        {"{\"__metadata__\": {\"a\": \"b\"}, \"x\": " TENSOR("\"F64\"", "[]", "[0, 8]") "}", NULL},
        {"{\"e\": " TENSOR("\"U8\"", "[0]", "[0, 0]") ", \"x\": " TENSOR("\"F64\"", "[1]",
                                                                         "[0, 8]") "}",
         NULL},
        {"{\"__metadata__\": {\"a\": 1}}", "__metadata__*contain*strings"},
        {"{\"__metadata__\": []}", "__metadata__*contain*strings"},
        {"[]", "not a safetensors file*header*not start*'{'"},
        {"", "not a safetensors file*header*not start*'{'"},
        {"{\"x\": 1,}", "line 1"},
        {"{\"x\": 1}", "exactly*dtype*shape*data_offsets"},
        {"{\"x\": {}}", "exactly*dtype*shape*data_offsets"},
        {"{\"x\": {\"dtype\": \"U8\", \"shape\": [8], \"more\": [0, 8]}}", "must have exactly"},
        {"{\"x\": {\"dtype\": \"U8\", \"shape\": [8], \"data_offsets\": [0, 8], \"z\": 1}}",
         "must have exactly"},
        {ONE("1", "[8]", "[0, 8]"), "exactly*dtype*shape*data_offsets"},
        {ONE("\"U8\"", "8", "[0, 8]"), "exactly*dtype*shape*data_offsets"},
        {ONE("\"U8\"", "[8]", "8"), "exactly*dtype*shape*data_offsets"},
        {ONE("\"F128\"", "[8]", "[0, 8]"), "unknown dtype"},
        {ONE("\"U8\"", "[1,1,1,1,1,1,1,1,8]", "[0, 8]"), "more*8 dimensions"},
        {ONE("\"U8\"", "[-8]", "[0, 8]"), "shape*not a list*whole numbers"},
        {ONE("\"U8\"", "[8.0]", "[0, 8]"), "shape*not a list*whole numbers"},
        {ONE("\"U8\"", "[8]", "[8]"), "data_offsets*not a start*end"},
        {ONE("\"U8\"", "[8]", "[-1, 7]"), "data_offsets*not a start*end"},
        {ONE("\"U8\"", "[8]", "[0, true]"), "data_offsets*not a start*end"},
        {ONE("\"U8\"", "[8]", "[8, 0]"), "data_offsets*not a start*end"},
        {ONE("\"U8\"", "[4294967296, 4294967296]", "[0, 8]"), "shape*too large"},
        {ONE("\"I64\"", "[9223372036854775807]", "[0, 8]"), "shape*too large"},
        {ONE("\"F4\"", "[3]", "[0, 1]"), "shape*too large"},
        {ONE("\"U8\"", "[7]", "[0, 8]"), "shape*data_offsets*different sizes"},
        {TWO("[0, 4]", "[3, 7]"), "\"y\":*data overlaps another's"},
        {TWO("[0, 4]", "[5, 9]"), "\"y\":*hole precedes*data"},
        {TWO("[4, 8]", "[4, 8]"), "hole precedes*data"},
        {ONE("\"U8\"", "[4]", "[0, 4]"), "need 4 bytes*8 follow"},
        {ONE("\"U8\"", "[9]", "[0, 9]"), "need 9 bytes*8 follow"},
    };
    static char bytes[4096];

    for (size_t i = 0; i < COUNT(cases); i++) {
        const size_t n = strlen(cases[i].header);
        struct mc_foreign *f = NULL;
        memset(bytes, 0, sizeof bytes);
        bytes[0] = (char)(n & 0xff);
        bytes[1] = (char)(n >> 8);
        memcpy(bytes + 8, cases[i].header, n);
        write_file(bytes, 8 + n + 8);
        forget();
        int rc = mc_safetensors_open(&f, file, &why);
        if (!rc)
            rc = f->end(f, &why);
        if (cases[i].says ? rc != MC_EINPUT || strncmp(why.text, file, strlen(file)) ||
                                !has_words(why.text, cases[i].says)
                          : rc)
            fail_msg("%s: %d '%s', not '%s'", cases[i].header, rc, why.text, cases[i].says);
        mc_foreign_close(f);
    }
}

/* ---- maps ---- */

TEST(maps_rename_both_ways_or_are_refused)
{
    static const struct {
        const char *map, *local, *foreign, *says;
    } cases[] = {
        {"", "a.b", "a.b", NULL},
        {"# nothing\n\n", "a.b", "a.b", NULL},
        {"x a\r\n", "a.b", "x.b", NULL},
        {"x a", "ab.b", "ab.b", NULL},
        {"module .\n", "a.b", "module.a.b", NULL},
        {". net\n", "net.a", "a", NULL},
        {". net\n", "net", NULL, "does not round-trip"},
        {"l*.c* layers*.conv*\n", "layers12.conv3.w", "l12.c3.w", NULL},
        {"l* layers*\n", "layers.w", "layers.w", NULL},
        {"a -\n", "a.b", NULL, "map*not round-trip: \"a.b\"*\"a.b\""},
        {"a b\nc b\n", "b.x", "c.x", NULL},
        {"a\n", "a", NULL, "line 1: two names expected*file's*mc's"},
        {"a b\n\na b c\n", "a", NULL, "line 3: two names expected*file's*mc's"},
        {"a* b\n", "a", NULL, "both names*same number*stars"},
    };
    char name[MC_RENAME_NAME], back[MC_RENAME_NAME];

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct mc_rename *map = NULL;
        write_file(cases[i].map, strlen(cases[i].map));
        forget();
        int rc = mc_rename_read(&map, file, &why);
        if (!rc)
            rc = mc_rename_to_foreign(map, cases[i].local, name, &why);
        if (cases[i].says ? rc != MC_EINPUT || !has_words(why.text, cases[i].says)
                          : rc || strcmp(name, cases[i].foreign))
            fail_msg("%s: %d '%s' '%s'", cases[i].map, rc, rc ? "" : name, why.text);
        if (!cases[i].says) {
            assert_int_equal(mc_rename_to_local(map, name, back, &why), 1);
            assert_string_equal(back, cases[i].local);
        }
        mc_rename_free(map);
    }
}

TEST(names_stay_within_their_room)
{
    static char text[5000 * 4], lines[4097 * 8 + 1];
    char name[MC_RENAME_NAME], longest[MC_RENAME_NAME + 1];
    struct mc_rename *map = NULL;

    memset(longest, 'n', sizeof longest);
    longest[MC_RENAME_NAME] = 0;
    must_fail(mc_rename_to_local(NULL, longest, name, &why), MC_EINPUT, "at most 255 bytes");
    must_fail(mc_rename_to_foreign(NULL, longest, name, &why), MC_EINPUT, "at most 255 bytes");
    longest[MC_RENAME_NAME - 1] = 0;
    assert_int_equal(mc_rename_to_local(NULL, longest, name, &why), 1);
    memcpy(longest, "a.", 2);
    write_file("a abc\n", 6); /* the local name is two bytes longer */
    must(mc_rename_read(&map, file, &why));
    must_fail(mc_rename_to_local(map, longest, name, &why), MC_EINPUT, "at most 255 bytes");
    mc_rename_free(map);
    write_file("abc a\n", 6); /* the foreign name is two bytes longer */
    must(mc_rename_read(&map, file, &why));
    must_fail(mc_rename_to_foreign(map, longest, name, &why), MC_EINPUT, "at most 255 bytes");
    mc_rename_free(map);
    write_file("a b\nc d\na e\n", 12);
    must_fail(mc_rename_read(&map, file, &why), MC_EINPUT, "line 3: a already*rule*line 1");
    memset(text, 'x', 128);
    memcpy(text + 128, " a\n", 3);
    write_file(text, 131);
    must_fail(mc_rename_read(&map, file, &why), MC_EINPUT, "name*at most 127 bytes");
    for (size_t i = 0; i < 4097; i++)
        snprintf(lines + 8 * i, 9, "%05zu b\n", i);
    write_file(lines, 8 * (size_t)4097);
    must_fail(mc_rename_read(&map, file, &why), MC_EINPUT, "line 4097: at most 4096 rules");
    write_file(lines, 8 * (size_t)4096);
    must(mc_rename_read(&map, file, &why));
    mc_rename_free(map);
}

/* ---- graph files ---- */

#define NODES                                                                                      \
    "\"nodes\": [{\"op\": \"normalise\", \"name\": \"n\", \"in\": [], \"mean\": [0.5], \"std\": "  \
    "[0.5]}, {\"op\": \"flatten\", \"name\": \"f\", \"in\": [\"n\"]}, {\"op\": \"linear\", "       \
    "\"name\": \"l\", \"in\": [\"f\"], \"out\": 2, \"bias\": true, \"weight_init\": \"zero\", "    \
    "\"bias_init\": \"zero\"}, {\"op\": \"loss\", \"name\": \"o\", \"in\": [\"l\"], \"weight\": "  \
    "1, \"train_only\": false}]}"
#define GRAPH "{\"input\": [1, 2, 2], \"classes\": 2, " NODES

TEST(graph_files_are_graphs)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {GRAPH, NULL},
        {"{\"net\": \"mine\", \"input\": [1, 2, 2], \"classes\": 2, " NODES, NULL},
        {"", "x.mcz: "},
        {"{", "x.mcz: line 1"},
        {"7", "x.mcz: "},
        {"null", "x.mcz: "},
        {"{\"input\": [1, 2, 2], \"classes\": 2}", "nodes"},
        {"{\"input\": [1, 2, 2], \"classes\": 2, \"nodes\": []}", "x.mcz: "},
        {"{\"input\": [1, 2, 2], \"input\": 1}", "x.mcz: "},
        {"{\"input\": [1, 2], \"classes\": 2, " NODES, "x.mcz: "},
        {"{\"input\": [1, 2, 2], \"classes\": null, " NODES, "x.mcz: "},
        {"{\"input\": [1, 2, 2], \"classes\": 2.5, " NODES, "x.mcz: "},
    };
    struct mc_net_spec spec = {.channels = 1, .height = 2, .width = 2, .classes = 2};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct mc_graph *g = NULL, *again = NULL;
        write_file(cases[i].text, strlen(cases[i].text));
        if (cases[i].says) {
            must_fail(mc_graph_json_read(&g, file, &why), MC_EINPUT, cases[i].says);
            assert_null(g);
            continue;
        }
        must(mc_graph_json_read(&g, file, &why));
        assert_string_equal(g->net, i ? "mine" : file);
        FILE *f = fopen(file, "w");
        assert_non_null(f);
        must(mc_graph_json_print(f, g, &why));
        assert_int_equal(fclose(f), 0);
        must(mc_network_build(&again, "./x.mcz", &spec, &why));
        assert_int_equal(again->n_nodes, g->n_nodes);
        assert_string_equal(again->net, g->net);
        mc_graph_free(again);
        mc_graph_free(g);
    }
}

TEST(graph_files_fit_their_data)
{
    const struct mc_net_spec fits = {.channels = 1, .height = 2, .width = 2, .classes = 2};
    struct mc_net_spec s = fits;
    struct mc_graph *g = NULL;
    static char large[MC_GRAPH_JSON_BYTES + 1];

    write_file(GRAPH, strlen(GRAPH));
    s.channels = 3;
    must_fail(mc_network_build(&g, "./x.mcz", &s, &why), MC_EINPUT, "the data has 3x2x2 in 2");
    s = fits;
    s.height = 1;
    must_fail(mc_network_build(&g, "./x.mcz", &s, &why), MC_EINPUT, "the data has 1x1x2 in 2");
    s = fits;
    s.width = 1;
    must_fail(mc_network_build(&g, "./x.mcz", &s, &why), MC_EINPUT, "the data has 1x2x1 in 2");
    s = fits;
    s.classes = 3;
    must_fail(mc_network_build(&g, "./x.mcz", &s, &why), MC_EINPUT, "the data has 1x2x2 in 3");
    must_fail(mc_network_build(&g, "./none.json", &fits, &why), MC_EFAIL, "none.json");
    must_fail(mc_network_build(&g, "none.json", &fits, &why), MC_EFAIL, "none.json");
    memset(large, ' ', sizeof large);
    write_file(large, sizeof large);
    must_fail(mc_network_build(&g, "./x.mcz", &fits, &why), MC_EINPUT,
              "graph*at most 2097152 bytes");
}

int main(void)
{
    return run_entered(enter_folder, leave_folder);
}
