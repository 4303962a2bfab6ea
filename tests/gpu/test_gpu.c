/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA backend compared with the CPU's on the same inputs: whole networks' gradients, losses of
 * ten steps, attacks, projections. Also compared with itself: two runs, and captured steps, have
 * the same bytes. $MC_TEST_DEVICE (cuda) is the device; $MC_GPU_NETS lists the networks, separated
 * by spaces. Needs a device, or tests/emulation instead. */
#include "tests/gpu/pair.h"
#include "tests/unit/kernels/steps.h"

#include "libcommon/permutation/soft_permutation.h"

#define NETS                                                                                       \
    "mlp mlp:bn,64 tinyten resnet20 resnet32 resnet44 resnet56 resnet110 vgg vgg:bn googlenet"
#define MAX_NETS 16

enum { STEPS = 10 };
enum { REPEATED = N_RUNS, ALL_RUNS };

struct run {
    float *grad, *params; /* (P): the first batch's gradient; after STEPS */
    float *change;        /* (P): of the parameters in the last step */
    double loss[STEPS];   /* mean objective */
    double sums[MC_N_METRICS];
};

static size_t nets(char *words, size_t size, const char **list)
{
    const char *wish = getenv("MC_GPU_NETS");
    size_t n = 0;

    snprintf(words, size, "%s", wish ? wish : NETS);
    for (char *w = strtok(words, " "); w && n < MAX_NETS; w = strtok(NULL, " "))
        list[n++] = w;
    return n;
}

/* Huber's delta 1, so that no kink decides. */
static struct mc_graph *net(const char *name)
{
    struct mc_graph *g =
        net_of(name, (struct mc_net_spec){3, 32, 32, 10, {.5f, .4f, .45f}, {.25f, .3f, .2f}});
    mc_graph_huber(g, 1);
    return g;
}

/* The largest number of layers with weights in a row; whether there are max pools. */
static int layers_in_a_row(const struct mc_graph *g, int *pools)
{
    int *depth = room((size_t)g->n_nodes, sizeof *depth), deepest = 1;

    *pools = 0;
    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *n = &g->nodes[i];
        for (int k = 0; k < n->n_in; k++)
            depth[i] = depth[n->in[k]] > depth[i] ? depth[n->in[k]] : depth[i];
        depth[i] += n->op == MC_OP_CONV || n->op == MC_OP_LINEAR;
        deepest = depth[i] > deepest ? depth[i] : deepest;
        *pools |= n->op == MC_OP_MAXPOOL;
    }
    return deepest;
}

/* Training a deep network on batches of few images is chaotic: at a rate of .01, the losses of two
 * CPU runs with 2 and 7 threads differ by up to .26 after ten steps. A small rate keeps them
 * together. The last step has .01 in every network, and no loss after it. */
static float rate(const struct mc_graph *g)
{
    int pools;
    return layers_in_a_row(g, &pools) > 20 || pools ? 1e-8f : .01f;
}

static void record_loss(struct run *r, const struct steps *s, int i)
{
    double *now = r->sums, before[MC_N_METRICS];

    memcpy(before, now, sizeof before);
    fetch(s->sums, now, sizeof before);
    r->loss[i] = (now[MC_METRIC_OBJECTIVE] - before[MC_METRIC_OBJECTIVE]) /
                 (now[MC_METRIC_IMAGES] - before[MC_METRIC_IMAGES]);
}

/* Trains on full, short and augmented batches of uint8 pixels, by SGD with momentum and decay.
 * repeated: the device may capture the steps after the first, whose losses are not read. */
static void train(struct run *r, const char *name, int repeated)
{
    int32_t order[STEPS * B];
    float lrs[STEPS];
    struct mc_capture *saved = NULL;
    struct steps s;
    struct mc_graph *g = net(name);
    const float lr = rate(g);

    mc_graph_free(g);
    for (int i = 0; i < STEPS; i++) {
        lrs[i] = lr / (float)(1 + i / 4);
        for (int b = 0; b < B; b++)
            order[i * B + b] = b < (i % 3 == 2 ? 4 : B) ? (i + b * 5 + 2) % N : -1;
    }
    lrs[STEPS - 1] = .01f;
    open_steps(&s, net(name), STEPS, order, lrs, NULL);
    mc_graph_init(s.f.g, 3, s.f.params, s.f.stats);
    put_vectors(&s.f);
    const size_t bytes = s.f.g->P * sizeof(float);
    *r = (struct run){.grad = malloc(bytes), .params = malloc(bytes), .change = calloc(1, bytes)};
    assert_true(r->grad && r->params && r->change);
    for (int i = 0; i < STEPS && !(repeated && i); i++) {
        if (i == STEPS - 1)
            fetch(s.f.d_params, r->change, bytes);
        if (repeated)
            be->repeat(be, &saved, 1, step, &s); /* the first call runs directly */
        else
            step(&s);
        if (i == 0)
            fetch(s.f.d_grad, r->grad, bytes);
        record_loss(r, &s, i);
    }
    if (repeated)
        be->repeat(be, &saved, STEPS - 1, step, &s);
    fetch(s.sums, r->sums, sizeof r->sums);
    fetch(s.f.d_params, r->params, bytes);
    for (size_t i = 0; i < s.f.g->P; i++)
        r->change[i] = r->params[i] - r->change[i];
    be->capture_free(be, saved);
    teardown(&s.f);
}

static double distance(const float *a, const float *b, size_t n)
{
    double diff = 0, norm = 0;

    for (size_t i = 0; i < n; i++) {
        diff += pow((double)a[i] - (double)b[i], 2);
        norm += pow((double)b[i], 2);
    }
    return sqrt(diff) / sqrt(norm > 0 ? norm : 1);
}

/* The rounding error of a number on the device. Algorithms like Winograd's multiply float32's. */
static double rounding(void)
{
    return within(0) > 0 ? within(0) / 16 : 0x1p-23;
}

/* An H100's gradients have an error of .25 to .35 roundings times L^1.5, L being the number of
 * layers with weights in a row, in each precision and from mlp to resnet110; mlp:bn, .8. A max pool
 * picks another pixel if two are nearer than that: a share of them, so its root in norm. A wrong
 * gradient is off by 1 or more. */
static double gradient_bound(const struct mc_graph *g)
{
    int pools;
    const int deepest = layers_in_a_row(g, &pools);
    const double error = .3 * rounding() * pow(deepest, 1.5);
    return fmax(1e-3, fmin(.9, 3 * error + (pools ? 2 * sqrt(error) : 0)));
}

/* The last step's change also has the errors of nine steps before it: up to 1e-3 between two CPU
 * runs. A wrong rate, sign or momentum is off by .5 or more. */
static double step_bound(const struct mc_graph *g)
{
    return fmax(.1, gradient_bound(g));
}

/* Independent roundings add up to their root. The losses' factors are estimates. */
static double loss_bound(const struct mc_graph *g)
{
    int pools;
    return fmax(1e-3, 4 * sqrt(6. * layers_in_a_row(g, &pools)) * rounding());
}

/* The first gradient, each of ten losses and the last step agree to the bounds above; the second
 * run's parameters are equal. */
static void networks_train_as_on_cpu(void **state)
{
    char words[512];
    const char *list[MAX_NETS];
    const size_t n = nets(words, sizeof words, list);

    (void)state;
    assert_true(n > 0);
    size_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        struct run r[ALL_RUNS] = {{0}};
        struct mc_graph *g = net(list[i]);
        for (int k = CPU; k < ALL_RUNS; k++) {
            take_turn(k);
            train(&r[k], list[i], k == REPEATED);
            end_turn();
        }
        const double off = distance(r[CUDA].grad, r[CPU].grad, g->P);
        const double step_off = distance(r[CUDA].change, r[CPU].change, g->P);
        double worst = 0;
        for (int s = 0; s < STEPS; s++)
            worst = fmax(worst, fabs(r[CUDA].loss[s] - r[CPU].loss[s]));
        print_message("%s: gradient error %.1e (bound %.1e), step error %.1e (bound %.1e), "
                      "loss error %.1e (bound %.1e)\n",
                      list[i], off, gradient_bound(g), step_off, step_bound(g), worst,
                      loss_bound(g));
        /* one failure does not hide the others */
        const size_t bytes = g->P * sizeof(float);
        const int saved = !memcmp(r[CUDA].grad, r[AGAIN].grad, bytes) &&
                          !memcmp(r[CUDA].params, r[AGAIN].params, bytes) &&
                          !memcmp(r[CUDA].loss, r[AGAIN].loss, sizeof r[CUDA].loss);
        const int repeated = !memcmp(r[CUDA].params, r[REPEATED].params, bytes) &&
                             !memcmp(r[CUDA].sums, r[REPEATED].sums, sizeof r[CUDA].sums);
        if (!saved || !repeated)
            print_message("%s: other bytes %s\n", list[i], saved ? "when captured" : "again");
        bad += !saved || !repeated ||
               !(off <= gradient_bound(g) && step_off <= step_bound(g) && worst <= loss_bound(g));
        for (int k = CPU; k < ALL_RUNS; k++) {
            free(r[k].grad);
            free(r[k].params);
            free(r[k].change);
        }
        release(0);
        mc_graph_free(g);
    }
    assert_int_equal(bad, 0);
}

/* A start, three steps and the best of two restarts. */
static void attack(const struct mc_ball *ball, float *x, float *best_loss)
{
    struct fixture f;
    int32_t samples[B];
    float worst[B];

    setup(&f, small_net(1), 1);
    set_order(&f, B - 2, samples);
    const size_t bytes = B * f.image * sizeof(float);
    struct mc_buf *clean = buf(bytes, NULL), *dx = buf(bytes, NULL), *at = buf(bytes, NULL);
    struct mc_buf *best = buf(bytes, NULL), *loss = buf(sizeof worst, NULL);
    struct mc_plan *p = plan(f.g, (struct mc_plan_opts){.backward = 1, .input_grad = 1});
    for (int b = 0; b < B; b++)
        worst[b] = NAN;
    put(loss, 0, worst, sizeof worst);
    be->load(p, &f.source, f.d_ctl);
    be->pixels(p, &f.source, f.d_ctl, clean);
    be->copy(be, best, clean, bytes);
    for (uint32_t restart = 0; restart < 2; restart++) {
        be->attack_start(p, ball, restart, clean, at);
        for (int i = 0; i < 4; i++) {
            be->set_pixels(p, at);
            be->forward(p, MC_MODE_EVAL, f.d_params, f.d_stats, NULL, f.d_ctl);
            if (i == 3)
                break;
            be->backward(p, f.d_params, NULL);
            be->input_grad(p, dx);
            be->attack_step(p, ball, clean, dx, at);
        }
        be->attack_keep(p, 0, at, loss, best);
    }
    fetch(best, x, bytes);
    fetch(loss, best_loss, sizeof worst);
    teardown(&f);
}

/* To 1e-5 of a pixel in float32, otherwise to a fifth of a step. A sign's kink may move one in a
 * thousand pixels (more in less precision) by a step. */
static void attacks_match_cpu(void **state)
{
    static const struct mc_ball balls[] = {{MC_BALL_LINF, .03f, .01f, MC_RNG_ATTACK},
                                           {MC_BALL_L2, .5f, .2f, MC_RNG_ATTACK_MEASURE}};
    enum { PIXELS = B * 3 * 9 * 7 };
    float x[2][PIXELS], loss[2][B];

    (void)state;
    const float bound = within(0) > 0 ? 2e-3f : 1e-5f;
    const double deepest = fmax(1e-3, 4 * within(0)) * PIXELS;
    for (size_t k = 0; k < sizeof balls / sizeof *balls; k++) {
        int off = 0;
        for (int d = 0; d < 2; d++) {
            be = d ? cuda : cpu;
            attack(&balls[k], x[d], loss[d]);
        }
        for (int i = 0; i < PIXELS; i++)
            off += !(fabsf(x[0][i] - x[1][i]) <= bound);
        print_message("%d of %d pixels differ\n", off, PIXELS);
        assert_true(off <= deepest);
        for (int b = 0; b < B - 2; b++)
            assert_true((double)fabsf(loss[0][b] - loss[1][b]) <=
                        within(1e-3) * (double)(1 + loss[0][b]));
        for (int b = B - 2; b < B; b++)
            assert_true(isnan(loss[1][b]));
    }
}

/* The pixels' gradient of a pass to them alone does not depend on the loss scale of passes to
 * parameters; after such a pass it has that pass's scale. */
static void pixels_have_their_own_loss_scale(void **state)
{
    struct fixture f;
    int32_t samples[B];
    size_t n = 0;

    (void)state;
    be = cuda;
    setup(&f, small_net(1), 1);
    set_order(&f, B, samples);
    const size_t size = B * f.image;
    struct mc_plan *p = plan(f.g, (struct mc_plan_opts){.backward = 1, .input_grad = 1});
    struct mc_buf *dx = buf(size * sizeof(float), NULL), *at = be->plan_state(p, &n);
    float *got[3];
    for (int i = 0; i < 3; i++) {
        if (at && i)
            put(at, 0, (float[]){i == 1 ? 0x1p30f : 2048, 1999}, 2 * sizeof(float));
        forward(&f, p, MC_MODE_BATCH);
        be->backward(p, f.d_params, i == 2 ? f.d_grad : NULL);
        be->input_grad(p, dx);
        got[i] = host_copy(dx, size);
    }
    assert_memory_equal(got[0], got[1], size * sizeof(float));
    for (size_t k = 0; k < size; k++)
        assert_true((double)fabsf(got[0][k] - got[2][k]) <= within(1e-3) * .1);
    teardown(&f);
}

/* An overflow of float16 makes the loss NaN or infinite. */
static void overflow_shows_in_loss(void **state)
{
    enum mc_precision p;
    struct mc_error err = {0};
    struct fixture f;
    int32_t samples[B];
    double metrics[MC_N_METRICS] = {0};

    (void)state;
    ok(precision_tested(&p, &err), &err);
    be = cuda;
    setup(&f, small_net(1), 1);
    set_order(&f, B, samples);
    for (size_t i = 0; i < f.g->P; i++)
        f.params[i] *= 1e4f;
    put_vectors(&f);
    struct mc_plan *q = plan(f.g, (struct mc_plan_opts){.backward = 1});
    struct mc_buf *acc = buf(sizeof metrics, NULL);
    forward(&f, q, MC_MODE_EVAL);
    be->metrics(q, acc);
    fetch(acc, metrics, sizeof metrics);
    assert_int_equal(isfinite(metrics[MC_METRIC_LOSS]), p != MC_PRECISION_F16);
    teardown(&f);
}

/* f16's loss scale is halved if gradients overflow, without a step of parameters or momentum. It is
 * doubled after as many steps without overflow as in PyTorch. If a scale of 1 overflows, the
 * parameters become infinite or NaN, which ends a run. */
static void a_loss_scale_follows_overflows(void **state)
{
    enum { GROWTH = 2000, N_STEPS = 4 };
    static const float becomes[N_STEPS] = {0x1p29f, 0x1p28f, 512, 512};
    enum mc_precision p;
    struct mc_error err = {0};
    struct steps s;
    int32_t order[(N_STEPS + 2) * B];
    float lrs[N_STEPS + 2] = {.01f, .01f, .01f, .01f, .01f, .01f}, scale[2] = {0x1p30f, 7};
    size_t n = 1;

    (void)state;
    ok(precision_tested(&p, &err), &err);
    be = cuda;
    for (int i = 0; i < (N_STEPS + 2) * B; i++)
        order[i] = i % N;
    open_steps(&s, net("mlp:bn,16"), N_STEPS + 2, order, lrs, NULL);
    mc_graph_init(s.f.g, 3, s.f.params, s.f.stats);
    put_vectors(&s.f);
    struct mc_buf *at = be->plan_state(s.p, &n);
    assert_true(p == MC_PRECISION_F16 ? at && n == 2 : !at && !n);
    const size_t P = s.f.g->P;
    for (int i = 0; at && i < N_STEPS; i++) {
        float *before = host_copy(s.f.d_params, P), *m = host_copy(s.m, P);
        if (i == 0)
            put(at, 0, scale, sizeof scale);
        if (i == 2)
            put(at, 0, (float[]){256, GROWTH - 1}, sizeof scale);
        step(&s);
        float *after = host_copy(s.f.d_params, P), *grad = host_copy(s.f.d_grad, P);
        float *m_after = host_copy(s.m, P);
        fetch(at, scale, sizeof scale);
        assert_int_equal(memcmp(before, after, P * sizeof *before) != 0, i > 1);
        assert_int_equal(memcmp(m, m_after, P * sizeof *m) != 0, i > 1);
        for (size_t k = 0; k < P; k++)
            assert_int_equal(isfinite(grad[k]) != 0, i > 1);
        assert_true(scale[0] == becomes[i] && scale[1] == (i == 3));
    }
    /* a gradient that overflows at any scale */
    for (float factor = 2; at && factor >= 1; factor--) {
        float *params = host_copy(s.f.d_params, P);
        size_t bad = 0;
        params[0] = NAN;
        put(s.f.d_params, 0, params, P * sizeof *params);
        put(at, 0, (float[]){factor, 0}, sizeof scale);
        step(&s);
        params = host_copy(s.f.d_params, P);
        for (size_t k = 0; k < P; k++)
            bad += isfinite(params[k]) ? 0 : 1;
        assert_true(factor > 1 ? bad == 1 : bad == P);
        fetch(at, scale, sizeof scale);
        assert_true(scale[0] == 1);
    }
    teardown(&s.f);
}

/* Each group's matrix; all NaN if one entry is NaN. */
static void projections_match_cpu(void **state)
{
    struct mc_symmetry s = {0};
    struct mc_error err = {0};
    double residual[2];

    (void)state;
    if (is_slow() && within(0) > 0)
        skip(); /* the numbers are float32 in every precision */
    struct mc_graph *g = net("tinyten");
    ok(mc_symmetry_derive(&s, g, &err), &err);
    const size_t M = mc_soft_perm_layout(&s, NULL);
    float *begin = floats(M), *got[2];
    for (int bad = 0; bad < 2; bad++) {
        for (size_t i = 0; i < M; i++)
            begin[i] = unit(900, (uint32_t)i) - .3f;
        if (bad)
            begin[5] = NAN;
        for (int d = 0; d < 2; d++) {
            struct mc_soft_perm *a = NULL;
            be = d ? cuda : cpu;
            ok(be->soft_perm_new(be, g, &s, &a, &err), &err);
            struct mc_buf *p = buf(M * sizeof *begin, begin), *r = buf(sizeof *residual, NULL);
            be->project(a, p, 20, r);
            got[d] = host_copy(p, M);
            fetch(r, &residual[d], sizeof *residual);
            be->soft_perm_free(a);
        }
        if (bad)
            assert_true(isnan(residual[0]) && isnan(residual[1]));
        else
            assert_true(fabs(residual[0] - residual[1]) <= 1e-9);
        for (size_t i = 0; i < M; i++)
            assert_true(isnan(got[0][i]) ? isnan(got[1][i])
                                         : fabsf(got[0][i] - got[1][i]) <= 1e-6f);
    }
    release(0);
    mc_symmetry_release(&s);
    mc_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attacks_match_cpu),
        cmocka_unit_test(pixels_have_their_own_loss_scale),
        cmocka_unit_test(overflow_shows_in_loss),
        cmocka_unit_test(a_loss_scale_follows_overflows),
        cmocka_unit_test(projections_match_cpu),
        cmocka_unit_test(networks_train_as_on_cpu),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
