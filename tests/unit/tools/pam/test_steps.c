/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of proximal alternating minimisation against simple float64 loops over two iterations. For
 * the doubly stochastic matrices: descent, proximal step and projection, observed through the
 * resulting objective and the nearest assignment. For the offset: momentum and weight decay too. */
#include "libcommon/assign/assign.h"
#include "libcommon/assign/doubly_stochastic.h"
#include "tests/unit/kernels/naive.h"

#include "tests/unit/tools/pam/pam.h"

enum { MAX_UNITS = 8, GROUPS = 2 };

struct reference {
    const struct ends *e;
    const struct mc_pam_options *o;
    const struct mc_train_options *train;
    double m[GROUPS][MAX_UNITS * MAX_UNITS], anchor_m[GROUPS][MAX_UNITS * MAX_UNITS];
    double *offset, *momentum, *anchor; /* (P) */
    double *pb, *point, *part;          /* (P) */
    float *theta;
    double batch[B * IMAGE];
    int32_t samples[B], answers[B];
    struct naive v;
};

static void begin(struct reference *r, const struct ends *e, const struct mc_pam_options *o,
                  const struct mc_train_options *train)
{
    double **const all[] = {&r->offset, &r->momentum, &r->anchor, &r->pb, &r->point, &r->part};

    *r = (struct reference){.e = e, .o = o, .train = train};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = naive_alloc(e->g->P, sizeof(double));
    r->theta = zeros(e->g->P);
    naive_init(&r->v, e->g, B);
    r->v.mode = MC_MODE_BATCH;
    r->v.params = r->theta;
    r->v.samples = r->samples;
    r->v.labels = r->answers;
}

static void end(struct reference *r)
{
    naive_release(&r->v);
    free(r->offset);
    free(r->momentum);
    free(r->anchor);
    free(r->pb);
    free(r->point);
    free(r->part);
    free(r->theta);
}

static void set_matrices(struct reference *r, const struct mc_perm *p)
{
    memset(r->m, 0, sizeof r->m);
    for (size_t g = 0; g < p->n_groups; g++)
        for (size_t i = 0; i < p->groups[g].size; i++)
            r->m[g][i * p->groups[g].size + (size_t)p->perm[g][i]] = 1;
    memcpy(r->anchor_m, r->m, sizeof r->m);
}

/* Index of unit i of a use on line `line` of the other axis. */
static size_t place(const struct reference *r, const struct mc_use *u, size_t i, size_t line)
{
    const struct mc_param *t = &r->e->g->params[u->index];
    const size_t cols = t->tensor.ndim > 1 ? (size_t)t->tensor.shape[1] : 1;

    assert_int_equal(u->repeat, 1);
    return t->offset + (u->dim ? line * cols + u->offset + i : (u->offset + i) * cols + line);
}

static size_t lines(const struct reference *r, const struct mc_use *u)
{
    const struct mc_param *t = &r->e->g->params[u->index];

    return u->dim ? (size_t)t->tensor.shape[0]
                  : (t->tensor.ndim > 1 ? (size_t)t->tensor.shape[1] : 1);
}

/* Set out to b with every use except `without` applied. */
static void act(const struct reference *r, const struct mc_use *without, double *out)
{
    double old[MAX_UNITS];

    for (size_t i = 0; i < r->e->g->P; i++)
        out[i] = (double)r->e->b[i];
    for (size_t g = 0; g < r->e->s.n_groups; g++)
        for (size_t n = 0; n < r->e->s.uses[g].n; n++) {
            const struct mc_use *u = &r->e->s.uses[g].use[n];
            const size_t k = r->e->s.groups[g].size;
            for (size_t line = 0; u != without && line < lines(r, u); line++) {
                for (size_t j = 0; j < k; j++)
                    old[j] = out[place(r, u, j, line)];
                for (size_t i = 0; i < k; i++) {
                    double sum = 0;
                    for (size_t j = 0; j < k; j++)
                        sum += r->m[g][i * k + j] * old[j];
                    out[place(r, u, i, line)] = sum;
                }
            }
        }
}

/* Sum of the losses of these images at (1-t) a + t P b + 2t(1-t) offset, with its gradient. */
static double loss_at(struct reference *r, double t, const int32_t *order)
{
    double sum = 0;

    for (size_t i = 0; i < r->e->g->P; i++) {
        r->point[i] = (1 - t) * (double)r->e->a[i] + t * r->pb[i] + 2 * t * (1 - t) * r->offset[i];
        r->theta[i] = (float)r->point[i];
    }
    for (r->v.valid = 0; r->v.valid < B && order[r->v.valid] >= 0; r->v.valid++) {
        const int32_t s = order[r->v.valid];
        r->samples[r->v.valid] = s;
        r->answers[r->v.valid] = labels[s];
        for (size_t i = 0; i < IMAGE; i++)
            r->batch[r->v.valid * IMAGE + (int)i] = pixels[(size_t)s * IMAGE + i] / 255.0;
    }
    naive_run(&r->v, r->batch);
    for (int b = 0; b < r->v.valid; b++)
        sum += r->v.loss[b];
    return sum;
}

struct value {
    double loss, decay;
};

static struct value value_of(struct reference *r)
{
    int32_t order[B];
    struct value sum = {0, 0};

    act(r, NULL, r->pb);
    for (size_t first = 0; first + B <= r->o->images; first += B)
        for (uint64_t j = 0; j < r->o->points; j++) {
            for (int i = 0; i < B; i++)
                order[i] = (int32_t)first + i;
            sum.loss += loss_at(r, ((double)j + .5) / (double)r->o->points, order);
            for (size_t i = 0; !first && i < r->e->g->P; i++)
                sum.decay += .5 * r->train->decay * r->point[i] * r->point[i];
        }
    sum.loss /= (double)(r->o->images / B * B * r->o->points);
    sum.decay /= (double)r->o->points;
    return sum;
}

/* Replace the matrices by the nearest assignment. */
static void project(struct reference *r)
{
    int32_t perm[MAX_UNITS];

    for (size_t g = 0; g < r->e->s.n_groups; g++) {
        const size_t k = r->e->s.groups[g].size;
        must(mc_assign_max(k, r->m[g], perm, NULL, &why));
        memset(r->m[g], 0, sizeof r->m[g]);
        for (size_t i = 0; i < k; i++)
            r->m[g][i * k + (size_t)perm[i]] = 1;
    }
}

static void permutation_step(struct reference *r, double t, double lr)
{
    const double w = lr / r->o->nu_permutation;
    double grad[GROUPS][MAX_UNITS * MAX_UNITS] = {{0}};

    for (size_t g = 0; g < r->e->s.n_groups; g++) {
        const size_t k = r->e->s.groups[g].size;
        for (size_t n = 0; n < r->e->s.uses[g].n; n++) {
            const struct mc_use *u = &r->e->s.uses[g].use[n];
            act(r, u, r->part);
            for (size_t line = 0; !u->is_stat && line < lines(r, u); line++)
                for (size_t i = 0; i < k; i++)
                    for (size_t j = 0; j < k; j++)
                        grad[g][i * k + j] +=
                            t * r->v.dparams[place(r, u, i, line)] * r->part[place(r, u, j, line)];
        }
    }
    for (size_t g = 0; g < r->e->s.n_groups; g++) {
        const size_t k = r->e->s.groups[g].size;
        for (size_t i = 0; i < k * k; i++)
            r->m[g][i] = (r->m[g][i] - lr * grad[g][i] + w * r->anchor_m[g][i]) / (1 + w);
        must(mc_doubly_stochastic_project(k, r->m[g], r->o->sweeps, 0, NULL, &why));
    }
}

static void curve_step(struct reference *r, double t, double lr)
{
    const double c = 2 * t * (1 - t), w = lr / r->o->nu_curve / (1 - r->train->momentum);

    for (size_t i = 0; i < r->e->g->P; i++) {
        const double d = c * (r->v.dparams[i] + r->train->decay * r->point[i]);
        r->momentum[i] = r->train->momentum * r->momentum[i] + d;
        r->offset[i] -= lr * (d + r->train->momentum * r->momentum[i]);
        r->offset[i] = (r->offset[i] + w * r->anchor[i]) / (1 + w);
    }
}

static void epoch(struct reference *r, uint64_t e, int permuting, double lr)
{
    int32_t order[STEPS * B];

    for (int32_t i = 0; i < STEPS * B; i++)
        order[i] = i < N ? i : -1;
    for (uint32_t i = N - 1; i > 0; i--) {
        const struct mc_rng4 x = mc_rng(r->train->seed, MC_RNG_SHUFFLE, (uint32_t)e, i, 0);
        const uint32_t k = mc_rng_below(x.v[0], i + 1);
        const int32_t t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
    for (uint32_t s = 0; s < STEPS; s++) {
        const struct mc_rng4 x = mc_rng(r->train->seed, MC_RNG_CURVE_T, (uint32_t)e, s, 0);
        const double t = (double)mc_rng_unit(x.v[0]);
        act(r, NULL, r->pb);
        loss_at(r, t, order + s * B);
        if (permuting)
            permutation_step(r, t, lr);
        else
            curve_step(r, t, lr);
    }
}

static struct result until(const struct ends *e, const struct mc_pam_options *o,
                           struct mc_train_options train, uint64_t epochs)
{
    train.stop_after = epochs;
    return run(e, o, train);
}

/* Iteration k: one permutation epoch, then two curve epochs. Learning rates fall by .9996 per epoch
 * of their kind. */
static void check_iteration(struct reference *r, uint64_t k)
{
    const struct ends *e = r->e;
    struct result before = k ? until(e, r->o, *r->train, 3 * k) : until(e, r->o, *r->train, 1);
    struct result permuted = until(e, r->o, *r->train, 3 * k + 1);
    struct result done = until(e, r->o, *r->train, 3 * k + 3);
    const struct mc_pam_report *report = &done.report[k];
    double diff = 0, moved_by = 0;

    for (size_t i = 0; i < e->g->P; i++)
        r->offset[i] = r->anchor[i] = (double)before.offset[i];
    set_matrices(r, k ? &before.perm : &e->perm);
    const struct value start = value_of(r);
    near("loss before", report->before.loss, start.loss, 1e-5);
    near("decay before", report->before.decay, start.decay, 1e-6);
    epoch(r, 3 * k, 1, r->o->permutation_lr * pow(.9996, (double)k));
    const struct value relaxed = value_of(r);
    near("loss of the matrices", report->relaxed.loss, relaxed.loss, 1e-5);
    near("decay of the matrices", report->relaxed.decay, relaxed.decay, 1e-5);
    assert_true(fabs(report->relaxed.loss - report->before.loss) > 1e-3);
    assert_true(fabs(report->relaxed.decay - report->before.decay) > 1e-3);
    project(r);
    const struct value projection = value_of(r);
    near("loss of the projection", report->projection.loss, projection.loss, 1e-5);
    near("decay of the projection", report->projection.decay, projection.decay, 1e-6);

    set_matrices(r, &permuted.perm);
    memset(r->momentum, 0, e->g->P * sizeof *r->momentum);
    epoch(r, 3 * k + 1, 0, r->train->lr * pow(.9996, (double)(2 * k)));
    epoch(r, 3 * k + 2, 0, r->train->lr * pow(.9996, (double)(2 * k + 1)));
    for (size_t i = 0; i < e->g->P; i++) {
        diff += pow((double)done.offset[i] - r->offset[i], 2);
        moved_by += pow(r->offset[i] - (double)before.offset[i], 2);
    }
    assert_true(moved_by > 1e-3);
    if (!(sqrt(diff) <= 1e-4 * sqrt(moved_by)))
        fail_msg("the offset is off by %g after moving by %g", sqrt(diff), sqrt(moved_by));
    release(&before);
    release(&permuted);
    release(&done);
}

static void check_steps(double nu_permutation, double nu_curve)
{
    struct ends e = ends_of("mlp:7,5");
    struct mc_pam_options o = options(1, 2);
    struct mc_train_options train = schedule();
    struct reference r;

    o.outer = 2;
    o.nu_permutation = nu_permutation;
    o.nu_curve = nu_curve;
    train.huber = 1; /* no kinks */
    mc_graph_huber(e.g, 1);
    mc_perm_random(&e.perm, 5);
    begin(&r, &e, &o, &train);
    for (uint64_t k = 0; k < 2; k++)
        check_iteration(&r, k);
    end(&r);
    release_ends(&e);
}

TEST(steps_agree_with_float64)
{
    check_steps(1000, 1000);
    check_steps(2, .5); /* pulled back by a sixth and by half a step */
}

int main(void)
{
    return run_entered(start, stop);
}
