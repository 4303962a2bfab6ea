/* SPDX-License-Identifier: Apache-2.0
 *
 * Inner products of units: the bits of their definition in instruction sets with fused multiply-adds,
 * for all numbers of units and values around those of panels, runs, passes and blocks. */
#include "tests/unit/must.h"
#include "tools/align/products.h"

enum { RUN = 256 };

/* The definition: float32 sums of at most RUN values, added in float64. Without fused
 * multiply-adds, `value` may differ by the rounding of products and sums. */
static void check_value(const struct mc_unit_layout *at, const float *x, const float *y, size_t i,
                        size_t j, double sum, int fused, double value)
{
    double magnitude = 0;
    const size_t n = mc_unit_values(at);

    for (size_t first = 0; first < n; first += RUN) {
        float run = 0;
        for (size_t q = first; q < n && q < first + RUN; q++) {
            const size_t here = at->base + q / at->m * at->stride + q % at->m;
            run = fmaf(x[here + i * at->m], y[here + j * at->m], run);
            magnitude += fabs((double)x[here + i * at->m] * (double)y[here + j * at->m]);
        }
        sum += (double)run;
    }
    assert_true(fabs(value - sum) <= (fused ? 0 : RUN * 0x1p-24) * magnitude);
}

static float *draw(size_t n, uint32_t seed)
{
    float *x = calloc(n, sizeof *x);

    assert_non_null(x);
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        x[i] = ldexpf((float)(seed >> 8) - 8388607.5f, -24 - (int)(seed % 7));
    }
    return x;
}

static void count_call(void *calls)
{
    ++*(int *)calls;
}

static void check_values(struct mc_unit_layout at, const float *x, const float *y)
{
    static const char *const sets[] = {"portable", "avx2", "avx512"};
    const size_t K = at.k;
    double *value = calloc(K * K, sizeof *value);
    struct mc_products p = {.threads = 1};

    assert_non_null(value);
    for (size_t s = 0; s < COUNT(sets); s++)
        for (int threads = 1; threads <= 3; threads += 2) {
            for (size_t i = 0; i < K * K; i++)
                value[i] = (double)i / 3;
            p.threads = threads;
            setenv("MC_ISA", sets[s], 1);
            int calls = 0;
            const struct mc_meanwhile meanwhile = {count_call, &calls};
            must(mc_products_of(&p, &at, x, y, 1, value, &meanwhile, &why));
            assert_int_equal(calls, 1);
            for (size_t i = 0; i < K * K; i += 1 + i % 7)
                check_value(&at, x, y, i / K, i % K, (double)i / 3, s > 0, value[i]);
            must(mc_products_of(&p, &at, x, y, 0, value, NULL, &why));
            for (size_t i = 0; i < K * K; i += 1 + i % 7)
                check_value(&at, x, y, i / K, i % K, 0, s > 0, value[i]);
        }
    unsetenv("MC_ISA");
    free(p.slab);
    free(value);
}

static void check(struct mc_unit_layout at)
{
    const size_t n = at.base + at.slices * at.stride;
    float *x = draw(n, 1), *y = draw(n, 2);

    check_values(at, x, y);
    free(x);
    free(y);
}

TEST(products_have_the_bits_of_their_definition)
{
    static const size_t units[] = {1, 5, 16, 48, 50, 97, 200, 300};

    for (size_t i = 0; i < COUNT(units); i++) {
        const size_t k = units[i];
        check((struct mc_unit_layout){.k = k, .m = 1, .slices = 1, .stride = k, .base = 3});
        check((struct mc_unit_layout){.k = k, .m = 9, .slices = 30, .stride = 9 * k + 2});
        check((struct mc_unit_layout){.k = k, .m = 257, .slices = 1, .stride = 257 * k, .base = 1});
    }
    check((struct mc_unit_layout){.k = 7, .m = 1, .slices = 4101, .stride = 8, .base = 1});
    check((struct mc_unit_layout){.k = 20, .m = 4097, .slices = 1, .stride = 20 * 4097});
}

int main(void)
{
    return run_entered(NULL, NULL);
}
