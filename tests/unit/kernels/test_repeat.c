/* SPDX-License-Identifier: Apache-2.0
 *
 * Work that a device captures and repeats. It runs the given number of times; a network's steps
 * have the same bytes as single steps in any order that the device may choose; buffers may grow in
 * between; a device may be unable to capture. */
#include "tests/unit/kernels/steps.h"

#include "tests/unit/under.h"

/* ---- counting ---- */

struct count {
    struct mc_buf *ctl, *from, *to;
    size_t calls;
};

static void count(void *arg)
{
    struct count *c = arg;

    c->calls++;
    be->ctl_next(be, c->ctl);
    be->copy(be, c->to, c->from, 2 * sizeof(float));
}

static void work_runs_the_given_number_of_times(void **state)
{
    static const size_t times[] = {1, 40, 3, 1, 0, 9};
    const struct mc_ctl begin = {.row = 5};
    const float one[] = {1, 2}, other[] = {3, 4};
    struct count c = {buf(sizeof begin, &begin), buf(sizeof one, one), buf(sizeof one, NULL), 0};
    struct mc_capture *saved = NULL;
    struct mc_error err = {0};
    struct mc_ctl ctl;
    float got[2];
    uint32_t expected = begin.row;

    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        be->repeat(be, &saved, times[i], count, &c);
        expected += (uint32_t)times[i];
        fetch(c.ctl, &ctl, sizeof ctl);
        assert_int_equal(ctl.row, expected);
    }
    if (be->launch_steps > 1) /* repeat gets many at once because few calls are captured */
        assert_true(c.calls < 54 / 2);
    else
        assert_int_equal(c.calls, 54);

    /* the buffers have moved */
    ok(be->buf_grow(be, c.from, 1 << 20, &err), &err);
    ok(be->buf_grow(be, c.to, 1 << 20, &err), &err);
    put(c.from, 0, other, sizeof other);
    for (int i = 0; i < 3; i++) {
        be->zero(be, c.to);
        be->repeat(be, &saved, 4, count, &c);
        fetch(c.to, got, sizeof got);
        assert_memory_equal(got, other, sizeof got);
    }
    fetch(c.ctl, &ctl, sizeof ctl);
    assert_int_equal(ctl.row, expected + 12);
    be->capture_free(be, saved);
    be->capture_free(be, NULL);
    release(0);
}

/* ---- a network's steps ---- */

enum { STEPS = 12 };

/* Convolutions, dropout, pools, a branch and two heads. */
static struct mc_graph *branched(void)
{
    struct mc_graph *g = mc_graph_new("branched", 3, 9, 7, 5, MEAN, STD);
    int x = unit_of(g, 0, 16, (struct mc_conv_opts){.kernel = 3, .pad = 1, .bias = 1});
    int y = unit_of(g, x, 16, (struct mc_conv_opts){.kernel = 3, .pad = 1});
    const int side = mc_graph_globalpool(g, NULL, x);

    x = mc_graph_add(g, NULL, (int[]){x, y}, 2);
    x = mc_graph_globalpool(g, NULL, x);
    x = mc_graph_dropout(g, NULL, x, .3f);
    head(g, x, 1, 0);
    head(g, side, .3f, 1);
    return finish(g, 0);
}

/* Trains. at_once: steps per call of repeat; 0: direct steps. Returns the parameters. */
static float *trained(size_t at_once, double *sums, size_t *bytes)
{
    int32_t order[STEPS * B];
    float lrs[STEPS], coefs[STEPS];
    struct mc_capture *saved = NULL;
    struct steps s;

    for (int i = 0; i < STEPS * B; i++)
        order[i] = i % (5 * B) < 5 * B - 2 ? i * 5 % N : -1;
    for (int i = 0; i < STEPS; i++) {
        lrs[i] = .02f / (float)(i + 1);
        coefs[i] = .75f + .01f * (float)i;
    }
    open_steps(&s, branched(), STEPS, order, lrs, coefs);
    for (size_t done = 0; done < STEPS; done += at_once ? at_once : 1)
        if (at_once)
            be->repeat(be, &saved, STEPS - done < at_once ? STEPS - done : at_once, step, &s);
        else
            step(&s);
    const size_t P = s.f.g->P, S = s.f.g->S;
    float *params = malloc((P + S) * sizeof(float));
    assert_non_null(params);
    fetch(s.f.d_params, params, P * sizeof(float));
    fetch(s.f.d_stats, params + P, S * sizeof(float));
    fetch(s.sums, sums, STEP_SUMS * sizeof *sums);
    *bytes = (P + S) * sizeof *params;
    be->capture_free(be, saved);
    teardown(&s.f);
    return params;
}

static float *expected;
static double want_sums[STEP_SUMS];

static void same_as_step_by_step(size_t at_once)
{
    double sums[STEP_SUMS];
    size_t bytes;
    float *got = trained(at_once, sums, &bytes);

    if (!expected)
        expected = trained(0, want_sums, &bytes);
    assert_memory_equal(got, expected, bytes);
    assert_memory_equal(sums, want_sums, sizeof sums);
    free(got);
}

static void captured_steps_match_direct_steps(void **state)
{
    (void)state;
    same_as_step_by_step(STEPS);
    same_as_step_by_step(1);
    same_as_step_by_step(10);
    assert_null(strstr(be->describe, "not captured"));
}

/* One step of open_steps' struct `arg`; its last work may run on the side stream. */
static void measure(void *arg)
{
    struct steps *s = arg;

    be->load(s->p, &s->f.source, s->f.d_ctl);
    be->forward(s->p, MC_MODE_BATCH, s->f.d_params, NULL, NULL, s->f.d_ctl);
    be->metrics(s->p, s->sums);
}

static void images_are_counted_once(void)
{
    int32_t order[B];
    const float lrs[1] = {0};
    double sums[STEP_SUMS];
    struct mc_capture *saved = NULL;
    struct steps s;

    for (int i = 0; i < B; i++)
        order[i] = i;
    open_steps(&s, branched(), 1, order, lrs, NULL);
    be->repeat(be, &saved, STEPS, measure, &s);
    be->repeat(be, &saved, STEPS, measure, &s);
    fetch(s.sums, sums, sizeof sums);
    assert_true(sums[MC_METRIC_IMAGES] == 2 * STEPS * B);
    be->capture_free(be, saved);
    teardown(&s.f);
}

/* The emulated device then runs side work last. */
static void side_work_may_run_last(void **state)
{
    (void)state;
    if (!on_emulation())
        skip();
    same_as_step_by_step(STEPS);
    assert_int_equal(setenv("MC_EMULATION_ORDER", "backwards", 1), 0);
    same_as_step_by_step(0);
    same_as_step_by_step(STEPS);
    images_are_counted_once();
    assert_int_equal(unsetenv("MC_EMULATION_ORDER"), 0);
}

/* ---- a device that cannot ---- */

static void failed_capture_runs_directly_and_is_reported(void **state)
{
    static const char *const where[] = {"begin", "work", "end", "instantiate", "upload"};

    (void)state;
    if (!on_emulation() || within(0) > 0) /* the same in every precision */
        skip();
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        struct mc_backend *usual = be;
        start(NULL);
        assert_int_equal(setenv("MC_EMULATION_CAPTURE", where[i], 1), 0);
        same_as_step_by_step(STEPS);
        assert_int_equal(unsetenv("MC_EMULATION_CAPTURE"), 0);
        const char *report = strstr(be->describe, ", steps not captured: ");
        assert_non_null(report);
        assert_null(strstr(report + 1, ", steps not captured: "));
        be->close(be);
        be = usual;
    }
}

/* Single steps are then launched one by one. */
static void longer_graph_may_fail(void **state)
{
    const struct mc_ctl begin = {.row = 5};
    const float one[] = {1, 2};
    struct mc_capture *saved = NULL;
    struct mc_ctl ctl;

    (void)state;
    if (!on_emulation())
        skip();
    struct mc_backend *usual = be;
    start(NULL);
    struct count c = {buf(sizeof begin, &begin), buf(sizeof one, one), buf(sizeof one, NULL), 0};
    assert_int_equal(setenv("MC_EMULATION_CAPTURE", "longer", 1), 0);
    be->repeat(be, &saved, 40, count, &c);
    be->repeat(be, &saved, 40, count, &c);
    assert_int_equal(unsetenv("MC_EMULATION_CAPTURE"), 0);
    fetch(c.ctl, &ctl, sizeof ctl);
    assert_int_equal(ctl.row, begin.row + 80);
    assert_true(c.calls > 2 && c.calls < 20); /* the longer one was tried once */
    assert_null(strstr(be->describe, "not captured"));
    be->capture_free(be, saved);
    release(0);
    be->close(be);
    be = usual;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_runs_the_given_number_of_times),
        cmocka_unit_test(captured_steps_match_direct_steps),
        cmocka_unit_test(side_work_may_run_last),
        cmocka_unit_test(failed_capture_runs_directly_and_is_reported),
        cmocka_unit_test(longer_graph_may_fail),
    };
    const int rc = cmocka_run_group_tests(tests, start, stop);

    free(expected);
    return rc;
}
