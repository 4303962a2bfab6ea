/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of libcommon/assign/loops_table.h in the compiler's generic vectors. Include this file
 * once per instruction set with these macros: SCAN_NAME(f), SCAN_TARGET (a function attribute or
 * empty), SCAN_BYTES (width of a register) and SCAN_EVENS (even lanes of two int32_t vectors). */

/* identical in every inclusion, so they need no #undef */
#define NI (SCAN_BYTES / sizeof(int32_t))
#define NF (SCAN_BYTES / sizeof(double))
#define vi SCAN_NAME(vi)
#define vf SCAN_NAME(vf)
#define vl SCAN_NAME(vl)
#define loose_i SCAN_NAME(loose_i)
#define loose_f SCAN_NAME(loose_f)
typedef int32_t vi __attribute__((vector_size(SCAN_BYTES)));
typedef double vf __attribute__((vector_size(SCAN_BYTES)));
typedef int64_t vl __attribute__((vector_size(SCAN_BYTES)));
/* vectors without alignment */
typedef int32_t loose_i __attribute__((vector_size(SCAN_BYTES), aligned(4), may_alias));
typedef double loose_f __attribute__((vector_size(SCAN_BYTES), aligned(8), may_alias));

/* macros, so that no vector crosses a call */
#define LOAD_I(p) (*(const loose_i *)(p))
#define LOAD_F(p) (*(const loose_f *)(p))
#define STORE_I(p, x) (*(loose_i *)(p) = (x))
#define STORE_F(p, x) (*(loose_f *)(p) = (x))
#define SPLAT_I(x) ((int32_t)(x) - (vi){0})
#define SPLAT_F(x) ((double)(x) - (vf){0})
#define PICK_I(mask, yes, no) (((mask) & (yes)) | (~(mask) & (no)))
#define PICK_F(mask, yes, no) ((vf)(((mask) & (vl)(yes)) | (~(mask) & (vl)(no))))
#if SCAN_BYTES == 16
#define ANY(mask) ((mask)[0] | (mask)[1])
#else
#define ANY(mask) ((mask)[0] | (mask)[1] | (mask)[2] | (mask)[3])
#endif

static SCAN_TARGET int SCAN_NAME(range)(size_t n, const double *x, double *lo, double *hi)
{
    vf l = SPLAT_F(x[0]), h = l;
    vl bad = {0};
    size_t j = 0;

    for (; j + NF <= n; j += NF) {
        vf t = LOAD_F(x + j);
        l = PICK_F(t < l, t, l);
        h = PICK_F(t > h, t, h);
        bad |= (t - t) != SPLAT_F(0);
    }
    double low = l[0], high = h[0];
    int64_t any = bad[0];
    for (size_t k = 1; k < NF; k++) {
        low = l[k] < low ? l[k] : low;
        high = h[k] > high ? h[k] : high;
        any |= bad[k];
    }
    for (; j < n; j++) {
        low = x[j] < low ? x[j] : low;
        high = x[j] > high ? x[j] : high;
        any |= -(int64_t)(x[j] - x[j] != 0);
    }
    *lo = low;
    *hi = high;
    return any ? -1 : 0;
}

static SCAN_TARGET int SCAN_NAME(coarse)(size_t n, const double *x, double unit, double top,
                                         int32_t row, int32_t *c, int32_t *col_min,
                                         int32_t *col_row)
{
    vi here = SPLAT_I(row);
    vl rounded = {0};
    size_t j = 0;

    /* adding 2^52 moves the nearest integer to the low bits */
    for (; j + NI <= n; j += NI) {
        vf a = SPLAT_F(top) - LOAD_F(x + j) * SPLAT_F(unit), ra = a + SPLAT_F(0x1p52);
        vf b = SPLAT_F(top) - LOAD_F(x + j + NF) * SPLAT_F(unit), rb = b + SPLAT_F(0x1p52);
        rounded |= (ra - SPLAT_F(0x1p52)) != a;
        rounded |= (rb - SPLAT_F(0x1p52)) != b;
        vi t = __builtin_shufflevector((vi)ra, (vi)rb, SCAN_EVENS);
        t += t;
        vi m = LOAD_I(col_min + j);
        vi less = t < m;
        STORE_I(c + j, t);
        STORE_I(col_min + j, PICK_I(less, t, m));
        STORE_I(col_row + j, PICK_I(less, here, LOAD_I(col_row + j)));
    }
    int64_t any = ANY(rounded);
    for (; j < n; j++) {
        double a = top - x[j] * unit, r = (a + 0x1p52) - 0x1p52;
        any |= r < a || r > a;
        c[j] = 2 * (int32_t)r;
        if (c[j] < col_min[j]) {
            col_min[j] = c[j];
            col_row[j] = row;
        }
    }
    return !any;
}

static SCAN_TARGET size_t SCAN_NAME(coarse_far)(size_t n, const int32_t *c, const int32_t *low,
                                                int32_t far)
{
    vi count = {0};
    size_t j = 0;

    for (; j + NI <= n; j += NI)
        count -= LOAD_I(c + j) - LOAD_I(low + j) >= SPLAT_I(far);
    size_t all = 0;
    for (size_t k = 0; k < NI; k++)
        all += (size_t)count[k];
    for (; j < n; j++)
        all += c[j] - low[j] >= far;
    return all;
}

static SCAN_TARGET size_t SCAN_NAME(fine_far)(size_t n, const double *x, double unit, double top,
                                              const double *low, double far)
{
    vl count = {0};
    size_t j = 0;

    for (; j + NF <= n; j += NF)
        count -= (top - LOAD_F(x + j) * SPLAT_F(unit)) - LOAD_F(low + j) >= SPLAT_F(far);
    size_t all = 0;
    for (size_t k = 0; k < NF; k++)
        all += (size_t)count[k];
    for (; j < n; j++)
        all += (top - x[j] * unit) - low[j] >= far;
    return all;
}

static SCAN_TARGET void SCAN_NAME(least2)(size_t ld, const int32_t *c, const int32_t *v,
                                          int32_t out[3])
{
    vi m1 = SPLAT_I(INT32_MAX), m2 = m1, index = SPLAT_I(0), here = LOAD_I(counts);

    for (size_t j = 0; j < ld; j += NI) {
        vi t = LOAD_I(c + j) - LOAD_I(v + j);
        vi less = t < m1;
        vi other = PICK_I(less, m1, t);
        index = PICK_I(less, here, index);
        m1 = PICK_I(less, t, m1);
        m2 = PICK_I(other < m2, other, m2);
        here += (int32_t)NI;
    }
    size_t best = 0;
    for (size_t k = 1; k < NI; k++)
        if (m1[k] < m1[best] || (m1[k] == m1[best] && index[k] < index[best]))
            best = k;
    int32_t second = m2[best];
    for (size_t k = 0; k < NI; k++)
        if (k != best && m1[k] < second)
            second = m1[k];
    out[0] = m1[best];
    out[1] = index[best];
    out[2] = second;
}

static SCAN_TARGET size_t SCAN_NAME(relax)(size_t ld, const int32_t *c, const int32_t *v, int32_t h,
                                           int32_t row, int32_t *d, int32_t *from)
{
    vi m = SPLAT_I(INT32_MAX), index = SPLAT_I(0), here = LOAD_I(counts);

    for (size_t j = 0; j < ld; j += NI) {
        vi t = LOAD_I(c + j) - LOAD_I(v + j) - h;
        vi old = LOAD_I(d + j);
        vi less = t < old;
        t = PICK_I(less, t, old);
        STORE_I(d + j, t);
        STORE_I(from + j, PICK_I(less, SPLAT_I(row), LOAD_I(from + j)));
        less = t < m;
        m = PICK_I(less, t, m);
        index = PICK_I(less, here, index);
        here += (int32_t)NI;
    }
    size_t best = 0;
    for (size_t k = 1; k < NI; k++)
        if (m[k] < m[best] || (m[k] == m[best] && index[k] < index[best]))
            best = k;
    return (size_t)index[best];
}

static SCAN_TARGET size_t SCAN_NAME(fine_relax)(size_t n, const double *x, double unit, double top,
                                                const double *v, double h, int32_t row, double *d,
                                                int32_t *from)
{
    vf m = SPLAT_F(INFINITY);
    vl index = {0}, here = *(const vl *)long_counts;
    size_t j = 0;

    for (; j + NF <= n; j += NF) {
        vf t = MC_ASSIGN_FINE(LOAD_F(x + j), SPLAT_F(unit), SPLAT_F(top)) - LOAD_F(v + j) - h;
        vf old = LOAD_F(d + j);
        vl less = t < old;
        t = PICK_F(less, t, old);
        STORE_F(d + j, t);
        for (size_t k = 0; k < NF; k++)
            from[j + k] = less[k] ? row : from[j + k];
        less = t < m;
        m = PICK_F(less, t, m);
        index = (less & here) | (~less & index);
        here += (int64_t)NF;
    }
    double least = m[0];
    size_t best = (size_t)index[0];
    for (size_t k = 1; k < NF; k++)
        if (m[k] < least || (m[k] <= least && (size_t)index[k] < best)) {
            least = m[k];
            best = (size_t)index[k];
        }
    for (; j < n; j++) {
        double t = MC_ASSIGN_FINE(x[j], unit, top) - v[j] - h;
        if (t < d[j]) {
            d[j] = t;
            from[j] = row;
        }
        if (d[j] < least) {
            least = d[j];
            best = j;
        }
    }
    return best;
}

static SCAN_TARGET size_t SCAN_NAME(fine_lower)(size_t n, const double *x, double unit, double top,
                                                double u, double *v, int32_t *list)
{
    size_t count = 0, j = 0;

    for (; j + NF <= n; j += NF) {
        vf t = MC_ASSIGN_FINE(LOAD_F(x + j), SPLAT_F(unit), SPLAT_F(top)) - u;
        vl less = t < LOAD_F(v + j);
        if (!ANY(less))
            continue;
        for (size_t k = 0; k < NF; k++)
            if (less[k]) {
                v[j + k] = t[k];
                list[count++] = (int32_t)(j + k);
            }
    }
    for (; j < n; j++) {
        double t = MC_ASSIGN_FINE(x[j], unit, top) - u;
        if (t < v[j]) {
            v[j] = t;
            list[count++] = (int32_t)j;
        }
    }
    return count;
}

static SCAN_TARGET size_t SCAN_NAME(fine_tight)(size_t n, const double *x, double unit, double top,
                                                double u, const double *v, double *best,
                                                int32_t *list)
{
    vf m = SPLAT_F(-INFINITY);
    size_t count = 0, j = 0;

    for (; j + NF <= n; j += NF) {
        vf scaled = LOAD_F(x + j) * unit, dual = LOAD_F(v + j);
        vf t = scaled + dual;
        m = PICK_F(t > m, t, m);
        vl tight = ((top - scaled) + 0x1p52) - 0x1p52 - dual <= SPLAT_F(u);
        if (!ANY(tight))
            continue;
        for (size_t k = 0; k < NF; k++) {
            list[count] = (int32_t)(j + k);
            count -= (size_t)tight[k];
        }
    }
    double most = m[0];
    for (size_t k = 1; k < NF; k++)
        most = m[k] > most ? m[k] : most;
    for (; j < n; j++) {
        double t = x[j] * unit + v[j];
        most = t > most ? t : most;
        if (MC_ASSIGN_FINE(x[j], unit, top) - v[j] <= u)
            list[count++] = (int32_t)j;
    }
    *best = most;
    return count;
}

static const struct mc_assign_loops SCAN_NAME(table) = {
    .range = SCAN_NAME(range),
    .coarse = SCAN_NAME(coarse),
    .coarse_far = SCAN_NAME(coarse_far),
    .fine_far = SCAN_NAME(fine_far),
    .least2 = SCAN_NAME(least2),
    .relax = SCAN_NAME(relax),
    .fine_relax = SCAN_NAME(fine_relax),
    .fine_lower = SCAN_NAME(fine_lower),
    .fine_tight = SCAN_NAME(fine_tight),
};

#undef ANY
#undef SCAN_NAME
#undef SCAN_TARGET
#undef SCAN_BYTES
#undef SCAN_EVENS
