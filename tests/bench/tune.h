/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared parts of the programs that time kernels. Header only. */
#ifndef MC_TUNE_H
#define MC_TUNE_H

#include "kernels/conv_table.h"
#include "libcommon/nets/nets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct mc_error err;

static void need(int rc)
{
    if (!rc)
        return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, err.text);
    exit(1);
}

/* n floats that are neither equal nor large. */
static inline float *floats(size_t n)
{
    float *p = aligned_alloc(64, (n * sizeof *p / 64 + 1) * 64);
    if (!p)
        need(mc_no_memory(&err));
    for (size_t i = 0; i < n; i++)
        p[i] = (float)(i % 17) * .1f - .8f;
    return p;
}

static double seconds(clockid_t watch)
{
    struct timespec t;
    clock_gettime(watch, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Visits one convolution of each shape of a network, "net:HEIGHTxWIDTH", and the node that it
 * reads. */
static inline void
each_conv(const char *net,
          void (*visit)(void *arg, const struct mc_node *n, const struct mc_node *in), void *arg)
{
    struct mc_net_spec spec = {3, 32, 32, 10, {.5f, .5f, .5f}, {.25f, .25f, .25f}};
    struct mc_graph *g = NULL;
    char name[64], visited[256][MC_SHAPE_TEXT];
    size_t n_visited = 0;
    const char *colon = strrchr(net, ':');

    if (!colon || (size_t)(colon - net) >= sizeof name ||
        sscanf(colon, ":%dx%d", &spec.height, &spec.width) != 2)
        need(mc_fail(&err, MC_EUSAGE, "'%s' is not net:HEIGHTxWIDTH", net));
    snprintf(name, sizeof name, "%.*s", (int)(colon - net), net);
    need(mc_net_build(&g, name, &spec, &err));
    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *n = &g->nodes[i], *in = n->n_in ? &g->nodes[n->in[0]] : NULL;
        char text[MC_SHAPE_TEXT];
        size_t k = 0;
        if (n->op != MC_OP_CONV)
            continue;
        mc_shape_text(text, (const int[]){in->c, in->h, in->w}, (const int[]){n->c, n->h, n->w},
                      n->kernel, n->stride, n->pad, n->groups);
        while (k < n_visited && strcmp(visited[k], text))
            k++;
        if (k < n_visited || n_visited == sizeof visited / sizeof *visited)
            continue;
        memcpy(visited[n_visited++], text, sizeof text);
        visit(arg, n, in);
    }
    mc_graph_free(g);
}

#endif
