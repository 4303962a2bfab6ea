/* SPDX-License-Identifier: Apache-2.0
 *
 * Failures of libraries that no function returns: uncaught C++ exceptions, above all oneDNN's lack
 * of memory, and null pointers that oneDNN does not check. */
#ifndef MC_THROWN_H
#define MC_THROWN_H

/* From now on an uncaught C++ exception ends the program with status 1: the temporaries are removed
 * and tell() gets the sentence. So does the use of a null pointer after an allocation failed. Any
 * other crash stays a crash, with the temporaries removed (unless the stack is full). */
void mc_catch_thrown(void (*tell)(const char *text));

#endif
