/* SPDX-License-Identifier: Apache-2.0
 *
 * What a line of a picture is drawn from: one table, or several of the same thing (three pairs of
 * seeds, say) as their mean and standard deviation. Every table is checked before anything is
 * drawn. */
#ifndef MC_SERIES_H
#define MC_SERIES_H

#include "tools/plot/table.h"

struct mc_series {
    char label[200];
    struct mc_table table; /* the first, for the names in it */
    size_t tables;         /* how many there were */
    size_t rows, cols;     /* cols: 3, x first, for paths and logs; 2 for signatures */
    double *mean;          /* (cols, rows); sd lies behind it */
    double *sd;            /* (cols, rows) with n - 1; of one table 0 */
};

/* Of all of these the operand is [LABEL=]FILE[,FILE...], where LABEL holds no slash and FILE no
 * comma; without one, the first file's name without folder and ending is the label. s is zeroed
 * before, to be released also after an error. MC_EINPUT names the file that is not whole, or whose
 * rows are others than the first's. */

/* t, NAME.loss, NAME.accuracy of mc-eval's table. data: NAME; where it is "" it is set to test, or
 * to the table's first. */
MC_USE_RESULT int mc_series_curve(struct mc_series *s, const char *operand, char *data, size_t size,
                                  struct mc_error *err);
/* identity, permuted of mc-corr --signature --perm, with the same layers as `first`, which may be
 * s. */
MC_USE_RESULT int mc_series_signature(struct mc_series *s, const char *operand,
                                      const struct mc_series *first, struct mc_error *err);
/* epoch, loss, accuracy of a training's --log-json. */
MC_USE_RESULT int mc_series_log(struct mc_series *s, const char *operand, struct mc_error *err);

/* DATA.loss and DATA.accuracy of mc-eval's table. data, size: as above; out: (2, rows). */
MC_USE_RESULT int mc_series_measures(const struct mc_table *t, char *data, size_t size, double *out,
                                     struct mc_error *err);

void mc_series_release(struct mc_series *s);

/* The LABEL of an operand, or what stands for it; returns the rest. */
const char *mc_series_label(const char *operand, char *label, size_t size);

#endif
