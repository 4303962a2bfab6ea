/* SPDX-License-Identifier: Apache-2.0
 *
 * What evaluation prints: tables with a header line, JSON, and a path's summary. Accuracies are in
 * percent. */
#ifndef MC_REPORT_H
#define MC_REPORT_H

#include "tools/eval/batched.h"
#include "tools/eval/plane.h"

#include <stdio.h>

struct mc_report {
    const struct mc_batched *sweep; /* what is measured, at T points, and found */
    const double *at;    /* (T,n_at): t of a path, n_at = 1, or x and y of a plane, n_at = 2 */
    size_t n_at;         /* 0: a network */
    const double *chord; /* (T-1), of a path */
    const struct mc_mark *marks; /* of a plane, or NULL */
    size_t n_marks;
    int json;            /* one object instead of a table */
    const char *network; /* of a network: its name */
};

/* Two columns, NAME.loss and NAME.accuracy: of a data set, and behind all of these, where there is
 * an attack, of one's adversarial examples, NAME.robust. */
struct mc_reported {
    char name[MC_BATCHED_NAME + 16];
    uint64_t in_all;                 /* images the data set has; a result says how many it is of */
    const struct mc_eval_found *out; /* (T) */
};
size_t mc_report_n(const struct mc_report *r);
struct mc_reported mc_report_column(const struct mc_report *r, size_t i);

/* Every number of it is finite, or MC_EFAIL "the loss is not finite at t = ..."; a network's logits
 * may overflow, and neither a table nor JSON has a word for that. */
MC_USE_RESULT int mc_report_check(const struct mc_report *r, struct mc_error *err);

/* A table: columns network, or t, or x and y, and the data sets'; or one JSON object: kind, the
 * attack where there is one ("attack":"pgd:...","bn_attack":true), a list of networks or points
 * with, by data set, {"loss":..,"loss_se":..,"accuracy":..,"accuracy_se":..,"images":..}, and
 * behind it a path's summary or a plane's marks. begin, the rows of all T points, as the list's
 * first or further ones, and end; print is all three. */
void mc_report_begin(const struct mc_report *r, FILE *f);
void mc_report_rows(const struct mc_report *r, FILE *f, int first);
MC_USE_RESULT int mc_report_end(const struct mc_report *r, FILE *f, struct mc_error *err);
MC_USE_RESULT int mc_report_print(const struct mc_report *r, FILE *f, struct mc_error *err);

/* A path's summary as a table: a row a data set and quantity: first, last, mean, arc_mean, min,
 * min_t, max, max_t, barrier, barrier_t; an accuracy's barrier is how far it falls under the line
 * between the ends. */
MC_USE_RESULT int mc_report_summary(const struct mc_report *r, FILE *f, struct mc_error *err);
/* The marks as a table: mark, name, x, y, off. Distances are Euclidean, in parameter space. */
void mc_report_marks(const struct mc_report *r, FILE *f);

#endif
