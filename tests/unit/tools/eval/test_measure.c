/* SPDX-License-Identifier: Apache-2.0
 *
 * Evaluation of several points of a span in one pass over a stream: batch norm's re-estimated
 * statistics, loss, accuracy and their standard errors against float64. Covers a short last batch,
 * a limited number of samples, and augmented images. */
#include "libcommon/base/rng.h"
#include "tools/eval/measure.h"

#include "tests/unit/kernels/naive.h"
#include "tests/unit/kernels/open.h"
#include "tests/unit/must.h"

enum {
    N = 11, /* images in batches of B; the last one is short */
    B = 4,
    C = 2, /* shape of an image */
    H = 5,
    W = 4,
    CLASSES = 3,
    IMAGE = C * H * W,
    K = 2, /* vectors of the span */
    T = 3, /* points of the span */
    SEED = 23
};

static const float MEAN[] = {.5f, .4f}, STD[] = {.25f, .3f};
static const double COEF[T * K] = {.3, .7, 1, 0, -.2, 1.1};

static struct mc_backend *be;
static uint8_t pixels[N * IMAGE];
static int32_t labels[N];
static struct mc_graph *graph;
static float *vectors[K];
static struct mc_span span;

static float unit(uint32_t purpose, uint32_t i)
{
    return mc_rng_unit(mc_rng(43, purpose, i, 0, 0).v[0]);
}

static void write_images(void)
{
    struct mc_dataset_info info = {
        .name = "eleven",
        .split = "train",
        .order = "as drawn",
        .n = N,
        .pixels = MC_U8,
        .spec = {.channels = C, .height = H, .width = W, .classes = CLASSES},
        .augment = {.flip = 1, .pad = 1}};
    struct mc_dataset_writer *d = NULL;

    memcpy(info.spec.mean, MEAN, sizeof MEAN);
    memcpy(info.spec.std, STD, sizeof STD);
    for (uint32_t i = 0; i < N * IMAGE; i++)
        pixels[i] = (uint8_t)(256 * unit(1, i) * (.3f + .7f * unit(2, i / IMAGE)));
    for (uint32_t i = 0; i < N; i++)
        labels[i] = (int32_t)(i * 7 % CLASSES);
    must(mc_dataset_create(&d, file, &info, NULL, &why));
    must(mc_dataset_write(d, N, pixels, labels, &why));
    must(mc_dataset_commit(d, 0, NULL, &why));
}

static void make_span(void)
{
    int x = 0;

    graph = mc_graph_new("small", C, H, W, CLASSES, MEAN, STD);
    for (int layer = 0; layer < 2; layer++) {
        x = mc_graph_conv(graph, NULL, x, 5 + layer,
                          (struct mc_conv_opts){.kernel = 3, .pad = 1, .bias = 1});
        x = mc_graph_batchnorm(graph, NULL, x, 1e-5f);
        x = mc_graph_relu(graph, NULL, x);
    }
    x = mc_graph_globalpool(graph, NULL, x);
    x = mc_graph_linear(graph, NULL, x, CLASSES, 1, MC_INIT_ZERO, MC_INIT_ZERO);
    mc_graph_loss(graph, NULL, x, 1, 0);
    must(mc_graph_finish(graph, &why));
    for (uint32_t k = 0; k < K; k++) {
        vectors[k] = naive_alloc(graph->P, sizeof(float));
        for (size_t t = 0; t < graph->n_params; t++) {
            const struct mc_param *p = &graph->params[t];
            for (size_t i = 0; i < p->count; i++) {
                const float u = 2 * unit(100 * (k + 1) + (uint32_t)t, (uint32_t)i) - 1;
                vectors[k][p->offset + i] =
                    graph->nodes[p->node].op == MC_OP_BATCHNORM ? .9f + .5f * u : u;
            }
        }
    }
    span = (struct mc_span){
        .graph = graph, .k = K, .T = T, .vectors = (const float *const *)vectors, .coef = COEF};
}

/* Pixels of an image, independent of its batch. */
static void picture(int sample, int augment, double *out)
{
    naive_picture(C, H, W, pixels + sample * IMAGE, augment,
                  mc_rng(SEED, MC_RNG_BN, 0, (uint32_t)sample, 0), out);
}

/* Run the batch that starts with image `first`, at point t. */
static void refer_batch(struct naive *v, size_t t, float *theta, int first, int n, int augment)
{
    double batch[B * IMAGE] = {0};

    for (size_t q = 0; q < graph->P; q++) {
        double sum = 0;
        for (size_t k = 0; k < span.k; k++)
            sum += span.coef[t * span.k + k] * (double)vectors[k][q];
        theta[q] = (float)sum;
    }
    v->valid = n - first < B ? n - first : B;
    for (int b = 0; b < v->valid; b++)
        picture(first + b, augment, batch + b * IMAGE);
    v->labels = labels + first;
    v->params = theta;
    naive_run(v, batch);
}

/* Sum each batch norm's inputs and their squares over the batches; return means and unbiased
 * variances (T,S). */
static double *refer_statistics(int n, int augment)
{
    const size_t S = graph->S;
    double *out = naive_alloc(span.T * S, sizeof *out), *sum = naive_alloc(S, sizeof *sum);
    double *sq = naive_alloc(S, sizeof *sq);
    float *theta = naive_alloc(graph->P, sizeof *theta);
    struct naive v;

    naive_init(&v, graph, B);
    v.mode = MC_MODE_REESTIMATE;
    for (size_t t = 0; t < span.T; t++) {
        memset(sum, 0, S * sizeof *sum);
        memset(sq, 0, S * sizeof *sq);
        for (int first = 0; first < n; first += B) {
            refer_batch(&v, t, theta, first, n, augment);
            for (int i = 0; i < graph->n_nodes; i++)
                for (int c = 0; graph->nodes[i].op == MC_OP_BATCHNORM && c < graph->nodes[i].c;
                     c++) {
                    const size_t at = graph->nodes[i].running_mean.offset + (size_t)c;
                    const double count = (double)v.valid * H * W;
                    sum[at] += count * v.mean[i][c];
                    sq[at] += count * (v.var[i][c] + v.mean[i][c] * v.mean[i][c]);
                }
        }
        for (int i = 0; i < graph->n_nodes; i++)
            for (int c = 0; graph->nodes[i].op == MC_OP_BATCHNORM && c < graph->nodes[i].c; c++) {
                const size_t m = graph->nodes[i].running_mean.offset + (size_t)c;
                const size_t r = graph->nodes[i].running_var.offset + (size_t)c;
                const double count = (double)n * H * W, mean = sum[m] / count;
                out[t * S + m] = mean;
                out[t * S + r] = (sq[m] - count * mean * mean) / (count - 1);
            }
    }
    naive_release(&v);
    free(sum);
    free(sq);
    free(theta);
    return out;
}

static struct mc_dataset_reader *images(void)
{
    struct mc_dataset_reader *d = NULL;

    must(mc_dataset_open(&d, file, &why));
    return d;
}

static float *statistics(struct mc_loader_options o)
{
    float *stats = naive_alloc(span.T * graph->S, sizeof *stats);
    struct mc_dataset_reader *d = images();

    o.be = be;
    o.data = d;
    o.batch = B;
    o.seed = SEED;
    must(mc_eval_statistics(&span, &o, NULL, stats, &why));
    mc_dataset_close(d);
    return stats;
}

static void check_statistics(uint64_t samples, int n, int augment)
{
    float *got = statistics((struct mc_loader_options){.samples = samples, .augment = augment});
    double *want = refer_statistics(n, augment);

    for (size_t i = 0; i < span.T * graph->S; i++)
        if (!(fabs((double)got[i] - want[i]) <= 1e-5 * (1 + fabs(want[i]))))
            fail_msg("statistic %zu of point %zu: %.8g, expected %.8g", i % graph->S, i / graph->S,
                     (double)got[i], want[i]);
    free(got);
    free(want);
}

TEST(statistics_are_pooled_moments)
{
    check_statistics(0, N, 0);
    check_statistics(N + 5, N, 0);
}

TEST(statistics_of_the_first_samples)
{
    check_statistics(6, 6, 0); /* ends within a batch */
    check_statistics(8, 8, 0); /* ends at a batch's end */
    check_statistics(3, 3, 0);
}

TEST(statistics_of_augmented_images)
{
    const size_t bytes = T * graph->S * sizeof(float);
    float *a = statistics((struct mc_loader_options){.augment = 1});
    float *again = statistics((struct mc_loader_options){.augment = 1});
    float *plain = statistics((struct mc_loader_options){.augment = 0});

    assert_memory_equal(a, again, bytes);
    assert_memory_not_equal(a, plain, bytes);
    free(a);
    free(again);
    free(plain);
    check_statistics(0, N, 1);
    check_statistics(6, 6, 1);
}

static int is_right(const struct naive *v, int b)
{
    const double *x = v->out[graph->logits] + b * CLASSES;
    int best = 0;

    for (int c = 1; c < CLASSES; c++)
        best = x[c] > x[best] ? c : best;
    return best == v->labels[b];
}

/* stats: (S). */
static struct mc_eval_result refer_loss(size_t t, const float *stats, int n)
{
    struct mc_eval_result m = {.images = n};
    float *theta = naive_alloc(graph->P, sizeof *theta);
    double loss[N];
    struct naive v;

    naive_init(&v, graph, B);
    v.mode = MC_MODE_EVAL;
    v.stats = stats;
    for (int first = 0; first < n; first += B) {
        refer_batch(&v, t, theta, first, n, 0);
        for (int b = 0; b < v.valid; b++) {
            loss[first + b] = v.loss[b];
            m.loss += v.loss[b] / n;
            m.accuracy += is_right(&v, b) / (double)n;
        }
    }
    for (int i = 0; i < n; i++)
        m.loss_se += pow(loss[i] - m.loss, 2) / n / n;
    m.loss_se = sqrt(m.loss_se);
    m.accuracy_se = sqrt(m.accuracy * (1 - m.accuracy) / n);
    naive_release(&v);
    free(theta);
    return m;
}

/* Statistics that differ between points. */
static float *make_statistics(void)
{
    const size_t S = graph->S;
    float *stats = naive_alloc(span.T * S, sizeof *stats);

    for (size_t t = 0; t < span.T; t++)
        for (size_t i = 0; i < graph->n_stats; i++)
            for (size_t q = 0; q < graph->stats[i].count; q++)
                stats[t * S + graph->stats[i].offset + q] =
                    (i & 1 ? .6f : -.5f) + unit(900 + (uint32_t)(10 * t + i), (uint32_t)q);
    return stats;
}

struct progress {
    uint64_t images[N];
    size_t n;
    uint64_t total;
};

static void record(void *arg, uint64_t done, uint64_t total)
{
    struct progress *h = arg;

    assert_true(h->n < N);
    h->images[h->n++] = done;
    h->total = total;
}

static void measure(const float *stats, uint64_t samples, int augment, struct progress *h,
                    struct mc_eval_result *out)
{
    struct mc_dataset_reader *d = images();
    const struct mc_loader_options o = {.be = be,
                                        .data = d,
                                        .batch = B,
                                        .samples = samples,
                                        .augment = augment,
                                        .seed = SEED,
                                        .progress = record,
                                        .arg = h};

    memset(h, 0, sizeof *h);
    span.stats = stats;
    must(mc_eval_loss(&span, &o, NULL, &(struct mc_eval_output){.result = out}, NULL, &why));
    mc_dataset_close(d);
}

static void near(const char *name, size_t t, double got, double want)
{
    if (!(fabs(got - want) <= 1e-5 * (fabs(want) + 1e-3)))
        fail_msg("%s at point %zu: %.9g, expected %.9g", name, t, got, want);
}

static void check_loss(uint64_t samples, int n)
{
    float *stats = make_statistics();
    struct mc_eval_result got[T], augmented[T];
    struct progress h;

    measure(stats, samples, 0, &h, got);
    assert_int_equal(h.n, (n + B - 1) / B);
    for (size_t i = 0; i < h.n; i++)
        assert_int_equal(h.images[i], i + 1 < h.n ? (i + 1) * B : (size_t)n);
    assert_int_equal(h.total, n);
    for (size_t t = 0; t < span.T; t++) {
        const struct mc_eval_result want = refer_loss(t, stats + t * graph->S, n);
        assert_int_equal(got[t].images, want.images);
        near("loss", t, got[t].loss, want.loss);
        near("loss's error", t, got[t].loss_se, want.loss_se);
        near("accuracy", t, got[t].accuracy, want.accuracy);
        near("accuracy's error", t, got[t].accuracy_se, want.accuracy_se);
    }
    measure(stats, samples, 1, &h, augmented); /* evaluation never augments */
    for (size_t t = 0; t < span.T; t++)
        assert_true(augmented[t].loss == got[t].loss && augmented[t].accuracy == got[t].accuracy);
    free(stats);
}

TEST(losses_and_standard_errors)
{
    check_loss(0, N);
    check_loss(N + 5, N);
}

TEST(losses_of_the_first_samples)
{
    check_loss(6, 6);
    check_loss(8, 8);
}

/* k = 1: the vector itself. */
TEST(span_of_one_network)
{
    const struct mc_span all = span;
    static const double one = 1;

    span.k = span.T = 1;
    span.coef = &one;
    check_statistics(0, N, 0);
    check_statistics(0, N, 1);
    check_loss(0, N);
    span = all;
}

static int start(void **state)
{
    if (enter_folder(state))
        return -1;
    write_images();
    make_span();
    return mc_backend_open(
        &be, &(struct mc_backend_opts){.device = "cpu", .threads = threads_tested(2)}, &why);
}

static int stop(void **state)
{
    be->close(be);
    for (size_t k = 0; k < K; k++)
        free(vectors[k]);
    mc_graph_free(graph);
    return leave_folder(state);
}

int main(void)
{
    return run_entered(start, stop);
}
