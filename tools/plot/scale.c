/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps and numbers of axes. */
#include "tools/plot/scale.h"

#include "tools/plot/width.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SLACK 1e-9 /* share of a step: rounding of a quotient */
#define PARTS 4    /* minimum number of parts of an axis */
/* A range smaller than this share of its values is flat: its numbers would not differ. */
#define FLAT 1e-6
/* Minimum start of a logarithmic axis, so that the quotient of its ends is finite. */
#define SMALLEST 1e-200
/* Up to this quotient of its ends, a logarithmic axis has evenly spaced numbers. */
#define LINEAR 3

double mc_scale_step(double range, double parts)
{
    const double e = pow(10, floor(log10(range / parts) + SLACK)), m = range / parts / e;

    return (m < 2 - SLACK ? 1 : m < 5 - SLACK ? 2 : 5) * e;
}

/* The next larger step. */
static double next_step(double step)
{
    const double e = pow(10, floor(log10(step) + SLACK));

    return (step / e < 1.5 ? 2 : step / e < 3 ? 5 : 10) * e;
}

void mc_scale_exact(struct mc_scale *a, double low, double high)
{
    memset(a, 0, sizeof *a);
    a->from = low;
    a->to = high;
    a->step = mc_scale_step(high - low, PARTS);
}

void mc_scale_round(struct mc_scale *a, double low, double high, double min, double max)
{
    const double size = fmax(fabs(low), fabs(high));

    if (high - low <= FLAT * size || high == low) {
        const double more = size > 0 ? .05 * size : .5;
        low = fmax(low - more, min);
        high = fmin(high + more, max);
    }
    mc_scale_exact(a, low, high);
    a->from = floor(low / a->step + SLACK) * a->step;
    a->to = ceil(high / a->step - SLACK) * a->step;
}

void mc_scale_log(struct mc_scale *a, double low, double high, int zero)
{
    memset(a, 0, sizeof *a);
    a->logarithmic = 1;
    low = fmax(low, SMALLEST);
    high = fmax(high, SMALLEST);
    if (high / low < 1.2) {
        low /= 1.1;
        high *= 1.1;
    }
    const double margin = pow(high / low, .03);
    a->from = a->numbers = low / margin;
    a->to = high * margin;
    if (zero) {
        const double below = pow(a->to / a->from, .12);
        a->zero = a->from / below;
        a->from = a->zero / pow(below, .2);
    }
}

static void add(struct mc_scale *a, double at, const char *text)
{
    if (a->n == MC_MAX_TICS)
        return;
    a->at[a->n] = at;
    snprintf(a->text[a->n++], sizeof *a->text, "%s", text);
    a->widest = fmax(a->widest, mc_text_width(text));
}

static int place(double x)
{
    return (int)floor(log10(x) + SLACK);
}

/* Numbers at every step, with as many digits as the step needs. */
static void number_evenly(struct mc_scale *a, double from, double step)
{
    const double size = fmax(fabs(from), fabs(a->to));
    char text[24];

    for (double k = ceil(from / step - SLACK); k <= a->to / step + SLACK; k++) {
        const double v = k == 0 ? 0 : k * step;
        if (size >= 1e6 || size < 1e-3)
            snprintf(text, sizeof text, "%.*g", place(size) - place(step) + 1, v);
        else
            snprintf(text, sizeof text, "%.*f", place(step) < 0 ? -place(step) : 0, v);
        if (!a->logarithmic || v > 0)
            add(a, v, text);
    }
}

/* Numbers at these digits in every `decades`th decade. */
static void number_decades(struct mc_scale *a, const char *digits, int decades)
{
    char text[24];

    for (int e = place(a->numbers); e <= place(a->to); e++)
        for (const char *d = digits; *d && e % decades == 0; d++) {
            const double v = (*d - '0') * pow(10, e);
            if (v < a->numbers * (1 - SLACK) || v > a->to * (1 + SLACK))
                continue;
            snprintf(text, sizeof text, "%g", v);
            add(a, v, text);
        }
}

/* Numbers at least `spacing` decades apart. */
static void number_log(struct mc_scale *a, double spacing)
{
    static const struct {
        const char *digits;
        double spacing; /* decades between the closest two */
    } sets[] = {{"12357", .146}, {"125", .301}, {"13", .477}, {"1", 1}};
    size_t i = 0;

    if (a->to / a->numbers < LINEAR) {
        double step = mc_scale_step(a->to - a->numbers, PARTS);
        while (log10(a->to / (a->to - step)) < spacing && step < a->to / 2)
            step = next_step(step);
        number_evenly(a, a->numbers, step);
        return;
    }
    while (i < 3 && sets[i].spacing < spacing)
        i++;
    number_decades(a, sets[i].digits, (int)ceil(fmax(spacing, 1)));
}

/* Number of steps on a scale. */
static double count(const struct mc_scale *a, double step)
{
    return floor(a->to / step + SLACK) - ceil(a->from / step - SLACK) + 1;
}

void mc_scale_number(struct mc_scale *a, size_t max)
{
    double step = a->step;

    a->n = 0;
    a->widest = 0;
    max = max < MC_MAX_TICS ? max : MC_MAX_TICS;
    if (a->logarithmic) {
        const double spacing = log10(a->to / a->from) / (double)max;
        if (a->zero > 0)
            add(a, a->zero, "0");
        number_log(a, spacing);
        if (a->zero > 0 && a->n > 1 && log10(a->at[1] / a->zero) < spacing) { /* would hide the 0 */
            memmove(a->at + 1, a->at + 2, (a->n - 2) * sizeof *a->at);
            memmove(a->text + 1, a->text + 2, (a->n - 2) * sizeof *a->text);
            a->n--;
        }
        return;
    }
    while (count(a, step) > (double)max)
        step = count(a, next_step(step)) > 1 ? next_step(step) : 2 * step;
    number_evenly(a, a->from, step);
}
