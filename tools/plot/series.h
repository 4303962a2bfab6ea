/* SPDX-License-Identifier: Apache-2.0
 *
 * Data of a picture's line: one table, or the mean and standard deviation of several equivalent
 * ones (such as three pairs of seeds). All tables are checked before drawing. */
#ifndef MC_SERIES_H
#define MC_SERIES_H

#include "tools/plot/table.h"

struct mc_series {
    char label[200];
    struct mc_table table; /* the first table, for its names */
    size_t tables;         /* number of tables */
    int spread;            /* sd is drawn */
    size_t rows, cols;     /* cols: 3 for paths and logs (x first; 2 without accuracy), 2 for
                            * signatures, 1 for dots */
    double *mean;          /* (cols, rows); owns the memory of sd */
    double *sd;            /* (cols, rows) with n - 1; 0 for one table; dots: as NAME_sd */
};

/* An operand is [LABEL=]FILE[,FILE...]. LABEL has no slash, FILE no comma. The default label is the
 * first file's name without folder and suffix. s must be zeroed; release it also after an error.
 * MC_EINPUT names a file that is damaged or whose rows differ from the first's. */

/* `first` is the picture's first series, which may be s. All must have its columns. */

/* Read t, NAME.loss and, if the table has it, NAME.accuracy of mc-eval's table. data: NAME; if it
 * is "", it is set to test or else to the table's first. */
MC_USE_RESULT int mc_series_curve(struct mc_series *s, const char *operand,
                                  const struct mc_series *first, char *data, size_t size,
                                  struct mc_error *err);
/* Read identity and permuted of mc-corr --signature --perm. The layers must be those of `first`. */
MC_USE_RESULT int mc_series_signature(struct mc_series *s, const char *operand,
                                      const struct mc_series *first, struct mc_error *err);
/* Read epoch, loss and, if the log has it, accuracy of a training's --log-json. */
MC_USE_RESULT int mc_series_log(struct mc_series *s, const char *operand,
                                const struct mc_series *first, struct mc_error *err);

#define MC_SERIES_COLUMNS 16
/* Read columns "A,B,..." of one table, at most MC_SERIES_COLUMNS: a series each, labelled with the
 * column. Empty cells are NaN. sd: the column NAME_sd; 0 if it is missing or its cell is empty. The
 * first series has the table. *n: the number of series, which the caller releases also after an
 * error. MC_EUSAGE: too many columns, or one twice. MC_EINPUT: no numbers. */
MC_USE_RESULT int mc_series_columns(struct mc_series *s, size_t *n, const char *path,
                                    const char *columns, struct mc_error *err);

/* Read DATA.loss and DATA.accuracy of mc-eval's table. data, size: as above; out: (2, rows). */
MC_USE_RESULT int mc_series_measures(const struct mc_table *t, char *data, size_t size, double *out,
                                     struct mc_error *err);

void mc_series_release(struct mc_series *s);

/* Copy an operand's label, or its default; returns the list of files. */
const char *mc_series_label(const char *operand, char *label, size_t size);

#endif
