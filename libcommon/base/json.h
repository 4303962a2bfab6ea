/* SPDX-License-Identifier: Apache-2.0
 *
 * Printing of JSON strings and numbers, and of untrusted text for terminals. */
#ifndef MC_JSON_H
#define MC_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Print a quoted string. Control characters are escaped; each byte that is not UTF-8 becomes
 * U+FFFD. */
void mc_json_str(FILE *f, const char *s);
/* The same for n bytes without a final 0. */
void mc_json_text(FILE *f, const char *s, size_t n);

/* Print the shortest decimal that reads back as the same float64 (0.1 is 0.1), or null if the value
 * is not finite. */
void mc_json_num(FILE *f, double value);

/* Buffer size for mc_shortest. */
#define MC_SHORTEST 32
/* The decimal of mc_json_num, or "nan" and "inf" as in printf. Returns text. */
const char *mc_shortest(char text[MC_SHORTEST], double value);

#define MC_NO_CHARACTER UINT32_MAX
/* The length (1 to 4 bytes) and number of the UTF-8 character at s (n > 0). Invalid UTF-8 (RFC
 * 3629): 1 and MC_NO_CHARACTER. */
size_t mc_character(const char *s, size_t n, uint32_t *number);
/* Print untrusted text to a terminal or table cell. Control characters and bytes that are not UTF-8
 * become spaces, so that no tab or newline starts another cell. */
void mc_plain(FILE *f, const char *s);
void mc_plain_text(FILE *f, const char *s, size_t n);

#endif
