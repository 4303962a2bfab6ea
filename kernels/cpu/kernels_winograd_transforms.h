/* SPDX-License-Identifier: Apache-2.0
 *
 * The transforms of kernels_winograd.h along one axis, included once per instruction set (see
 * kernels.h). */

#define PA .625f
#define PB 1.5f
#define PA2 (PA * PA)
#define PB2 (PB * PB)

/* B' of six values with distance `step`. */
static inline __attribute__((always_inline)) void wino_in(const vf *x, size_t step, vf *y,
                                                          size_t to)
{
    const vf x0 = x[0], x1 = x[step], x2 = x[2 * step], x3 = x[3 * step], x4 = x[4 * step],
             x5 = x[5 * step];
    const vf p = x4 - PB2 * x2, q = x3 - PB2 * x1, r = x4 - PA2 * x2, s = x3 - PA2 * x1;
    y[0] = (PA2 * PB2) * x0 - (PA2 + PB2) * x2 + x4;
    y[to] = p + PA * q;
    y[2 * to] = p - PA * q;
    y[3 * to] = r + PB * s;
    y[4 * to] = r - PB * s;
    y[5 * to] = (PA2 * PB2) * x1 - (PA2 + PB2) * x3 + x5;
}

/* A' of six values: four. */
static inline __attribute__((always_inline)) void wino_out(const vf *x, size_t step, vf *y,
                                                           size_t to)
{
    const vf s1 = x[step] + x[2 * step], d1 = x[step] - x[2 * step];
    const vf s2 = x[3 * step] + x[4 * step], d2 = x[3 * step] - x[4 * step];
    y[0] = x[0] + s1 + s2;
    y[to] = PA * d1 + PB * d2;
    y[2 * to] = PA2 * s1 + PB2 * s2;
    y[3 * to] = (PA2 * PA) * d1 + (PB2 * PB) * d2 + x[5 * step];
}

/* A of four values: six. */
static inline __attribute__((always_inline)) void wino_spread(const vf *x, size_t step, vf *y,
                                                              size_t to)
{
    const vf x0 = x[0], x1 = x[step], x2 = x[2 * step], x3 = x[3 * step];
    const vf ea = x0 + PA2 * x2, oa = PA * x1 + (PA2 * PA) * x3;
    const vf eb = x0 + PB2 * x2, ob = PB * x1 + (PB2 * PB) * x3;
    y[0] = x0;
    y[to] = ea + oa;
    y[2 * to] = ea - oa;
    y[3 * to] = eb + ob;
    y[4 * to] = eb - ob;
    y[5 * to] = x3;
}

/* G: three values to six. wino_gt is its transpose. */
static inline __attribute__((always_inline)) void wino_g(const vf *x, size_t step, vf *y, size_t to)
{
    const float na = 1 / (2 * PA2 * (PA2 - PB2)), nb = 1 / (2 * PB2 * (PB2 - PA2));
    const vf ea = (x[0] + PA2 * x[2 * step]) * na, oa = (PA * na) * x[step];
    const vf eb = (x[0] + PB2 * x[2 * step]) * nb, ob = (PB * nb) * x[step];
    y[0] = x[0] * (1 / (PA2 * PB2));
    y[to] = ea + oa;
    y[2 * to] = ea - oa;
    y[3 * to] = eb + ob;
    y[4 * to] = eb - ob;
    y[5 * to] = x[2 * step];
}

static inline __attribute__((always_inline)) void wino_gt(const vf *x, size_t step, vf *y,
                                                          size_t to)
{
    const float na = 1 / (2 * PA2 * (PA2 - PB2)), nb = 1 / (2 * PB2 * (PB2 - PA2));
    const vf s1 = (x[step] + x[2 * step]) * na, d1 = (x[step] - x[2 * step]) * na;
    const vf s2 = (x[3 * step] + x[4 * step]) * nb, d2 = (x[3 * step] - x[4 * step]) * nb;
    y[0] = x[0] * (1 / (PA2 * PB2)) + s1 + s2;
    y[to] = PA * d1 + PB * d2;
    y[2 * to] = PA2 * s1 + PB2 * s2 + x[5 * step];
}
