/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams with correct framing: contents that satisfy the page of the kind are read, others are
 * refused with a message that names the file and the problem. */
#include "formats/stream/writer.h"
#include "tests/unit/formats/export_case.h"
#include "tests/unit/formats/kinds.h"
#include "tests/unit/must.h"

/* ---- streams from text ---- */

/* Pack JSON (without escapes) as MessagePack; whole numbers become integers. */
static const char *pack_json(const char *s, struct mc_pack *p)
{
    char text[256];
    size_t n = 0;

    s += strspn(s, " ");
    if (*s == '{' || *s == '[') {
        struct mc_pack inside;
        const char end = *s == '{' ? '}' : ']';
        int map = *s == '{';
        mc_pack_init(&inside);
        for (s += 1 + strspn(s + 1, " "); *s != end; n++) {
            s = pack_json(s, &inside);
            s += strspn(s, " :,");
        }
        if (map)
            mc_pack_map(p, n / 2);
        else
            mc_pack_array(p, n);
        mc_pack_raw(p, &inside);
        mc_pack_release(&inside);
        return s + 1;
    }
    if (*s == '"') {
        n = strcspn(s + 1, "\"");
        snprintf(text, sizeof text, "%.*s", (int)n, s + 1);
        mc_pack_str(p, text);
        return s + n + 2;
    }
    n = strcspn(s, " ,:]}");
    snprintf(text, sizeof text, "%.*s", (int)n, s);
    if (!strcmp(text, "true") || !strcmp(text, "false"))
        mc_pack_bool(p, *text == 't');
    else if (strpbrk(text, ".en"))
        mc_pack_f64(p, strtod(text, NULL));
    else if (*text == '-')
        mc_pack_i64(p, strtoll(text, NULL, 10));
    else
        mc_pack_u64(p, strtoull(text, NULL, 10));
    return s + n;
}

#define MAX_TENSORS 16
#define MAX_ELEMS 64

/* Parse "images uint8 2,1,2,2 = 1 2 3; ...": values not given are 0. */
static size_t parse_tensors(const char *s, struct mc_tensor *t, double (*values)[MAX_ELEMS])
{
    size_t n = 0;

    for (; *s; n++) {
        char name[100], dtype[20];
        uint64_t shape[MC_MAX_DIMS];
        int used = 0, ndim = 0, k = 0;
        assert_true(n < MAX_TENSORS && sscanf(s, " %99s %19s %n", name, dtype, &used) == 2);
        for (s += used; *s >= '0' && *s <= '9'; ndim++) {
            char *end = NULL;
            shape[ndim] = strtoull(s, &end, 10);
            s = *end == ',' ? end + 1 : end;
        }
        memset(values[n], 0, sizeof values[n]);
        s += strspn(s, " =");
        while (*s && *s != ';') {
            char *end = NULL;
            assert_true(k < MAX_ELEMS);
            values[n][k++] = strtod(s, &end);
            assert_true(end != s);
            s = end + strspn(end, " ");
        }
        s += *s == ';';
        t[n] = mc_tensor_make(name, (enum mc_dtype)mc_dtype_from_name(dtype, strlen(dtype)), ndim,
                              shape);
    }
    return n;
}

/* order: the tensors' digits, each written whole; NULL: in their order. */
static void write_stream(const char *kind, const char *meta, const char *tensors, const char *order)
{
    static double values[MAX_TENSORS][MAX_ELEMS];
    struct mc_tensor t[MAX_TENSORS];
    struct mc_writer *w = NULL;
    struct mc_pack p;
    size_t n = parse_tensors(tensors, t, values);

    mc_pack_init(&p);
    pack_json(meta, &p);
    must(mc_writer_open(&w, file, &(struct mc_header){kind, &p, t, n}, NULL, &why));
    for (size_t k = 0; k < n; k++) {
        size_t i = order ? (size_t)(order[k] - '0') : k;
        double data[MAX_ELEMS];
        for (size_t e = 0; e < MAX_ELEMS; e++)
            put(data, t[i].dtype, e, values[i][e]);
        must(mc_writer_tensor(w, i, data, &why));
    }
    must(mc_writer_close(w, 0, NULL, &why));
    mc_pack_release(&p);
}

static const struct kind *kind_of(const char *name)
{
    for (size_t i = 0; i < N_KINDS; i++)
        if (!strcmp(kinds[i].name, name))
            return &kinds[i];
    fail_msg("no kind %s", name);
    return NULL;
}

/* ---- refusals ---- */

#define LOST "{\"name\": \"test\", \"id\": \"\", \"images\": 2}"
#define LOSSES(points, data) "{\"points\": " points ", \"data\": [" data "]}"
#define LOSS(t, chord, loss, correct)                                                              \
    "t float64 2 = " t "; chord float64 1 = " chord "; test/loss float32 2,2 = " loss              \
    "; test/correct uint8 2,2 = " correct

#define DATA(classes, names, mean, std, augment)                                                   \
    "{\"name\": \"d\", \"split\": \"train\", \"order\": \"o\", \"classes\": " classes names        \
    ", \"mean\": " mean ", \"std\": " std ", \"augment\": " augment "}"
#define AUGMENT "{\"rotate\": 15, \"flip\": true, \"pad\": 4}"
#define MORE(more)                                                                                 \
    DATA("2", "", "[0.5]", "[0.25]", "{\"rotate\": 0, \"flip\": true, \"pad\": 4, " more "}")
#define DATA_OK DATA("2", "", "[0.5]", "[0.25]", AUGMENT)
#define TWO "images uint8 2,1,2,2 = 1 2 3 4 5 6 7 8; labels int32 2 = 1 0"

#define GROUP1 "{\"name\": \"g\", \"size\": 3}"
#define PERM_OK "{\"groups\": [" GROUP1 "]}"
#define MEMBER1 "\"0123456789abcdef0123456789abcdef\""
#define MEMBER2 "\"0123456789abcdef0123456789abcde0\""
#define JOINT(version, members)                                                                    \
    "{\"version\": " version ", \"members\": " members ", \"groups\": [" GROUP1 "]}"
#define MAPPED(size, kind)                                                                         \
    "{\"version\": 3, \"groups\": [{\"name\": \"g\", \"size\": " size ", \"map\": \"" kind "\"}]}"
#define JOINT_OK JOINT("2", "[" MEMBER1 ", " MEMBER2 "]")

#define MATS(measure, at, size, dead_a, dead_b)                                                    \
    "{\"measure\": \"" measure "\", \"at\": \"" at                                                 \
    "\", \"groups\": [{\"name\": \"g\", \"size\": " size ", \"taps\": 1, \"dead_a\": " dead_a      \
    ", \"dead_b\": " dead_b "}]}"

/* Two blocks of two units each, one of them in unit `unit` of `around`. */
#define GROUP_OF_BLOCKS(name, size, more)                                                          \
    "{\"name\": \"" name "\", \"size\": " size                                                     \
    ", \"taps\": 1, \"dead_a\": [], \"dead_b\": []" more "}"
#define WITHIN(around, unit) ", \"within\": " around ", \"unit\": " unit
#define BLOCKS(around, unit, more)                                                                 \
    "\"groups\": [" GROUP_OF_BLOCKS("o", "2", more) ", " GROUP_OF_BLOCKS(                          \
        "i", "2", WITHIN("0", "0")) ", " GROUP_OF_BLOCKS("j", "2", WITHIN(around, unit)) "]"
#define MATS_OF_BLOCKS(blocks) "{\"measure\": \"c\", \"at\": \"post\", " blocks "}"
#define TAP_OF_BLOCKS(group, count)                                                                \
    ", \"at\": \"post\", \"taps\": [{\"name\": \"r\", \"group\": " group                           \
    ", \"start\": 0, \"count\": " count ", \"samples\": 8}]"
#define SUMS_OF_BLOCKS                                                                             \
    "0/r/sum_a float64 4; 0/r/sum_b float64 4; 0/r/sumsq_a float64 4; 0/r/sumsq_b float64 4; "     \
    "0/r/cross float64 4,4"

#define TAPS(at, group, start, count, samples)                                                     \
    "\"at\": \"" at "\", \"groups\": [{\"name\": \"g\", \"size\": 2}], \"taps\": [{\"name\": "     \
    "\"r\", \"group\": " group ", \"start\": " start ", \"count\": " count                         \
    ", \"samples\": " samples "}]"
#define MOMENTS(taps, images, shards, counted)                                                     \
    "{\"version\": 2, \"total\": 2, \"batch\": 1, " taps ", \"images\": " images                   \
    ", \"shards\": " shards ", \"counted\": " counted "}"
#define TAPS_OK TAPS("post", "0", "0", "2", "8")
#define SUMS                                                                                       \
    "0/r/sum_a float64 2; 0/r/sum_b float64 2; 0/r/sumsq_a float64 2; 0/r/sumsq_b float64 2; "     \
    "0/r/cross float64 2,2"

#define ACTS(taps, images, batch) "{" taps ", \"images\": " images ", \"batch\": " batch "}"
#define TWO_TAPS                                                                                   \
    "\"at\": \"post\", \"groups\": [{\"name\": \"g\", \"size\": 2}], \"taps\": [{\"name\": "       \
    "\"r\", \"group\": 0, \"start\": 0, \"count\": 2, \"samples\": 8}, {\"name\": \"s\", "         \
    "\"group\": 0, \"start\": 0, \"count\": 2, \"samples\": 2}]"

/* mlp:2 for 1x1x1 images and 2 classes */
#define NET                                                                                        \
    "\"net\": \"mine\", \"dataset\": \"d\", \"graph\": {\"input\": [1, 1, 1], \"classes\": 2, "    \
    "\"nodes\": [{\"op\": \"normalise\", \"name\": \"n\", \"in\": [], \"mean\": [0.5], \"std\": "  \
    "[0.5]}, {\"op\": \"flatten\", \"name\": \"f\", \"in\": [\"n\"]}, {\"op\": \"linear\", "       \
    "\"name\": \"l\", \"in\": [\"f\"], \"out\": 2, \"bias\": true, \"weight_init\": \"zero\", "    \
    "\"bias_init\": \"zero\"}, {\"op\": \"batchnorm\", \"name\": \"b\", \"in\": [\"l\"], "         \
    "\"eps\": 1e-5, \"momentum\": 0.1, \"weight_init\": \"one\", \"bias_init\": \"zero\"}, "       \
    "{\"op\": \"loss\", \"name\": \"o\", \"in\": [\"b\"], \"weight\": 1, \"train_only\": false}]}"
#define PARAMS(p)                                                                                  \
    p "l.weight float32 2,1; " p "l.bias float32 2; " p "b.weight float32 2; " p "b.bias float32 " \
      "2"
#define STATS "b.running_mean float32 2; b.running_var float32 2"
#define CURVE(kind, points) "{" NET ", \"curve\": \"" kind "\", \"points\": " points "}"

#define CHECKPOINT(tool, settings, epoch)                                                          \
    "{\"version\": 2, \"tool\": \"" tool "\", \"settings\": " settings ", \"epoch\": " epoch "}"
#define POINT "point float32 5"

/* says NULL: accepted */
static const struct {
    const char *kind, *meta, *tensors, *order, *says;
} cases[] = {
    {"dataset", DATA_OK, TWO, NULL, NULL},
    {"dataset", DATA("2", ", \"class_names\": [\"a\", \"b\"]", "[0]", "[1]", AUGMENT), TWO, NULL,
     NULL},
    {"dataset", DATA_OK, "images float32 1,1,1,2 = 0 1; labels int32 1", NULL, NULL},
    {"dataset", MORE("\"turn\": 30, \"scale\": 0.2, \"contrast\": 0.25, \"saturation\": 1"), TWO,
     NULL, NULL},
    {"dataset", MORE("\"contrast\": 0.5"), TWO, NULL, NULL},
    {"dataset", MORE("\"contrast\": 0.5"), "images uint8 1,2,1,1 = 1 2; labels int32 1", NULL,
     "2 entries (got 1)"},
    {"dataset",
     "{\"name\": \"d\", \"split\": \"train\", \"order\": \"o\", \"classes\": 2, \"mean\": [0, 0], "
     "\"std\": [1, 1], \"augment\": {\"rotate\": 0, \"flip\": true, \"pad\": 4, \"saturation\": "
     "0.1}}",
     "images uint8 1,2,1,1 = 1 2; labels int32 1", NULL,
     "contrast*saturation require 1 or 3 channels (got 2)"},
    {"dataset", MORE("\"turn\": 181"), TWO, NULL, "turn 181*scale"},
    {"dataset", MORE("\"turn\": -1"), TWO, NULL, "turn -1*scale"},
    {"dataset", MORE("\"scale\": 0.95"), TWO, NULL, "scale 0.95*out"},
    {"dataset", MORE("\"contrast\": 1.5"), TWO, NULL, "contrast 1.5 or"},
    {"dataset", MORE("\"saturation\": -0.5"), TWO, NULL, "saturation -0.5 is"},
    {"dataset", MORE("\"saturation\": \"x\""), TWO, NULL, "\"saturation\""},
    {"dataset", "{}", TWO, NULL, "\"name\" is missing"},
    {"dataset", DATA("0", "", "[0]", "[1]", AUGMENT), TWO, NULL, "classes (got 0)"},
    {"dataset", DATA("65537", "", "[0]", "[1]", AUGMENT), TWO, NULL, "\"classes\"*at most"},
    {"dataset", DATA("\"2\"", "", "[0]", "[1]", AUGMENT), TWO, NULL, "\"classes\" is not"},
    {"dataset", DATA("2", ", \"class_names\": [\"a\"]", "[0]", "[1]", AUGMENT), TWO, NULL,
     "2 class names expected*got 1"},
    {"dataset", DATA("2", ", \"class_names\": [\"a\", 7]", "[0]", "[1]", AUGMENT), TWO, NULL,
     "class name 1"},
    {"dataset", DATA("2", "", "[0, 0]", "[1]", AUGMENT), TWO, NULL, "\"mean\"*1 entries (got 2)"},
    {"dataset", DATA("2", "", "[\"0\"]", "[1]", AUGMENT), TWO, NULL, "not a number"},
    {"dataset", DATA("2", "", "[nan]", "[1]", AUGMENT), TWO, NULL, "not a valid normalisation"},
    {"dataset", DATA("2", "", "[0]", "[0]", AUGMENT), TWO, NULL, "not a valid normalisation"},
    {"dataset", DATA("2", "", "[0]", "[1]", "{\"rotate\": 181, \"flip\": true, \"pad\": 0}"), TWO,
     NULL, "rotate 181 or"},
    {"dataset", DATA("2", "", "[0]", "[1]", "{\"rotate\": 0, \"flip\": 1, \"pad\": 0}"), TWO, NULL,
     "\"flip\""},
    {"dataset", DATA_OK, "pictures uint8 2,1,2,2; labels int32 2", NULL, "tensors \"images\""},
    {"dataset", DATA_OK, "images uint8 2,1,2,2", NULL, "tensors \"images\""},
    {"dataset", DATA_OK, "images uint8 2,1,4; labels int32 2", NULL, "tensors \"images\""},
    {"dataset", DATA_OK, "images float64 2,1,1,1; labels int32 2", NULL, "(got float64)"},
    {"dataset", DATA_OK, "images uint8 2,5,1,1; labels int32 2", NULL, "(got 5)"},
    {"dataset", DATA_OK, "images uint8 2,1,0,1; labels int32 2", NULL, "image size 0 x 1"},
    {"dataset", DATA_OK, "images uint8 0,1,1,1; labels int32 0", NULL, "images (got 0)"},
    {"dataset", DATA_OK, "images uint8 2,1,1,1; labels int32 3", NULL,
     "must be int32 (2) (got int32 (3))"},
    {"dataset", DATA_OK, "images uint8 2,1,1,1; labels uint8 2", NULL, "must be int32 (2)"},
    {"dataset", DATA_OK, TWO, "10", NULL},
    {"dataset", DATA_OK, "labels int32 2; images uint8 2,1,1,1", NULL, NULL},
    {"dataset", DATA_OK, "labels int32 2; labeled uint8 2,1,1,1", NULL, "tensors \"images\""},
    {"dataset", DATA_OK, "images uint8 2,1,1,1; labels int32 2 = 0 2", NULL, "image 1*label 2"},
    {"dataset", DATA_OK, "images uint8 2,1,1,1; labels int32 2 = -1", NULL, "image 0*label -1"},
    {"dataset", DATA_OK, "images float32 1,1,1,2 = 0 1.01; labels int32 1", NULL, "pixel"},
    {"dataset", DATA_OK, "images float32 1,1,1,2 = nan; labels int32 1", NULL, "pixel"},

    {"weights", "{" NET "}", PARAMS("") ";" STATS, NULL, NULL},
    {"weights", "{\"net\": \"x\", \"dataset\": \"d\"}", PARAMS("") ";" STATS, NULL, "\"graph\""},
    {"weights", "{" NET "}", PARAMS(""), NULL, "6 tensors expected*got 4"},
    {"weights", "{" NET "}", PARAMS("x.") ";" STATS, NULL,
     "must be \"l.weight\" (got \"x.l.weight\")"},
    {"weights", "{" NET "}",
     "l.weight float32 1,2; l.bias float32 2; b.weight float32 2; b.bias float32 2; " STATS, NULL,
     "\"l.weight\" must be float32 (2,1) (got float32 (1,2))"},
    {"weights", "{" NET "}",
     "l.weight float64 2,1; l.bias float32 2; b.weight float32 2; b.bias float32 2; " STATS, NULL,
     "must be float32 (2,1)"},
    {"weights", "{" NET "}", PARAMS("") "= 1 inf;" STATS, NULL, "\"b.bias\" holds*value"},
    {"weights", "{" NET "}", PARAMS("") ";" STATS "= 1 nan", NULL, "\"b.running_var\" holds a"},
    {"weights", "{" NET "}", PARAMS("") ";" STATS "= 0 -1e-9", NULL, "variance below 0"},
    {"weights", "{" NET "}", PARAMS("") ";" STATS, "102345", "out*order"},

    {"curve", CURVE("bezier", "2"), PARAMS("0/") ";" PARAMS("1/"), NULL, NULL},
    {"curve", CURVE("chain", "2"), PARAMS("0/") ";" PARAMS("1/"), NULL, NULL},
    {"curve", CURVE("spline", "2"), PARAMS("0/") ";" PARAMS("1/"), NULL,
     "unknown curve \"spline\""},
    {"curve", CURVE("bezier", "1"), PARAMS("0/"), NULL, "at least 2 points (got 1)"},
    {"curve", CURVE("bezier", "65"), PARAMS("0/"), NULL, "\"points\"*at most 64"},
    {"curve", CURVE("bezier", "3"), PARAMS("0/") ";" PARAMS("1/"), NULL, "expected, got 8"},
    {"curve", CURVE("bezier", "2"), PARAMS("0/") ";" PARAMS("2/"), NULL, "must be \"1/l.weight\""},
    {"curve", CURVE("bezier", "2"), PARAMS("0/") ";" PARAMS("1/") "= nan", NULL, "\"b.bias\""},
    {"curve", "{" NET ", \"curve\": \"bezier\", \"points\": 2, \"groups\": [" GROUP1 "]}",
     PARAMS("0/") ";" PARAMS("1/") "; permutation/g int32 3 = 2 0 1", NULL, NULL},
    {"curve", "{" NET ", \"curve\": \"bezier\", \"points\": 2, \"groups\": [" GROUP1 "]}",
     PARAMS("0/") ";" PARAMS("1/") "; permutation/g int32 3 = 2 0 2", NULL, "\"g\""},

    {"permutation", PERM_OK, "g int32 3 = 1 2 0", NULL, NULL},
    {"permutation", "{\"groups\": []}", "", NULL, NULL},
    {"permutation", "{}", "g int32 3 = 1 2 0", NULL, "\"groups\" is missing"},
    {"permutation", "{\"groups\": [3]}", "g int32 3", NULL, "\"name\" is missing"},
    {"permutation", "{\"groups\": [{\"name\": \"\", \"size\": 3}]}", "g int32 3", NULL, "no name"},
    {"permutation", "{\"groups\": [{\"name\": \"g\", \"size\": 0}]}", "g int32 0", NULL,
     "no units"},
    {"permutation", "{\"groups\": [{\"name\": \"g\", \"size\": 16777217}]}", "g int32 3", NULL,
     "\"size\"*at most"},
    {"permutation", PERM_OK, "h int32 3 = 1 2 0", NULL, "must be \"g\" (got \"h\")"},
    {"permutation", PERM_OK, "g int64 3", NULL, "must be int32 (3) (got int64 (3))"},
    {"permutation", PERM_OK, "g int32 4", NULL, "must be int32 (3) (got int32 (4))"},
    {"permutation", PERM_OK, "g int32 3 = 1 2 1", NULL, "\"g\""},
    {"permutation", PERM_OK, "g int32 3 = 1 2 3", NULL, "\"g\""},
    {"permutation", PERM_OK, "g int32 3 = 1 2 -1", NULL, "\"g\""},
    {"permutation", JOINT_OK, "1/g int32 3 = 1 2 0; 2/g int32 3 = 0 1 2", NULL, NULL},
    {"permutation", JOINT_OK, "1/g int32 3 = 1 2 0; 2/g int32 3 = 0 1 1", NULL, "member 2: group"},
    {"permutation", JOINT_OK, "1/g int32 3 = 1 2 0", NULL, "2 tensors expected*got 1"},
    {"permutation", JOINT_OK, "g int32 3 = 1 2 0; h int32 3 = 1 2 0", NULL, "must be \"1/g\""},
    {"permutation", JOINT("1", "[" MEMBER1 ", " MEMBER2 "]"), "1/g int32 3; 2/g int32 3", NULL,
     "permutation version 1"},
    {"permutation", JOINT("3", "[" MEMBER1 ", " MEMBER2 "]"), "1/g int32 3; 2/g int32 3", NULL,
     "permutation version 3*program reads 1, 2 with \"members\" and 3 without"},
    {"permutation", JOINT("2", "[" MEMBER1 "]"), "1/g int32 3 = 1 2 0", NULL,
     "list 2 to 1024 networks (got 1)"},
    {"permutation", JOINT("2", "[" MEMBER1 ", " MEMBER1 "]"), "1/g int32 3; 2/g int32 3", NULL,
     "twice"},
    {"permutation", JOINT("2", "[" MEMBER1 ", \"b\"]"), "1/g int32 3; 2/g int32 3", NULL,
     "entry 1*not a content id"},
    {"permutation", JOINT("2", "3"), "1/g int32 3; 2/g int32 3", NULL, "\"members\" is not"},
    {"permutation", "{\"version\": 2, \"groups\": [" GROUP1 "]}", "g int32 3 = 1 2 0", NULL,
     "\"members\" is missing"},
    {"permutation", "{\"members\": [], \"groups\": [" GROUP1 "]}", "g int32 3 = 1 2 0", NULL,
     "\"version\" is missing"},
    {"permutation", MAPPED("3", "signed"), "g float32 3,3 = 0 -1 0 1 0 0 0 0 1", NULL, NULL},
    {"permutation", MAPPED("3", "signed"), "g float32 3,3 = 0 -1 0 1 0 0 0 1 0", NULL,
     "not signed"},
    {"permutation", MAPPED("3", "signed"), "g float32 3,3 = 0 -1 0 1 0 0 0 0 0", NULL,
     "not signed"},
    {"permutation", MAPPED("3", "orthogonal"), "g float32 3,3 = .6 .8 0 .8 -.6 0 0 0 1", NULL,
     NULL},
    {"permutation", MAPPED("3", "orthogonal"), "g float32 3,3 = .6 .8 0 .8 .6 0 0 0 1", NULL,
     "not orthogonal"},
    {"permutation", MAPPED("3", "centred"), "g float32 3,3 = 0 1 0 1 0 0 0 0 1", NULL, NULL},
    {"permutation", MAPPED("3", "centred"), "g float32 3,3 = .6 .8 0 .8 -.6 0 0 0 1", NULL,
     "not centred"},
    {"permutation", MAPPED("3", "signed"), "g int32 3 = 0 1 2", NULL, "must be float32 (3,3)"},
    {"permutation", MAPPED("3", "rotation"), "g float32 3,3", NULL,
     "rotation requires an even number of units (got 3)"},
    {"permutation", MAPPED("4", "rotation"),
     "g float32 4,4 = .6 0 -.8 0 0 0 0 1 .8 0 .6 0 0 -1 0 0", NULL, NULL},
    {"permutation", MAPPED("4", "rotation"), /* a reflection of the second pair */
     "g float32 4,4 = .6 0 -.8 0 0 0 0 1 .8 0 .6 0 0 1 0 0", NULL, "not rotation"},
    {"permutation", MAPPED("4", "half-turn"), "g float32 4,4 = 1 0 0 0 0 -1 0 0 0 0 1 0 0 0 0 -1",
     NULL, NULL},
    {"permutation", MAPPED("4", "half-turn"), /* two signs in a pair */
     "g float32 4,4 = 1 0 0 0 0 -1 0 0 0 0 1 0 0 0 0 1", NULL, "not half-turn"},
    {"permutation", MAPPED("4", "rotation"), /* neighbours as pairs */
     "g float32 4,4 = .6 -.8 0 0 .8 .6 0 0 0 0 1 0 0 0 0 1", NULL, "not rotation"},

    {"matrices", MATS("correlation", "post", "2", "[1]", "[0]"), "g float64 2,2 = 0 .5 0 0", NULL,
     NULL},
    {"matrices", MATS("a measure of more than thirty-one bytes", "post", "2", "[]", "[]"),
     "g float64 2,2", NULL, "\"measure\" is longer"},
    {"matrices", MATS("c", "post", "2", "[2]", "[]"), "g float64 2,2", NULL, "\"dead_a\" is not"},
    {"matrices", MATS("c", "post", "2", "7", "[]"), "g float64 2,2", NULL, "\"dead_a\" is not"},
    {"matrices", MATS("c", "post", "4194305", "[]", "[]"), "g float64 2,2", NULL,
     "\"size\"*at most 4194304"},
    {"matrices",
     "{\"measure\": \"c\", \"at\": \"post\", \"groups\": [3, " GROUP_OF_BLOCKS("g", "2", "") "]}",
     "g float64 2,2", NULL, "\"name\" is missing"},
    {"matrices",
     "{\"measure\": \"c\", \"at\": \"post\", \"groups\": [" GROUP_OF_BLOCKS(
         "o", "1",
         "") ", " GROUP_OF_BLOCKS("i", "1",
                                  WITHIN("0", "0")) ", " GROUP_OF_BLOCKS("j", "2",
                                                                         WITHIN("1", "0")) "]}",
     "j float64 2,2", NULL, "group j: nested more*one level deep"},
    {"matrices", MATS("c", "post", "2", "[]", "[1, 0]"), "g float64 2,2", NULL,
     "\"dead_b\" is not"},
    {"matrices", MATS("c", "post", "2", "[]", "[0, 0, 1]"), "g float64 2,2", NULL,
     "list at most 2 units (got 3)"},
    {"matrices", MATS("c", "post", "0", "[]", "[]"), "g float64 0,0", NULL, "no units"},
    {"matrices", MATS("c", "post", "2", "[]", "[]"), "g float64 2,3", NULL,
     "must be float64 (2,2)"},
    {"matrices", MATS("c", "post", "2", "[]", "[]"), "g float32 2,2", NULL,
     "must be float64 (2,2)"},
    {"matrices", MATS("c", "post", "2", "[]", "[]"), "g float64 2,2 = 0 0 0 inf", NULL, "finite"},

    {"matrices", MATS_OF_BLOCKS(BLOCKS("0", "1", "")), "i float64 4,4 = 1 2 3 4", NULL, NULL},
    {"matrices", MATS_OF_BLOCKS(BLOCKS("0", "1", "")), "i float64 2,2", NULL,
     "must be float64 (4,4)"},
    {"matrices", MATS_OF_BLOCKS(BLOCKS("0", "1", "")), "o float64 2,2; i float64 4,4", NULL,
     "1 tensor expected*got 2"},
    {"matrices", MATS_OF_BLOCKS(BLOCKS("0", "0", "")), "i float64 4,4", NULL, "invalid nesting"},
    {"matrices", MATS_OF_BLOCKS(BLOCKS("0", "2", "")), "i float64 4,4", NULL,
     "group \"j\": invalid nesting"},
    {"matrices", MATS_OF_BLOCKS(BLOCKS("3", "1", "")), "i float64 4,4", NULL, "\"within\"*at most"},
    {"matrices", MATS_OF_BLOCKS(BLOCKS("1", "1", "")), "i float64 4,4", NULL,
     "contain different groups"},
    {"matrices", MATS_OF_BLOCKS(BLOCKS("0", "1", WITHIN("1", "0"))), "i float64 4,4", NULL,
     "invalid nesting"},

    {"losses", LOSSES("2", LOST), LOSS("0 1", ".5", "1 2 0 3", "1 0 0 1"), NULL, NULL},
    {"losses", LOSSES("1", LOST), "t float64 1; chord float64 0", NULL,
     "at least 2 points (got 1)"},
    {"losses", LOSSES("2", ""), "t float64 2; chord float64 1", NULL, "data sets expected*got 0"},
    {"losses", LOSSES("2", LOST ", " LOST), LOSS("0 1", ".5", "", ""), NULL, "two data sets"},
    {"losses", LOSSES("2", "{\"name\": \"\", \"id\": \"\", \"images\": 2}"),
     "t float64 2; chord float64 1", NULL, "no name*no images"},
    {"losses", LOSSES("2", "{\"name\": \"test\", \"id\": \"\", \"images\": 0}"),
     "t float64 2; chord float64 1", NULL, "no name*no images"},
    {"losses", LOSSES("3", LOST), LOSS("0 1", ".5", "", ""), NULL,
     "must be float64 (3) (got float64 (2))"},
    {"losses", LOSSES("2", LOST), LOSS("0 2", ".5", "", ""), NULL, "not ascend*0 to 1"},
    {"losses", LOSSES("2", LOST), LOSS(".5 1", ".5", "", ""), NULL, "not ascend*0 to 1"},
    {"losses", LOSSES("2", LOST), LOSS("0 -1", ".5", "", ""), NULL, "not ascend*0 to 1"},
    {"losses", LOSSES("2", "7, " LOST), LOSS("0 1", ".5", "", ""), NULL, "\"name\" is missing"},
    {"losses",
     LOSSES("2",
            LOST ", " LOST ", " LOST ", " LOST ", " LOST ", " LOST ", " LOST ", " LOST ", " LOST
                 ", " LOST ", " LOST ", " LOST ", " LOST ", " LOST ", " LOST ", " LOST ", " LOST),
     LOSS("0 1", ".5", "", ""), NULL, "1 to 16 data sets expected*got 17"},
    {"losses", LOSSES("2", LOST), LOSS("0 1", "-1", "", ""), NULL, "not a distance"},
    {"losses", LOSSES("2", LOST), LOSS("0 1", "nan", "", ""), NULL, "not a distance"},
    {"losses", LOSSES("2", LOST), LOSS("0 1", "1", "0 inf", ""), NULL, "finite"},
    {"losses", LOSSES("2", LOST), LOSS("0 1", "1", "", "2"), NULL, "hold 0 or 1"},

    {"moments", MOMENTS(TAPS_OK, "2", "1", "[0]"), SUMS "= 1 2 3 4", NULL, NULL},
    {"moments", MOMENTS(TAPS("pre", "0", "0", "2", "0"), "0", "3", "[0]"), SUMS, NULL, NULL},
    {"moments", MOMENTS(TAPS("between", "0", "0", "2", "8"), "2", "1", "[0]"), SUMS, NULL,
     "\"at\""},
    {"moments", MOMENTS(TAPS("mid", "0", "0", "2", "8"), "2", "1", "[0]"), SUMS, NULL, "post*pre"},
    {"moments", MOMENTS(TAPS("post", "1", "0", "2", "8"), "2", "1", "[0]"), SUMS, NULL,
     "not within*group"},
    {"moments", MOMENTS(TAPS("post", "0", "1", "2", "8"), "2", "1", "[0]"), SUMS, NULL,
     "not within*group"},
    {"moments", MOMENTS(TAPS("post", "0", "0", "0", "8"), "2", "1", "[0]"), SUMS, NULL, "no units"},
    {"moments", MOMENTS(TAPS("post", "0", "0", "1", "8"), "2", "1", "[0]"), SUMS, NULL,
     "group g: no tap observes unit 1"},
    {"moments", MOMENTS(TAPS("post", "0", "1", "1", "8"), "2", "1", "[0]"), SUMS, NULL,
     "group g: no tap observes unit 0"},
    {"moments", MOMENTS(TAPS("post", "0", "0", "2", "7"), "2", "1", "[0]"), SUMS, NULL,
     "multiple*2 samples (got 7)"},
    {"moments", MOMENTS(TAPS("post", "0", "0", "2", "0"), "2", "1", "[0]"), SUMS, NULL,
     "samples (got 0)"},
    {"moments", MOMENTS(BLOCKS("0", "1", "") TAP_OF_BLOCKS("1", "4"), "2", "1", "[0]"),
     SUMS_OF_BLOCKS, NULL, NULL},
    {"moments", MOMENTS(BLOCKS("0", "1", "") TAP_OF_BLOCKS("2", "4"), "2", "1", "[0]"),
     SUMS_OF_BLOCKS, NULL, "not within*group"},
    {"moments", MOMENTS(BLOCKS("0", "1", "") TAP_OF_BLOCKS("0", "2"), "2", "1", "[0]"), SUMS, NULL,
     "not within*group"},
    {"moments", MOMENTS(BLOCKS("0", "1", "") TAP_OF_BLOCKS("1", "2"), "2", "1", "[0]"), SUMS, NULL,
     "group i: no tap observes unit 2"},
    {"moments",
     MOMENTS(
         "\"groups\": [" GROUP_OF_BLOCKS("o", "1", "") ", " GROUP_OF_BLOCKS(
             "i", "1",
             WITHIN("0", "0")) ", " GROUP_OF_BLOCKS("j", "2",
                                                    WITHIN("1", "0")) "]" TAP_OF_BLOCKS("2", "2"),
         "2", "1", "[0]"),
     SUMS, NULL, "group j: nested more*one level deep"},
    {"moments",
     MOMENTS("\"at\": \"post\", \"groups\": [{\"name\": \"g\", \"size\": 2}], \"taps\": [7, 7]",
             "2", "1", "[0]"),
     SUMS, NULL, "\"name\" is missing"},
    {"moments",
     MOMENTS("\"at\": \"post\", \"groups\": [{\"name\": \"g\", \"size\": 65537}], \"taps\": "
             "[{\"name\": \"r\", "
             "\"group\": 0, \"start\": 0, \"count\": 65537, \"samples\": 8}]",
             "2", "1", "[0]"),
     SUMS, NULL, "must be float64 (65537)"},
    {"moments", MOMENTS(TAPS_OK, "2", "0", "[]"), SUMS, NULL, "0 of 0 shards"},
    {"moments", MOMENTS(TAPS_OK, "2", "2", "[2]"), SUMS, NULL, "\"counted\" is not"},
    {"moments", MOMENTS(TAPS_OK, "2", "2", "[1, 1]"), SUMS, NULL, "\"counted\" is not"},
    {"moments", MOMENTS(TAPS_OK, "2", "65537", "[0]"), SUMS, NULL, "\"shards\"*at most"},
    {"moments", MOMENTS(TAPS_OK, "2", "1", "[0]"), SUMS "; more float64 1", NULL,
     "5 tensors expected"},
    {"moments", MOMENTS(TAPS_OK, "2", "1", "[0]"), SUMS "= nan", NULL, "\"r\" holds*value"},
    {"moments", MOMENTS(TAPS_OK, "2", "1", "[0]"),
     "0/r/sum_a float64 2; 0/r/sum_b float64 2; 0/r/sumsq_a float64 2; "
     "0/r/sumsq_b float64 2 = 0 -1; 0/r/cross float64 2,2",
     NULL, "negative sum*squares"},

    {"activations", ACTS(TAPS_OK, "2", "2"), "0/r float32 2,2,2,2 = 1 2", NULL, NULL},
    {"activations", ACTS(TAPS("post", "0", "0", "1", "8"), "2", "2"), "0/r float32 2,1,2,2 = 1 2",
     NULL, "group g: no tap observes unit 1"},
    {"activations", ACTS(TAPS_OK, "0", "2"), "0/r float32 0,2,2,2", NULL, "has no images"},
    {"activations", ACTS(TAPS_OK, "2", "0"), "0/r float32 2,2,2,2", NULL, "no batches"},
    {"activations", ACTS(TAPS_OK, "2", "2"), "0/r float32 2,8", NULL, "not (images, K, H, W)"},
    {"activations", ACTS(TAPS_OK, "2", "2"), "0/r float32 2,2,0,2", NULL, "not (images, K, H, W)"},
    {"activations", ACTS(TAPS_OK, "2", "2"), "0/r float32 2,2,2,0", NULL, "not (images, K, H, W)"},
    {"activations", ACTS(TAPS_OK, "2", "2"), "0/r float32 0,2,65537,2", NULL,
     "not (images, K, H, W)"},
    {"activations", ACTS(TAPS_OK, "2", "2"), "0/r float32 0,2,2,65537", NULL,
     "not (images, K, H, W)"},
    {"activations",
     "{\"at\": \"post\", \"groups\": [], \"taps\": [], \"images\": 2, \"batch\": 2, "
     "\"precision\": \"f32\"}",
     "", NULL, "must be tf32, bf16 or f16"},
    {"activations", ACTS(TAPS_OK, "2", "2"), "0/r float32 2,3,2,2", NULL,
     "must be float32 (2,2,2,2)"},
    {"activations", ACTS(TAPS_OK, "2", "2"), "0/r float32 2,2,2,3", NULL, "8 samples"},
    {"activations", ACTS(TAPS_OK, "2", "2"), "0/r float32 2,2,2,2 = -inf", NULL, "finite"},
    {"activations", ACTS(TAPS_OK, "2", "1"), "0/r float32 2,2,2,2", NULL, "expected, got"},
    {"activations", ACTS(TWO_TAPS, "2", "2"), "0/r float32 2,2,2,2; 1/s float32 2,2,1,1", NULL,
     NULL},
    {"activations", ACTS(TWO_TAPS, "2", "2"), "0/r float32 2,2,2,2; 1/s float32 2,2,1,1", "10",
     "\"0/r\" expected*got \"1/s\""},

    {"checkpoint", CHECKPOINT("mc-train", "{\"lr\": \"0.1\"}", "2"), POINT, NULL, NULL},
    {"checkpoint", "{\"version\": 3}", POINT, NULL, "version 3*program reads 2"},
    {"checkpoint", "{\"tool\": \"mc-train\"}", POINT, NULL, "\"version\""},
    {"checkpoint", CHECKPOINT("mc-bezier", "{\"lr\": \"0.1\"}", "2"), POINT, NULL,
     "got one*mc-bezier"},
    {"checkpoint", CHECKPOINT("mc-train", "{\"lr\": \"0.05\"}", "2"), POINT, NULL,
     "lr 0.05*run*0.1"},
    {"checkpoint", CHECKPOINT("mc-train", "{\"l\": \"0.1\"}", "2"), POINT, NULL,
     "made without lr 0.1*run"},
    {"checkpoint", CHECKPOINT("mc-train", "{\"lr\": \"0.1\", \"x\": \"1\"}", "2"), POINT, NULL,
     "x 1*run without"},
    {"checkpoint", CHECKPOINT("mc-train", "{\"lr\": 0.1}", "2"), POINT, NULL, "\"lr\" is not"},
    {"checkpoint", CHECKPOINT("mc-train", "{\"lr\": \"0.1\"}", "-2"), POINT, NULL, "\"epoch\""},
    {"checkpoint", CHECKPOINT("mc-train", "{\"lr\": \"0.1\"}", "2"), "point float32 6", NULL,
     "(got float32 (6))"},
    {"checkpoint", CHECKPOINT("mc-train", "{\"lr\": \"0.1\"}", "2"),
     "point float32 5; more float32 1", NULL, "1 tensor expected*got 2"},
};

TEST(content_agrees_with_its_page)
{
    static char bytes[65536];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_stream(cases[i].kind, cases[i].meta, cases[i].tensors, cases[i].order);
        FILE *f = fopen(file, "rb");
        assert_non_null(f);
        export_case(cases[i].kind, i, bytes, fread(bytes, 1, sizeof bytes, f), cases[i].says);
        fclose(f);
        forget();
        int rc = kind_of(cases[i].kind)->read(file, &why);
        if (!cases[i].says && rc)
            fail_msg("case %zu: %s", i, why.text);
        if (cases[i].says &&
            (rc != MC_EINPUT || why.code != MC_EINPUT || strncmp(why.text, file, strlen(file)) ||
             !has_words(why.text, cases[i].says)))
            fail_msg("case %zu: %d: '%s', not '%s'", i, rc, why.text, cases[i].says);
    }
}

/* Two records of images without a label between them: a reader would have to store the first. */
TEST(images_far_before_their_labels_are_refused)
{
    struct mc_tensor t[2] = {mc_tensor_make("images", MC_U8, 4, (const uint64_t[]){2, 1, 2, 2}),
                             mc_tensor_make("labels", MC_I32, 1, (const uint64_t[]){2})};
    const uint8_t images[8] = {0};
    const int32_t labels[2] = {1, 0};

    for (int apart = 0; apart < 2; apart++) {
        struct mc_writer *w = NULL;
        struct mc_pack p;
        mc_pack_init(&p);
        pack_json(DATA_OK, &p);
        must(mc_writer_open(&w, file, &(struct mc_header){"dataset", &p, t, 2}, NULL, &why));
        must(mc_writer_rows(w, 0, 1, images, &why));
        if (!apart)
            must(mc_writer_rows(w, 1, 1, labels, &why));
        must(mc_writer_rows(w, 0, 1, images + 4, &why));
        must(mc_writer_rows(w, 1, apart ? 2 : 1, labels + !apart, &why));
        must(mc_writer_close(w, 0, NULL, &why));
        mc_pack_release(&p);
        if (apart)
            must_fail(read_dataset(file, &why), MC_EINPUT, "images precede their labels");
        else
            must(read_dataset(file, &why));
    }
}

TEST(damaged_stream_lends_nothing)
{
    struct mc_dataset_reader *d = NULL;
    const void *images = &d;
    const int32_t *labels = (const int32_t[]){1};
    size_t n = 1;

    write_stream("dataset", DATA_OK, "images uint8 2,1,2,2; labels int32 2 = 1 2", "10");
    must(mc_dataset_open(&d, file, &why));
    must_fail(mc_dataset_lend(d, 2, &images, &labels, &n, &why), MC_EINPUT, "label 2");
    assert_true(!images && !labels && !n);
    mc_dataset_close(d);
}

int main(void)
{
    return run_entered(enter_folder, leave_folder);
}
