/* SPDX-License-Identifier: Apache-2.0
 *
 * What evaluation prints: tables with a header line, JSON, and a path's summary. Accuracies are in
 * percent. */
#ifndef MC_REPORT_H
#define MC_REPORT_H

#include "mc_measure.h"
#include "mc_path.h"

#include <stdio.h>

#define MC_MAX_REPORTED 8

/* One data set: two columns, NAME.loss and NAME.accuracy. */
struct mc_reported {
    char name[64];
    uint64_t in_all;         /* images the data set has; out[].images of them were measured */
    struct mc_measured *out; /* (T) */
};

struct mc_report {
    struct mc_reported data[MC_MAX_REPORTED];
    size_t n_data;
    size_t T;
    const double *t;     /* (T); NULL: networks, not a path */
    const char *network; /* of a network: its name in messages */
    const double *chord; /* (T-1) */
};

/* Every number of it is finite, or MC_EFAIL "the loss is not finite at t = ..."; a network's logits
 * may overflow, and neither a table nor JSON has a word for that. */
MC_USE_RESULT int mc_report_check(const struct mc_report *r, struct mc_error *err);

/* "first" and the data sets' columns; one row that begins with `first`. */
void mc_report_head(const struct mc_report *r, FILE *f, const char *first);
void mc_report_row(const struct mc_report *r, FILE *f, const char *first, size_t point);
/* ,"NAME":{"loss":..,"loss_se":..,"accuracy":..,"accuracy_se":..,"images":..} for each: fields of
 * an open JSON object. */
void mc_report_json(const struct mc_report *r, FILE *f, size_t point);

/* A path: its table, its summary's table (a row a data set and
 * quantity: first, last, mean, arc_mean, min, min_t, max, max_t, barrier; an accuracy's barrier is
 * how far it falls under the line between the ends), and both as one JSON object. */
void mc_report_path(const struct mc_report *r, FILE *f);
MC_USE_RESULT int mc_report_summary(const struct mc_report *r, FILE *f, struct mc_error *err);
MC_USE_RESULT int mc_report_path_json(const struct mc_report *r, FILE *f, struct mc_error *err);

/* The largest standard errors over the points. */
void mc_report_errors(const struct mc_report *r, size_t data, double *loss_se, double *accuracy_se);

#endif
