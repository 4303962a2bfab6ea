/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a stream comes from. */
#ifndef MC_HISTORY_H
#define MC_HISTORY_H

#include "formats/stream/pack.h"
#include "libcommon/base/fact.h"

struct mc_reader;

/* Where a stream comes from: a list of {tool, version, args, parents: [earlier indices]}, the last
 * entry being the run that writes. Equal entries are kept once, so a merge keeps every parent. Only
 * what decides the result belongs in it: arguments, and what a backend computes with
 * (mc_history_facts); no paths, dates or hosts. */
struct mc_history;

/* New history for a run of `tool` (version MC_VERSION). Returns NULL when out of memory. */
struct mc_history *mc_history_new(const char *tool);
void mc_history_free(struct mc_history *h);
/* Arguments, in the order they are given. */
void mc_history_str(struct mc_history *h, const char *name, const char *value);
void mc_history_int(struct mc_history *h, const char *name, int64_t value);
void mc_history_num(struct mc_history *h, const char *name, double value);
/* A backend's facts, as arguments after all others. Keeps the pointer: they are read when the
 * history is written. */
void mc_history_facts(struct mc_history *h, const struct mc_fact *facts, size_t n);
/* The run reads this stream: its history becomes a parent now, its content id is taken when the
 * output is closed or the reader is closed, whichever comes first (it is known at its end). An
 * output whose input was not read to its end is refused at mc_writer_close. */
void mc_history_input(struct mc_history *h, struct mc_reader *r);
/* The content ids of the two networks that a permutation was found between: arguments "a" and "b"
 * of a stream's run, or of those before it from which mc-hungarian and mc-corr made it. 1, or 0 and
 * "" where the history does not say. */
int mc_history_pair(const msgpack_object *history, char pair[2][MC_ID_LEN]);
/* A number among the arguments of the run that wrote the stream, if that run was of `tool`; else
 * 0. */
uint64_t mc_history_count(const msgpack_object *history, const char *tool, const char *name);
void mc_history_set_pair(struct mc_history *h, const char *a, const char *b);
/* Whether a run in a stream's history trained on augmented images: a trainer with epochs and
 * without --no-augment. */
int mc_history_augmented(const msgpack_object *history);
/* --no-history: nothing of the above is written but the input ids. */
void mc_history_hide(struct mc_history *h);

#endif
