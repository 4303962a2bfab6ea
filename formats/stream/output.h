/* SPDX-License-Identifier: Apache-2.0
 *
 * An output that appears whole or not at all. A regular file is written under a temporary name
 * beside it, `.NAME.PID.mcz-tmp`, flushed to disk and renamed at mc_output_close, and the folder is
 * flushed after it, so that a file that was said to be written outlives a loss of power; the old
 * file stays as it was until then. Pipes and devices are written directly. Every write is
 * checked. */
#ifndef MC_OUTPUT_H
#define MC_OUTPUT_H

#include "libcommon/base/error.h"

#include <limits.h>
#include <stddef.h>

enum mc_output_kind {
    MC_OUTPUT_BINARY, /* refused with MC_EUSAGE on a terminal */
    MC_OUTPUT_TEXT,
};

struct mc_output;

/* Open `path`, or stdout for "-" or NULL. Temporaries of dead runs for the same path are removed; a
 * live one's is left alone. A symbolic link is followed, as a shell's > does: what it points to is
 * replaced, or created. The name of an open descriptor (/dev/stdout, /dev/fd/3) is that descriptor,
 * so that what a shell opened with >> is appended to. An existing file's permissions are kept. */
MC_USE_RESULT int mc_output_open(struct mc_output **out, const char *path, enum mc_output_kind kind,
                                 struct mc_error *err);
MC_USE_RESULT int mc_output_write(struct mc_output *o, const void *data, size_t n,
                                  struct mc_error *err);
/* Commit; frees o whatever comes. After an error the old file is as it was, but for one: where the
 * folder cannot be flushed, the new file is in place, and the message says so. */
MC_USE_RESULT int mc_output_close(struct mc_output *o, struct mc_error *err);
/* After a failure: removes the temporary and frees o. NULL is fine. */
void mc_output_abandon(struct mc_output *o);

/* Where `path` leads through symbolic links that stand at its end: *fd, the number of an open
 * descriptor, or -1; then target is a file, or a name for one, that is no link. -1: errno. */
MC_USE_RESULT int mc_output_resolve(const char *path, char target[PATH_MAX], int *fd);
/* The path, or "stdout". */
const char *mc_output_name(const struct mc_output *o);

/* Install handlers that remove the temporaries and then die of the signal, for every signal that
 * ends a program, can be caught and has no handler yet. exit() removes them too, as libraries call
 * it. Programs call it once, first thing. */
void mc_stream_catch_signals(void);
/* What these do; safe in a signal handler, and in any thread. */
void mc_stream_remove_temporaries(void);

#endif
