/* SPDX-License-Identifier: Apache-2.0
 *
 * MC_BOTH_FN declares header functions that compile for both host and device. */
#ifndef MC_BOTH_H
#define MC_BOTH_H

#ifdef __CUDACC__
#define MC_BOTH_FN static __host__ __device__ inline
#else
#define MC_BOTH_FN static inline
#endif

MC_BOTH_FN float mc_clamp(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

#endif
