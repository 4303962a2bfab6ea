/* SPDX-License-Identifier: Apache-2.0
 *
 * What evaluation prints: tables with a header line, JSON, and a path's summary. Accuracies are in
 * percent. */
#ifndef MC_REPORT_H
#define MC_REPORT_H

#include "tools/eval/measure.h"
#include "tools/eval/plane.h"

#include <stdio.h>

/* Data sets, and each with an attack again. */
#define MC_MAX_REPORTED 16

/* One data set: two columns, NAME.loss and NAME.accuracy. */
struct mc_reported {
    char name[80];
    uint64_t in_all;            /* images the data set has; out[].images of them were measured */
    struct mc_eval_result *out; /* (T) */
};

struct mc_report {
    struct mc_reported data[MC_MAX_REPORTED];
    size_t n_data;
    size_t T;
    const double *t;     /* (T) of a path, */
    const double *chord; /* (T-1), */
    double (*xy)[2];     /* or (T) of a plane; both NULL: networks */
    const char *network; /* of a network: its name in messages */
    const char *attack;  /* its text, where some of the data sets are attacked; or NULL */
    int bn_attack;       /* statistics were re-estimated under it */
};

/* Every number of it is finite, or MC_EFAIL "the loss is not finite at t = ..."; a network's logits
 * may overflow, and neither a table nor JSON has a word for that. */
MC_USE_RESULT int mc_report_check(const struct mc_report *r, struct mc_error *err);

/* "first" and the data sets' columns; one row that begins with `first`. */
void mc_report_head(const struct mc_report *r, FILE *f, const char *first);
void mc_report_row(const struct mc_report *r, FILE *f, const char *first, size_t point);
/* "attack":"pgd:...","bn_attack":true, where there is one, for JSON: fields of an object that goes
 * on. */
void mc_report_json_attack(const struct mc_report *r, FILE *f);
/* ,"NAME":{"loss":..,"loss_se":..,"accuracy":..,"accuracy_se":..,"images":..} for each: fields of
 * an open JSON object. */
void mc_report_json(const struct mc_report *r, FILE *f, size_t point);

/* A path: its table, its summary's table (a row a data set and
 * quantity: first, last, mean, arc_mean, min, min_t, max, max_t, barrier, barrier_t; an accuracy's
 * barrier is how far it falls under the line between the ends), and both as one JSON object. */
void mc_report_curve(const struct mc_report *r, FILE *f);
MC_USE_RESULT int mc_report_summary(const struct mc_report *r, FILE *f, struct mc_error *err);
MC_USE_RESULT int mc_report_curve_json(const struct mc_report *r, FILE *f, struct mc_error *err);

/* A plane: columns x, y and the data sets'; its marks: mark, name, x, y, off; and both as one JSON
 * object. Distances are Euclidean, in parameter space. */
void mc_report_plane(const struct mc_report *r, FILE *f);
void mc_report_marks(const struct mc_mark *m, size_t n, FILE *f);
void mc_report_plane_json(const struct mc_report *r, const struct mc_mark *m, size_t n, FILE *f);

/* The largest standard errors over the points. */
void mc_report_errors(const struct mc_report *r, size_t data, double *loss_se, double *accuracy_se);

#endif
