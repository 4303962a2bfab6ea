/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening files that are not streams: a graph, a map, the files of a folder. Opening never waits
 * for the writer of a FIFO, who may never come. */
#ifndef MC_FILE_H
#define MC_FILE_H

#include "libcommon/base/error.h"

#include <stdint.h>
#include <stdio.h>

/* The path as messages show it; "-" is stdin. */
const char *mc_file_called(const char *path);
/* *bytes is the file's size. If bytes is NULL, a pipe such as <(command) is accepted too; it is
 * empty if it has no writer. Errors name the path. A missing file is error `absent`: MC_EFAIL for a
 * path from the user, MC_EINPUT for a file inside the user's folder. MC_EFAIL: cannot open;
 * MC_EINPUT: not a regular file. */
MC_USE_RESULT int mc_file_open(int *fd, uint64_t *bytes, const char *path, enum mc_err absent,
                               struct mc_error *err);
/* The same for stdio; *out is NULL after an error. */
MC_USE_RESULT int mc_file_fopen(FILE **out, uint64_t *bytes, const char *path, enum mc_err absent,
                                struct mc_error *err);
/* Reads a text into *out, which the caller frees, and its bytes into *n. A longer text than `limit`
 * gives *n = limit + 1. Errors as for mc_file_fopen with absent = MC_EFAIL; MC_ENOMEM. */
MC_USE_RESULT int mc_file_text(char **out, size_t *n, size_t limit, const char *path,
                               struct mc_error *err);
/* read() without EINTR and EAGAIN: it waits. */
ssize_t mc_file_read(int fd, void *dst, size_t n);
/* Reads n bytes, fewer only at the end of the file. -1: see errno. */
ssize_t mc_file_read_all(int fd, void *dst, size_t n);
/* After getline() returned no line: 0 at the end of the file, else the error. */
MC_USE_RESULT int mc_file_check_end(FILE *f, const char *path, struct mc_error *err);
/* Writes n bytes and waits if fd is non-blocking. Fewer only after a failure: see errno. */
size_t mc_file_write_all(int fd, const void *src, size_t n);
/* MC_EINPUT with `text`: fd had no data. Sets err->empty_pipe if fd is standard input and a
 * pipe. */
MC_USE_RESULT int mc_file_empty(int fd, const char *text, struct mc_error *err);

#endif
