/* SPDX-License-Identifier: Apache-2.0
 *
 * Joint moments, included once per instruction set (see kernels.h). A task computes the products of
 * a tile of x's channels, a tile of y's channels and a chunk of samples, which are the pixels of
 * all counted images. Blocks of values are shifted by a median, multiplied and summed in float32.
 * Blocks are summed in float64, then the shift is undone. Tiles, chunks, blocks and shifts depend
 * only on the batch, so its sums have the same bits for any number of threads and in any shard. */

enum {
    M_TILE = 128,              /* channels */
    M_BLOCK = 64,              /* samples */
    M_SAMPLES = 16,            /* the shift is their median */
    M_VECTORS = M_TILE / BLOCK /* vectors of a tile */
};

/* One network's channels [c, c + k) in a task. */
struct m_side {
    const float *x;
    size_t c, k, vectors;
    vf shift[M_VECTORS];
    double sum[M_TILE], sumsq[M_TILE]; /* sums of shifted values */
    vf block[M_VECTORS * M_BLOCK];     /* shifted values */
};

/* Vector v of the side at pixel p of image i. If the side starts within a block (lane > 0), it is
 * gathered from two blocks. */
static inline const float *m_at(const struct cpu_shape *s, const struct m_side *m, size_t v,
                                size_t i, size_t p)
{
    return m->x + ((i * s->cb + m->c / BLOCK + v) * s->hw + p) * BLOCK;
}
static inline vf m_load(const float *x, size_t lane, size_t lanes, size_t block)
{
    vf to = ZERO;

    if (!lane)
        return *(const vf *)x;
    for (size_t l = lane; l < lane + lanes; l++)
        to[l - lane] = l < BLOCK ? x[l] : x[block - BLOCK + l];
    return to;
}

static inline size_t m_lanes(const struct m_side *m, size_t v)
{
    return m->k - v * BLOCK < BLOCK ? m->k - v * BLOCK : BLOCK;
}

/* Sort the vectors of two places lane by lane. */
static inline __attribute__((always_inline)) void m_order(vf *x, size_t low, size_t high)
{
    const vi less = x[high] < x[low];
    const vi differ = ((vi)x[low] ^ (vi)x[high]) & less;

    x[low] = (vf)((vi)x[low] ^ differ);
    x[high] = (vf)((vi)x[high] ^ differ);
}

/* The median of each lane, by Batcher's network. Unlike the mean, it is the value of a unit that is
 * mostly constant: its other products are then exact 0. */
static vf m_median(vf x[M_SAMPLES])
{
    for (size_t p = 1; p < M_SAMPLES; p *= 2)
        for (size_t k = p; k > 0; k /= 2)
            for (size_t j = k % p; j + k < M_SAMPLES; j += 2 * k)
                for (size_t i = j; i < j + k && i + k < M_SAMPLES; i++)
                    if (i / (2 * p) == (i + k) / (2 * p))
                        m_order(x, i, i + k);
    return x[(M_SAMPLES - 1) / 2];
}

static void m_open(const struct cpu_shape *s, struct m_side *m, const float *x, size_t c, size_t k,
                   size_t from, size_t to)
{
    m->x = x;
    m->c = c;
    m->k = k;
    m->vectors = (k + BLOCK - 1) / BLOCK;
    memset(m->sum, 0, sizeof m->sum);
    memset(m->sumsq, 0, sizeof m->sumsq);
    size_t at[M_SAMPLES];
    for (int i = 0; i < M_SAMPLES; i++) /* multiples of the golden ratio: no period */
        at[i] = from + (size_t)((double)(to - from) * fmod(i * 0.61803398875, 1));
    for (size_t v = 0; v < m->vectors; v++) {
        vf values[M_SAMPLES] = {ZERO};
        for (int i = 0; i < M_SAMPLES && from < to; i++)
            values[i] = m_load(m_at(s, m, v, at[i] / s->hw, at[i] % s->hw), c % BLOCK,
                               m_lanes(m, v), s->hw * BLOCK);
        m->shift[v] = m_median(values);
    }
}

static inline void m_add(double *to, vf x, size_t v)
{
    for (size_t l = 0; l < BLOCK; l++)
        to[v * BLOCK + l] += (double)x[l];
}

/* Shift n samples of one vector, and add their sum and the sum of squares. */
struct m_run {
    const float *x;
    vf *to, shift, sum, sumsq;
};
static inline __attribute__((always_inline)) void
m_shift_one(struct m_run *r, size_t q, size_t lane, size_t lanes, size_t block)
{
    const vf d = m_load(r->x + q * BLOCK, lane, lanes, block) - r->shift;

    __builtin_prefetch(r->x + (q + M_BLOCK) * BLOCK);
    r->to[q] = d;
    r->sum += d;
    r->sumsq += d * d;
}

static inline struct m_run m_run(struct m_side *m, size_t v)
{
    return (struct m_run){NULL, m->block + v * M_BLOCK, m->shift[v], ZERO, ZERO};
}

/* Shift samples [from, from + n) of both sides. Two vectors at a time hide the latency of the sums.
 * If one side has fewer, its last is read again. */
static void m_shift(const struct cpu_shape *s, struct m_side *a, struct m_side *b, size_t from,
                    size_t n)
{
    const size_t vectors = a->vectors > b->vectors ? a->vectors : b->vectors, block = s->hw * BLOCK,
                 lane_a = a->c % BLOCK, lane_b = b->c % BLOCK;

    for (size_t v = 0; v < vectors; v++) {
        const size_t va = v < a->vectors ? v : a->vectors - 1;
        const size_t vb = v < b->vectors ? v : b->vectors - 1;
        struct m_run x = m_run(a, va), y = m_run(b, vb);
        for (size_t done = 0, run; done < n; done += run) {
            const size_t i = (from + done) / s->hw, p = (from + done) % s->hw;
            run = s->hw - p < n - done ? s->hw - p : n - done;
            x.x = m_at(s, a, va, i, p);
            y.x = m_at(s, b, vb, i, p);
            for (size_t q = 0; q < run && !(lane_a | lane_b); q++) {
                m_shift_one(&x, q, 0, BLOCK, block);
                m_shift_one(&y, q, 0, BLOCK, block);
            }
            for (size_t q = 0; q < run && (lane_a | lane_b); q++) {
                m_shift_one(&x, q, lane_a, m_lanes(a, va), block);
                m_shift_one(&y, q, lane_b, m_lanes(b, vb), block);
            }
            x.to += run;
            y.to += run;
        }
        if (v < a->vectors) {
            m_add(a->sum, x.sum, v);
            m_add(a->sumsq, x.sumsq, v);
        }
        if (v < b->vectors) {
            m_add(b->sum, y.sum, v);
            m_add(b->sumsq, y.sumsq, v);
        }
    }
}

/* Add the products of BLOCK / cols channels of x with `cols` vectors of y. */
static inline __attribute__((always_inline)) void m_products(size_t n, const float *x, const vf *y,
                                                             int cols, double *to, size_t stride)
{
    typedef float half __attribute__((vector_size(BLOCK * 2), may_alias));
    const int rows = BLOCK / cols;
    vf acc[BLOCK];

#pragma GCC unroll 16
    for (int i = 0; i < BLOCK; i++)
        acc[i] = ZERO;
    for (size_t q = 0; q < n; q++, x += BLOCK)
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
            for (int c = 0; c < cols; c++)
                acc[r * cols + c] += x[r] * y[(size_t)c * M_BLOCK + q];
    for (int r = 0; r < rows; r++, to += stride)
        for (int i = 0; i < 2 * cols; i++)
            ((vd *)to)[i] += __builtin_convertvector(((const half *)(acc + r * cols))[i], vd);
}

/* Add the products of n samples of all channels to `to`, one row per channel of a. */
static void m_multiply(const struct m_side *a, const struct m_side *b, size_t n, double *to)
{
    const size_t stride = b->vectors * BLOCK;

    for (size_t v = 0; v < a->vectors; v++) {
        const float *x = (const float *)(a->block + v * M_BLOCK);
        size_t w = 0;
        for (; w + 1 < b->vectors; w += 2)
            for (size_t r = 0; r < BLOCK; r += BLOCK / 2)
                m_products(n, x + r, b->block + w * M_BLOCK, 2, to + r * stride + w * BLOCK,
                           stride);
        if (w < b->vectors)
            m_products(n, x, b->block + w * M_BLOCK, 1, to + w * BLOCK, stride);
        to += BLOCK * stride;
    }
}

/* The sum of products of unshifted values. */
static inline double m_unshifted(double product, double n, double shift_x, double sum_x,
                                 double shift_y, double sum_y)
{
    return product + shift_x * (sum_y + n * shift_y) + shift_y * sum_x;
}

static void m_add_own(const struct m_side *m, double n, double *sum, double *sumsq)
{
    for (size_t i = 0; i < m->k; i++) {
        const double shift = (double)((const float *)m->shift)[i], own = m->sum[i];
        sum[i] += own + n * shift;
        sumsq[i] += m_unshifted(m->sumsq[i], n, shift, own, shift, own);
    }
}

/* Task t of a tap. Sums of a single chunk are added to the total. */
static void m_task(const struct cpu_moments *tap, size_t t)
{
    const size_t k = tap->k, tiles = (k + M_TILE - 1) / M_TILE, samples = tap->s.valid * tap->s.hw,
                 chunks = cpu_moments_chunks(k, samples), chunk = t / (tiles * tiles),
                 cx = t / tiles % tiles * M_TILE, cy = t % tiles * M_TILE;
    const size_t from = samples * chunk / chunks, to = samples * (chunk + 1) / chunks;
    double *sums = chunks > 1 ? tap->work + chunk * MC_MOMENTS_SIZE(k) : tap->total;
    const double count = (double)(to - from);
    _Alignas(64) double tile[M_TILE * M_TILE];
    struct m_side a, b;

    m_open(&tap->s, &a, tap->x, tap->c0 + cx, k - cx < M_TILE ? k - cx : M_TILE, from, to);
    m_open(&tap->s, &b, tap->y, tap->c0 + cy, k - cy < M_TILE ? k - cy : M_TILE, from, to);
    const size_t stride = b.vectors * BLOCK;
    memset(tile, 0, a.vectors * BLOCK * stride * sizeof *tile);
    for (size_t at = from; at < to; at += M_BLOCK) {
        const size_t n = to - at < M_BLOCK ? to - at : M_BLOCK;
        m_shift(&tap->s, &a, &b, at, n);
        m_multiply(&a, &b, n, tile);
    }
    if (!cy)
        m_add_own(&a, count, sums + cx, sums + 2 * k + cx);
    if (!cx)
        m_add_own(&b, count, sums + k + cy, sums + 3 * k + cy);
    for (size_t i = 0; i < a.k; i++) {
        const double shift = (double)((const float *)a.shift)[i];
        double *row = sums + 4 * k + (cx + i) * k + cy;
        for (size_t j = 0; j < b.k; j++)
            row[j] += m_unshifted(tile[i * stride + j], count, shift, a.sum[i],
                                  (double)((const float *)b.shift)[j], b.sum[j]);
    }
}

/* Add the chunks' sums to the total, and zero them. */
static void m_add_chunks(const struct cpu_moments *tap)
{
    const size_t size = MC_MOMENTS_SIZE(tap->k);
    const size_t chunks = cpu_moments_chunks(tap->k, tap->s.valid * tap->s.hw);

    for (size_t i = 0; i < size && chunks > 1; i++) {
        double sum = 0;
        for (size_t c = 0; c < chunks; c++) {
            sum += tap->work[c * size + i];
            tap->work[c * size + i] = 0;
        }
        tap->total[i] += sum;
    }
}

static void KERNEL(moments)(const struct cpu_moments *tap)
{
    const size_t tiles = (tap->k + M_TILE - 1) / M_TILE;
    const size_t chunks = cpu_moments_chunks(tap->k, tap->s.valid * tap->s.hw);

#pragma omp parallel for schedule(dynamic)
    for (size_t t = 0; t < chunks * tiles * tiles; t++)
        m_task(tap, t);
    m_add_chunks(tap);
}
