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
 * anything else ties a block, all stay in order. */
#ifndef MC_SYMMETRY_H
#define MC_SYMMETRY_H

#include "libcommon/graph/graph.h"
#include "libcommon/graph/groups.h"

/* Of a network without a graph, the groups that it declares. MC_EINPUT: too many segments, naming
 * the node. */
MC_USE_RESULT int mc_symmetry_derive(struct mc_symmetry *out, const struct mc_graph *g,
                                     struct mc_error *err);

#endif
