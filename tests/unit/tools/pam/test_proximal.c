/* SPDX-License-Identifier: Apache-2.0
 *
 * Forces on matrices: the proximal step towards their start, and the projection to doubly
 * stochastic ones. */
#include "tests/unit/kernels/soft_permutation.h"

#include "libcommon/assign/doubly_stochastic.h"
#include "tools/pam/pam.h"
#include "tests/unit/must.h"

TEST(proximal_step_moves_towards_anchor)
{
    enum { N = 9001 };
    const struct mc_ctl row = {.row = 2};
    const float lrs[] = {9, 8, .25f};
    const double nu = 2, r = .125;
    struct mc_backend *b = be[1];
    float *p = room(N), *q = room(N), *got = room(N);

    for (uint32_t i = 0; i < N; i++) {
        p[i] = (float)(random_unit(1, i) - .5);
        q[i] = i % 3 ? (float)(random_unit(2, i) - .5) : p[i];
    }
    struct mc_buf *x = buf(b, p, N), *anchor = buf(b, q, N), *rates = buf(b, lrs, 3), *ctl = NULL;
    must(b->buf_new(b, sizeof row, &ctl, &why));
    must(b->put(b, ctl, 0, &row, sizeof row, &why));
    b->proximal(b, N - 1, x, anchor, rates, nu, ctl);
    must(b->get(b, x, 0, got, N * sizeof *got, &why));
    for (size_t i = 0; i < N - 1; i++) {
        const double want = ((double)p[i] + r * (double)q[i]) / (1 + r);
        assert_true(fabs((double)got[i] - want) <= 6e-8 * fabs(want) + 1e-12);
        assert_true(i % 3 || got[i] == p[i]);
    }
    assert_true(got[N - 1] == p[N - 1]);
    b->buf_free(b, x);
    b->buf_free(b, anchor);
    b->buf_free(b, rates);
    b->buf_free(b, ctl);
    free(p);
    free(q);
    free(got);
}

/* The minimum of sum h/2 (x - c)^2 + |x - anchor|^2 / 2 nu, known from its gradient. */
TEST(descent_ends_at_proximal_minimum)
{
    enum { N = 5, STEPS = 4000 };
    const float h[N] = {0, .1f, 1, 2.5f, 7}, c[N] = {3, -2, .5f, -1, 4};
    const float from[N] = {1, 1, -1, 2, 0}, lrs[] = {.02f};
    const struct mc_ctl row = {0};
    struct mc_backend *b = be[0];

    for (int kind = 0; kind < 3; kind++) { /* no momentum, classical, Nesterov */
        for (int soft = 0; soft < 2; soft++) {
            const double nu = soft ? 20 : 1;
            float x[N], grad[N] = {0};
            struct mc_buf *anchor = buf(b, from, N), *p = buf(b, from, N), *m = buf(b, grad, N);
            struct mc_buf *g = buf(b, grad, N), *rates = buf(b, lrs, 1), *ctl = NULL;
            const struct mc_sgd s = {.p = p,
                                     .m = m,
                                     .grad = g,
                                     .point = p,
                                     .lrs = rates,
                                     .momentum = kind ? .9f : 0,
                                     .nesterov = kind == 2};
            must(b->buf_new(b, sizeof row, &ctl, &why));
            must(b->put(b, ctl, 0, &row, sizeof row, &why));
            for (int step = 0; step <= STEPS; step++) {
                must(b->get(b, p, 0, x, sizeof x, &why));
                for (int i = 0; i < N; i++)
                    grad[i] = h[i] * (x[i] - c[i]);
                must(b->put(b, g, 0, grad, sizeof grad, &why));
                if (step < STEPS)
                    mc_pam_descend(b, N, &s, anchor, nu, ctl);
            }
            for (int i = 0; i < N; i++) {
                const double hi = (double)h[i], ci = (double)c[i];
                const double want = (hi * ci + (double)from[i] / nu) / (hi + 1 / nu);
                if (!(fabs((double)x[i] - want) <= 1e-4))
                    fail_msg("momentum %g, nesterov %d, nu %g: %.6f, expected %.6f",
                             (double)s.momentum, s.nesterov, nu, (double)x[i], want);
            }
            struct mc_buf *all[] = {anchor, p, m, g, rates, ctl};
            for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                b->buf_free(b, all[i]);
        }
    }
}

/* Project u->matrices by 20 sweeps on backend k; returns the residual. */
static double project(struct subject *u, int k)
{
    struct mc_backend *b = be[k];
    struct mc_buf *matrices = buf(b, u->matrices, u->M), *residual = NULL;
    double r = -1;

    must(b->buf_new(b, sizeof r, &residual, &why));
    b->project(u->a[k], matrices, 20, residual);
    must(b->get(b, matrices, 0, u->matrices, u->M * sizeof(float), &why));
    must(b->get(b, residual, 0, &r, sizeof r, &why));
    b->buf_free(b, matrices);
    b->buf_free(b, residual);
    return r;
}

TEST(projection_agrees_with_reference_per_group)
{
    struct subject u;
    double worst = 0, residual = 0;

    set_up(&u, "mixed");
    float *before = room(u.M), *want = room(u.M);
    memcpy(before, u.matrices, u.M * sizeof *before);
    for (size_t g = 0; g < u.s.n_groups; g++) {
        const size_t k = u.s.groups[g].size;
        struct mc_doubly_stochastic info;
        double *p = calloc(k * k, sizeof *p);
        assert_non_null(p);
        for (size_t i = 0; i < k * k; i++)
            p[i] = (double)before[u.offset[g] + i];
        must(mc_doubly_stochastic_project(k, p, 20, 0, &info, &why));
        for (size_t i = 0; i < k * k; i++)
            want[u.offset[g] + i] = (float)p[i];
        worst = fmax(worst, info.residual);
        free(p);
    }
    for (int k = 0; k < 2; k++) { /* bit-identical on 1 and 2 threads; gaps stay 0 */
        memcpy(u.matrices, before, u.M * sizeof *before);
        residual = project(&u, k);
        assert_memory_equal(u.matrices, want, u.M * sizeof *want);
        assert_true(residual == worst);
    }
    print_message("residual after 20 sweeps %.2e\n", residual);
    for (size_t g = 0; g < u.s.n_groups; g++)
        for (size_t k = u.s.groups[g].size, i = 0; i < k; i++) {
            double row = 0, col = 0;
            for (size_t j = 0; j < k; j++) {
                assert_true(u.matrices[u.offset[g] + i * k + j] >= 0);
                row += (double)u.matrices[u.offset[g] + i * k + j];
                col += (double)u.matrices[u.offset[g] + j * k + i];
            }
            assert_true(fabs(row - 1) <= residual + 1e-6 && fabs(col - 1) <= residual + 1e-6);
        }
    free(before);
    free(want);
    tear_down(&u);
}

TEST(projection_keeps_permutations_and_reports_nan)
{
    struct subject u;
    struct mc_perm p;

    set_up(&u, "mixed");
    float *before = room(u.M);
    must(mc_perm_init(&p, &u.s, &why));
    mc_perm_random(&p, 3);
    mc_soft_perm_matrices(&u.s, &p, u.matrices);
    memcpy(before, u.matrices, u.M * sizeof *before);
    assert_true(project(&u, 1) == 0);
    assert_memory_equal(before, u.matrices, u.M * sizeof *before);
    u.matrices[u.offset[1] + 2] = NAN;
    assert_true(isnan(project(&u, 1)));
    for (size_t i = 0; i < u.s.groups[1].size * u.s.groups[1].size; i++) {
        assert_true(isnan(u.matrices[u.offset[1] + i]));
        u.matrices[u.offset[1] + i] = before[u.offset[1] + i];
    }
    assert_memory_equal(before, u.matrices, u.M * sizeof *before);
    free(before);
    mc_perm_release(&p);
    tear_down(&u);
}

int main(void)
{
    return run_entered(start, stop);
}
