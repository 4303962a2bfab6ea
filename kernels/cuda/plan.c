/* SPDX-License-Identifier: Apache-2.0
 *
 * Making a plan: the layout of memory. A node has its own memory, except parts of a concatenation
 * and gradients that an addition passes on. */
#include "kernels/cuda/cuda.h"
#include "kernels/scaling.h"

/* The initial scale: float16's smallest number is 6e-8, and a batch's mean divides a gradient of 1
 * by the number of images. */
#define F16_LOSS_SCALE 1024

void *cuda_place(struct cuda_places *m, size_t bytes)
{
    enum { ALIGN = 256 };
    void *p = m->data ? m->data + m->bytes : NULL;

    m->bytes += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return p;
}

void cuda_place_partial(const struct mc_plan *p, const struct cuda_node *c, struct cuda_places *m)
{
    const struct cuda_shape s = cuda_node_shape(p, c);

    cuda_raise(&m->parts, cuda_partial_size(&s));
    cuda_raise(&m->channels, s.c);
}

static void place_node(struct mc_plan *p, struct cuda_node *c, struct cuda_places *m)
{
    const int hidden = c->role->relu >= 0 || (c->role->norm && c->n->op == MC_OP_ADD);
    const struct cuda_shape s = cuda_node_shape(p, c);

    if (c->view)
        c->out = c->view->out;
    else if (!c->whole && (!hidden || c->role->tapped)) /* else only the ReLU's output has memory */
        c->out = cuda_place(m, c->size * cuda_type_size(p->type));
    if (c->role->need_grad && c->role->relu < 0 && c->role->shares < 0 && !c->whole)
        c->grad = cuda_place(m, c->size * cuda_type_size(p->type));
    if (cuda_ops[c->n->op]->place)
        cuda_ops[c->n->op]->place(p, c, m);
    cuda_raise(&m->parts, s.c * cuda_sum_parts(&s));
}

/* Assign memory to nodes that use another node's, which is placed first. A concatenation's memory
 * may itself be an addition's. */
static void place_shared(struct mc_plan *p)
{
    for (int i = p->run.g->n_nodes - 1; i >= 0; i--)
        if (p->run.roles[i].shares >= 0) /* the addition's memory may itself be shared */
            p->nodes[i].grad = p->nodes[p->run.roles[i].shares].grad;
    for (struct cuda_node *c = p->nodes; c < p->nodes + p->run.g->n_nodes; c++) {
        if (!c->whole || !p->data)
            continue;
        c->out = cuda_from_channel(p, c->whole, c->whole->out, c->first_channel);
        if (c->role->need_grad)
            c->grad = cuda_from_channel(p, c->whole, c->whole->grad, c->first_channel);
    }
}

static void place_all(struct mc_plan *p, struct cuda_places *m)
{
    size_t moments = 0;

    m->channels = 1;
    p->chunk = 0;
    for (int i = 0; i < p->run.g->n_nodes; i++)
        if (p->run.roles[i].live)
            place_node(p, &p->nodes[i], m);
    place_shared(p);
    for (size_t t = 0; t < p->run.n_taps; t++) {
        const struct mc_tap_request *tap = &p->run.taps[t];
        const size_t hw = p->nodes[tap->node].hw;
        const size_t chunk = cuda_moments_images(p->run.batch, tap->count, hw) * tap->count * hw;
        cuda_raise(&p->chunk, chunk);
        cuda_raise(&moments, MC_MOMENTS_SIZE(tap->count));
    }
    p->copies.weight = cuda_place(m, p->copies.n * cuda_type_size(p->type));
    p->copies.grad = cuda_place(m, p->run.backward ? p->copies.convs * cuda_type_size(p->type) : 0);
    p->copies.param = cuda_place(m, p->copies.n * sizeof *p->copies.param);
    cuda_copies_place(p);
    p->work = cuda_place(m, m->work);
    p->side_work = cuda_place(m, m->side_work);
    p->part = cuda_place(m, m->parts * 2 * sizeof *p->part);
    p->partial.part = p->part;
    p->partial.arrived = cuda_place(m, m->channels * sizeof *p->partial.arrived);
    p->moments = cuda_place(m, (moments + 2 * p->chunk) * sizeof *p->moments);
    if (p->type == CUDA_F16)
        p->loss_scale = cuda_place(m, sizeof *p->loss_scale);
    p->rows.batch = cuda_place(m, sizeof *p->rows.batch);
    p->rows.labels = cuda_place(m, p->run.batch * sizeof *p->rows.labels);
    p->rows.samples = cuda_place(m, p->run.batch * sizeof *p->rows.samples);
    p->rows.ids = cuda_place(m, p->run.batch * sizeof *p->rows.ids);
    p->rows.loss = cuda_place(m, p->run.batch * sizeof *p->rows.loss);
    p->rows.correct = cuda_place(m, p->run.batch * sizeof *p->rows.correct);
    p->rows.head = cuda_place(m, p->run.batch * sizeof *p->rows.head);
    p->scaling.byte = cuda_place(m, MC_SCALINGS * 256 * sizeof(float));
}

static void fill_scaling(struct mc_plan *p)
{
    const struct mc_node *n = p->nodes[0].n;
    struct mc_scaling s;

    mc_scaling_of(n, &s);
    memcpy(p->scaling.scale, s.scale, sizeof p->scaling.scale);
    memcpy(p->scaling.shift, s.shift, sizeof p->scaling.shift);
    memcpy(p->scaling.std, n->std, sizeof p->scaling.std);
    cuda_send(p->be, (void *)(uintptr_t)p->scaling.byte, s.byte, sizeof s.byte);
}

/* Only a convolution can accept extra channels: its weights for them are 0. */
static uint32_t stored_channels(const struct mc_plan *p, int node)
{
    const struct mc_graph *g = p->run.g;
    const int c = g->nodes[node].c;

    if (node)
        return (uint32_t)c;
    for (const struct mc_node *n = g->nodes; n < g->nodes + g->n_nodes; n++)
        for (int k = 0; p->run.roles[n - g->nodes].live && k < n->n_in; k++)
            if (n->in[k] == 0 && (n->op != MC_OP_CONV || n->groups != 1))
                return (uint32_t)c;
    return (uint32_t)cuda_pixel_channels(p->type, c);
}

/* Sizes of a node. Kernels count in 32 bits, cuDNN in 31. */
static int measure(struct mc_plan *p, int node, struct mc_error *err)
{
    struct cuda_node *c = &p->nodes[node];

    c->hw = (uint32_t)(c->n->h * c->n->w);
    c->stored = stored_channels(p, node);
    c->size = p->run.batch * c->stored * c->hw;
    if (c->role->live && c->size > INT32_MAX)
        return mc_fail(err, MC_EUSAGE,
                       "%s: %zu images need %zu numbers (at most %d: use a smaller batch)",
                       c->n->name, p->run.batch, c->size, INT32_MAX);
    return 0;
}

int cuda_plan_place(struct mc_plan *p, struct mc_error *err)
{
    struct cuda_places m = {0};
    void *data = NULL;
    int rc = 0;

    p->type = cuda_type_of(p->be);
    for (int i = 0; i < p->run.g->n_nodes; i++) {
        struct cuda_node *c = &p->nodes[i];
        const struct cuda_op *op = cuda_ops[c->n->op];
        if ((rc = measure(p, i, err)) || (c->role->live && op->make && (rc = op->make(p, c, err))))
            return rc;
    }
    cuda_copies_place(p);
    place_all(p, &m);
    p->bytes = m.bytes;
    rc = cuda_alloc(p->be, p->bytes, "a plan", &data, err);
    if (rc)
        return rc;
    p->data = data;
    m = (struct cuda_places){.data = p->data};
    place_all(p, &m);
    fill_scaling(p);
    if (p->loss_scale) {
        const struct cuda_loss_scale first = {.scale = F16_LOSS_SCALE, .pixels = F16_LOSS_SCALE};
        cuda_send(p->be, p->loss_scale, &first, sizeof first);
        p->state = (struct mc_buf){p->loss_scale, 2 * sizeof(float)};
    }
    return cuda_copies_fill(p, err);
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
