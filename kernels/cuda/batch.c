/* SPDX-License-Identifier: Apache-2.0
 *
 * Inputs and outputs of a plan: batches, pixels, attacks, metrics, taps, moments. */
#include "kernels/ball.h"
#include "kernels/cuda/cuda.h"

#include <assert.h>

static void gather_pixels(struct mc_plan *p, const struct mc_source *src, const struct mc_ctl *ctl,
                          const struct cuda_shape *s, int normalise, void *out)
{
    const struct mc_node *n = p->nodes[0].n;
    const struct cuda_pixels_out to = {*s, n->h, n->w, normalise, out};

    assert(!src->augment || (!(src->augment->contrast > 0) && !(src->augment->saturation > 0)) ||
           n->c == 1 || n->c == 3);
    cuda_read_pixels(p->be, src, ctl, &p->rows, &p->scaling, &to);
}

void cuda_load(struct mc_plan *p, const struct mc_source *src, const struct mc_buf *ctl)
{
    const struct cuda_shape s = cuda_node_shape(p, &p->nodes[0]);

    cuda_enter(p->be);
    gather_pixels(p, src, (const struct mc_ctl *)ctl->data, &s, 1, p->nodes[0].out);
}

/* ctl must be the load's, of which the plan has a copy. */
void cuda_pixels(struct mc_plan *p, const struct mc_source *src, const struct mc_buf *ctl,
                 struct mc_buf *out)
{
    const struct cuda_shape s = cuda_node_shape(p, &p->nodes[0]);
    struct cuda_shape first = cuda_channels_first(&s);

    (void)ctl;
    first.type = CUDA_F32;
    assert(out->bytes >= p->run.batch * first.image * sizeof(float));
    cuda_enter(p->be);
    gather_pixels(p, src, NULL, &first, 0, mc_floats(out));
}

void cuda_set_pixels(struct mc_plan *p, const struct mc_buf *pixels)
{
    const struct cuda_shape s = cuda_node_shape(p, &p->nodes[0]);

    cuda_enter(p->be);
    cuda_scale_pixels(p->be, &s, &p->scaling, mc_const_floats(pixels), p->nodes[0].out);
}

void cuda_input_grad(struct mc_plan *p, struct mc_buf *out)
{
    const struct cuda_shape s = cuda_node_shape(p, &p->nodes[0]);

    assert(p->run.input_grad);
    cuda_enter(p->be);
    cuda_unscale_grad(p->be, &s, &p->scaling, p->nodes[0].grad, p->pixels_scale, mc_floats(out));
}

/* ---- attacks --------------------------------------------------------------------------------- */

void cuda_attack_start(struct mc_plan *p, const struct mc_ball *b, uint32_t restart,
                       const struct mc_buf *clean, struct mc_buf *x)
{
    const size_t n = mc_run_image_floats(&p->run);

    assert(n / 4 < MC_BALL_RADIUS_BLOCK && restart < 256);
    cuda_enter(p->be);
    cuda_ball_start(p->be, p->run.batch, n, &p->rows, b, restart, mc_const_floats(clean),
                    mc_floats(x));
}

void cuda_attack_step(struct mc_plan *p, const struct mc_ball *b, const struct mc_buf *clean,
                      const struct mc_buf *grad, struct mc_buf *x)
{
    cuda_enter(p->be);
    cuda_ball_step(p->be, p->run.batch, mc_run_image_floats(&p->run), &p->rows, b,
                   mc_const_floats(clean), mc_const_floats(grad), mc_floats(x));
}

void cuda_attack_keep(struct mc_plan *p, int descend, const struct mc_buf *x,
                      struct mc_buf *best_loss, struct mc_buf *best)
{
    cuda_enter(p->be);
    cuda_ball_keep(p->be, p->run.batch, mc_run_image_floats(&p->run), &p->rows, descend,
                   mc_const_floats(x), mc_floats(best_loss), mc_floats(best));
}

/* ---- results --------------------------------------------------------------------------------- */

void cuda_metrics(struct mc_plan *p, struct mc_buf *acc)
{
    if (p->run.backward) { /* the next backward pass does not wait for it */
        cuda_use(p->be);
        cuda_begin_side(p->be);
    } else {
        cuda_enter(p->be);
    }
    cuda_add_metrics(p->be, &p->rows, mc_doubles(acc));
    cuda_end_side(p->be);
}

/* The shape of `count` channels of a node's output. */
static struct cuda_shape slice_shape(const struct mc_plan *p, const struct cuda_node *c,
                                     size_t count)
{
    struct cuda_shape s = cuda_node_shape(p, c);
    s.c = (uint32_t)count;
    return s;
}

static void copy_tap(struct mc_plan *p, const struct cuda_node *c, size_t first, size_t count,
                     struct mc_buf *out)
{
    const struct cuda_shape s = slice_shape(p, c, count);
    cuda_copy_out(p->be, &s, cuda_from_channel(p, c, c->out, first), mc_floats(out));
}

void cuda_output(struct mc_plan *p, enum mc_output kind, size_t index, struct mc_buf *out)
{
    const struct cuda_node *logits = &p->nodes[p->run.g->logits];
    const float *row = kind == MC_OUT_LOSS ? p->rows.loss : p->rows.correct;
    const struct mc_tap_request *t = &p->run.taps[index];

    cuda_enter(p->be);
    switch (kind) {
    case MC_OUT_LOGITS:
        copy_tap(p, logits, 0, (size_t)logits->n->c, out);
        break;
    case MC_OUT_LOSS:
    case MC_OUT_CORRECT:
        cuda_copy_rows(p->be, CUDA_F32, 1, p->run.batch, (struct cuda_from_rows){row, 0}, 0,
                       (struct cuda_to_rows){mc_floats(out), 0});
        break;
    case MC_OUT_TAP:
        copy_tap(p, &p->nodes[t->node], t->offset, t->count, out);
        break;
    }
}

/* About 64 MiB for both networks. */
size_t cuda_moments_images(size_t n, size_t k, size_t hw)
{
    const size_t limit = ((size_t)4 << 20) / (k * hw);
    return limit < 1 ? 1 : limit < n ? limit : n;
}

struct moments_room {
    double *part; /* for cuda_sums */
    double *sums; /* MC_MOMENTS_SIZE doubles, then twice `chunk` for activations */
    size_t chunk;
};

/* acc += the moments of x and y, which are summed first so that their bits do not depend on acc. */
static void add_moments(struct cuda *be, const struct cuda_shape *s, const void *x,
                        const struct cuda_shape *u, const void *y, const struct moments_room *room,
                        struct mc_buf *acc)
{
    const size_t k = s->c, size = MC_MOMENTS_SIZE(k), step = room->chunk / (k * s->hw);
    double *part = room->part, *sums = room->sums, *dx = sums + size, *dy = dx + room->chunk;

    assert(acc->bytes >= size * sizeof *sums);
    cuda_enter(be);
    cuda_check(be, cudaMemsetAsync(sums, 0, size * sizeof *sums, be->stream));
    cuda_sums(be, s, CUDA_SUM_SQUARES, x, NULL, NULL, part);
    cuda_sums_to_doubles(be, s, part, sums, sums + 2 * k);
    cuda_sums(be, u, CUDA_SUM_SQUARES, y, NULL, NULL, part);
    cuda_sums_to_doubles(be, u, part, sums + k, sums + 3 * k);
    for (size_t first = 0; first < s->n; first += step) {
        const size_t n = s->n - first < step ? s->n - first : step, columns = n * s->hw;
        cuda_to_doubles(be, s, first, n, x, dx);
        cuda_to_doubles(be, u, first, n, y, dy);
        const struct mc_product product = {.size = {k, k, columns},
                                           .a = {dx, columns},
                                           .b = {dy, columns, .transposed = 1},
                                           .beta = first ? 1.0f : 0.0f,
                                           .c = {sums + 4 * k, k}};
        cuda_gemm64(be, &product);
    }
    cuda_add_doubles(be, size, sums, mc_doubles(acc));
}

void cuda_tap_moments(struct mc_run *run, struct mc_run *with, size_t t, struct mc_buf *acc)
{
    const struct mc_plan *a = cuda_plan_of(run), *b = cuda_plan_of(with);
    const struct mc_tap_request *tap = &a->run.taps[t], *other = &b->run.taps[t];
    const struct cuda_node *x = &a->nodes[tap->node], *y = &b->nodes[other->node];
    const struct cuda_shape s = slice_shape(a, x, tap->count), u = slice_shape(b, y, tap->count);

    assert(tap->offset == other->offset && tap->count == other->count);
    assert(x->n->c == y->n->c && x->hw == y->hw);
    add_moments(a->be, &s, cuda_from_channel(a, x, x->out, tap->offset), &u,
                cuda_from_channel(b, y, y->out, tap->offset),
                &(struct moments_room){a->part, a->moments, a->chunk}, acc);
}

int cuda_moments_of(struct mc_backend *base, size_t n, size_t k, size_t hw, const struct mc_buf *a,
                    const struct mc_buf *b, struct mc_buf *acc, struct mc_error *err)
{
    struct cuda *be = cuda_of(base);
    const struct cuda_batch all = {.valid = (uint32_t)n};
    struct cuda_shape s = {.n = (uint32_t)n,
                           .c = (uint32_t)k,
                           .hw = (uint32_t)hw,
                           .image = (uint32_t)(k * hw),
                           .channel = (uint32_t)hw,
                           /* channels next to each other are read pixel by pixel */
                           .pixel = hw == 1 ? (uint32_t)k : 1,
                           .type = CUDA_F32};
    if (n > (size_t)INT32_MAX / (k * hw))
        return mc_fail(err, MC_EUSAGE, "joint moments of %zu numbers: must be at most %d",
                       n * k * hw, INT32_MAX);
    const size_t chunk = cuda_moments_images(n, k, hw) * k * hw, parts = 2 * k * cuda_sum_parts(&s);
    const size_t sums = MC_MOMENTS_SIZE(k) + 2 * chunk;
    void *room;
    int rc =
        cuda_alloc(be, sizeof all + (parts + sums) * sizeof(double), "joint moments", &room, err);

    if (rc)
        return rc;
    double *part = (double *)((unsigned char *)room + sizeof all);
    assert(a->bytes >= n * k * hw * sizeof(float) && b->bytes >= n * k * hw * sizeof(float));
    s.batch = (const struct cuda_batch *)room;
    cuda_send(be, room, &all, sizeof all);
    add_moments(be, &s, a->data, &s, b->data, &(struct moments_room){part, part + parts, chunk},
                acc);
    cuda_release(be, room);
    return 0;
}

void cuda_reestimate(struct mc_backend *be, const struct mc_graph *g, const struct mc_buf *acc,
                     struct mc_buf *stats)
{
    const double *a = (const double *)acc->data;
    float *s = mc_floats(stats);

    cuda_enter(cuda_of(be));
    for (int i = 0; i < g->n_nodes; i++) {
        const struct mc_node *n = &g->nodes[i];
        const size_t offset = n->running_mean.offset;
        if (n->running_mean.count)
            cuda_pool_moments(cuda_of(be), n->running_mean.count, (double)(n->h * n->w), a + offset,
                              a + g->S + offset, a + 2 * g->S, s + offset,
                              s + n->running_var.offset);
    }
}
