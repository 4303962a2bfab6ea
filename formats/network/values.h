/* SPDX-License-Identifier: Apache-2.0
 *
 * Weights and curves read value by value, in bounded memory: one record of a stream at a time.
 *
 *     rc = mc_values_open(&v, "weights", from, h, err);
 *     for each tensor i of the stream, in order, and as often as it has pieces:
 *         rc = mc_values_read(&v, i, piece, bytes, err);
 *     rc = mc_values_end(&v, err);
 *     mc_values_close(&v);
 *
 * Every value is checked as mc_weights_read and mc_curve_read do, also if it is skipped. Results
 * are valid only after mc_values_end: before, the stream may be truncated. */
#ifndef MC_NETWORK_VALUES_H
#define MC_NETWORK_VALUES_H

#include "formats/codecs/curve.h"

struct mc_values {
    struct mc_curve curve; /* graph, dataset, types, augmented; of a curve also kind, n_points and
                              the groups of perm. No vectors. */
    size_t n_params;       /* tensors of a network: parameters, and those of weights' statistics */
    size_t n;              /* tensors of the stream, without those of the permutation */
    char id[MC_ID_LEN];    /* "" before mc_values_end */

    struct mc_stream from;
    struct mc_reader *reader;
    struct mc_record record;
    size_t last, offset; /* index of the last record; bytes of it already read */
    char **held;         /* (n) the tensors' bytes after mc_values_hold; else NULL */
};

/* Open a stream of this kind, "weights" or "curve", and check its header. Its history becomes a
 * parent in h, which may be NULL. Close v also after an error. */
MC_USE_RESULT int mc_values_open(struct mc_values *v, const char *kind, struct mc_stream from,
                                 struct mc_history *h, struct mc_error *err);
/* The graph's parameter or statistic whose values are tensor i. */
const struct mc_param *mc_values_param(const struct mc_values *v, size_t i);
enum mc_dtype mc_values_type(const struct mc_values *v, size_t i);
/* Bytes of tensor i in the stream. */
size_t mc_values_bytes(const struct mc_values *v, size_t i);
/* Copy the next bytes of tensor i, or all of it to tensor `to` of a stream. Tensors before it are
 * skipped. */
MC_USE_RESULT int mc_values_read(struct mc_values *v, size_t i, void *to, size_t bytes,
                                 struct mc_error *err);
MC_USE_RESULT int mc_values_copy(struct mc_values *v, size_t i, struct mc_writer *w, size_t to,
                                 struct mc_error *err);
/* Read the next n values of tensor i, widened to float32. */
MC_USE_RESULT int mc_values_floats(struct mc_values *v, size_t i, float *to, size_t n,
                                   struct mc_error *err);
/* Skip the rest and verify the stream's end and a curve's permutation. */
MC_USE_RESULT int mc_values_end(struct mc_values *v, struct mc_error *err);
/* Read the stream to its verified end into memory, before any of its values, which the functions
 * above then read from there. So v.id is known first, also of a stream that cannot be read twice. */
MC_USE_RESULT int mc_values_hold(struct mc_values *v, struct mc_error *err);
void mc_values_close(struct mc_values *v);

/* 0 for - and for what is not a regular file, which can be read only once. */
int mc_values_rereadable(const char *path);
/* The content id of a weights stream, read to its verified end. */
MC_USE_RESULT int mc_values_id(char id[MC_ID_LEN], struct mc_stream from, struct mc_error *err);

#endif
