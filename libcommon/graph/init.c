/* SPDX-License-Identifier: Apache-2.0
 *
 * Initial weights. Each element depends only on the seed, its tensor's number and its position. */
#include "libcommon/base/rng.h"
#include "libcommon/graph/graph.h"

#include <math.h>
#include <string.h>

/* Two normals from two draws, in double so that float32 rounds identically on all machines. */
static void box_muller(uint32_t x, uint32_t y, double out[2])
{
    double radius = sqrt(-2 * log(((double)x + .5) * 0x1p-32));
    double angle = 6.283185307179586 * (((double)y + .5) * 0x1p-32);

    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}

static void normals(uint64_t seed, uint32_t tensor, uint32_t block, uint32_t attempt, double out[4])
{
    struct mc_rng4 r = mc_rng(seed, MC_RNG_INIT, tensor, block, attempt);

    box_muller(r.v[0], r.v[1], out);
    box_muller(r.v[2], r.v[3], out + 2);
}

static void fill_normal(uint64_t seed, uint32_t tensor, double sigma, double cut, size_t n,
                        float *dst)
{
    for (size_t i = 0; i < n; i += 4) {
        double z[4], again[4];
        normals(seed, tensor, (uint32_t)(i / 4), 0, z);
        for (size_t k = 0; k < 4 && i + k < n; k++) {
            for (uint32_t attempt = 1; fabs(z[k]) > cut; attempt++) {
                normals(seed, tensor, (uint32_t)(i / 4), attempt, again);
                z[k] = again[k];
            }
            dst[i + k] = (float)(sigma * z[k]);
        }
    }
}

static void fill_uniform(uint64_t seed, uint32_t tensor, double bound, size_t n, float *dst)
{
    for (size_t i = 0; i < n; i += 4) {
        struct mc_rng4 r = mc_rng(seed, MC_RNG_INIT, tensor, (uint32_t)(i / 4), 0);
        for (size_t k = 0; k < 4 && i + k < n; k++)
            dst[i + k] = (float)(bound * (2 * (((double)r.v[k] + .5) * 0x1p-32) - 1));
    }
}

static void fill(const struct mc_param *p, uint64_t seed, uint32_t tensor, float *dst)
{
    double in = (double)p->fan_in, out = (double)p->fan_out;

    switch (p->init) {
    case MC_INIT_ONE:
        for (size_t i = 0; i < p->count; i++)
            dst[i] = 1;
        break;
    case MC_INIT_XAVIER_NORMAL:
        fill_normal(seed, tensor, sqrt(2 / (in + out)), INFINITY, p->count, dst);
        break;
    case MC_INIT_KAIMING_NORMAL_OUT:
        fill_normal(seed, tensor, sqrt(2 / out), INFINITY, p->count, dst);
        break;
    case MC_INIT_UNIFORM_FAN_IN:
        fill_uniform(seed, tensor, 1 / sqrt(in), p->count, dst);
        break;
    case MC_INIT_TRUNCATED_NORMAL_01:
        fill_normal(seed, tensor, .01, 2, p->count, dst);
        break;
    case MC_INIT_ZERO:
    case MC_N_INITS:
        break; /* the vector is already zero */
    }
}

void mc_graph_init(const struct mc_graph *g, uint64_t seed, float *params, float *stats)
{
    memset(params, 0, g->P * sizeof *params);
    memset(stats, 0, g->S * sizeof *stats);
    for (size_t i = 0; i < g->n_params; i++)
        fill(&g->params[i], seed, (uint32_t)i, params + g->params[i].offset);
    for (size_t i = 0; i < g->n_stats; i++)
        fill(&g->stats[i], seed, (uint32_t)i, stats + g->stats[i].offset);
}
