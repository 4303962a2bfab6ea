/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON's strings and numbers, for whoever prints JSON; and what of a stranger's text may reach a
 * terminal. */
#ifndef MC_JSON_H
#define MC_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A string, quotes included, its control characters escaped, U+FFFD for each byte that is not
 * UTF-8. */
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

#define MC_NO_CHARACTER UINT32_MAX
/* Bytes (1 to 4) of the character of UTF-8 at s (n > 0), and its number; 1 and MC_NO_CHARACTER
 * where there is none (RFC 3629). */
size_t mc_character(const char *s, size_t n, uint32_t *number);
/* Those of ASCII, DEL, C1 (U+0080 to U+009F), which some terminals obey, those that end a line
 * (U+2028, U+2029), and those that turn the direction of text (U+061C, U+200E, U+200F, U+202A to
 * U+202E, U+2066 to U+2069). */
int mc_is_control(uint32_t number);
/* A stranger's text, with a blank for each control character and for each byte that is not UTF-8:
 * for a terminal, and for the cell of a table, where a tab or a line's end would be another
 * cell. */
void mc_plain(FILE *f, const char *s);
void mc_plain_text(FILE *f, const char *s, size_t n);

#endif
