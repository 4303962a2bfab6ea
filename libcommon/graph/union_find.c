/* SPDX-License-Identifier: Apache-2.0
 *
 * A union-find of channel segments. */
#include "libcommon/graph/union_find.h"

#include "libcommon/base/alloc.h"

#include <stdlib.h>
#include <string.h>

void mc_union_find_release(struct mc_union_find *t)
{
    free(t->sets);
    *t = (struct mc_union_find){0};
}

int mc_union_find_new(struct mc_union_find *t, size_t count, int fixed, int *set,
                      struct mc_error *err)
{
    int rc = 0;

    if (t->n >= MC_UF_MAX_SETS)
        return mc_fail(err, MC_EINPUT, "channels are split into more than %zu sets",
                       MC_UF_MAX_SETS);
    if ((rc = mc_list_room(&t->sets, t->n, err)))
        return rc;
    *set = (int)t->n;
    t->sets[t->n++] =
        (struct mc_uf_set){.count = count, .parent = -1, .left = -1, .right = -1, .fixed = fixed};
    return 0;
}

static int root_of(struct mc_union_find *t, int set)
{
    int root = set;

    while (t->sets[root].parent >= 0)
        root = t->sets[root].parent;
    while (t->sets[set].parent >= 0) {
        int up = t->sets[set].parent;
        t->sets[set].parent = root;
        set = up;
    }
    return root;
}

/* Split a root after its first `count` channels. */
static int cut(struct mc_union_find *t, int root, size_t count, struct mc_error *err)
{
    int left = -1, right = -1, rc = 0;

    if ((rc = mc_union_find_new(t, count, 0, &left, err)) ||
        (rc = mc_union_find_new(t, t->sets[root].count - count, 0, &right, err)))
        return rc;
    t->sets[root].left = left;
    t->sets[root].right = right;
    return 0;
}

/* Group each `width` channels of a root into one. */
static int group(struct mc_union_find *t, int root, size_t width, struct mc_error *err)
{
    int left = -1, rc = 0;

    if ((rc = mc_union_find_new(t, t->sets[root].count / width, 0, &left, err)))
        return rc;
    t->sets[root].left = left;
    t->sets[root].width = width;
    return 0;
}

void mc_uf_walk_release(struct mc_uf_walk *w)
{
    free(w->stack);
    *w = (struct mc_uf_walk){0};
}

static int push(struct mc_uf_walk *w, struct mc_uf_segment s, struct mc_error *err)
{
    if (w->n == w->capacity) {
        int rc = mc_list_room(&w->stack, w->capacity, err);
        if (rc)
            return rc;
        w->capacity = w->capacity ? 2 * w->capacity : 1;
    }
    w->stack[w->n++] = s;
    return 0;
}

int mc_uf_walk_begin(struct mc_uf_walk *w, const struct mc_uf_segment *axis, size_t n,
                     struct mc_error *err)
{
    int rc = 0;

    w->n = 0;
    while (n > 0 && !rc)
        rc = push(w, axis[--n], err);
    return rc;
}

/* Do the same as mc_uf_walk_next, but leave the segment on the stack. */
static int top(struct mc_union_find *t, struct mc_uf_walk *w, struct mc_uf_segment *out,
               struct mc_error *err)
{
    while (w->n > 0) {
        struct mc_uf_segment s = w->stack[w->n - 1];
        const struct mc_uf_set *p = NULL;
        int rc = 0;
        s.set = root_of(t, s.set);
        p = &t->sets[s.set];
        if (p->left < 0) {
            *out = s;
            return 1;
        }
        w->n--;
        if (p->right >= 0)
            rc = push(w, (struct mc_uf_segment){p->right, s.repeat}, err);
        if (!rc)
            rc =
                push(w, (struct mc_uf_segment){p->left, s.repeat * (p->width ? p->width : 1)}, err);
        if (rc)
            return rc;
    }
    return 0;
}

int mc_uf_walk_next(struct mc_union_find *t, struct mc_uf_walk *w, struct mc_uf_segment *out,
                    struct mc_error *err)
{
    const int rc = top(t, w, out, err);

    w->n -= rc > 0;
    return rc;
}

static size_t lcm(size_t a, size_t b)
{
    size_t x = a, y = b;

    while (y) {
        size_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x * b;
}

/* Fix the channels of b that are next to `entries` fixed entries of another axis: all of b, or only
 * its start, which is split off. */
static int fix_reached(struct mc_union_find *t, struct mc_uf_segment b, size_t entries,
                       struct mc_error *err)
{
    size_t reach = (entries + b.repeat - 1) / b.repeat;

    if (reach < t->sets[b.set].count)
        return cut(t, b.set, reach, err);
    t->sets[b.set].fixed = 1;
    return 0;
}

/* Split or group two movable segments towards each other. Return 1 if they became one. */
static int approach(struct mc_union_find *t, struct mc_uf_segment a, struct mc_uf_segment b,
                    struct mc_error *err)
{
    struct mc_uf_set *pa = &t->sets[a.set], *pb = &t->sets[b.set];
    size_t na = pa->count * a.repeat, nb = pb->count * b.repeat;
    size_t repeat = lcm(a.repeat, b.repeat);
    size_t common = (na < nb ? na : nb) / repeat * repeat;

    if (!common) { /* blocks of incompatible size */
        (na < nb ? pa : pb)->fixed = 1;
        return 0;
    }
    if (na > common)
        return cut(t, a.set, common / a.repeat, err);
    if (nb > common)
        return cut(t, b.set, common / b.repeat, err);
    if (a.repeat != repeat)
        return group(t, a.set, repeat / a.repeat, err);
    if (b.repeat != repeat)
        return group(t, b.set, repeat / b.repeat, err);
    if (a.set != b.set)
        pb->parent = a.set;
    return 1;
}

int mc_union_find_join(struct mc_union_find *t, const struct mc_uf_segment *a, size_t na,
                       const struct mc_uf_segment *b, size_t nb, struct mc_error *err)
{
    struct mc_uf_walk wa = {0}, wb = {0};
    struct mc_uf_segment sa, sb;
    size_t done_a = 0, done_b = 0; /* entries of a fixed top that are already compared */
    int rc = 0;

    if ((rc = mc_uf_walk_begin(&wa, a, na, err)) || (rc = mc_uf_walk_begin(&wb, b, nb, err)))
        goto out;
    while ((rc = top(t, &wa, &sa, err)) > 0 && (rc = top(t, &wb, &sb, err)) > 0) {
        const struct mc_uf_set *pa = &t->sets[sa.set], *pb = &t->sets[sb.set];
        size_t left_a = pa->count * sa.repeat - done_a, left_b = pb->count * sb.repeat - done_b;
        if (pa->fixed && pb->fixed) {
            size_t step = left_a < left_b ? left_a : left_b;
            done_a = left_a == step ? 0 : done_a + step;
            done_b = left_b == step ? 0 : done_b + step;
            wa.n -= left_a == step;
            wb.n -= left_b == step;
        } else if (pa->fixed) {
            rc = fix_reached(t, sb, left_a, err);
        } else if (pb->fixed) {
            rc = fix_reached(t, sa, left_b, err);
        } else if ((rc = approach(t, sa, sb, err)) == 1) {
            wa.n--;
            wb.n--;
        }
        if (rc < 0)
            break;
    }
out:
    mc_uf_walk_release(&wa);
    mc_uf_walk_release(&wb);
    return rc;
}

int mc_union_find_fix(struct mc_union_find *t, const struct mc_uf_segment *a, size_t na,
                      struct mc_error *err)
{
    struct mc_uf_walk w = {0};
    struct mc_uf_segment s;
    int rc = mc_uf_walk_begin(&w, a, na, err);

    while (rc >= 0 && (rc = mc_uf_walk_next(t, &w, &s, err)) > 0)
        t->sets[s.set].fixed = 1;
    mc_uf_walk_release(&w);
    return rc;
}
