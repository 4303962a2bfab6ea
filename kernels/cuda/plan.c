/* SPDX-License-Identifier: Apache-2.0
 *
 * Making a plan: the layout of memory. A node has its own memory, except parts of a concatenation
 * and gradients that an addition passes on. */
#include "kernels/cuda/cuda.h"

/* The initial scale: float16's smallest number is 6e-8, and a batch's mean divides a gradient of 1
 * by the number of images. */
#define F16_LOSS_SCALE 1024

static int make_conv(struct mc_plan *p, struct cuda_node *c, struct mc_error *err)
{
    const struct mc_node *n = c->n;
    const struct cuda_node *in = &p->nodes[n->in[0]];
    const int back = p->backward && c->role->reach, data = back && in->role->need_grad;
    const int adds = mc_adds_gradient(p->g, p->roles, (int)(c - p->nodes));
    const struct cuda_conv_shape s = {
        .node = n->name,
        .type = p->type,
        .n = (int)p->batch,
        .ic = (int)in->stored,
        MC_CONV_SIZES(in->n, n),
        .needed = {[MC_PASS_FORWARD] = 1,
                   [MC_PASS_DATA] = data && !adds,
                   [CUDA_PASS_ADD] = data && adds,
                   [MC_PASS_WEIGHTS] = back},
    };
    return cuda_conv_new(p->be, &s, &c->conv, err);
}

/* ---- memory: counted with data NULL, then assigned ------------------------------------------- */

struct places {
    unsigned char *data;
    size_t at;
};

static void *place(struct places *m, size_t bytes)
{
    enum { ALIGN = 256 };
    void *p = m->data ? m->data + m->at : NULL;

    m->at += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return p;
}

static void place_node(struct mc_plan *p, struct cuda_node *c, struct places *m)
{
    const size_t channels = (size_t)c->n->c * sizeof(float);

    if (!c->role->live || c->n->op == MC_OP_LOSS)
        return;
    const int hidden = c->role->relu >= 0 || (c->role->done && c->n->op == MC_OP_ADD);

    if (c->n->op == MC_OP_FLATTEN && cuda_flat(p, &p->nodes[c->n->in[0]]))
        c->out = p->nodes[c->n->in[0]].out;
    else if (!c->whole && (!hidden || c->role->tapped)) /* else only the ReLU's output has memory */
        c->out = place(m, c->size * cuda_type_size(p->type));
    if (c->role->need_grad && c->role->relu < 0 && c->role->shares < 0 && !c->whole)
        c->grad = place(m, c->size * cuda_type_size(p->type));
    if (c->n->op == MC_OP_MAXPOOL && p->backward && c->role->reach) {
        const struct mc_window w = mc_window_of(p->nodes[c->n->in[0]].n, c->n);
        c->argmax = place(m, c->size * cuda_index_size(&w));
    }
    if (c->n->op == MC_OP_LAYERNORM) {
        c->norm.mean = place(m, p->batch * c->hw * sizeof(float));
        c->norm.inv = place(m, p->batch * c->hw * sizeof(float));
    }
    if (c->n->op == MC_OP_BATCHNORM) {
        float **vectors[] = {&c->norm.mean, &c->norm.scale, &c->norm.beta,
                             &c->norm.k1,   &c->norm.k2,    &c->norm.inv};
        for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
            *vectors[i] = place(m, channels);
        c->norm.delta = c->role->relu >= 0 ? p->nodes[c->role->relu].n->delta : -1.0f;
    }
}

/* Assign memory to nodes that use another node's, which is placed first. A concatenation's memory
 * may itself be an addition's. */
static void place_shared(struct mc_plan *p)
{
    for (int i = p->g->n_nodes - 1; i >= 0; i--)
        if (p->roles[i].shares >= 0) /* the addition's memory may itself be shared */
            p->nodes[i].grad = p->nodes[p->roles[i].shares].grad;
    for (struct cuda_node *c = p->nodes; c < p->nodes + p->g->n_nodes; c++) {
        if (!c->whole || !p->data)
            continue;
        c->out = cuda_from_channel(p, c->whole, c->whole->out, c->at);
        if (c->role->need_grad)
            c->grad = cuda_from_channel(p, c->whole, c->whole->grad, c->at);
    }
}

static void place_all(struct mc_plan *p, struct places *m)
{
    size_t work = 0, side = 0, parts = 0, moments = 0, channels = 1;

    p->chunk = 0;
    for (int i = 0; i < p->g->n_nodes; i++) {
        const struct cuda_node *c = &p->nodes[i];
        place_node(p, &p->nodes[i], m);
        if (c->conv && cuda_conv_work(c->conv, 0) > work)
            work = cuda_conv_work(c->conv, 0);
        if (c->conv && cuda_conv_work(c->conv, 1) > side)
            side = cuda_conv_work(c->conv, 1);
        if (c->role->live) {
            const struct cuda_shape s = cuda_node_shape(p, c);
            const size_t sums = s.c * cuda_sum_parts(&s), own = cuda_partial_size(&s);
            parts = sums > parts ? sums : parts;
            if (c->n->op == MC_OP_BATCHNORM || c->n->has_bias) {
                parts = own > parts ? own : parts;
                channels = s.c > channels ? s.c : channels;
            }
        }
    }
    place_shared(p);
    for (size_t t = 0; t < p->n_taps; t++) {
        const struct mc_tap_request *tap = &p->taps[t];
        const size_t hw = p->nodes[tap->node].hw;
        const size_t chunk = cuda_moments_images(p->batch, tap->count, hw) * tap->count * hw;
        const size_t size = MC_MOMENTS_SIZE(tap->count);
        p->chunk = chunk > p->chunk ? chunk : p->chunk;
        moments = size > moments ? size : moments;
    }
    p->copies.weight = place(m, p->copies.n * cuda_type_size(p->type));
    p->copies.grad = place(m, p->backward ? p->copies.convs * cuda_type_size(p->type) : 0);
    p->copies.param = place(m, p->copies.n * sizeof *p->copies.param);
    cuda_copies_place(p);
    p->work = place(m, work);
    p->side_work = place(m, side);
    p->part = place(m, parts * 2 * sizeof *p->part);
    p->partial.part = p->part;
    p->partial.arrived = place(m, channels * sizeof *p->partial.arrived);
    p->moments = place(m, (moments + 2 * p->chunk) * sizeof *p->moments);
    if (p->type == CUDA_F16)
        p->loss_scale = place(m, sizeof *p->loss_scale);
    p->rows.batch = place(m, sizeof *p->rows.batch);
    p->rows.labels = place(m, p->batch * sizeof *p->rows.labels);
    p->rows.samples = place(m, p->batch * sizeof *p->rows.samples);
    p->rows.ids = place(m, p->batch * sizeof *p->rows.ids);
    p->rows.loss = place(m, p->batch * sizeof *p->rows.loss);
    p->rows.correct = place(m, p->batch * sizeof *p->rows.correct);
    p->rows.head = place(m, p->batch * sizeof *p->rows.head);
    p->scaling.byte = place(m, (MC_MAX_CHANNELS_IN + 1) * 256 * sizeof(float));
}

/* The scaled values of pixels, computed as on the CPU. */
static void fill_scaling(struct mc_plan *p)
{
    const struct mc_node *n = p->nodes[0].n;
    float byte[MC_MAX_CHANNELS_IN + 1][256] = {{0}};

    for (int c = 0; c < n->c && c < MC_MAX_CHANNELS_IN; c++) {
        const double mean = (double)n->mean[c], std = (double)n->std[c];
        for (int v = 0; v < 256; v++)
            byte[c][v] = (float)((v / 255.0 - mean) / std);
        p->scaling.scale[c] = (float)(1 / std);
        p->scaling.shift[c] = (float)(-mean / std);
        p->scaling.std[c] = n->std[c];
    }
    for (int v = 0; v < 256; v++)
        byte[MC_MAX_CHANNELS_IN][v] = (float)(v / 255.0);
    cuda_send(p->be, (void *)(uintptr_t)p->scaling.byte, byte, sizeof byte);
}

/* Only a convolution can accept extra channels: its weights for them are 0. */
static uint32_t stored_channels(const struct mc_plan *p, int node)
{
    const int c = p->nodes[node].n->c;

    if (node)
        return (uint32_t)c;
    for (int i = 0; i < p->g->n_nodes; i++)
        for (int k = 0; p->roles[i].live && k < p->g->nodes[i].n_in; k++)
            if (p->g->nodes[i].in[k] == 0 &&
                (p->g->nodes[i].op != MC_OP_CONV || p->g->nodes[i].groups != 1))
                return (uint32_t)c;
    return (uint32_t)cuda_pixel_channels(p->type, c);
}

/* Sizes of a node. Kernels count in 32 bits, cuDNN in 31. */
static int measure(struct mc_plan *p, int node, struct mc_error *err)
{
    struct cuda_node *c = &p->nodes[node];

    c->hw = (uint32_t)(c->n->h * c->n->w);
    c->stored = stored_channels(p, node);
    c->size = p->batch * c->stored * c->hw;
    if (c->role->live && c->size > INT32_MAX)
        return mc_fail(err, MC_EUSAGE,
                       "%s: %zu images need %zu numbers (at most %d: use a smaller batch)",
                       c->n->name, p->batch, c->size, INT32_MAX);
    return 0;
}

/* A batch norm can write anywhere. If only a concatenation reads its output, it writes there. */
static void find_whole(struct mc_plan *p, struct cuda_node *whole)
{
    size_t at = 0;

    for (int k = 0; k < whole->n->n_in; k++) {
        struct cuda_node *c = &p->nodes[whole->n->in[k]];
        const int by_norm = c->n->op == MC_OP_RELU
                                ? c->role->done
                                : c->n->op == MC_OP_BATCHNORM && c->role->relu < 0;
        if (by_norm && c->role->users == 1) {
            c->whole = whole;
            c->at = at;
        }
        at += (size_t)c->n->c;
    }
}

int cuda_plan_place(struct mc_plan *p, struct mc_error *err)
{
    struct places m = {0};
    void *data = NULL;
    int rc = 0;

    p->type = cuda_type_of(p->be);
    for (int i = 0; i < p->g->n_nodes; i++) {
        struct cuda_node *c = &p->nodes[i];
        if ((rc = measure(p, i, err)))
            return rc;
        if (c->role->live && c->n->op == MC_OP_CONV && (rc = make_conv(p, c, err)))
            return rc;
    }
    for (int i = 0; i < p->g->n_nodes; i++)
        if (p->roles[i].live && p->nodes[i].n->op == MC_OP_CONCAT)
            find_whole(p, &p->nodes[i]);
    cuda_copies_place(p);
    place_all(p, &m);
    p->bytes = m.at;
    rc = cuda_alloc(p->be, p->bytes, "a plan", &data, err);
    if (rc)
        return rc;
    p->data = data;
    m = (struct places){p->data, 0};
    place_all(p, &m);
    fill_scaling(p);
    if (p->loss_scale) {
        const struct cuda_loss_scale first = {.scale = F16_LOSS_SCALE, .pixels = F16_LOSS_SCALE};
        cuda_send(p->be, p->loss_scale, &first, sizeof first);
        p->state = (struct mc_buf){p->loss_scale, 2 * sizeof(float)};
    }
    return cuda_copies_fill(p, err);
}

void cuda_plan_release(struct mc_plan *p)
{
    cuda_release(p->be, p->data);
}

size_t cuda_plan_bytes(const struct mc_plan *p)
{
    return p->bytes;
}

struct mc_buf *cuda_plan_state(struct mc_plan *p, size_t *n)
{
    *n = p->state.bytes / sizeof(float);
    return *n ? &p->state : NULL;
}
