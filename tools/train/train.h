/* SPDX-License-Identifier: Apache-2.0
 *
 * The one training loop: schedule, SGD with momentum, metrics, checkpoint and exact resume, over an
 * objective that says what the free parameters are and how a batch's point is made from them.
 * mc-train, mc-bezier and every later trainer run this loop and nothing else. */
#ifndef MC_TRAIN_H
#define MC_TRAIN_H

#include "formats/codecs/checkpoint.h"
#include "formats/codecs/weights.h"
#include "tools/attack/attack.h"
#include "tools/load/in_memory.h"

enum mc_schedule {
    MC_SCHEDULE_STEP, /* lr * (1/2)^floor(epochs / step_epochs) * factor^epoch (the paper's), where
                         the halvings count the steps of an epoch too */
    MC_SCHEDULE_COSINE,   /* from lr to 0 by half a cosine, step by step */
    MC_SCHEDULE_ONECYCLE, /* from lr / 25 to lr over the first 30%, to lr / 250,000 at the end, both
                             by half a cosine (PyTorch's OneCycleLR) */
    MC_SCHEDULE_LINEAR /* lr to half of the epochs, then evenly down to lr / 100 at 90% of them, and
                          that to the end, step by step (the paper's for robust networks) */
};

struct mc_train_options {
    uint64_t epochs;     /* the schedule's length */
    uint64_t stop_after; /* stop there, the schedule unchanged; 0: at the end */
    uint64_t batch;
    double lr, momentum, decay;
    int nesterov;
    enum mc_schedule schedule;
    double step_epochs; /* a fraction too */
    double step_factor; /* of an epoch; 0: the paper's .9996 */
    uint64_t seed;
    int augment;  /* as the data set says */
    double huber; /* delta of every ReLU while training; 0: the graph's own */
    const struct mc_attack_options *attack; /* resolved: every batch is attacked; or NULL */
    const char *checkpoint;                 /* file, or NULL */
    int resume;                             /* from it, if it is there */
    uint64_t checkpoint_every;
};

/* The learning rate of a step: epoch + step / steps is how far the run is. */
double mc_train_lr(const struct mc_train_options *o, uint64_t epoch, uint64_t step, uint64_t steps);

/* What is told of an epoch: means over its images (batches for the decay). */
struct mc_train_epoch {
    uint64_t epoch, epochs; /* epochs done, of how many */
    double loss;            /* main head's cross-entropy, augmented (and attacked) batches */
    double objective;       /* all heads, and the weight decay 1/2 decay |theta|^2 */
    double decay;           /* that term */
    double accuracy;        /* 0..1 */
    double lr;              /* of the last step */
    double seconds;         /* of training alone; 0 for an epoch that an earlier run did */
    uint64_t images;
};

/* Somebody who watches; any may be NULL. */
struct mc_train_watch {
    /* Once, when all is checked and `done` epochs of an earlier run are resumed; an error ends the
     * run. */
    int (*begin)(void *arg, uint64_t done, struct mc_error *err);
    int (*due)(void *arg); /* asked after every launch of steps; when true, progress is told */
    void (*progress)(void *arg, uint64_t images_done, uint64_t images_in_all, uint64_t epoch,
                     double loss, double accuracy);
    void (*epoch)(void *arg, const struct mc_train_epoch *e);
    void *arg;
};

struct mc_train; /* below */

/* A vector that a checkpoint holds: of the device, or of the host. */
struct mc_train_vector {
    char name[MC_NAME_MAX];
    struct mc_buf *buf;
    float *host;      /* NULL: buf */
    size_t n;         /* floats */
    const char *rate; /* option that is too great where they are not finite; NULL: not steps' */
};

/* Of what training holds, for -v. */
struct mc_train_memory {
    int plans;       /* of the network, as large as the one that trains */
    size_t vectors;  /* of P floats: points, momenta, gradient, and copies for a checkpoint */
    size_t matrices; /* floats of permutations' matrices */
};

/* What is trained. The functions that run inside the loop, point and step, touch device memory only
 * and ask the same of the device every time, whose row says what differs (backend.h, repeat). */
struct mc_objective {
    enum mc_mode mode; /* MC_MODE_TRAIN with running statistics, MC_MODE_BATCH without */
    /* Device memory (f->bufs), and the host's vectors put there. */
    int (*prepare)(struct mc_objective *o, struct mc_train *f, struct mc_error *err);
    /* Before each epoch: upload what changes from step to step. */
    int (*epoch)(struct mc_objective *o, struct mc_train *f, uint64_t epoch, struct mc_error *err);
    /* The learning rate of a step, where it is not the schedule's; or NULL. */
    double (*lr)(struct mc_objective *o, struct mc_train *f, uint64_t epoch, uint64_t step);
    /* The point of this step. */
    const struct mc_buf *(*point)(struct mc_objective *o, struct mc_train *f);
    /* The gradient at that point is in f->grad: bring it back to the free parameters and take the
     * step. */
    void (*step)(struct mc_objective *o, struct mc_train *f, const struct mc_buf *point);
    /* After each epoch, before it is checkpointed and told; and once after a resume, its last
     * epoch. *stop: the run ends here. Or NULL. */
    int (*after)(struct mc_objective *o, struct mc_train *f, uint64_t epoch, int *stop,
                 struct mc_error *err);
    int (*resumed)(struct mc_objective *o, struct mc_train *f, uint64_t epoch, int *stop,
                   struct mc_error *err);
    /* Vectors to checkpoint: fill v (room for MC_CHECKPOINT_MAX - 2), return how many. */
    size_t (*vectors)(struct mc_objective *o, struct mc_train *f, struct mc_train_vector *v);
    /* What it holds beside the images and the first plan, on the host and the device, is added. Not
     * NULL. */
    void (*memory)(const struct mc_objective *o, const struct mc_train_options *t,
                   struct mc_train_memory *m);
    /* Bring the result to the host. */
    int (*finish)(struct mc_objective *o, struct mc_train *f, struct mc_error *err);
    void (*release)(struct mc_objective *o, struct mc_train *f); /* or NULL */
};

/* The loop's own state, for objectives. */
struct mc_train {
    struct mc_backend *be;
    const struct mc_graph *graph; /* with the options' Huber delta, if any */
    const struct mc_train_options *o;
    struct mc_plan *plan;
    struct mc_bufs bufs; /* of the whole run, the objective's too */
    struct mc_buf *ctl, *lrs, *grad;
    struct mc_buf *stats; /* (S); the objective's to fill and to keep */
    uint64_t steps;       /* an epoch */
    const struct mc_in_memory *data;
    struct mc_attack attack;
    struct mc_capture *step; /* as the device has captured it */
};

/* From here on point() and step() ask other things of the device than before: for epoch(). */
void mc_train_steps_change(struct mc_train *f);

/* The training images in this order: (rows, batch) of their indices. */
struct mc_source mc_train_source(const struct mc_train *f, const struct mc_buf *order);
/* Before an epoch of a curve: one random t a batch, and weights (steps,k) that are `weights` of it,
 * to `to`. */
MC_USE_RESULT int mc_train_put_weights(struct mc_train *f, uint64_t epoch, size_t k,
                                       void (*weights)(const void *arg, double t, float *weights),
                                       const void *arg, struct mc_buf *to, struct mc_error *err);
/* A batch of that source, loaded to the plan, forward at a point; where the options say so,
 * attacked there afresh. Any number of times. */
void mc_train_forward(struct mc_train *f, enum mc_mode mode, const struct mc_source *src,
                      const struct mc_buf *ctl, const struct mc_buf *point);

/* A run of the loop. */
struct mc_train_job {
    struct mc_backend *be;
    const struct mc_graph *graph;
    struct mc_in_memory *data;
    struct mc_objective *objective;
    const struct mc_train_options *o;
    /* What a checkpoint begins with: the tool, and settings that it must share, the version, the
     * options, the inputs' ids, the network; what the backend computes with is added, and while it
     * runs the vectors: for one run only. */
    struct mc_checkpoint *state;
    struct mc_train_watch watch;
};
MC_USE_RESULT int mc_train_run(const struct mc_train_job *job, struct mc_error *err);

#endif
