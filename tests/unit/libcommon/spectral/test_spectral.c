/* SPDX-License-Identifier: Apache-2.0
 *
 * Spectral norms and clipping, compared with a singular value decomposition by Jacobi rotations of
 * columns; the layers of supported networks. */

#include "libcommon/spectral/spectral.h"
#include "tests/unit/kernels/groups.h"
#include "tests/unit/under.h"
#include "tests/unit/must.h"

/* ---- the decomposition ----------------------------------------------------------------------- */

/* Hestenes 1958. us (rows,cols) is w at first; pairs of its columns are rotated until they are
 * orthogonal. Then us = U S and w = us v^T. sigma (cols): the columns' lengths, unordered. */
static void decompose(size_t rows, size_t cols, double *us, double *v, double *sigma)
{
    double worst = 1, all = 0;

    for (size_t k = 0; k < rows * cols; k++)
        all += us[k] * us[k];
    for (size_t k = 0; k < cols * cols; k++)
        v[k] = k % (cols + 1) == 0;
    for (int sweep = 0; worst > 1e-14 && sweep < 60; sweep++) {
        worst = 0;
        for (size_t p = 0; p < cols; p++)
            for (size_t q = p + 1; q < cols; q++) {
                double a = 0, b = 0, g = 0;
                for (size_t i = 0; i < rows; i++) {
                    a += us[i * cols + p] * us[i * cols + p];
                    b += us[i * cols + q] * us[i * cols + q];
                    g += us[i * cols + p] * us[i * cols + q];
                }
                if (fabs(g) <= 1e-15 * sqrt(a * b) || sqrt(a * b) <= 1e-28 * all)
                    continue;
                worst = fmax(worst, fabs(g) / sqrt(a * b));
                double angle = .5 * atan2(2 * g, a - b), c = cos(angle), s = sin(angle);
                for (size_t i = 0; i < rows + cols; i++) {
                    double *row = i < rows ? us + i * cols : v + (i - rows) * cols;
                    double x = row[p], y = row[q];
                    row[p] = c * x + s * y;
                    row[q] = c * y - s * x;
                }
            }
    }
    for (size_t j = 0; j < cols; j++) {
        sigma[j] = 0;
        for (size_t i = 0; i < rows; i++)
            sigma[j] += us[i * cols + j] * us[i * cols + j];
        sigma[j] = sqrt(sigma[j]);
    }
}

struct decomposed {
    size_t rows, cols;
    double *us, *v, *sigma, norm;
};

static struct decomposed naive(size_t rows, size_t cols, const float *w)
{
    struct decomposed d = {
        rows, cols, calloc(rows * cols, 8), calloc(cols * cols, 8), calloc(cols, 8), 0};

    assert_true(d.us && d.v && d.sigma);
    for (size_t k = 0; k < rows * cols; k++)
        d.us[k] = (double)w[k];
    decompose(rows, cols, d.us, d.v, d.sigma);
    for (size_t j = 0; j < cols; j++)
        d.norm = fmax(d.norm, d.sigma[j]);
    return d;
}

static void drop(struct decomposed *d)
{
    free(d->us);
    free(d->v);
    free(d->sigma);
}

static double length(size_t n, const float *w)
{
    double sum = 0;

    for (size_t k = 0; k < n; k++)
        sum += (double)w[k] * (double)w[k];
    return sqrt(sum);
}

/* ---- matrices -------------------------------------------------------------------------------- */

enum kind { RANDOM, ZERO, RANK_2, EQUAL_TOP, IDENTITY, ONE_ENTRY, CLOSE, TINY, KINDS };
static const char *const kind_names[KINDS] = {"random",   "zero",      "rank 2",       "equal top",
                                              "identity", "one entry", "close values", "tiny"};

static double number(uint32_t i, uint32_t purpose)
{
    return (double)mc_rng_unit(mc_rng(7, purpose, i, 0, 0).v[0]) * 2 - 1;
}

/* Reflect rows and columns of w along fixed vectors (Householder); singular values are
 * unchanged. */
static void reflect(size_t rows, size_t cols, double *w)
{
    double *a = calloc(rows + cols, sizeof *a), *b = a + rows, aa = 0, bb = 0;

    assert_non_null(a);
    for (size_t k = 0; k < rows + cols; k++)
        a[k] = number((uint32_t)k, 200);
    for (size_t i = 0; i < rows; i++)
        aa += a[i] * a[i];
    for (size_t j = 0; j < cols; j++)
        bb += b[j] * b[j];
    for (size_t j = 0; j < cols; j++) {
        double along = 0;
        for (size_t i = 0; i < rows; i++)
            along += a[i] * w[i * cols + j];
        for (size_t i = 0; i < rows; i++)
            w[i * cols + j] -= 2 * along / aa * a[i];
    }
    for (size_t i = 0; i < rows; i++) {
        double along = 0;
        for (size_t j = 0; j < cols; j++)
            along += b[j] * w[i * cols + j];
        for (size_t j = 0; j < cols; j++)
            w[i * cols + j] -= 2 * along / bb * b[j];
    }
    free(a);
}

static float *matrix(enum kind kind, size_t rows, size_t cols)
{
    const size_t least = rows < cols ? rows : cols;
    double *w = calloc(rows * cols, sizeof *w);
    float *out = calloc(rows * cols, sizeof *out);

    assert_true(w && out);
    if (kind == RANDOM || kind == TINY)
        for (size_t k = 0; k < rows * cols; k++)
            w[k] = number((uint32_t)k, 201) * (kind == TINY ? 1e-18 : 1);
    if (kind == ONE_ENTRY)
        w[rows * cols - 1] = -3;
    for (size_t i = 0; i < least; i++) {
        double at = (double)i / (double)least;
        if (kind == RANK_2)
            w[i * cols + i] = i < 2 ? 5 - (double)i : 0;
        if (kind == EQUAL_TOP)
            w[i * cols + i] = i < 3 ? 4 : 3 - at;
        if (kind == IDENTITY)
            w[i * cols + i] = 2;
        if (kind == CLOSE)
            w[i * cols + i] = 1 + (1 - at) * 1e-3;
    }
    if (kind == RANK_2 || kind == EQUAL_TOP || kind == CLOSE)
        reflect(rows, cols, w);
    for (size_t k = 0; k < rows * cols; k++)
        out[k] = (float)w[k];
    free(w);
    return out;
}

static const size_t shapes[][2] = {{1, 1},  {1, 9},   {9, 1},   {3, 5},   {16, 16}, {40, 7},
                                   {7, 40}, {10, 90}, {90, 60}, {60, 90}, {97, 97}};

static size_t n_shapes(void)
{
    return is_slow() ? 7 : sizeof shapes / sizeof *shapes;
}

/* ---- tests ----------------------------------------------------------------------------------- */

TEST(norm_is_the_largest_singular_value)
{
    for (enum kind kind = 0; kind < KINDS; kind++) {
        double worst = 0;
        for (size_t s = 0; s < n_shapes(); s++) {
            const size_t rows = shapes[s][0], cols = shapes[s][1];
            float *w = matrix(kind, rows, cols);
            struct decomposed d = naive(rows, cols, w);
            double norm = -1, again = -1;
            must(mc_spectral_norm(rows, cols, w, &norm, &why));
            must(mc_spectral_norm(rows, cols, w, &again, &why));
            assert_true(norm == again);
            if (!(fabs(norm - d.norm) <= 1e-7 * d.norm))
                fail_msg("%s, %zux%zu: %.17g (expected %.17g)", kind_names[kind], rows, cols, norm,
                         d.norm);
            worst = fmax(worst, d.norm > 0 ? fabs(norm / d.norm - 1) : 0);
            drop(&d);
            free(w);
        }
        print_message("# %s: maximum error %.2g\n", kind_names[kind], worst);
    }
}

/* Compare with U min(S, most) V^T. */
static void check_clip(enum kind kind, const struct decomposed *d, double share)
{
    const size_t rows = d->rows, cols = d->cols;
    float *w = matrix(kind, rows, cols), *was = matrix(kind, rows, cols);
    const size_t bytes = rows * cols * sizeof *w;
    const double most = d->norm > 0 ? share * d->norm : 1;
    int above = 0, clipped, again;
    double off = 0, norm;

    for (size_t j = 0; j < cols; j++)
        above += d->sigma[j] > most * (1 + 1e-6);
    clipped = mc_spectral_clip(rows, cols, w, most, &why);
    if (clipped != above)
        fail_msg("%s, %zux%zu within %.9g: %d values clipped (expected %d)", kind_names[kind], rows,
                 cols, most, clipped, above);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            double sum = 0;
            for (size_t k = 0; k < cols; k++)
                sum += d->us[i * cols + k] * (d->sigma[k] > most ? most / d->sigma[k] : 1) *
                       d->v[j * cols + k];
            off += ((double)w[i * cols + j] - sum) * ((double)w[i * cols + j] - sum);
        }
    /* rounding to float32 */
    if (!(sqrt(off) <= 1e-7 * length(rows * cols, was)))
        fail_msg("%s, %zux%zu within %.9g: %g away from the projection", kind_names[kind], rows,
                 cols, most, sqrt(off));
    if (!clipped)
        assert_memory_equal(w, was, bytes);
    must(mc_spectral_norm(rows, cols, w, &norm, &why));
    assert_true(norm <= most * (1 + 1e-6));

    memcpy(was, w, bytes);
    again = mc_spectral_clip(rows, cols, w, most, &why);
    assert_int_equal(again, 0);
    assert_memory_equal(w, was, bytes);
    free(w);
    free(was);
}

TEST(clipping_is_the_projection_and_idempotent)
{
    const double shares[] = {2, 1.00001, .95, .99965, .5, .01};

    for (enum kind kind = 0; kind < KINDS; kind++)
        for (size_t s = 0; s < n_shapes(); s++) {
            float *w = matrix(kind, shapes[s][0], shapes[s][1]);
            struct decomposed d = naive(shapes[s][0], shapes[s][1], w);
            for (size_t k = 0; k < sizeof shares / sizeof *shares; k++)
                check_clip(kind, &d, shares[k]);
            drop(&d);
            free(w);
        }
}

/* A matrix of a layer's size with close singular values, which are known. */
TEST(large_matrix_with_known_values)
{
    const size_t rows = is_slow() ? 120 : 600, cols = rows / 2;
    double *d = calloc(rows * cols, sizeof *d), norm;
    float *w = calloc(rows * cols, sizeof *w);

    assert_true(d && w);
    for (size_t j = 0; j < cols; j++)
        d[j * cols + j] = 3 - 2 * sqrt((double)j / (double)cols);
    reflect(rows, cols, d);
    for (size_t k = 0; k < rows * cols; k++)
        w[k] = (float)d[k];
    must(mc_spectral_norm(rows, cols, w, &norm, &why));
    assert_true(fabs(norm - 3) < 3e-6);
    /* 3 - 2 sqrt(j / cols) > 2.2 for j < .16 cols; only j = .16 cols is at the limit */
    assert_int_equal(mc_spectral_clip(rows, cols, w, 2.2001, &why),
                     (int)ceil(.1599 * (double)cols));
    must(mc_spectral_norm(rows, cols, w, &norm, &why));
    assert_true(fabs(norm - 2.2001) < 2.2e-6);
    free(d);
    free(w);
}

TEST(invalid_values_are_refused)
{
    const double mosts[] = {0, -1, NAN, INFINITY};
    float w[4] = {1, 2, 3, 4}, bad[4] = {1, 2, NAN, 4};
    double norm;

    for (size_t k = 0; k < 4; k++)
        must_fail(mc_spectral_clip(2, 2, w, mosts[k], &why), MC_EUSAGE, "");
    must_fail(mc_spectral_norm(2, 2, bad, &norm, &why), MC_EINPUT, "");
    must_fail(mc_spectral_clip(2, 2, bad, 1, &why), MC_EINPUT, "");
    assert_true(bad[0] == 1 && bad[1] == 2 && isnan(bad[2]) && bad[3] == 4);
}

static struct mc_graph *build(const char *name)
{
    struct mc_net_spec spec = {3, 32, 32, 10, {.5f, .5f, .5f}, {.2f, .2f, .2f}};
    struct mc_graph *g = NULL;

    must(mc_net_build(&g, name, &spec, &why));
    return g;
}

TEST(layers_of_an_mlp)
{
    struct mc_graph *g = build("mlp:40,70,30");
    const char *const names[] = {"layers.0.linear.weight", "layers.1.linear.weight",
                                 "layers.2.linear.weight", "dense.weight"};
    struct mc_spectral_layers l;

    mc_graph_huber(g, .1f);
    must(mc_spectral_layers(g, &l, &why));
    assert_int_equal(l.L, 4);
    assert_int_equal(l.M, 70);
    for (size_t k = 0; k < l.L; k++)
        assert_string_equal(g->params[l.weight[k]].tensor.name, names[k]);
    mc_spectral_layers_release(&l);
    mc_graph_free(g);
}

static void refused(struct mc_graph *g, const char *name)
{
    struct mc_spectral_layers l;

    must_fail(mc_spectral_layers(g, &l, &why), MC_EUSAGE, name);
    mc_spectral_layers_release(&l);
    mc_graph_free(g);
}

static struct mc_graph *finished(struct mc_graph *g)
{
    must(mc_graph_finish(g, &why));
    return g;
}

TEST(other_networks_are_refused_by_node)
{
    struct mc_graph *g;
    int x, y;

    refused(build("mlp:bn,40"), "'layers.0.bn'");
    refused(build("tinyten"), "'layers.0.conv'");

    g = begin(4, 4);
    x = relu(g, "early", mc_graph_flatten(g, NULL, 0));
    mc_graph_loss(g, "loss", linear(g, "a", x, 4), 1, 0);
    refused(finished(g), "'early.r'");

    g = begin(4, 4);
    x = relu(g, "one", linear(g, "a", mc_graph_flatten(g, NULL, 0), 8));
    mc_graph_loss(g, "loss", linear(g, "b", relu(g, "two", x), 4), 1, 0);
    refused(finished(g), "'two.r'");

    g = begin(4, 4);
    x = relu(g, "late", linear(g, "a", mc_graph_flatten(g, NULL, 0), 4));
    mc_graph_loss(g, "loss", x, 1, 0);
    refused(finished(g), "'late.r'");

    g = begin(4, 4);
    x = mc_graph_dropout(g, "drop", linear(g, "a", mc_graph_flatten(g, NULL, 0), 8), .5f);
    mc_graph_loss(g, "loss", linear(g, "b", x, 4), 1, 0);
    refused(finished(g), "'drop'");

    g = begin(4, 4);
    x = linear(g, "a", mc_graph_flatten(g, NULL, 0), 8);
    mc_graph_loss(g, "loss", linear(g, "b", x, 4), 1, 0);
    mc_graph_loss(g, "extra", linear(g, "c", x, 4), .3f, 1);
    refused(finished(g), "'extra'");

    g = begin(4, 4);
    x = linear(g, "a", mc_graph_flatten(g, NULL, 0), 8);
    y = linear(g, "b", x, 8);
    x = mc_graph_add(g, "sum", (int[]){x, y}, 2);
    mc_graph_loss(g, "loss", linear(g, "c", x, 4), 1, 0);
    refused(finished(g), "'sum'");

    g = begin(1, 1);
    mc_graph_loss(g, "loss", linear(g, "a", 0, 4), 1, 0);
    g = finished(g);
    struct mc_spectral_layers l;
    must(mc_spectral_layers(g, &l, &why));
    assert_true(l.L == 1 && l.M == 0);
    mc_spectral_layers_release(&l);
    mc_graph_free(g);
}

int main(void)
{
    return run_entered(NULL, NULL);
}
