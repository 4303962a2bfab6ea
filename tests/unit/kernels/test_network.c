/* SPDX-License-Identifier: Apache-2.0
 *
 * Networks on the backend against plain float64 loops: every kind of node, forward and backward, in
 * all modes, with full and short batches. */
#include "kernels/roles.h"
#include "libcommon/permutation/permutation.h"
#include "tests/unit/kernels/device.h"
#include "tests/unit/kernels/naive.h"
#include "tests/unit/must.h"
#include "tests/unit/under.h"

/* Returns whether a precision below float32's may choose another class. */
static int narrow(const double *x, size_t classes, int best)
{
    double norm = 0;
    int others = 0;

    for (size_t c = 0; c < classes; c++)
        norm += x[c] * x[c];
    for (size_t c = 0; c < classes; c++)
        others += (int)c != best && x[c] >= x[best] - within(0) * sqrt(norm);
    return others > 0;
}

static void check_outputs(struct fixture *f, struct mc_plan *p, const struct naive *v)
{
    const size_t classes = (size_t)f->g->classes;
    const float *logits = output(p, MC_OUT_LOGITS, 0, B * classes);
    const float *loss = output(p, MC_OUT_LOSS, 0, B), *correct = output(p, MC_OUT_CORRECT, 0, B);
    double metrics[MC_N_METRICS] = {0}, right = 0, sum = 0, sq = 0;
    struct mc_buf *acc = buf(sizeof metrics, NULL);

    close_to("logits", f->g->net, logits, v->out[f->g->logits], (size_t)v->valid * classes,
             within(2e-5));
    close_to("loss", f->g->net, loss, v->loss, B, within(2e-5));
    for (int b = 0; b < B; b++) {
        const double *x = v->out[f->g->logits] + (size_t)b * classes;
        int best = 0;
        for (int c = 1; c < (int)classes; c++)
            best = x[c] > x[best] ? c : best;
        const int expected = b < v->valid && best == v->labels[b];
        assert_true(correct[b] == (float)expected || (b < v->valid && narrow(x, classes, best)));
        right += (double)correct[b];
        sum += v->loss[b];
        sq += v->loss[b] * v->loss[b];
    }
    be->metrics(p, acc);
    be->metrics(p, acc); /* they accumulate */
    fetch(acc, metrics, sizeof metrics);
    assert_true(metrics[MC_METRIC_IMAGES] == 2.0 * v->valid);
    assert_true(metrics[MC_METRIC_CORRECT] == 2 * right);
    assert_true(fabs(metrics[MC_METRIC_LOSS] - 2 * sum) < within(1e-4) * (1 + sum));
    assert_true(fabs(metrics[MC_METRIC_LOSS_SQ] - 2 * sq) < 2 * within(1e-4) * (1 + sq));
    assert_true(fabs(metrics[MC_METRIC_OBJECTIVE] - 2 * v->objective) <
                within(1e-4) * (1 + v->objective));
}

static void check_gradients(struct fixture *f, struct mc_plan *p, const struct naive *v,
                            struct mc_buf *d_acc, double tolerance)
{
    const struct mc_graph *g = f->g;
    float *grad = floats(g->P);
    double *expected = room(B * f->image, sizeof *expected);
    struct mc_buf *d_dx = buf(B * f->image * sizeof(float), NULL);
    const size_t hw = (size_t)(g->input[1] * g->input[2]);
    double in_tensors = 0, all = 0;

    memset(grad, 0x7f, g->P * sizeof(float)); /* overwritten, also in gaps */
    put(f->d_grad, 0, grad, g->P * sizeof(float));
    be->backward(p, f->d_params, f->d_grad);
    fetch(f->d_grad, grad, g->P * sizeof(float));
    for (size_t t = 0; t < g->n_params; t++) {
        const struct mc_param *q = &g->params[t];
        close_to("gradient", q->tensor.name, grad + q->offset, v->dparams + q->offset, q->count,
                 within(tolerance));
        for (size_t i = 0; i < q->count; i++)
            in_tensors += fabs((double)grad[q->offset + i]);
    }
    for (size_t i = 0; i < g->P; i++)
        all += fabs((double)grad[i]);
    assert_true(fabs(all - in_tensors) <= 1e-12 * in_tensors); /* 0 in the gaps */
    be->input_grad(p, d_dx);
    const float *dx = host_copy(d_dx, B * f->image);
    for (size_t i = 0; i < B * f->image; i++)
        expected[i] = v->grad[0][i] / (double)g->nodes[0].std[i % f->image / hw];
    close_to("gradient", "pixels", dx, expected, B * f->image, within(tolerance));
    for (size_t i = (size_t)v->valid * f->image; i < B * f->image; i++)
        assert_true(dx[i] == 0);
    /* The pixels' gradient alone. Forward runs again because backward overwrites its outputs. */
    be->forward(p, v->mode, f->d_params, f->d_stats, d_acc, f->d_ctl);
    be->backward(p, f->d_params, NULL);
    be->input_grad(p, d_dx);
    put(f->d_stats, 0, f->stats, (g->S + 1) * sizeof(float));
    assert_memory_equal(dx, host_copy(d_dx, B * f->image), B * f->image * sizeof(float));
}

static void check_statistics(struct fixture *f, const struct naive *v, const double *acc)
{
    const struct mc_graph *g = f->g;
    const float *stats = host_copy(f->d_stats, g->S + 1);

    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *n = &g->nodes[i];
        if (n->op != MC_OP_BATCHNORM)
            continue;
        for (size_t c = 0; c < (size_t)n->c; c++) {
            const size_t m = n->running_mean.offset + c, r = n->running_var.offset + c;
            const double count = (double)v->valid * n->h * n->w, w = (double)n->momentum;
            const double bm = v->batch_mean[m], bv = v->batch_var[m];
            if (v->mode ==
                MC_MODE_TRAIN) { /* bound for the batch's statistics, of which w is added */
                const double mean = ((double)stats[m] - (1 - w) * (double)f->stats[m]) / w;
                const double var = ((double)stats[r] - (1 - w) * (double)f->stats[r]) / w;
                const double expected = bv * count / (count - 1);
                if (!(fabs(mean - bm) <= within(1e-5) * (1 + fabs(bm))) ||
                    !(fabs(var - expected) <= within(1e-5) * (1 + expected)))
                    fail_msg("%s: channel %zu: %g %g for %g %g", n->name, c, mean, var, bm,
                             expected);
            } else {
                assert_true(stats[m] == f->stats[m] && stats[r] == f->stats[r]);
            }
            if (acc) {
                assert_true(fabs(acc[m] / count - bm) < within(1e-5) * (1 + fabs(bm)));
                assert_true(fabs(acc[g->S + m] / count - bv - bm * bm) <
                            within(1e-5) * (1 + bv + bm * bm));
            }
        }
    }
    put(f->d_stats, 0, f->stats, (g->S + 1) * sizeof(float));
}

/* Compares all modes, with full and short batches, with the reference. */
static void check_network(struct mc_graph *g, int bytes, int train_only, double tolerance)
{
    struct fixture f;
    struct naive v;
    const int valid[] = {B, 4};
    int32_t samples[B], labels[B];

    setup(&f, g, bytes);
    naive_init(&v, g, B);
    double *acc = room(MC_REESTIMATE_SIZE(g->S), sizeof *acc);
    struct mc_plan *p =
        plan(g, (struct mc_plan_opts){.backward = 1, .input_grad = 1, .train_only = train_only});
    struct mc_plan *q = plan(g, (struct mc_plan_opts){.train_only = train_only});
    for (int s = is_slow(); s < 2; s++) /* the short batch tests all that the full one does */
        for (enum mc_mode mode = MC_MODE_TRAIN; mode <= MC_MODE_EVAL; mode++) {
            struct mc_buf *d_acc = buf(MC_REESTIMATE_SIZE(g->S) * sizeof *acc, NULL);
            set_order(&f, valid[s], samples);
            for (int b = 0; b < valid[s]; b++)
                labels[b] = f.labels[samples[b]];
            v.valid = valid[s];
            v.mode = mode;
            v.ctl = (struct mc_ctl){.seed = 5, .epoch = 3, .row = 1};
            v.samples = samples;
            v.labels = labels;
            v.params = f.params;
            v.stats = f.stats;
            v.train_only = train_only;
            memset(v.loss, 0, B * sizeof(double));
            naive_run(&v, pixels_of(&f, samples, valid[s]));
            be->load(p, &f.source, f.d_ctl);
            be->forward(p, mode, f.d_params, f.d_stats, d_acc, f.d_ctl);
            fetch(d_acc, acc, MC_REESTIMATE_SIZE(g->S) * sizeof *acc);
            check_outputs(&f, p, &v);
            check_statistics(&f, &v, mode == MC_MODE_REESTIMATE ? acc : NULL);
            if (mode == MC_MODE_REESTIMATE)
                assert_true(acc[2 * g->S] == valid[s]);
            check_gradients(&f, p, &v, d_acc, tolerance);
            /* a plan without backward, twice from one load */
            be->load(q, &f.source, f.d_ctl);
            for (int twice = 0; twice < 2; twice++) {
                be->forward(q, mode == MC_MODE_TRAIN ? MC_MODE_BATCH : mode, f.d_params, f.d_stats,
                            d_acc, f.d_ctl);
                if (mode != MC_MODE_TRAIN)
                    check_outputs(&f, q, &v);
            }
        }
    naive_release(&v);
    teardown(&f);
}

static void convolutions_and_batch_norm(void **state)
{
    (void)state;
    check_network(small_net(0), 1, 0, 2e-5);
    check_network(small_net(1), 0, 0, 2e-5);
}

static void layers_of_an_mlp(void **state)
{
    (void)state;
    check_network(mlp("mlp:24,17"), 1, 0, 2e-5);
    check_network(mlp("mlp:bn,24,17"), 0, 0, 2e-5);
}

/* Residual blocks, nodes used several times, nodes that do not follow a batch norm. */
static struct mc_graph *residual_net(void)
{
    struct mc_graph *g = mc_graph_new("residual", 3, 8, 8, 4, MEAN, STD);
    const int stem = unit_of(g, 0, 12, (struct mc_conv_opts){.kernel = 3, .pad = 1});
    int x = unit_of(g, stem, 16, (struct mc_conv_opts){.kernel = 3, .pad = 1, .stride = 2});
    x = mc_graph_conv(g, NULL, x, 16, (struct mc_conv_opts){.kernel = 3, .pad = 1});
    x = mc_graph_batchnorm(g, NULL, x, 1e-5f);
    int skip = mc_graph_conv(g, NULL, stem, 16, (struct mc_conv_opts){.kernel = 1, .stride = 2});
    skip = mc_graph_batchnorm(g, NULL, skip, 1e-5f);
    x = mc_graph_add(g, NULL, (int[]){x, skip}, 2);
    const int block = mc_graph_relu(g, NULL, x);
    x = mc_graph_conv(g, NULL, block, 16, (struct mc_conv_opts){.kernel = 3, .pad = 1, .bias = 1});
    x = mc_graph_add(g, NULL, (int[]){x, block, block}, 3);
    x = mc_graph_relu(g, NULL, x);
    x = mc_graph_conv(g, NULL, x, 8,
                      (struct mc_conv_opts){.kernel = 3, .pad = 1, .groups = 2, .bias = 1});
    x = mc_graph_relu(g, NULL, x);
    x = mc_graph_flatten(g, NULL, x);
    x = mc_graph_linear(g, NULL, x, 4, 0, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, NULL, x, 1, 0);
    return finish(g, 0);
}

static void residual_streams(void **state)
{
    (void)state;
    check_network(residual_net(), 0, 0, 2e-5);
}

/* Branches, every pooling, dropout, an auxiliary head, pixels that feed more than convolutions. If
 * rounding would choose the maximum pixel (test_gpu tests that alone), average pooling. */
static struct mc_graph *branching_net(void)
{
    const enum mc_op pool = within(0) > 0 ? MC_OP_AVGPOOL : MC_OP_MAXPOOL;
    struct mc_graph *g = mc_graph_new("branching", 3, 10, 11, 5, MEAN, STD);
    const int pooled = mc_graph_pool(g, NULL, MC_OP_AVGPOOL, 0, 3, 1, 1, 0);
    const int a = unit_of(g, pooled, 16, (struct mc_conv_opts){.kernel = 3, .pad = 1});
    const int b = unit_of(g, 0, 11, (struct mc_conv_opts){.kernel = 1});
    const int c = mc_graph_pool(g, NULL, pool, a, 3, 1, 1, 0);
    int x = mc_graph_concat(g, NULL, (int[]){a, c, b, a}, 4);
    const int d = mc_graph_pool(g, NULL, pool, x, 3, 2, 0, 1);
    int aux = mc_graph_adaptpool(g, NULL, d, 3, 4);
    aux = mc_graph_flatten(g, NULL, aux);
    aux = mc_graph_linear(g, NULL, aux, 20, 1, MC_INIT_ZERO, MC_INIT_ZERO);
    aux = mc_graph_relu(g, NULL, aux);
    head(g, mc_graph_dropout(g, NULL, aux, .6f), .3f, 1);
    x = unit_of(g, d, 19, (struct mc_conv_opts){.kernel = 3, .pad = 1});
    x = mc_graph_pool(g, NULL, MC_OP_AVGPOOL, x, 2, 2, 0, 1);
    x = mc_graph_dropout(g, NULL, x, .25f);
    head(g, mc_graph_globalpool(g, NULL, x), 1, 0);
    return finish(g, 0);
}

static void branches_pools_and_heads(void **state)
{
    (void)state;
    check_network(branching_net(), 0, 1, 2e-5);
    check_network(branching_net(), 1, 0, 2e-5);
}

/* An inverted residual with squeeze-and-excitation, products of whole activations, activations that
 * are not 0 at 0 before nodes that read every lane, and pixels that feed a product. If rounding
 * would choose a side of a kink, activations without kinks. */
static struct mc_graph *gated_net(void)
{
    const int smooth = within(0) > 0;
    const enum mc_op hardswish = smooth ? MC_OP_SILU : MC_OP_HARDSWISH;
    const enum mc_op relu6 = smooth ? MC_OP_GELU : MC_OP_RELU6;
    const enum mc_op hardsigmoid = smooth ? MC_OP_SIGMOID : MC_OP_HARDSIGMOID;
    struct mc_graph *g = mc_graph_new("gated", 3, 9, 8, 5, MEAN, STD);
    const int stem =
        mc_graph_plain(g, NULL, hardswish,
                       mc_graph_conv(g, NULL, mc_graph_mul(g, NULL, 0, 0), 11,
                                     (struct mc_conv_opts){.kernel = 3, .pad = 1, .bias = 1}));
    int x = mc_graph_conv(g, NULL, stem, 27, (struct mc_conv_opts){0});
    x = mc_graph_plain(g, NULL, relu6, mc_graph_batchnorm(g, NULL, x, 1e-3f));
    x = mc_graph_conv(
        g, NULL, x, 27,
        (struct mc_conv_opts){.kernel = 3, .pad = 1, .stride = 2, .groups = 27, .bias = 1});
    x = mc_graph_plain(g, NULL, MC_OP_SILU, mc_graph_batchnorm(g, NULL, x, 1e-3f));
    int y = mc_graph_globalpool(g, NULL, x);
    y = mc_graph_conv(g, NULL, y, 5, (struct mc_conv_opts){.bias = 1});
    y = mc_graph_plain(g, NULL, MC_OP_SILU, y);
    y = mc_graph_conv(g, NULL, y, 27, (struct mc_conv_opts){.bias = 1});
    x = mc_graph_mul(g, NULL, x, mc_graph_plain(g, NULL, MC_OP_SIGMOID, y));
    y = mc_graph_plain(g, NULL, hardsigmoid, x);
    x = mc_graph_mul(g, NULL, mc_graph_mul(g, NULL, y, x), y);
    x = mc_graph_conv(g, NULL, x, 18, (struct mc_conv_opts){.kernel = 3, .groups = 9, .bias = 1});
    x = mc_graph_plain(g, NULL, MC_OP_SIGMOID, x);
    head(g, mc_graph_globalpool(g, NULL, mc_graph_concat(g, NULL, &x, 1)), 1, 0);
    return finish(g, 0);
}

/* Groups of four, of eight (which do not fill a block of sixteen), of a whole block; strided
 * depthwise windows of five and seven; pixels in groups. */
static struct mc_graph *grouped_net(void)
{
    static const struct {
        int out, kernel, stride, pad, groups;
    } layers[] = {{6, 3, 1, 1, 3},  {32, 3, 1, 1, 1},  {32, 3, 1, 1, 8},  {24, 3, 1, 0, 1},
                  {24, 3, 1, 1, 3}, {24, 5, 1, 2, 24}, {24, 7, 2, 3, 24}, {32, 1, 1, 0, 1},
                  {48, 3, 1, 1, 2}, {48, 5, 2, 1, 48}};
    struct mc_graph *g = mc_graph_new("grouped", 3, 11, 13, 5, MEAN, STD);
    int x = 0;

    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        x = mc_graph_conv(g, NULL, x, layers[i].out,
                          (struct mc_conv_opts){.kernel = layers[i].kernel,
                                                .stride = layers[i].stride,
                                                .pad = layers[i].pad,
                                                .groups = layers[i].groups,
                                                .bias = 1});
        x = i % 2 ? mc_graph_plain(g, NULL, MC_OP_SILU, x) : x;
    }
    head(g, mc_graph_globalpool(g, NULL, x), 1, 0);
    return finish(g, 0);
}

static void convolutions_in_groups(void **state)
{
    (void)state;
    check_network(grouped_net(), 0, 0, 2e-5);
    check_network(grouped_net(), 1, 1, 2e-5);
}

static void gates_and_activations(void **state)
{
    (void)state;
    check_network(gated_net(), 0, 0, 2e-5);
    check_network(gated_net(), 1, 1, 2e-5);
}

/* Two ConvNeXt blocks with channels that fill no block, a multiplier of two, a layer norm of one
 * pixel. */
static struct mc_graph *layered_net(void)
{
    struct mc_graph *g = mc_graph_new("layered", 3, 8, 8, 5, MEAN, STD);
    int x = mc_graph_conv(g, NULL, 0, 21, (struct mc_conv_opts){.kernel = 2, .stride = 2});
    x = mc_graph_layernorm(g, NULL, x, 1e-6f);
    for (int i = 0; i < 2; i++) {
        int y = mc_graph_conv(
            g, NULL, x, 42, (struct mc_conv_opts){.kernel = 7, .pad = 3, .groups = 21, .bias = 1});
        y = mc_graph_layernorm(g, NULL, y, 1e-3f);
        y = mc_graph_conv(g, NULL, y, 50, (struct mc_conv_opts){.bias = 1});
        y = mc_graph_plain(g, NULL, MC_OP_GELU, y);
        y = mc_graph_conv(g, NULL, y, 21, (struct mc_conv_opts){.bias = 1});
        x = mc_graph_add(g, NULL, (int[]){x, mc_graph_plain(g, NULL, MC_OP_SCALE, y)}, 2);
    }
    x = mc_graph_layernorm(g, NULL, mc_graph_globalpool(g, NULL, x), 1e-6f);
    head(g, x, 1, 0);
    return finish(g, 0);
}

/* A slope of LeakyReLU; near 1 in a precision below float32's, which may change the sign of an
 * input. */
static float slope(float exact)
{
    return within(0) > 0 ? .9f : exact;
}

/* Zero-padded shortcuts of subsampled channels, as in ResNets with option A: channels that fill no
 * block, uneven sides, a pad of the pixels, and a pad whose input has other users. */
static struct mc_graph *padded_net(void)
{
    struct mc_graph *g = mc_graph_new("padded", 3, 9, 10, 5, MEAN, STD);
    const struct mc_conv_opts three = {.kernel = 3, .pad = 1, .bias = 1};
    int x = mc_graph_pad(g, NULL, 0, (const int[]){2, 0, 1}, (const int[]){0, 3, 2});
    x = mc_graph_plain(g, NULL, MC_OP_TANH, mc_graph_conv(g, NULL, x, 7, three));
    const int first = x;
    for (int i = 0; i < 2; i++) {
        int y = mc_graph_conv(g, NULL, x, 19,
                              (struct mc_conv_opts){.kernel = 3, .pad = 1, .stride = 2});
        y = mc_graph_conv(g, NULL, mc_graph_activation(g, NULL, MC_OP_LEAKYRELU, y, slope(.2f)),
                          3 * g->nodes[x].c, three);
        const int half = mc_graph_pool(g, NULL, MC_OP_AVGPOOL, x, 1, 2, 0, 0), c = g->nodes[x].c;
        const int wide =
            mc_graph_pad(g, NULL, half, (const int[]){c, 0, 0}, (const int[]){c, 0, 0});
        x = mc_graph_activation(g, NULL, MC_OP_LEAKYRELU,
                                mc_graph_add(g, NULL, (int[]){wide, y}, 2), slope(i ? -.5f : .01f));
    }
    const int all[] = {x, mc_graph_pool(g, NULL, MC_OP_AVGPOOL, first, 4, 4, 0, 1)};
    x = mc_graph_concat(g, NULL, all, 2);
    head(g, mc_graph_globalpool(g, NULL, mc_graph_conv(g, NULL, x, 9, three)), 1, 0);
    return finish(g, 0);
}

static void pads_leaky_relus_and_tanh(void **state)
{
    /* seven layers round more often than within() allows */
    const double tolerance = within(0) > 0 ? .02 : 2e-5;

    (void)state;
    check_network(padded_net(), 0, 0, tolerance);
    check_network(padded_net(), 1, 1, tolerance);
}

/* Group norms of blocks that share a vector or span several, of single channels and of all; ELU. */
static struct mc_graph *group_normed_net(void)
{
    const float alpha = within(0) > 0 ? 1 : .7f; /* otherwise its slope jumps at 0 */
    struct mc_graph *g = mc_graph_new("group-normed", 3, 9, 8, 5, MEAN, STD);
    const struct mc_conv_opts three = {.kernel = 3, .pad = 1, .bias = 1};
    int x = mc_graph_groupnorm(g, NULL, mc_graph_conv(g, NULL, 0, 12, three), 3, 1e-3f);
    x = mc_graph_activation(g, NULL, MC_OP_ELU, x, alpha);
    int y = mc_graph_groupnorm(g, NULL, mc_graph_conv(g, NULL, x, 50, three), 2, 1e-3f);
    y = mc_graph_activation(g, NULL, MC_OP_ELU, y, alpha);
    y = mc_graph_groupnorm(g, NULL, mc_graph_conv(g, NULL, y, 12, three), 12, 1e-3f);
    x = mc_graph_add(g, NULL, (int[]){x, y}, 2);
    x = mc_graph_conv(g, NULL, mc_graph_groupnorm(g, NULL, x, 1, 1e-3f), 7, three);
    head(g, mc_graph_globalpool(g, NULL, mc_graph_activation(g, NULL, MC_OP_ELU, x, alpha)), 1, 0);
    return finish(g, 0);
}

static void group_norms_and_elu(void **state)
{
    (void)state;
    check_network(group_normed_net(), 0, 0, 2e-5);
    check_network(group_normed_net(), 1, 1, 2e-5);
}

static void layer_norms_and_scales(void **state)
{
    struct mc_graph *g = layered_net();
    struct mc_role *roles = mc_roles_new(g, &(struct mc_plan_opts){.backward = 1, .input_grad = 1});
    int additions = 0, lent = 0;

    (void)state;
    assert_non_null(roles);
    for (int i = 0; i < g->n_nodes; i++) {
        additions += g->nodes[i].op == MC_OP_ADD;
        lent += roles[i].shares >= 0 && g->nodes[roles[i].shares].op == MC_OP_ADD;
    }
    assert_true(additions == 2 && lent == 2);
    free(roles);
    mc_graph_free(g);
    check_network(layered_net(), 0, 0, 2e-5);
    check_network(layered_net(), 1, 0, 2e-5);
}

static float *gradient_of_plan(struct fixture *f, struct mc_plan_opts o)
{
    o.backward = 1;
    struct mc_plan *p = plan(f->g, o);

    forward(f, p, MC_MODE_BATCH);
    be->backward(p, f->d_params, f->d_grad);
    float *grad = floats(f->g->P);
    fetch(f->d_grad, grad, f->g->P * sizeof(float));
    return grad;
}

/* An addition that no loss depends on has no gradient, but is computed if it is tapped. */
static void addition_outside_the_loss(void **state)
{
    struct mc_graph *g = mc_graph_new("untrained", 3, 8, 8, 5, MEAN, STD);
    const int x = mc_graph_conv(g, NULL, 0, 8, (struct mc_conv_opts){.kernel = 3, .pad = 1});
    const int y = mc_graph_conv(g, NULL, x, 8, (struct mc_conv_opts){.kernel = 3, .pad = 1});
    struct fixture f;

    (void)state;
    head(g, mc_graph_globalpool(g, NULL, x), 1, 0);
    const int sum = mc_graph_add(g, NULL, (int[]){x, y}, 2);
    head(g, mc_graph_globalpool(g, NULL, sum), .3f, 1);
    setup(&f, finish(g, 0), 0);
    set_order(&f, B, (int32_t[B]){0});
    const struct mc_tap_request tap = {.node = sum, .count = 8};
    assert_memory_equal(gradient_of_plan(&f, (struct mc_plan_opts){.taps = &tap, .n_taps = 1}),
                        gradient_of_plan(&f, (struct mc_plan_opts){0}), f.g->P * sizeof(float));
    teardown(&f);
}

/* A network with an operation's channels in another order computes the same: its row's axis is right,
 * and so are its tensors' axes. */
static void check_symmetry(struct mc_graph *g)
{
    const size_t n = B * (size_t)g->classes;
    struct mc_symmetry s = {0};
    struct mc_perm random = {0};
    struct fixture f;

    setup(&f, g, 0);
    float *params = floats(g->P), *stats = floats(g->S + 1);
    double *before = room(n, sizeof *before);
    struct mc_plan *p = plan(g, (struct mc_plan_opts){0});
    forward(&f, p, MC_MODE_EVAL);
    const float *logits = output(p, MC_OUT_LOGITS, 0, n);
    for (size_t i = 0; i < n; i++)
        before[i] = (double)logits[i];
    must(mc_symmetry_derive(&s, g, &why));
    must(mc_perm_init(&random, &s, &why));
    mc_perm_random(&random, 3);
    assert_true(s.n_groups > 1 && mc_perm_moved(&random, 0) && mc_perm_moved(&random, 1));
    must(mc_perm_apply(&random, &s, g, f.params, f.stats, params, stats, &why));
    memcpy(f.params, params, g->P * sizeof *params);
    memcpy(f.stats, stats, g->S * sizeof *stats);
    put_vectors(&f);
    forward(&f, p, MC_MODE_EVAL);
    close_to("logits after a permutation", g->net, output(p, MC_OUT_LOGITS, 0, n), before, n,
             within(2e-5));
    mc_perm_release(&random);
    mc_symmetry_release(&s);
    teardown(&f);
}

static void permuted_networks_compute_the_same(void **state)
{
    (void)state;
    check_symmetry(branching_net());
    check_symmetry(gated_net());
    check_symmetry(grouped_net());
    check_symmetry(layered_net());
    check_symmetry(padded_net());
    check_symmetry(group_normed_net());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_and_batch_norm),
        cmocka_unit_test(layers_of_an_mlp),
        cmocka_unit_test(residual_streams),
        cmocka_unit_test(branches_pools_and_heads),
        cmocka_unit_test(convolutions_in_groups),
        cmocka_unit_test(gates_and_activations),
        cmocka_unit_test(layer_norms_and_scales),
        cmocka_unit_test(pads_leaky_relus_and_tanh),
        cmocka_unit_test(group_norms_and_elu),
        cmocka_unit_test(permuted_networks_compute_the_same),
        cmocka_unit_test(addition_outside_the_loss),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
