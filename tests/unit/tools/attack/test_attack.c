/* SPDX-License-Identifier: Apache-2.0
 *
 * Attacks on a batch: examples stay in the ball, the worst restart is kept, targets are approached,
 * statistics and masked images stay unchanged, and one thread gives the same bits as two. */
#include "libcommon/base/rng.h"
#include "tests/unit/kernels/device.h"
#include "tools/attack/attack.h"
#include "tests/unit/must.h"

enum { SHORT = 5 }; /* images in a short batch */

/* A network attacked on row 1 of its fixture's order. */
struct bench {
    struct fixture f;
    struct mc_plan *p;
    struct mc_buf *targets, *d_out;
    int32_t samples[B], target_of[N];
    size_t floats;                       /* per batch */
    float *clean, *x, loss[B], after[B]; /* loss: recomputed; after: in the plan after the attack */
};

static void open_bench(struct bench *b, int bytes, int valid)
{
    memset(b, 0, sizeof *b);
    setup(&b->f, small_net(0), bytes);
    b->p = plan(b->f.g, (struct mc_plan_opts){.backward = 1, .input_grad = 1});
    set_order(&b->f, valid, b->samples);
    b->floats = B * b->f.image;
    b->clean = malloc(b->floats * sizeof(float));
    b->x = malloc(b->floats * sizeof(float));
    assert_true(b->clean && b->x);
    b->targets = buf(sizeof b->target_of, NULL);
    b->d_out = buf(B * sizeof(float), NULL);
}

static void close_bench(struct bench *b)
{
    free(b->clean);
    free(b->x);
    teardown(&b->f);
}

/* Losses of pixels x with these labels. */
static void losses(struct bench *b, enum mc_mode mode, const struct mc_buf *labels,
                   const struct mc_buf *x, float *loss)
{
    struct mc_source s = b->f.source;

    s.labels = labels;
    be->load(b->p, &s, b->f.d_ctl);
    be->set_pixels(b->p, x);
    be->forward(b->p, mode, b->f.d_params, b->f.d_stats, NULL, b->f.d_ctl);
    be->output(b->p, MC_OUT_LOSS, 0, b->d_out);
    fetch(b->d_out, loss, B * sizeof(float));
}

static void run_with(struct bench *b, struct mc_attack *a, enum mc_mode mode)
{
    mc_attack_targets(&a->options, b->f.g->classes, N, b->f.labels, b->target_of);
    must(be->put(be, b->targets, 0, b->target_of, sizeof b->target_of, &why));
    be->load(b->p, &b->f.source, b->f.d_ctl);
    a->targets = b->targets;
    mc_attack_run(a, b->p, &b->f.source, b->f.d_ctl, mode, b->f.d_params, b->f.d_stats);
    be->forward(b->p, mode, b->f.d_params, b->f.d_stats, NULL, b->f.d_ctl);
    be->output(b->p, MC_OUT_LOSS, 0, b->d_out);
    fetch(b->d_out, b->after, sizeof b->after);
    fetch(a->clean, b->clean, b->floats * sizeof(float));
    fetch(a->examples, b->x, b->floats * sizeof(float));
    losses(b, mode, b->f.d_labels, a->examples, b->loss);
}

static void attack(struct bench *b, const struct mc_attack_options *o, enum mc_mode mode)
{
    struct mc_attack a;

    must(mc_attack_open(&a, o, MC_RNG_ATTACK, be, b->f.g, B, &why));
    run_with(b, &a, mode);
    mc_attack_release(&a);
}

static double distance(const struct bench *b, enum mc_ball_norm norm, size_t i)
{
    double largest = 0, squares = 0;

    for (size_t q = i * b->f.image; q < (i + 1) * b->f.image; q++) {
        const double d = fabs((double)b->x[q] - (double)b->clean[q]);
        largest = d > largest ? d : largest;
        squares += d * d;
    }
    return norm == MC_BALL_L2 ? sqrt(squares) : largest;
}

static double sum(const float *v, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += (double)v[i];
    return s;
}

static struct mc_attack_options options_of(enum mc_ball_norm norm)
{
    return (struct mc_attack_options){.norm = norm,
                                      .eps = norm == MC_BALL_L2 ? .8 : .08,
                                      .step = norm == MC_BALL_L2 ? .3 : .03,
                                      .steps = 4,
                                      .restarts = 1};
}

/* All combinations of norm, start, restarts, mode and pixel type. The plan then holds the examples
 * with the batch's own labels, and the loss has risen. */
TEST(examples_stay_in_the_ball)
{
    for (int variant = 0; variant < 32; variant++) {
        const enum mc_mode mode = variant & 8 ? MC_MODE_BATCH : MC_MODE_EVAL;
        struct mc_attack_options o = options_of(variant & 1 ? MC_BALL_L2 : MC_BALL_LINF);
        float before[B];
        double farthest = 0;
        struct bench b;
        o.clean_start = variant & 2;
        o.restarts = variant & 4 ? 3 : 1;
        open_bench(&b, variant & 16, SHORT);
        attack(&b, &o, mode);
        for (size_t i = 0; i < SHORT; i++) {
            const double d = distance(&b, o.norm, i);
            assert_true(d <= o.eps + 1e-6);
            farthest = d > farthest ? d : farthest;
            for (size_t q = i * b.f.image; q < (i + 1) * b.f.image; q++) {
                const size_t from = (size_t)b.samples[i] * b.f.image + q - i * b.f.image;
                assert_true(b.x[q] >= 0 && b.x[q] <= 1);
                assert_true(fabsf(b.clean[q] - b.f.pixels[from]) <= 1e-7f);
            }
        }
        assert_true(farthest > .9 * o.eps);
        struct mc_buf *clean = buf(b.floats * sizeof(float), b.clean);
        losses(&b, mode, b.f.d_labels, clean, before);
        assert_true(sum(b.loss, SHORT) > 1.1 * sum(before, SHORT));
        must(be->get(be, b.f.d_labels, 0, b.target_of, sizeof b.target_of, &why));
        assert_memory_equal(b.target_of, b.f.labels, sizeof b.f.labels);
        assert_memory_equal(b.after, b.loss, sizeof b.loss);
        close_bench(&b);
    }
}

/* Compute each restart separately, step by step. The attack must keep each image's worst restart
 * (with a target, the nearest to it), bit for bit. */
TEST(restart_with_largest_loss_is_kept)
{
    for (int targeted = 0; targeted < 2; targeted++) {
        struct mc_attack_options o = options_of(MC_BALL_LINF);
        const struct mc_ball ball = {MC_BALL_LINF, (float)o.eps,
                                     (float)(targeted ? -o.step : o.step), MC_RNG_ATTACK};
        float *restart[4], loss[4][B];
        int chosen[4] = {0};
        struct bench b;
        struct mc_buf *clean = NULL, *x = NULL, *grad = NULL;
        o.restarts = 4;
        o.steps = 2;
        o.targeted = targeted;
        o.target = 2;
        open_bench(&b, 0, B);
        attack(&b, &o, MC_MODE_EVAL);
        clean = buf(b.floats * sizeof(float), b.clean);
        x = buf(b.floats * sizeof(float), NULL);
        grad = buf(b.floats * sizeof(float), NULL);
        const struct mc_buf *labels = targeted ? b.targets : b.f.d_labels;
        for (uint32_t r = 0; r < 4; r++) {
            restart[r] = malloc(b.floats * sizeof(float));
            assert_non_null(restart[r]);
            losses(&b, MC_MODE_EVAL, labels, clean, loss[r]);
            be->attack_start(b.p, &ball, r, clean, x);
            for (int s = 0; s < 2; s++) {
                losses(&b, MC_MODE_EVAL, labels, x, loss[r]);
                be->backward(b.p, b.f.d_params, NULL);
                be->input_grad(b.p, grad);
                be->attack_step(b.p, &ball, clean, grad, x);
            }
            losses(&b, MC_MODE_EVAL, labels, x, loss[r]);
            fetch(x, restart[r], b.floats * sizeof(float));
        }
        for (size_t i = 0; i < B; i++) {
            int best = 0;
            for (int r = 1; r < 4; r++)
                if (targeted ? loss[r][i] < loss[best][i] : loss[r][i] > loss[best][i])
                    best = r;
            chosen[best]++;
            assert_memory_equal(b.x + i * b.f.image, restart[best] + i * b.f.image,
                                b.f.image * sizeof(float));
            if (!targeted)
                assert_true(b.loss[i] == loss[best][i]);
        }
        assert_true(chosen[0] < B); /* otherwise the test is void */
        for (int r = 0; r < 4; r++)
            free(restart[r]);
        close_bench(&b);
    }
}

TEST(target_loss_falls)
{
    for (int variant = 0; variant < 4; variant++) {
        struct mc_attack_options o = options_of(variant & 1 ? MC_BALL_L2 : MC_BALL_LINF);
        float before[B], after[B];
        struct bench b;
        o.clean_start = o.targeted = 1;
        o.shift = variant & 2;
        o.target = 3;
        o.step /= 4;
        open_bench(&b, 0, SHORT);
        attack(&b, &o, MC_MODE_EVAL);
        for (int i = 0; i < N; i++)
            assert_int_equal(b.target_of[i], o.shift ? (b.f.labels[i] + 3) % 5 : 3);
        struct mc_buf *clean = buf(b.floats * sizeof(float), b.clean);
        struct mc_buf *x = buf(b.floats * sizeof(float), b.x);
        losses(&b, MC_MODE_EVAL, b.targets, clean, before);
        losses(&b, MC_MODE_EVAL, b.targets, x, after);
        for (size_t i = 0; i < SHORT; i++)
            assert_true(after[i] < before[i]);
        assert_memory_equal(b.after, b.loss, sizeof b.loss); /* own labels again */
        close_bench(&b);
    }
}

TEST(targets_are_computed_and_checked)
{
    const int32_t labels[] = {0, 1, 4};
    const struct mc_dataset_info info = {.name = "d", .spec.classes = 5};
    struct mc_attack_options o = {.targeted = 1, .shift = 1, .target = 1};
    int32_t t[3];

    mc_attack_targets(&o, 5, 3, labels, t);
    assert_true(t[0] == 1 && t[1] == 2 && t[2] == 0);
    o.target = 1000004;
    mc_attack_targets(&o, 5, 3, labels, t);
    assert_true(t[0] == 4 && t[1] == 0 && t[2] == 3);
    must(mc_attack_resolve(&o, &info, &why));
    o.target = 1000005; /* the image's own class */
    must_fail(mc_attack_resolve(&o, &info, &why), MC_EUSAGE, "");
    o = (struct mc_attack_options){.clean_start = 1, .restarts = 2};
    must_fail(mc_attack_resolve(&o, &info, &why), MC_EUSAGE, "");
    o = (struct mc_attack_options){.targeted = 1, .target = 5};
    must_fail(mc_attack_resolve(&o, &info, &why), MC_EUSAGE, "");
    o.targeted = 0;
    mc_attack_targets(&o, 5, 3, labels, t);
    assert_memory_equal(t, labels, sizeof t);
}

/* A short batch after a full one: masked images have zero pixels and no weight, whatever the
 * buffers hold. */
TEST(masked_images_stay_zero)
{
    for (int variant = 0; variant < 4; variant++) {
        const enum mc_mode mode = variant & 1 ? MC_MODE_BATCH : MC_MODE_EVAL;
        struct mc_attack_options o = options_of(MC_BALL_LINF);
        struct mc_attack a;
        struct bench b;
        float *alone = NULL;
        o.restarts = variant & 2 ? 2 : 1;
        open_bench(&b, 0, SHORT);
        alone = malloc(b.floats * sizeof *alone);
        assert_non_null(alone);
        attack(&b, &o, mode);
        memcpy(alone, b.x, b.floats * sizeof *alone);
        for (size_t q = SHORT * b.f.image; q < b.floats; q++)
            assert_true(b.clean[q] == 0 && b.x[q] == 0);
        must(mc_attack_open(&a, &o, MC_RNG_ATTACK, be, b.f.g, B, &why));
        set_order(&b.f, B, b.samples);
        run_with(&b, &a, mode);
        set_order(&b.f, SHORT, b.samples);
        run_with(&b, &a, mode);
        assert_memory_equal(b.x, alone, SHORT * b.f.image * sizeof *alone);
        for (size_t i = SHORT; i < B; i++)
            assert_true(b.after[i] == 0);
        mc_attack_release(&a);
        free(alone);
        close_bench(&b);
    }
}

TEST(statistics_stay_unchanged)
{
    for (int variant = 0; variant < 4; variant++) {
        const enum mc_mode mode = variant & 1 ? MC_MODE_BATCH : MC_MODE_EVAL;
        struct mc_attack_options o = options_of(MC_BALL_LINF);
        struct bench b;
        o.restarts = variant & 2 ? 2 : 1;
        open_bench(&b, 0, SHORT);
        float *stats = malloc((b.f.g->S + 1) * sizeof *stats);
        assert_true(stats && b.f.g->S > 0);
        attack(&b, &o, mode);
        fetch(b.f.d_stats, stats, b.f.g->S * sizeof *stats);
        assert_memory_equal(stats, b.f.stats, b.f.g->S * sizeof *stats);
        free(stats);
        close_bench(&b);
    }
}

TEST(radius_0_changes_nothing)
{
    for (int variant = 0; variant < 4; variant++) {
        struct mc_attack_options o = options_of(variant & 1 ? MC_BALL_L2 : MC_BALL_LINF);
        struct bench b;
        o.eps = 0;
        o.restarts = variant & 2 ? 2 : 1;
        open_bench(&b, 0, B);
        attack(&b, &o, MC_MODE_EVAL);
        for (size_t q = 0; q < b.floats; q++)
            assert_true(b.x[q] == b.clean[q]);
        close_bench(&b);
    }
}

/* The fixture's network has no sum that is split between threads. */
TEST(examples_are_bit_identical_on_one_thread)
{
    struct mc_backend *two = be, *one = NULL;

    must(mc_backend_open(&one, &(struct mc_backend_opts){.device = "cpu", .threads = 1}, &why));
    for (int variant = 0; variant < 4; variant++) {
        const enum mc_mode mode = variant & 1 ? MC_MODE_BATCH : MC_MODE_EVAL;
        struct mc_attack_options o = options_of(variant & 2 ? MC_BALL_L2 : MC_BALL_LINF);
        struct bench a, b;
        o.restarts = 2;
        open_bench(&a, 1, B);
        attack(&a, &o, mode);
        be = one;
        open_bench(&b, 1, B);
        attack(&b, &o, mode);
        assert_memory_equal(a.x, b.x, a.floats * sizeof(float));
        close_bench(&b);
        be = two;
        close_bench(&a);
    }
    one->close(one);
}

int main(void)
{
    return run_entered(start, stop);
}
