/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of linear assignment for AVX-512. The multiplications by `unit` are exact (a power of
 * two), so that fusing them or not gives the same bits. */
#include "libcommon/assign/avx512.h"

#ifdef __x86_64__

#include <immintrin.h>
#include <math.h>

#define AVX512 __attribute__((target("avx512f")))
#define INLINE static inline AVX512 __attribute__((always_inline))

INLINE __mmask8 tail(size_t n, size_t j)
{
    return (__mmask8)(n - j >= 8 ? 0xffu : (1u << (n - j)) - 1u);
}

INLINE __m512d fine(__m512d x, __m512d unit, __m512d top)
{
    const __m512d magic = _mm512_set1_pd(0x1p52);
    return _mm512_sub_pd(_mm512_add_pd(_mm512_fnmadd_pd(x, unit, top), magic), magic);
}

static AVX512 int range(size_t n, const double *x, double *lo, double *hi)
{
    __m512d l = _mm512_set1_pd(x[0]), h = l, zero = _mm512_setzero_pd();
    __mmask8 bad = 0;

    for (size_t j = 0; j < n; j += 8) {
        __m512d t = _mm512_mask_loadu_pd(_mm512_set1_pd(x[0]), tail(n, j), x + j);
        l = _mm512_min_pd(l, t);
        h = _mm512_max_pd(h, t);
        bad |= _mm512_cmp_pd_mask(_mm512_sub_pd(t, t), zero, _CMP_NEQ_UQ);
    }
    *lo = _mm512_reduce_min_pd(l);
    *hi = _mm512_reduce_max_pd(h);
    return bad ? -1 : 0;
}

static AVX512 int coarse(size_t n, const double *x, double unit, double top, int32_t row,
                         int32_t *c, int32_t *col_min, int32_t *col_row)
{
    __m512d vunit = _mm512_set1_pd(unit), vtop = _mm512_set1_pd(top);
    __m512i vrow = _mm512_set1_epi32(row);
    __mmask8 rounded = 0;

    /* c, col_min and col_row are padded to 16 entries, so only x needs a mask */
    for (size_t j = 0; j < n; j += 16) {
        __mmask8 first = tail(n, j), second = n - j > 8 ? tail(n, j + 8) : 0;
        __m512d a = _mm512_maskz_fnmadd_pd(first, _mm512_maskz_loadu_pd(first, x + j), vunit, vtop);
        __m512d b =
            _mm512_maskz_fnmadd_pd(second, _mm512_maskz_loadu_pd(second, x + j + 8), vunit, vtop);
        rounded |= _mm512_cmp_pd_mask(_mm512_roundscale_pd(a, 0), a, _CMP_NEQ_OQ);
        rounded |= _mm512_cmp_pd_mask(_mm512_roundscale_pd(b, 0), b, _CMP_NEQ_OQ);
        __mmask16 used = (__mmask16)(first | (unsigned)second << 8);
        __m256i ia = _mm512_cvtpd_epi32(a), ib = _mm512_cvtpd_epi32(b);
        __m512i t = _mm512_inserti64x4(_mm512_castsi256_si512(ia), ib, 1);
        t = _mm512_add_epi32(t, t);
        __m512i m = _mm512_load_si512(col_min + j);
        __mmask16 less = _mm512_mask_cmplt_epi32_mask(used, t, m);
        _mm512_store_si512(c + j, t);
        if (!less)
            continue;
        _mm512_store_si512(col_min + j, _mm512_mask_mov_epi32(m, less, t));
        _mm512_mask_store_epi32(col_row + j, less, vrow);
    }
    return !rounded;
}

static AVX512 void least2(size_t ld, const int32_t *c, const int32_t *v, int32_t out[3])
{
    const __m512i step = _mm512_set1_epi32(16);
    __m512i m1 = _mm512_set1_epi32(INT32_MAX), m2 = m1, at = _mm512_setzero_si512();
    __m512i here = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

    for (size_t j = 0; j < ld; j += 16) {
        __m512i t = _mm512_sub_epi32(_mm512_load_si512(c + j), _mm512_load_si512(v + j));
        __mmask16 less = _mm512_cmplt_epi32_mask(t, m1);
        m2 = _mm512_min_epi32(m2, _mm512_max_epi32(m1, t));
        m1 = _mm512_min_epi32(m1, t);
        at = _mm512_mask_mov_epi32(at, less, here);
        here = _mm512_add_epi32(here, step);
    }
    int32_t least = _mm512_reduce_min_epi32(m1);
    __mmask16 same = _mm512_cmpeq_epi32_mask(m1, _mm512_set1_epi32(least));
    int32_t best = _mm512_mask_reduce_min_epi32(same, at);
    __mmask16 others = (__mmask16) ~(1u << (best & 15));
    int32_t a = _mm512_reduce_min_epi32(m2), b = _mm512_mask_reduce_min_epi32(others, m1);
    out[0] = least;
    out[1] = best;
    out[2] = a < b ? a : b;
}

static AVX512 size_t relax(size_t ld, const int32_t *c, const int32_t *v, int32_t h, int32_t row,
                           int32_t *d, int32_t *from)
{
    const __m512i step = _mm512_set1_epi32(16), vh = _mm512_set1_epi32(h);
    __m512i m = _mm512_set1_epi32(INT32_MAX), at = _mm512_setzero_si512();
    __m512i vrow = _mm512_set1_epi32(row);
    __m512i here = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

    for (size_t j = 0; j < ld; j += 16) {
        __m512i t = _mm512_sub_epi32(_mm512_load_si512(c + j), _mm512_load_si512(v + j));
        t = _mm512_sub_epi32(t, vh);
        __m512i old = _mm512_load_si512(d + j);
        __mmask16 less = _mm512_cmplt_epi32_mask(t, old);
        t = _mm512_min_epi32(t, old);
        _mm512_store_si512(d + j, t);
        _mm512_mask_store_epi32(from + j, less, vrow);
        less = _mm512_cmplt_epi32_mask(t, m);
        m = _mm512_min_epi32(m, t);
        at = _mm512_mask_mov_epi32(at, less, here);
        here = _mm512_add_epi32(here, step);
    }
    __m512i least = _mm512_set1_epi32(_mm512_reduce_min_epi32(m));
    return (size_t)_mm512_mask_reduce_min_epi32(_mm512_cmpeq_epi32_mask(m, least), at);
}

static AVX512 size_t fine_relax(size_t n, const double *x, double unit, double top, const double *v,
                                double h, int32_t row, double *d, int32_t *from)
{
    const __m512i step = _mm512_set1_epi64(8);
    __m512d vunit = _mm512_set1_pd(unit), vtop = _mm512_set1_pd(top), vh = _mm512_set1_pd(h);
    __m512d inf = _mm512_set1_pd(INFINITY), m = inf;
    __m512i at = _mm512_setzero_si512(), here = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    __m512i vrow = _mm512_set1_epi32(row);

    for (size_t j = 0; j < n; j += 8) {
        __mmask8 used = tail(n, j);
        __m512d t = fine(_mm512_maskz_loadu_pd(used, x + j), vunit, vtop);
        t = _mm512_sub_pd(_mm512_sub_pd(t, _mm512_maskz_loadu_pd(used, v + j)), vh);
        __m512d old = _mm512_mask_loadu_pd(inf, used, d + j);
        __mmask8 less = _mm512_mask_cmp_pd_mask(used, t, old, _CMP_LT_OQ);
        t = _mm512_mask_mov_pd(old, less, t);
        _mm512_mask_storeu_pd(d + j, less, t);
        _mm512_mask_storeu_epi32(from + j, (__mmask16)less, vrow);
        less = _mm512_cmp_pd_mask(t, m, _CMP_LT_OQ);
        m = _mm512_mask_mov_pd(m, less, t);
        at = _mm512_mask_mov_epi64(at, less, here);
        here = _mm512_add_epi64(here, step);
    }
    __mmask8 same = _mm512_cmp_pd_mask(m, _mm512_set1_pd(_mm512_reduce_min_pd(m)), _CMP_EQ_OQ);
    return (size_t)_mm512_mask_reduce_min_epi64(same, at);
}

static AVX512 size_t fine_lower(size_t n, const double *x, double unit, double top, double u,
                                double *v, int32_t *list)
{
    __m512d vunit = _mm512_set1_pd(unit), vtop = _mm512_set1_pd(top), vu = _mm512_set1_pd(u);
    size_t count = 0;

    for (size_t j = 0; j < n; j += 8) {
        __mmask8 used = tail(n, j);
        __m512d t = _mm512_sub_pd(fine(_mm512_maskz_loadu_pd(used, x + j), vunit, vtop), vu);
        __m512d old = _mm512_maskz_loadu_pd(used, v + j);
        unsigned less = _mm512_mask_cmp_pd_mask(used, t, old, _CMP_LT_OQ);
        if (!less)
            continue;
        _mm512_mask_storeu_pd(v + j, (__mmask8)less, t);
        for (; less; less &= less - 1u)
            list[count++] = (int32_t)(j + (size_t)__builtin_ctz(less));
    }
    return count;
}

static AVX512 size_t fine_tight(size_t n, const double *x, double unit, double top, double u,
                                const double *v, double *best, int32_t *list)
{
    __m512d vunit = _mm512_set1_pd(unit), vtop = _mm512_set1_pd(top), vu = _mm512_set1_pd(u);
    __m512d m = _mm512_set1_pd(-INFINITY);
    const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0);
    size_t count = 0;

    for (size_t j = 0; j < n; j += 8) {
        __mmask8 used = tail(n, j);
        __m512d t = _mm512_maskz_loadu_pd(used, x + j), dual = _mm512_maskz_loadu_pd(used, v + j);
        m = _mm512_mask_max_pd(m, used, m, _mm512_fmadd_pd(t, vunit, dual));
        t = _mm512_sub_pd(fine(t, vunit, vtop), dual);
        unsigned tight = _mm512_mask_cmp_pd_mask(used, t, vu, _CMP_LE_OQ);
        if (tight) {
            __m512i at = _mm512_add_epi32(first, _mm512_set1_epi32((int32_t)j));
            at = _mm512_maskz_compress_epi32((__mmask16)tight, at);
            _mm256_storeu_si256((__m256i *)(list + count), _mm512_castsi512_si256(at));
            count += (size_t)__builtin_popcount(tight);
        }
    }
    *best = _mm512_reduce_max_pd(m);
    return count;
}

const struct mc_assign_scan mc_assign_avx512 = {
    .name = "avx512",
    .range = range,
    .coarse = coarse,
    .least2 = least2,
    .relax = relax,
    .fine_relax = fine_relax,
    .fine_lower = fine_lower,
    .fine_tight = fine_tight,
};

#endif
