/* SPDX-License-Identifier: Apache-2.0
 *
 * Joint assignment compared with exhaustive search for three networks; its local optimality for
 * more; planted orders; units that contain channels. */
#include "libcommon/permutation/joint_search.h"

#include "libcommon/assign/assign.h"
#include "tests/unit/must.h"

#define MOST 36 /* values in the largest matrix */
#define NETWORKS 5
#define PAIRS (NETWORKS * (NETWORKS - 1) / 2)
#define SLOTS 2
#define GROUPS (1 + 3 * SLOTS)

static uint64_t drawn;

static double uniform(void) /* splitmix64 */
{
    uint64_t z = drawn += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* A problem with its matrices and its result: the channels of each network at each place. A group
 * without channels is one unit with one slot. */
struct trial {
    struct mc_joint joint;
    struct mc_group groups[GROUPS];
    size_t units, slots, size[SLOTS];
    double matrix[PAIRS][SLOTS][MOST];
    const double *value[PAIRS * SLOTS];
    int32_t orders[NETWORKS][SLOTS][6];
    struct mc_joint_result result;
};

static void set_trial(struct trial *t, size_t K, size_t units, size_t slots, const size_t *size)
{
    memset(t, 0, sizeof *t);
    memcpy(t->size, size, slots * sizeof *size);
    t->units = units;
    t->slots = slots;
    t->groups[0] = (struct mc_group){.size = units > 1 ? units : *size, .outer = MC_NO_GROUP};
    for (size_t i = 0; units > 1 && i < units * slots; i++)
        t->groups[1 + i] = (struct mc_group){.size = size[i % slots], .unit = i / slots};
    t->joint = (struct mc_joint){.networks = K,
                                 .groups = t->groups,
                                 .n_groups = units > 1 ? 1 + units * slots : 1,
                                 .value = t->value,
                                 .starts = 20,
                                 .seed = 1};
    for (size_t i = 0; i < K * (K - 1) / 2 * slots; i++)
        t->value[i] = t->matrix[i / slots][i % slots];
}

static void set_random(struct trial *t, size_t K, size_t units, size_t slots, const size_t *size)
{
    set_trial(t, K, units, slots, size);
    for (size_t i = 0; i < K * (K - 1) / 2; i++)
        for (size_t s = 0; s < slots; s++)
            for (size_t e = 0; e < MOST; e++)
                t->matrix[i][s][e] = 2 * uniform() - 1;
}

static size_t channels(const struct trial *t, size_t slot)
{
    return t->units * t->size[slot];
}

static double pair_entry(const struct trial *t, size_t a, size_t b, size_t s, size_t c, size_t d)
{
    const size_t K = t->joint.networks, n = channels(t, s);
    const size_t x = (size_t)t->orders[a][s][c], y = (size_t)t->orders[b][s][d];

    return a < b ? t->matrix[mc_joint_pair(K, a, b)][s][x * n + y]
                 : t->matrix[mc_joint_pair(K, b, a)][s][y * n + x];
}

static double objective(const struct trial *t)
{
    double sum = 0;

    for (size_t a = 0; a < t->joint.networks; a++)
        for (size_t b = a + 1; b < t->joint.networks; b++)
            for (size_t s = 0; s < t->slots; s++)
                for (size_t c = 0; c < channels(t, s); c++)
                    sum += pair_entry(t, a, b, s, c, c);
    return sum;
}

/* The orders are permutations that move whole units, the first is the identity, and the values
 * belong together. */
static void must_be_sound(struct trial *t)
{
    const struct mc_joint_result *r = &t->result;

    for (size_t k = 0; k < t->joint.networks; k++)
        for (size_t s = 0; s < t->slots; s++) {
            unsigned seen = 0;
            for (size_t c = 0; c < channels(t, s); c++) {
                const int32_t u = t->orders[k][s][c];
                const size_t h = c / t->size[s];
                assert_true(u >= 0 && (size_t)u < channels(t, s));
                seen |= 1u << u;
                assert_true(k || u == (int32_t)c);
                assert_int_equal((size_t)u / t->size[s],
                                 (size_t)t->orders[k][0][h * t->size[0]] / t->size[0]);
            }
            assert_int_equal(seen, (1u << channels(t, s)) - 1);
        }
    assert_true(fabs(objective(t) - r->value) < 1e-12);
    assert_true(r->value <= r->pairs + 1e-12);
    for (size_t k = 0; k < t->joint.networks; k++)
        assert_true(r->reference[k] <= r->value + 1e-12);
}

static void solve(struct trial *t)
{
    struct mc_joint_perm found = {0};
    struct mc_nesting nesting;
    double value;

    must(mc_joint_perm_init(&found, t->joint.networks, t->groups, t->joint.n_groups, &why));
    must(mc_joint_max(&t->joint, &found, &t->result, &why));
    must(mc_joint_value(&t->joint, &found, &value, &why));
    assert_true(fabs(value - t->result.value) < 1e-12);
    must(mc_nesting_find(&nesting, t->groups, t->joint.n_groups, &why));
    for (size_t i = 0; i < t->joint.networks * t->slots; i++)
        mc_nesting_of_taps(&nesting, found.members[i / t->slots].perm,
                           i % t->slots + (t->units > 1), t->orders[i / t->slots][i % t->slots]);
    mc_nesting_release(&nesting);
    mc_joint_perm_release(&found);
    must_be_sound(t);
}

/* Every permutation of a network's units and of the channels in each is visited: position `at`
 * counts units, then channels. */
struct visit {
    struct trial *t;
    size_t network;
    double best;
};

static void visit_network(struct visit *v);

static void swap(int32_t *x, size_t i, size_t j)
{
    const int32_t t = x[i];

    x[i] = x[j];
    x[j] = t;
}

static void visit_channels(struct visit *v, size_t h, size_t s, size_t at)
{
    struct trial *t = v->t;
    const size_t n = t->size[s];
    int32_t *order = t->orders[v->network][s] + h * n;

    if (at == n) {
        if (++s == t->slots) {
            s = 0;
            h++;
        }
        if (h < t->units) {
            visit_channels(v, h, s, 0);
            return;
        }
        struct visit next = {t, v->network + 1, v->best};
        visit_network(&next);
        v->best = next.best;
        return;
    }
    for (size_t i = at; i < n; i++) {
        swap(order, at, i);
        visit_channels(v, h, s, at + 1);
        swap(order, at, i);
    }
}

static void visit_units(struct visit *v, int32_t *units, size_t at)
{
    struct trial *t = v->t;

    if (at == t->units) {
        for (size_t s = 0; s < t->slots; s++)
            for (size_t c = 0; c < channels(t, s); c++)
                t->orders[v->network][s][c] =
                    units[c / t->size[s]] * (int32_t)t->size[s] + (int32_t)(c % t->size[s]);
        visit_channels(v, 0, 0, 0);
        return;
    }
    for (size_t i = at; i < t->units; i++) {
        swap(units, at, i);
        visit_units(v, units, at + 1);
        swap(units, at, i);
    }
}

static void visit_network(struct visit *v)
{
    int32_t units[6] = {0, 1, 2, 3, 4, 5};

    if (v->network == v->t->joint.networks)
        v->best = fmax(v->best, objective(v->t));
    else
        visit_units(v, units, 0);
}

static double best_of_all(const struct trial *solved)
{
    struct trial t = *solved;
    struct visit v = {&t, 1, -INFINITY};

    for (size_t s = 0; s < t.slots; s++)
        for (size_t c = 0; c < channels(&t, s); c++)
            t.orders[0][s][c] = (int32_t)c;
    visit_network(&v);
    return v.best;
}

TEST(three_networks_of_few_units_equal_exhaustive_search)
{
    struct trial t;

    for (size_t n = 1; n <= 5; n++)
        for (int draw = 0; draw < (n < 5 ? 20 : 4); draw++) {
            set_random(&t, 3, 1, 1, &n);
            t.joint.starts = 0;
            if (draw % 2) /* with many ties */
                for (size_t i = 0; i < 3 * MOST; i++)
                    t.matrix[i / MOST][0][i % MOST] = floor(3 * uniform());
            solve(&t);
            assert_true(fabs(t.result.value - best_of_all(&t)) < 1e-12);
        }
}

TEST(units_with_channels_equal_exhaustive_search)
{
    const struct {
        size_t units, slots, size[SLOTS];
    } cases[] = {{2, 1, {2}}, {2, 2, {2, 1}}, {2, 2, {1, 3}}, {3, 1, {1}}, {3, 1, {2}}};
    struct trial t;

    for (size_t i = 0; i < COUNT(cases); i++)
        for (int draw = 0; draw < 5; draw++) {
            set_random(&t, 3, cases[i].units, cases[i].slots, cases[i].size);
            t.joint.starts = 100;
            solve(&t);
            assert_true(fabs(t.result.value - best_of_all(&t)) < 1e-12);
        }
}

TEST(two_networks_equal_linear_assignment)
{
    const size_t n = 6;
    struct mc_assignment found;
    int32_t col[6];
    struct trial t;

    set_random(&t, 2, 1, 1, &n);
    solve(&t);
    must(mc_assign_max(n, t.matrix[0][0], col, &found, &why));
    assert_memory_equal(t.orders[1][0], col, sizeof col);
    assert_true(fabs(t.result.value - found.value) < 1e-12);
    assert_true(fabs(t.result.pairs - found.value) < 1e-12);
}

/* The most that moving networks `side` against the others can add. */
static double gain(const struct trial *t, unsigned side)
{
    const size_t n = channels(t, 0);
    double sum[MOST] = {0}, now = 0;
    struct mc_assignment found;
    int32_t col[6];

    for (size_t a = 0; a < t->joint.networks; a++)
        for (size_t b = 0; b < t->joint.networks; b++)
            for (size_t e = 0; !(side >> a & 1) && (side >> b & 1) && e < n * n; e++)
                sum[e] += pair_entry(t, a, b, 0, e / n, e % n);
    must(mc_assign_max(n, sum, col, &found, &why));
    for (size_t c = 0; c < n; c++)
        now += sum[c * n + c];
    return found.value - now;
}

TEST(no_bipartition_improves_the_result)
{
    const size_t n = 6;
    struct trial t;

    for (int draw = 0; draw < 10; draw++) {
        set_random(&t, NETWORKS, 1, 1, &n);
        t.joint.starts = (size_t)draw % 3;
        solve(&t);
        for (unsigned side = 2; side < 1u << NETWORKS; side += 2)
            assert_true(gain(&t, side) < 1e-11);
    }
}

TEST(planted_orders_are_found)
{
    const size_t n = 6, size[SLOTS] = {2, 1};
    int32_t planted[NETWORKS][6];
    struct trial t;

    set_random(&t, NETWORKS, 1, 1, &n);
    for (size_t k = 0; k < NETWORKS; k++)
        for (size_t c = 0; c < n; c++)
            planted[k][c] = (int32_t)((c + k) % n);
    for (size_t i = 0; i < NETWORKS; i++)
        for (size_t j = i + 1; j < NETWORKS; j++)
            for (size_t c = 0; c < n; c++)
                t.matrix[mc_joint_pair(NETWORKS, i, j)][0]
                        [(size_t)planted[i][c] * n + (size_t)planted[j][c]] = 1;
    solve(&t);
    assert_true(fabs(t.result.pairs - PAIRS * (double)n) < 1e-12);
    assert_true(fabs(t.result.value - t.result.pairs) < 1e-12);
    for (size_t k = 0; k < NETWORKS; k++)
        for (size_t c = 0; c < n; c++) /* the place of the first network's unit */
            assert_int_equal(t.orders[k][0][planted[0][c]], planted[k][c]);

    set_trial(&t, 3, 2, 2, size); /* the third network has its units exchanged */
    for (size_t p = 0; p < 3; p++)
        for (size_t c = 0; c < 4; c++)
            t.matrix[p][0][c * 4 + (p ? c ^ 2 : c)] = 1;
    for (size_t p = 0; p < 3; p++)
        for (size_t c = 0; c < 2; c++)
            t.matrix[p][1][c * 2 + (p ? c ^ 1 : c)] = 1;
    solve(&t);
    assert_true(t.result.value == 18 && t.result.pairs == 18);
    assert_int_equal(t.orders[2][0][0], 2);
    assert_int_equal(t.orders[2][1][0], 1);
}

TEST(result_follows_the_seed)
{
    const size_t n = 6;
    struct trial t, again;

    set_random(&t, NETWORKS, 1, 1, &n);
    set_trial(&again, NETWORKS, 1, 1, &n);
    memcpy(again.matrix, t.matrix, sizeof t.matrix);
    solve(&t);
    solve(&again);
    assert_memory_equal(t.orders, again.orders, sizeof t.orders);
    assert_true(t.result.value == again.result.value);
    again.joint.starts = 200;
    solve(&again);
    assert_true(again.result.value >= t.result.value - 1e-12);
}

TEST(values_that_are_not_finite_are_refused)
{
    const size_t n = 3;
    struct mc_joint_perm found = {0};
    struct trial t;

    set_random(&t, 3, 1, 1, &n);
    t.matrix[1][0][4] = NAN;
    must(mc_joint_perm_init(&found, 3, t.groups, 1, &why));
    must_fail(mc_joint_max(&t.joint, &found, &t.result, &why), MC_EINPUT, "");
    mc_joint_perm_release(&found);
}

int main(void)
{
    return run_entered(NULL, NULL);
}
