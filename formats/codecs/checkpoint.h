/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoint streams: the state of a run at the end of an epoch. formats/codecs/checkpoint.md is
 * the specification.
 *
 * meta: version (2), tool, settings (a map of strings: everything that determines the result,
 * including the inputs' content ids and what the backend computes with), epoch (epochs done).
 * Tensors: named float32 vectors of any length. The codec keeps all bits; its callers check the
 * values. */
#ifndef MC_CHECKPOINT_H
#define MC_CHECKPOINT_H

#include "formats/stream/reader.h"
#include "libcommon/base/fact.h"

struct mc_checkpoint_vector {
    char name[MC_NAME_MAX]; /* "point", "momentum", "stats" */
    float *data;
    size_t n;
};

struct mc_checkpoint_setting {
    const char *name;
    char value[200];
    const char *const *choices; /* names of the values 0, 1, ...; NULL: value is the text */
};

#define MC_CHECKPOINT_MAX 128

struct mc_checkpoint {
    const char *tool;
    struct mc_checkpoint_setting settings[MC_CHECKPOINT_MAX];
    size_t n_settings;
    uint64_t epoch;
    struct mc_checkpoint_vector vectors[MC_CHECKPOINT_MAX];
    size_t n_vectors;
};

/* Add a setting. Only the pointer `name` is stored. */
void mc_checkpoint_set(struct mc_checkpoint *s, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Add the number of one of `choices`, which end in NULL and must outlive s. Messages print its
 * name. */
void mc_checkpoint_set_choice(struct mc_checkpoint *s, const char *name, int choice,
                              const char *const *choices);
/* Add a setting for each of a backend's facts at this moment. Call it after the run's plans, which
 * choose algorithms, are made. */
void mc_checkpoint_set_facts(struct mc_checkpoint *s, const struct mc_fact *facts, size_t n);
/* 1 if the file exists. (A run with --resume starts from the beginning if it does not.) */
int mc_checkpoint_exists(const char *path);
/* Check the path before a run that saves its state there (NULL: nowhere). MC_EUSAGE if it exists
 * and the run does not resume, or if it is not a regular file. */
MC_USE_RESULT int mc_checkpoint_check_path(const char *path, int resume, struct mc_error *err);
/* Write atomically. */
MC_USE_RESULT int mc_checkpoint_write(const struct mc_checkpoint *s, const char *path,
                                      struct mc_error *err);
/* Read into *s, whose tool, settings and vectors (names, sizes, memory) are the expected ones.
 * MC_EINPUT "ck.mcz: was made with lr 0.1, this run has 0.05" if they differ. Sets epoch and the
 * vectors, or neither after an error. */
MC_USE_RESULT int mc_checkpoint_read(struct mc_checkpoint *s, const char *path,
                                     struct mc_error *err);
/* Read an open reader, which remains the caller's, to its verified end. MC_EINPUT unless it is a
 * valid checkpoint of any program. Memory: one record. */
MC_USE_RESULT int mc_checkpoint_check(struct mc_reader *r, struct mc_error *err);

#endif
