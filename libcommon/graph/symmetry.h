/* SPDX-License-Identifier: Apache-2.0
 *
 * The permutation groups of a network, derived from its graph: which channel axes move together,
 * which are fixed, which parameter axes and activations each group acts on.
 *
 * An axis is a list of segments. Concat strings segments together, flatten repeats each channel h*w
 * times, add splits both sides until their boundaries agree and ties them, and every split travels
 * to all that was tied before. A depthwise convolution passes its axis on; one in G groups cuts its
 * axes at their boundaries, and the channels of each of them move among themselves. Fixed (group
 * -1) are the axes of the input and of the logits, what is tied to them, and what has nothing to
 * move: a group of one channel.
 *
 * Whole blocks of a convolution in G groups move where each block of its inputs and of its outputs
 * is one group, and every axis with one of these has all G side by side, in the blocks' order and
 * with one repeat; what other convolutions in groups have of them must be their own blocks, too. A
 * group of G units more then permutes the blocks (the rows of its weight; its inputs go along),
 * called NODE/blocks after the first layer whose outputs it permutes, and in each unit lie the
 * groups of that block (struct mc_group): those of all convolutions that share any of them. Where
 * anything else ties a block, all stay in order.
 *
 * A segment, a use and a tap hold a whole group: start is 0 and count is the group's size. (An axis
 * that could be cut further is tied to nothing that is cut there, so it is one group.) */
#ifndef MC_SYMMETRY_H
#define MC_SYMMETRY_H

#include "libcommon/graph/graph.h"

/* A segment of an axis: `count` channels of `group` from channel `start` of the group on, each
 * taking `repeat` places on the axis; so it covers count * repeat places. */
struct mc_segment {
    int group; /* -1: fixed */
    size_t start, count, repeat;
};

struct mc_axis {
    struct mc_segment *seg;
    size_t n;
};

/* One parameter or statistics axis that a group permutes (declared groups have any axis, and may
 * lie within the units of others: libcommon/graph/uses.h has their order): places [offset, offset +
 * count * repeat) of axis `dim` of the tensor belong to channels [start, start + count) of the
 * group. Axis 1 of a convolution in G groups is counted over all its inputs: a place is in the rows
 * of one group, and there the place modulo inputs / G. */
struct mc_use {
    int is_stat;  /* tensor of graph->stats, not of graph->params */
    size_t index; /* which one */
    int dim;      /* 0: outputs (and vectors), 1: inputs */
    size_t offset, start, count, repeat;
};

/* One place where a group can be observed: channels [offset, offset + count) of node `post` are
 * channels [start, start + count) of the group; `pre` is the input of that ReLU, or `post` itself
 * where there is none.
 *
 * `post` is what a convolution or a linear layer sees of the group, before what only moves or
 * averages it: walking back from the layer through pooling, flatten, dropout, norms and scales to
 * an activation (here called ReLU), that one. An addition, a product or another layer met before
 * any is itself the place (with the norms and scales after it). A concat is walked into, branch by
 * branch. So a residual stage is seen at its stem's ReLU and at each block's last one,
 * pre-activation blocks at the ReLU that begins their branch, inception at each branch's ReLU; what
 * is summed before a ReLU is not seen alone. Each group has at least one tap, each node and offset
 * at most one.
 *
 * Groups that lie alike in the units of another share their taps, which are of the one in unit 0:
 * its count is all units' channels, unit by unit. The group of the blocks itself has none. */
struct mc_tap {
    int group;
    int post, pre;
    size_t offset, start, count;
};

struct mc_group {
    char name[MC_NAME_MAX]; /* of the first layer whose outputs it permutes */
    size_t size;            /* K */
    /* 1 + the group within whose unit `unit` it lies, or 0. What lies in the units of one group is
     * alike in all of them, in the same order (the groups of a unit, by their slots). A group
     * within moves first, then the units with what they hold. */
    size_t within, unit;
    struct mc_use *uses;
    size_t n_uses;
};

struct mc_symmetry {
    struct mc_group *groups; /* in the order of the graph */
    size_t n_groups;
    struct mc_tap *taps; /* of all groups, in the order of the graph */
    size_t n_taps;
    struct mc_axis *axes; /* (n_nodes): the channel axis of each node's output */
    int n_nodes;
};

/* Of a network without a graph, the groups that it declares. MC_EINPUT: too many segments, naming
 * the node. */
MC_USE_RESULT int mc_symmetry_derive(struct mc_symmetry *out, const struct mc_graph *g,
                                     struct mc_error *err);
/* The part of it that takes nodes, without the groups of blocks. */
MC_USE_RESULT int mc_symmetry_of_graph(struct mc_symmetry *out, const struct mc_graph *g,
                                       struct mc_error *err);
/* And its parts that say where groups can be observed. seen (n_nodes): 1 where groups are seen;
 * shown (n_groups): 1 where anything shows the group. s: its axes are looked at. */
MC_USE_RESULT int mc_seen_find(const struct mc_graph *g, const struct mc_symmetry *s,
                               size_t n_groups, unsigned char *seen, unsigned char *shown,
                               struct mc_error *err);
/* The taps of these nodes. */
MC_USE_RESULT int mc_seen_taps(struct mc_symmetry *out, const struct mc_graph *g,
                               const unsigned char *seen, struct mc_error *err);
void mc_symmetry_release(struct mc_symmetry *s);

/* ---- permutations -----------------------------------------------------------------------------
 */

/* One permutation a group; perm[i] is the unit of the old network that goes to place i. */
struct mc_perm {
    size_t n_groups;
    char (*names)[MC_NAME_MAX];
    size_t *sizes;
    int32_t **perm;
    size_t *within, *unit; /* as in struct mc_group; within NULL, to be written: none */
    /* content ids of the two networks that it was found between, where that is known, or "" */
    char of[2][MC_ID_LEN];
};

MC_USE_RESULT int mc_perm_init(struct mc_perm *p, const struct mc_symmetry *s,
                               struct mc_error *err); /* identity of these groups */
/* Room for groups without names, sizes and permutations; after an error there is nothing to
 * release. Then each group by itself: the identity of `size` units. */
MC_USE_RESULT int mc_perm_alloc(struct mc_perm *p, size_t n_groups, struct mc_error *err);
MC_USE_RESULT int mc_perm_set_group(struct mc_perm *p, size_t g, const char *name, size_t size,
                                    struct mc_error *err);
void mc_perm_release(struct mc_perm *p);
/* Uniform random permutations keyed by seed (MC_RNG_PERMUTE) and the group's index. */
void mc_perm_random(struct mc_perm *p, uint64_t seed);
MC_USE_RESULT int mc_perm_inverse(struct mc_perm *p, struct mc_error *err); /* in place */
/* p := first p, then q: applying the result equals applying p and then q. Same groups, or
 * MC_EINPUT. */
MC_USE_RESULT int mc_perm_compose(struct mc_perm *p, const struct mc_perm *q, struct mc_error *err);
size_t mc_perm_moved(const struct mc_perm *p, size_t group); /* units not at their own place */
void mc_perm_copy(struct mc_perm *to, const struct mc_perm *from); /* of the same groups */
/* Is it known that it was found between other networks than these, of content ids? "": any. */
int mc_perm_found_elsewhere(const struct mc_perm *p, const char *a, const char *b);
/* Every entry in range and once; MC_EINPUT names the group. */
MC_USE_RESULT int mc_perm_check(const struct mc_perm *p, struct mc_error *err);

/* Group g is this one, or MC_EINPUT. */
MC_USE_RESULT int mc_perm_has_group(const struct mc_perm *p, size_t g, const char *name,
                                    size_t size, struct mc_error *err);
/* The permutation is one of this network's groups: same names, sizes, order and, where it says that
 * any lie within units, the same of these. MC_EINPUT if not. */
MC_USE_RESULT int mc_perm_fits(const struct mc_perm *p, const struct mc_symmetry *s,
                               struct mc_error *err);

/* Take over which groups lie within which, of the groups that it is for; one that knows no groups
 * within others may lack those that hold them, whose units it then leaves in place. After
 * MC_EINPUT, as of mc_perm_fits, p is as before. */
MC_USE_RESULT int mc_perm_fit(struct mc_perm *p, const struct mc_symmetry *s, struct mc_error *err);

/* Index vectors of the permuted network: out[i] = in[index[i]] for the parameter (P entries) and
 * the statistics vector (S entries); gaps map to themselves. */
MC_USE_RESULT int mc_perm_gather(const struct mc_perm *p, const struct mc_symmetry *s,
                                 const struct mc_graph *g, uint32_t *params, uint32_t *stats,
                                 struct mc_error *err);
/* Apply on the host: out may not overlap in. stats may be NULL (curves have none). */
MC_USE_RESULT int mc_perm_apply(const struct mc_perm *p, const struct mc_symmetry *s,
                                const struct mc_graph *g, const float *params_in,
                                const float *stats_in, float *params_out, float *stats_out,
                                struct mc_error *err);

#endif
