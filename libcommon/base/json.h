/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON's strings and numbers, for whoever prints JSON; and what of a stranger's text may reach a
 * terminal. */
#ifndef MC_JSON_H
#define MC_JSON_H

#include <stddef.h>
#include <stdio.h>

/* A string, quotes included. Control characters are escaped: those of ASCII, DEL, and C1 (which in
 * UTF-8 are C2 80 to C2 9F), which some terminals obey. */
void mc_json_str(FILE *f, const char *s);
/* The same of n bytes, which need no final 0. */
void mc_json_text(FILE *f, const char *s, size_t n);

/* The number's shortest decimal that reads back as the same float64, so that 0.1 is 0.1; null for
 * what is not finite, as JSON has no word for it. */
void mc_json_num(FILE *f, double value);

/* Room for any number of mc_shortest. */
#define MC_SHORTEST 32
/* The decimal alone, "nan" and "inf" as printf says them; returns text. */
const char *mc_shortest(char text[MC_SHORTEST], double value);

/* Bytes at s (n > 0) that make a control character as above: 0, 1 or 2. */
size_t mc_control(const char *s, size_t n);

#endif
