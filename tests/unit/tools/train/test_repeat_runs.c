/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs of the training loop with steps repeated by the device, compared byte by byte with the same
 * steps issued one by one: a network, a curve, under attack, proximal alternating minimisation, and
 * resumed from a checkpoint. */
#include "tests/unit/tools/pam/pam.h"

enum { EPOCHS = 3, BATCH = 4 }; /* 18 steps per epoch; the last batch is short */

static void (*repeat)(struct mc_backend *be, struct mc_capture **capture, size_t times,
                      void (*work)(void *arg), void *arg);
static size_t launch_steps;

static void one_by_one(struct mc_backend *b, struct mc_capture **capture, size_t times,
                       void (*work)(void *arg), void *arg)
{
    (void)b;
    (void)capture;
    for (size_t i = 0; i < times; i++)
        work(arg);
}

static void set_repeat(int directly)
{
    be->repeat = directly ? one_by_one : repeat;
    be->launch_steps = directly ? 1 : launch_steps;
}

/* k 1: a network; 3: a curve. */
struct job {
    const char *net;
    size_t k;
    const struct mc_attack_options *attack;
    const char *checkpoint;
    uint64_t stop_after;
    int resume;
};

struct trained {
    float *x; /* parameters and statistics, or the inner point */
    size_t n;
    struct mc_train_epoch epochs[EPOCHS];
    size_t n_epochs;
};

static void record_result(void *arg, const struct mc_train_epoch *e)
{
    struct trained *t = arg;

    assert_true(t->n_epochs < EPOCHS);
    t->epochs[t->n_epochs] = *e;
    t->epochs[t->n_epochs++].seconds = 0;
}

static struct trained train(const struct job *j, int directly)
{
    const struct mc_train_options o = {.epochs = EPOCHS,
                                       .batch = BATCH,
                                       .lr = .05,
                                       .momentum = .9,
                                       .decay = .01,
                                       .nesterov = 1,
                                       .schedule = MC_SCHEDULE_COSINE,
                                       .seed = 3,
                                       .augment = 1,
                                       .attack = j->attack,
                                       .checkpoint = j->checkpoint,
                                       .checkpoint_every = 1,
                                       .stop_after = j->stop_after,
                                       .resume = j->resume};
    struct trained t = {.n_epochs = 0};
    struct mc_weights w = {0};
    struct mc_curve c = {0};
    struct mc_curve_objective l;
    struct mc_graph *g = graph_of(j->net);

    if (j->k == 1) {
        must(mc_weights_init(&w, g, "test", &why));
        mc_graph_init(g, 1, w.params, w.stats);
        mc_curve_objective_network(&l, &w);
    } else {
        must(mc_curve_init(&c, g, MC_CURVE_BEZIER, j->k, "test", &why));
        for (size_t i = 0; i < j->k; i++) {
            float *stats = zeros(g->S + 1);
            mc_graph_init(g, i, c.points[i], stats);
            free(stats);
        }
        mc_curve_objective_curve(&l, &c);
    }
    set_repeat(directly);
    must(run_job(be, g, &data, &l.objective, &o, record_result, &t, &why));
    t.n = j->k == 1 ? g->P + g->S : g->P;
    t.x = zeros(t.n);
    memcpy(t.x, j->k == 1 ? w.params : c.points[1], g->P * sizeof *t.x);
    if (j->k == 1)
        memcpy(t.x + g->P, w.stats, g->S * sizeof *t.x);
    mc_weights_release(&w);
    mc_curve_release(&c);
    mc_graph_free(g);
    return t;
}

static void assert_same(struct trained *a, struct trained *b)
{
    assert_int_equal(a->n_epochs, b->n_epochs);
    assert_memory_equal(a->epochs, b->epochs, a->n_epochs * sizeof *a->epochs);
    assert_memory_equal(a->x, b->x, a->n * sizeof *a->x);
    free(a->x);
    free(b->x);
}

static void check_repeat(struct job j)
{
    struct trained direct = train(&j, 1), repeated = train(&j, 0);

    assert_same(&repeated, &direct);
}

TEST(networks_repeat_exactly)
{
    check_repeat((struct job){.net = "mlp:bn,7", .k = 1});
}

TEST(curves_repeat_exactly)
{
    check_repeat((struct job){.net = "mlp:7,5", .k = 3});
}

TEST(attacked_runs_repeat_exactly)
{
    static const struct mc_attack_options linf = {.eps = .03, .step = .01, .steps = 2},
                                          restarts = {.norm = MC_BALL_L2,
                                                      .eps = .5,
                                                      .step = .2,
                                                      .steps = 2,
                                                      .restarts = 2,
                                                      .targeted = 1,
                                                      .shift = 1,
                                                      .target = 1};
    struct mc_attack_options one = linf;

    one.restarts = 1;
    check_repeat((struct job){.net = "mlp:bn,7", .k = 1, .attack = &one});
    check_repeat((struct job){.net = "mlp:7", .k = 3, .attack = &restarts});
}

/* Direct steps, then resumed with repeated ones, and vice versa. */
TEST(runs_resume_with_the_other_kind)
{
    struct job j = {.net = "mlp:bn,7", .k = 1};

    for (int directly = 0; directly < 2; directly++) {
        struct job first = j, rest = j;
        struct trained whole = train(&j, 1), part, t;
        first.checkpoint = rest.checkpoint = file;
        first.stop_after = 2;
        part = train(&first, directly);
        rest.resume = 1;
        t = train(&rest, !directly);
        free(part.x);
        assert_same(&t, &whole);
        assert_int_equal(unlink(file), 0);
    }
}

/* Two iterations of permutation and curve steps, with the selection of candidates in between. */
TEST(alternating_minimisation_repeats_exactly)
{
    struct mc_pam_options o = options(2, 2);
    struct mc_train_options train = schedule();
    struct ends e;
    struct result r[2];

    set_repeat(1);
    e = ends_of("mlp:7,5");
    train.batch = BATCH;
    o.outer = 2;
    o.draws = 2;
    for (int directly = 0; directly < 2; directly++) {
        set_repeat(directly);
        r[directly] = run(&e, &o, train);
    }
    assert_memory_equal(r[0].offset, r[1].offset, e.g->P * sizeof(float));
    assert_int_equal(moved(&r[0].perm, &r[1].perm), 0);
    assert_memory_equal(r[0].report, r[1].report, o.outer * sizeof *r[0].report);
    for (int i = 0; i < 2; i++)
        release(&r[i]);
    release_ends(&e);
}

static int begin(void **state)
{
    if (start(state))
        return -1;
    repeat = be->repeat;
    launch_steps = be->launch_steps;
    return 0;
}

static int end(void **state)
{
    assert_null(strstr(be->describe, "not captured"));
    return stop(state);
}

int main(void)
{
    return run_entered(begin, end);
}
