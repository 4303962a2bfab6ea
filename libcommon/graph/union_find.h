/* SPDX-License-Identifier: Apache-2.0
 *
 * A union-find of channel segments whose sets can be split. Used only by symmetry.c.
 *
 * A set is a run of channels. Joined sets share a root and move together. A root can be split, or
 * its channels grouped into blocks. This replaces the root by new sets for everything joined to it,
 * so no pair of axes needs a second visit. */
#ifndef MC_UNION_FIND_H
#define MC_UNION_FIND_H

#include "libcommon/base/error.h"

#include <stddef.h>

/* A segment of an axis: all channels of `set`, each with `repeat` entries. */
struct mc_uf_segment {
    int set;
    size_t repeat;
};

struct mc_uf_set {
    size_t count;    /* channels */
    int parent;      /* -1: a root */
    int left, right; /* -1: not split; if only left is set, a channel is `width` channels of left */
    size_t width;
    int fixed;
};

struct mc_union_find {
    struct mc_uf_set *sets;
    size_t n;
};

#define MC_UF_MAX_SETS ((size_t)1 << 16)

void mc_union_find_release(struct mc_union_find *t);
/* Add a set; *set is its number. */
MC_USE_RESULT int mc_union_find_new(struct mc_union_find *t, size_t count, int fixed, int *set,
                                    struct mc_error *err);

/* A walk along segments whose sets may be split meanwhile. The top of the stack is next. */
struct mc_uf_walk {
    struct mc_uf_segment *stack; /* a stack */
    size_t n, capacity;
};
void mc_uf_walk_release(struct mc_uf_walk *w);
MC_USE_RESULT int mc_uf_walk_begin(struct mc_uf_walk *w, const struct mc_uf_segment *axis, size_t n,
                                   struct mc_error *err);
/* Resolve the top to a root that is not split, and pop it into *out. Returns 1; 0 at the end; or an
 * error. */
MC_USE_RESULT int mc_uf_walk_next(struct mc_union_find *t, struct mc_uf_walk *w,
                                  struct mc_uf_segment *out, struct mc_error *err);

/* Tie two axes with the same number of entries. */
MC_USE_RESULT int mc_union_find_join(struct mc_union_find *t, const struct mc_uf_segment *a,
                                     size_t na, const struct mc_uf_segment *b, size_t nb,
                                     struct mc_error *err);
/* Fix all channels of an axis. */
MC_USE_RESULT int mc_union_find_fix(struct mc_union_find *t, const struct mc_uf_segment *a,
                                    size_t na, struct mc_error *err);

#endif
