/* SPDX-License-Identifier: Apache-2.0
 *
 * Joint moments, included once per instruction set (see kernels.h). A task computes the products of
 * a tile of x's channels, a tile of y's channels and a chunk of samples, which are the pixels of
 * all counted images. Blocks of values are shifted by a median, multiplied and summed in float32.
 * The sums of a few blocks are added in float32. Then the shift is undone in float64. Tiles, chunks,
 * blocks and shifts depend only on the batch, and its sums are added to the total once, so they have
 * the same bits for any number of threads and in any shard. */

enum {
    M_TILE = 128,              /* channels */
    M_BLOCK = 64,              /* samples */
    M_BLOCKS = 8,              /* added in float32 */
    M_SAMPLES = 16,            /* the shift is their median */
    M_VECTORS = M_TILE / BLOCK /* vectors of a tile */
};

/* One network's channels [c, c + k) in a task. */
struct m_side {
    const float *x;
    size_t c, k, vectors;
    vf shift[M_VECTORS];
    vf sum[M_VECTORS], sumsq[M_VECTORS]; /* sums of up to M_BLOCKS blocks of shifted values */
    vf block_sum[M_VECTORS], block_sumsq[M_VECTORS];
    vf block[M_VECTORS * M_BLOCK]; /* shifted values */
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
    size_t sample[M_SAMPLES];
    for (int i = 0; i < M_SAMPLES; i++) /* multiples of the golden ratio: no period */
        sample[i] = from + (size_t)((double)(to - from) * fmod(i * 0.61803398875, 1));
    for (size_t v = 0; v < m->vectors; v++) {
        vf values[M_SAMPLES] = {ZERO};
        for (int i = 0; i < M_SAMPLES && from < to; i++)
            values[i] = m_load(m_at(s, m, v, sample[i] / s->hw, sample[i] % s->hw), c % BLOCK,
                               m_lanes(m, v), s->hw * BLOCK);
        m->shift[v] = m_median(values);
    }
}

static void m_clear(struct m_side *m)
{
    memset(m->sum, 0, sizeof m->sum);
    memset(m->sumsq, 0, sizeof m->sumsq);
    memset(m->block_sum, 0, sizeof m->block_sum);
    memset(m->block_sumsq, 0, sizeof m->block_sumsq);
}

static void m_end_block(struct m_side *m)
{
    for (size_t v = 0; v < m->vectors; v++) {
        m->sum[v] += m->block_sum[v];
        m->sumsq[v] += m->block_sumsq[v];
        m->block_sum[v] = m->block_sumsq[v] = ZERO;
    }
}

/* Consecutive samples of one vector: the values, their place in the block, the block's sums. */
struct m_run {
    const float *x;
    vf *to, shift, sum, sumsq;
};
/* Values whose squares would lose digits or vanish in float32 count as 0. Otherwise the sums of a
 * unit with tiny values would contradict its sums of squares. */
static inline __attribute__((always_inline)) vf m_without_tiny(vf d)
{
    const vf least = ZERO + 0x1p-60f;
    const vi tiny = (d < least) & (d > -least);

    return (vf)((vi)d & ~tiny);
}

/* Shift sample q of a run and add it to the sums. */
static inline __attribute__((always_inline)) void
m_shift_one(struct m_run *r, size_t q, size_t lane, size_t lanes, size_t block)
{
    const vf d = m_without_tiny(m_load(r->x + q * BLOCK, lane, lanes, block) - r->shift);

    __builtin_prefetch(r->x + (q + M_BLOCK) * BLOCK);
    r->to[q] = d;
    r->sum += d;
    r->sumsq += d * d;
}

/* The run of vector v from sample q of the block, which is pixel p of image i. */
static inline struct m_run m_begin(const struct cpu_shape *s, struct m_side *m, size_t v, size_t q,
                                   size_t i, size_t p)
{
    return (struct m_run){m_at(s, m, v, i, p), m->block + v * M_BLOCK + q, m->shift[v],
                          m->block_sum[v], m->block_sumsq[v]};
}
static inline void m_end(struct m_side *m, size_t v, const struct m_run *r)
{
    m->block_sum[v] = r->sum;
    m->block_sumsq[v] = r->sumsq;
}

/* Shift samples [from, from + n) of both sides. Two vectors at a time hide the latency of the sums.
 * If one side has fewer, its last is shifted again. */
static __attribute__((noinline)) void m_shift(const struct cpu_shape *s, struct m_side *a,
                                              struct m_side *b, size_t from, size_t n)
{
    const size_t vectors = a->vectors > b->vectors ? a->vectors : b->vectors, block = s->hw * BLOCK,
                 lane_a = a->c % BLOCK, lane_b = b->c % BLOCK;

    for (size_t sample = 0, run; sample < n; sample += run) {
        const size_t i = (from + sample) / s->hw, p = (from + sample) % s->hw;
        run = s->hw - p < n - sample ? s->hw - p : n - sample;
        for (size_t v = 0; v < vectors; v++) {
            const size_t va = v < a->vectors ? v : a->vectors - 1;
            const size_t vb = v < b->vectors ? v : b->vectors - 1;
            struct m_run x = m_begin(s, a, va, sample, i, p), y = m_begin(s, b, vb, sample, i, p);
            for (size_t q = 0; q < run && !(lane_a | lane_b); q++) {
                m_shift_one(&x, q, 0, BLOCK, block);
                m_shift_one(&y, q, 0, BLOCK, block);
            }
            for (size_t q = 0; q < run && (lane_a | lane_b); q++) {
                m_shift_one(&x, q, lane_a, m_lanes(a, va), block);
                m_shift_one(&y, q, lane_b, m_lanes(b, vb), block);
            }
            if (v < a->vectors)
                m_end(a, v, &x);
            if (v < b->vectors)
                m_end(b, v, &y);
        }
    }
    m_end_block(a);
    m_end_block(b);
}

/* Add the products of BLOCK / cols channels of x with `cols` vectors of y. */
static inline __attribute__((always_inline)) void m_products(size_t n, const float *x, const vf *y,
                                                             int cols, vf *to, size_t stride)
{
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
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int c = 0; c < cols; c++)
            to[(size_t)r * stride + (size_t)c] += acc[r * cols + c];
}

/* Add the products of n samples of all channels to `to`, one row per channel of a. */
static __attribute__((noinline)) void m_multiply(const struct m_side *a, const struct m_side *b,
                                                 size_t n, vf *to)
{
    const size_t stride = b->vectors;

    for (size_t v = 0; v < a->vectors; v++) {
        const float *x = (const float *)(a->block + v * M_BLOCK);
        size_t w = 0;
        for (; w + 1 < b->vectors; w += 2)
            for (size_t r = 0; r < BLOCK; r += BLOCK / 2)
                m_products(n, x + r, b->block + w * M_BLOCK, 2, to + r * stride + w, stride);
        if (w < b->vectors)
            m_products(n, x, b->block + w * M_BLOCK, 1, to + w, stride);
        to += BLOCK * stride;
    }
}

/* Add the sums of n samples of a side, without the shift. */
static void m_add_sums(const struct m_side *m, double n, double *sum, double *sumsq)
{
    const float *shifts = (const float *)m->shift, *sums = (const float *)m->sum,
                *squares = (const float *)m->sumsq;

    for (size_t i = 0; i < m->k; i++) {
        const double shift = (double)shifts[i], shifted = (double)sums[i];
        sum[i] += shifted + n * shift;
        sumsq[i] += (double)squares[i] + shift * (shifted + n * shift) + shift * shifted;
    }
}

/* Add the products of n samples, without the shifts, to the matrix at `to`: one row per channel of
 * a, `stride` apart. */
static void m_add_products(const struct m_side *a, const struct m_side *b, double n,
                           const vf *products, double *to, size_t stride)
{
    enum { AHEAD = 4 }; /* rows */
    const float *shifts = (const float *)b->shift, *sums = (const float *)b->sum;
    double shift[M_TILE], sum[M_TILE];

    for (size_t j = 0; j < b->k; j++) {
        shift[j] = (double)shifts[j];
        sum[j] = (double)sums[j] + n * shift[j];
    }
    for (size_t i = 0; i < a->k; i++, to += stride, products += b->vectors) {
        const double shift_x = (double)((const float *)a->shift)[i];
        const double sum_x = (double)((const float *)a->sum)[i];
        const float *x = (const float *)products;
        for (size_t j = 0; j < b->k && i + AHEAD < a->k; j += 8)
            __builtin_prefetch(to + AHEAD * stride + j, 1);
#pragma omp simd
        for (size_t j = 0; j < b->k; j++)
            to[j] += (double)x[j] + shift_x * sum[j] + shift[j] * sum_x;
    }
}

/* Sums of a task: the matrix of products, and each side's sums and sums of squares. */
struct m_sums {
    double *products, *sum[2], *sumsq[2];
    size_t stride; /* distance of rows */
};

/* Add the sums of both sides to a's first rows and b's first columns. */
static void m_add_task(const struct m_side *a, const struct m_side *b, const struct m_sums *from,
                       const struct m_sums *to)
{
    const size_t k[2] = {a->k, b->k};

    for (int side = 0; side < 2; side++)
        for (size_t i = 0; to->sum[side] && i < k[side]; i++) {
            to->sum[side][i] += from->sum[side][i];
            to->sumsq[side][i] += from->sumsq[side][i];
        }
    for (size_t i = 0; i < a->k; i++)
        for (size_t j = 0; j < b->k; j++)
            to->products[i * to->stride + j] += from->products[i * from->stride + j];
}

/* Task t of a tap. It adds its sums once: to its chunk's, or to the total if there is one chunk. */
static void m_task(const struct cpu_moments *tap, size_t t)
{
    const size_t k = tap->k, tiles = (k + M_TILE - 1) / M_TILE, samples = tap->s.valid * tap->s.hw,
                 chunks = cpu_moments_chunks(k, samples), chunk = t / (tiles * tiles),
                 cx = t / tiles % tiles * M_TILE, cy = t % tiles * M_TILE;
    const size_t from = samples * chunk / chunks, to = samples * (chunk + 1) / chunks;
    double *sums = chunks > 1 ? tap->work + chunk * MC_MOMENTS_SIZE(k) : tap->total;
    /* the first tile of a row or column adds the sums of a or b */
    const struct m_sums all = {sums + 4 * k + cx * k + cy,
                               {cy ? NULL : sums + cx, cx ? NULL : sums + k + cy},
                               {cy ? NULL : sums + 2 * k + cx, cx ? NULL : sums + 3 * k + cy},
                               k};
    _Alignas(64) double tile[M_TILE * M_TILE];
    double side_sums[4 * M_TILE];
    const struct m_sums local = {tile,
                                 {side_sums, side_sums + M_TILE},
                                 {side_sums + 2 * M_TILE, side_sums + 3 * M_TILE},
                                 M_TILE};
    const int several = to - from > M_BLOCKS * M_BLOCK; /* sums are first added here */
    const struct m_sums *add = several ? &local : &all;
    vf products[M_TILE * M_VECTORS]; /* one row per channel of a */
    struct m_side a, b;

    m_open(&tap->s, &a, tap->x, tap->c0 + cx, k - cx < M_TILE ? k - cx : M_TILE, from, to);
    m_open(&tap->s, &b, tap->y, tap->c0 + cy, k - cy < M_TILE ? k - cy : M_TILE, from, to);
    if (several) {
        memset(tile, 0, a.k * M_TILE * sizeof *tile);
        memset(side_sums, 0, sizeof side_sums);
    }
    for (size_t begin = from, end; begin < to; begin = end) {
        end = to - begin < M_BLOCKS * M_BLOCK ? to : begin + M_BLOCKS * M_BLOCK;
        const double n = (double)(end - begin);
        memset(products, 0, a.vectors * BLOCK * b.vectors * sizeof *products);
        m_clear(&a);
        m_clear(&b);
        for (size_t run; begin < end; begin += run) {
            run = end - begin < M_BLOCK ? end - begin : M_BLOCK;
            m_shift(&tap->s, &a, &b, begin, run);
            m_multiply(&a, &b, run, products);
        }
        if (add->sum[0])
            m_add_sums(&a, n, add->sum[0], add->sumsq[0]);
        if (add->sum[1])
            m_add_sums(&b, n, add->sum[1], add->sumsq[1]);
        m_add_products(&a, &b, n, products, add->products, add->stride);
    }
    if (several)
        m_add_task(&a, &b, &local, &all);
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
