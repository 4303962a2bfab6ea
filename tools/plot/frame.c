/* SPDX-License-Identifier: Apache-2.0
 *
 * A range that separates the lines. One line of great extent, such as the straight path between two
 * networks, would flatten all others. */
#include "tools/plot/frame.h"

#include <math.h>
#include <string.h>

/* Lines are separate if their distance somewhere is this share of the frame's height. */
#define APART .12
/* A line may leave the frame if that shrinks the frame to less than this share. */
#define SHRUNK .6
/* Rounding tolerance at a frame's edges, as a share of its height. */
#define SLACK 1e-6

struct span {
    double low, high;
};

static void widen(struct span *s, double low, double high)
{
    s->low = fmin(s->low, low);
    s->high = fmax(s->high, high);
}

/* Return the range of a line and its band; on a logarithmic axis, only of values above 0. */
static struct span span_of(const struct mc_line *l, const struct mc_frame *f)
{
    struct span s = {INFINITY, -INFINITY};

    for (size_t r = 0; r < l->rows; r++) {
        const double low = l->y[r] - l->sd[r], high = l->y[r] + l->sd[r];
        if (isnan(l->y[r]))
            continue;
        if (!f->logarithmic)
            widen(&s, fmax(low, f->min), fmin(high, f->max));
        else if (l->y[r] > 0)
            widen(&s, low > 0 ? low : l->y[r], high);
    }
    return s;
}

/* Return the line's value at x, interpolated between its rows. */
static double value_at(const struct mc_line *l, double x)
{
    size_t r = 1;

    while (r + 1 < l->rows && l->x[r] < x)
        r++;
    if (l->rows == 1)
        return l->y[0];
    const double share = (x - l->x[r - 1]) / (l->x[r] - l->x[r - 1]);
    return l->y[r - 1] + fmin(fmax(share, 0), 1) * (l->y[r] - l->y[r - 1]);
}

/* Return the maximum distance of two lines; INFINITY if they are equal. */
static double distance(const struct mc_line *a, const struct mc_line *b)
{
    double max = 0;

    for (size_t r = 0; r < a->rows; r++)
        max = fmax(max, fabs(a->y[r] - value_at(b, a->x[r])));
    return max > 0 ? max : INFINITY;
}

/* Return the minimum distance between any two of n lines. */
static double nearest(const struct mc_line *const *lines, size_t n)
{
    double min = INFINITY;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            min = fmin(min, distance(lines[i], lines[j]));
    return min;
}

static struct span span_of_all(const struct mc_line *const *lines, size_t n,
                               const struct mc_frame *f, int include)
{
    struct span all = {INFINITY, -INFINITY};

    for (size_t i = 0; i < n; i++) {
        const struct span s = span_of(lines[i], f);
        widen(&all, s.low, s.high);
    }
    for (size_t k = 0; include && k < 2; k++)
        if (!isnan(f->include[k]))
            widen(&all, f->include[k], f->include[k]);
    return all;
}

/* Let the lines of largest extent leave one by one until the others are separate, but fewer than
 * half of all. Omit 0 from the frame before another line leaves. If nothing helps, show all. */
static struct span separate(const struct mc_line *const *lines, size_t n, const struct mc_frame *f)
{
    const struct span all = span_of_all(lines, n, f, 0);

    for (size_t k = n; k > 1 && 2 * k > n; k--) {
        const double min = nearest(lines, k);
        for (int include = 1; include >= 0; include--) {
            const struct span s = span_of_all(lines, k, f, include);
            if (k < n && s.high - s.low > SHRUNK * (all.high - all.low))
                continue;
            if (min >= APART * (s.high - s.low))
                return s;
        }
    }
    return all;
}

/* Sort the lines by extent, smallest first. */
static void sort_lines(const struct mc_line **sorted, const struct mc_line *lines, size_t n,
                       const struct mc_frame *f)
{
    for (size_t i = 0; i < n; i++) {
        const struct span s = span_of(&lines[i], f);
        size_t k = i;
        for (; k; k--) {
            const struct span t = span_of(sorted[k - 1], f);
            if (t.high - t.low <= s.high - s.low)
                break;
            sorted[k] = sorted[k - 1];
        }
        sorted[k] = &lines[i];
    }
}

void mc_frame_choose(struct mc_scale *a, const struct mc_frame *f, const struct mc_line *lines,
                     size_t n)
{
    const struct mc_line *sorted[MC_MAX_LINES];
    int zeros = 0;

    for (size_t i = 0; f->logarithmic && i < n; i++)
        for (size_t r = 0; r < lines[i].rows; r++)
            zeros |= lines[i].y[r] == 0;
    sort_lines(sorted, lines, n, f);
    struct span s = f->separate && n > 1 ? separate(sorted, n, f) : span_of_all(sorted, n, f, 1);
    if (f->range[0] != f->range[1]) {
        s = (struct span){f->range[0], f->range[1]};
        zeros = 0;
    }
    if (f->logarithmic)
        mc_scale_log(a, s.low, s.high, zeros);
    else if (f->range[0] != f->range[1])
        mc_scale_exact(a, s.low, s.high);
    else
        mc_scale_round(a, s.low, s.high, f->min, f->max);
}

int mc_frame_side(const struct mc_scale *a, double y)
{
    const double slack = a->logarithmic ? 0 : SLACK * (a->to - a->from);

    if (y == 0 && a->zero > 0)
        return 0;
    return y > a->to + slack ? 1 : y < a->from - slack ? -1 : 0;
}

void mc_frame_outside(const struct mc_scale *a, const struct mc_line *l, double *above,
                      double *below)
{
    *above = *below = NAN;
    for (size_t r = 0; r < l->rows; r++) {
        const int side = mc_frame_side(a, l->y[r]);
        if (side > 0)
            *above = fmax(l->y[r], *above);
        if (side < 0)
            *below = fmin(l->y[r], *below);
    }
}
