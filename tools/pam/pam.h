/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation: the permutation of the second network and the curve between
 * the two learned in turn (Tatro et al. 2020, section 4 and appendix E). An objective of the one
 * training loop (tools/train/train.h): each outer iteration is a permutation step of so many epochs
 * and then a curve step, and the loop's epochs are all of them one after another.
 *
 *     r(t) = (1-t) a + t P b + 2t(1-t) offset
 *
 * is the quadratic Bezier curve whose control point is the offset from the midpoint of a and P b.
 * Q(offset, P) is the mean over t of its loss, all heads, and of the weight decay 1/2 decay
 * |r(t)|^2; P moves from P_k by |P - P_k|^2 / 2 nu_P (twice the units that moved, over 2 nu_P), the
 * offset likewise. */
#ifndef MC_PAM_H
#define MC_PAM_H

#include "libcommon/graph/soft_permutation.h"
#include "libcommon/spectral/spectral.h"
#include "tools/curve/objective.h"
#include "tools/train/train.h"

struct mc_pam_options {
    uint64_t outer;              /* iterations */
    uint64_t permutation_epochs; /* of a permutation step; 0: none */
    uint64_t curve_epochs;       /* of a curve step; 0: none */
    double permutation_lr;
    double nu_permutation, nu_curve;
    uint64_t sweeps;  /* of the projection after each step */
    uint64_t draws;   /* of permutations from the Birkhoff-von Neumann decomposition */
    double drop;      /* entries under it are left out of it */
    uint64_t terms;   /* it is cut to its so many heaviest terms, 0: all */
    uint64_t images;  /* the first so many select a candidate, */
    uint64_t points;  /* at so many t: the middles of equal parts of [0,1] */
    int jointly;      /* candidates are of all groups at once; or each group's are measured alone */
    int by_objective; /* candidates are compared with the proximal term, or by their loss alone */
    double spectral;  /* K_W: weights are projected to that spectral norm at the ends of permutation
                         steps and of a curve step's epochs, and the second theorem's rule ends the
                         run; 0: neither */
};

/* The objective Q's two parts. */
struct mc_pam_value {
    double loss, decay;
};

/* What an outer iteration did; NAN for what it has not. A checkpoint holds it as it is. */
struct mc_pam_report {
    /* the permutation step */
    struct mc_pam_value before;      /* of the previous permutation */
    struct mc_pam_value relaxed;     /* of the doubly stochastic matrices */
    double residual;                 /* of their rows and columns */
    struct mc_pam_value projection;  /* of the assignment nearest to them */
    struct mc_pam_value permutation; /* of the one that was kept */
    double proximal_permutation;
    double moved;      /* units that it puts elsewhere than the previous one */
    double candidates; /* different ones, of all groups or of each */
    double kept; /* 0 the previous permutation, 1 the projection, 2 and more: a draw, or parts of
                    candidates */
    double loss_others_before, loss_others; /* of the previous and the kept one, on images that did
                                               not select; NAN without a batch of them */
    /* the curve step; without one but with a spectral norm, what its clip did to the offset */
    struct mc_pam_value curve;
    double proximal_curve;
    /* loss of the network with its own ReLU where it is trained with the Huber delta; the decay is
     * the same */
    double relu_before, relu;
    /* the whole: (Q before) - (Q after) - proximal terms, which the theorem has at least 0 */
    double decrease;
    double least_move; /* the second theorem's bound on the proximal terms' sum */
    double rejected;   /* 1: the sum was less, and the iterate was given up */
};
#define MC_PAM_REPORT (sizeof(struct mc_pam_report) / sizeof(double))

/* Images that the objective is measured on. */
enum mc_pam_set_name {
    MC_PAM_SELECTION, /* those that select among candidates, in whole batches where there is one */
    MC_PAM_OTHERS,    /* the next ones, as many or fewer, in whole batches only; with permutation
                         steps */
    MC_PAM_RELU,      /* the first ones, on the network without the Huber delta; with a delta */
    MC_PAM_SETS
};
struct mc_pam_set {
    struct mc_buf *order;      /* (batches, batch) */
    uint64_t images, batches;  /* 0: there is nothing to measure */
    struct mc_plan *plan;      /* NULL: the training's */
    struct mc_capture *repeat; /* of a batch */
};

struct mc_pam {
    struct mc_objective objective; /* first */
    /* the caller's to set; they must outlive the run */
    const struct mc_pam_options *o;
    const struct mc_graph *graph;
    const struct mc_symmetry *symmetry;
    const float *a, *b;           /* (P) the two networks, b as it was trained */
    float *offset;                /* (P) of the control point: where it starts, and the result */
    struct mc_perm *perm;         /* likewise; kept up with every permutation step */
    struct mc_pam_report *report; /* (outer) */
    /* mc_pam_init's */

    size_t matrices; /* floats of all groups' */
    size_t *at;      /* (n_groups) where each begins */
    size_t n_units;  /* of all groups */
    float *units;    /* (2,n_units) for checkpoints: perm and previous */
    struct mc_train_options permutation_fit,
        curve_fit; /* whose schedules the steps' rates follow */
    struct mc_soft_perm *soft_perm;
    struct mc_buf *d_a, *d_b, *d_pb, *d_offset, *d_momentum, *d_anchor, *d_point; /* (P) */
    struct mc_buf *d_matrices, *d_matrices_anchor, *d_matrices_grad, *d_matrices_momentum;
    struct mc_buf *coefs, *residual;
    struct mc_buf *ctl, *points, *begin, *points_ctl, *sums, *index; /* to measure */
    struct mc_pam_set sets[MC_PAM_SETS];
    struct mc_perm previous;          /* before the permutation step */
    int permuting;                    /* the epoch is of a permutation step */
    struct mc_spectral_layers layers; /* of the theorem, where there is a spectral norm */
};

/* Epochs of the whole run. */
uint64_t mc_pam_epochs(const struct mc_pam_options *o);
/* train: whose schedule spans all curve steps; its epochs are set to the run's. The report is
 * filled with NAN. MC_EUSAGE: a spectral norm for what is no plain feed-forward network. */
MC_USE_RESULT int mc_pam_init(struct mc_pam *p, struct mc_train_options *train,
                              struct mc_error *err);
void mc_pam_release(struct mc_pam *p); /* the host's memory */

/* ---- within the training loop ---- */

/* One step of SGD on s->p (n) and one proximal step towards `anchor` (n), whose fixed point is the
 * least of loss(p) + |p - anchor|^2 / 2 nu. Momentum multiplies the loss's steps by
 * 1 / (1 - momentum) in the long run, so it multiplies the proximal one's rate as well. Device
 * memory only. */
void mc_pam_descend(struct mc_backend *be, size_t n, const struct mc_sgd *s,
                    const struct mc_buf *anchor, double nu, const struct mc_buf *ctl);

/* p->sets, and t (tools/pam/measure.c). */
MC_USE_RESULT int mc_pam_prepare_sets(struct mc_pam *p, struct mc_train *f, struct mc_error *err);
void mc_pam_release_sets(struct mc_pam *p, struct mc_train *f);
/* The weights (3) of a, P b and the offset at t; unused: NULL. */
void mc_pam_weights(const void *unused, double t, float *weights);
/* p->d_point: r(t), the weights being row ctl.row of coefs. */
void mc_pam_point(const struct mc_pam *p, const struct mc_train *f, const struct mc_buf *coefs,
                  const struct mc_buf *ctl);
/* Loss (mean objective of all heads) and weight decay of the curve through p->d_pb, finite or not;
 * NAN where there is nothing to measure them on. */
MC_USE_RESULT int mc_pam_measure(struct mc_pam *p, struct mc_train *f, enum mc_pam_set_name name,
                                 struct mc_pam_value *value, struct mc_error *err);
/* The same on MC_PAM_SELECTION, and the loss on MC_PAM_RELU. MC_EFAIL where loss or decay are not
 * finite. */
MC_USE_RESULT int mc_pam_measure_here(struct mc_pam *p, struct mc_train *f,
                                      struct mc_pam_value *value, double *relu,
                                      struct mc_error *err);
/* p->d_pb: P b of a permutation. */
MC_USE_RESULT int mc_pam_place(struct mc_pam *p, struct mc_train *f, const struct mc_perm *perm,
                               struct mc_error *err);

/* After a permutation step: measure the candidates, keep the best in p->perm and p->report[outer];
 * one whose loss is not finite loses (tools/pam/select.c). MC_EFAIL: the matrices are not
 * finite. */
MC_USE_RESULT int mc_pam_select(struct mc_pam *p, struct mc_train *f, uint64_t outer,
                                struct mc_error *err);

/* to: p->previous as matrices (tools/pam/checkpoint.c). */
MC_USE_RESULT int mc_pam_put_matrices(struct mc_pam *p, struct mc_train *f, struct mc_buf *to,
                                      struct mc_error *err);
/* The permutations to where a checkpoint takes them from, or back. MC_EINPUT: what was saved is no
 * permutation. */
void mc_pam_keep_perms(struct mc_pam *p);
MC_USE_RESULT int mc_pam_take_perms(struct mc_pam *p, struct mc_error *err);
/* The objective's vectors (tools/train/train.h). */
size_t mc_pam_saved(struct mc_objective *o, struct mc_train *f, struct mc_train_vector *v);

/* p->layers, and whether the second theorem is for these networks (tools/pam/theorem.c): plain
 * ones, a cross-entropy of weight 1, whose Lipschitz constant is sqrt(2), both ends within the
 * norm; or MC_EUSAGE. */
MC_USE_RESULT int mc_pam_theorem_init(struct mc_pam *p, struct mc_error *err);
/* The control point's weights, those of (a + p->d_pb) / 2 + p->d_offset, to the spectral norm that
 * is allowed; the offset of a layer that is within it keeps its bits. */
MC_USE_RESULT int mc_pam_clip(struct mc_pam *p, struct mc_train *f, struct mc_error *err);
/* What the proximal terms of an iteration must sum to, so that the ReLU's objective falls with the
 * Huber delta's: twice the bound on the two's difference, which each of both iterates has (the
 * paper's second theorem has it once). */
double mc_pam_least_move(const struct mc_pam *p, const struct mc_train *f);

#endif
