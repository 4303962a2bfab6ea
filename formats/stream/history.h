/* SPDX-License-Identifier: Apache-2.0
 *
 * Provenance of a stream: the runs that led to it. */
#ifndef MC_HISTORY_H
#define MC_HISTORY_H

#include "formats/stream/pack.h"
#include "libcommon/base/fact.h"

struct mc_reader;

/* A list of {tool, version, args, parents: [earlier indices]}. The last entry is the run that
 * writes the stream. Equal entries are stored once, so a merge keeps every parent. args hold only
 * what determines the result: arguments, and what a backend computes with (mc_history_facts).
 * Paths, dates and hosts are left out. */
struct mc_history;

/* New history for a run of `tool`, at version MC_VERSION. NULL if out of memory. */
struct mc_history *mc_history_new(const char *tool);
void mc_history_free(struct mc_history *h);
/* Append an argument. */
void mc_history_str(struct mc_history *h, const char *name, const char *value);
void mc_history_int(struct mc_history *h, const char *name, int64_t value);
void mc_history_num(struct mc_history *h, const char *name, double value);
/* Append a backend's facts after all arguments. Only the pointer is stored: the facts are read when
 * the history is written. */
void mc_history_facts(struct mc_history *h, const struct mc_fact *facts, size_t n);
/* Add an input. Its history becomes a parent at once. Its content id is read when the output or the
 * input is closed, whichever comes first. mc_writer_close fails if an input was not read to its
 * end. */
void mc_history_input(struct mc_history *h, struct mc_reader *r);
/* Get the content ids of the two networks that a permutation was computed for, or that a curve with
 * a permutation connects. They are the arguments "a" and "b" of the stream's run, or of the first
 * parents of mc-hungarian, mc-procrustes, mc-corr and mc-bezier runs. Returns 1, or 0 and "" if the history lacks
 * them. */
int mc_history_pair(const msgpack_object *history, char pair[2][MC_ID_LEN]);
/* 1 if a run of `tool` wrote the stream. */
int mc_history_is_of(const msgpack_object *history, const char *tool);
/* 1 unless the mc-acts runs that two matrices streams come from differ in their data, as far as both
 * histories name it: the run that wrote the data, samples, attack or seed. */
int mc_history_same_data(const msgpack_object *x, const msgpack_object *y);
void mc_history_set_pair(struct mc_history *h, const char *a, const char *b);
/* 1 if a run in the history trained on augmented images: a trainer with epochs and without
 * --no-augment. */
int mc_history_augmented(const msgpack_object *history);
/* --no-history: write only the ids of the inputs. */
void mc_history_hide(struct mc_history *h);

#endif
