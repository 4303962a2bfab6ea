/* SPDX-License-Identifier: Apache-2.0
 *
 * Library failures that no function returns: uncaught C++ exceptions, above all oneDNN's when
 * memory runs out, and null pointers that oneDNN does not check. */
#ifndef MC_EXCEPTIONS_H
#define MC_EXCEPTIONS_H

/* From now on an uncaught C++ exception, or the use of a null pointer after a failed allocation,
 * ends the program with status 1: temporary files are removed and print() receives the message. Any
 * other crash remains a crash, with the temporary files removed (unless the stack is full). */
void mc_catch_exceptions(void (*print)(const char *text));

#endif
