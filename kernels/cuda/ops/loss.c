/* SPDX-License-Identifier: Apache-2.0
 *
 * Loss heads. */
#include "kernels/cuda/cuda.h"

/* Its values are in the plan's rows, so it needs no output. */
static int loss_make(struct mc_plan *p, struct cuda_node *c, struct mc_error *err)
{
    (void)err;
    c->view = &p->nodes[c->n->in[0]];
    return 0;
}

static struct cuda_head head_of(const struct cuda_step *s)
{
    return (struct cuda_head){.type = s->p->type,
                              .n = s->p->run.batch,
                              .classes = (size_t)s->in->n->c,
                              .logits = s->in->out,
                              .weight = (double)s->c->n->loss_weight};
}

static void loss_forward(const struct cuda_step *s)
{
    struct mc_plan *p = s->p;
    const struct cuda_head head = head_of(s);

    cuda_loss(s->be, &head, &p->rows, mc_is_main(p->run.g, s->c->n), p->partial.arrived);
}

static void loss_backward(const struct cuda_step *s)
{
    const struct cuda_head head = head_of(s);

    cuda_loss_back(s->be, &head, &s->p->rows, s->p->scale, s->adds, s->in->grad);
}

const struct cuda_op cuda_op_loss = {
    .forward = loss_forward, .backward = loss_backward, .make = loss_make};
