/* SPDX-License-Identifier: Apache-2.0
 *
 * A network's forward pass in evaluation mode as plainly as it can be written, in float64: what
 * faster code is compared with. */
#ifndef MC_TEST_REFERENCE_H
#define MC_TEST_REFERENCE_H

#include "mc_graph.h"

#include <math.h>
#include <stdlib.h>

/* Activations of every node for one image (C,H,W): an array of n_nodes, free with
 * reference_free. */
static double **reference_forward(const struct mc_graph *g, const float *params, const float *stats,
                                  const double *image)
{
    double **act = calloc((size_t)g->n_nodes, sizeof *act);

    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *n = &g->nodes[i], *m = n->n_in ? &g->nodes[n->in[0]] : n;
        size_t size = (size_t)n->c * (size_t)n->h * (size_t)n->w;
        const double *x = n->n_in ? act[n->in[0]] : image;
        const float *weight = params + n->weight.offset, *bias = params + n->bias.offset;
        double *y = calloc(size, sizeof *y);

        act[i] = y;
        for (int c = 0; c < n->c; c++)
            for (int v = 0; v < n->h; v++)
                for (int u = 0; u < n->w; u++) {
                    size_t at = (size_t)((c * n->h + v) * n->w + u);
                    double s = 0, most = -INFINITY;
                    int count = 0, kh = n->kernel[0], kw = n->kernel[1];
                    int v0 = v * n->stride[0] - n->pad[0], u0 = u * n->stride[1] - n->pad[1];
                    int from = 0, to = m->c, group = 0;

                    switch (n->op) {
                    case MC_OP_NORMALISE:
                        y[at] = (x[at] - (double)n->mean[c]) / (double)n->std[c];
                        break;
                    case MC_OP_CONV:
                        to = m->c / n->groups;
                        group = c / (n->c / n->groups) * to;
                        for (int k = 0; k < to; k++)
                            for (int a = 0; a < kh; a++)
                                for (int b = 0; b < kw; b++)
                                    if (v0 + a >= 0 && v0 + a < m->h && u0 + b >= 0 &&
                                        u0 + b < m->w)
                                        s += (double)weight[((c * to + k) * kh + a) * kw + b] *
                                             x[((group + k) * m->h + v0 + a) * m->w + u0 + b];
                        y[at] = s + (n->has_bias ? (double)bias[c] : 0);
                        break;
                    case MC_OP_LINEAR:
                        for (int k = 0; k < m->c; k++)
                            s += (double)weight[c * m->c + k] * x[k];
                        y[at] = s + (n->has_bias ? (double)bias[c] : 0);
                        break;
                    case MC_OP_BATCHNORM:
                        y[at] = (x[at] - (double)stats[n->running_mean.offset + (size_t)c]) /
                                    sqrt((double)stats[n->running_var.offset + (size_t)c] +
                                         (double)n->eps) *
                                    (double)weight[c] +
                                (double)bias[c];
                        break;
                    case MC_OP_RELU:
                        y[at] = x[at] > 0 ? x[at] : 0;
                        break;
                    case MC_OP_ADD:
                        for (int k = 0; k < n->n_in; k++)
                            y[at] += act[n->in[k]][at];
                        break;
                    case MC_OP_CONCAT:
                        for (int k = 0; c >= from + g->nodes[n->in[k]].c; k++)
                            from += g->nodes[n->in[k]].c, count = k + 1;
                        y[at] = act[n->in[count]][((c - from) * n->h + v) * n->w + u];
                        break;
                    case MC_OP_GLOBALPOOL:
                        kh = m->h, kw = m->w, v0 = u0 = 0;
                        /* fall through */
                    case MC_OP_MAXPOOL:
                    case MC_OP_AVGPOOL:
                    case MC_OP_ADAPTPOOL:
                        if (n->op == MC_OP_ADAPTPOOL) {
                            v0 = v * m->h / n->h, kh = ((v + 1) * m->h + n->h - 1) / n->h - v0;
                            u0 = u * m->w / n->w, kw = ((u + 1) * m->w + n->w - 1) / n->w - u0;
                        }
                        for (int a = 0; a < kh; a++)
                            for (int b = 0; b < kw; b++)
                                if (v0 + a >= 0 && v0 + a < m->h && u0 + b >= 0 && u0 + b < m->w) {
                                    double p = x[(c * m->h + v0 + a) * m->w + u0 + b];
                                    s += p;
                                    most = p > most ? p : most;
                                    count++;
                                }
                        y[at] = n->op == MC_OP_MAXPOOL ? most : s / count;
                        break;
                    default: /* flatten, dropout, loss */
                        y[at] = x[at];
                        break;
                    }
                }
    }
    return act;
}

static void reference_free(const struct mc_graph *g, double **act)
{
    for (int i = 0; i < g->n_nodes; i++)
        free(act[i]);
    free(act);
}

#endif
