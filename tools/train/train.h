/* SPDX-License-Identifier: Apache-2.0
 *
 * The training loop: schedule, SGD with momentum, metrics, checkpoint and exact resume. An
 * objective defines the free parameters and how each batch's point is computed from them. All
 * trainers run this loop. */
#ifndef MC_TRAIN_H
#define MC_TRAIN_H

#include "formats/codecs/checkpoint.h"
#include "formats/codecs/weights.h"
#include "tools/attack/attack.h"
#include "tools/load/in_memory.h"

enum mc_schedule {
    /* lr * (1/2)^floor(epochs / step_epochs) * factor^epoch (the paper's); the halvings count
     * fractions of an epoch */
    MC_SCHEDULE_STEP,
    /* from lr to 0 by half a cosine, per step */
    MC_SCHEDULE_COSINE,
    /* from lr / 25 to lr over the first 30%, then to lr / 250,000 at the end, each by half a cosine
     * (PyTorch's OneCycleLR) */
    MC_SCHEDULE_ONECYCLE,
    /* lr for half of the epochs, linearly to lr / 100 at 90% of them, then constant; per step (the
     * paper's for robust networks) */
    MC_SCHEDULE_LINEAR
};

struct mc_train_options {
    uint64_t epochs;     /* length of the schedule */
    uint64_t stop_after; /* stop early with the same schedule; 0: at the end */
    uint64_t batch;
    double lr, momentum, decay;
    int nesterov;
    enum mc_schedule schedule;
    double step_epochs; /* may be a fraction */
    double step_factor; /* per epoch; 0: the paper's .9996 */
    uint64_t seed;
    int augment;           /* by the data set's settings */
    double huber;          /* delta of every ReLU in training; 0: the graph's own */
    const double *dropout; /* probability of every dropout in training; NULL: the graph's own */
    const struct mc_attack_options *attack; /* resolved, for every batch; or NULL */
    const char *checkpoint;                 /* file, or NULL */
    int resume;                             /* from the checkpoint, if it exists */
    uint64_t checkpoint_every;
};

/* Learning rate of a step; the run's progress is epoch + step / steps. */
double mc_train_lr(const struct mc_train_options *o, uint64_t epoch, uint64_t step, uint64_t steps);

/* Results of an epoch: means over its images (decay: over batches). */
struct mc_train_epoch {
    uint64_t epoch, epochs; /* epochs done, and in total */
    double loss;            /* main head's cross-entropy on augmented (and attacked) batches */
    double objective;       /* all heads plus weight decay 1/2 decay |theta|^2 */
    double decay;           /* the weight decay */
    double accuracy;        /* 0..1 */
    double lr;              /* last step's */
    double seconds;         /* training only; 0 for an epoch of an earlier run */
    uint64_t images;
};

/* Callbacks; any may be NULL. */
struct mc_train_watch {
    /* Called once after all checks; `resumed` is the number of epochs of an earlier run. An error ends the
     * run. */
    int (*begin)(void *arg, uint64_t resumed, struct mc_error *err);
    int (*progress_due)(
        void *arg); /* called after every launch of steps; if true, progress is called */
    void (*progress)(void *arg, uint64_t images_done, uint64_t images_total, uint64_t epoch,
                     double loss, double accuracy);
    void (*epoch)(void *arg, const struct mc_train_epoch *e);
    void *arg;
};

struct mc_train; /* below */

/* A vector in a checkpoint, on the device or the host. */
struct mc_train_vector {
    char name[MC_NAME_MAX];
    struct mc_buf *buf;
    float *host; /* NULL: buf */
    size_t n;    /* floats */
    const char
        *rate; /* learning rate option to name if the vector is not finite; NULL: steps do not
                         change the vector */
};

/* Memory of a training run, for -v. */
struct mc_train_memory {
    int plans;       /* networks' plans as large as the training's */
    size_t vectors;  /* each has P floats: points, momenta, gradient, copies for a checkpoint */
    size_t matrices; /* floats of permutation matrices */
};

/* A training objective. point and step run inside the loop. They touch device memory only and issue
 * the same operations every time; the control values' row selects the data (backend.h, repeat). */
struct mc_objective {
    enum mc_mode mode; /* MC_MODE_TRAIN with running statistics, MC_MODE_BATCH without */
    /* Allocate device memory (f->bufs) and upload the host's vectors. */
    int (*prepare)(struct mc_objective *o, struct mc_train *f, struct mc_error *err);
    /* Before each epoch: upload values that change per step. */
    int (*epoch)(struct mc_objective *o, struct mc_train *f, uint64_t epoch, struct mc_error *err);
    /* Learning rate of a step; NULL: the schedule's. */
    double (*lr)(struct mc_objective *o, struct mc_train *f, uint64_t epoch, uint64_t step);
    /* Point of this step. */
    const struct mc_buf *(*point)(struct mc_objective *o, struct mc_train *f);
    /* Take a step: propagate the gradient at the point (f->grad) to the free parameters. */
    void (*step)(struct mc_objective *o, struct mc_train *f, const struct mc_buf *point);
    /* after: called after each epoch, before it is checkpointed and reported. resumed: called once
     * after a resume, with its last epoch. *stop: end the run. Both may be NULL. */
    int (*after)(struct mc_objective *o, struct mc_train *f, uint64_t epoch, int *stop,
                 struct mc_error *err);
    int (*resumed)(struct mc_objective *o, struct mc_train *f, uint64_t epoch, int *stop,
                   struct mc_error *err);
    /* Fill v with the vectors to checkpoint (room for MC_CHECKPOINT_MAX - 2); return their
     * number. */
    size_t (*vectors)(struct mc_objective *o, struct mc_train *f, struct mc_train_vector *v);
    /* Add the memory of host and device except the images and the first plan. Must not be NULL. */
    void (*memory)(const struct mc_objective *o, const struct mc_train_options *t,
                   struct mc_train_memory *m);
    /* Copy the result to the host. */
    int (*finish)(struct mc_objective *o, struct mc_train *f, struct mc_error *err);
    void (*release)(struct mc_objective *o, struct mc_train *f); /* may be NULL */
};

/* State of the loop, for objectives. */
struct mc_train {
    struct mc_backend *be;
    const struct mc_graph *graph; /* with the options' Huber delta */
    const struct mc_train_options *o;
    struct mc_plan *plan;
    struct mc_bufs bufs; /* whole run's, including the objective's */
    struct mc_buf *ctl, *lrs, *grad;
    struct mc_buf *stats; /* (S); filled and checkpointed by the objective */
    uint64_t steps;       /* per epoch */
    const struct mc_in_memory *data;
    struct mc_attack attack;
    /* captured step; if point() and step() will issue other operations, epoch() must free it and
     * set it to NULL */
    struct mc_capture *step;
};

/* The training images in the given order: (rows, batch) of indices. */
struct mc_source mc_train_source(const struct mc_train *f, const struct mc_buf *order);
/* Prepare an epoch on a curve: draw one random t per batch and store its weights (steps,k) in
 * `to`. */
MC_USE_RESULT int mc_train_put_weights(struct mc_train *f, uint64_t epoch, size_t k,
                                       void (*weights)(const void *arg, double t, float *weights),
                                       const void *arg, struct mc_buf *to, struct mc_error *err);
/* Load a batch of src into the plan and run it forward at a point. With an attack, attack it there
 * first. May be called any number of times. */
void mc_train_forward(struct mc_train *f, enum mc_mode mode, const struct mc_source *src,
                      const struct mc_buf *ctl, const struct mc_buf *point);

/* One run of the loop. */
struct mc_train_job {
    struct mc_backend *be;
    const struct mc_graph *graph;
    struct mc_in_memory *data;
    struct mc_objective *objective;
    const struct mc_train_options *o;
    /* Start of a checkpoint, for one run only: the tool and the settings that must agree (version,
     * options, the inputs' ids, the network). The run adds the backend's settings and its
     * vectors. */
    struct mc_checkpoint *state;
    struct mc_train_watch watch;
};
MC_USE_RESULT int mc_train_run(const struct mc_train_job *job, struct mc_error *err);

#endif
