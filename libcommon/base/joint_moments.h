/* SPDX-License-Identifier: Apache-2.0
 *
 * The layout of joint moments, the sums from which correlations are computed. */
#ifndef MC_JOINT_MOMENTS_H
#define MC_JOINT_MOMENTS_H

#include <stddef.h>

/* Number of doubles in the joint moments of a tap with K channels: sum x, sum y, sum x^2, sum y^2
 * (K each), then sum x y^T (K,K), row-major. Rows are the first network's channels. */
#define MC_MOMENTS_SIZE(K) (4 * (size_t)(K) + (size_t)(K) * (size_t)(K))

#endif
