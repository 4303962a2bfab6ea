/* SPDX-License-Identifier: Apache-2.0
 *
 * Work that a device takes down and repeats: so often as it was wanted, steps of a network with the
 * bytes of the same steps one by one, buffers that grew in between, and a device that cannot. */
#include "tests/unit/kernels/device.h"

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

static void work_is_done_so_often(void **state)
{
    static const size_t times[] = {1, 40, 3, 1, 0, 9};
    const struct mc_ctl begin = {.row = 5};
    const float one[] = {1, 2}, other[] = {3, 4};
    struct count c = {buf(sizeof begin, &begin), buf(sizeof one, one), buf(sizeof one, NULL), 0};
    struct mc_capture *kept = NULL;
    struct mc_error err = {0};
    struct mc_ctl ctl;
    float got[2];
    uint32_t want = begin.row;

    (void)state;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        be->repeat(be, &kept, times[i], count, &c);
        want += (uint32_t)times[i];
        fetch(c.ctl, &ctl, sizeof ctl);
        assert_int_equal(ctl.row, want);
    }
    if (be->launch_steps > 1) /* it is given many at once because it calls few */
        assert_true(c.calls < 54 / 2);
    else
        assert_int_equal(c.calls, 54);

    /* the buffers lie elsewhere now */
    ok(be->buf_grow(be, c.from, 1 << 20, &err), &err);
    ok(be->buf_grow(be, c.to, 1 << 20, &err), &err);
    ok(be->put(be, c.from, 0, other, sizeof other, &err), &err);
    for (int i = 0; i < 3; i++) {
        be->zero(be, c.to);
        be->repeat(be, &kept, 4, count, &c);
        fetch(c.to, got, sizeof got);
        assert_memory_equal(got, other, sizeof got);
    }
    fetch(c.ctl, &ctl, sizeof ctl);
    assert_int_equal(ctl.row, want + 12);
    be->capture_free(be, kept);
    be->capture_free(be, NULL);
    be->buf_free(be, c.ctl);
    be->buf_free(be, c.from);
    be->buf_free(be, c.to);
}

/* ---- a network's steps ---- */

enum { STEPS = 12 };

struct steps {
    struct fixture f;
    struct mc_plan *p;
    struct mc_buf *order, *m, *point, *lrs, *coefs, *sums;
};

/* The point is 3/4 and more of the parameters. */
static void step(void *arg)
{
    struct steps *s = arg;
    struct fixture *f = &s->f;
    const struct mc_buf *const from[] = {f->d_params};
    const struct mc_sgd sgd = {.p = f->d_params,
                               .m = s->m,
                               .grad = f->d_grad,
                               .point = s->point,
                               .lrs = s->lrs,
                               .coefs = s->coefs,
                               .stride = 1,
                               .momentum = .9f,
                               .decay = .01f,
                               .nesterov = 1};

    be->lincomb(be, f->g->P, s->point, 1, from, s->coefs, f->d_ctl);
    be->load(s->p, &f->source, f->d_ctl);
    be->forward(s->p, MC_MODE_TRAIN, s->point, f->d_stats, NULL, f->d_ctl);
    be->metrics(s->p, s->sums);
    be->sumsq(be, f->g->P, s->point, .5, s->sums, MC_N_METRICS);
    be->backward(s->p, s->point, f->d_grad);
    be->sgd(be, f->g->P, &sgd, f->d_ctl);
    be->ctl_next(be, f->d_ctl);
}

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
    y = mc_graph_linear(g, NULL, x, 5, 1, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, NULL, y, 1, 0);
    y = mc_graph_linear(g, NULL, side, 5, 1, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(g, NULL, y, .3f, 1);
    return finish(g, 0);
}

/* at_once: how many are repeated in one call; 0: the steps as they are. Leaves the parameters. */
static float *trained(size_t at_once, double *sums)
{
    static const struct mc_augment augment = {.rotate = 15, .flip = 1, .pad = 2};
    const struct mc_ctl ctl = {.seed = 5, .epoch = 3};
    const size_t sums_size = (MC_N_METRICS + 1) * sizeof(double);
    int32_t order[STEPS * B];
    float lrs[STEPS], coefs[STEPS];
    struct steps s = {.p = NULL};
    struct mc_capture *kept = NULL;
    struct mc_error err = {0};

    for (int i = 0; i < STEPS * B; i++)
        order[i] = i % (5 * B) < 5 * B - 2 ? i * 5 % N : -1;
    for (int i = 0; i < STEPS; i++) {
        lrs[i] = .02f / (float)(i + 1);
        coefs[i] = .75f + .01f * (float)i;
    }
    setup(&s.f, branched(), 1);
    ok(be->put(be, s.f.d_ctl, 0, &ctl, sizeof ctl, &err), &err);
    const size_t bytes = s.f.g->P * sizeof(float);
    s.order = buf(sizeof order, order);
    s.m = buf(bytes, NULL);
    s.point = buf(bytes, NULL);
    s.lrs = buf(sizeof lrs, lrs);
    s.coefs = buf(sizeof coefs, coefs);
    s.sums = buf(sums_size, NULL);
    s.f.source.order = s.order;
    s.f.source.augment = &augment;
    s.f.source.purpose = MC_RNG_AUGMENT;
    s.p = plan(s.f.g, (struct mc_plan_opts){.backward = 1, .train_only = 1});
    for (size_t done = 0; done < STEPS; done += at_once ? at_once : 1)
        if (at_once)
            be->repeat(be, &kept, STEPS - done < at_once ? STEPS - done : at_once, step, &s);
        else
            step(&s);
    float *params = malloc(bytes + s.f.g->S * sizeof(float));
    assert_non_null(params);
    fetch(s.f.d_params, params, bytes);
    fetch(s.f.d_stats, params + s.f.g->P, s.f.g->S * sizeof(float));
    fetch(s.sums, sums, sums_size);
    be->capture_free(be, kept);
    be->plan_free(s.p);
    struct mc_buf *all[] = {s.order, s.m, s.point, s.lrs, s.coefs, s.sums};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        be->buf_free(be, all[i]);
    teardown(&s.f);
    return params;
}

static size_t floats(void)
{
    struct mc_graph *g = branched();
    const size_t n = g->P + g->S;

    mc_graph_free(g);
    return n;
}

static float *want;
static double want_sums[MC_N_METRICS + 1];

static void same_as_step_by_step(size_t at_once)
{
    double sums[MC_N_METRICS + 1];
    float *got = trained(at_once, sums);

    if (!want)
        want = trained(0, want_sums);
    assert_memory_equal(got, want, floats() * sizeof *got);
    assert_memory_equal(sums, want_sums, sizeof sums);
    free(got);
}

static void steps_have_the_bytes_of_direct_ones(void **state)
{
    (void)state;
    same_as_step_by_step(STEPS);
    same_as_step_by_step(1);
    same_as_step_by_step(10);
    assert_null(strstr(be->describe, "not captured"));
}

/* ---- a device that cannot ---- */

static void what_cannot_be_captured_is_done_and_said(void **state)
{
    static const char *const where[] = {"begin", "work", "end", "instantiate", "upload"};
    const char *under = getenv("MC_UNDER");

    (void)state;
    if (!under || strcmp(under, "emulation"))
        skip();
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        struct mc_backend *usual = be;
        start(NULL);
        assert_int_equal(setenv("MC_EMULATION_CAPTURE", where[i], 1), 0);
        same_as_step_by_step(STEPS);
        assert_int_equal(unsetenv("MC_EMULATION_CAPTURE"), 0);
        const char *said = strstr(be->describe, ", steps not captured: ");
        assert_non_null(said);
        assert_null(strstr(said + 1, ", steps not captured: "));
        be->close(be);
        be = usual;
    }
}

/* Then one step is launched after the other. */
static void a_longer_graph_may_fail(void **state)
{
    const struct mc_ctl begin = {.row = 5};
    const float one[] = {1, 2};
    const char *under = getenv("MC_UNDER");
    struct mc_capture *kept = NULL;
    struct mc_ctl ctl;

    (void)state;
    if (!under || strcmp(under, "emulation"))
        skip();
    struct mc_backend *usual = be;
    start(NULL);
    struct count c = {buf(sizeof begin, &begin), buf(sizeof one, one), buf(sizeof one, NULL), 0};
    assert_int_equal(setenv("MC_EMULATION_CAPTURE", "longer", 1), 0);
    be->repeat(be, &kept, 40, count, &c);
    be->repeat(be, &kept, 40, count, &c);
    assert_int_equal(unsetenv("MC_EMULATION_CAPTURE"), 0);
    fetch(c.ctl, &ctl, sizeof ctl);
    assert_int_equal(ctl.row, begin.row + 80);
    assert_true(c.calls > 2 && c.calls < 20); /* the longer one was tried, once */
    assert_null(strstr(be->describe, "not captured"));
    be->capture_free(be, kept);
    be->buf_free(be, c.ctl);
    be->buf_free(be, c.from);
    be->buf_free(be, c.to);
    be->close(be);
    be = usual;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_done_so_often),
        cmocka_unit_test(steps_have_the_bytes_of_direct_ones),
        cmocka_unit_test(what_cannot_be_captured_is_done_and_said),
        cmocka_unit_test(a_longer_graph_may_fail),
    };
    const int rc = cmocka_run_group_tests(tests, start, stop);

    free(want);
    return rc;
}
