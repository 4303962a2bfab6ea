/* SPDX-License-Identifier: Apache-2.0
 *
 * Learning-rate schedules against PyTorch 1.13 (OneCycleLR, CosineAnnealingLR, which printed the
 * numbers for 40 steps) and against the paper's formula. */
#include "tools/train/train.h"
#include "tests/unit/must.h"

struct at {
    uint64_t step;
    double lr;
};

static void check_rates(enum mc_schedule schedule, uint64_t epochs, uint64_t steps,
                        const struct at *at, size_t n)
{
    const struct mc_train_options o = {
        .epochs = epochs, .lr = .2, .schedule = schedule, .step_epochs = 20};

    for (size_t i = 0; i < n; i++) {
        double got = mc_train_lr(&o, at[i].step / steps, at[i].step % steps, steps);
        assert_true(fabs(got - at[i].lr) <= 1e-12);
    }
}

TEST(onecycle_agrees_with_pytorch)
{
    static const struct at at[] = {{0, 0.008000000000000007},  {1, 0.011888674533008237},
                                   {5, 0.09033777552576462},   {11, 0.2},
                                   {12, 0.19937122350444034},  {20, 0.15320339483870307},
                                   {38, 0.000629576495559697}, {39, 8e-07}};
    check_rates(MC_SCHEDULE_ONECYCLE, 4, 10, at, sizeof at / sizeof *at);
}

TEST(cosine_agrees_with_pytorch)
{
    static const struct at at[] = {{0, 0.2},
                                   {1, 0.1996917333733128},
                                   {5, 0.19238795325112865},
                                   {20, 0.1},
                                   {39, 0.0003082666266872036}};
    check_rates(MC_SCHEDULE_COSINE, 8, 5, at, sizeof at / sizeof *at);
}

TEST(step_agrees_with_paper)
{
    const struct at at[] = {{0, .2},
                            {19 * 7 + 6, .2 * pow(.9996, 19)},
                            {20 * 7, .1 * pow(.9996, 20)},
                            {249 * 7, .2 * pow(.5, 12) * pow(.9996, 249)}};
    check_rates(MC_SCHEDULE_STEP, 250, 7, at, sizeof at / sizeof *at);
}

/* A tenth of the paper's length: 25 epochs of 391 steps, halved every 782 steps. A fortieth: 6
 * epochs, halved every 195.5 steps. */
TEST(step_counts_fractions_of_epochs_in_steps)
{
    struct mc_train_options o = {
        .epochs = 25, .lr = .2, .step_epochs = 2, .step_factor = pow(.9996, 10)};
    const uint64_t steps = 391;

    assert_true(fabs(mc_train_lr(&o, 1, 390, steps) - .2 * pow(.9996, 10)) <= 1e-12);
    assert_true(fabs(mc_train_lr(&o, 2, 0, steps) - .1 * pow(.9996, 20)) <= 1e-12);
    o = (struct mc_train_options){.epochs = 6, .lr = .2, .step_epochs = .5};
    assert_true(mc_train_lr(&o, 0, 195, steps) == .2);
    assert_true(mc_train_lr(&o, 0, 196, steps) == .1);
    assert_true(mc_train_lr(&o, 1, 0, steps) == .05 * .9996);
    /* whole numbers: same as counting whole epochs */
    for (uint64_t n = 1; n <= 20; n++)
        for (uint64_t e = 0; e < 250; e++)
            for (uint64_t s = 0; s < 7; s++) {
                o.step_epochs = (double)n;
                assert_true(mc_train_lr(&o, e, s, 7) ==
                            .2 * pow(.5, floor((double)e / (double)n)) * pow(.9996, (double)e));
            }
}

/* 40 steps: constant to the 20th, 1% from the 36th. */
TEST(linear_agrees_with_paper_for_robust_networks)
{
    static const struct at at[] = {{0, .2},    {19, .2},      {20, .2},   {21, .187625},
                                   {28, .101}, {35, .014375}, {36, .002}, {39, .002}};
    check_rates(MC_SCHEDULE_LINEAR, 4, 10, at, sizeof at / sizeof *at);
}

TEST(one_step_runs_stay_finite)
{
    for (int s = MC_SCHEDULE_STEP; s <= MC_SCHEDULE_LINEAR; s++)
        for (uint64_t steps = 1; steps <= 4; steps++)
            for (uint64_t i = 0; i < steps; i++) {
                const struct mc_train_options o = {
                    .epochs = 1, .lr = .2, .schedule = (enum mc_schedule)s, .step_epochs = 20};
                double lr = mc_train_lr(&o, 0, i, steps);
                assert_true(lr > 0 && lr <= .2 + 1e-12);
            }
}

int main(void)
{
    return run_entered(NULL, NULL);
}
