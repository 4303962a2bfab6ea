/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/exchange/graph_json.h"

#include "formats/codecs/graph.h"
#include "formats/exchange/json_object.h"
#include "formats/stream/objects.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"
#include "libcommon/base/json.h"

#include <stdlib.h>
#include <string.h>

/* room for 4,096 nodes with a dozen settings */
static const struct mc_json_limits LIMITS = {.values = 131072, .depth = 8};

int mc_graph_json_is(const char *net)
{
    size_t n = strlen(net);

    return strchr(net, '/') || (n >= 5 && !strcmp(net + n - 5, ".json"));
}

/* "nets/wide.json" is "wide" */
static void name_after(struct mc_graph *g, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t n = strlen(base);

    if (n > 5 && !strcmp(base + n - 5, ".json"))
        n -= 5;
    snprintf(g->net, sizeof g->net, "%.*s", (int)(n < sizeof g->net ? n : sizeof g->net - 1), base);
}

int mc_graph_json_read(struct mc_graph **out, const char *path, struct mc_error *err)
{
    msgpack_unpacked u;
    struct mc_pack p;
    json_t *json = NULL;
    char *text = NULL;
    size_t n = 0;
    int rc = 0;

    *out = NULL;
    msgpack_unpacked_init(&u);
    mc_pack_init(&p);
    if ((rc = mc_file_text(&text, &n, MC_GRAPH_JSON_BYTES, path, err)))
        goto out;
    if (n > MC_GRAPH_JSON_BYTES) {
        rc = mc_fail(err, MC_EINPUT, "%s: a graph must be at most %zu bytes", path,
                     MC_GRAPH_JSON_BYTES);
        goto out;
    }
    if (n >= 4 && !memcmp(text, "\x28\xb5\x2f\xfd", 4)) {
        rc = mc_fail(err, MC_EINPUT,
                     "%s: JSON expected, got an mcz stream: print its graph with "
                     "mc-info --graph",
                     path);
        goto out;
    }
    if (!(rc = mc_json_parse(&json, text, n, &LIMITS, err))) {
        mc_json_pack(&p, json);
        if (!(rc = p.failed ? mc_no_memory(err) : mc_unpack(p.buf.data, p.buf.size, &u, err)))
            rc = mc_graph_unpack(out, &u.data, err);
    }
    mc_fail_in(rc, err, "%s", path);
    if (!rc && !*(*out)->net)
        name_after(*out, path);
out:
    json_decref(json);
    msgpack_unpacked_destroy(&u);
    mc_pack_release(&p);
    free(text);
    return rc;
}

int mc_graph_json_print(FILE *f, const struct mc_graph *g, struct mc_error *err)
{
    const msgpack_object *nodes = NULL;
    msgpack_unpacked u;
    struct mc_pack p;
    int rc = 0;

    msgpack_unpacked_init(&u);
    mc_pack_init(&p);
    mc_graph_pack(g, &p);
    if ((rc = p.failed ? mc_no_memory(err) : mc_unpack(p.buf.data, p.buf.size, &u, err)) ||
        (rc = mc_get_array(&u.data, "nodes", &nodes, err)))
        goto out;
    fputs("{\"net\": ", f);
    mc_json_str(f, g->net);
    fprintf(f, ", \"input\": [%d,%d,%d], \"classes\": %d, \"nodes\": [\n", g->input[0], g->input[1],
            g->input[2], g->classes);
    for (uint32_t i = 0; i < nodes->via.array.size; i++) {
        fputs("  ", f);
        mc_json_object(f, &nodes->via.array.ptr[i]);
        fputs(i + 1 < nodes->via.array.size ? ",\n" : "]}\n", f);
    }
out:
    msgpack_unpacked_destroy(&u);
    mc_pack_release(&p);
    return rc;
}

static int from_file(struct mc_graph **out, const char *path, const struct mc_net_spec *s,
                     struct mc_error *err)
{
    struct mc_graph *g = NULL;
    int rc = mc_graph_json_read(&g, path, err);

    if (!rc && (g->input[0] != s->channels || g->input[1] != s->height || g->input[2] != s->width ||
                g->classes != s->classes))
        rc = mc_fail(err, MC_EINPUT,
                     "%s: images of %dx%dx%d in %d classes expected, the data has %dx%dx%d in %d",
                     path, g->input[0], g->input[1], g->input[2], g->classes, s->channels,
                     s->height, s->width, s->classes);
    if (rc)
        mc_graph_free(g);
    else
        *out = g;
    return rc;
}

int mc_network_build(struct mc_graph **out, const char *name_or_file,
                     const struct mc_net_spec *spec, struct mc_error *err)
{
    return mc_graph_json_is(name_or_file) ? from_file(out, name_or_file, spec, err)
                                          : mc_net_build(out, name_or_file, spec, err);
}
