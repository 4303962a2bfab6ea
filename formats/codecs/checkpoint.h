/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoint streams: the state of a training run at an epoch's end. formats/codecs/checkpoint.md
 * is the specification.
 *
 * meta: version (2), tool, settings (a map of text to text: everything that decides the result,
 * inputs' content ids and what the backend computes with among them), epoch (epochs done). Tensors:
 * named float32 vectors of any length, one dimension; the codec keeps any bits, its users judge the
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
    const char *const *choices; /* what the value, a number, counts; NULL: it says itself */
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

/* One more setting of s; name is kept by pointer. */
void mc_checkpoint_set(struct mc_checkpoint *s, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Likewise the number of one of `choices`, which end in NULL and are kept by pointer: refusals name
 * it. */
void mc_checkpoint_set_choice(struct mc_checkpoint *s, const char *name, int choice,
                              const char *const *choices);
/* A setting for each of a backend's facts, as they are now: call it when the run's plans are made,
 * which choose algorithms. */
void mc_checkpoint_set_facts(struct mc_checkpoint *s, const struct mc_fact *facts, size_t n);
/* Is there such a file? (A run with --resume begins afresh where there is none.) */
int mc_checkpoint_exists(const char *path);
/* Before a run that saves its state there (NULL: nowhere): MC_EUSAGE where it does not resume and
 * would write over a file, or where what is there is no regular file. */
MC_USE_RESULT int mc_checkpoint_check_path(const char *path, int resume, struct mc_error *err);
/* Write atomically. */
MC_USE_RESULT int mc_checkpoint_write(const struct mc_checkpoint *s, const char *path,
                                      struct mc_error *err);
/* Read into *s, whose tool, settings and vectors (names, sizes, memory) say what is expected:
 * MC_EINPUT "ck.mcz: was made with lr 0.1, this run has 0.05" when they differ. Sets epoch and the
 * vectors, or after an error neither. */
MC_USE_RESULT int mc_checkpoint_read(struct mc_checkpoint *s, const char *path,
                                     struct mc_error *err);
/* Read an open reader, which stays the caller's, to its verified end: MC_EINPUT unless it is a
 * checkpoint as its page says, of whatever program. Memory: a record. */
MC_USE_RESULT int mc_checkpoint_check(struct mc_reader *r, struct mc_error *err);

#endif
