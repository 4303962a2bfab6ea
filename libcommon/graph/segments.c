/* SPDX-License-Identifier: Apache-2.0
 *
 * Ties between stretches of channels. */
#include "libcommon/graph/segments.h"

#include <stdlib.h>
#include <string.h>

void mc_ties_release(struct mc_ties *t)
{
    free(t->pieces);
    *t = (struct mc_ties){0};
}

int mc_ties_new(struct mc_ties *t, size_t count, int fixed, int *piece, struct mc_error *err)
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 64;
        struct mc_piece *more = NULL;
        if (t->n >= MC_MAX_PIECES)
            return mc_fail(err, MC_EINPUT, "its channels are cut into more than %zu pieces",
                           MC_MAX_PIECES);
        more = realloc(t->pieces, cap * sizeof *more);
        if (!more)
            return mc_fail(err, MC_ENOMEM, "out of memory");
        t->pieces = more;
        t->cap = cap;
    }
    *piece = (int)t->n;
    t->pieces[t->n++] =
        (struct mc_piece){.count = count, .parent = -1, .left = -1, .right = -1, .fixed = fixed};
    return 0;
}

static int root_of(struct mc_ties *t, int piece)
{
    int root = piece;

    while (t->pieces[root].parent >= 0)
        root = t->pieces[root].parent;
    while (t->pieces[piece].parent >= 0) {
        int up = t->pieces[piece].parent;
        t->pieces[piece].parent = root;
        piece = up;
    }
    return root;
}

/* Cut a root after its first `count` channels. */
static int cut(struct mc_ties *t, int root, size_t count, struct mc_error *err)
{
    int left = -1, right = -1, rc = 0;

    if ((rc = mc_ties_new(t, count, 0, &left, err)) ||
        (rc = mc_ties_new(t, t->pieces[root].count - count, 0, &right, err)))
        return rc;
    t->pieces[root].left = left;
    t->pieces[root].right = right;
    return 0;
}

/* Each `block` channels of a root move as one. */
static int group(struct mc_ties *t, int root, size_t block, struct mc_error *err)
{
    int left = -1, rc = 0;

    if ((rc = mc_ties_new(t, t->pieces[root].count / block, 0, &left, err)))
        return rc;
    t->pieces[root].left = left;
    t->pieces[root].block = block;
    return 0;
}

void mc_walk_release(struct mc_walk *w)
{
    free(w->at);
    *w = (struct mc_walk){0};
}

static int push(struct mc_walk *w, struct mc_stretch s, struct mc_error *err)
{
    if (w->n == w->cap) {
        size_t cap = w->cap ? 2 * w->cap : 64;
        struct mc_stretch *more = realloc(w->at, cap * sizeof *more);
        if (!more)
            return mc_fail(err, MC_ENOMEM, "out of memory");
        w->at = more;
        w->cap = cap;
    }
    w->at[w->n++] = s;
    return 0;
}

int mc_walk_begin(struct mc_walk *w, const struct mc_stretch *axis, size_t n, struct mc_error *err)
{
    w->n = 0;
    while (n > 0) {
        int rc = push(w, axis[--n], err);
        if (rc)
            return rc;
    }
    return 0;
}

int mc_walk_top(struct mc_ties *t, struct mc_walk *w, struct mc_stretch *out, struct mc_error *err)
{
    while (w->n > 0) {
        struct mc_stretch s = w->at[w->n - 1];
        const struct mc_piece *p = NULL;
        int rc = 0;
        s.piece = root_of(t, s.piece);
        p = &t->pieces[s.piece];
        if (p->left < 0) {
            *out = s;
            return 1;
        }
        w->n--;
        if (p->right >= 0)
            rc = push(w, (struct mc_stretch){p->right, s.repeat}, err);
        if (!rc)
            rc = push(w, (struct mc_stretch){p->left, s.repeat * (p->block ? p->block : 1)}, err);
        if (rc)
            return rc;
    }
    return 0;
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

/* a does not move, so neither do the channels of b that its `places` reach. 1: b is fixed. */
static int fix_reached(struct mc_ties *t, struct mc_stretch b, size_t places, struct mc_error *err)
{
    size_t reach = (places + b.repeat - 1) / b.repeat;

    if (reach < t->pieces[b.piece].count)
        return cut(t, b.piece, reach, err);
    t->pieces[b.piece].fixed = 1;
    return 0;
}

/* Two stretches that both move: cut or group them towards each other; 1 when they became one. */
static int approach(struct mc_ties *t, struct mc_stretch a, struct mc_stretch b,
                    struct mc_error *err)
{
    struct mc_piece *pa = &t->pieces[a.piece], *pb = &t->pieces[b.piece];
    size_t na = pa->count * a.repeat, nb = pb->count * b.repeat;
    size_t repeat = lcm(a.repeat, b.repeat);
    size_t common = (na < nb ? na : nb) / repeat * repeat;

    if (!common) { /* blocks that do not fit into each other */
        (na < nb ? pa : pb)->fixed = 1;
        return 0;
    }
    if (na > common)
        return cut(t, a.piece, common / a.repeat, err);
    if (nb > common)
        return cut(t, b.piece, common / b.repeat, err);
    if (a.repeat != repeat)
        return group(t, a.piece, repeat / a.repeat, err);
    if (b.repeat != repeat)
        return group(t, b.piece, repeat / b.repeat, err);
    if (a.piece != b.piece)
        pb->parent = a.piece;
    return 1;
}

int mc_ties_tie(struct mc_ties *t, const struct mc_stretch *a, size_t na,
                const struct mc_stretch *b, size_t nb, struct mc_error *err)
{
    struct mc_walk wa = {0}, wb = {0};
    size_t done_a = 0, done_b = 0; /* places of a fixed top that are already behind us */
    int rc = 0;

    if ((rc = mc_walk_begin(&wa, a, na, err)) || (rc = mc_walk_begin(&wb, b, nb, err)))
        goto out;
    for (;;) {
        struct mc_stretch sa, sb;
        size_t left_a = 0, left_b = 0;
        int fixed_a = 0, fixed_b = 0;
        if ((rc = mc_walk_top(t, &wa, &sa, err)) <= 0 || (rc = mc_walk_top(t, &wb, &sb, err)) <= 0)
            goto out;
        fixed_a = t->pieces[sa.piece].fixed;
        fixed_b = t->pieces[sb.piece].fixed;
        left_a = t->pieces[sa.piece].count * sa.repeat - done_a;
        left_b = t->pieces[sb.piece].count * sb.repeat - done_b;
        if (fixed_a && fixed_b) {
            size_t step = left_a < left_b ? left_a : left_b;
            done_a = left_a == step ? 0 : done_a + step;
            done_b = left_b == step ? 0 : done_b + step;
            wa.n -= left_a == step;
            wb.n -= left_b == step;
            rc = 0;
        } else if (fixed_a) {
            rc = fix_reached(t, sb, left_a, err);
        } else if (fixed_b) {
            rc = fix_reached(t, sa, left_b, err);
        } else {
            rc = approach(t, sa, sb, err);
            if (rc == 1) {
                wa.n--;
                wb.n--;
            }
        }
        if (rc < 0)
            goto out;
    }
out:
    mc_walk_release(&wa);
    mc_walk_release(&wb);
    return rc;
}

int mc_ties_fix(struct mc_ties *t, const struct mc_stretch *a, size_t na, struct mc_error *err)
{
    struct mc_walk w = {0};
    struct mc_stretch s;
    int rc = mc_walk_begin(&w, a, na, err);

    while (!rc && (rc = mc_walk_top(t, &w, &s, err)) > 0) {
        t->pieces[s.piece].fixed = 1;
        w.n--;
        rc = 0;
    }
    mc_walk_release(&w);
    return rc;
}
