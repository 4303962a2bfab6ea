/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation: from doubly stochastic matrices to a permutation. */
#include "libcommon/base/alloc.h"
#include "tools/pam/pam.h"

#include "libcommon/assign/assign.h"
#include "libcommon/assign/doubly_stochastic.h"
#include "libcommon/base/rng.h"

#include <stdlib.h>
#include <string.h>

/* Return the number of units at different positions in a and b. */
static size_t n_moved(const struct mc_perm *a, const struct mc_perm *b)
{
    size_t n = 0;

    for (size_t g = 0; g < a->n_groups; g++)
        for (size_t i = 0; i < a->groups[g].size; i++)
            n += a->perm[g][i] != b->perm[g][i];
    return n;
}

/* Fill one group of all candidates: c[1] with the assignment, c[2 ...] with draws. */
static int fill_group(struct mc_pam *p, const struct mc_train *f, uint64_t outer, size_t g,
                      const float *matrix, struct mc_perm *c, struct mc_error *err)
{
    const size_t k = p->symmetry->groups[g].size;
    struct mc_birkhoff b = {0};
    double *d = malloc(k * k * sizeof *d);
    int rc = d ? 0 : mc_no_memory(err);

    for (size_t i = 0; !rc && i < k * k; i++)
        d[i] = (double)matrix[i];
    if (!rc)
        rc = mc_assign_max(k, d, c[1].perm[g], NULL, err);
    if (!rc && p->o->draws)
        rc = mc_birkhoff_decompose(&b, k, d, p->o->drop, err);
    if (!rc && p->o->draws)
        rc = mc_birkhoff_heaviest(&b, p->o->terms, err);
    for (uint64_t i = 0; !rc && i < p->o->draws; i++) {
        const struct mc_rng4 r =
            mc_rng(f->o->seed, MC_RNG_BIRKHOFF, (uint32_t)outer, (uint32_t)i, (uint32_t)g);
        const int32_t *drawn = b.n_terms
                                   ? b.perm + mc_birkhoff_draw(&b, (double)mc_rng_unit(r.v[0])) * k
                                   : c[1].perm[g]; /* too far from doubly stochastic */
        memcpy(c[2 + i].perm[g], drawn, k * sizeof *drawn);
    }
    mc_birkhoff_release(&b);
    free(d);
    return rc;
}

/* Fill the candidates c[0] (previous), c[1] (projection) and c[2 ...] (draws). Allocates
 * n_alloc. */
static int fill_candidates(struct mc_pam *p, struct mc_train *f, uint64_t outer, struct mc_perm *c,
                           size_t n_alloc, struct mc_error *err)
{
    float *matrices = malloc(p->matrices * sizeof *matrices);
    int rc = matrices ? 0 : mc_no_memory(err);

    for (size_t i = 0; !rc && i < n_alloc; i++)
        rc = mc_perm_init(&c[i], p->symmetry, err);
    if (!rc)
        rc = f->be->get(f->be, p->d_matrices, 0, matrices, p->matrices * sizeof *matrices, err);
    if (!rc)
        mc_perm_copy(&c[0], &p->previous);
    for (size_t g = 0; !rc && g < p->symmetry->n_groups; g++)
        rc = fill_group(p, f, outer, g, matrices + p->offsets[g], c, err);
    free(matrices);
    return rc;
}

/* ---- selection ------------------------------------------------------------------------------- */

/* A permutation with its measured objective. */
struct candidate {
    struct mc_perm *perm;
    struct mc_pam_value q;
    double proximal, value; /* value: the quantity to minimise */
};

/* Selection among the candidates c[0 ... n-1]; c[n] and c[n+1] are scratch for mixtures. */
struct choice {
    struct mc_perm *c;
    size_t n;
    struct candidate projection, best;
    double tried, selected; /* number measured; number of the best, or 2 for a mixture */
};

static void set_value(const struct mc_pam *p, struct candidate *c)
{
    c->proximal = (double)n_moved(&p->previous, c->perm) / p->o->nu_permutation;
    c->value = c->q.loss + (p->o->by_objective ? c->proximal : 0);
}

static int measure_at(struct mc_pam *p, struct mc_train *f, const struct mc_perm *perm,
                      enum mc_pam_set_name set, struct mc_pam_value *q, struct mc_error *err)
{
    int rc = mc_pam_place(p, f, perm, err);

    return rc ? rc : mc_pam_measure(p, f, set, q, err);
}

static int measure_candidate(struct mc_pam *p, struct mc_train *f, struct candidate *c,
                             struct mc_error *err)
{
    int rc = measure_at(p, f, c->perm, MC_PAM_SELECTION, &c->q, err);

    set_value(p, c);
    return rc;
}

/* Return 1 if an earlier candidate equals candidate i. */
static int is_duplicate(const struct mc_perm *c, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (!n_moved(&c[j], &c[i]))
            return 1;
    return 0;
}

/* Return 1 if an earlier candidate equals candidate i in group g. */
static int is_duplicate_in_group(const struct mc_perm *c, size_t i, size_t g)
{
    for (size_t j = 0; j < i; j++)
        if (!memcmp(c[j].perm[g], c[i].perm[g], c[i].groups[g].size * sizeof *c[i].perm[g]))
            return 1;
    return 0;
}

/* Select the best of all whole candidates. */
static int select_jointly(struct mc_pam *p, struct mc_train *f, struct choice *s,
                          struct mc_error *err)
{
    for (size_t i = 1; i < s->n; i++) {
        struct candidate next = i == 1 ? s->projection : (struct candidate){.perm = &s->c[i]};
        int rc = 0;
        if (is_duplicate(s->c, i))
            continue;
        if (i > 1 && (rc = measure_candidate(p, f, &next, err)))
            return rc;
        s->tried++;
        if (next.value < s->best.value) {
            s->best = next;
            s->selected = (double)i;
        }
    }
    return 0;
}

/* The best candidate for a group, and the gain of using it for that group alone. */
struct group_choice {
    size_t group, from;
    double gain;
};

static int by_gain(const void *x, const void *y)
{
    const struct group_choice *a = x, *b = y;

    if (a->gain != b->gain)
        return a->gain > b->gain ? -1 : 1;
    return a->group < b->group ? -1 : a->group > b->group;
}

/* Set mixed[1] to mixed[0] with group g of c. */
static void mix(struct mc_perm *mixed, const struct mc_perm *c, size_t g)
{
    mc_perm_copy(&mixed[1], &mixed[0]);
    memcpy(mixed[1].perm[g], c->perm[g], c->groups[g].size * sizeof *c->perm[g]);
}

/* Start from the better of the previous permutation and the projection. First measure each group's
 * candidates alone, with the other groups unchanged. Then add each group's best in the order of
 * their gains, if it still lowers the value in combination. */
static int select_by_groups(struct mc_pam *p, struct mc_train *f, struct choice *s,
                            struct mc_error *err)
{
    const size_t G = p->symmetry->n_groups;
    struct candidate *best = &s->best;
    struct mc_perm *c = s->c, *mixed = c + s->n;
    struct group_choice *choice = NULL;
    int rc = mc_new(&choice, G, err);

    if (s->projection.value < best->value) {
        *best = s->projection;
        s->selected = 1;
    }
    mc_perm_copy(&mixed[0], best->perm);
    for (size_t g = 0; !rc && g < G; g++) {
        choice[g].group = g;
        for (size_t i = 0; !rc && i < s->n; i++) {
            struct candidate next = {.perm = &mixed[1]};
            mix(mixed, &c[i], g);
            if (is_duplicate_in_group(c, i, g) || !n_moved(&mixed[0], &mixed[1]))
                continue;
            rc = measure_candidate(p, f, &next, err);
            s->tried++;
            if (best->value - next.value > choice[g].gain) {
                choice[g].gain = best->value - next.value;
                choice[g].from = i;
            }
        }
    }
    if (!rc)
        qsort(choice, G, sizeof *choice, by_gain);
    for (size_t k = 0; !rc && k < G && choice[k].gain > 0; k++) {
        struct candidate next = {.perm = &mixed[1]};
        mix(mixed, &c[choice[k].from], choice[k].group);
        rc = measure_candidate(p, f, &next, err);
        if (!rc && next.value < best->value) {
            mc_perm_copy(&mixed[0], &mixed[1]);
            *best = next;
            best->perm = &mixed[0];
            s->selected = 2;
        }
    }
    free(choice);
    return rc;
}

/* Report the selected permutation, also measured on images not used for selection. */
static int report_best(struct mc_pam *p, struct mc_train *f, const struct candidate *best,
                       struct mc_pam_report *r, struct mc_error *err)
{
    struct mc_pam_value before = {0}, selected = {0}, relu = {0};
    int rc;

    r->permutation = best->q;
    r->proximal_permutation = best->proximal;
    r->moved = (double)n_moved(&p->previous, best->perm);
    if ((rc = measure_at(p, f, &p->previous, MC_PAM_OTHERS, &before, err)) ||
        (rc = measure_at(p, f, best->perm, MC_PAM_OTHERS, &selected, err)) ||
        (rc = mc_pam_measure(p, f, MC_PAM_RELU, &relu, err)))
        return rc;
    r->loss_others_before = before.loss;
    r->loss_others = selected.loss;
    r->relu = relu.loss;
    mc_perm_copy(p->perm, best->perm);
    return 0;
}

int mc_pam_select(struct mc_pam *p, struct mc_train *f, uint64_t outer, struct mc_error *err)
{
    const size_t n = 2 + p->o->draws;
    struct mc_pam_report *r = &p->report[outer];
    struct mc_perm *c = calloc(n + 2, sizeof *c);
    struct choice s = {.c = c, .n = n, .best = {.perm = c, .q = r->before}, .tried = 1};
    int rc = c ? fill_candidates(p, f, outer, c, n + 2, err) : mc_no_memory(err);

    if (rc || (rc = f->be->get(f->be, p->residual, 0, &r->residual, sizeof r->residual, err)))
        goto out;
    f->be->soft_permute(p->soft_perm, p->d_matrices, p->d_b, p->d_pb);
    if ((rc = mc_pam_measure(p, f, MC_PAM_SELECTION, &r->relaxed, err)))
        goto out;
    set_value(p, &s.best);
    s.projection = s.best;
    s.projection.perm = &c[1];
    if (n_moved(&c[0], &c[1]))
        rc = measure_candidate(p, f, &s.projection, err);
    r->projection = s.projection.q;
    if (!rc)
        rc = (p->o->jointly ? select_jointly : select_by_groups)(p, f, &s, err);
    r->candidates = s.tried;
    r->kept = s.selected;
    if (!rc)
        rc = report_best(p, f, &s.best, r, err);
out:
    for (size_t i = 0; c && i < n + 2; i++)
        mc_perm_release(&c[i]);
    free(c);
    return rc;
}
