/* SPDX-License-Identifier: Apache-2.0
 *
 * Every file that a command line names, so that none is written over another: a program registers
 * what it will read and write, and checks all of it before it opens anything. Files are compared by
 * device and inode, through links and redirections; one that does not exist yet by its folder and
 * name. Only regular files and pipes are: any number of outputs may go to /dev/null or a
 * terminal. */
#ifndef MC_FILES_H
#define MC_FILES_H

#include "libcommon/base/error.h"

#include <stddef.h>

enum mc_file_role {
    MC_FILE_INPUT,    /* "-": standard input */
    MC_FILE_REPLACED, /* an input that MC_FILE_MAIN may replace, once it has been read */
    MC_FILE_FOLDER,   /* its files are inputs, except mcz streams */
    MC_FILE_MAIN,     /* the output of -o; "-": standard output */
    MC_FILE_OUTPUT,   /* any other that is replaced when it is complete */
    MC_FILE_LOG       /* an output that is written in place */
};

struct mc_file_use;

struct mc_files {
    struct mc_file_use *use;
    size_t n, room;
    int failed; /* memory, told by mc_files_check */
};

/* option: whose value it is, as "data"; NULL: an operand. path is copied; NULL: not given,
 * ignored. */
void mc_files_add(struct mc_files *f, enum mc_file_role role, const char *option, const char *path);
/* MC_EUSAGE: two of them are one file, or two are standard input or output, or an output is the
 * file that standard error goes to, or a log would replace what is no log; MC_EFAIL: an output
 * cannot be created or is a folder; MC_ENOMEM. */
MC_USE_RESULT int mc_files_check(struct mc_files *f, struct mc_error *err);
void mc_files_release(struct mc_files *f);

#endif
