/* SPDX-License-Identifier: Apache-2.0
 *
 * Planes through three points: coordinates and grid against Gram-Schmidt on the vectors, a curve in
 * its plane, points without a plane. Also the position of a path's barrier. */
#include "tools/eval/plane.h"
#include "tests/unit/must.h"

enum { N = 1000, K = 4 };

static float data[K][N];
static const float *points[K] = {data[0], data[1], data[2], data[3]};
static const char *const names[3] = {"a", "b", "c"};
static double gram[K * K];

/* Far from the origin, so that inner products cancel. */
static void fill(void)
{
    uint32_t s = 1;

    for (size_t k = 0; k < K; k++)
        for (size_t i = 0; i < N; i++) {
            s = s * 1664525u + 1013904223u;
            data[k][i] = 3 + (float)(s >> 8) / (1 << 24);
        }
    mc_curve_gram(K, points, N, gram);
}

static double at(const double *coef, size_t i)
{
    double sum = 0;

    for (size_t k = 0; k < K; k++)
        sum += coef[k] * (double)data[k][i];
    return sum;
}

/* Distance of the points with weights c and d. */
static double distance(const double *c, const double *d)
{
    double sum = 0;

    for (size_t i = 0; i < N; i++)
        sum += (at(c, i) - at(d, i)) * (at(c, i) - at(d, i));
    return sqrt(sum);
}

static void near(double got, double want)
{
    if (!(fabs(got - want) < 1e-9))
        fail_msg("%.12g, expected %.12g", got, want);
}

static int through(struct mc_plane *p, size_t k, const double *inner, const double *three,
                   struct mc_error *err)
{
    *p = (struct mc_plane){.k = k, .gram = inner, .three = three, .names = names};
    return mc_plane_through(p, err);
}

static const double THREE[3 * K] = {1, 0, 0, 0, 0, 1, 0, 0, .2, .1, .4, .3};

TEST(distances_agree_with_vectors)
{
    struct mc_plane p;
    double coef[K], x, y, off;

    must(through(&p, K, gram, THREE, &why));
    near(p.b_x, distance(THREE, THREE + K));
    near(hypot(p.c_x, p.c_y), distance(THREE, THREE + 2 * K));
    near(hypot(p.c_x - p.b_x, p.c_y), distance(THREE + K, THREE + 2 * K));
    assert_true(p.c_y > 0);
    for (int i = 0; i < 3; i++) {
        mc_plane_place(&p, THREE + i * K, &x, &y, &off);
        near(x, i == 0 ? 0 : i == 1 ? p.b_x : p.c_x);
        near(y, i == 2 ? p.c_y : 0);
        assert_true(off == 0);
    }
    /* the distance of two points in the plane is that of their coordinates */
    double other[K];
    mc_plane_point(&p, .3, -.7, coef);
    mc_plane_point(&p, -1.1, .4, other);
    near(distance(coef, other), hypot(1.4 * p.b_x, 1.1 * p.c_y));
    mc_plane_place(&p, coef, &x, &y, &off);
    near(x, .3 * p.b_x);
    near(y, -.7 * p.c_y);
    assert_true(off == 0);
    /* the projection is the nearest point in the plane */
    static const double away[K] = {0, 0, 0, 1};
    mc_plane_place(&p, away, &x, &y, &off);
    mc_plane_point(&p, x / p.b_x, y / p.c_y, coef);
    near(off, distance(away, coef));
    assert_true(off > .1);
    for (int i = 0; i < 4; i++) {
        mc_plane_point(&p, x / p.b_x + (i == 0) * .01 - (i == 1) * .01,
                       y / p.c_y + (i == 2) * .01 - (i == 3) * .01, other);
        assert_true(distance(away, other) > off);
    }
}

TEST(grid_ends_are_exact)
{
    const struct mc_plane_grid grid = {3, {0, 1}, {-.5, 1}};
    struct mc_plane p;
    double coef[9 * K], xy[2 * 9];

    static const double three[3 * K] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    must(through(&p, K, gram, three, &why));
    mc_plane_points(&p, &grid, coef, xy);
    for (int i = 0; i < 9; i++) {
        double sum = 0;
        for (int k = 0; k < K; k++)
            sum += coef[i * K + k];
        near(sum, 1);
        near(xy[2 * i], i % 3 * .5 * p.b_x);
        near(xy[2 * i + 1], (-.5 + i / 3 * .75) * p.c_y);
    }
    const struct mc_plane_grid whole = {2, {0, 1}, {0, 1}};
    mc_plane_points(&p, &whole, coef, xy);
    assert_memory_equal(coef, three, 2 * K * sizeof *coef);
}

TEST(curve_is_in_its_plane)
{
    static const char *const names_expected[] = {"a", "b", "c", "0", "0.25", "0.5", "0.75", "1"};
    struct mc_curve c = {.kind = MC_CURVE_BEZIER, .n_points = 3};
    struct mc_plane p;
    struct mc_mark m[8];
    double three[9], small[9];

    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            small[i * 3 + j] = gram[i * K + j];
    for (size_t i = 0; i < 3; i++)
        mc_curve_coefs(c.kind, 3, (const double[]){0, 1, .5}[i], three + i * 3);
    must(through(&p, 3, small, three, &why));
    mc_plane_marks(&p, &c, 5, m);
    for (int i = 0; i < 8; i++) {
        assert_string_equal(m[i].kind, i < 3 ? "network" : "path");
        assert_string_equal(m[i].name, names_expected[i]);
        assert_true(m[i].off == 0);
    }
    near(m[5].x, m[2].x);
    near(m[5].y, p.c_y);
    near(m[4].y, .75 * p.c_y); /* y is proportional to 4 t (1 - t) */
    assert_true(m[7].x == m[1].x && m[7].y == 0 && m[3].x == 0);
}

TEST(points_on_a_line_are_refused)
{
    static const double same[3 * K] = {1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0};
    static const double line[3 * K] = {1, 0, 0, 0, 0, 1, 0, 0, .25, .75, 0, 0};
    static const double outside[3 * K] = {1, 0, 0, 0, 0, 1, 0, 0, -2, 3, 0, 0};
    const double *const bad[] = {same, line, outside};
    struct mc_plane p;

    for (int i = 0; i < 3; i++) {
        must_fail(through(&p, K, gram, bad[i], &why), MC_EINPUT,
                  i ? "c is on the line through a and b" : "a and b");
    }
}

/* A midpoint rounded to float32 is still on the line. */
TEST(rounded_midpoint_is_on_the_line)
{
    static const double three[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    static float middle[N];
    const float *v[3] = {data[0], data[1], middle};
    double g[9];
    struct mc_plane p;

    for (size_t i = 0; i < N; i++)
        middle[i] = .5f * (data[0][i] + data[1][i]);
    mc_curve_gram(3, v, N, g);
    must_fail(through(&p, 3, g, three, &why), MC_EINPUT, "");
}

TEST(summary_has_position_of_barrier)
{
    static const double t[5] = {0, .25, .5, .75, 1}, chord[4] = {1, 1, 1, 1};
    static const double value[5] = {1, 4, 3, 1, 3};
    struct mc_curve_summary s;

    mc_curve_summarise(5, t, value, chord, &s);
    near(s.barrier, 2.5);
    near(s.barrier_t, .25);
    near(s.dip, 1.5);
    near(s.dip_t, .75);
}

int main(void)
{
    fill();
    return run_entered(NULL, NULL);
}
