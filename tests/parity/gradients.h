/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared code of the gradient tests: a golden file, the formula for weights and images, and a
 * network on the device with one batch. Header only. */
#ifndef MC_TEST_GRADIENTS_H
#define MC_TEST_GRADIENTS_H

#include "formats/stream/reader.h"
#include "tests/parity/golden.h"
#include "tests/unit/kernels/resources.h"

/* ---- the golden file ---- */

static struct {
    size_t n;
    struct mc_tensor *tensors;
    void **data;
} golden;

static inline void read_golden(const char *name)
{
    struct mc_reader *r = NULL;
    struct mc_error err = {0};

    ok(mc_reader_open(&r, golden_path(name), &err), &err);
    golden.n = mc_reader_n_tensors(r);
    golden.tensors = room(golden.n, sizeof *golden.tensors);
    golden.data = room(golden.n, sizeof *golden.data);
    for (size_t i = 0; i < golden.n; i++) {
        golden.tensors[i] = *mc_reader_tensor(r, i);
        golden.data[i] = room((size_t)golden.tensors[i].shape[0], 8);
    }
    ok(mc_reader_rest(r, golden.data, &err), &err);
    mc_reader_close(r);
}

static inline const void *find(const char *group, const char *name, size_t n)
{
    char full[2 * MC_NAME_MAX];
    snprintf(full, sizeof full, "%s%s%s", group, *group ? "/" : "", name);
    for (size_t i = 0; i < golden.n; i++)
        if (!strcmp(golden.tensors[i].name, full)) {
            assert_true(golden.tensors[i].shape[0] == n);
            return golden.data[i];
        }
    fail_msg("no %s in the golden file", full);
    return NULL;
}

/* ---- the shared formula ---- */

static inline uint64_t splitmix(uint64_t stream, uint64_t i)
{
    uint64_t z = (stream << 32) + i + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline float unit(uint64_t stream, uint64_t i)
{
    return (float)(splitmix(stream, i) >> 40) * 0x1p-24f;
}

/* The stream of a name: its FNV-1a hash (32 bits), offset by the seed. */
static inline uint64_t stream_of(uint64_t seed, const char *prefix, const char *name)
{
    uint32_t h = 2166136261u;

    for (; *prefix; prefix++)
        h = (h ^ (unsigned char)*prefix) * 16777619u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return (uint32_t)(h + (uint32_t)seed * 0x9E3779B1u);
}

/* Fills tensor p of the graph, within a whole parameter vector, from stream `from`. */
static inline void fill_tensor(const struct mc_graph *g, const struct mc_param *p, uint64_t from,
                               float *params)
{
    const float scale =
        p->tensor.ndim > 1 ? (float)sqrt(6.0 / (double)(p->fan_in + p->fan_out)) : .25f;
    const int gain = (p->tensor.ndim == 1 || g->nodes[p->node].op == MC_OP_SCALE) &&
                     p->offset == g->nodes[p->node].weight.offset;

    for (size_t i = 0; i < p->count; i++) {
        const float u = unit(from, i);
        params[p->offset + i] = gain ? u + .5f : (2 * u - 1) * scale;
    }
}

/* ---- one network on the device ---- */

/* Images of 32 by 32 pixels. All images use this mean and deviation. */
static const struct mc_net_spec IMAGES_32 = {
    3, 32, 32, 10, {.4914f, .4822f, .4465f}, {.247f, .243f, .261f}};

static inline struct mc_graph *net(const char *name, int classes)
{
    struct mc_net_spec spec = IMAGES_32;

    spec.classes = classes;
    return net_of(name, spec);
}

/* The name "PATH.PART"; valid until the next call. */
static inline const char *named(const char *path, const char *part)
{
    static char name[MC_MAX_NODE_NAME];
    snprintf(name, sizeof name, "%s.%s", path, part);
    return name;
}

static inline int conv(struct mc_graph *g, const char *name, int in, int out, int kernel,
                       int stride)
{
    return mc_graph_conv(
        g, name, in, out,
        (struct mc_conv_opts){.kernel = kernel, .stride = stride, .pad = kernel / 2});
}

static inline int unit_of(struct mc_graph *g, const char *path, int in, int out, int kernel)
{
    int x = conv(g, named(path, "conv"), in, out, kernel, 1);
    x = mc_graph_batchnorm(g, named(path, "bn"), x, 1e-3f);
    return mc_graph_relu(g, named(path, "relu"), x);
}

struct world {
    struct mc_graph *g;
    struct mc_plan *plan;
    size_t images_n, image, mark; /* images of the batch; floats of one */
    float *host, *pixels;
    struct mc_buf *images, *labels, *order, *ctl, *grad, *stats, *dx, *point;
};

/* Plans the graph in training mode with all heads. The world owns the graph. */
static inline void open_world(struct world *w, struct mc_graph *g, size_t images)
{
    const struct mc_ctl ctl = {0};
    const size_t mark = in_use.n;
    int32_t *order = room(images, sizeof *order);

    *w = (struct world){.g = g, .images_n = images, .mark = mark};
    w->image = (size_t)(g->input[0] * g->input[1] * g->input[2]);
    w->plan = plan_of(
        g, (struct mc_plan_opts){.batch = images, .backward = 1, .input_grad = 1, .train_only = 1});
    w->host = floats(g->P);
    w->pixels = floats(images * w->image);
    for (size_t i = 0; i < images; i++)
        order[i] = (int32_t)i;
    w->images = buf(images * w->image * sizeof(float), NULL);
    w->labels = buf(images * sizeof(int32_t), NULL);
    w->order = buf(images * sizeof *order, order);
    w->ctl = buf(sizeof ctl, &ctl);
    w->grad = buf(g->P * sizeof(float), NULL);
    w->stats = buf(g->S * sizeof(float), NULL);
    w->dx = buf(images * w->image * sizeof(float), NULL);
    w->point = buf(g->P * sizeof(float), NULL);
}

static inline void close_world(struct world *w)
{
    release(w->mark);
    mc_graph_free(w->g);
}

/* Fills parameters on the device: tensor t from stream from(graph, seed, t). */
static inline void fill(struct world *w, struct mc_buf *to, uint64_t seed,
                        uint64_t (*from)(const struct mc_graph *g, uint64_t seed, size_t t))
{
    memset(w->host, 0, w->g->P * sizeof *w->host);
    for (size_t t = 0; t < w->g->n_params; t++)
        fill_tensor(w->g, &w->g->params[t], from(w->g, seed, t), w->host);
    put(to, 0, w->host, w->g->P * sizeof(float));
}

static inline uint64_t by_number(const struct mc_graph *g, uint64_t seed, size_t t)
{
    (void)g;
    return seed * 1000 + t;
}

static inline uint64_t by_name(const struct mc_graph *g, uint64_t seed, size_t t)
{
    return stream_of(seed, "", g->params[t].tensor.name);
}

/* Runs images and labels of these streams through the network at w->point. Sets w->grad, w->stats
 * and w->dx. */
static inline void run(struct world *w, uint64_t images, uint64_t labels)
{
    const size_t n = w->images_n * w->image;
    int32_t *classes = room(w->images_n, sizeof *classes);
    float *stats = floats(w->g->S);
    const struct mc_source source = {
        .images = w->images, .pixels = MC_F32, .labels = w->labels, .order = w->order};

    for (size_t i = 0; i < n; i++)
        w->pixels[i] = unit(images, i);
    for (size_t i = 0; i < w->images_n; i++)
        classes[i] = (int32_t)(unit(labels, i) * (float)w->g->classes);
    for (size_t t = 0; t < w->g->n_stats; t++)
        if (strstr(w->g->stats[t].tensor.name, "var"))
            for (size_t i = 0; i < w->g->stats[t].count; i++)
                stats[w->g->stats[t].offset + i] = 1;
    put(w->stats, 0, stats, w->g->S * sizeof *stats);
    put(w->images, 0, w->pixels, n * sizeof(float));
    put(w->labels, 0, classes, w->images_n * sizeof *classes);
    be->load(w->plan, &source, w->ctl);
    be->forward(w->plan, MC_MODE_TRAIN, w->point, w->stats, NULL, w->ctl);
    be->backward(w->plan, w->point, w->grad);
    be->input_grad(w->plan, w->dx);
}

/* ---- results ---- */

struct measured {
    double diff, norm; /* squares */
};

/* The relative error, or the absolute one if the norm is below 1e-6. */
static inline double bounded(struct measured r)
{
    return sqrt(r.diff) / (sqrt(r.norm) < 1e-6 ? 1 : sqrt(r.norm));
}

#endif
