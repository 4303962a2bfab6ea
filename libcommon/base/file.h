/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening what is no stream: a graph, a map, the parts of a folder. A FIFO that nobody writes to
 * would be waited for, maybe for ever, so that none is waited for. */
#ifndef MC_FILE_H
#define MC_FILE_H

#include "libcommon/base/error.h"

#include <stdint.h>
#include <stdio.h>

/* The file as messages name it: "-" is stdin. */
const char *mc_file_called(const char *path);
/* *bytes: its size; NULL: a pipe will do too, as from <(command), and reads as empty where nobody
 * writes to it. Errors name the path: `absent` when there is nothing of that name
 * (MC_EFAIL for one that the user gave, MC_EINPUT for a part of what he gave), MC_EFAIL when it
 * cannot be opened, MC_EINPUT when it is neither that nor a regular file. */
MC_USE_RESULT int mc_file_open(int *fd, uint64_t *bytes, const char *path, enum mc_err absent,
                               struct mc_error *err);
/* As mc_file_open, for fgets and the like; *out is NULL after an error. */
MC_USE_RESULT int mc_file_fopen(FILE **out, uint64_t *bytes, const char *path, enum mc_err absent,
                                struct mc_error *err);
/* Up to n bytes as read() gives them, but without its EINTR and EAGAIN: it is waited. */
ssize_t mc_file_read(int fd, void *dst, size_t n);
/* n bytes, or fewer only where the file ends; -1: errno says why not. */
ssize_t mc_file_read_all(int fd, void *dst, size_t n);
/* After a getline() that gave nothing: 0 at the file's end, else what failed. */
MC_USE_RESULT int mc_file_ended(FILE *f, const char *path, struct mc_error *err);
/* Writes n bytes, waiting where fd does not; fewer only after a failure: errno says why. */
size_t mc_file_write_all(int fd, const void *src, size_t n);
/* MC_EINPUT: nothing could be read from fd; where that is standard input and a pipe, err says
 * so. */
MC_USE_RESULT int mc_file_empty(int fd, const char *text, struct mc_error *err);

#endif
