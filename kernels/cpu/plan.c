/* SPDX-License-Identifier: Apache-2.0
 *
 * Making a plan: layouts, the lifetime of each region of memory, and the primitives. */
#include "kernels/cpu/cpu.h"
#include "libcommon/graph/op.h"

#include <string.h>

static void shape_nodes(struct mc_plan *p)
{
    const size_t b = (size_t)p->be->k->block;
    int flat = 0;

    p->nodes[0].plain = 1;
    for (size_t t = 0; t < p->run.n_taps; t++)
        if (p->run.taps[t].node == 0) /* moments need blocks */
            p->nodes[0].plain = 0;
    for (int i = 0; i < p->run.g->n_nodes; i++)
        for (int k = 0; p->nodes[i].role->live && k < p->nodes[i].n->n_in; k++)
            if (p->nodes[i].n->in[k] == 0 && p->nodes[i].n->op == MC_OP_FLATTEN)
                flat = 1;
            else if (p->nodes[i].n->in[k] == 0 && p->nodes[i].n->op != MC_OP_CONV)
                p->nodes[0].plain = 0;
    /* oneDNN has only reference code for the gradient of a few plain channels; a flatten needs the
     * pixels' layout */
    p->nodes[0].plain_grad = flat && p->nodes[0].plain;
    for (int i = 0; i < p->run.g->n_nodes; i++) {
        struct cpu_node *c = &p->nodes[i];
        c->cb = ((size_t)c->n->c + b - 1) / b;
        c->hw = (size_t)c->n->h * (size_t)c->n->w;
        c->image = (c->plain ? (size_t)c->n->c : c->cb * b) * c->hw;
        c->size = p->run.batch * c->image;
        c->grad_image = (c->plain_grad ? (size_t)c->n->c : c->cb * b) * c->hw;
        c->grad_size = p->run.batch * c->grad_image;
    }
}

/* Return whether a flatten moves nothing. */
static int flatten_is_view(const struct mc_plan *p, int i)
{
    const struct cpu_node *c = &p->nodes[i], *in = &p->nodes[c->n->in[0]];
    return c->n->op == MC_OP_FLATTEN && c->image == in->image && (in->plain || in->hw == 1);
}

/* Return whether node i's only user may overwrite its output. */
static int exclusive(const struct mc_plan *p, int i)
{
    while (p->nodes[i].role->users == 1 && !p->nodes[i].role->kept) {
        if (!flatten_is_view(p, i))
            return 1;
        i = p->nodes[i].n->in[0];
    }
    return 0;
}

/* The time when node i runs: that of the batch norm that computes it, if one does. */
static size_t time_of(const struct cpu_node *c, size_t i)
{
    return c->role->norm ? (size_t)c->role->norm : i;
}

/* Return whether the node's backward reads its input's output. A batch norm that computes the node
 * reads an addition's inputs, but no ReLU's. */
static int backward_reads_input(const struct cpu_node *c)
{
    return c->role->reach &&
           (c->role->norm ? c->n->op == MC_OP_ADD : mc_op_has(c->n, MC_OP_READS_INPUT));
}

/* The input whose memory node i's output reuses, or -1. */
static int output_in_place(const struct mc_plan *p, int i)
{
    const struct cpu_node *c = &p->nodes[i];
    if (flatten_is_view(p, i))
        return c->n->in[0];
    for (int k = 0; c->n->op == MC_OP_ADD && k < c->n->n_in; k++)
        if (exclusive(p, c->n->in[k]))
            return c->n->in[k];
    if (mc_op_has(c->n, MC_OP_IN_PLACE) && exclusive(p, c->n->in[0]) &&
        !(p->run.backward && mc_op_has(c->n, MC_OP_READS_INPUT)))
        return c->n->in[0];
    return -1;
}

/* The user whose gradient has the memory that node i's gradient reuses, or -1: an addition that
 * shares its gradient, or i's only user if it is elementwise. */
static int grad_in_place(const struct mc_plan *p, int i)
{
    const struct mc_role *r = p->nodes[i].role;

    if (r->shares >= 0)
        return r->shares;
    /* a batch norm's gradient is that of the addition after it, unless the other input shares it */
    if (r->sum >= 0)
        return p->nodes[r->other].role->shares == r->sum ? -1 : r->sum;
    if (r->loss_users != 1)
        return -1;
    for (int j = i + 1; j < p->run.g->n_nodes; j++) {
        const struct mc_node *u = p->nodes[j].n;
        for (int k = 0; p->nodes[j].role->reach && k < u->n_in; k++) {
            if (u->in[k] != i)
                continue;
            if (mc_op_has(u, MC_OP_IN_PLACE) || flatten_is_view(p, j))
                return j;
            return -1;
        }
    }
    return -1;
}

static void place_outputs(struct mc_plan *p)
{
    const size_t n = (size_t)p->run.g->n_nodes, end = 2 * n + 1;
    struct cpu_arena *a = &p->arena;

    for (size_t i = 0; i < n; i++) {
        struct cpu_node *c = &p->nodes[i];
        if (!c->role->live || c->n->op == MC_OP_LOSS)
            continue;
        const size_t born = time_of(c, i);
        const int hidden = c->role->relu >= 0 || (c->role->norm && c->n->op == MC_OP_ADD);
        if (hidden && !c->role->tapped)
            continue; /* only the ReLU's output has memory */
        /* a batch norm that computes this node may write over its own input, but only once */
        int from = output_in_place(p, (int)born);
        if (c->role->norm && !hidden && p->nodes[c->n->in[0]].role->tapped)
            from = -1;
        if (from >= 0)
            c->out_region = p->nodes[from].out_region;
        else
            c->out_region = cpu_arena_add(a, c->size * sizeof(float), born, i);
        cpu_arena_extend(a, c->out_region, born, c->role->kept ? end : i);
    }
    for (size_t j = 0; j < n; j++) {
        const struct cpu_node *u = &p->nodes[j];
        for (int k = 0; u->role->live && k < u->n->n_in; k++) {
            const struct cpu_node *in = &p->nodes[u->n->in[k]];
            const size_t last =
                p->run.backward && backward_reads_input(u) ? 2 * n - time_of(u, j) : j;
            cpu_arena_extend(a, in->out_region, last, last);
        }
    }
}

static void place_gradients(struct mc_plan *p)
{
    const size_t n = (size_t)p->run.g->n_nodes;
    struct cpu_arena *a = &p->arena;

    for (size_t i = n; p->run.backward && i-- > 0;) {
        struct cpu_node *c = &p->nodes[i];
        if (!c->role->need_grad)
            continue;
        const int user = grad_in_place(p, (int)i);
        if (user >= 0) {
            c->grad_region = p->nodes[user].grad_region;
        } else {
            size_t last = i;
            for (size_t j = i + 1; j < n; j++)
                for (int k = 0; p->nodes[j].role->reach && k < p->nodes[j].n->n_in; k++)
                    if (p->nodes[j].n->in[k] == (int)i)
                        last = j;
            /* a batch norm with its ReLU runs backward at its own, later time */
            c->grad_region =
                cpu_arena_add(a, c->grad_size * sizeof(float), 2 * n - last, 2 * n - i);
        }
        cpu_arena_extend(a, c->grad_region, 2 * n - i, i == 0 ? 2 * n + 1 : 2 * n - time_of(c, i));
    }
}

/* Floats of the largest gradient that the node's backward may write before it is added. */
static size_t tmp_size(const struct mc_plan *p, const struct cpu_node *c)
{
    size_t size = 0;

    if (!p->run.backward || !c->role->reach || c->adds)
        return 0;
    for (int k = 0; k < c->n->n_in; k++) {
        const struct cpu_node *in = &p->nodes[c->n->in[k]];
        if (in->role->need_grad && in->role->loss_users > 1 && in->grad_size > size)
            size = in->grad_size;
    }
    return size;
}

/* Scratch: oneDNN's, and the partial sums of batch norm and of biases. */
static int place_work(struct mc_plan *p, struct mc_error *err)
{
    const size_t b = (size_t)p->be->k->block, end = 2 * (size_t)p->run.g->n_nodes + 1;
    /* load stores each pixel's source index here */
    size_t bytes = p->run.batch * p->nodes[0].hw * sizeof(int32_t), moments = 0;
    size_t tmp = 0;

    for (int i = 0; i < p->run.g->n_nodes; i++) {
        struct cpu_node *c = &p->nodes[i];
        if (!c->role->live)
            continue;
        const struct cpu_op *op = cpu_ops[c->n->op];
        int rc = op->place ? op->place(p, c, err) : 0;
        if (rc)
            return rc;
        c->adds = op->adds || (c->conv && cpu_conv_adds(c->conv));
        size_t needed = 2 * p->run.batch * c->cb * b * sizeof(float);
        if (c->conv && cpu_conv_work(c->conv) > needed)
            needed = cpu_conv_work(c->conv);
        bytes = needed > bytes ? needed : bytes;
        tmp = tmp_size(p, c) > tmp ? tmp_size(p, c) : tmp;
    }
    if (tmp)
        p->tmp_region = cpu_arena_add(&p->arena, tmp * sizeof(float), 0, end);
    p->work_region = cpu_arena_add(&p->arena, bytes, 0, end);
    p->row_region = cpu_arena_add(&p->arena, 5 * p->run.batch * sizeof(float), 0, end);
    for (size_t t = 0; t < p->run.n_taps; t++) {
        const size_t hw = p->nodes[p->run.taps[t].node].hw;
        const size_t tap = cpu_moments_work(p->run.taps[t].count, p->run.batch * hw);
        moments = tap > moments ? tap : moments;
    }
    if (moments)
        p->moments_region = cpu_arena_add(&p->arena, moments * sizeof(double), 0, end);
    return 0;
}

/* The convolution that runs before every other node that reads the output of node i, or NULL. */
static struct cpu_node *first_reader(const struct mc_plan *p, int i)
{
    struct cpu_node *first = NULL;
    size_t first_time = 2 * (size_t)p->run.g->n_nodes;

    for (int j = i + 1; j < p->run.g->n_nodes; j++)
        for (int k = 0; p->nodes[j].role->live && k < p->nodes[j].n->n_in; k++)
            if (p->nodes[j].n->in[k] == i && time_of(&p->nodes[j], (size_t)j) < first_time) {
                first = &p->nodes[j];
                first_time = time_of(first, (size_t)j);
            }
    return first && first->conv ? first : NULL;
}

/* The place of a batch norm's kernel that the convolution's pass computes, or NULL. */
static struct cpu_fused *fused_in(const struct cpu_node *c, enum mc_pass pass)
{
    struct cpu_native *native = cpu_conv_native(c->conv, pass);
    return cpu_native_fuses(native, pass) ? &native->wino.norm : NULL;
}

/* Let the convolution after a batch norm compute it and the sums of its gradient, and the
 * convolution before it the gradient of its input. The pixels are then in the cache. */
static void fuse_norms(struct mc_plan *p)
{
    const size_t block = (size_t)p->be->k->block, end = 2 * (size_t)p->run.g->n_nodes;

    for (int i = 1; i < p->run.g->n_nodes; i++) {
        struct cpu_node *c = &p->nodes[i], *in = &p->nodes[c->n->in[0]];
        const struct mc_role *r = c->role;
        if (!r->live || c->n->op != MC_OP_BATCHNORM)
            continue;
        const int y = r->relu >= 0 ? r->relu : i, pre = r->sum >= 0 ? r->sum : i;
        /* a tap on the ReLU's input needs it in memory */
        struct cpu_node *next = pre != y && p->nodes[pre].role->tapped ? NULL : first_reader(p, y);
        const size_t time = next ? (size_t)(next - p->nodes) : 0;
        if (next && (c->fused[MC_PASS_FORWARD] = fused_in(next, MC_PASS_FORWARD))) {
            p->run.roles[y].ready = (int)time;
            cpu_arena_extend(&p->arena, in->out_region, time, time);
            if (r->sum >= 0)
                cpu_arena_extend(&p->arena, p->nodes[r->other].out_region, time, time);
        }
        /* its gradient is complete after the last node that adds to it */
        if (next && (c->fused[MC_PASS_DATA] = fused_in(next, MC_PASS_DATA)))
            c->part_region =
                cpu_arena_add(&p->arena, 2 * p->run.batch * c->cb * block * sizeof(float),
                              end - time, end - (size_t)i);
        /* no other node runs between them; in's weights, which read its output, come before the
         * gradient of in's input, which may be in the same memory */
        if (in == c - 1 && in->conv && in->role->need_grad && in->role->loss_users == 1 &&
            (c->fused[MC_PASS_WEIGHTS] = fused_in(in, MC_PASS_WEIGHTS))) {
            const size_t back = end - (size_t)(in - p->nodes);
            cpu_arena_extend(&p->arena, p->nodes[r->sum >= 0 ? r->sum : y].grad_region, back, back);
        }
    }
}

static void resolve(struct mc_plan *p)
{
    for (int i = 0; i < p->run.g->n_nodes; i++) {
        struct cpu_node *c = &p->nodes[i];
        c->out = cpu_arena_at(&p->arena, c->out_region);
        c->grad = cpu_arena_at(&p->arena, c->grad_region);
        c->part = cpu_arena_at(&p->arena, c->part_region);
        c->extra = cpu_arena_at(&p->arena, c->extra_region);
    }
    p->work = cpu_arena_at(&p->arena, p->work_region);
    p->tmp = cpu_arena_at(&p->arena, p->tmp_region);
    p->loss = cpu_arena_at(&p->arena, p->row_region);
    p->correct = p->loss + p->run.batch;
    p->labels = (int32_t *)(void *)(p->correct + p->run.batch);
    p->samples = p->labels + p->run.batch;
    p->ids = (uint32_t *)(void *)(p->samples + p->run.batch);
    if ((p->moments = cpu_arena_at(&p->arena, p->moments_region)))
        memset(p->moments, 0, p->arena.regions[p->moments_region].bytes);
}

int cpu_plan_place(struct mc_plan *p, struct mc_error *err)
{
    shape_nodes(p);
    place_outputs(p);
    place_gradients(p);
    int rc = place_work(p, err);
    if (!rc)
        fuse_norms(p);
    if (!rc)
        rc = cpu_arena_place(&p->arena, err);
    if (!rc)
        resolve(p);
    return rc;
}

size_t cpu_plan_bytes(const struct mc_plan *p)
{
    return p->arena.bytes;
}

struct mc_buf *cpu_plan_state(struct mc_plan *p, size_t *n)
{
    (void)p;
    *n = 0;
    return NULL;
}
