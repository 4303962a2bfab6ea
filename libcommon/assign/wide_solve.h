/* SPDX-License-Identifier: Apache-2.0
 *
 * Shortest augmenting paths in one floating-point type. Include this file once per type with REAL
 * (the type) and WIDE_NAME(f) defined. Ties go to the lowest index. */

static REAL WIDE_NAME(cost)(const struct mc_wide *w, size_t i, size_t j)
{
    return ((REAL)w->high[i] - (REAL)w->value[i * w->n + j]) - (REAL)w->least[j];
}

/* Match each row to its first free column of cost 0. All duals are 0. */
static void WIDE_NAME(start)(struct mc_wide *w, REAL *v)
{
    const size_t n = w->n;

    for (size_t k = 0; k < n; k++) {
        w->row[k] = w->col[k] = -1;
        v[k] = 0;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n && w->col[i] < 0; j++)
            if (w->row[j] < 0 && !(WIDE_NAME(cost)(w, i, j) > 0)) {
                w->col[i] = (int32_t)j;
                w->row[j] = (int32_t)i;
            }
}

/* Augment along the shortest path from the free row `start`. v, d: (n) the columns' duals and
 * distances. */
static void WIDE_NAME(augment)(struct mc_wide *w, size_t start, REAL *v, REAL *d)
{
    const size_t n = w->n;
    int32_t *from = w->from;
    size_t i = start, j = 0;
    REAL h = 0;

    for (size_t k = 0; k < n; k++) {
        from[k] = -1;
        w->searched[k] = 0;
    }
    for (;;) {
        size_t best = n;
        for (size_t k = 0; k < n; k++) {
            if (w->searched[k])
                continue;
            const REAL t = WIDE_NAME(cost)(w, i, k) - v[k] - h;
            if (from[k] < 0 || t < d[k]) {
                d[k] = t;
                from[k] = (int32_t)i;
            }
            if (best == n || d[k] < d[best])
                best = k;
        }
        j = best;
        if (w->row[j] < 0)
            break;
        w->searched[j] = 1;
        i = (size_t)w->row[j];
        h = WIDE_NAME(cost)(w, i, j) - v[j] - d[j];
    }
    for (size_t k = 0; k < n; k++)
        if (w->searched[k])
            v[k] += d[k] - d[j];
    mc_wide_flip_path(w->col, w->row, from, j, start);
}

static void WIDE_NAME(solve)(struct mc_wide *w)
{
    REAL *v = (REAL *)w->scratch, *d = v + w->n;

    WIDE_NAME(start)(w, v);
    for (size_t i = 0; i < w->n; i++)
        if (w->col[i] < 0)
            WIDE_NAME(augment)(w, i, v, d);
    for (size_t j = 0; j < w->n; j++)
        w->v[j] = (long double)v[j] + w->least[j];
}

#undef REAL
#undef WIDE_NAME
