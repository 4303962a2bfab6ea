/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookup of networks by name. */
#include "libcommon/nets/nets.h"

#include "libcommon/base/near.h"
#include "libcommon/nets/build.h"

#include <stdlib.h>
#include <string.h>

struct builder {
    const char *name;
    int (*build)(struct mc_graph *g, const char *args, struct mc_error *err);
    const char *alias_args; /* fixed arguments of an alias; NULL: the user's */
};

static const struct builder BUILDERS[] = {
    {"tinyten", mc_net_tinyten, NULL},   {"tinyten-dropout", mc_net_tinyten, "dropout"},
    {"resnet", mc_net_resnet, NULL},     {"resnet20", mc_net_resnet, "20"},
    {"resnet32", mc_net_resnet, "32"},   {"resnet32-dropout", mc_net_resnet, "dropout"},
    {"resnet44", mc_net_resnet, "44"},   {"resnet56", mc_net_resnet, "56"},
    {"resnet110", mc_net_resnet, "110"}, {"googlenet", mc_net_googlenet, NULL},
    {"vgg", mc_net_vgg, NULL},           {"mlp", mc_net_mlp, NULL},
};
#define N_BUILDERS (sizeof BUILDERS / sizeof *BUILDERS)

int mc_net_numbers(const char *args, int *out, int n)
{
    int got = 0;

    for (const char *cursor = args;; cursor++) {
        char *end = NULL;
        long v = *cursor >= '0' && *cursor <= '9' && got < n ? strtol(cursor, &end, 10) : 0;
        if (v < 1 || v > MC_NET_MAX_WIDTH || (*end && *end != ','))
            return -1;
        out[got++] = (int)v;
        if (!*end)
            return got;
        cursor = end;
    }
}

int mc_net_build(struct mc_graph **out, const char *name, const struct mc_net_spec *spec,
                 struct mc_error *err)
{
    const char *colon = strchr(name, ':');
    size_t len = colon ? (size_t)(colon - name) : strlen(name);
    struct mc_near near = mc_near(name, len);
    const struct builder *b = NULL;
    struct mc_graph *g = NULL;
    char meant[MC_NEAR_TEXT];
    int rc = 0;

    *out = NULL;
    for (size_t i = 0; i < N_BUILDERS; i++) {
        mc_near_try(&near, BUILDERS[i].name);
        if (strlen(BUILDERS[i].name) == len && !strncmp(BUILDERS[i].name, name, len))
            b = &BUILDERS[i];
    }
    if (!b)
        return mc_fail(err, MC_EUSAGE,
                       "unknown network '%.*s'%s (one of: " MC_NET_LIST ", FILE.json; for any "
                       "other network: python -m mcz.torch export, see docs/tutorial.md)",
                       (int)len, name, mc_near_text(&near, meant));
    if (strlen(name) >= sizeof g->net)
        return mc_fail(err, MC_EUSAGE, "network '%s': name is longer than %zu characters", name,
                       sizeof g->net - 1);
    g = mc_graph_new(name, spec->channels, spec->height, spec->width, spec->classes, spec->mean,
                     spec->std);
    if (!g)
        return mc_no_memory(err);
    if (colon && b->alias_args)
        rc = mc_fail(err, MC_EUSAGE, "%s accepts no arguments (got '%s')", b->name, colon + 1);
    else
        rc = b->build(g, colon ? colon + 1 : b->alias_args, err);
    if (!rc)
        rc = mc_fail_in(mc_graph_finish(g, err), err, "%s", name);
    if (rc) {
        mc_graph_free(g);
        return rc;
    }
    *out = g;
    return 0;
}
