/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/align/joint_weights.h"

#include "libcommon/base/alloc.h"
#include "tools/align/weight_matching.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_RISE 1e-7 /* relative: the sum of the others is rounded to float32 */

struct joint {
    struct mc_joint_perm *j;
    const struct mc_symmetry *s;
    const struct mc_graph *g;
    const float *const *params;
    const struct mc_joint_weights_opts *opts;
    struct mc_perm before; /* a network's permutation before its match */
    struct mc_assignment *info;
    float *sum, *moved; /* (P) */
};

/* The objectives before and after one match. */
struct rise {
    double first, last;
};

static void note_sweep(void *arg, const struct mc_weight_sweep *w)
{
    struct rise *r = arg;

    if (!w->sweep)
        r->first = w->objective;
    r->last = w->objective;
}

/* Match network i to a. */
static int match_to(const struct joint *x, size_t i, const float *a, int forward, struct rise *rise,
                    struct mc_error *err)
{
    const struct mc_weight_match_opts opts = {.seed = x->opts->seed,
                                              .forward = forward,
                                              .keep = x->opts->keep,
                                              .threads = x->opts->threads,
                                              .swept = note_sweep,
                                              .arg = rise};

    return mc_weight_match(&x->j->members[i], x->info, x->s, x->g, a, x->params[i], &opts, err);
}

/* Set sum to that of all networks but i, in the common order. */
static int sum_others(const struct joint *x, size_t i, struct mc_error *err)
{
    int rc = 0;

    memset(x->sum, 0, x->g->P * sizeof *x->sum);
    for (size_t k = 0; k < x->j->n_members && !rc; k++) {
        if (k == i)
            continue;
        rc = mc_perm_apply(&x->j->members[k], x->s, x->g, x->params[k], NULL, x->moved, NULL, err);
        for (size_t p = 0; p < x->g->P && !rc; p++)
            x->sum[p] += x->moved[p];
    }
    return rc;
}

/* Match each network to the sum of the others. */
static int pass(struct joint *x, struct mc_joint_pass *p, struct mc_error *err)
{
    double sum = 0;

    p->changed = 0;
    for (size_t i = 0; i < x->j->n_members; i++) {
        struct mc_perm *perm = &x->j->members[i];
        struct rise rise = {0, 0};
        int rc = sum_others(x, i, err);
        mc_perm_copy(&x->before, perm);
        if (rc || (rc = match_to(x, i, x->sum, 0, &rise, err)))
            return rc;
        if (rise.last > rise.first + MIN_RISE * fabs(rise.last))
            p->changed++;
        else
            mc_perm_copy(perm, &x->before);
        sum += rise.first;
    }
    p->objective = p->changed ? 0 : sum / 2; /* each pair was counted for both networks */
    return 0;
}

/* Match all networks to the reference, then each to the others until none changes. */
static int ascend(struct joint *x, size_t reference, double *objective, struct mc_error *err)
{
    struct mc_joint_pass p = {.reference = reference, .changed = 1};
    int rc = 0;

    for (size_t i = 0; i < x->j->n_members && !rc; i++) {
        struct rise rise;
        mc_perm_reset(&x->j->members[i]);
        if (i != reference)
            rc = match_to(x, i, x->params[reference], 1, &rise, err);
    }
    while (!rc && p.changed) {
        p.pass++;
        if (!(rc = pass(x, &p, err)))
            x->opts->passed(x->opts->arg, &p);
    }
    *objective = p.objective;
    return rc;
}

int mc_joint_weight_match(struct mc_joint_perm *j, double *objective, const struct mc_symmetry *s,
                          const struct mc_graph *g, const float *const *params,
                          const struct mc_joint_weights_opts *opts, struct mc_error *err)
{
    struct joint x = {.j = j, .s = s, .g = g, .params = params, .opts = opts};
    struct mc_joint_perm best = {0};
    int rc = 0;

    *objective = -INFINITY;
    if ((rc = mc_joint_perm_init(&best, j->n_members, s->groups, s->n_groups, err)) ||
        (rc = mc_perm_init(&x.before, s, err)) || (rc = mc_new(&x.info, s->n_groups, err)) ||
        (rc = mc_new(&x.sum, g->P, err)) || (rc = mc_new(&x.moved, g->P, err)))
        goto out;
    for (size_t r = 0; r < j->n_members; r++) {
        double value = 0;
        if ((rc = ascend(&x, r, &value, err)))
            goto out;
        if (value <= *objective + MIN_RISE * fabs(value))
            continue;
        *objective = value;
        mc_joint_perm_copy(&best, j);
    }
    mc_joint_perm_copy(j, &best);
    rc = mc_joint_perm_follow_first(j, err);
out:
    mc_joint_perm_release(&best);
    mc_perm_release(&x.before);
    free(x.info);
    free(x.sum);
    free(x.moved);
    return rc;
}
