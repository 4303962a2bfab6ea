/* SPDX-License-Identifier: Apache-2.0
 *
 * Proximal alternating minimisation: learns the second network's permutation and the curve between
 * the networks in turn (Tatro et al. 2020, section 4 and appendix E). It is an objective of the
 * training loop (tools/train/train.h). An outer iteration consists of the epochs of a permutation
 * step and those of a curve step. The loop runs the epochs of all iterations in sequence.
 *
 *     r(t) = (1-t) a + t P b + 2t(1-t) offset
 *
 * is the quadratic Bezier curve whose control point has this offset from the midpoint of a and P b.
 * Q(offset, P) is the mean over t of the loss (all heads) and of the weight decay 1/2 decay
 * |r(t)|^2. The proximal term of P relative to P_k is |P - P_k|^2 / 2 nu_P, where |P - P_k|^2 is
 * twice the number of moved units. The offset's is analogous. */
#ifndef MC_PAM_H
#define MC_PAM_H

#include "libcommon/permutation/soft_permutation.h"
#include "libcommon/spectral/spectral.h"
#include "tools/curve/objective.h"
#include "tools/train/train.h"

struct mc_pam_options {
    uint64_t outer;              /* number of iterations */
    uint64_t permutation_epochs; /* per permutation step; 0: no permutation steps */
    uint64_t curve_epochs;       /* per curve step; 0: no curve steps */
    double permutation_lr;
    double nu_permutation, nu_curve;
    uint64_t sweeps;  /* projection sweeps after each step */
    uint64_t draws;   /* permutations drawn from the Birkhoff-von Neumann decomposition */
    double drop;      /* the decomposition ignores smaller entries */
    uint64_t terms;   /* largest terms of the decomposition to keep; 0: all */
    uint64_t images;  /* the first images, which select the permutation */
    uint64_t points;  /* values of t at which it is measured: midpoints of equal parts of [0,1] */
    int jointly;      /* a candidate permutes all groups at once; 0: measure each group's alone */
    int by_objective; /* compare candidates with the proximal term; 0: by their loss alone */
    double spectral;  /* K_W: largest spectral norm that weights may have after permutation steps
                         and epochs of curve steps; also enables the second theorem's stopping rule;
                         0: neither */
};

/* The two parts of the objective Q. */
struct mc_pam_value {
    double loss, decay;
};

/* Results of an outer iteration; NAN if it lacks the step. Stored unchanged in checkpoints. */
struct mc_pam_report {
    /* permutation step */
    struct mc_pam_value before;      /* at the previous permutation */
    struct mc_pam_value relaxed;     /* at the doubly stochastic matrices */
    double residual;                 /* error of their row and column sums */
    struct mc_pam_value projection;  /* at the nearest assignment */
    struct mc_pam_value permutation; /* at the selected permutation */
    double proximal_permutation;
    double moved;      /* units moved relative to the previous permutation */
    double candidates; /* distinct candidates, over all groups or per group */
    double kept;       /* 0: the previous permutation, 1: the projection, 2+: a draw or mixture */
    double loss_others_before, loss_others; /* previous and selected permutation, on
                                               images not used for selection; NAN if they do not
                                               fill a batch */
    /* curve step; if only the spectral norm is set, the clip's effect on the offset */
    struct mc_pam_value curve;
    double proximal_curve;
    /* loss of the network with its own ReLU if training uses a Huber delta; its decay is the
     * same */
    double relu_before, relu;
    /* whole iteration: (Q before) - (Q after) - proximal terms, at least 0 by the theorem */
    double decrease;
    double least_move; /* the second theorem's lower bound on the sum of proximal terms */
    double rejected;   /* 1: the sum of proximal terms was smaller: the iteration was undone */
};
#define MC_PAM_REPORT (sizeof(struct mc_pam_report) / sizeof(double))

/* Sets of images that the objective is measured on. */
enum mc_pam_set_name {
    MC_PAM_SELECTION, /* select among candidates; whole batches if at least one is full */
    MC_PAM_OTHERS,    /* as many of the following images, or fewer; whole batches only; exists with
                         permutation steps */
    MC_PAM_RELU, /* the selection images for the network without Huber delta; exists with a delta */
    MC_PAM_SETS
};
struct mc_pam_set {
    struct mc_buf *order;      /* (batches, batch) */
    uint64_t images, batches;  /* 0: empty set */
    struct mc_plan *plan;      /* NULL: the training's plan */
    struct mc_capture *repeat; /* captured measurement of a batch */
};

struct mc_pam {
    struct mc_objective objective; /* must be first */
    /* set by the caller; must outlive the run */
    const struct mc_pam_options *o;
    const struct mc_graph *graph;
    const struct mc_symmetry *symmetry;
    const float *a, *b;           /* (P) the networks; b in its trained order */
    float *offset;                /* (P) of the control point: initial value and result */
    struct mc_perm *perm;         /* initial value and result; updated at every permutation step */
    struct mc_pam_report *report; /* (outer) */
    /* set by mc_pam_init */

    size_t matrices; /* floats of all groups' matrices */
    size_t *offsets; /* (n_groups) where each group's matrix starts */
    size_t n_units;  /* in all groups */
    float *units;    /* (2,n_units) perm and previous, for checkpoints */
    /* schedules of the two steps' learning rates */
    struct mc_train_options permutation_fit, curve_fit;
    struct mc_soft_perm *soft_perm;
    struct mc_buf *d_a, *d_b, *d_pb, *d_offset, *d_momentum, *d_anchor, *d_point; /* (P) */
    struct mc_buf *d_matrices, *d_matrices_anchor, *d_matrices_grad, *d_matrices_momentum;
    struct mc_buf *coefs, *residual;
    struct mc_buf *ctl, *points, *begin, *points_ctl, *sums, *index; /* for measurements */
    struct mc_pam_set sets[MC_PAM_SETS];
    struct mc_perm previous;          /* before the permutation step */
    int permuting;                    /* the epoch belongs to a permutation step */
    struct mc_spectral_layers layers; /* the theorem's, if a spectral norm is set */
};

/* Number of epochs of the whole run. */
uint64_t mc_pam_epochs(const struct mc_pam_options *o);
/* train: its schedule spans all curve steps; its epochs are set to the run's. Fills the report with
 * NAN. MC_EUSAGE: a spectral norm, but the network is not a plain feed-forward network. */
MC_USE_RESULT int mc_pam_init(struct mc_pam *p, struct mc_train_options *train,
                              struct mc_error *err);
void mc_pam_release(struct mc_pam *p); /* host memory */

/* ---- inside the training loop ---- */

/* One step of SGD on s->p (n), then one proximal step towards `anchor` (n). The fixed point
 * minimises loss(p) + |p - anchor|^2 / 2 nu. Momentum scales the loss's steps by 1 / (1 - momentum)
 * in the long run, so the proximal rate is scaled likewise. Uses device memory only. */
void mc_pam_descend(struct mc_backend *be, size_t n, const struct mc_sgd *s,
                    const struct mc_buf *anchor, double nu, const struct mc_buf *ctl);

/* Create p->sets and the points t (tools/pam/measure.c). */
MC_USE_RESULT int mc_pam_prepare_sets(struct mc_pam *p, struct mc_train *f, struct mc_error *err);
void mc_pam_release_sets(struct mc_pam *p, struct mc_train *f);
/* Weights (3) of a, P b and the offset at t. unused: NULL. */
void mc_pam_weights(const void *unused, double t, float *weights);
/* Compute r(t) in p->d_point; the weights are row ctl.row of coefs. */
void mc_pam_point(const struct mc_pam *p, const struct mc_train *f, const struct mc_buf *coefs,
                  const struct mc_buf *ctl);
/* Loss (mean objective of all heads) and weight decay of the curve through p->d_pb. They may be
 * infinite or NAN; NAN for an empty set. */
MC_USE_RESULT int mc_pam_measure(struct mc_pam *p, struct mc_train *f, enum mc_pam_set_name name,
                                 struct mc_pam_value *value, struct mc_error *err);
/* The same on MC_PAM_SELECTION, and the loss on MC_PAM_RELU. MC_EFAIL: loss or decay is not
 * finite. */
MC_USE_RESULT int mc_pam_measure_current(struct mc_pam *p, struct mc_train *f,
                                         struct mc_pam_value *value, double *relu,
                                         struct mc_error *err);
/* Compute P b of a permutation in p->d_pb. */
MC_USE_RESULT int mc_pam_place(struct mc_pam *p, struct mc_train *f, const struct mc_perm *perm,
                               struct mc_error *err);

/* End a permutation step: measure the candidates and store the best in p->perm and p->report[outer]
 * (tools/pam/select.c). A candidate without a finite loss is never selected. MC_EFAIL: the matrices
 * are not finite. */
MC_USE_RESULT int mc_pam_select(struct mc_pam *p, struct mc_train *f, uint64_t outer,
                                struct mc_error *err);

/* Copy the permutations to the checkpoint's vectors, or back (tools/pam/checkpoint.c). MC_EINPUT:
 * not a permutation, or a report that no run writes. */
void mc_pam_save_perms(struct mc_pam *p);
MC_USE_RESULT int mc_pam_restore(struct mc_pam *p, struct mc_error *err);
/* The objective's vectors (tools/train/train.h). */
size_t mc_pam_vectors(struct mc_objective *o, struct mc_train *f, struct mc_train_vector *v);

/* Set p->layers and check the second theorem's conditions (tools/pam/theorem.c): plain networks, a
 * cross-entropy of weight 1 (whose Lipschitz constant is sqrt(2)), both ends within the norm.
 * Returns 0 or MC_EUSAGE. */
MC_USE_RESULT int mc_pam_theorem_init(struct mc_pam *p, struct mc_error *err);
/* Project the control point's weights, (a + p->d_pb) / 2 + p->d_offset, to the spectral norm. The
 * offset of a layer within the norm keeps its bits. */
MC_USE_RESULT int mc_pam_clip(struct mc_pam *p, struct mc_train *f, struct mc_error *err);
/* Smallest sum of an iteration's proximal terms at which the ReLU's objective falls with the Huber
 * delta's. It is twice the bound on the difference of the two objectives, which applies at both
 * iterates (the paper's second theorem counts it once). */
double mc_pam_min_move(const struct mc_pam *p, const struct mc_train *f);

#endif
