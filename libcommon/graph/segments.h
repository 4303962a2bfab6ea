/* SPDX-License-Identifier: Apache-2.0
 *
 * Ties between stretches of channels: a union-find whose classes can be cut. mc_symmetry's own.
 *
 * A piece is a run of channels. Two pieces are tied when they must move together: they share a root
 * from then on. Cutting a root into two, or grouping its channels into blocks, replaces it by new
 * pieces for everybody who is tied to it, so that no tie has to be looked at a second time. */
#ifndef MC_TIES_H
#define MC_TIES_H

#include "libcommon/base/error.h"

#include <stddef.h>

/* A stretch of an axis: every channel of `piece`, taking `repeat` places each. */
struct mc_stretch {
    int piece;
    size_t repeat;
};

struct mc_piece {
    size_t count;    /* channels */
    int parent;      /* -1: a root */
    int left, right; /* -1: whole. left alone: the channels are blocks of `block` places of left's
                      */
    size_t block;
    int fixed;
};

struct mc_ties {
    struct mc_piece *pieces;
    size_t n, cap;
};

#define MC_MAX_PIECES ((size_t)1 << 16)

void mc_ties_release(struct mc_ties *t);
/* A new piece's number. */
MC_USE_RESULT int mc_ties_new(struct mc_ties *t, size_t count, int fixed, int *piece,
                              struct mc_error *err);

/* A list of stretches that is walked while its pieces may be cut: the top is what comes next. */
struct mc_walk {
    struct mc_stretch *at; /* a stack */
    size_t n, cap;
};
void mc_walk_release(struct mc_walk *w);
MC_USE_RESULT int mc_walk_begin(struct mc_walk *w, const struct mc_stretch *axis, size_t n,
                                struct mc_error *err);
/* Resolve the top to a whole root: 1, 0 at the end, or an error. *out is it; not popped. */
MC_USE_RESULT int mc_walk_top(struct mc_ties *t, struct mc_walk *w, struct mc_stretch *out,
                              struct mc_error *err);

/* Two axes of equally many places move together. */
MC_USE_RESULT int mc_ties_tie(struct mc_ties *t, const struct mc_stretch *a, size_t na,
                              const struct mc_stretch *b, size_t nb, struct mc_error *err);
/* An axis does not move. */
MC_USE_RESULT int mc_ties_fix(struct mc_ties *t, const struct mc_stretch *a, size_t na,
                              struct mc_error *err);

#endif
