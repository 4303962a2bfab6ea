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

static void loss_forward(const struct cuda_step *s)
{
    struct mc_plan *p = s->p;

    cuda_loss(s->be, p->type, p->run.batch, (size_t)s->in->n->c, s->in->out, &p->rows,
              mc_is_main(p->run.g, s->c->n), (double)s->c->n->loss_weight, p->partial.arrived);
}

static void loss_backward(const struct cuda_step *s)
{
    const struct mc_plan *p = s->p;

    cuda_loss_back(s->be, p->type, p->run.batch, (size_t)s->in->n->c, s->in->out, &p->rows,
                   (double)s->c->n->loss_weight, p->scale, s->adds, s->in->grad);
}

const struct cuda_op cuda_op_loss = {
    .forward = loss_forward, .backward = loss_backward, .make = loss_make};
