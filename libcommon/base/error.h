/* SPDX-License-Identifier: Apache-2.0
 *
 * The error record: libraries fill it with the sentence that the user will read and return its
 * code; only the programs print it. Every fallible function returns 0 or a negative enum mc_err. */
#ifndef MC_ERROR_H
#define MC_ERROR_H

#define MC_USE_RESULT __attribute__((warn_unused_result))

enum mc_err {
    MC_OK = 0,
    MC_EFAIL = -1,  /* the system refused: open, write, device; exit status 1 */
    MC_EUSAGE = -2, /* the caller asked for what cannot be; exit status 2 */
    MC_EINPUT = -3, /* an input is damaged or not what it should be; exit status 3 */
    MC_ENOMEM = -4, /* out of memory; exit status 1 */
};

struct mc_error {
    enum mc_err code; /* MC_OK until something failed */
    char text[5120];  /* one line, lower case, no full stop, no program name; a path and why fit */
    int empty_pipe;   /* nothing came through the pipe on standard input */
};

/* Fill *err (may be NULL) and return code, so that a failing function ends in
 * `return mc_fail(err, MC_EINPUT, "%s: not a stream", path)`. Newlines in the text become
 * spaces. */
int mc_fail(struct mc_error *err, enum mc_err code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* MC_ENOMEM "out of memory". */
int mc_no_memory(struct mc_error *err);

/* Where rc is an error, put what fmt says and ": " before the sentence in *err (may be NULL);
 * returns rc. */
int mc_fail_in(int rc, struct mc_error *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The exit status that a program ends with for a code: 0, 1, 2 or 3. */
int mc_exit_status(int code);

#endif
