/* SPDX-License-Identifier: Apache-2.0
 *
 * The permutation groups of a network, derived from its graph: which channel axes move together,
 * which are fixed, and which parameter axes and activations each group permutes.
 *
 * An axis is a list of segments. Concat appends segments. Flatten repeats each channel h*w times.
 * Add splits both sides until their boundaries agree, then ties them; a split also applies to
 * everything tied before. A depthwise convolution passes its axis through. A convolution in G
 * groups splits its axes at the group boundaries, and the channels of each group move among
 * themselves. A pad adds a segment of zero channels before its input's segments and one after. These
 * channels are alike, so they move among themselves with what an addition ties them to: in a ResNet
 * with zero-padded shortcuts, the middle of the wider stage's axis is the narrower stage's group.
 * Channels before and after could also change places with each other. They do not, because a group
 * must be one segment of an axis. The axes of the input and the logits are fixed (group -1). So is
 * everything tied to them, and every set of one channel. A GroupNorm of G groups splits its axis as a
 * convolution does, unless its groups have one channel each.
 *
 * Whole blocks of a convolution or GroupNorm in G groups can move too, under three conditions.
 * Each block of its inputs and of its outputs is one permutation group. Every axis that contains
 * one of these groups contains all G side by side, in the blocks' order and with one repeat. In
 * other grouped convolutions these groups are blocks too. Then an outer group of G units
 * permutes the blocks: the rows of the weight, together with the inputs. Its name is
 * NODE/blocks, after the first layer whose outputs it permutes. The groups of a block are nested
 * in its unit (struct mc_group), for all convolutions that share any of them. If a condition
 * fails, all blocks stay in place.
 *
 * Groups are derived from shapes and operations, never from numbers: all networks of a graph have the
 * same groups, in the same order. A wrong `axis` of an operation (op.h) makes groups that change the
 * function, and nothing here can notice it; mc-permute --verify does, on data.
 *
 *     struct mc_symmetry s = {0};
 *
 *     if (!(rc = mc_symmetry_derive(&s, g, err)))
 *         for (size_t k = 0; k < s.n_groups; k++)
 *             printf("%s: %zu units\n", s.groups[k].name, s.groups[k].size);
 *     mc_symmetry_release(&s); */
#ifndef MC_SYMMETRY_H
#define MC_SYMMETRY_H

#include "libcommon/graph/graph.h"
#include "libcommon/graph/groups.h"

/* For a network without a graph, returns the groups that it declares. MC_EINPUT: too many segments;
 * names the node. */
MC_USE_RESULT int mc_symmetry_derive(struct mc_symmetry *out, const struct mc_graph *g,
                                     struct mc_error *err);

#endif
