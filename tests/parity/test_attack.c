/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares attacks on tinyten, batch 16, with PyTorch (golden file: make_attack_golden.py): in both
 * norms, from the image and from another start, with given statistics and with the batch's. With
 * Huber's delta = 1, the images after one step and the losses are compared with float64; with the
 * plain ReLU, the losses are compared with float32. */
#include "libcommon/base/rng.h"
#include "tests/parity/gradients.h"
#include "tools/attack/attack.h"

enum { B = 16, IMAGE = 3072, FLOATS = B * IMAGE, STRIDE = 13, STEPS = 10, SEED = 1 };
enum { STARTS = 997, LABELS = 998, IMAGES = 999 };

static const struct mc_ball balls[] = {{MC_BALL_LINF, 8.f / 255, 2.f / 255, MC_RNG_ATTACK},
                                       {MC_BALL_L2, .5f, .125f, MC_RNG_ATTACK}};

struct scene {
    struct world w;
    struct mc_source source;
    struct mc_buf *clean, *start, *x, *given, *loss;
    float got[FLOATS];
};

static void open_scene(struct scene *s, float delta)
{
    struct world *w = &s->w;
    struct mc_graph *g = net("tinyten", 10);
    int32_t labels[B];

    mc_graph_huber(g, delta);
    open_world(w, g, B);
    fill(w, w->point, SEED, by_number);
    for (size_t t = 0; t < g->n_stats; t++)
        memcpy(w->host + g->stats[t].offset,
               find("given", g->stats[t].tensor.name, g->stats[t].count),
               g->stats[t].count * sizeof(float));
    s->given = buf(g->S * sizeof(float), w->host);
    for (size_t i = 0; i < FLOATS; i++)
        s->got[i] = unit(SEED * 1000 + IMAGES, i);
    for (size_t i = 0; i < B; i++)
        labels[i] = (int32_t)(unit(SEED * 1000 + LABELS, i) * 10);
    put(w->images, 0, s->got, sizeof s->got);
    put(w->labels, 0, labels, sizeof labels);
    s->clean = buf(sizeof s->got, s->got);
    s->start = buf(sizeof s->got, NULL);
    s->x = buf(sizeof s->got, NULL);
    s->loss = buf(B * sizeof(float), NULL);
    s->source = (struct mc_source){
        .images = w->images, .pixels = MC_F32, .labels = w->labels, .order = w->order};
}

/* The other start, at most `reach` from the image. */
static void put_start(struct scene *s, float reach)
{
    for (size_t i = 0; i < FLOATS; i++) {
        const float away = 2 * unit(SEED * 1000 + STARTS, i) - 1;
        const float x = unit(SEED * 1000 + IMAGES, i) + reach * away;
        s->got[i] = x < 0 ? 0 : x > 1 ? 1 : x;
    }
    put(s->start, 0, s->got, sizeof s->got);
}

static double mean_loss(struct scene *s, enum mc_mode mode, const struct mc_buf *x)
{
    struct world *w = &s->w;
    double sum = 0;

    be->set_pixels(w->plan, x);
    be->forward(w->plan, mode, w->point, s->given, NULL, w->ctl);
    be->output(w->plan, MC_OUT_LOSS, 0, s->loss);
    fetch(s->loss, s->got, B * sizeof(float));
    for (size_t i = 0; i < B; i++)
        sum += (double)s->got[i];
    return sum / B;
}

/* The fraction of the sampled pixels of s->x with an error above 1e-5. */
static double share_off(struct scene *s, const char *group)
{
    const size_t m = (FLOATS + STRIDE - 1) / STRIDE;
    const float *want = find(group, "x", m);
    size_t off = 0;

    fetch(s->x, s->got, FLOATS * sizeof(float));
    for (size_t i = 0; i < m; i++)
        off += !(fabsf(s->got[i * STRIDE] - want[i]) <= 1e-5f);
    return (double)off / (double)m;
}

/* Attacks from x with one step, then with up to ten. */
static void attack_from(struct scene *s, const struct mc_ball *ball, enum mc_mode mode,
                        const char *group, int look)
{
    const double *want = find(group, "losses", 3);
    struct world *w = &s->w;
    double off = 0, loss[3] = {mean_loss(s, mode, s->x)};

    for (int step = 0; step < STEPS; step++) {
        be->backward(w->plan, w->point, NULL);
        be->input_grad(w->plan, w->dx);
        be->attack_step(w->plan, ball, s->clean, w->dx, s->x);
        if (!step && look)
            off = share_off(s, group);
        loss[step ? 2 : 1] = mean_loss(s, mode, s->x);
    }
    if (look)
        print_message("%s: %.3g%% of x off\n", group, 100 * off);
    print_message("%s: losses off by %.1e %.1e %.1e\n", group, loss[0] / want[0] - 1,
                  loss[1] / want[1] - 1, loss[2] / want[2] - 1);
    assert_true(off <= 1e-3);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(loss[i] / want[i] - 1) <= (i ? .01 : 1e-5));
    assert_true(want[2] > 1.05 * want[0]);
}

/* Tests mc_attack_run, from the image. */
static void run_attack(struct scene *s, const struct mc_ball *ball, enum mc_mode mode,
                       const char *group)
{
    const double *want = find(group, "losses", 3);
    struct world *w = &s->w;

    for (uint64_t steps = 1; steps <= STEPS; steps += STEPS - 1) {
        const struct mc_attack_options o = {.norm = ball->norm,
                                            .eps = (double)ball->eps,
                                            .step = (double)ball->step,
                                            .steps = steps,
                                            .restarts = 1,
                                            .clean_start = 1};
        struct mc_attack a;
        struct mc_error err = {0};
        ok(mc_attack_open(&a, &o, MC_RNG_ATTACK, be, w->g, B, &err), &err);
        be->load(w->plan, &s->source, w->ctl);
        mc_attack_run(&a, w->plan, &s->source, w->ctl, mode, w->point, s->given);
        be->copy(be, s->x, a.examples, sizeof s->got);
        if (steps == 1)
            assert_true(share_off(s, group) <= 1e-3);
        const double loss = mean_loss(s, mode, s->x);
        assert_true(fabs(loss / want[steps == 1 ? 1 : 2] - 1) <= .01);
        mc_attack_release(&a);
    }
}

static void attacks(const char *kind, float delta)
{
    struct scene *s = calloc(1, sizeof *s);

    assert_non_null(s);
    open_scene(s, delta);
    for (int way = 0; way < 8; way++) {
        const int l2 = way & 1, random = way & 2, batch = way & 4;
        const enum mc_mode mode = batch ? MC_MODE_BATCH : MC_MODE_EVAL;
        char group[64];
        snprintf(group, sizeof group, "%s/%s/%s/%s", kind, l2 ? "l2" : "linf",
                 random ? "random" : "clean", batch ? "batch" : "given");
        put_start(s, l2 ? 1.f / 128 : 8.f / 255);
        be->copy(be, s->x, random ? s->start : s->clean, sizeof s->got);
        be->load(s->w.plan, &s->source, s->w.ctl);
        attack_from(s, &balls[l2], mode, group, delta > 0);
        if (!random && delta > 0)
            run_attack(s, &balls[l2], mode, group);
    }
    close_world(&s->w);
    free(s);
}

static void with_huber(void **state)
{
    (void)state;
    attacks("huber", 1);
}

static void with_relu(void **state)
{
    (void)state;
    attacks("relu", 0);
}

static int start_with_golden(void **state)
{
    start(state);
    read_golden("attack_golden.mcz");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_huber),
        cmocka_unit_test(with_relu),
    };
    return cmocka_run_group_tests(tests, start_with_golden, stop);
}
