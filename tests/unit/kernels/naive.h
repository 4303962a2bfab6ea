/* SPDX-License-Identifier: Apache-2.0
 *
 * A network computed and differentiated in float64 by simple loops: the reference for backends and
 * for permuted networks. (N,C,H,W) throughout. Header only, for test programs. */
#ifndef MC_TEST_NAIVE_H
#define MC_TEST_NAIVE_H

#include "kernels/backend.h"
#include "libcommon/base/rng.h"
#include "tests/unit/builders.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct naive {
    const struct mc_graph *g;
    int B, valid;
    enum mc_mode mode;
    struct mc_ctl ctl;
    const int32_t *samples, *labels; /* (B); labels of the batch's rows */
    const float *params, *stats;
    int train_only;
    double **out, **grad;           /* (n_nodes) */
    double **mean, **var;           /* batch norm's, as used */
    double *dparams, *loss;         /* (P), (B) of the main head */
    double *batch_mean, *batch_var; /* (S): in the slots of running_mean and running_var, biased */
    double objective;               /* sum over images */
};

static size_t naive_image(const struct mc_node *n)
{
    return (size_t)n->c * (size_t)n->h * (size_t)n->w;
}

/* An image (c,h,w) as the network gets it. If `augment`, flipped and cropped from the image padded
 * by 1, as r decides. */
static inline void naive_picture(int c, int h, int w, const uint8_t *image, int augment,
                                 struct mc_rng4 r, double *out)
{
    const int flip = augment && mc_rng_below(r.v[1], 2);
    const int down = augment ? (int)mc_rng_below(r.v[2], 3) - 1 : 0;
    const int right = augment ? (int)mc_rng_below(r.v[3], 3) - 1 : 0;

    for (int k = 0; k < c; k++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                const int sy = y + down, at = x + right, sx = flip ? w - 1 - at : at;
                const int in = sy >= 0 && sy < h && sx >= 0 && sx < w;
                out[(k * h + y) * w + x] = in ? image[(k * h + sy) * w + sx] / 255.0 : 0;
            }
}

static void *naive_alloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    assert(p);
    return p;
}

static inline void naive_init(struct naive *v, const struct mc_graph *g, int batch)
{
    const size_t n = (size_t)g->n_nodes;
    memset(v, 0, sizeof *v);
    v->g = g;
    v->B = batch;
    double ***const each[] = {&v->out, &v->grad, &v->mean, &v->var};
    for (size_t k = 0; k < 4; k++) {
        *each[k] = naive_alloc(n, sizeof(double *));
        for (size_t i = 0; i < n; i++)
            (*each[k])[i] = naive_alloc(k < 2 ? (size_t)batch * naive_image(&g->nodes[i])
                                              : (size_t)g->nodes[i].c,
                                        sizeof(double));
    }
    v->dparams = naive_alloc(g->P, sizeof(double));
    v->loss = naive_alloc((size_t)batch, sizeof(double));
    v->batch_mean = naive_alloc(g->S, sizeof(double));
    v->batch_var = naive_alloc(g->S, sizeof(double));
}

static inline void naive_release(struct naive *v)
{
    double **const each[] = {v->out, v->grad, v->mean, v->var};

    for (size_t k = 0; k < 4; k++) {
        for (int i = 0; i < v->g->n_nodes; i++)
            free(each[k][i]);
        free(each[k]);
    }
    free(v->dparams);
    free(v->loss);
    free(v->batch_mean);
    free(v->batch_var);
}

/* Both passes of a convolution: with `back`, from dy to dx and dweight. */
static void naive_conv(struct naive *v, int i, int back)
{
    const struct mc_node *n = &v->g->nodes[i], *in = &v->g->nodes[n->in[0]];
    const float *w = v->params + n->weight.offset;
    const int icg = in->c / n->groups, ocg = n->c / n->groups;
    const double *x = v->out[n->in[0]];
    double *dx = v->grad[n->in[0]], *dw = v->dparams + n->weight.offset;

    for (int b = 0; b < v->B; b++)
        for (int o = 0; o < n->c; o++)
            for (int h = 0; h < n->h; h++)
                for (int c = 0; c < n->w; c++) {
                    const size_t at =
                        (((size_t)b * (size_t)n->c + (size_t)o) * (size_t)n->h + (size_t)h) *
                            (size_t)n->w +
                        (size_t)c;
                    double sum = n->has_bias ? (double)v->params[n->bias.offset + (size_t)o] : 0;
                    const double g = v->grad[i][at];
                    if (back && n->has_bias)
                        v->dparams[n->bias.offset + (size_t)o] += g;
                    for (int q = 0; q < icg; q++)
                        for (int kh = 0; kh < n->kernel[0]; kh++)
                            for (int kw = 0; kw < n->kernel[1]; kw++) {
                                const int y = h * n->stride[0] - n->pad[0] + kh;
                                const int z = c * n->stride[1] - n->pad[1] + kw;
                                if (y < 0 || y >= in->h || z < 0 || z >= in->w)
                                    continue;
                                const int ch = o / ocg * icg + q;
                                const size_t wi =
                                    (size_t)(((o * icg + q) * n->kernel[0] + kh) * n->kernel[1] +
                                             kw);
                                const size_t xi =
                                    (size_t)(((b * in->c + ch) * in->h + y) * in->w + z);
                                sum += (double)w[wi] * x[xi];
                                if (back) {
                                    dw[wi] += g * x[xi];
                                    dx[xi] += g * (double)w[wi];
                                }
                            }
                    if (!back)
                        v->out[i][at] = sum;
                }
}

static void naive_linear(struct naive *v, int i, int back)
{
    const struct mc_node *n = &v->g->nodes[i], *in = &v->g->nodes[n->in[0]];
    for (int b = 0; b < v->B; b++)
        for (int o = 0; o < n->c; o++) {
            double sum = n->has_bias ? (double)v->params[n->bias.offset + (size_t)o] : 0;
            const double g = v->grad[i][b * n->c + o];
            for (int k = 0; k < in->c; k++) {
                const size_t w = n->weight.offset + (size_t)(o * in->c + k);
                sum += (double)v->params[w] * v->out[n->in[0]][b * in->c + k];
                if (back) {
                    v->dparams[w] += g * v->out[n->in[0]][b * in->c + k];
                    v->grad[n->in[0]][b * in->c + k] += g * (double)v->params[w];
                }
            }
            if (back && n->has_bias)
                v->dparams[n->bias.offset + (size_t)o] += g;
            if (!back)
                v->out[i][b * n->c + o] = sum;
        }
}

static void naive_norm(struct naive *v, int i, int back)
{
    const struct mc_node *n = &v->g->nodes[i];
    const int hw = n->h * n->w;
    const double count = (double)v->valid * hw;
    const double *x = v->out[n->in[0]];

    for (int c = 0; c < n->c; c++) {
        double sum = 0, sq = 0;
        const double gamma = (double)v->params[n->weight.offset + (size_t)c];
        if (!back) {
            for (int b = 0; b < v->valid; b++)
                for (int q = 0; q < hw; q++)
                    sum += x[(b * n->c + c) * hw + q];
            for (int b = 0; b < v->valid; b++)
                for (int q = 0; q < hw; q++)
                    sq += pow(x[(b * n->c + c) * hw + q] - sum / count, 2);
            v->batch_mean[n->running_mean.offset + (size_t)c] = v->mean[i][c] = sum / count;
            v->batch_var[n->running_mean.offset + (size_t)c] = v->var[i][c] = sq / count;
            if (v->mode == MC_MODE_EVAL) {
                v->mean[i][c] = (double)v->stats[n->running_mean.offset + (size_t)c];
                v->var[i][c] = (double)v->stats[n->running_var.offset + (size_t)c];
            }
        }
        const double inv = 1 / sqrt(v->var[i][c] + (double)n->eps), mean = v->mean[i][c];
        double s1 = 0, s2 = 0;
        for (int b = 0; b < v->B; b++)
            for (int q = 0; q < hw; q++) {
                const int at = (b * n->c + c) * hw + q;
                const double hat = (x[at] - mean) * inv;
                if (!back)
                    v->out[i][at] = hat * gamma + (double)v->params[n->bias.offset + (size_t)c];
                else if (b < v->valid) {
                    s1 += v->grad[i][at];
                    s2 += v->grad[i][at] * hat;
                }
            }
        if (!back)
            continue;
        v->dparams[n->weight.offset + (size_t)c] += s2;
        v->dparams[n->bias.offset + (size_t)c] += s1;
        if (v->mode == MC_MODE_EVAL)
            s1 = s2 = 0;
        for (int b = 0; b < v->valid; b++)
            for (int q = 0; q < hw; q++) {
                const int at = (b * n->c + c) * hw + q;
                v->grad[n->in[0]][at] +=
                    gamma * inv * (v->grad[i][at] - s1 / count - (x[at] - mean) * inv * s2 / count);
            }
    }
}

static void naive_relu(struct naive *v, int i, int back)
{
    const struct mc_node *n = &v->g->nodes[i];
    const double d = (double)n->delta;
    for (size_t k = 0; k < (size_t)v->B * naive_image(n); k++) {
        const double x = v->out[n->in[0]][k];
        if (back)
            v->grad[n->in[0]][k] += v->grad[i][k] * (x <= 0 ? 0 : x < d ? x / d : 1);
        else
            v->out[i][k] = x <= 0 ? 0 : x < d ? x * x / (2 * d) : x - d / 2;
    }
}

/* naive_value_NAME and naive_slope_NAME, of each activation of the list. */
#define NAIVE(name, value, slope)                                                                  \
    static double naive_value_##name(double x, double factor)                                      \
    {                                                                                              \
        (void)factor;                                                                              \
        return value;                                                                              \
    }                                                                                              \
    static double naive_slope_##name(double x, double factor)                                      \
    {                                                                                              \
        (void)factor;                                                                              \
        return slope;                                                                              \
    }
static double naive_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}
static double naive_normal(double x)
{
    return .5 * (1 + erf(x / sqrt(2)));
}
/* clang-format off */
NAIVE(relu6, fmin(fmax(x, 0), 6), x > 0 && x < 6)
NAIVE(gelu, x * naive_normal(x), naive_normal(x) + x * exp(-x * x / 2) / sqrt(2 * acos(-1)))
NAIVE(silu, x * naive_sigmoid(x), naive_sigmoid(x) * (1 + x * (1 - naive_sigmoid(x))))
NAIVE(hardswish, x * fmin(fmax(x + 3, 0), 6) / 6, x <= -3 ? 0 : x >= 3 ? 1 : (2 * x + 3) / 6)
NAIVE(hardsigmoid, fmin(fmax(x + 3, 0), 6) / 6, x > -3 && x < 3 ? 1. / 6 : 0)
NAIVE(sigmoid, naive_sigmoid(x), naive_sigmoid(x) * (1 - naive_sigmoid(x)))
NAIVE(leakyrelu, x > 0 ? x : x * factor, x > 0 ? 1 : factor)
NAIVE(tanh, tanh(x), 1 / (cosh(x) * cosh(x)))
NAIVE(elu, x > 0 ? x : factor * expm1(x), x > 0 ? 1 : factor * exp(x))
/* clang-format on */

static double naive_value(enum mc_op op, double factor, double x)
{
#define VALUE(NAME, name, ...) [MC_OP_##NAME] = naive_value_##name,
    static double (*const VALUES[MC_N_OPS])(double, double) = {MC_EACH_ACTIVATION(VALUE)};
    return VALUES[op](x, factor);
}

static double naive_slope(enum mc_op op, double factor, double x)
{
#define SLOPE(NAME, name, ...) [MC_OP_##NAME] = naive_slope_##name,
    static double (*const SLOPES[MC_N_OPS])(double, double) = {MC_EACH_ACTIVATION(SLOPE)};
    return SLOPES[op](x, factor);
}

static void naive_activation(struct naive *v, int i, int back)
{
    const struct mc_node *n = &v->g->nodes[i];
    for (size_t k = 0; k < (size_t)v->B * naive_image(n); k++) {
        const double x = v->out[n->in[0]][k];
        if (back)
            v->grad[n->in[0]][k] += v->grad[i][k] * naive_slope(n->op, (double)n->factor, x);
        else
            v->out[i][k] = naive_value(n->op, (double)n->factor, x);
    }
}

static void naive_mul(struct naive *v, int i, int back) /* also scale */
{
    const struct mc_node *n = &v->g->nodes[i];
    const size_t hw = (size_t)(n->h * n->w), learned = n->op == MC_OP_SCALE;
    const size_t hb =
        learned ? 1 : (size_t)v->g->nodes[n->in[1]].h * (size_t)v->g->nodes[n->in[1]].w;

    for (size_t k = 0; k < (size_t)v->B * naive_image(n); k++) {
        const size_t w = n->weight.offset + k / hw % (size_t)n->c, b = hb == 1 ? k / hw : k;
        const double x = v->out[n->in[0]][k];
        const double y = learned ? (double)v->params[w] : v->out[n->in[1]][b];
        if (!back)
            v->out[i][k] = x * y;
        else {
            v->grad[n->in[0]][k] += v->grad[i][k] * y;
            *(learned ? &v->dparams[w] : &v->grad[n->in[1]][b]) += v->grad[i][k] * x;
        }
    }
}

/* Layer norm, whose units are pixels, and group norm, whose units are groups of an image. */
static void naive_units_norm(struct naive *v, int i, int back)
{
    const struct mc_node *n = &v->g->nodes[i];
    const int hw = n->h * n->w, layer = n->op == MC_OP_LAYERNORM,
              each = layer ? n->c : n->c / n->groups;
    const int step = layer ? hw : 1, count = layer ? n->c : each * hw;
    const float *w = v->params + n->weight.offset, *shift = v->params + n->bias.offset;

    for (int u = 0; u < v->B * n->c * hw / count; u++) {
        const int at = layer ? u / hw * n->c * hw + u % hw : u * count;
        const int first = layer ? 0 : u % n->groups * each; /* channel */
        const double *x = v->out[n->in[0]] + at;
        double sum = 0, sq = 0, s1 = 0, s2 = 0;
        for (int k = 0; k < count; k++)
            sum += x[k * step];
        for (int k = 0; k < count; k++)
            sq += pow(x[k * step] - sum / count, 2);
        const double inv = 1 / sqrt(sq / count + (double)n->eps);
        for (int k = 0; k < count; k++) {
            const int c = first + k * step / hw;
            const double hat = (x[k * step] - sum / count) * inv, g = v->grad[i][at + k * step];
            if (!back)
                v->out[i][at + k * step] = hat * (double)w[c] + (double)shift[c];
            s1 += g * (double)w[c];
            s2 += g * (double)w[c] * hat;
            v->dparams[n->weight.offset + (size_t)c] += back ? g * hat : 0;
            v->dparams[n->bias.offset + (size_t)c] += back ? g : 0;
        }
        for (int k = 0; back && k < count; k++)
            v->grad[n->in[0]][at + k * step] +=
                inv * (v->grad[i][at + k * step] * (double)w[first + k * step / hw] - s1 / count -
                       (x[k * step] - sum / count) * inv * s2 / count);
    }
}

static void naive_pool(struct naive *v, int i, int back)
{
    const struct mc_node *n = &v->g->nodes[i], *in = &v->g->nodes[n->in[0]];
    for (int p = 0; p < v->B * n->c; p++)
        for (int h = 0; h < n->h; h++)
            for (int w = 0; w < n->w; w++) {
                int h0 = h * n->stride[0] - n->pad[0], h1 = h0 + n->kernel[0];
                int w0 = w * n->stride[1] - n->pad[1], w1 = w0 + n->kernel[1];
                if (n->op == MC_OP_ADAPTPOOL || n->op == MC_OP_GLOBALPOOL) {
                    h0 = (int)floor((double)h * in->h / n->h);
                    h1 = (int)ceil((double)(h + 1) * in->h / n->h);
                    w0 = (int)floor((double)w * in->w / n->w);
                    w1 = (int)ceil((double)(w + 1) * in->w / n->w);
                }
                const int at = (p * n->h + h) * n->w + w;
                int best = -1, count = 0;
                double sum = 0;
                for (int y = h0; y < h1; y++)
                    for (int z = w0; z < w1; z++) {
                        if (y < 0 || y >= in->h || z < 0 || z >= in->w)
                            continue;
                        const int from = (p * in->h + y) * in->w + z;
                        const double x = v->out[n->in[0]][from];
                        if (best < 0 || x > v->out[n->in[0]][best])
                            best = from;
                        sum += x;
                        count++;
                    }
                if (!back) {
                    v->out[i][at] = n->op == MC_OP_MAXPOOL ? v->out[n->in[0]][best] : sum / count;
                    continue;
                }
                if (n->op == MC_OP_MAXPOOL) {
                    v->grad[n->in[0]][best] += v->grad[i][at];
                    continue;
                }
                for (int y = h0; y < h1; y++)
                    for (int z = w0; z < w1; z++)
                        if (y >= 0 && y < in->h && z >= 0 && z < in->w)
                            v->grad[n->in[0]][(p * in->h + y) * in->w + z] +=
                                v->grad[i][at] / count;
            }
}

static void naive_join(struct naive *v, int i, int back) /* add, concat, flatten */
{
    const struct mc_node *n = &v->g->nodes[i];
    const size_t image = naive_image(n);
    if (n->op == MC_OP_ADD && !back)
        memset(v->out[i], 0, (size_t)v->B * image * sizeof(double));
    size_t at = 0;
    for (int k = 0; k < n->n_in; k++) {
        const size_t part = naive_image(&v->g->nodes[n->in[k]]);
        for (size_t b = 0; b < (size_t)v->B; b++)
            for (size_t q = 0; q < part; q++) {
                double *y = v->out[i] + b * image + at + q;
                const double x = v->out[n->in[k]][b * part + q];
                if (back)
                    v->grad[n->in[k]][b * part + q] += v->grad[i][b * image + at + q];
                else
                    *y = n->op == MC_OP_ADD ? *y + x : x;
            }
        if (n->op != MC_OP_ADD)
            at += part;
    }
}

static void naive_pad(struct naive *v, int i, int back)
{
    const struct mc_node *n = &v->g->nodes[i], *in = &v->g->nodes[n->in[0]];
    const int top = n->before[1], left = n->before[2];

    for (int k = 0; k < v->B * n->c * n->h * n->w; k++) {
        const int x = k % n->w - left, y = k / n->w % n->h - top;
        const int c = k / n->w / n->h % n->c - n->before[0], b = k / n->w / n->h / n->c;
        const int inside = c >= 0 && c < in->c && y >= 0 && y < in->h && x >= 0 && x < in->w;
        const int from = ((b * in->c + c) * in->h + y) * in->w + x;
        if (!back)
            v->out[i][k] = inside ? v->out[n->in[0]][from] : 0;
        else if (inside)
            v->grad[n->in[0]][from] += v->grad[i][k];
    }
}

static void naive_dropout(struct naive *v, int i, int back)
{
    const struct mc_node *n = &v->g->nodes[i];
    const size_t image = naive_image(n);
    for (size_t b = 0; b < (size_t)v->B; b++)
        for (size_t q = 0; q < image; q++) {
            double scale = 1;
            if (v->train_only && v->mode != MC_MODE_EVAL) {
                const struct mc_rng4 r =
                    mc_rng(v->ctl.seed, MC_RNG_DROPOUT, v->ctl.epoch, (uint32_t)v->samples[b],
                           ((uint32_t)i << 20) + (uint32_t)(q / 4));
                scale = mc_rng_unit(r.v[q % 4]) < 1 - n->drop ? 1 / (1 - (double)n->drop) : 0;
            }
            if (back)
                v->grad[n->in[0]][b * image + q] += scale * v->grad[i][b * image + q];
            else
                v->out[i][b * image + q] = scale * v->out[n->in[0]][b * image + q];
        }
}

static void naive_loss(struct naive *v, int i, int back)
{
    const struct mc_node *n = &v->g->nodes[i];
    const int C = v->g->nodes[n->in[0]].c;
    if (n->train_only && !v->train_only)
        return;
    for (int b = 0; b < v->valid; b++) {
        const double *x = v->out[n->in[0]] + b * C;
        double sum = 0;
        for (int c = 0; c < C; c++)
            sum += exp(x[c]);
        for (int c = 0; back && c < C; c++)
            v->grad[n->in[0]][b * C + c] +=
                (double)n->loss_weight / v->valid * (exp(x[c]) / sum - (c == v->labels[b] ? 1 : 0));
        if (back)
            continue;
        const double loss = log(sum) - x[v->labels[b]];
        v->objective += (double)n->loss_weight * loss;
        if (!n->train_only)
            v->loss[b] = loss;
    }
}

static void naive_node(struct naive *v, int i, int back)
{
    static void (*const functions[])(struct naive * v, int i,
                                     int back) = {[MC_OP_CONV] = naive_conv,
                                                  [MC_OP_LINEAR] = naive_linear,
                                                  [MC_OP_BATCHNORM] = naive_norm,
                                                  [MC_OP_RELU] = naive_relu,
                                                  [MC_OP_ADD] = naive_join,
                                                  [MC_OP_CONCAT] = naive_join,
                                                  [MC_OP_FLATTEN] = naive_join,
                                                  [MC_OP_MAXPOOL] = naive_pool,
                                                  [MC_OP_AVGPOOL] = naive_pool,
                                                  [MC_OP_ADAPTPOOL] = naive_pool,
                                                  [MC_OP_GLOBALPOOL] = naive_pool,
                                                  [MC_OP_DROPOUT] = naive_dropout,
                                                  [MC_OP_LOSS] = naive_loss,
                                                  [MC_OP_MUL] = naive_mul,
                                                  [MC_OP_SCALE] = naive_mul,
                                                  [MC_OP_LAYERNORM] = naive_units_norm,
                                                  [MC_OP_GROUPNORM] = naive_units_norm,
                                                  [MC_OP_PAD] = naive_pad,
#define NAIVE_ROW(NAME, ...) [MC_OP_##NAME] = naive_activation,
                                                  MC_EACH_ACTIVATION(NAIVE_ROW)};
    const size_t op = (size_t)v->g->nodes[i].op;

    if (op < sizeof functions / sizeof *functions && functions[op])
        functions[op](v, i, back);
}

/* pixels: (B,C,H,W) in [0,1]. v->grad[0] * 1/std is then the pixels' gradient. */
static inline void naive_run(struct naive *v, const double *pixels)
{
    const struct mc_node *n = &v->g->nodes[0];
    const size_t image = naive_image(n), hw = (size_t)(n->h * n->w);

    v->objective = 0;
    memset(v->dparams, 0, v->g->P * sizeof(double));
    for (int i = 0; i < v->g->n_nodes; i++)
        memset(v->grad[i], 0, (size_t)v->B * naive_image(&v->g->nodes[i]) * sizeof(double));
    for (size_t i = 0; i < (size_t)v->B * image; i++) {
        const size_t c = i % image / hw;
        v->out[0][i] = i / image >= (size_t)v->valid
                           ? 0
                           : (pixels[i] - (double)n->mean[c]) / (double)n->std[c];
    }
    for (int i = 1; i < v->g->n_nodes; i++)
        naive_node(v, i, 0);
    for (int i = v->g->n_nodes - 1; i > 0; i--)
        naive_node(v, i, 1);
}

#endif
