/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges that separate lines, and layers that lines join. */
#include "tools/plot/frame.h"
#include "tests/unit/must.h"
#include "tools/plot/layers.h"

enum { ROWS = 5 };
static const double t[ROWS] = {0, .25, .5, .75, 1}, none[ROWS];
static const struct mc_frame loss = {.min = 0, .max = INFINITY, .include = {0, NAN}, .separate = 1};

/* A line from .3 through .3 + peak to .3. */
static struct mc_line bump(double *y, double peak)
{
    for (size_t r = 0; r < ROWS; r++)
        y[r] = .3 + peak * 4 * t[r] * (1 - t[r]);
    return (struct mc_line){.x = t, .y = y, .sd = none, .rows = ROWS};
}

static struct mc_scale choose(const struct mc_frame *f, const double *peaks, size_t n)
{
    double y[4][ROWS];
    struct mc_line lines[4];
    struct mc_scale s;

    for (size_t i = 0; i < n; i++)
        lines[i] = bump(y[i], peaks[i]);
    mc_frame_choose(&s, f, lines, n);
    return s;
}

TEST(separate_lines_keep_0_in_the_frame)
{
    struct mc_scale s = choose(&loss, (const double[]){.5, 1.2}, 2);

    assert_true(s.from == 0 && s.to >= 1.5);
}

TEST(line_of_large_range_leaves_in_any_order)
{
    static const double orders[][4] = {{.02, .2, 1, 2.6}, {2.6, 1, .2, .02}, {1, .02, 2.6, .2}};

    for (size_t i = 0; i < COUNT(orders); i++) {
        struct mc_scale s = choose(&loss, orders[i], 4);
        assert_true(s.from == 0 && s.to >= 1.3 && s.to < 1.5);
    }
}

TEST(close_lines_have_a_frame_without_0)
{
    struct mc_scale s = choose(&loss, (const double[]){.01, .02}, 2);

    assert_true(s.from > .25 && s.to < .33 && s.to >= .32);
}

TEST(no_line_leaves_if_that_does_not_help)
{
    struct mc_scale s = choose(&loss, (const double[]){.5, .501, .502, 1.3}, 4);

    assert_true(s.to >= 1.6);
    s = choose(&loss, (const double[]){.02, 2.6}, 2);
    assert_true(s.to >= 2.9);
    s = choose(&loss, (const double[]){.02, .1, .82, .9}, 4); /* half of the lines */
    assert_true(s.to >= 1.2);
}

TEST(user_range_is_exact_and_lines_leave_it)
{
    struct mc_frame f = loss;
    double y[ROWS], above, below;
    struct mc_line line = bump(y, 1);
    struct mc_scale s;

    f.range[0] = .31;
    f.range[1] = .77;
    mc_frame_choose(&s, &f, &line, 1);
    assert_true(s.from == .31 && s.to == .77);
    mc_frame_outside(&s, &line, &above, &below);
    assert_true(above == 1.3 && below == .3);
    mc_frame_choose(&s, &loss, &line, 1);
    mc_frame_outside(&s, &line, &above, &below);
    assert_true(isnan(above) && isnan(below));
}

TEST(value_on_an_edge_is_inside)
{
    struct mc_scale s;

    for (double edge = .1; edge < 50; edge += .1) {
        mc_scale_round(&s, edge, edge + .7, 0, INFINITY);
        assert_true(!mc_frame_side(&s, edge) && !mc_frame_side(&s, edge + .7));
        assert_true(mc_frame_side(&s, s.to + .01) == 1 && mc_frame_side(&s, s.from - .01) == -1);
    }
}

TEST(band_is_within_the_frame)
{
    static const double sd[ROWS] = {0, 0, 1, 0, 0};
    double y[ROWS];
    struct mc_line line = bump(y, 1);
    struct mc_scale s;

    line.sd = sd;
    mc_frame_choose(&s, &loss, &line, 1);
    assert_true(s.to >= 2.3 && s.from == 0);
}

TEST(parallel_branches_are_not_joined)
{
    static const struct {
        const char *before, *layer;
        int joined;
    } pairs[] = {
        {"conv1", "conv2", 1},
        {"layers.0.relu", "layers.3.relu", 1},
        {"layer1.0.relu2", "layer1.1.relu1", 1},
        {"conv3", "inception3a.branch1.conv", 1},
        {"inception3a.branch1.conv", "inception3a.branch2.0.conv", 0},
        {"inception3a.branch2.0.conv", "inception3a.branch2.1.conv", 1},
        {"inception3a.branch4.1.conv", "inception3b.branch1.conv", 1},
        {"Mixed_5b.branch1x1", "Mixed_5b.branch5x5_1", 0},
        {"Mixed_5b.branch5x5_1", "Mixed_5b.branch5x5_2", 1},
        {"features.3.expand1x1_activation", "features.3.expand3x3_activation", 0},
        {"layer2.0.bn2", "layer2.0.downsample.1", 0},
        {"inception4a.branch4.1.conv", "aux1.conv.conv", 0},
    };

    for (size_t i = 0; i < COUNT(pairs); i++)
        if (mc_layers_joined(pairs[i].before, pairs[i].layer) != pairs[i].joined)
            fail_msg("%s, %s", pairs[i].before, pairs[i].layer);
}

int main(void)
{
    return run_entered(NULL, NULL);
}
