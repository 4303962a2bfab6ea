/* SPDX-License-Identifier: Apache-2.0
 *
 * A check of every file that a command line names, so that no input is overwritten. A program
 * registers its inputs and outputs and checks all of them before it opens any. Files are compared
 * by device and inode, through links and redirections; a file that does not exist yet, by its
 * folder and name. Only regular files and pipes are compared: any number of outputs may go to
 * /dev/null or a terminal. */
#ifndef MC_FILES_H
#define MC_FILES_H

#include "libcommon/base/error.h"

#include <stddef.h>

enum mc_file_role {
    MC_FILE_INPUT,    /* "-": standard input */
    MC_FILE_REPLACED, /* an input that MC_FILE_MAIN may replace after it has been read */
    MC_FILE_FOLDER,   /* its files are inputs, except mcz streams */
    MC_FILE_MAIN,     /* the output of -o; "-": standard output */
    MC_FILE_OUTPUT,   /* any other output that is replaced when it is complete */
    MC_FILE_LOG       /* an output that is written in place */
};

struct mc_file_use;

struct mc_files {
    struct mc_file_use *use;
    size_t n, room;
    int alloc_failed; /* mc_files_check returns it */
};

/* option: the name of the option that has this value, such as "data"; NULL: an operand. path is
 * copied; NULL is ignored. */
void mc_files_add(struct mc_files *f, enum mc_file_role role, const char *option, const char *path);
/* Checks all files; again, after more were added. MC_EUSAGE: two are the same file, two are standard input or output, an output
 * is the file that standard error goes to, or a log would replace a file that is not a log.
 * MC_EFAIL: an output cannot be created or is a folder. MC_ENOMEM. */
MC_USE_RESULT int mc_files_check(struct mc_files *f, struct mc_error *err);
void mc_files_release(struct mc_files *f);

#endif
