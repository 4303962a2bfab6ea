/* SPDX-License-Identifier: Apache-2.0
 *
 * The layout of joint moments, the sums that correlations are made from. */
#ifndef MC_JOINT_MOMENTS_H
#define MC_JOINT_MOMENTS_H

#include <stddef.h>

/* Doubles of the joint moments of a tap of K channels: sum x, sum y, sum x^2, sum y^2 (K each),
 * then sum x y^T (K,K), row-major, rows are the first network's channels. */
#define MC_MOMENTS_SIZE(K) (4 * (size_t)(K) + (size_t)(K) * (size_t)(K))

#endif
