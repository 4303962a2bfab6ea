/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations on several inputs. */
#include "kernels/cuda/cuda.h"

static void add_forward(const struct cuda_step *s)
{
    const struct cuda_node *nodes = s->p->nodes;
    const int *in = s->c->n->in;
    void *y = s->c->out;

    cuda_add(s->be, s->p->type, s->c->size, nodes[in[0]].out, nodes[in[1]].out, y);
    for (int k = 2; k < s->c->n->n_in; k++)
        cuda_add(s->be, s->p->type, s->c->size, y, nodes[in[k]].out, y);
}

static void add_backward(const struct cuda_step *s)
{
    cuda_move(s->p, s->c->size, s->c->grad, s->adds, s->in->grad);
}

/* `from` times the node's other input. */
static void mul(const struct cuda_step *s)
{
    const struct cuda_node *other = &s->p->nodes[s->c->n->in[!s->input]];
    const struct cuda_shape o = cuda_node_shape(s->p, other);

    if (s->in->hw < s->c->hw)
        cuda_dots(s->be, &s->y, other->out, s->from, &s->x, s->adds, s->to);
    else
        cuda_mul(s->be, &s->y, s->from, &o, other->out, NULL, s->adds, s->to);
}

/* A batch norm can write anywhere. If only a concatenation reads its output, it writes there. */
static int concat_make(struct mc_plan *p, struct cuda_node *whole, struct mc_error *err)
{
    size_t channel = 0;

    (void)err;
    for (int k = 0; k < whole->n->n_in; k++) {
        struct cuda_node *c = &p->nodes[whole->n->in[k]];
        const int by_norm = c->n->op == MC_OP_BATCHNORM ? c->role->relu < 0 : c->role->norm;
        if (by_norm && c->role->users == 1) {
            c->whole = whole;
            c->first_channel = channel;
        }
        channel += (size_t)c->n->c;
    }
    return 0;
}

/* Copy rows of an image's channels, or of a pixel's, from or to channel first_channel of the
 * concatenation. */
static void copy_channels(const struct cuda_step *s, const struct cuda_node *part,
                          size_t first_channel, int backward)
{
    const struct mc_plan *p = s->p;
    const struct cuda_node *c = s->c;
    const size_t each = p->type == CUDA_F32 ? c->hw : 1, rows = p->run.batch * (c->hw / each);
    const size_t count = part->stored * each, row = c->stored * each;
    void *whole = cuda_from_channel(p, c, backward ? c->grad : c->out, first_channel);

    if (part->whole) /* already written into the concatenation */
        return;
    if (backward)
        cuda_copy_rows(s->be, p->type, rows, count, (struct cuda_from_rows){whole, row}, s->adds,
                       (struct cuda_to_rows){part->grad, count});
    else
        cuda_copy_rows(s->be, p->type, rows, count, (struct cuda_from_rows){part->out, count}, 0,
                       (struct cuda_to_rows){whole, row});
}

static void concat_forward(const struct cuda_step *s)
{
    size_t channel = 0;

    for (int k = 0; k < s->c->n->n_in; k++) {
        const struct cuda_node *part = &s->p->nodes[s->c->n->in[k]];
        copy_channels(s, part, channel, 0);
        channel += (size_t)part->n->c;
    }
}

static void concat_backward(const struct cuda_step *s)
{
    size_t channel = 0;

    for (int k = 0; k < s->input; k++)
        channel += (size_t)s->p->nodes[s->c->n->in[k]].n->c;
    copy_channels(s, s->in, channel, 1);
}

const struct cuda_op cuda_op_add = {.forward = add_forward, .backward = add_backward};
const struct cuda_op cuda_op_mul = {.forward = mul, .backward = mul};
const struct cuda_op cuda_op_concat = {
    .forward = concat_forward, .backward = concat_backward, .make = concat_make};
