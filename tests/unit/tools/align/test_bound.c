/* SPDX-License-Identifier: Apache-2.0
 *
 * The bound on the barrier of a straight line: the recursion against its written-out terms, the
 * distances against the samples, and refused inputs. */

#include "kernels/backend.h"
#include "libcommon/nets/nets.h"
#include "tests/unit/must.h"
#include "tools/align/bound.h"
#include "tools/align/raw_moments.h"

#define IMAGES 23

static const size_t widths[] = {5, 4};

/* mlp:5,4 with one pixel and three classes: two networks, and moments of synthetic samples. If
 * `same`, both networks have the same samples. */
struct fixture {
    struct mc_weights net[2];
    struct mc_symmetry s;
    struct mc_bound bound;
    struct mc_moments m;
    float *x[2][COUNT(widths)]; /* (IMAGES,K) per network and hidden layer */
};

static double number(size_t i, size_t salt) /* low-discrepancy sequence in [-1,1) */
{
    return 2 * fmod(.5 + (double)(i + 1) * .6180339887498949 + (double)salt * .7548776662, 1) - 1;
}

static struct mc_graph *graph_of(const char *net)
{
    const struct mc_net_spec spec = {
        .channels = 1, .height = 1, .width = 1, .classes = 3, .mean = {.5f}, .std = {.5f}};
    struct mc_graph *g;

    must(mc_net_build(&g, net, &spec, &why));
    return g;
}

static void make(struct fixture *f, int same)
{
    struct mc_graph *g = graph_of("mlp:5,4");
    struct mc_backend *be;

    memset(f, 0, sizeof *f);
    must(mc_backend_open(&be, &(struct mc_backend_opts){.device = "cpu", .threads = 1}, &why));
    must(mc_symmetry_derive(&f->s, g, &why));
    for (size_t j = 0; j < 2; j++) {
        must(mc_weights_init(&f->net[j], g, "d", &why));
        for (size_t i = 0; i < g->P; i++)
            f->net[j].params[i] = (float)number(i, 10 + j);
        strcpy(f->net[j].id, j ? "second" : "first");
    }
    must(mc_bound_init(&f->bound, &f->net[0], &f->net[1], &why));
    must(mc_moments_init(&f->m, &f->bound.pre, &why));
    f->m.images = f->m.cut.total = IMAGES;
    for (size_t l = 0; l < COUNT(widths); l++) {
        for (size_t j = 0; j < 2; j++) {
            assert_non_null(f->x[j][l] = calloc(IMAGES * widths[l], sizeof(float)));
            for (size_t i = 0; i < IMAGES * widths[l]; i++)
                f->x[j][l][i] = (float)number(i, 20 + 2 * l + (same ? 0 : j));
        }
        must(mc_joint_moments_batch(
            &f->m, be, &(struct mc_raw_batch){l, IMAGES, 1, f->x[0][l], f->x[1][l]}, &why));
    }
    be->close(be);
    mc_graph_free(g);
}

static void drop(struct fixture *f)
{
    for (size_t j = 0; j < 2; j++) {
        for (size_t l = 0; l < COUNT(widths); l++)
            free(f->x[j][l]);
        mc_weights_release(&f->net[j]);
    }
    mc_moments_release(&f->m);
    mc_bound_release(&f->bound);
    mc_symmetry_release(&f->s);
}

TEST(norms_exclude_biases)
{
    struct fixture f;

    make(&f, 0);
    assert_int_equal(f.bound.L, 3);
    for (int j = 0; j < 2; j++) { /* the first layer's weight is one column */
        const struct mc_param *p = &f.net[j].graph->params[f.bound.weight[0]];
        double squares = 0;
        for (size_t i = 0; i < p->count; i++)
            squares += pow((double)f.net[j].params[p->offset + i], 2);
        assert_true(p->count == 5 && fabs(f.bound.norm[0][j] - sqrt(squares)) < 1e-12);
    }
    drop(&f);
}

TEST(bound_recursion_equals_explicit_terms)
{
    struct mc_bound b = {.L = 4, .norm = (double[4][2]){{7, 11}, {2, 3}, {5, .7}, {1.5, .5}}};
    const double delta[3] = {4, .25, 2};

    for (int k = 0; k <= 8; k++) {
        const double t = k / 8., u = 1 - t;
        /* t u (s^1 + s^2) Delta_1 enters both of the second layer's distances; from the third layer
         * on, each end has its own norm */
        const double c2 = t * u * (2 + 3) * 4, d0 = c2 + t * .25, d1 = c2 + u * .25;
        const double c3 = u * 5 * d0 + t * .7 * d1;
        const double want = sqrt(2) * (u * 1.5 * (c3 + t * 2) + t * .5 * (c3 + u * 2));
        assert_true(fabs(mc_bound_at(&b, delta, t) - want) <= 1e-14 * (1 + want));
    }
    b.L = 1; /* logits linear in the parameters: no barrier */
    assert_true(mc_bound_at(&b, delta, .5) == 0);
}

TEST(distances_agree_with_samples)
{
    const int32_t orders[2][5] = {{3, 0, 4, 1, 2}, {1, 3, 0, 2}};
    struct fixture f;
    struct mc_perm p;
    double delta[2];

    make(&f, 0);
    must(mc_perm_init(&p, &f.s, &why));
    for (int permuted = 0; permuted < 2; permuted++) {
        must(mc_bound_distances(&f.bound, &f.m, permuted ? &p : NULL, delta, &why));
        for (size_t l = 0; l < 2; l++) {
            double sum = 0;
            for (size_t i = 0; i < IMAGES; i++)
                for (size_t k = 0; k < widths[l]; k++) {
                    size_t from = permuted ? (size_t)orders[l][k] : k;
                    sum += pow((double)f.x[0][l][i * widths[l] + k] -
                                   (double)f.x[1][l][i * widths[l] + from],
                               2);
                }
            assert_true(fabs(delta[l] - sqrt(sum / IMAGES)) < 1e-6 * (1 + delta[l]));
        }
        for (size_t l = 0; l < 2; l++)
            memcpy(p.perm[l], orders[l], widths[l] * sizeof **p.perm);
    }
    mc_perm_release(&p);
    drop(&f);
}

TEST(distance_to_itself_is_0)
{
    struct fixture f;
    double delta[2];

    make(&f, 1);
    must(mc_bound_distances(&f.bound, &f.m, NULL, delta, &why));
    assert_true(delta[0] == 0 && delta[1] == 0);
    assert_true(mc_bound_at(&f.bound, delta, .5) == 0);
    drop(&f);
}

TEST(other_moments_are_refused)
{
    struct fixture f;
    const struct mc_weights *a = &f.net[0], *b = &f.net[1];

    make(&f, 0);
    must(mc_bound_check(&f.bound, &f.m, a, b, &why));
    strcpy(f.m.inputs[0], "first");
    strcpy(f.m.inputs[1], "second");
    must(mc_bound_check(&f.bound, &f.m, a, b, &why));
    must_fail(mc_bound_check(&f.bound, &f.m, b, b, &why), MC_EINPUT, "a different first network");
    must_fail(mc_bound_check(&f.bound, &f.m, a, a, &why), MC_EINPUT, "a different second network");
    f.m.taps.taps[1].samples *= 4;
    must_fail(mc_bound_check(&f.bound, &f.m, a, b, &why), MC_EINPUT,
              "1 sample per image (23) expected*got 92");
    f.m.taps.taps[1].samples /= 4;
    f.m.conditions.precision = MC_PRECISION_TF32;
    must_fail(mc_bound_check(&f.bound, &f.m, a, b, &why), MC_EINPUT, "got tf32");
    f.m.conditions.precision = MC_PRECISION_F32;
    strcpy(f.m.conditions.attack, "pgd:steps=1");
    must_fail(mc_bound_check(&f.bound, &f.m, a, b, &why), MC_EINPUT, "attacked");
    *f.m.conditions.attack = 0;
    f.m.cut.shards = 3;
    must_fail(mc_bound_check(&f.bound, &f.m, a, b, &why), MC_EINPUT, "shards 2, 3 of 3*missing");
    f.m.cut.shards = 1;
    f.m.taps.groups[0].name[0]++;
    must_fail(mc_bound_check(&f.bound, &f.m, a, b, &why), MC_EINPUT, "a different architecture");
    strcpy(f.m.taps.place, "post");
    must_fail(mc_bound_check(&f.bound, &f.m, a, b, &why), MC_EINPUT, "post-activations");
    drop(&f);
}

TEST(unsupported_networks_are_refused)
{
    static const struct {
        const char *net, *message;
    } cases[] = {{"mlp:bn,4", "batchnorm 'layers.0.bn'"}, {"mlp:4,1", "has 1 unit"}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct mc_graph *g = graph_of(cases[i].net);
        struct mc_weights w;
        struct mc_bound b;
        must(mc_weights_init(&w, g, "d", &why));
        must_fail(mc_bound_init(&b, &w, &w, &why), MC_EINPUT, cases[i].message);
        mc_bound_release(&b);
        mc_weights_release(&w);
        mc_graph_free(g);
    }
}

int main(void)
{
    return run_entered(NULL, NULL);
}
