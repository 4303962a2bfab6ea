/* SPDX-License-Identifier: Apache-2.0
 *
 * Curves: coefficients against their definition, chords against vectors, summaries computed by
 * hand. */
#include "tools/curve/points.h"
#include "tests/unit/must.h"

#define NEAR(a, b) assert_true(fabs((double)(a) - (double)(b)) <= 1e-12 * (1 + fabs((double)(b))))

TEST(quadratic_bezier_agrees_with_paper)
{
    for (int i = 0; i <= 10; i++) {
        double t = i / 10., c[3];
        mc_curve_coefs(MC_CURVE_BEZIER, 3, t, c);
        NEAR(c[0], (1 - t) * (1 - t));
        NEAR(c[1], 2 * t * (1 - t));
        NEAR(c[2], t * t);
    }
}

/* De Casteljau's construction by repeated interpolation. */
static double casteljau(size_t k, const double *p, double t)
{
    double w[8];

    for (size_t i = 0; i < k; i++)
        w[i] = p[i];
    for (size_t n = k - 1; n > 0; n--)
        for (size_t i = 0; i < n; i++)
            w[i] = (1 - t) * w[i] + t * w[i + 1];
    return w[0];
}

TEST(bezier_agrees_with_de_casteljau)
{
    const double p[8] = {1, -2, 4, .5, 7, 0, -3, 2};
    double c[8];

    for (size_t k = 2; k <= 8; k++)
        for (int i = 0; i <= 16; i++) {
            double t = i / 16., got = 0;
            mc_curve_coefs(MC_CURVE_BEZIER, k, t, c);
            for (size_t j = 0; j < k; j++)
                got += c[j] * p[j];
            NEAR(got, casteljau(k, p, t));
        }
}

TEST(chain_passes_through_its_points)
{
    double c[5];

    for (size_t k = 2; k <= 5; k++)
        for (size_t i = 0; i < k; i++) {
            mc_curve_coefs(MC_CURVE_CHAIN, k, (double)i / (double)(k - 1), c);
            for (size_t j = 0; j < k; j++)
                NEAR(c[j], i == j ? 1. : 0.);
        }
    mc_curve_coefs(MC_CURVE_CHAIN, 3, .25, c);
    NEAR(c[0], .5);
    NEAR(c[1], .5);
    NEAR(c[2], 0);
}

TEST(chords_are_distances)
{
    const float x[3][4] = {{1, 2, 3, 4}, {0, -1, 2, 5}, {1000, 2, 3, -4}};
    const float *p[3] = {x[0], x[1], x[2]};
    const double c0[3] = {.2, .3, .5}, c1[3] = {.5, -.1, .6};
    double gram[9], want = 0;

    mc_curve_gram(3, p, 4, gram);
    NEAR(gram[1 * 3 + 0], 1 * 0 + 2 * -1 + 3 * 2 + 4 * 5.);
    for (int i = 0; i < 4; i++) {
        double d = 0;
        for (int j = 0; j < 3; j++)
            d += (c1[j] - c0[j]) * (double)x[j][i];
        want += d * d;
    }
    assert_true(fabs(mc_curve_chord(3, gram, c0, c1) - sqrt(want)) < 1e-9 * sqrt(want));
    NEAR(mc_curve_chord(3, gram, c0, c0), 0);
}

TEST(summary_agrees_with_hand_computation)
{
    const double t[5] = {0, .25, .5, .75, 1}, v[5] = {1, 2, 5, 1, 3}, chord[4] = {1, 1, 2, 4};
    struct mc_curve_summary s;

    mc_curve_summarise(5, t, v, chord, &s);
    NEAR(s.first, 1);
    NEAR(s.last, 3);
    NEAR(s.mean, 12 / 5.);
    NEAR(s.arc_mean, (1.5 + 3.5 + 2 * 3 + 4 * 2) / 8);
    NEAR(s.min, 1);
    NEAR(s.min_t, 0);
    NEAR(s.max, 5);
    NEAR(s.max_t, .5);
    NEAR(s.barrier, 5 - 2); /* above the line from 1 to 3 */
    NEAR(s.dip, 2.5 - 1);
    /* a path of length 0 */
    const double none[4] = {0, 0, 0, 0};
    mc_curve_summarise(5, t, v, none, &s);
    NEAR(s.arc_mean, s.mean);
}

int main(void)
{
    return run_entered(NULL, NULL);
}
