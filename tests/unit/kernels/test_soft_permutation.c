/* SPDX-License-Identifier: Apache-2.0
 *
 * Soft permutations: compared with permutations, with plain loops in float64, their gradients with
 * differences, at 1 and 2 threads. */
#include "tests/unit/kernels/soft_permutation.h"
/* Writes out and grad_matrices, which are not 0 before. */
static void run(struct subject *u, int k)
{
    struct mc_backend *b = be[k];
    struct mc_error err = {0};
    struct mc_buf *theta = buf(b, u->theta, u->g->P), *matrices = buf(b, u->matrices, u->M);
    struct mc_buf *grad = buf(b, u->grad, u->g->P);
    struct mc_buf *out = NULL, *d = NULL;

    for (size_t i = 0; i < u->g->P; i++)
        u->out[i] = 7;
    for (size_t i = 0; i < u->M; i++)
        u->grad_matrices[i] = 7;
    out = buf(b, u->out, u->g->P);
    d = buf(b, u->grad_matrices, u->M);
    b->soft_permute(u->a[k], matrices, theta, out);
    b->soft_permute_grad(u->a[k], matrices, theta, grad, d);
    ok(b->get(b, out, 0, u->out, u->g->P * sizeof(float), &err), &err);
    ok(b->get(b, d, 0, u->grad_matrices, u->M * sizeof(float), &err), &err);
    struct mc_buf *all[] = {theta, matrices, grad, out, d};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        b->buf_free(b, all[i]);
}

/* ---- plain loops ---------------------------------------------------------------------------- */

/* A position on a tensor's axis: unit `unit` of a group, whose unit j is at first + j * step. */
struct position {
    int group;
    size_t unit, first, step;
};

static struct position *positions(const struct subject *u, size_t tensor, int dim, size_t n)
{
    struct position *p = calloc(n, sizeof *p);

    assert_non_null(p);
    for (size_t i = 0; i < n; i++)
        p[i].group = -1;
    for (size_t g = 0; g < u->s.n_groups; g++)
        for (size_t j = 0; j < u->s.uses[g].n; j++) {
            const struct mc_use *use = &u->s.uses[g].use[j];
            if (use->is_stat || use->index != tensor || use->dim != dim)
                continue;
            for (size_t i = 0; i < use->count * use->repeat; i++)
                p[use->offset + i] = (struct position){(int)g, i / use->repeat,
                                                       use->offset + i % use->repeat, use->repeat};
        }
    return p;
}

static double at(const struct subject *u, const double *matrices, const struct position *p,
                 size_t j)
{
    return matrices[u->offset[p->group] + p->unit * u->s.groups[p->group].size + j];
}

static void naive_run_matrices(const struct subject *u, const double *matrices, double *out)
{
    double *mid = calloc(u->g->P + 1, sizeof *mid);

    assert_non_null(mid);
    memset(out, 0, u->g->P * sizeof *out);
    for (size_t t = 0; t < u->g->n_params; t++) {
        const struct mc_param *p = &u->g->params[t];
        const size_t rows = (size_t)p->tensor.shape[0];
        const size_t cols = p->tensor.ndim > 1 ? (size_t)p->tensor.shape[1] : 1;
        const size_t inner = p->count / (rows * cols), line = cols * inner;
        const size_t groups = mc_param_groups(u->g, p);
        struct position *row = positions(u, t, 0, rows),
                        *cols_of_all = positions(u, t, 1, cols * groups);
        const float *x = u->theta + p->offset;
        for (size_t i = 0; i < rows; i++)
            for (size_t c = 0; c < cols; c++) {
                const size_t first = i / (rows / groups) * cols; /* first of the row's inputs */
                const struct position *col = &cols_of_all[first + c];
                for (size_t k = 0; k < inner; k++) {
                    double sum = (double)x[i * line + c * inner + k];
                    if (col->group >= 0) {
                        sum = 0;
                        for (size_t j = 0; j < u->s.groups[col->group].size; j++)
                            sum +=
                                at(u, matrices, col, j) *
                                (double)
                                    x[i * line + (col->first + j * col->step - first) * inner + k];
                    }
                    mid[p->offset + i * line + c * inner + k] = sum;
                }
            }
        for (size_t i = 0; i < rows; i++) {
            double *y = out + p->offset + i * line;
            if (row[i].group < 0)
                memcpy(y, mid + p->offset + i * line, line * sizeof *y);
            for (size_t j = 0; row[i].group >= 0 && j < u->s.groups[row[i].group].size; j++) {
                const double w = at(u, matrices, &row[i], j);
                const double *from = mid + p->offset + (row[i].first + j * row[i].step) * line;
                for (size_t k = 0; k < line; k++)
                    y[k] += w * from[k];
            }
        }
        free(row);
        free(cols_of_all);
    }
    free(mid);
}

static double inner_product(const float *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static const char *const SMALL[] = {"mixed", "mlp:bn,12,7", "tinyten", "resnet:8,8"};
enum { N_SMALL = sizeof SMALL / sizeof *SMALL };

static size_t n_small(void)
{
    return is_slow() ? 2 : N_SMALL;
}

static void matrices_are_contiguous(void **state)
{
    struct subject u;
    size_t end = 0;

    (void)state;
    set_up(&u, "mixed");
    assert_int_equal(u.s.n_groups, 10);
    for (size_t g = 0; g < u.s.n_groups; g++) {
        assert_true(u.offset[g] % 16 == 0 && u.offset[g] >= end && u.offset[g] < end + 16);
        end = u.offset[g] + u.s.groups[g].size * u.s.groups[g].size;
    }
    assert_true(u.M % 16 == 0 && u.M >= end && u.M < end + 16);
    assert_int_equal(mc_soft_perm_layout(&u.s, NULL), u.M);
    tear_down(&u);
}

static void permutations_act_as_permutations(void **state)
{
    static const char *const larger[] = {"resnet20", "vgg:bn,11,8", "googlenet"};
    const size_t n = is_slow() ? n_small() : N_SMALL + sizeof larger / sizeof *larger;

    (void)state;
    for (size_t i = 0; i < n; i++) {
        const char *name = i < N_SMALL ? SMALL[i] : larger[i - N_SMALL];
        struct subject u;
        struct mc_perm p;
        struct mc_error err = {0};
        size_t moved = 0;
        set_up(&u, name);
        float *expected = room(u.g->P);
        ok(mc_perm_init(&p, &u.s, &err), &err);
        mc_perm_random(&p, 11);
        for (size_t g = 0; g < p.n_groups; g++) /* blocks stay in place */
            for (size_t outer = p.groups[g].outer, k = 0;
                 outer != MC_NO_GROUP && k < p.groups[outer].size; k++)
                p.perm[outer][k] = (int32_t)k;
        ok(mc_perm_apply(&p, &u.s, u.g, u.theta, NULL, expected, NULL, &err), &err);
        mc_soft_perm_matrices(&u.s, &p, u.matrices);
        run(&u, 1);
        for (size_t j = 0; j < u.g->P; j++) { /* products with 0 and 1 are exact */
            if (!(u.out[j] == expected[j]))
                fail_msg("%s: %zu: %g, not %g", name, j, (double)u.out[j], (double)expected[j]);
            moved += expected[j] != u.theta[j];
        }
        assert_true(moved > u.g->P / 2);
        free(expected);
        mc_perm_release(&p);
        tear_down(&u);
    }
}

static void matrices_match_plain_loops(void **state)
{
    double worst = 0;

    (void)state;
    for (size_t i = 0; i < n_small(); i++) {
        struct subject u;
        set_up(&u, SMALL[i]);
        double *matrices = calloc(u.M, sizeof *matrices),
               *expected = calloc(u.g->P, sizeof *expected);
        assert_true(matrices && expected);
        for (size_t j = 0; j < u.M; j++)
            matrices[j] = (double)u.matrices[j];
        naive_run_matrices(&u, matrices, expected);
        run(&u, 1);
        for (size_t t = 0; t < u.g->n_params; t++) {
            const struct mc_param *p = &u.g->params[t];
            double diff = 0, norm = 0;
            for (size_t j = p->offset; j < p->offset + p->count; j++) {
                diff += pow((double)u.out[j] - expected[j], 2);
                norm += expected[j] * expected[j];
            }
            if (!(diff <= 1e-12 * norm))
                fail_msg("%s: %s: error %g of norm %g", SMALL[i], p->tensor.name, sqrt(diff),
                         sqrt(norm));
            worst = fmax(worst, norm > 0 ? sqrt(diff / norm) : 0);
        }
        for (size_t j = 0; j < u.g->P; j++)
            assert_true(expected[j] != 0 || u.out[j] == 0); /* gaps */
        free(matrices);
        free(expected);
        tear_down(&u);
    }
    print_message("worst tensor %.2e\n", worst);
}

/* The gradient of <grad, run(P)> along random directions, one group's matrix at a time. A group
 * multiplies at most both axes of a tensor, so the function has degree 2 along a line: differences
 * are exact at any distance. */
static void gradients_match_differences(void **state)
{
    double worst = 0;

    (void)state;
    for (size_t i = 0; i < n_small(); i++) {
        struct subject u;
        set_up(&u, SMALL[i]);
        double *matrices = calloc(u.M, sizeof *matrices), *out = calloc(u.g->P, sizeof *out);
        double *direction = calloc(u.M, sizeof *direction);
        assert_true(matrices && out && direction);
        run(&u, 1);
        for (size_t g = 0; g < u.s.n_groups; g++) {
            const size_t n = u.s.groups[g].size * u.s.groups[g].size;
            const float *d = u.grad_matrices + u.offset[g];
            double along = 0, norm = 0, f[2];
            for (size_t j = 0; j < n; j++) {
                direction[j] = 2 * random_unit(30000 + (uint32_t)g, (uint32_t)j) - 1;
                along += (double)d[j] * direction[j];
                norm += pow((double)d[j], 2);
            }
            for (int side = 0; side < 2; side++) {
                for (size_t j = 0; j < u.M; j++)
                    matrices[j] = (double)u.matrices[j];
                for (size_t j = 0; j < n; j++)
                    matrices[u.offset[g] + j] += (side ? 1 : -1) * direction[j];
                naive_run_matrices(&u, matrices, out);
                f[side] = inner_product(u.grad, out, u.g->P);
            }
            const double expected = (f[1] - f[0]) / 2;
            const double e = fabs(along - expected) / (expected != 0 ? sqrt(norm) : 1);
            int blocks = 0; /* blocks, which stay in place */
            for (size_t j = 0; j < u.s.n_groups; j++)
                blocks |= u.s.groups[j].outer == g;
            if (!(blocks ? norm == 0 && expected == 0 : norm > 0 && e <= 1e-5))
                fail_msg("%s: %s: %.9g, by differences %.9g", SMALL[i], u.s.groups[g].name, along,
                         expected);
            worst = fmax(worst, e);
            for (size_t j = u.offset[g] + n; j % 16; j++)
                assert_true(u.grad_matrices[j] == 0);
        }
        free(matrices);
        free(out);
        free(direction);
        tear_down(&u);
    }
    print_message("worst group %.2e\n", worst);
}

static void threads_change_nothing(void **state)
{
    static const char *const names[] = {"mixed", "tinyten", "resnet20"};

    (void)state;
    for (size_t i = 0; i < (is_slow() ? 1 : 3); i++) {
        struct subject u;
        set_up(&u, names[i]);
        float *out = room(u.g->P), *d = room(u.M);
        run(&u, 0);
        memcpy(out, u.out, u.g->P * sizeof *out);
        memcpy(d, u.grad_matrices, u.M * sizeof *d);
        for (int again = 0; again < 3; again++) {
            run(&u, 1);
            assert_memory_equal(out, u.out, u.g->P * sizeof *out);
            assert_memory_equal(d, u.grad_matrices, u.M * sizeof *d);
        }
        free(out);
        free(d);
        tear_down(&u);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_are_contiguous),
        cmocka_unit_test(permutations_act_as_permutations),
        cmocka_unit_test(matrices_match_plain_loops),
        cmocka_unit_test(gradients_match_differences),
        cmocka_unit_test(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
