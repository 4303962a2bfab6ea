/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation: its reports against simple float64 loops, a planted swap that
 * it must find, and the effect of proximal terms. */
#include "tests/unit/kernels/naive.h"

#include "tests/unit/tools/pam/pam.h"

/* ---- float64 reference ---- */

/* Augmented with the reserved epoch for measurements. */
static void picture(const struct mc_train_options *o, int32_t sample, double *out)
{
    naive_picture(CHANNELS, SIDE, SIDE, pixels + sample * IMAGE, o->augment,
                  mc_rng(o->seed, MC_RNG_AUGMENT, UINT32_MAX, (uint32_t)sample, 0), out);
}

struct value {
    double loss, decay;
};

static size_t whole_batches(size_t images)
{
    return images < B ? images : images / B * B;
}

/* Value of (1-t) a + t P b + 2t(1-t) offset at the midpoints of equal parts of [0,1], on the images
 * from `begin` on. */
static struct value value_on(const struct ends *e, const struct mc_pam_options *o,
                             const struct mc_train_options *train, double huber, size_t begin,
                             size_t images, const struct mc_perm *perm, const float *offset)
{
    struct mc_graph *g = mc_graph_copy(e->g);
    const size_t P = g->P;
    float *pb = zeros(P), *theta = zeros(P);
    double batch[B * IMAGE] = {0};
    int32_t samples[B], answers[B];
    struct value sum = {0, 0};
    struct naive v;

    mc_graph_huber(g, (float)huber);
    must(mc_perm_apply(perm, &e->s, g, e->b, NULL, pb, NULL, &why));
    naive_init(&v, g, B);
    v.mode = MC_MODE_BATCH;
    v.params = theta;
    v.samples = samples;
    v.labels = answers;
    for (uint64_t j = 0; j < o->points; j++) {
        const double t = ((double)j + .5) / (double)o->points;
        for (size_t i = 0; i < P; i++) {
            const double x =
                (1 - t) * (double)e->a[i] + t * (double)pb[i] + 2 * t * (1 - t) * (double)offset[i];
            theta[i] = (float)x;
            sum.decay += .5 * train->decay * x * x / (double)o->points;
        }
        for (size_t first = 0; first < images; first += B) {
            v.valid = images - first < B ? (int)(images - first) : B;
            for (int b = 0; b < v.valid; b++) {
                samples[b] = (int32_t)(begin + first) + b;
                answers[b] = labels[samples[b]];
                picture(train, samples[b], batch + b * IMAGE);
            }
            naive_run(&v, batch);
            for (int b = 0; b < v.valid; b++)
                sum.loss += v.loss[b] / (double)(images * o->points);
        }
    }
    naive_release(&v);
    free(pb);
    free(theta);
    mc_graph_free(g);
    return sum;
}

static size_t selection_images(const struct mc_pam_options *o)
{
    return whole_batches(o->images < N ? o->images : N);
}

/* Value on the selection images: whole batches of the first ones. */
static struct value value_of(const struct ends *e, const struct mc_pam_options *o,
                             const struct mc_train_options *train, const struct mc_perm *perm,
                             const float *offset)
{
    return value_on(e, o, train, train->huber, 0, selection_images(o), perm, offset);
}

/* Check the report's losses on other images and with the ReLU. */
static void check_other_sets(const struct ends *e, const struct mc_pam_options *o,
                             const struct mc_train_options *train, const struct mc_pam_report *r,
                             const struct mc_perm *perm0, const float *offset0,
                             const struct mc_perm *perm1, const float *offset1)
{
    const size_t n = selection_images(o), others = (N - n < n ? N - n : n) / B * B;

    if (o->permutation_epochs && others) {
        near("others before", r->loss_others_before,
             value_on(e, o, train, train->huber, n, others, perm0, offset0).loss, 1e-5);
        near("others", r->loss_others,
             value_on(e, o, train, train->huber, n, others, perm1, offset0).loss, 1e-5);
    } else {
        assert_true(isnan(r->loss_others_before) && isnan(r->loss_others));
    }
    if (train->huber > 0) {
        near("ReLU before", r->relu_before, value_on(e, o, train, 0, 0, n, perm0, offset0).loss,
             1e-5);
        near("ReLU", r->relu, value_on(e, o, train, 0, 0, n, perm1, offset1).loss, 1e-5);
        assert_true(fabs(r->relu_before - r->before.loss) > 1e-3);
    } else {
        assert_true(isnan(r->relu_before) && isnan(r->relu));
    }
}

/* Check the report of an iteration from (perm0, offset0) to (perm1, offset1). */
static void check_report(const struct ends *e, const struct mc_pam_options *o,
                         const struct mc_train_options *train, const struct mc_pam_report *r,
                         const struct mc_perm *perm0, const float *offset0,
                         const struct mc_perm *perm1, const float *offset1)
{
    const struct value before = value_of(e, o, train, perm0, offset0);
    const struct value between = value_of(e, o, train, perm1, offset0);
    const struct value after = value_of(e, o, train, perm1, offset1);
    const double units = (double)moved(perm0, perm1);
    const double proximal_p = 2 * units / (2 * o->nu_permutation);
    const double proximal_c = distance(e, offset0, offset1) / (2 * o->nu_curve);

    near("loss before", r->before.loss, before.loss, 1e-5);
    near("decay before", r->before.decay, before.decay, 1e-5);
    if (o->permutation_epochs) {
        near("loss of the permutation", r->permutation.loss, between.loss, 1e-5);
        near("decay of the permutation", r->permutation.decay, between.decay, 1e-5);
        assert_true(r->moved == units);
        near("proximal term of the permutation", r->proximal_permutation, proximal_p, 1e-12);
        assert_true(r->permutation.loss + (o->by_objective ? proximal_p : 0) <= r->before.loss);
        assert_true(isfinite(r->relaxed.loss) && isfinite(r->projection.loss));
        assert_true(r->residual >= 0 && r->residual < .1);
    } else {
        assert_true(isnan(r->permutation.loss) && isnan(r->proximal_permutation));
    }
    if (o->curve_epochs) {
        near("loss of the curve", r->curve.loss, after.loss, 1e-5);
        near("decay of the curve", r->curve.decay, after.decay, 1e-5);
        near("proximal term of the curve", r->proximal_curve / proximal_c, 1, 1e-9);
    } else {
        assert_true(isnan(r->curve.loss) && isnan(r->proximal_curve));
    }
    check_other_sets(e, o, train, r, perm0, offset0, perm1, offset1);
    near("decrease", r->decrease,
         before.loss + before.decay - after.loss - after.decay - proximal_p - proximal_c, 1e-5);
}

/* ---- tests ---- */

static void check_iterations(const char *net, const struct mc_pam_options *o, double huber,
                             int augment)
{
    struct ends e = ends_of(net);
    struct mc_train_options train = schedule();

    train.huber = huber;
    train.augment = augment;
    mc_perm_random(&e.perm, 5);
    struct result first, whole = run(&e, o, train);
    train.stop_after = o->permutation_epochs + o->curve_epochs;
    first = run(&e, o, train);
    assert_memory_equal(&first.report[0], &whole.report[0], sizeof whole.report[0]);
    assert_true(isnan(first.report[1].before.loss));
    check_report(&e, o, &train, &whole.report[0], &e.perm, e.offset, &first.perm, first.offset);
    check_report(&e, o, &train, &whole.report[1], &first.perm, first.offset, &whole.perm,
                 whole.offset);
    must(mc_perm_check(&whole.perm, &why));
    if (o->permutation_epochs && !augment)
        assert_true(moved(&e.perm, &first.perm) > 0); /* otherwise the test is void */
    if (o->curve_epochs)
        assert_true(distance(&e, e.offset, first.offset) > 1e-3);
    release(&first);
    release(&whole);
    release_ends(&e);
}

TEST(reports_agree_with_float64)
{
    struct mc_pam_options o = options(6, 2);

    o.outer = 2;
    check_iterations("mlp:7,5", &o, 0, 0);
    check_iterations("mlp:7,5", &o, 0, 1);
    check_iterations("mlp:bn,7,5", &o, .7, 0);
    o.nu_permutation = 300;
    o.nu_curve = .5;
    o.by_objective = 0;
    o.images = 5; /* less than a batch */
    check_iterations("mlp:bn,7", &o, 0, 1);
    o.images = 5000; /* more than the data has */
    o.permutation_epochs = 0;
    check_iterations("mlp:7", &o, 0, 0);
    o.permutation_epochs = 6;
    o.curve_epochs = 0;
    check_iterations("mlp:7", &o, .5, 0);
    o.jointly = 0;
    o.images = 32;
    o.curve_epochs = 1;
    check_iterations("mlp:7,5", &o, 0, 0);
}

/* The selected permutation is at least as good as the previous one and the projection. If it starts
 * from the previous one and combines several groups, it is better than each group alone. */
TEST(groups_are_selected_one_by_one)
{
    struct mc_pam_options o = options(6, 0);
    const struct mc_train_options train = schedule();
    struct ends e = ends_of("mlp:7,6,5");
    size_t together = 0, projected = 0;

    o.jointly = 0;
    o.by_objective = 0;
    for (uint64_t seed = 27; seed <= 36; seed++) {
        mc_perm_random(&e.perm, seed);
        struct result r = run(&e, &o, train);
        const struct mc_pam_report *report = &r.report[0];
        const double selected = report->permutation.loss;
        size_t groups = 0;
        near("selected", selected, value_of(&e, &o, &train, &r.perm, e.offset).loss, 1e-5);
        assert_true(selected <= report->before.loss && selected <= report->projection.loss);
        projected += report->projection.loss < report->before.loss;
        for (size_t g = 0; g < 3 && report->projection.loss >= report->before.loss; g++) {
            struct mc_perm part = {0};
            must(mc_perm_init(&part, &e.s, &why));
            mc_perm_copy(&part, &e.perm);
            memcpy(part.perm[g], r.perm.perm[g], part.groups[g].size * sizeof *part.perm[g]);
            if (moved(&part, &e.perm)) {
                const double alone = value_of(&e, &o, &train, &part, e.offset).loss;
                groups++;
                assert_true(alone < report->before.loss && selected <= alone + 1e-6);
            }
            mc_perm_release(&part);
        }
        together += groups > 1;
        release(&r);
    }
    assert_true(together > 0 && projected > 0); /* otherwise the test is void */
    release_ends(&e);
}

/* b is a with two units swapped. With the swap undone, the path is the single point a. */
TEST(planted_swap_is_undone)
{
    struct ends e = ends_of("mlp:7,5");
    struct mc_pam_options o = options(10, 0);
    const struct mc_train_options train = schedule();
    struct mc_perm back;

    must(mc_perm_init(&back, &e.s, &why));
    back.perm[0][1] = 4; /* its own inverse */
    back.perm[0][4] = 1;
    must(mc_perm_apply(&back, &e.s, e.g, e.a, NULL, e.b, NULL, &why));
    const struct value minimum = value_of(&e, &o, &train, &back, e.offset);
    assert_true(value_of(&e, &o, &train, &e.perm, e.offset).loss > minimum.loss + .1);

    struct result r = run(&e, &o, train);
    assert_int_equal(moved(&r.perm, &back), 0);
    assert_true(r.report[0].moved == 2);
    near("loss", r.report[0].permutation.loss, minimum.loss, 1e-5);
    release(&r);
    mc_perm_release(&back);
    release_ends(&e);
}

/* A permutation that costs more than it gains is selected only without the proximal term. */
TEST(candidates_are_selected_with_proximal_term)
{
    struct ends e = ends_of("mlp:7,5");
    struct mc_pam_options o = options(6, 0);
    const struct mc_train_options train = schedule();

    o.nu_permutation = 6;
    o.draws = 32;
    mc_perm_random(&e.perm, 5);
    struct result with_term = run(&e, &o, train);
    o.by_objective = 0;
    struct result without = run(&e, &o, train);
    const struct mc_pam_report *p = with_term.report, *b = without.report;
    assert_true(b->candidates > 1 && b->candidates == p->candidates);
    assert_true(b->kept > 0 && moved(&without.perm, &e.perm) > 0);
    assert_true(b->permutation.loss < b->before.loss);
    assert_true(b->permutation.loss + b->proximal_permutation > b->before.loss);
    assert_true(p->kept == 0 && p->moved == 0 && p->permutation.loss == p->before.loss);
    assert_int_equal(moved(&with_term.perm, &e.perm), 0);
    release(&without);
    release(&with_term);
    release_ends(&e);
}

TEST(small_nu_keeps_everything_in_place)
{
    struct ends e = ends_of("mlp:7,5");
    struct mc_pam_options o = options(6, 2);
    const struct mc_train_options train = schedule();

    mc_perm_random(&e.perm, 5);
    struct result free_run = run(&e, &o, train);
    assert_true(moved(&free_run.perm, &e.perm) > 0);
    o.nu_permutation = 1e-9;
    struct result r = run(&e, &o, train);
    assert_int_equal(moved(&r.perm, &e.perm), 0);
    assert_true(r.report[0].candidates == 1); /* the matrices did not move */
    release(&r);
    o = options(0, 2);
    for (size_t i = 0; i < e.g->P; i++)
        e.offset[i] = .01f * (float)(i % 7);
    release(&free_run);
    o.nu_curve = 1e3;
    free_run = run(&e, &o, train);
    assert_true(distance(&e, free_run.offset, e.offset) > 1e-3);
    o.nu_curve = 1e-9;
    r = run(&e, &o, train);
    assert_true(distance(&e, r.offset, e.offset) < 1e-10 * distance(&e, free_run.offset, e.offset));
    release(&r);
    release(&free_run);
    release_ends(&e);
}

int main(void)
{
    return run_entered(start, stop);
}
