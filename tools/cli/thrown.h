/* SPDX-License-Identifier: Apache-2.0
 *
 * The ends of libraries that are no error which a function returns: what C++ throws, oneDNN's want
 * of memory above all, and the null pointer that it does not check. */
#ifndef MC_THROWN_H
#define MC_THROWN_H

/* From now on, what a library throws and nobody catches ends the program with status 1: the
 * temporaries are removed and tell() gets the sentence. So does a null pointer that oneDNN uses
 * after an allocation failed; any other crash stays one, but for the temporaries (a stack that is
 * full leaves them). */
void mc_catch_thrown(void (*tell)(const char *text));

#endif
