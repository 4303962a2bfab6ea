/* SPDX-License-Identifier: Apache-2.0
 *
 * What a misspelled name may have meant. */
#ifndef MC_NEAR_H
#define MC_NEAR_H

#include <stddef.h>

/* The best of any number of names:
 *
 *     struct mc_near near = mc_near(word, strlen(word));
 *     for each: mc_near_try(&near, name);
 *     mc_fail(err, MC_EUSAGE, "there is no '%s'%s", word, mc_near_text(&near, text));  */
struct mc_near {
    const char *word; /* n bytes of it */
    size_t n;
    const char *best; /* lives as long as its name; NULL: none is near */
    size_t distance;
};
struct mc_near mc_near(const char *word, size_t n);
/* Near is a name that so few letters to be added, left out, changed or swapped with their
 * neighbour (Damerau and Levenshtein's distance, of Latin letters in either case) tell apart as
 * make up a third of the longer, and at most 3; or one that begins with the word, of 3 letters or
 * more. */
void mc_near_try(struct mc_near *near, const char *name);
#define MC_NEAR_TEXT 128
/* ", did you mean 'best'?", or "" */
const char *mc_near_text(const struct mc_near *near, char text[MC_NEAR_TEXT]);

#endif
