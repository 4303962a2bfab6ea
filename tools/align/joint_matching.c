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

/* ---- matching -------------------------------------------------------------------------------- */

/* The joint assignment of one group and of those in its units. */
struct problem {
    struct mc_joint joint;
    struct mc_group *groups;
    const double **value;        /* (pairs,slots) */
    int32_t **perm;              /* (K,n_groups) borrowed */
    struct mc_joint_perm orders; /* parts of the networks' permutations */
};

static void problem_free(struct problem *p)
{
    free(p->groups);
    free(p->value);
    free(p->perm);
    free(p->orders.members);
}

/* member: (K) permutations of all groups, which the problem refers to. */
static int problem_init(struct problem *p, const struct mc_joint_set *set,
                        const struct mc_nesting *nesting, size_t group,
                        const struct mc_perm *const *member, struct mc_error *err)
{
    const size_t K = set->n_networks, holds = nesting->slots[group], S = holds ? holds : 1,
                 n = 1 + holds * nesting->groups[group].size;
    int rc = 0;

    if ((rc = mc_new(&p->groups, n, err)) || (rc = mc_new(&p->value, set->n_inputs * S, err)) ||
        (rc = mc_new(&p->perm, K * n, err)) || (rc = mc_new(&p->orders.members, K, err)))
        return rc;
    for (size_t i = 0; i < n; i++) {
        const size_t from = i ? nesting->child[nesting->first[group] + i - 1] : group;
        p->groups[i] = nesting->groups[from];
        p->groups[i].outer = i ? 0 : MC_NO_GROUP;
        for (size_t k = 0; k < K; k++)
            p->perm[k * n + i] = member[k]->perm[from];
        for (size_t f = 0; f < set->n_inputs && (i ? i <= S : !holds); f++)
            p->value[f * S + (i ? i - 1 : 0)] =
                set->inputs[set->input_of[f]].m.matrices[from].value;
    }
    p->orders.n_members = K;
    for (size_t k = 0; k < K; k++)
        p->orders.members[k] =
            (struct mc_perm){.n_groups = n, .groups = p->groups, .perm = p->perm + k * n};
    p->joint = (struct mc_joint){.networks = K,
                                 .groups = p->groups,
                                 .n_groups = n,
                                 .value = p->value,
                                 .number = (uint32_t)group};
    return 0;
}

/* MC_EUSAGE if a group is kept without the groups within its units, or the reverse. Rotations are
 * always kept. */
static int expect_whole_units(const struct mc_matrices *m, const unsigned char *keep,
                              struct mc_error *err)
{
    for (size_t k = 0; k < m->n_groups; k++) {
        const size_t outer = mc_group_is_nested(&m->groups[k]) ? m->groups[k].outer : k;
        if (keep[k] != keep[outer] && !mc_allows_of_pairs(m->groups[k].allows))
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
    const struct mc_perm *member[MC_JOINT_MAX] = {0};
    struct problem p = {0};
    int rc = 0;

    for (size_t k = 0; k < out->n_members; k++)
        member[k] = &out->members[k];
    if (!(rc = problem_init(&p, set, nesting, group, member, err))) {
        p.joint.starts = opts->starts;
        p.joint.seed = opts->seed;
        rc = mc_joint_max(&p.joint, &p.orders, result, err);
    }
    if (!rc && !isfinite(result->value + result->pairs))
        rc = mc_fail(err, MC_EINPUT, "the sum of matched values is not finite");
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
        mc_error_first(k, &failed, err, &local_err);
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

int mc_joint_score(struct mc_joint_result *results, const struct mc_joint_set *set,
                   const struct mc_joint_perm *orders, const char *file, struct mc_error *err)
{
    const struct mc_matrices *m = &set->inputs[0].m;
    const struct mc_perm *member[MC_JOINT_MAX] = {0};
    struct mc_nesting nesting;
    int rc = find_members(member, set, orders, file, err);

    if (rc || (rc = mc_nesting_find(&nesting, m->groups, m->n_groups, err)))
        return rc;
    for (size_t g = 0; g < m->n_groups && !rc; g++) {
        struct problem p = {0};
        if (mc_group_is_nested(&m->groups[g]))
            continue;
        if (!(rc = problem_init(&p, set, &nesting, g, member, err)))
            rc = mc_joint_value(&p.joint, &p.orders, &results[g].value, err);
        problem_free(&p);
    }
    mc_nesting_release(&nesting);
    return rc;
}
