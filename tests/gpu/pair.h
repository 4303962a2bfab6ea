/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares a device with the CPU: each computes from the same inputs, records its results by name,
 * and the records are compared. The device then runs again and must return the same bytes. The
 * device is $MC_TEST_DEVICE (cuda), or tests/emulation instead. Header only. */
#ifndef MC_TEST_PAIR_H
#define MC_TEST_PAIR_H

#include "tests/unit/kernels/device.h"
#include "tests/unit/under.h"

enum { CPU, CUDA, AGAIN, N_RUNS };

#define SMALL 3e-2 /* residue of half precision's sums whose true value is 0, times `within` */

static struct mc_backend *cpu, *cuda;

/* n numbers a of the device and b of the CPU agree if |a - b| <= tolerance * (|b| + the root mean
 * square of b) + least, except for `stray` of them. In less precision than float32's: if
 * `tolerance` is 0, a is b rounded to the type of the device's activations; if `each` is set, the
 * same rule holds with `within`; otherwise all agree in norm to `within`, of numbers that are at
 * least SMALL. */
struct set {
    char name[MC_NAME_MAX];
    double *x;
    size_t n, stray;
    double tolerance, least;
    int each;
};

struct record {
    struct set *sets;
    size_t n;
};

static inline struct set *note(struct record *r, const char *name, double tolerance, size_t n)
{
    r->sets = realloc(r->sets, (r->n + 1) * sizeof *r->sets);
    assert_non_null(r->sets);
    struct set *p = &r->sets[r->n++];
    *p = (struct set){.x = malloc((n + 1) * sizeof *p->x), .n = n, .tolerance = tolerance};
    assert_non_null(p->x);
    snprintf(p->name, sizeof p->name, "%s", name);
    return p;
}

static inline struct set *note_floats(struct record *r, const char *name, double tolerance,
                                      const struct mc_buf *b, size_t n)
{
    struct set *p = note(r, name, tolerance, n);
    const float *x = host_copy(b, n);

    for (size_t i = 0; i < n; i++)
        p->x[i] = (double)x[i];
    return p;
}

static inline struct set *note_doubles(struct record *r, const char *name, double tolerance,
                                       const struct mc_buf *b, size_t n)
{
    struct set *p = note(r, name, tolerance, n);

    fetch(b, p->x, n * sizeof *p->x);
    return p;
}

/* The maximum error so far, relative to its bound. */
static __attribute__((unused)) double worst_error;

/* Number of differences. Only the first three are printed; one does not hide other cases. */
static unsigned n_off;

static __attribute__((format(printf, 1, 2))) void differs(const char *fmt, ...)
{
    va_list ap;
    char text[512];

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n_off++ < 3)
        print_error("%s\n", text);
}

/* The distance relative to its bound for rounding. */
static double in_norm(const struct set *b, const struct set *a)
{
    double norm = 0, off = 0;

    for (size_t i = 0; i < b->n; i++) {
        norm += b->x[i] * b->x[i];
        off += (a->x[i] - b->x[i]) * (a->x[i] - b->x[i]);
    }
    return sqrt(off) / (within(b->tolerance) * (sqrt(norm) + SMALL * sqrt((double)b->n)));
}

/* Half precision stores activations in its own type: x rounded to nearest there, ties to even. */
static double as_stored(double x)
{
    enum mc_precision p = MC_PRECISION_F32;
    struct mc_error err = {0};
    int exponent = 0;

    ok(precision_tested(&p, &err), &err);
    const int bits = p == MC_PRECISION_BF16 ? 8 : p == MC_PRECISION_F16 ? 11 : 0;
    if (!bits || !isfinite(x))
        return x;
    const double significant = frexp(x, &exponent);
    return ldexp(rint(ldexp(significant, bits)), exponent - bits);
}

static void compare_each(const char *name, const struct set *b, const struct set *a, double rms)
{
    const int exact = b->tolerance == 0;
    const double tolerance = exact ? 0 : within(b->tolerance);
    size_t off = 0, first = 0;

    for (size_t i = 0; i < b->n; i++) {
        const double reference = exact ? as_stored(b->x[i]) : b->x[i],
                     error = fabs(a->x[i] - reference);
        const double allowed = tolerance * (fabs(reference) + rms) + b->least;
        const int equal = isnan(reference) ? isnan(a->x[i]) : a->x[i] == reference;
        if (equal || error <= allowed)
            worst_error = fmax(worst_error, equal ? 0 : error / allowed);
        else if (!off++)
            first = i;
    }
    if (off > b->stray)
        differs("%s: %s: %zu of %zu differ, first at %zu: expected %.9g, got %.9g, rms %.3g", name,
                b->name, off, b->n, first, b->x[first], a->x[first], rms);
}

static void compare(const char *name, const struct record *reference, const struct record *got)
{
    assert_int_equal(reference->n, got->n);
    for (size_t k = 0; k < reference->n; k++) {
        const struct set *b = &reference->sets[k], *a = &got->sets[k];
        double rms = 0;
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->n, b->n);
        for (size_t i = 0; i < b->n; i++)
            rms += isfinite(b->x[i]) ? b->x[i] * b->x[i] / (double)b->n : 0;
        rms = sqrt(rms);
        if (!(within(0) > 0) || b->tolerance == 0 || b->each) {
            compare_each(name, b, a, rms);
            continue;
        }
        const double part = in_norm(b, a);
        if (!(part <= 1))
            differs("%s: %s: error is %.2f times the bound, rms %.3g", name, b->name, part, rms);
        worst_error = fmax(worst_error, part);
    }
}

static void same_bytes(const char *name, const struct record *a, const struct record *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t k = 0; k < a->n; k++)
        if (memcmp(a->sets[k].x, b->sets[k].x, a->sets[k].n * sizeof(double)))
            differs("%s: %s: the second run has other bytes", name, a->sets[k].name);
}

/* Sets `be` to run k's backend. In the second run an emulated device's blocks and threads run in
 * reverse order. */
static inline void take_turn(int k)
{
    be = k == CPU ? cpu : cuda;
    if (k == AGAIN)
        assert_int_equal(setenv("MC_EMULATION_ORDER", "backwards", 1), 0);
}

static inline void end_turn(void)
{
    assert_int_equal(unsetenv("MC_EMULATION_ORDER"), 0);
}

/* Compares the results that `run` records for `arg` on each backend; counts differences in
 * n_off. */
static inline void both_counted(const char *name, void (*run)(struct record *r, const void *arg),
                                const void *arg)
{
    struct record r[N_RUNS] = {{0}};

    for (int k = CPU; k < N_RUNS; k++) {
        take_turn(k);
        run(&r[k], arg);
        release(0);
        end_turn();
    }
    compare(name, &r[CPU], &r[CUDA]);
    same_bytes(name, &r[CUDA], &r[AGAIN]);
    for (int k = CPU; k < N_RUNS; k++) {
        for (size_t i = 0; i < r[k].n; i++)
            free(r[k].sets[i].x);
        free(r[k].sets);
    }
}

static inline void both(const char *name, void (*run)(struct record *r, const void *arg),
                        const void *arg)
{
    n_off = 0;
    both_counted(name, run, arg);
    assert_int_equal(n_off, 0);
}

static int open_both(void **state)
{
    struct mc_error err = {0};

    (void)state;
    open_cpu(2);
    cpu = be;
    ok(open_tested(&cuda, "cuda", 2, &err), &err);
    print_message("%s\n", cuda->describe);
    assert_string_equal(cuda->name, "cuda");
    return 0;
}

static int close_both(void **state)
{
    (void)state;
    assert_null(strstr(cuda->describe, "not captured"));
    release(0);
    cuda->close(cuda);
    cpu->close(cpu);
    return 0;
}

#endif
