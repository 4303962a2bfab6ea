/* SPDX-License-Identifier: Apache-2.0
 *
 * Joint moments in float64, included once per instruction set (see kernels.h). A task is the
 * products of a tile of x's channels, a tile of y's channels and a chunk of images. The chunks and
 * their order depend only on the shape, so the sums do not depend on the number of threads. */

enum {
    M_TILE = 64,                  /* channels of a tile */
    M_PIXELS = 32,                /* pixels packed at a time */
    M_ROWS = BLOCK == 16 ? 8 : 4, /* the micro-kernel: rows by two vectors of columns */
    M_COLS = 2 * (BLOCK / 2)
};

/* Packs channels [c, c + k) of `pixels` pixels of image n, from pixel p, as doubles, M_TILE per
 * pixel. */
static void pack_pixels(const struct cpu_shape *s, const float *x, size_t n, size_t p,
                        size_t pixels, size_t c, size_t k, double *to)
{
    for (size_t done = 0; done < k;) {
        const size_t cb = (c + done) / BLOCK, lane = (c + done) % BLOCK;
        const size_t lanes = BLOCK - lane < k - done ? BLOCK - lane : k - done;
        const float *from = x + ((n * s->cb + cb) * s->hw + p) * BLOCK + lane;
        for (size_t i = 0; i < pixels; i++) {
            double *t = to + i * M_TILE + done;
            if (lanes == BLOCK)
                for (size_t l = 0; l < BLOCK; l++)
                    t[l] = (double)from[i * BLOCK + l];
            else
                for (size_t l = 0; l < lanes; l++)
                    t[l] = (double)from[i * BLOCK + l];
        }
        done += lanes;
    }
}

static void moments_task(const struct cpu_shape *s, const float *x, const float *y, size_t n0,
                         size_t n1, size_t cx, size_t kx, size_t cy, size_t ky, double *sums_x,
                         double *sums_y, double *xy, size_t stride)
{
    _Alignas(64) double px[M_PIXELS * M_TILE] = {0}, py[M_PIXELS * M_TILE] = {0};

    for (size_t n = n0; n < n1; n++)
        for (size_t p = 0; p < s->hw; p += M_PIXELS) {
            const size_t pixels = s->hw - p < M_PIXELS ? s->hw - p : M_PIXELS;
            pack_pixels(s, x, n, p, pixels, cx, kx, px);
            pack_pixels(s, y, n, p, pixels, cy, ky, py);
            for (size_t i = 0; i < kx; i += M_ROWS)
                for (size_t j = 0; j < ky; j += M_COLS) {
                    vd acc[M_ROWS][2];
                    for (int r = 0; r < M_ROWS; r++)
                        acc[r][0] = acc[r][1] = (vd){0};
                    for (size_t q = 0; q < pixels; q++) {
                        const vd *b = (const vd *)(py + q * M_TILE + j);
                        const vd b0 = b[0], b1 = b[1];
#pragma GCC unroll 8
                        for (int r = 0; r < M_ROWS; r++) {
                            const double a = px[q * M_TILE + i + (size_t)r];
                            acc[r][0] += a * b0;
                            acc[r][1] += a * b1;
                        }
                    }
                    for (size_t r = 0; r < M_ROWS && i + r < kx; r++) {
                        const double *from = (const double *)&acc[r][0];
                        for (size_t l = 0; l < M_COLS && j + l < ky; l++)
                            xy[(i + r) * stride + j + l] += from[l];
                    }
                }
            if (sums_x)
                for (size_t q = 0; q < pixels; q++)
                    for (size_t i = 0; i < kx; i++) {
                        const double v = px[q * M_TILE + i];
                        sums_x[i] += v;
                        sums_x[2 * stride + i] += v * v;
                    }
            if (sums_y)
                for (size_t q = 0; q < pixels; q++)
                    for (size_t i = 0; i < ky; i++) {
                        const double v = py[q * M_TILE + i];
                        sums_y[i] += v;
                        sums_y[2 * stride + i] += v * v;
                    }
        }
}

static void KERNEL(moments)(const struct cpu_shape *s, const float *x, const float *y, size_t c0,
                            size_t k, double *work, double *out)
{
    const size_t chunks = CPU_MOMENTS_CHUNKS(k), size = 4 * k + k * k;
    const size_t tiles = (k + M_TILE - 1) / M_TILE, tasks = chunks * tiles * tiles;

#pragma omp parallel for schedule(dynamic)
    for (size_t t = 0; t < tasks; t++) {
        const size_t chunk = t / (tiles * tiles), tx = t / tiles % tiles, ty = t % tiles;
        const size_t cx = tx * M_TILE, cy = ty * M_TILE;
        const size_t kx = k - cx < M_TILE ? k - cx : M_TILE, ky = k - cy < M_TILE ? k - cy : M_TILE;
        size_t n0 = s->n * chunk / chunks, n1 = s->n * (chunk + 1) / chunks;
        double *w = work + chunk * size, *xy = w + 4 * k + cx * k + cy;

        n1 = n1 < s->valid ? n1 : s->valid;
        for (size_t i = 0; i < kx; i++)
            memset(xy + i * k, 0, ky * sizeof *xy);
        if (ty == 0)
            for (size_t i = 0; i < kx; i++)
                w[cx + i] = w[2 * k + cx + i] = 0;
        if (tx == 0)
            for (size_t i = 0; i < ky; i++)
                w[k + cy + i] = w[3 * k + cy + i] = 0;
        moments_task(s, x, y, n0, n1, c0 + cx, kx, c0 + cy, ky, ty == 0 ? w + cx : NULL,
                     tx == 0 ? w + k + cy : NULL, xy, k);
    }
    for (size_t i = 0; i < size; i++) {
        double sum = work[i];
        for (size_t c = 1; c < chunks; c++)
            sum += work[c * size + i];
        out[i] = sum;
    }
}
