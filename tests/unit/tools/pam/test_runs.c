/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs of proximal alternating minimisation: their learning rates, resuming after any epoch, and
 * the stopping rule of the second theorem. */
#include "libcommon/spectral/spectral.h"
#include "tests/unit/tools/pam/pam.h"

TEST(rates_anneal_across_iterations)
{
    struct ends e = ends_of("mlp:7");
    struct mc_pam_options o = options(2, 3);
    struct mc_train_options train = schedule(), per_step[2];

    o.outer = 2;
    o.permutation_lr = .3;
    for (int s = MC_SCHEDULE_STEP; s <= MC_SCHEDULE_LINEAR; s++) {
        train.schedule = (enum mc_schedule)s;
        train.step_epochs = 2;
        struct result r = run(&e, &o, train);
        per_step[0] = per_step[1] = train;
        per_step[0].epochs = 4; /* permutation steps; index 1 is for curve steps */
        per_step[0].lr = .3;
        per_step[1].epochs = 6;
        assert_int_equal(r.n_epochs, 10);
        for (uint64_t i = 0; i < 10; i++) {
            const int curve = i % 5 >= 2;
            const uint64_t epoch = curve ? i / 5 * 3 + i % 5 - 2 : i / 5 * 2 + i % 5;
            near("rate", r.lr[i],
                 (double)(float)mc_train_lr(&per_step[curve], epoch, STEPS - 1, STEPS), 1e-12);
        }
        release(&r);
    }
    release_ends(&e);
}

/* Run two iterations, stopped after each epoch and resumed. Returns the uninterrupted run. */
static struct result run_resumed(const struct ends *e, struct mc_pam_options o,
                                 struct mc_train_options train)
{
    o.outer = 2;
    struct result whole = run(e, &o, train);
    train.checkpoint = file;
    for (uint64_t stop = 1; stop < mc_pam_epochs(&o); stop++) {
        train.stop_after = stop;
        train.resume = 0;
        struct result r = run(e, &o, train);
        release(&r);
        train.stop_after = 0;
        train.resume = 1;
        r = run(e, &o, train);
        assert_int_equal(unlink(file), 0);
        assert_memory_equal(r.offset, whole.offset, e->g->P * sizeof(float));
        assert_int_equal(moved(&r.perm, &whole.perm), 0);
        assert_memory_equal(r.report, whole.report, 2 * sizeof *r.report);
        assert_memory_equal(r.lr, whole.lr, sizeof r.lr);
        assert_int_equal(r.n_epochs, whole.n_epochs);
        release(&r);
    }
    assert_int_equal(whole.n_epochs, mc_pam_epochs(&o));
    return whole;
}

TEST(runs_resume_after_any_epoch)
{
    struct ends e = ends_of("mlp:bn,7,5");

    mc_perm_random(&e.perm, 5);
    struct result r = run_resumed(&e, options(4, 2), schedule());
    assert_true(r.report[0].moved > 0);
    release(&r);
    release_ends(&e);
}

/* No hidden layer, a hidden layer of one unit, and fewer images than a batch. */
TEST(small_networks_run_and_resume)
{
    struct mc_train_options train = schedule();
    struct mc_graph *g =
        mc_graph_new("linear", CHANNELS, SIDE, SIDE, MC_SYNTH_CLASSES, mc_synth_mean, mc_synth_std);

    assert_non_null(g);
    mc_graph_loss(g, "loss",
                  mc_graph_linear(g, "dense", mc_graph_flatten(g, "flatten", 0), g->classes, 1,
                                  MC_INIT_XAVIER_NORMAL, MC_INIT_ZERO),
                  1, 0);
    must(mc_graph_finish(g, &why));
    for (int i = 0; i < 3; i++) {
        struct ends e = i ? ends_of(i == 1 ? "mlp:1" : "mlp:7,5") : ends_of_graph(g);
        assert_int_equal(e.s.n_groups, i < 2 ? 0 : 2); /* a single unit does not form a group */
        if (i == 2) {
            mc_perm_random(&e.perm, 5);
            train.batch = N + 10;
        }
        struct result r = run_resumed(&e, options(2, 1), train);
        assert_true(isfinite(r.report[1].decrease));
        if (i < 2)
            assert_true(r.report[1].moved == 0 && r.report[1].candidates == 1);
        assert_true(distance(&e, r.offset, e.offset) > 1e-6);
        release(&r);
        release_ends(&e);
    }
}

TEST(infinite_results_are_reported)
{
    struct ends e = ends_of("mlp:7");
    struct mc_pam_options o = options(1, 1);
    struct mc_train_options train = schedule();
    struct result r;

    train.batch = N; /* one step with a finite loss */
    o.permutation_lr = 1e60;
    must_fail(try_run(&e, &o, train, &r, &why), MC_EFAIL, "not finite*epoch 1*--permutation-lr");
    release(&r);
    o.permutation_lr = .1;
    train.lr = 1e60;
    must_fail(try_run(&e, &o, train, &r, &why), MC_EFAIL, "not finite*epoch 2*--lr");
    release(&r);
    release_ends(&e);
    e = ends_of("mlp:bn,7"); /* its units do not all die */
    train.lr = 1e30;
    o.nu_curve = 1e60; /* no proximal force */
    must_fail(try_run(&e, &o, train, &r, &why), MC_EFAIL, "loss*not finite");
    release(&r);
    release_ends(&e);
}

/* With a small nu, momentum must not end a curve step above its start. */
TEST(small_nu_lowers_the_objective)
{
    struct ends e = ends_of("mlp:7,5");
    struct mc_pam_options o = options(0, 10);
    struct mc_train_options train = schedule();

    o.nu_curve = 1;
    o.images = N;
    for (train.nesterov = 0; train.nesterov < 2; train.nesterov++) {
        struct result r = run(&e, &o, train);
        assert_true(r.report[0].proximal_curve > 1e-4);
        if (!(r.report[0].decrease > 0))
            fail_msg("nesterov %d: the objective fell by %g less than its proximal term",
                     train.nesterov, -r.report[0].decrease);
        release(&r);
    }
    release_ends(&e);
}

/* ---- the second theorem ---- */

static double norm_of(const struct ends *e, const struct mc_spectral_layers *l, size_t i,
                      const float *params)
{
    const struct mc_param *t = &e->g->params[l->weight[i]];
    double norm = 0;

    must(mc_spectral_norm((size_t)t->tensor.shape[0], (size_t)t->tensor.shape[1],
                          params + t->offset, &norm, &why));
    return norm;
}

/* Largest norm of the control point's layers. */
static double control_norm(const struct ends *e, const struct mc_spectral_layers *l,
                           const struct result *r)
{
    float *c = zeros(e->g->P);
    double largest = 0;

    must(mc_perm_apply(&r->perm, &e->s, e->g, e->b, NULL, c, NULL, &why));
    for (size_t i = 0; i < e->g->P; i++)
        c[i] = .5f * (e->a[i] + c[i]) + r->offset[i];
    for (size_t i = 0; i < l->L; i++)
        largest = fmax(largest, norm_of(e, l, i, c));
    free(c);
    return largest;
}

/* Project both ends to within the norm. */
static void bound_ends(struct ends *e, const struct mc_spectral_layers *l, double K)
{
    for (size_t i = 0; i < l->L; i++) {
        const struct mc_param *t = &e->g->params[l->weight[i]];
        for (int end = 0; end < 2; end++)
            assert_true(mc_spectral_clip((size_t)t->tensor.shape[0], (size_t)t->tensor.shape[1],
                                         (end ? e->b : e->a) + t->offset, K, &why) >= 0);
    }
}

/* The control point starts at the first end, within the norm. The permutation moves the midpoint
 * below the offset and so the control point out of the norm, unless it is clipped. */
TEST(permutation_step_ends_within_the_norm)
{
    struct ends e = ends_of("mlp:7,5");
    struct mc_pam_options o = options(10, 0);
    struct mc_train_options train = schedule();
    struct mc_spectral_layers l;
    const double K = .8;

    must(mc_spectral_layers(e.g, &l, &why));
    bound_ends(&e, &l, K);
    mc_perm_random(&e.perm, 5);
    must(mc_perm_apply(&e.perm, &e.s, e.g, e.b, NULL, e.offset, NULL, &why));
    for (size_t i = 0; i < e.g->P; i++)
        e.offset[i] = .5f * (e.a[i] - e.offset[i]);
    o.draws = 32;
    o.nu_permutation = 1e6;
    train.huber = 1e-9;
    struct result r = run(&e, &o, train);
    assert_true(r.report[0].moved > 0);
    assert_memory_equal(r.offset, e.offset, e.g->P * sizeof(float));
    assert_true(control_norm(&e, &l, &r) > 1.05 * K);
    assert_true(isnan(r.report[0].proximal_curve));
    struct result free_run = r;

    o.spectral = K;
    r = run(&e, &o, train);
    assert_int_equal(moved(&r.perm, &free_run.perm), 0);
    assert_true(control_norm(&e, &l, &r) < K * (1 + 1e-5));
    const double moved_by = distance(&e, r.offset, e.offset);
    assert_true(moved_by > 1e-4 && r.report[0].rejected == 0);
    near("proximal term", r.report[0].proximal_curve / (moved_by / (2 * o.nu_curve)), 1, 1e-9);
    near("decrease", r.report[0].decrease,
         r.report[0].before.loss + r.report[0].before.decay - r.report[0].curve.loss -
             r.report[0].curve.decay - r.report[0].proximal_permutation -
             r.report[0].proximal_curve,
         1e-12);
    assert_true(r.report[0].curve.loss != r.report[0].permutation.loss);
    struct result clipped = r;

    /* a curve step with learning rate 0 stays there, and its term is relative to the iteration's
     * start */
    o.curve_epochs = 1;
    train.lr = 0;
    r = run(&e, &o, train);
    assert_memory_equal(r.offset, clipped.offset, e.g->P * sizeof(float));
    assert_memory_equal(&r.report[0], &clipped.report[0], sizeof r.report[0]);
    release(&r);

    train.huber = 3; /* rejected: back at the start */
    o.curve_epochs = 0;
    r = run(&e, &o, train);
    assert_true(r.report[0].rejected == 1 && r.report[0].moved > 0);
    assert_true(r.report[0].proximal_curve > 0);
    assert_int_equal(moved(&r.perm, &e.perm), 0);
    assert_memory_equal(r.offset, e.offset, e.g->P * sizeof(float));
    release(&r);
    release(&clipped);
    release(&free_run);
    mc_spectral_layers_release(&l);
    release_ends(&e);
}

TEST(small_moves_are_rejected)
{
    struct ends e = ends_of("mlp:7,5");
    struct mc_pam_options o = options(2, 2);
    struct mc_train_options train = schedule();
    struct mc_spectral_layers l;
    const double K = .8;

    must(mc_spectral_layers(e.g, &l, &why));
    bound_ends(&e, &l, K);
    o.outer = 2;
    train.lr = .3;
    train.huber = 1e-9;
    struct result r = run(&e, &o, train); /* without the bound it exceeds the norm */
    assert_true(control_norm(&e, &l, &r) > 1.05 * K);
    assert_true(isnan(r.report[0].rejected) && isnan(r.report[0].least_move));
    release(&r);

    o.spectral = K;
    r = run(&e, &o, train);
    assert_true(r.report[0].rejected == 0 && r.report[1].rejected == 0);
    assert_true(control_norm(&e, &l, &r) < K * (1 + 1e-5));
    assert_true(distance(&e, r.offset, e.offset) > 1e-3);
    /* the minimum move is twice the bound on the delta's effect; L is 3 */
    const double unit = 2 * sqrt(2) * sqrt(7) / 2 * (K + K * K);
    near("least move", r.report[0].least_move / 1e-9, unit, 1e-9);
    const double terms = r.report[0].proximal_permutation + r.report[0].proximal_curve;
    assert_true(terms >= r.report[0].least_move);
    struct mc_pam_report rejected = r.report[0];
    release(&r);

    mc_perm_random(&e.perm, 5);
    for (size_t i = 0; i < e.g->P; i++)
        e.offset[i] = 1e-3f * (float)(i % 7);
    train.huber = 3;
    train.checkpoint = file;
    for (int again = 0; again < 2; again++, train.resume = 1) { /* a resumed run stays ended */
        r = run(&e, &o, train);
        assert_true(r.report[0].least_move > terms && r.report[0].rejected == 1);
        assert_true(r.report[0].proximal_permutation + r.report[0].proximal_curve <
                    r.report[0].least_move);
        if (again)
            assert_memory_equal(r.report, &rejected, sizeof rejected);
        rejected = r.report[0];
        assert_true(isnan(r.report[1].before.loss));
        assert_int_equal(r.n_epochs, 4);
        assert_int_equal(moved(&r.perm, &e.perm), 0);
        assert_memory_equal(r.offset, e.offset, e.g->P * sizeof(float));
        release(&r);
    }
    assert_int_equal(unlink(file), 0);
    train.checkpoint = NULL;
    train.resume = 0;

    o.spectral = K / 2;
    must_fail(try_run(&e, &o, train, &r, &why), MC_EUSAGE, "in the first network");
    release(&r);
    mc_spectral_layers_release(&l);
    release_ends(&e);
}

TEST(theorem_requires_plain_networks)
{
    const char *const others[] = {"resnet:8,4", "mlp:bn,7"};
    const struct mc_train_options train = schedule();
    struct mc_pam_options o = options(1, 1);
    struct result r;

    o.spectral = 1e6;
    for (size_t i = 0; i < 2; i++) {
        struct ends e = ends_of(others[i]);
        must_fail(try_run(&e, &o, train, &r, &why), MC_EUSAGE, "");
        release(&r);
        release_ends(&e);
    }
}

int main(void)
{
    return run_entered(start, stop);
}
