/* SPDX-License-Identifier: Apache-2.0
 *
 * Segments of channels in a union-find whose sets can be cut. For symmetry.c alone.
 *
 * A set is a run of channels. Two sets are joined when they must move together: they share a root
 * from then on. Cutting a root into two, or grouping its channels into blocks, replaces it by new
 * sets for all that are joined to it, so that no pair has to be looked at a second time. */
#ifndef MC_UNION_FIND_H
#define MC_UNION_FIND_H

#include "libcommon/base/error.h"

#include <stddef.h>

/* A segment of an axis: every channel of `set`, taking `repeat` places each. */
struct mc_uf_segment {
    int set;
    size_t repeat;
};

struct mc_uf_set {
    size_t count;    /* channels */
    int parent;      /* -1: a root */
    int left, right; /* -1: whole. left alone: the channels are blocks of `block` places of
                      * left's */
    size_t block;
    int fixed;
};

struct mc_union_find {
    struct mc_uf_set *sets;
    size_t n;
};

#define MC_UF_MAX_SETS ((size_t)1 << 16)

void mc_union_find_release(struct mc_union_find *t);
/* A new set's number. */
MC_USE_RESULT int mc_union_find_new(struct mc_union_find *t, size_t count, int fixed, int *set,
                                    struct mc_error *err);

/* A list of segments that is walked while its sets may be cut: the top is what comes next. */
struct mc_uf_walk {
    struct mc_uf_segment *at; /* a stack */
    size_t n, room;
};
void mc_uf_walk_release(struct mc_uf_walk *w);
MC_USE_RESULT int mc_uf_walk_begin(struct mc_uf_walk *w, const struct mc_uf_segment *axis, size_t n,
                                   struct mc_error *err);
/* Resolve the top to a whole root and pop it: 1, 0 at the end, or an error. *out is it. */
MC_USE_RESULT int mc_uf_walk_next(struct mc_union_find *t, struct mc_uf_walk *w,
                                  struct mc_uf_segment *out, struct mc_error *err);

/* Two axes of equally many places move together. */
MC_USE_RESULT int mc_union_find_join(struct mc_union_find *t, const struct mc_uf_segment *a,
                                     size_t na, const struct mc_uf_segment *b, size_t nb,
                                     struct mc_error *err);
/* An axis does not move. */
MC_USE_RESULT int mc_union_find_fix(struct mc_union_find *t, const struct mc_uf_segment *a,
                                    size_t na, struct mc_error *err);

#endif
