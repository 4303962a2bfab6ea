/* SPDX-License-Identifier: Apache-2.0
 *
 * The error record. Libraries fill it with the sentence that the user reads and return its code.
 * Only programs print it. Every function that can fail returns 0 or a negative enum mc_err. */
#ifndef MC_ERROR_H
#define MC_ERROR_H

#include <stddef.h>

#define MC_USE_RESULT __attribute__((warn_unused_result))

enum mc_err {
    MC_OK = 0,
    MC_EFAIL = -1,  /* a system call or device failed; exit status 1 */
    MC_EUSAGE = -2, /* the caller's request is invalid; exit status 2 */
    MC_EINPUT = -3, /* an input is damaged or of the wrong kind; exit status 3 */
    MC_ENOMEM = -4, /* out of memory; exit status 1 */
};

struct mc_error {
    enum mc_err code; /* MC_OK until a failure */
    char text[5120];  /* one line, lower case, no full stop, no program name; has room for a path */
    int empty_pipe;   /* standard input is a pipe without data */
};

/* Fill *err (may be NULL) and return code: `return mc_fail(err, MC_EINPUT, "%s: not a stream",
 * path)`. Newlines in the text become spaces. */
int mc_fail(struct mc_error *err, enum mc_err code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* MC_ENOMEM "out of memory". */
int mc_no_memory(struct mc_error *err);

/* If rc is an error, insert the formatted text and ": " before the text of *err (may be NULL).
 * Returns rc. */
int mc_fail_in(int rc, struct mc_error *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* For a loop whose iterations run in parallel: keep the error of the lowest iteration that failed.
 * *failed: that iteration, at first above all; *err: its error; now: the error of iteration i. Call
 * it in a critical section. */
void mc_error_first(size_t i, size_t *failed, struct mc_error *err, const struct mc_error *now);

/* The exit status for a code: 0, 1, 2 or 3. */
int mc_exit_status(int code);

#endif
