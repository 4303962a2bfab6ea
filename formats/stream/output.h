/* SPDX-License-Identifier: Apache-2.0
 *
 * Outputs that appear whole or not at all.
 *
 * A regular file is written to a temporary file `.NAME.PID.mcz-tmp` in the same directory.
 * mc_output_close flushes it to disk, renames it and flushes the directory, so that a file reported
 * as written survives a loss of power. Until then the old file is unchanged. Pipes and devices are
 * written directly. Every write is checked. */
#ifndef MC_OUTPUT_H
#define MC_OUTPUT_H

#include "libcommon/base/error.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

enum mc_output_kind {
    MC_OUTPUT_BINARY, /* MC_EUSAGE if the output is a terminal */
    MC_OUTPUT_TEXT,
};

struct mc_output;

/* Open `path`, or stdout if it is "-" or NULL. Removes temporary files of dead runs for the same
 * path; those of running programs stay. Symbolic links are followed, as by a shell's >: their
 * target is replaced or created. The name of an open descriptor (/dev/stdout, /dev/fd/3) is that
 * descriptor, so a shell's >> appends. An existing file keeps its permissions. */
MC_USE_RESULT int mc_output_open(struct mc_output **out, const char *path, enum mc_output_kind kind,
                                 struct mc_error *err);
MC_USE_RESULT int mc_output_write(struct mc_output *o, const void *data, size_t n,
                                  struct mc_error *err);
/* 1 if the output is a regular file that mc_output_close renames: its bytes may be written in any
 * order. Then mc_output_seek sets the place of the next bytes. */
int mc_output_seekable(const struct mc_output *o);
MC_USE_RESULT int mc_output_seek(struct mc_output *o, uint64_t to, struct mc_error *err);
/* If rc, the caller's result so far, is 0, commit; otherwise remove the temporary file. Frees o,
 * which may be NULL, in any case. Returns rc, or the error of the commit; an error of the caller
 * stays in *err. After an error the old file is unchanged, with one exception: if the directory
 * cannot be flushed, the new file is in place, and the message says so. */
MC_USE_RESULT int mc_output_close(struct mc_output *o, int rc, struct mc_error *err);

/* Follow symbolic links in the last component of `path`. Sets *fd to the number of an open
 * descriptor, or to -1; then target is a file, or a name for one, and not a link. Returns 0, or -1
 * and errno. */
MC_USE_RESULT int mc_output_resolve(const char *path, char target[PATH_MAX], int *fd);

/* Install handlers that remove temporary files and then die of the signal. They cover every signal
 * that ends a program, can be caught and has no handler yet. exit() removes the files too, because
 * libraries call it. A program calls this once, first of all. */
void mc_stream_catch_signals(void);
/* Remove the temporary files. Safe in a signal handler and in any thread. */
void mc_stream_remove_temporaries(void);

#endif
