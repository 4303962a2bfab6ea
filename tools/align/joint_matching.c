/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/align/joint_matching.h"

#include "formats/stream/history.h"
#include "libcommon/base/alloc.h"
#include "libcommon/base/file.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- input ----------------------------------------------------------------------------------- */

/* MC_EINPUT if m has other groups than the first file's matrices. */
static int expect_same_groups(const struct mc_joint_input *first, const struct mc_joint_input *in,
                              struct mc_error *err)
{
    const char *file = mc_file_called(in->path), *to = mc_file_called(first->path);

    if (strcmp(in->m.measure, first->m.measure) || strcmp(in->m.place, first->m.place))
        return mc_fail(err, MC_EINPUT, "%s: %s at %s expected as in %s, got %s at %s", file,
                       first->m.measure, first->m.place, to, in->m.measure, in->m.place);
    if (in->m.n_groups != first->m.n_groups)
        return mc_fail(err, MC_EINPUT, "%s: %zu groups expected as in %s, got %zu", file,
                       first->m.n_groups, to, in->m.n_groups);
    for (size_t k = 0; k < in->m.n_groups; k++) {
        const struct mc_group *x = &in->m.groups[k], *y = &first->m.groups[k];
        if (strcmp(x->name, y->name) || x->size != y->size || !mc_group_same_place(x, y))
            return mc_fail(err, MC_EINPUT,
                           "%s: group %s of %zu units expected as in %s, got %s of %zu", file,
                           y->name, y->size, to, x->name, x->size);
    }
    return 0;
}

/* Read one file and compare it with the first. *history: the reader of the first file, which stays
 * open. */
static int read_input(struct mc_joint_set *set, size_t i, struct mc_reader **first,
                      struct mc_history *h, struct mc_error *err)
{
    struct mc_joint_input *in = &set->inputs[i];
    const char *file = mc_file_called(in->path);
    struct mc_reader *r = NULL;
    int rc = mc_reader_open(&r, in->path, err);

    if (rc || (rc = mc_matrices_read(&in->m, (struct mc_stream){.reader = r}, h, err)))
        goto out;
    if (!mc_history_pair(mc_reader_history(r), in->ids))
        rc = mc_fail(err, MC_EINPUT, "%s: does not record its networks (its history is missing)",
                     file);
    else if (!strcmp(in->ids[0], in->ids[1]))
        rc = mc_fail(err, MC_EINPUT, "%s: both networks are %s (two different ones expected)", file,
                     in->ids[0]);
    else if (*first && !(rc = expect_same_groups(&set->inputs[0], in, err)) &&
             !mc_history_same_data(mc_reader_history(*first), mc_reader_history(r)))
        rc = mc_fail(err, MC_EINPUT,
                     "%s: measured on other data than %s (all pairs need the same images)", file,
                     mc_file_called(set->inputs[0].path));
    if (!rc && !*first) {
        *first = r;
        r = NULL;
    }
out:
    mc_reader_close(r);
    return rc;
}

static size_t find_network(const struct mc_joint_set *set, const char *id)
{
    size_t i = 0;

    while (i < set->n_networks && strcmp(set->ids[i], id) != 0)
        i++;
    return i;
}

/* List the networks in their order. */
static int order_networks(struct mc_joint_set *set, struct mc_error *err)
{
    size_t rows[MC_JOINT_MAX] = {0};
    int rc = mc_new(&set->ids, MC_JOINT_MAX, err);

    for (size_t i = 0; i < 2 * set->n_inputs && !rc; i++) {
        const char *id = set->inputs[i / 2].ids[i % 2];
        const size_t k = find_network(set, id);
        if (k == set->n_networks) {
            if (k == MC_JOINT_MAX)
                return mc_fail(err, MC_EINPUT, "--joint: more than %d networks", MC_JOINT_MAX);
            memcpy(set->ids[set->n_networks++], id, MC_ID_LEN);
        }
        rows[k] += i % 2 == 0;
    }
    for (size_t i = 1; i < set->n_networks; i++) /* stable insertion sort */
        for (size_t k = i; k > 0 && rows[k] > rows[k - 1]; k--) {
            char id[MC_ID_LEN];
            const size_t n = rows[k];
            memcpy(id, set->ids[k], MC_ID_LEN);
            memcpy(set->ids[k], set->ids[k - 1], MC_ID_LEN);
            memcpy(set->ids[k - 1], id, MC_ID_LEN);
            rows[k] = rows[k - 1];
            rows[k - 1] = n;
        }
    return rc;
}

static void transpose(struct mc_matrices *m)
{
    for (size_t k = 0; k < m->n_groups; k++) {
        struct mc_matrix *x = &m->matrices[k], old = *x;
        for (size_t i = 0; i < x->n; i++)
            for (size_t j = 0; j < i; j++) {
                const double t = x->value[i * x->n + j];
                x->value[i * x->n + j] = x->value[j * x->n + i];
                x->value[j * x->n + i] = t;
            }
        x->dead_a = old.dead_b;
        x->n_dead_a = old.n_dead_b;
        x->dead_b = old.dead_a;
        x->n_dead_b = old.n_dead_a;
    }
}

/* Find the file of each pair, and transpose matrices whose rows are the later network. */
static int order_pairs(struct mc_joint_set *set, struct mc_error *err)
{
    const size_t K = set->n_networks, pairs = K * (K - 1) / 2, none = set->n_inputs;
    int rc = mc_new(&set->input_of, pairs, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < pairs; i++)
        set->input_of[i] = none;
    for (size_t f = 0; f < set->n_inputs; f++) {
        struct mc_joint_input *in = &set->inputs[f];
        const size_t a = find_network(set, in->ids[0]), b = find_network(set, in->ids[1]);
        size_t *slot = &set->input_of[a < b ? mc_joint_pair(K, a, b) : mc_joint_pair(K, b, a)];
        if (*slot < none)
            return mc_fail(err, MC_EINPUT, "%s: the same networks as %s (each pair once)",
                           mc_file_called(in->path), mc_file_called(set->inputs[*slot].path));
        *slot = f;
        if (a > b)
            transpose(&in->m);
    }
    for (size_t i = 0; i < K; i++)
        for (size_t j = i + 1; j < K; j++)
            if (set->input_of[mc_joint_pair(K, i, j)] == none)
                return mc_fail(err, MC_EINPUT,
                               "--joint: no matrices of networks %.8s and %.8s (%zu networks have "
                               "%zu pairs, got %zu)",
                               set->ids[i], set->ids[j], K, pairs, set->n_inputs);
    return 0;
}

int mc_joint_set_read(struct mc_joint_set *set, const char *const *paths, size_t n,
                      struct mc_history *h, struct mc_error *err)
{
    struct mc_reader *first = NULL;
    int rc = mc_new(&set->inputs, n, err);

    for (size_t i = 0; i < n && !rc; i++) {
        set->n_inputs = i + 1;
        set->inputs[i].path = paths[i];
        rc = read_input(set, i, &first, h, err);
    }
    mc_reader_close(first);
    if (rc || (rc = order_networks(set, err)))
        return rc;
    return order_pairs(set, err);
}

void mc_joint_set_release(struct mc_joint_set *set)
{
    for (size_t i = 0; set->inputs && i < set->n_inputs; i++)
        mc_matrices_release(&set->inputs[i].m);
    free(set->inputs);
    free(set->ids);
    free(set->input_of);
    *set = (struct mc_joint_set){0};
}

const struct mc_matrices *mc_joint_set_pair(const struct mc_joint_set *set, size_t i, size_t j)
{
    return &set->inputs[set->input_of[mc_joint_pair(set->n_networks, i, j)]].m;
}

/* ---- matching -------------------------------------------------------------------------------- */

/* The joint assignment of one group. */
struct problem {
    struct mc_joint joint;
    size_t *size;         /* (slots) */
    const double **value; /* (pairs,slots) */
    int32_t **order;      /* (K,slots) */
};

static void problem_free(struct problem *p)
{
    for (size_t i = 0; p->order && i < p->joint.networks * p->joint.slots; i++)
        free(p->order[i]);
    free(p->size);
    free(p->value);
    free(p->order);
}

static int problem_init(struct problem *p, const struct mc_joint_set *set,
                        const struct mc_nesting *nesting, size_t group,
                        const struct mc_joint_opts *opts, struct mc_error *err)
{
    const size_t K = set->n_networks, holds = nesting->slots[group], S = holds ? holds : 1;
    const size_t U = holds ? nesting->groups[group].size : 1;
    int rc = 0;

    p->joint = (struct mc_joint){.networks = K,
                                 .units = U,
                                 .slots = S,
                                 .starts = opts->starts,
                                 .seed = opts->seed,
                                 .group = (uint32_t)group};
    if ((rc = mc_new(&p->size, S, err)) || (rc = mc_new(&p->value, set->n_inputs * S, err)) ||
        (rc = mc_new(&p->order, K * S, err)))
        return rc;
    for (size_t s = 0; s < S; s++) {
        const size_t from = holds ? mc_nesting_child(nesting, group, 0, s) : group;
        p->size[s] = nesting->groups[from].size;
        for (size_t i = 0; i < set->n_inputs; i++)
            p->value[i * S + s] = set->inputs[set->input_of[i]].m.matrices[from].value;
        for (size_t k = 0; k < K && !rc; k++)
            rc = mc_new(&p->order[k * S + s], U * p->size[s], err);
    }
    p->joint.size = p->size;
    p->joint.value = p->value;
    return rc;
}

/* Set a member's permutations of the group, and of the groups in its units, from the orders of
 * channels. */
static void set_member(struct mc_perm *member, const struct problem *p, size_t k,
                       const struct mc_nesting *nesting, size_t group)
{
    const size_t S = p->joint.slots;

    if (!nesting->slots[group]) {
        memcpy(member->perm[group], p->order[k], p->size[0] * sizeof **p->order);
        return;
    }
    for (size_t h = 0; h < p->joint.units; h++)
        for (size_t s = 0; s < S; s++) {
            const size_t n = p->size[s];
            const int32_t *order = p->order[k * S + s] + h * n;
            const size_t u = (size_t)order[0] / n;
            member->perm[group][h] = (int32_t)u;
            for (size_t i = 0; i < n; i++)
                member->perm[mc_nesting_child(nesting, group, u, s)][i] = order[i] % (int32_t)n;
        }
}

/* Set the orders of a member's channels from its permutations. */
static void get_member(const struct mc_perm *member, const struct problem *p, size_t k,
                       const struct mc_nesting *nesting, size_t group)
{
    const size_t S = p->joint.slots;

    if (!nesting->slots[group]) {
        memcpy(p->order[k], member->perm[group], p->size[0] * sizeof **p->order);
        return;
    }
    for (size_t h = 0; h < p->joint.units; h++)
        for (size_t s = 0; s < S; s++) {
            const size_t n = p->size[s], u = (size_t)member->perm[group][h];
            const int32_t *inside = member->perm[mc_nesting_child(nesting, group, u, s)];
            for (size_t i = 0; i < n; i++)
                p->order[k * S + s][h * n + i] = (int32_t)(u * n) + inside[i];
        }
}

/* MC_EUSAGE if a group is kept without the groups within its units, or the reverse. */
static int expect_whole_units(const struct mc_matrices *m, const unsigned char *keep,
                              struct mc_error *err)
{
    for (size_t k = 0; k < m->n_groups; k++) {
        const size_t outer = mc_group_is_nested(&m->groups[k]) ? m->groups[k].outer : k;
        if (keep[k] != keep[outer])
            return mc_fail(err, MC_EUSAGE,
                           "--groups: with --joint, choose %s and the groups within its units "
                           "together",
                           m->groups[outer].name);
    }
    return 0;
}

static int match_group(struct mc_joint_perm *out, struct mc_joint_result *result,
                       const struct mc_joint_set *set, const struct mc_nesting *nesting,
                       size_t group, const struct mc_joint_opts *opts, struct mc_error *err)
{
    struct problem p = {0};
    int rc = problem_init(&p, set, nesting, group, opts, err);

    if (!rc)
        rc = mc_joint_max(&p.joint, p.order, result, err);
    if (!rc && !isfinite(result->value + result->pairs))
        rc = mc_fail(err, MC_EINPUT, "the sum of matched values is not finite");
    for (size_t k = 0; k < out->n_members && !rc; k++)
        set_member(&out->members[k], &p, k, nesting, group);
    problem_free(&p);
    return rc;
}

int mc_joint_match(struct mc_joint_perm *out, struct mc_joint_result *results,
                   const struct mc_joint_set *set, const struct mc_joint_opts *opts,
                   struct mc_error *err)
{
    const struct mc_matrices *m = &set->inputs[0].m;
    size_t failed = m->n_groups;
    struct mc_nesting nesting;
    int rc = mc_joint_perm_init(out, set->n_networks, m->groups, m->n_groups, err);

    if (rc || (rc = expect_whole_units(m, opts->keep, err)) ||
        (rc = mc_nesting_find(&nesting, m->groups, m->n_groups, err)))
        return rc;
#pragma omp parallel for schedule(dynamic, 1)                                                      \
    num_threads(opts->threads ? opts->threads : omp_get_max_threads())
    for (size_t k = 0; k < m->n_groups; k++) {
        struct mc_error local_err = {0};
        if (mc_group_is_nested(&m->groups[k]) || opts->keep[k] ||
            !match_group(out, &results[k], set, &nesting, k, opts, &local_err))
            continue;
#pragma omp critical
        if (k < failed) {
            failed = k;
            *err = local_err;
        }
    }
    mc_nesting_release(&nesting);
    if (failed < m->n_groups)
        return mc_fail_in(err->code, err, "%s", m->groups[failed].name);
    mc_joint_perm_set_ids(out, (const char(*)[MC_ID_LEN])set->ids);
    return 0;
}

/* The member of each network of the set. */
static int find_members(const struct mc_perm **member, const struct mc_joint_set *set,
                        const struct mc_joint_perm *orders, const char *file, struct mc_error *err)
{
    const struct mc_matrices *m = &set->inputs[0].m;
    const struct mc_symmetry groups = {.groups = m->groups, .n_groups = m->n_groups};

    for (size_t k = 0; k < set->n_networks; k++) {
        const size_t i = mc_joint_perm_find(orders, set->ids[k]);
        if (i == orders->n_members)
            return mc_fail(err, MC_EINPUT, "%s: no member for network %.8s of the matrices", file,
                           set->ids[k]);
        member[k] = &orders->members[i];
    }
    return mc_fail_in(mc_perm_check_groups(member[0], &groups, err), err, "%s", file);
}

int mc_joint_score(double *values, const struct mc_joint_set *set,
                   const struct mc_joint_perm *orders, const char *file, struct mc_error *err)
{
    const struct mc_matrices *m = &set->inputs[0].m;
    const struct mc_perm *member[MC_JOINT_MAX] = {0};
    const struct mc_joint_opts none = {0};
    struct mc_nesting nesting;
    int rc = find_members(member, set, orders, file, err);

    if (rc || (rc = mc_nesting_find(&nesting, m->groups, m->n_groups, err)))
        return rc;
    for (size_t g = 0; g < m->n_groups && !rc; g++) {
        struct problem p = {0};
        if (mc_group_is_nested(&m->groups[g]))
            continue;
        if (!(rc = problem_init(&p, set, &nesting, g, &none, err))) {
            for (size_t k = 0; k < set->n_networks; k++)
                get_member(member[k], &p, k, &nesting, g);
            values[g] = mc_joint_value(&p.joint, (const int32_t *const *)p.order);
        }
        problem_free(&p);
    }
    mc_nesting_release(&nesting);
    return rc;
}
