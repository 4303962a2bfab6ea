/* SPDX-License-Identifier: Apache-2.0
 *
 * The networks by name: the small ones layer by layer, the large ones in files of their own. */
#include "libcommon/nets/nets.h"

#include "libcommon/nets/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HIDDEN 64
#define MAX_WIDTH 65536
#define BN_EPS 1e-5f
#define NAMED(layer, what) (snprintf(name, sizeof name, "layers.%d.%s", layer, what), name)

struct builder {
    const char *name;
    int (*build)(struct mc_graph *g, const char *args, struct mc_error *err);
    const char *stands_for; /* arguments of a name that takes none itself; NULL: the user's */
};

static int tinyten(struct mc_graph *g, const char *args, struct mc_error *err)
{
    static const struct {
        int out, kernel, stride, pad;
    } units[] = {{16, 3, 1, 1}, {16, 3, 1, 1}, {32, 3, 2, 1}, {32, 3, 1, 1},
                 {32, 3, 1, 1}, {64, 3, 2, 1}, {64, 3, 1, 0}, {64, 1, 1, 0}};
    int x = 0;

    if (args)
        return mc_fail(err, MC_EUSAGE, "tinyten takes no arguments, not '%s'", args);
    for (int i = 0; i < (int)(sizeof units / sizeof *units); i++) {
        char name[32];
        x = mc_graph_conv(g, NAMED(i, "conv"), x, units[i].out,
                          (struct mc_conv_opts){.kernel = units[i].kernel,
                                                .stride = units[i].stride,
                                                .pad = units[i].pad,
                                                .bias = 1,
                                                .init = MC_INIT_XAVIER_NORMAL});
        x = mc_graph_batchnorm(g, NAMED(i, "bn"), x, BN_EPS);
        x = mc_graph_relu(g, NAMED(i, "relu"), x);
    }
    x = mc_graph_globalpool(g, "pool", x);
    x = mc_graph_linear(g, "dense", x, g->classes, 1, MC_INIT_XAVIER_NORMAL, MC_INIT_ZERO);
    mc_graph_loss(g, "loss", x, 1, 0);
    return 0;
}

static int mlp(struct mc_graph *g, const char *args, struct mc_error *err)
{
    const char *at = args ? args : "512,512";
    int bn = !strncmp(at, "bn", 2) && (at[2] == ',' || !at[2]), n = 0, x = 0;

    if (bn)
        at = at[2] ? at + 3 : "512,512";
    x = mc_graph_flatten(g, "flatten", 0);
    for (;; n++) {
        char name[32], *end = NULL;
        long width = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : 0;
        if (!end || (*end && *end != ',') || width < 1 || width > MAX_WIDTH || n == MAX_HIDDEN)
            return mc_fail(err, MC_EUSAGE,
                           "mlp: '%s' are not up to %d widths from 1 to %d, as in mlp:bn,512,256",
                           args, MAX_HIDDEN, MAX_WIDTH);
        x = mc_graph_linear(g, NAMED(n, "linear"), x, (int)width, 1, MC_INIT_XAVIER_NORMAL,
                            MC_INIT_ZERO);
        if (bn)
            x = mc_graph_batchnorm(g, NAMED(n, "bn"), x, BN_EPS);
        x = mc_graph_relu(g, NAMED(n, "relu"), x);
        if (!*end)
            break;
        at = end + 1;
    }
    x = mc_graph_linear(g, "dense", x, g->classes, 1, MC_INIT_XAVIER_NORMAL, MC_INIT_ZERO);
    mc_graph_loss(g, "loss", x, 1, 0);
    return 0;
}

static const struct builder BUILDERS[] = {
    {"tinyten", tinyten, NULL},          {"resnet", mc_net_resnet, NULL},
    {"resnet20", mc_net_resnet, "20"},   {"resnet32", mc_net_resnet, "32"},
    {"resnet44", mc_net_resnet, "44"},   {"resnet56", mc_net_resnet, "56"},
    {"resnet110", mc_net_resnet, "110"}, {"googlenet", mc_net_googlenet, NULL},
    {"vgg", mc_net_vgg, NULL},           {"mlp", mlp, NULL},
};
#define N_BUILDERS (sizeof BUILDERS / sizeof *BUILDERS)

const char *mc_net_list(void)
{
    return "tinyten, resnet[:depth[,width]] (resnet20, resnet32, ...), googlenet, "
           "vgg[:[bn,]depth[,width]], mlp[:[bn,]width,...], FILE.json";
}

int mc_net_numbers(const char *args, int *out, int n)
{
    int got = 0;

    for (const char *at = args;; at++) {
        char *end = NULL;
        long v = *at >= '0' && *at <= '9' && got < n ? strtol(at, &end, 10) : 0;
        if (v < 1 || v > MAX_WIDTH || (*end && *end != ','))
            return -1;
        out[got++] = (int)v;
        if (!*end)
            return got;
        at = end;
    }
}

int mc_net_build(struct mc_graph **out, const char *name, const struct mc_net_spec *spec,
                 struct mc_error *err)
{
    const char *colon = strchr(name, ':');
    size_t len = colon ? (size_t)(colon - name) : strlen(name);
    const struct builder *b = NULL;
    struct mc_graph *g = NULL;
    int rc = 0;

    *out = NULL;
    for (size_t i = 0; i < N_BUILDERS; i++)
        if (strlen(BUILDERS[i].name) == len && !strncmp(BUILDERS[i].name, name, len))
            b = &BUILDERS[i];
    if (!b)
        return mc_fail(err, MC_EUSAGE, "no network is called '%.*s'; there are %s", (int)len, name,
                       mc_net_list());
    if (strlen(name) >= sizeof g->net)
        return mc_fail(err, MC_EUSAGE, "network '%s': more than %zu characters", name,
                       sizeof g->net - 1);
    g = mc_graph_new(name, spec->channels, spec->height, spec->width, spec->classes, spec->mean,
                     spec->std);
    if (!g)
        return mc_no_memory(err);
    if (colon && b->stands_for)
        rc = mc_fail(err, MC_EUSAGE, "%s takes no arguments, not '%s'", b->name, colon + 1);
    else
        rc = b->build(g, colon ? colon + 1 : b->stands_for, err);
    if (!rc)
        rc = mc_fail_in(mc_graph_finish(g, err), err, "%s", name);
    if (rc) {
        mc_graph_free(g);
        return rc;
    }
    *out = g;
    return 0;
}
