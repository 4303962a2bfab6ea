/* SPDX-License-Identifier: Apache-2.0
 *
 * Output of evaluation: tables with a header line, JSON, and a path's summary. Accuracies are
 * percentages. */
#ifndef MC_REPORT_H
#define MC_REPORT_H

#include "tools/eval/batched.h"
#include "tools/eval/plane.h"

#include <stdio.h>

struct mc_report {
    const struct mc_batched *sweep; /* the T points, with their results */
    const double *
        coords; /* (T,n_coords): t of a path (n_coords = 1), or x and y of a plane (n_coords = 2) */
    size_t n_coords;             /* 0: a network */
    const double *chord;         /* (T-1), only for a path */
    const struct mc_mark *marks; /* a plane's; NULL otherwise */
    size_t n_marks;
    int json;            /* print one object instead of a table */
    const char *network; /* name of a network */
};

/* Two columns, NAME.loss and NAME.accuracy, of a data set. With an attack, columns NAME.robust.* of
 * the adversarial examples follow those of all data sets. */
struct mc_report_columns {
    char name[MC_BATCHED_NAME + 16];
    uint64_t total;                   /* images in the data set; results count the images used */
    const struct mc_eval_output *out; /* (T) */
};
size_t mc_report_n(const struct mc_report *r);
struct mc_report_columns mc_report_column(const struct mc_report *r, size_t i);

/* Check that every number is finite. A network's logits may overflow, which tables and JSON cannot
 * express. Returns 0 or MC_EFAIL, "the loss on ... is not finite at t = ...". */
MC_USE_RESULT int mc_report_check(const struct mc_report *r, struct mc_error *err);

/* Print a table with the columns network, or t, or x and y, followed by the data sets'. Or print
 * one JSON object: kind, the attack if there is one ("attack":"pgd:...","bn_attack":true), a list
 * of networks or points that maps each data set to
 * {"loss":..,"loss_se":..,"accuracy":..,"accuracy_se":..,"images":..}, and a path's summary or a
 * plane's marks. Call begin, rows (first: the list's first rows) and end, or print for all
 * three. */
void mc_report_begin(const struct mc_report *r, FILE *f);
void mc_report_rows(const struct mc_report *r, FILE *f, int first);
MC_USE_RESULT int mc_report_end(const struct mc_report *r, FILE *f, struct mc_error *err);
MC_USE_RESULT int mc_report_print(const struct mc_report *r, FILE *f, struct mc_error *err);

/* Print a path's summary as a table with one row per data set and quantity: first, last, mean,
 * arc_mean, min, min_t, max, max_t, barrier, barrier_t. An accuracy's barrier is its drop below the
 * line between the ends. */
MC_USE_RESULT int mc_report_summary(const struct mc_report *r, FILE *f, struct mc_error *err);
/* Read summaries and print their rows of one quantity, an index, as one table with aligned columns
 * for people. The column path has each file's name. MC_EINPUT: not a summary. */
extern const char *const mc_report_quantities[]; /* "loss", "accuracy", NULL */
MC_USE_RESULT int mc_report_compare(const char *const *paths, size_t n, int quantity, FILE *f,
                                    struct mc_error *err);
/* Print the marks as a table: mark, name, x, y, off. Distances are Euclidean, in parameter
 * space. */
void mc_report_marks(const struct mc_report *r, FILE *f);

#endif
