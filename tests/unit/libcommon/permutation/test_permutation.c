/* SPDX-License-Identifier: Apache-2.0
 *
 * The algebra of permutations and their effect on the flat vectors. */
#include "libcommon/permutation/permutation.h"
#include "libcommon/nets/nets.h"
#include "tests/unit/must.h"

struct fixture {
    struct mc_graph *g;
    struct mc_symmetry s;
    struct mc_perm p, q;
    float *params, *stats;
};

static int set_up(void **state)
{
    const struct mc_net_spec spec = {3, 12, 12, 4, {.5f, .5f, .5f}, {.2f, .2f, .2f}};
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    must(mc_net_build(&f->g, "tinyten", &spec, &why));
    must(mc_symmetry_derive(&f->s, f->g, &why));
    must(mc_perm_init(&f->p, &f->s, &why));
    must(mc_perm_init(&f->q, &f->s, &why));
    mc_perm_random(&f->p, 1);
    mc_perm_random(&f->q, 2);
    f->params = calloc(f->g->P, sizeof(float));
    f->stats = calloc(f->g->S, sizeof(float));
    assert_true(f->params && f->stats);
    for (size_t i = 0; i < f->g->n_params; i++)
        for (size_t k = 0; k < f->g->params[i].count; k++)
            f->params[f->g->params[i].offset + k] = (float)(1 + f->g->params[i].offset + k);
    for (size_t i = 0; i < f->g->n_stats; i++)
        for (size_t k = 0; k < f->g->stats[i].count; k++)
            f->stats[f->g->stats[i].offset + k] = (float)(1 + f->g->stats[i].offset + k);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    mc_perm_release(&f->p);
    mc_perm_release(&f->q);
    mc_symmetry_release(&f->s);
    mc_graph_free(f->g);
    free(f->params);
    free(f->stats);
    free(f);
    return 0;
}

static void apply(const struct fixture *f, const struct mc_perm *p, const float *params,
                  const float *stats, float **params_out, float **stats_out)
{
    *params_out = malloc(f->g->P * sizeof(float));
    *stats_out = malloc(f->g->S * sizeof(float));
    assert_true(*params_out && *stats_out);
    must(mc_perm_apply(p, &f->s, f->g, params, stats, *params_out, *stats_out, &why));
}

TEST_BETWEEN(inverse_undoes, set_up, tear_down)
{
    struct fixture *f = *state;
    float *w = NULL, *v = NULL, *ww = NULL, *vv = NULL;

    apply(f, &f->p, f->params, f->stats, &w, &v);
    assert_memory_not_equal(w, f->params, f->g->P * sizeof(float));
    assert_memory_not_equal(v, f->stats, f->g->S * sizeof(float));
    must(mc_perm_compose(&f->q, &f->p, &why)); /* q, then p */
    must(mc_perm_inverse(&f->p, &why));
    must(mc_perm_check(&f->p, &why));
    apply(f, &f->p, w, v, &ww, &vv);
    assert_memory_equal(ww, f->params, f->g->P * sizeof(float));
    assert_memory_equal(vv, f->stats, f->g->S * sizeof(float));
    must(mc_perm_apply(&f->p, &f->s, f->g, w, v, w, v, &why)); /* in place */
    assert_memory_equal(w, ww, f->g->P * sizeof(float));
    assert_memory_equal(v, vv, f->g->S * sizeof(float));
    must(mc_perm_compose(&f->q, &f->p, &why)); /* and back */
    must(mc_perm_inverse(&f->q, &why));
    mc_perm_random(&f->p, 2);
    must(mc_perm_compose(&f->p, &f->q, &why));
    for (size_t k = 0; k < f->p.n_groups; k++)
        assert_int_equal(mc_perm_moved(&f->p, k), 0);
    free(w);
    free(v);
    free(ww);
    free(vv);
}

TEST_BETWEEN(permutation_knows_its_networks, set_up, tear_down)
{
    struct fixture *f = *state;

    assert_false(mc_perm_found_elsewhere(&f->p, "xxh3:1", "xxh3:2")); /* both ids are unknown */
    strcpy(f->p.ids[0], "xxh3:1");
    assert_false(mc_perm_found_elsewhere(&f->p, "xxh3:1", "xxh3:2"));
    assert_true(mc_perm_found_elsewhere(&f->p, "xxh3:2", "xxh3:2"));
    strcpy(f->p.ids[1], "xxh3:2");
    assert_false(mc_perm_found_elsewhere(&f->p, "xxh3:1", "xxh3:2"));
    assert_true(mc_perm_found_elsewhere(&f->p, "xxh3:2", "xxh3:1"));
    assert_true(mc_perm_found_elsewhere(&f->p, "", "xxh3:1"));
    assert_false(mc_perm_found_elsewhere(&f->p, "", "xxh3:2"));
    assert_false(mc_perm_found_elsewhere(&f->p, "", ""));
}

TEST_BETWEEN(composition_applies_one_after_the_other, set_up, tear_down)
{
    struct fixture *f = *state;
    float *w = NULL, *v = NULL, *ww = NULL, *vv = NULL, *once = NULL, *once_v = NULL;

    apply(f, &f->p, f->params, f->stats, &w, &v);
    apply(f, &f->q, w, v, &ww, &vv);
    must(mc_perm_compose(&f->p, &f->q, &why));
    apply(f, &f->p, f->params, f->stats, &once, &once_v);
    assert_memory_equal(once, ww, f->g->P * sizeof(float));
    assert_memory_equal(once_v, vv, f->g->S * sizeof(float));
    free(w);
    free(v);
    free(ww);
    free(vv);
    free(once);
    free(once_v);
}

/* perm[i] is the unit that moves to place i; its inputs in the next layer move with it. */
TEST_BETWEEN(units_move_as_the_permutation_says, set_up, tear_down)
{
    struct fixture *f = *state;
    const struct mc_node *n = f->g->nodes;
    const struct mc_slot first = n[mc_graph_find(f->g, "layers.0.conv")].weight;
    const struct mc_slot next = n[mc_graph_find(f->g, "layers.1.conv")].weight;
    const struct mc_slot mean = n[mc_graph_find(f->g, "layers.0.bn")].running_mean;
    float *w = NULL, *v = NULL;

    apply(f, &f->p, f->params, f->stats, &w, &v);
    for (size_t i = 0; i < 16; i++) {
        size_t from = (size_t)f->p.perm[0][i];
        assert_memory_equal(w + first.offset + 27 * i, f->params + first.offset + 27 * from,
                            27 * sizeof(float));
        assert_true(v[mean.offset + i] == f->stats[mean.offset + from]);
        for (size_t o = 0; o < 16; o++)
            assert_memory_equal(w + next.offset + (o * 16 + i) * 9,
                                f->params + next.offset + ((size_t)f->p.perm[1][o] * 16 + from) * 9,
                                9 * sizeof(float));
    }
    free(w);
    free(v);
}

TEST_BETWEEN(gather_visits_every_place_once, set_up, tear_down)
{
    struct fixture *f = *state;
    uint32_t *params = malloc(f->g->P * sizeof *params), *stats = malloc(f->g->S * sizeof *stats);
    unsigned char *seen = calloc(f->g->P, 1);

    assert_true(params && stats && seen);
    must(mc_perm_gather(&f->p, &f->s, f->g, params, stats, &why));
    for (size_t i = 0; i < f->g->P; i++) {
        assert_true(params[i] < f->g->P && !seen[params[i]]);
        seen[params[i]] = 1;
        if (f->params[i] == 0) /* a gap */
            assert_int_equal(params[i], i);
    }
    must(mc_perm_inverse(&f->q, &why));
    mc_perm_random(&f->p, 2);
    must(mc_perm_compose(&f->p, &f->q, &why));
    must(mc_perm_gather(&f->p, &f->s, f->g, params, stats, &why));
    for (size_t i = 0; i < f->g->P; i++)
        assert_int_equal(params[i], i);
    free(params);
    free(stats);
    free(seen);
}

TEST_BETWEEN(invalid_permutations_are_refused, set_up, tear_down)
{
    struct fixture *f = *state;
    const int32_t bad[] = {16, -1, INT32_MIN, INT32_MAX};
    int32_t old = f->p.perm[1][3];

    for (size_t i = 0; i < 4; i++) {
        f->p.perm[1][3] = bad[i];
        must_fail(mc_perm_check(&f->p, &why), MC_EINPUT, "\"layers.1.conv\": entry 3");
    }
    f->p.perm[1][3] = f->p.perm[1][9];
    must_fail(mc_perm_check(&f->p, &why), MC_EINPUT, "");
    f->p.perm[1][3] = old;
    must(mc_perm_check(&f->p, &why));
}

TEST_BETWEEN(permutations_for_other_networks_are_refused, set_up, tear_down)
{
    struct fixture *f = *state;
    float *w = malloc(f->g->P * sizeof *w), *v = malloc(f->g->S * sizeof *v);

    must(mc_perm_check_groups(&f->p, &f->s, &why));
    f->p.groups[2].size--;
    must_fail(mc_perm_check_groups(&f->p, &f->s, &why), MC_EINPUT, "another network");
    must_fail(mc_perm_compose(&f->q, &f->p, &why), MC_EINPUT, "");
    f->p.groups[2].size++;
    f->p.groups[2].name[0]++;
    must_fail(mc_perm_check_groups(&f->p, &f->s, &why), MC_EINPUT, "");
    must_fail(mc_perm_apply(&f->p, &f->s, f->g, f->params, f->stats, w, v, &why), MC_EINPUT, "");
    f->p.groups[2].name[0]--;
    f->p.n_groups--;
    must_fail(mc_perm_check_groups(&f->p, &f->s, &why), MC_EINPUT, "");
    must_fail(mc_perm_compose(&f->q, &f->p, &why), MC_EINPUT, "");
    f->p.n_groups++;
    free(w);
    free(v);
}

/* Each unit moves to each place equally often; groups of equal size have different draws. */
TEST_BETWEEN(random_permutations_are_uniform, set_up, tear_down)
{
    struct fixture *f = *state;
    static unsigned count[16][16];
    double chi = 0;
    unsigned equal = 0;
    const unsigned draws = 4000;

    memset(count, 0, sizeof count);
    for (unsigned seed = 0; seed < draws; seed++) {
        mc_perm_random(&f->p, seed);
        for (size_t i = 0; i < 16; i++)
            count[i][f->p.perm[0][i]]++;
        equal += !memcmp(f->p.perm[0], f->p.perm[1], 16 * sizeof(int32_t));
    }
    for (size_t i = 0; i < 256; i++)
        chi += pow(count[i / 16][i % 16] - draws / 16., 2) / (draws / 16.);
    /* 225 degrees of freedom: mean 225, deviation 21 */
    assert_true(chi > 225 - 4.5 * 21 && chi < 225 + 4.5 * 21);
    assert_int_equal(equal, 0);
}

int main(void)
{
    return run_entered(NULL, NULL);
}
